/* Ping-pong with matched probes between ranks 0 and 1: the mean one-way time of a message. */
#include "osu.h"

static void receive(char *in, size_t size, int peer)
{
	MPI_Message m;
	MPI_Mprobe(peer, 1, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
	MPI_Mrecv(in, size, MPI_CHAR, &m, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_LAT, "m:i:x:", MPI_THREAD_SINGLE, 2);
	char *out = osu_buffer(osu.max, 'a'), *in = osu_buffer(osu.max, 'b');
	int peer = 1 - osu_rank;

	osu_own("Mprobe Latency");
	osu_datatype();
	osu_heads("# Size", "Avg Latency(us)", NULL);
	for (size_t size = osu.min; size <= osu.max; size *= 2) {
		int iters, skip;
		double start = 0, total = 0;
		osu_counts(size, &iters, &skip);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < iters + skip; i++) {
			if (osu_rank == 0) {
				if (i >= skip)
					start = MPI_Wtime();
				MPI_Send(out, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
				receive(in, size, peer);
				if (i >= skip)
					total += MPI_Wtime() - start;
			} else {
				receive(in, size, peer);
				MPI_Send(out, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
			}
		}
		osu_row(size, total * 1e6 / (2.0 * iters));
	}
	osu_finish();
}
