/* Messages of -D: of a derived datatype, or packed by hand. Without -D a message is
 * MPI_CHARs. */
#ifndef PEERS_DDT_H
#define PEERS_DDT_H

#include "osu.h"

#include <string.h>

/* The message of the size that is measured. */
struct osu_message {
	MPI_Datatype type;
	int count;
	size_t sent; /* bytes of it */
};

extern struct osu_message osu_message;

/* Whether a buffer of `size` bytes has room for a message, and, if it has, the making of
 * osu_message; the one before is freed. */
int osu_message_in(size_t size);
/* The same for a collective call, of whose blocks number i begins at i times `size`. */
int osu_blocks_in(size_t size);
void osu_message_free(void);
/* `count` buffers to pack by hand into, for messages of up to osu.max; NULL unless that is
 * asked for. */
char **osu_packed(int count);

static inline void osu_pack(char *packed, const char *from)
{
	for (char *end = packed + osu_message.sent; packed < end; packed += osu.block, from += osu.stride)
		memcpy(packed, from, osu.block);
}

static inline void osu_unpack(char *to, const char *packed)
{
	for (const char *end = packed + osu_message.sent; packed < end; packed += osu.block, to += osu.stride)
		memcpy(to, packed, osu.block);
}

static inline void osu_isend(const char *out, char *packed, int peer, int tag, MPI_Request *r)
{
	if (osu.ddt != OSU_HAND) {
		MPI_Isend(out, osu_message.count, osu_message.type, peer, tag, MPI_COMM_WORLD, r);
		return;
	}
	osu_pack(packed, out);
	MPI_Isend(packed, osu_message.sent, MPI_CHAR, peer, tag, MPI_COMM_WORLD, r);
}

static inline void osu_irecv(char *in, char *packed, int peer, int tag, MPI_Request *r)
{
	if (osu.ddt != OSU_HAND)
		MPI_Irecv(in, osu_message.count, osu_message.type, peer, tag, MPI_COMM_WORLD, r);
	else
		MPI_Irecv(packed, osu_message.sent, MPI_CHAR, peer, tag, MPI_COMM_WORLD, r);
}

/* Windows of messages, each packed into a buffer of its own. */
static inline void osu_isends(const char *out, char **packed, int peer, int tag, MPI_Request *r)
{
	for (int j = 0; j < osu.window; j++)
		osu_isend(out, packed ? packed[j] : NULL, peer, tag, r + j);
}

static inline void osu_irecvs(char *in, char **packed, int peer, int tag, MPI_Request *r)
{
	for (int j = 0; j < osu.window; j++)
		osu_irecv(in, packed ? packed[j] : NULL, peer, tag, r + j);
}

/* Waits for a window of receives. */
static inline void osu_received(char *in, char **packed, MPI_Request *r, MPI_Status *stats)
{
	MPI_Waitall(osu.window, r, stats);
	for (int j = 0; packed && j < osu.window; j++)
		osu_unpack(in, packed[j]);
}

#endif
