/* The mean time of MPI_Barrier over iterations and ranks; with PERSISTENT of its
 * persistent form. */
#include "osu.h"

#include <stdio.h>

#ifdef PERSISTENT
#define TITLE "Barrier Persistent Latency"
static MPI_Request request;

static void barrier(void)
{
	MPI_Start(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#else
#define TITLE "Barrier Latency"

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
#endif

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_COLL, "i:x:", MPI_THREAD_SINGLE, -1);
	double total = 0, all = 0;

#ifdef PERSISTENT
	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
#endif
	osu_preamble(TITLE);
	if (osu_rank == 0)
		printf("# Avg Latency(us)\n"), fflush(stdout);
	for (int i = 0; i < osu.iters + osu.skip; i++) {
		double start = MPI_Wtime();
		barrier();
		double stop = MPI_Wtime();
		if (i >= osu.skip)
			total += stop - start;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	double mine = total * 1e6 / osu.iters;
	MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (osu_rank == 0)
		printf("%17.2f\n", all / osu_size);
#ifdef PERSISTENT
	MPI_Request_free(&request);
#endif
	osu_finish();
}
