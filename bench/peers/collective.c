/* The mean time of one collective call over iterations and ranks, with a barrier
 * between two calls that is not timed. The Makefile builds it once per call, whose name
 * is CALL. The root is rank 0. Of a non-blocking call also how much of it goes on while
 * the ranks compute: README.md says how. */
#include "ddt.h"
#include "work.h"

#define CALL_allreduce 1
#define CALL_bcast 2
#define CALL_reduce 3
#define CALL_gather 4
#define CALL_scatter 5
#define CALL_allgather 6
#define CALL_alltoall 7
#define CALL_exscan 8
#define CALL_alltoallw 9
#define CALL_reduce_scatter 10
#define CALL_barrier 11 /* barrier itself has a program of its own */
#define I 32            /* a non-blocking call is that of the same kind, and 32 more */
#define CALL_iallreduce (I + CALL_allreduce)
#define CALL_ibcast (I + CALL_bcast)
#define CALL_ireduce (I + CALL_reduce)
#define CALL_igather (I + CALL_gather)
#define CALL_iscatter (I + CALL_scatter)
#define CALL_iallgather (I + CALL_allgather)
#define CALL_ialltoall (I + CALL_alltoall)
#define CALL_ialltoallw (I + CALL_alltoallw)
#define CALL_ireduce_scatter (I + CALL_reduce_scatter)
#define CALL_ibarrier (I + CALL_barrier)
#define JOINED(a, b) a##b
#define NUMBER(call) JOINED(CALL_, call)
#define THIS NUMBER(CALL)
#define KIND (THIS % I)
#define IS(call) (KIND == CALL_##call)
#define NONBLOCKING (THIS > I)

/* MPI has no sum of MPI_CHAR. */
#define SUMS (IS(allreduce) || IS(reduce) || IS(exscan) || IS(reduce_scatter))
#define TO_EACH (IS(alltoall) || IS(alltoallw))

static const char *const titles[] = {
	[CALL_allreduce] = "Allreduce Latency",
	[CALL_bcast] = "Broadcast Latency",
	[CALL_reduce] = "Reduce Latency",
	[CALL_gather] = "Gather Latency",
	[CALL_scatter] = "Scatter Latency",
	[CALL_allgather] = "Allgather Latency",
	[CALL_alltoall] = "All-to-All Personalized Exchange Latency",
	[CALL_exscan] = "Exscan Latency",
	[CALL_alltoallw] = "All-to-Allw Personalized Exchange Latency",
	[CALL_reduce_scatter] = "Reduce_scatter Latency",
	[CALL_iallreduce] = "Non-blocking Allreduce Latency",
	[CALL_ibcast] = "Non-blocking Broadcast Latency",
	[CALL_ireduce] = "Non-blocking Reduce Latency",
	[CALL_igather] = "Non-blocking Gather Latency",
	[CALL_iscatter] = "Non-blocking Scatter Latency",
	[CALL_iallgather] = "Non-blocking Allgather Latency",
	[CALL_ialltoall] = "Non-blocking All-to-All Latency",
	[CALL_ialltoallw] = "Non-blocking All-to-Allw Personalized Exchange Latency",
	[CALL_ireduce_scatter] = "Non-blocking Reduce_scatter Latency",
	[CALL_ibarrier] = "Non-blocking Barrier Latency",
};

static char *out, *in;
static int n; /* elements of a block */
static MPI_Datatype type;
static MPI_Op op = MPI_OP_NULL;
static MPI_Request request = MPI_REQUEST_NULL;
static int *counts, *displs; /* for each rank */
static MPI_Datatype *types;

