/* The mean time of one collective call over iterations and ranks, with a barrier
 * between two calls that is not timed. The Makefile builds it once per call, whose name
 * is CALL; with PERSISTENT it is the persistent form. The root is rank 0. Of a
 * non-blocking call also how much of it goes on while the ranks compute: README.md says
 * how. */
#include "ddt.h"
#include "work.h"

#include <stdio.h>

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
#define CALL_neighbor_allgather 12
#define CALL_neighbor_allgatherv 13
#define CALL_neighbor_alltoall 14
#define CALL_neighbor_alltoallv 15
#define CALL_neighbor_alltoallw 16
#define CALL_neighbor_isend 17
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
#define CALL_ineighbor_allgather (I + CALL_neighbor_allgather)
#define CALL_ineighbor_allgatherv (I + CALL_neighbor_allgatherv)
#define CALL_ineighbor_alltoall (I + CALL_neighbor_alltoall)
#define CALL_ineighbor_alltoallv (I + CALL_neighbor_alltoallv)
#define CALL_ineighbor_alltoallw (I + CALL_neighbor_alltoallw)
#define JOINED(a, b) a##b
#define NUMBER(call) JOINED(CALL_, call)
#define THIS NUMBER(CALL)
#define KIND (THIS % I)
#define IS(call) (KIND == CALL_##call)
#define NONBLOCKING (THIS > I)
#ifndef PERSISTENT
#define PERSISTENT 0
#endif

/* MPI has no sum of MPI_CHAR. */
#define SUMS (IS(allreduce) || IS(reduce) || IS(exscan) || IS(reduce_scatter))
#define TO_EACH (IS(alltoall) || IS(alltoallw))
#define TO_NEIGHBORS (KIND >= CALL_neighbor_alltoall)
#define NEIGHBORS (KIND >= CALL_neighbor_allgather)
#define SLOTS 4 /* of two dimensions */

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
	[CALL_neighbor_allgather] = "Neighborhood Allgather Latency",
	[CALL_neighbor_allgatherv] = "Neighborhood Allgatherv Latency",
	[CALL_neighbor_alltoall] = "Neighborhood All-to-All Latency",
	[CALL_neighbor_alltoallv] = "Neighborhood All-to-Allv Latency",
	[CALL_neighbor_alltoallw] = "Neighborhood All-to-Allw Latency",
	[CALL_neighbor_isend] = "Neighborhood Isend Latency",
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
	[CALL_ineighbor_allgather] = "Non-blocking Neighborhood Allgather Latency",
	[CALL_ineighbor_allgatherv] = "Non-blocking Neighborhood Allgatherv Latency",
	[CALL_ineighbor_alltoall] = "Non-blocking Neighborhood All-to-All Latency",
	[CALL_ineighbor_alltoallv] = "Non-blocking Neighborhood All-to-Allv Latency",
	[CALL_ineighbor_alltoallw] = "Non-blocking Neighborhood All-to-Allw Latency",
};

static char *out, *in;
static int n; /* elements of a block */
static MPI_Datatype type;
static MPI_Op op = MPI_OP_NULL;
static MPI_Request request = MPI_REQUEST_NULL;
static int *counts, *displs; /* for each rank, or each neighbor */
static MPI_Aint *places;     /* displs in bytes */
static MPI_Datatype *types;
static MPI_Comm comm = MPI_COMM_WORLD; /* with NEIGHBORS the Cartesian one */
static int neighbors[SLOTS];

