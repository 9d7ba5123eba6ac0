/* How much of a transfer from rank 0 to rank 1 goes on while rank 1, or both,
 * compute. All times are rank 1's and medians: README.md says which. */
#include "work.h"

#include <stdio.h>

/* The median time in us of the work, with the transfer around it or alone, a
 * barrier before each. */
static double median(char *buf, size_t size, int transfer, long rounds)
{
	int iters, skip;
	osu_counts(size, &iters, &skip);
	double *times = malloc(iters * sizeof *times);
	for (int i = 0; i < iters + skip; i++) {
		MPI_Request r = MPI_REQUEST_NULL;
		MPI_Barrier(MPI_COMM_WORLD);
		double start = MPI_Wtime();
		if (transfer && osu_rank == 0)
			MPI_Isend(buf, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &r);
		else if (transfer)
			MPI_Irecv(buf, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &r);
		work(rounds);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		if (i >= skip)
			times[i - skip] = (MPI_Wtime() - start) * 1e6;
	}
	double m = median_of(times, iters);
	free(times);
	return m;
}

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_OVERLAP, "m:i:x:k:w:", MPI_THREAD_SINGLE, 2);
	char *buf = osu_buffer(osu.max, 'a');
	double rate = work_rate();

	osu_own("Overlap");
	if (osu_rank == 0)
		printf("# [ computing: %s ] [ work: %g of the pure communication ]\n",
		       osu.both ? "both" : "receiver", osu.work);
	osu_datatype();
	osu_overlap_heads(1);
	for (size_t size = osu.min; size <= osu.max; size *= 2) {
		double v[3]; /* overall, compute, pure */
		v[2] = median(buf, size, 1, 0);
		MPI_Bcast(&v[2], 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
		long rounds = osu_rank == 1 || osu.both ? v[2] * osu.work * rate : 0;
		v[1] = median(buf, size, 0, rounds);
		v[0] = median(buf, size, 1, rounds);
		MPI_Bcast(v, 3, MPI_DOUBLE, 1, MPI_COMM_WORLD);
		osu_overlap_row(size, v[0], v[1], v[2]);
	}
	osu_finish();
}
