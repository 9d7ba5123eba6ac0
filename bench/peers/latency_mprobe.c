/* Ping-pong with matched probes between ranks 0 and 1: the mean one-way time of a message. */
#include "osu.h"

static inline void post(const char *out, size_t size, int peer)
{
	MPI_Send(out, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
}

static inline void take(char *in, size_t size, int peer)
{
	MPI_Message m;
	MPI_Mprobe(peer, 1, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
	MPI_Mrecv(in, size, MPI_CHAR, &m, MPI_STATUS_IGNORE);
}

#include "ping_pong.h"

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_LAT, "m:i:x:", MPI_THREAD_SINGLE, 2);
	osu_own("Mprobe Latency");
	ping_pong();
	osu_finish();
}
