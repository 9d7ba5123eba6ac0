/* What it costs to find one message in a queue of DEPTH others.
 *
 * Rank 0 sends, rank 1 receives and times; every message is 8 bytes, except go,
 * stop, filled and sync, which are empty. Source and tag are always named by the
 * timed side. The queue is held at a constant depth by DEPTH fillers, tags
 * 1000000 .. 1000000 + DEPTH - 1, that stand at its head and match nothing while
 * the clock runs. Behind them each batch puts K = 64 measured entries, tags
 * 0 .. 63, and takes them from the far end, tag 63 first: an engine that
 * searches linearly walks DEPTH + (K - 1) / 2 entries in the mean.
 *
 * posted:     1 posts the fillers. A batch: 1 posts receives for tags 0 .. 63 in
 *             that order; [ clock on; 1 sends go; 0, on go, sends tags 63 .. 0;
 *             1 waits for all 64; clock off ]. At the end 1 sends stop and 0
 *             sends the fillers, in the order in which they were posted.
 * unexpected: 0 sends the fillers, then filled, which 1 receives. A batch: 1
 *             sends go; 0, on go, sends tags 0 .. 63 and then sync; 1 receives
 *             sync; [ clock on; 1 receives tags 63 .. 0, one blocking receive
 *             each; clock off ]. Sync is sent last and the channel is in order,
 *             so all 64 lie in the unexpected queue when the clock starts. At
 *             the end 1 sends stop and receives the fillers in order of arrival.
 *
 * A row is the clocked time of all batches / batches / K, in ns. Batches run
 * until the budget (-b, 500 ms of wall time for a depth) is spent, but at least
 * three; -i sets their number instead; -x batches before them are not counted.
 * Go and stop are told apart by their tags; rank 0 receives them by any tag. */
#include "osu.h"

#include <stdio.h>
#include <stdlib.h>

enum { K = 64, BYTES = 8, FILLER = 1000000, FILLED = 900000, SYNC, GO, STOP };

static char *buf;
static MPI_Request *fillers, reqs[K];

static void send(int n, int tag)
{
	MPI_Send(buf, n, MPI_CHAR, 1 - osu_rank, tag, MPI_COMM_WORLD);
}

static int recv(int n, int tag)
{
	MPI_Status s;
	MPI_Recv(buf, n, MPI_CHAR, 1 - osu_rank, tag, MPI_COMM_WORLD, &s);
	return s.MPI_TAG;
}

static void serve(int depth)
{
	if (osu.unexpected) {
		for (int i = 0; i < depth; i++)
			send(BYTES, FILLER + i);
		send(0, FILLED);
	}
	while (recv(0, MPI_ANY_TAG) == GO) {
		for (int j = 0; j < K; j++)
			send(BYTES, osu.unexpected ? j : K - 1 - j);
		if (osu.unexpected)
			send(0, SYNC);
	}
	if (!osu.unexpected)
		for (int i = 0; i < depth; i++)
			send(BYTES, FILLER + i);
}

/* One batch: its clocked seconds. */
static double batch(void)
{
	double start;
	if (osu.unexpected) {
		send(0, GO);
		recv(0, SYNC);
		start = MPI_Wtime();
		for (int j = K - 1; j >= 0; j--)
			recv(BYTES, j);
	} else {
		for (int j = 0; j < K; j++)
			MPI_Irecv(buf + j * BYTES, BYTES, MPI_CHAR, 0, j, MPI_COMM_WORLD, reqs + j);
		start = MPI_Wtime();
		send(0, GO);
		MPI_Waitall(K, reqs, MPI_STATUSES_IGNORE);
	}
	return MPI_Wtime() - start;
}

static double measure(int depth)
{
	if (osu.unexpected)
		recv(0, FILLED);
	else
		for (int i = 0; i < depth; i++)
			MPI_Irecv(buf + K * BYTES, BYTES, MPI_CHAR, 0, FILLER + i, MPI_COMM_WORLD,
			          fillers + i);
	for (int b = 0; b < osu.skip; b++)
		batch();
	double clocked = 0, begun = MPI_Wtime();
	int n = 0;
	while (osu.iters_set ? n < osu.iters : n < 3 || MPI_Wtime() - begun < osu.budget) {
		clocked += batch();
		n++;
	}
	send(0, STOP);
	if (osu.unexpected)
		for (int i = 0; i < depth; i++)
			recv(BYTES, FILLER + i);
	else
		MPI_Waitall(depth, fillers, MPI_STATUSES_IGNORE);
	return clocked / n / K * 1e9;
}

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_OWN, "m:i:x:q:b:", MPI_THREAD_SINGLE, 2);
	int *tag_ub, known;
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &known);
	if (!known || osu.max > (size_t)*tag_ub - FILLER)
		osu_fail("MPI_TAG_UB is too small for this depth");
	buf = osu_buffer((K + 1) * BYTES, 'a');
	fillers = malloc(osu.max * sizeof *fillers);

	if (osu_rank == 0)
		printf("\n# Weft MPI Matching Test\n# [ queue: %s ] [ batch: %d ] [ tag ub: %d ]\n",
		       osu.unexpected ? "unexpected" : "posted", K, *tag_ub);
	osu_datatype();
	osu_heads("# Depth", "Time(ns)", NULL);
	for (size_t depth = osu.min; depth <= osu.max; depth *= 2) {
		double ns = 0;
		MPI_Barrier(MPI_COMM_WORLD);
		if (osu_rank == 0) {
			serve(depth);
			MPI_Recv(&ns, 1, MPI_DOUBLE, 1, STOP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			ns = measure(depth);
			MPI_Send(&ns, 1, MPI_DOUBLE, 0, STOP, MPI_COMM_WORLD);
		}
		osu_row(depth, ns);
	}
	osu_finish();
}
