/* Ping-pong between ranks 0 and 1: the mean one-way time of a message. */
#include "ddt.h"

static char **packed; /* by hand: what is sent, and what is received */

static inline void post(const char *out, size_t size, int peer)
{
	(void)size; /* which osu_message is of */
	if (osu.ddt != OSU_HAND) {
		MPI_Send(out, osu_message.count, osu_message.type, peer, 1, MPI_COMM_WORLD);
		return;
	}
	osu_pack(packed[0], out);
	MPI_Send(packed[0], osu_message.sent, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
}

static inline void take(char *in, size_t size, int peer)
{
	(void)size;
	if (osu.ddt != OSU_HAND) {
		MPI_Recv(in, osu_message.count, osu_message.type, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return;
	}
	MPI_Recv(packed[1], osu_message.sent, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	osu_unpack(in, packed[1]);
}

#include "ping_pong.h"

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_LAT, "m:i:x:D:", MPI_THREAD_SINGLE, 2);
	packed = osu_packed(2);
	osu_preamble("Latency");
	ping_pong();
	osu_finish();
}
