/* Ping-pong by synchronous sends between ranks 0 and 1: the mean one-way time of a message. */
#include "osu.h"

static inline void post(const char *out, size_t size, int peer)
{
	MPI_Ssend(out, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
}

static inline void take(char *in, size_t size, int peer)
{
	MPI_Recv(in, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

#include "ping_pong.h"

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_LAT, "m:i:x:", MPI_THREAD_SINGLE, 2);
	osu_own("Ssend Latency");
	ping_pong();
	osu_finish();
}