/* The compiler leaves one of both. */
#define DO(name, iname, ...) \
	(NONBLOCKING ? MPI_##iname(__VA_ARGS__, MPI_COMM_WORLD, &request) : MPI_##name(__VA_ARGS__, MPI_COMM_WORLD))

/* A call with n elements, or with blocks of n elements. */
static inline void call(void)
{
	switch (KIND) {
	case CALL_allreduce: DO(Allreduce, Iallreduce, out, in, n, type, op); break;
	case CALL_bcast: DO(Bcast, Ibcast, in, n, type, 0); break;
	case CALL_reduce: DO(Reduce, Ireduce, out, in, n, type, op, 0); break;
	case CALL_gather: DO(Gather, Igather, out, n, type, in, n, type, 0); break;
	case CALL_scatter: DO(Scatter, Iscatter, out, n, type, in, n, type, 0); break;
	case CALL_allgather: DO(Allgather, Iallgather, out, n, type, in, n, type); break;
	case CALL_alltoall: DO(Alltoall, Ialltoall, out, n, type, in, n, type); break;
	case CALL_exscan: DO(Exscan, Iexscan, out, in, n, type, op); break;
	case CALL_alltoallw: DO(Alltoallw, Ialltoallw, out, counts, displs, types, in, counts, displs, types); break;
	case CALL_reduce_scatter: DO(Reduce_scatter, Ireduce_scatter, out, in, counts, type, op); break;
	case CALL_barrier: MPI_Ibarrier(MPI_COMM_WORLD, &request); break;
	}
}

/* Sets the arguments for messages, or blocks, of `size` bytes. */
static int prepare(size_t size)
{
	size_t width = osu.maxloc ? 2 * sizeof(int) : sizeof(int);
	if (SUMS) {
		if (size < width)
			return 0;
		type = osu.maxloc ? MPI_2INT : MPI_INT;
		op = osu.maxloc ? MPI_MAXLOC : MPI_SUM;
		n = size / width;
	} else {
		if (!osu_blocks_in(size))
			return 0;
		type = osu_message.type, n = osu_message.count;
	}
	for (int r = 0; r < osu_size; r++) {
		/* A vector that the ranks do not divide gives the first ones one element more. */
		counts[r] = IS(reduce_scatter) ? n / osu_size + (r < n % osu_size) : n;
		displs[r] = r * size;
		types[r] = type;
	}
	return 1;
}

/* The mean times of this rank in us: of the call, and of `rounds` of work before its
 * Wait. */
struct times {
	double call, work;
};

static struct times mean(size_t size, long rounds)
{
	struct times t = {0, 0};
	int iters, skip;
	osu_counts(size, &iters, &skip);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < iters + skip; i++) {
		double begin = 0, end = 0, start = MPI_Wtime();
		call();
		if (NONBLOCKING && rounds) {
			begin = MPI_Wtime();
			work(rounds);
			end = MPI_Wtime();
		}
		if (NONBLOCKING)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		double stop = MPI_Wtime();
		if (i >= skip)
			t.call += stop - start, t.work += end - begin;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	t.call *= 1e6 / iters, t.work *= 1e6 / iters;
	return t;
}

static double over_ranks(double mine)
{
	double all = 0;
	MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	return all / osu_size;
}

/* Each rank computes for as long as its call took without. */
static void measure(size_t size, double rate)
{
	struct times pure = mean(size, 0);
	double alone = over_ranks(pure.call);
	if (!NONBLOCKING) {
		osu_row(size, alone);
		return;
	}
	struct times both = mean(size, 1 + pure.call * rate);
	double overall = over_ranks(both.call), compute = over_ranks(both.work);
	osu_overlap_row(size, overall, compute, alone);
}

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_COLL,
	          IS(barrier) ? "i:x:" : IS(allreduce) || IS(reduce) ? "m:i:x:O:" : SUMS ? "m:i:x:" : "m:i:x:D:",
	          MPI_THREAD_SINGLE, -1);
	int blocks_out = TO_EACH || (IS(scatter) && osu_rank == 0) ? osu_size : 1;
	int blocks_in = TO_EACH || IS(allgather) || (IS(gather) && osu_rank == 0) ? osu_size : 1;
	out = osu_buffer(osu.max * blocks_out, SUMS ? 1 : 'a');
	in = osu_buffer(osu.max * blocks_in, SUMS ? 0 : 'b');
	counts = malloc(osu_size * sizeof *counts);
	displs = malloc(osu_size * sizeof *displs);
	types = malloc(osu_size * sizeof *types);
	double rate = NONBLOCKING ? work_rate() : 0;

	if (IS(exscan))
		osu_own(titles[THIS]);
	else
		osu_preamble(titles[THIS]);
	if (NONBLOCKING)
		osu_overall();
	if (!IS(barrier))
		osu_datatype_of(!SUMS ? "MPI_CHAR" : osu.maxloc ? "MPI_2INT" : "MPI_INT");
	if (NONBLOCKING)
		osu_overlap_heads(!IS(barrier));
	else
		osu_heads("# Size", "Avg Latency(us)", NULL);
	if (IS(barrier))
		measure(0, rate);
	else
		for (size_t size = osu.min; size <= osu.max; size *= 2)
			if (prepare(size))
				measure(size, rate);
	osu_finish();
}
