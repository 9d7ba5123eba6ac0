/* The mean time of MPI_Barrier over iterations and ranks. */
#include "osu.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_COLL, "i:x:", MPI_THREAD_SINGLE, -1);
	double total = 0, all = 0;

	osu_preamble("Barrier Latency");
	if (osu_rank == 0)
		printf("# Avg Latency(us)\n"), fflush(stdout);
	for (int i = 0; i < osu.iters + osu.skip; i++) {
		double start = MPI_Wtime();
		MPI_Barrier(MPI_COMM_WORLD);
		double stop = MPI_Wtime();
		if (i >= osu.skip)
			total += stop - start;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	double mine = total * 1e6 / osu.iters;
	MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (osu_rank == 0)
		printf("%17.2f\n", all / osu_size);
	osu_finish();
}
