/* Ping-pong by all pairs at once (rank r with rank r + half), a barrier before
 * every round trip: the mean one-way time over the pairs. */
#include "osu.h"

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_LAT, "m:i:x:", MPI_THREAD_SINGLE, 0);
	char *out = osu_buffer(osu.max, 'a'), *in = osu_buffer(osu.max, 'b');
	int pairs = osu_size / 2, first = osu_rank < pairs;
	int peer = first ? osu_rank + pairs : osu_rank - pairs;

	osu_preamble("Multi Latency");
	osu_datatype();
	osu_heads("# Size", "Avg Latency(us)", NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	for (size_t size = osu.min; size <= osu.max; size *= 2) {
		int iters, skip;
		double start = 0, mine = 0, all = 0;
		osu_counts(size, &iters, &skip);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < iters + skip; i++) {
			MPI_Barrier(MPI_COMM_WORLD);
			if (first) {
				if (i >= skip)
					start = MPI_Wtime();
				MPI_Send(out, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
				MPI_Recv(in, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				if (i >= skip)
					mine += MPI_Wtime() - start;
			} else {
				MPI_Recv(in, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				MPI_Send(out, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
			}
		}
		MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
		osu_row(size, all / pairs * 1e6 / (2.0 * iters));
	}
	osu_finish();
}
