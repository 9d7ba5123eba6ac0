/* The mean time of one collective call over iterations and ranks, with a barrier
 * between two calls that is not timed. The Makefile builds it once per call, whose name
 * is CALL. The root is rank 0. */
#include "osu.h"

#define CALL_allreduce 1
#define CALL_bcast 2
#define CALL_reduce 3
#define CALL_gather 4
#define CALL_scatter 5
#define CALL_allgather 6
#define CALL_alltoall 7
#define CALL_exscan 8
#define JOINED(a, b) a##b
#define NUMBER(call) JOINED(CALL_, call)
#define THIS NUMBER(CALL)
#define IS(call) (THIS == CALL_##call)

/* MPI has no sum of MPI_CHAR. */
#define SUMS (IS(allreduce) || IS(reduce) || IS(exscan))
#define TYPE (SUMS ? MPI_INT : MPI_CHAR)
#define WIDTH (SUMS ? sizeof(int) : 1)

static const char *const titles[] = {
	[CALL_allreduce] = "Allreduce Latency",
	[CALL_bcast] = "Broadcast Latency",
	[CALL_reduce] = "Reduce Latency",
	[CALL_gather] = "Gather Latency",
	[CALL_scatter] = "Scatter Latency",
	[CALL_allgather] = "Allgather Latency",
	[CALL_alltoall] = "All-to-All Personalized Exchange Latency",
	[CALL_exscan] = "Exscan Latency",
};

/* A call with n elements, or with blocks of n elements. The compiler leaves one. */
static inline void call(char *out, char *in, int n)
{
	switch (THIS) {
	case CALL_allreduce: MPI_Allreduce(out, in, n, TYPE, MPI_SUM, MPI_COMM_WORLD); break;
	case CALL_bcast: MPI_Bcast(in, n, TYPE, 0, MPI_COMM_WORLD); break;
	case CALL_reduce: MPI_Reduce(out, in, n, TYPE, MPI_SUM, 0, MPI_COMM_WORLD); break;
	case CALL_gather: MPI_Gather(out, n, TYPE, in, n, TYPE, 0, MPI_COMM_WORLD); break;
	case CALL_scatter: MPI_Scatter(out, n, TYPE, in, n, TYPE, 0, MPI_COMM_WORLD); break;
	case CALL_allgather: MPI_Allgather(out, n, TYPE, in, n, TYPE, MPI_COMM_WORLD); break;
	case CALL_alltoall: MPI_Alltoall(out, n, TYPE, in, n, TYPE, MPI_COMM_WORLD); break;
	case CALL_exscan: MPI_Exscan(out, in, n, TYPE, MPI_SUM, MPI_COMM_WORLD); break;
	}
}

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_COLL, "m:i:x:", MPI_THREAD_SINGLE, -1);
	int blocks_out = IS(alltoall) || (IS(scatter) && osu_rank == 0) ? osu_size : 1;
	int blocks_in = IS(alltoall) || IS(allgather) || (IS(gather) && osu_rank == 0) ? osu_size : 1;
	char *out = osu_buffer(osu.max * blocks_out, SUMS ? 1 : 'a');
	char *in = osu_buffer(osu.max * blocks_in, SUMS ? 0 : 'b');

	if (IS(exscan))
		osu_own(titles[THIS]);
	else
		osu_preamble(titles[THIS]);
	osu_datatype_of(SUMS ? "MPI_INT" : "MPI_CHAR");
	osu_heads("# Size", "Avg Latency(us)", NULL);
	for (size_t size = osu.min; size <= osu.max; size *= 2) {
		int iters, skip;
		double total = 0, all = 0;
		if (size < WIDTH)
			continue;
		osu_counts(size, &iters, &skip);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < iters + skip; i++) {
			double start = MPI_Wtime();
			call(out, in, size / WIDTH);
			double stop = MPI_Wtime();
			if (i >= skip)
				total += stop - start;
			MPI_Barrier(MPI_COMM_WORLD);
		}
		double mine = total * 1e6 / iters;
		MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
		osu_row(size, all / osu_size);
	}
	osu_finish();
}
