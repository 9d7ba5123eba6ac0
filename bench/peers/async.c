/* How long an operation of rank 0 towards rank 1, which computes without a
 * call, takes to end: README.md says how. */
#include "work.h"

#include <stdio.h>

#define AHEAD 2 /* receives that rank 1 has posted ahead */
#define TAG_ASYNC 1
#define TAG_POSTED 105

/* Rank 0: the times in us of `iters` operations after `skip` uncounted ones. */
static void operations(char *buf, size_t size, int skip, int iters, double *times)
{
	srand48(1);
	for (int k = 0; k < skip + iters; k++) {
		if (k >= AHEAD)
			MPI_Recv(NULL, 0, MPI_CHAR, 1, TAG_POSTED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		double wait = drand48() * osu.work / 1e3, begun = MPI_Wtime();
		while (MPI_Wtime() - begun < wait)
			;
		double start = MPI_Wtime();
		if (osu.standard)
			MPI_Send(buf, size, MPI_CHAR, 1, TAG_ASYNC, MPI_COMM_WORLD);
		else
			MPI_Ssend(buf, size, MPI_CHAR, 1, TAG_ASYNC, MPI_COMM_WORLD);
		if (k >= skip)
			times[k - skip] = (MPI_Wtime() - start) * 1e6;
	}
}

static void post(char **bufs, size_t size, MPI_Request *posted, int k)
{
	MPI_Irecv(bufs[k % AHEAD], size, MPI_CHAR, 0, TAG_ASYNC, MPI_COMM_WORLD, &posted[k % AHEAD]);
}

/* Rank 1: computes until `total` receives, the first of them posted, have ended;
 * between two computations completes those that have, posts others and says so. */
static void compute(char **bufs, size_t size, MPI_Request *posted, long rounds, int total)
{
	for (int k = 0; k < total;) {
		work(rounds);
		for (; k < total; k++) {
			int ended;
			MPI_Test(&posted[k % AHEAD], &ended, MPI_STATUS_IGNORE);
			if (!ended)
				break;
			if (k + AHEAD >= total)
				continue;
			post(bufs, size, posted, k + AHEAD);
			MPI_Send(NULL, 0, MPI_CHAR, 0, TAG_POSTED, MPI_COMM_WORLD);
		}
	}
}

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_ASYNC, "m:i:x:k:w:", MPI_THREAD_SINGLE, 2);
	char *bufs[AHEAD];
	for (int k = 0; k < AHEAD; k++)
		bufs[k] = osu_buffer(osu.max, 'a');
	long rounds = osu_rank == 1 ? work_rate() * osu.work * 1e3 : 0;

	osu_own("Asynchronous Progress");
	if (osu_rank == 0)
		printf("# [ operation: %s ] [ computation: %g ms ]\n",
		       osu.standard ? "send" : "ssend", osu.work);
	osu_datatype();
	if (osu_rank == 0)
		printf("%-10s%18s%18s\n", "# Size", "Median(us)", "Max(us)"), fflush(stdout);
	for (size_t size = osu.min; size <= osu.max;) {
		int iters, skip;
		osu_counts(size, &iters, &skip);
		MPI_Request posted[AHEAD];
		if (osu_rank == 1)
			for (int k = 0; k < AHEAD && k < skip + iters; k++)
				post(bufs, size, posted, k);
		MPI_Barrier(MPI_COMM_WORLD);
		if (osu_rank == 1) {
			compute(bufs, size, posted, rounds, skip + iters);
		} else {
			double *times = malloc(iters * sizeof *times);
			operations(bufs[0], size, skip, iters, times);
			double median = median_of(times, iters);
			osu_row2(size, median, times[iters - 1]);
			free(times);
		}
		size = size == osu.max ? size + 1 : size * 8 < osu.max ? size * 8 : osu.max;
	}
	osu_finish();
}