/* The compiler leaves one of both. */
#if PERSISTENT
#define DO(name, iname, ...) MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request)
#else
#define DO(name, iname, ...) \
	(NONBLOCKING ? MPI_##iname(__VA_ARGS__, comm, &request) : MPI_##name(__VA_ARGS__, comm))
#endif

/* The exchange of Neighbor_alltoall by hand. What is sent to slot s arrives at the slot
 * of the other direction, which is the tag: a neighbor may have several. */
__attribute__((unused)) static void halo(void)
{
	MPI_Request requests[2 * SLOTS];
	for (int s = 0; s < SLOTS; s++)
		MPI_Irecv(in + places[s], n, type, neighbors[s], s, comm, &requests[s]);
	for (int s = 0; s < SLOTS; s++)
		MPI_Isend(out + places[s], n, type, neighbors[s], s ^ 1, comm, &requests[SLOTS + s]);
	MPI_Waitall(2 * SLOTS, requests, MPI_STATUSES_IGNORE);
}

/* A call with n elements, or with blocks of n elements; of a persistent one its making. */
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
	case CALL_neighbor_allgather: DO(Neighbor_allgather, Ineighbor_allgather, out, n, type, in, n, type); break;
	case CALL_neighbor_allgatherv:
		DO(Neighbor_allgatherv, Ineighbor_allgatherv, out, n, type, in, counts, displs, type);
		break;
	case CALL_neighbor_alltoall: DO(Neighbor_alltoall, Ineighbor_alltoall, out, n, type, in, n, type); break;
	case CALL_neighbor_alltoallv:
		DO(Neighbor_alltoallv, Ineighbor_alltoallv, out, counts, displs, type, in, counts, displs, type);
		break;
	case CALL_neighbor_alltoallw:
		DO(Neighbor_alltoallw, Ineighbor_alltoallw, out, counts, places, types, in, counts, places, types);
		break;
	case CALL_neighbor_isend: halo(); break;
	case CALL_barrier: MPI_Ibarrier(comm, &request); break;
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
	for (int r = 0; r < (NEIGHBORS ? SLOTS : osu_size); r++) {
		/* A vector that the ranks do not divide gives the first ones one element more. */
		counts[r] = IS(reduce_scatter) ? n / osu_size + (r < n % osu_size) : n;
		places[r] = r * size;
		displs[r] = IS(alltoallw) ? places[r] : r * n;
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
	if (PERSISTENT)
		call();
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < iters + skip; i++) {
		double begin = 0, end = 0, start = MPI_Wtime();
		if (PERSISTENT)
			MPI_Start(&request);
		else
			call();
		if (NONBLOCKING && rounds) {
			begin = MPI_Wtime();
			work(rounds);
			end = MPI_Wtime();
		}
		if (NONBLOCKING || PERSISTENT)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		double stop = MPI_Wtime();
		if (i >= skip)
			t.call += stop - start, t.work += end - begin;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (PERSISTENT)
		MPI_Request_free(&request);
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

/* A periodic grid of two dimensions with all ranks, in their order. */
__attribute__((unused)) static void make_grid(void)
{
	int dims[] = {0, 0}, periodic[] = {1, 1};
	MPI_Dims_create(osu_size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &comm);
	for (int d = 0; d < 2; d++)
		MPI_Cart_shift(comm, d, 1, &neighbors[2 * d], &neighbors[2 * d + 1]);
}

int main(int argc, char **argv)
{
	char title[80];
	osu_start(argc, argv, OSU_COLL,
	          IS(barrier) ? "i:x:" : IS(allreduce) || IS(reduce) ? "m:i:x:O:" : SUMS ? "m:i:x:" : "m:i:x:D:",
	          MPI_THREAD_SINGLE, -1);
	int blocks_out = TO_NEIGHBORS ? SLOTS : TO_EACH || (IS(scatter) && osu_rank == 0) ? osu_size : 1;
	int blocks_in = NEIGHBORS ? SLOTS : TO_EACH || IS(allgather) || (IS(gather) && osu_rank == 0) ? osu_size : 1;
	int each = NEIGHBORS ? SLOTS : osu_size;
	out = osu_buffer(osu.max * blocks_out, SUMS ? 1 : 'a');
	in = osu_buffer(osu.max * blocks_in, SUMS ? 0 : 'b');
	counts = malloc(each * sizeof *counts);
	displs = malloc(each * sizeof *displs);
	types = malloc(each * sizeof *types);
	places = malloc(each * sizeof *places);
	double rate = NONBLOCKING ? work_rate() : 0;
	if (NEIGHBORS)
		make_grid();

	snprintf(title, sizeof title, "%.*s%s", (int)(strlen(titles[THIS]) - strlen(" Latency")), titles[THIS],
	         PERSISTENT ? " Persistent Latency" : " Latency");
	if (IS(exscan) || IS(neighbor_isend) || (PERSISTENT && NEIGHBORS))
		osu_own(title);
	else
		osu_preamble(title);
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
	if (NEIGHBORS)
		MPI_Comm_free(&comm);
	osu_finish();
}
