/* What a rank computes, and the medians of what it measures: for the programs
 * that move messages while a rank computes. */
#include "osu.h"

#include <stdlib.h>

/* Read and written by work, so that the compiler neither moves it nor leaves it
 * out. */
static volatile double worked = 1;

__attribute__((noinline)) static void work(long rounds)
{
	double x = worked;
	for (long k = 0; k < rounds; k++)
		x = x * 0.999999 + 0.000001;
	worked = x;
}

/* Rounds of work in a microsecond: the most of a few tries. */
__attribute__((unused)) static double work_rate(void)
{
	double best = 0;
	for (int k = 0; k < 5; k++) {
		double start = MPI_Wtime();
		work(1 << 20);
		double rate = (1 << 20) / ((MPI_Wtime() - start) * 1e6);
		best = rate > best ? rate : best;
	}
	return best;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The median of `count` times, which it sorts. */
__attribute__((unused)) static double median_of(double *times, int count)
{
	qsort(times, count, sizeof *times, ascending);
	return times[(count - 1) / 2];
}
