/* Partitioned messages beside plain persistent ones, with all partitions ready
 * at once and with a late one. README.md says what the columns are. */
#include "work.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LATE 1e-3 /* seconds */
#define TAG 1
#define TAG_ECHO 106

/* The threads that make partitions of `filling` ready, each its chunk; the main
 * thread is the first. */
static MPI_Request filling;
static int ready_parts; /* the first so many, or -1: the end */
static pthread_barrier_t gate;

static void ready_chunk(int k)
{
	int first = (int)((long)ready_parts * k / osu.threads);
	int last = (int)((long)ready_parts * (k + 1) / osu.threads) - 1;
	if (first <= last)
		MPI_Pready_range(first, last, filling);
}

static void *helper(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&gate);
		if (ready_parts < 0)
			return NULL;
		ready_chunk((int)(intptr_t)arg);
		pthread_barrier_wait(&gate);
	}
}

static void make_ready(MPI_Request send, int parts)
{
	filling = send, ready_parts = parts;
	if (osu.threads > 1)
		pthread_barrier_wait(&gate);
	ready_chunk(0);
	if (osu.threads > 1)
		pthread_barrier_wait(&gate);
}

static void begin(MPI_Request *r)
{
	MPI_Start(r);
	MPI_Wait(r, MPI_STATUS_IGNORE);
}

static void init(int parts, char *out, char *in, size_t size, MPI_Request *send, MPI_Request *recv)
{
	int peer = 1 - osu_rank;
	if (parts > 0) {
		MPI_Psend_init(out, parts, size / parts, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, send);
		MPI_Precv_init(in, parts, size / parts, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, recv);
	} else {
		MPI_Send_init(out, size, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, send);
		MPI_Recv_init(in, size, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, recv);
	}
}

static void give(MPI_Request *send, int parts)
{
	MPI_Start(send);
	if (parts > 0)
		make_ready(*send, parts);
	MPI_Wait(send, MPI_STATUS_IGNORE);
}

/* Half of a mean round trip in us; parts is 0 for plain persistent requests. */
static double round_of(char *out, char *in, size_t size, int parts)
{
	MPI_Request send, recv;
	int iters, skip;
	double start = 0, total = 0;
	osu_counts(size, &iters, &skip);
	init(parts, out, in, size, &send, &recv);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < iters + skip; i++) {
		if (osu_rank == 0) {
			if (i >= skip)
				start = MPI_Wtime();
			give(&send, parts);
			begin(&recv);
			if (i >= skip)
				total += MPI_Wtime() - start;
		} else {
			begin(&recv);
			give(&send, parts);
		}
	}
	MPI_Request_free(&send);
	MPI_Request_free(&recv);
	return total * 1e6 / (2.0 * iters);
}

/* The median time in us from the last Pready, or from the Start of a plain send
 * if parts is 0, to the end of the reply. Without send the message is the reply
 * itself, sent back and forth, and is not late. */
static double late(MPI_Request *send, MPI_Request *recv, int parts, size_t size, MPI_Request *echo, MPI_Request *hear)
{
	int iters, skip;
	osu_counts(size, &iters, &skip);
	double *times = malloc(iters * sizeof *times);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < iters + skip; i++) {
		if (osu_rank == 1) {
			begin(send ? recv : hear);
			begin(echo);
			continue;
		}
		MPI_Start(hear);
		if (parts > 0) {
			MPI_Start(send);
			make_ready(*send, parts - 1);
		}
		for (double begun = MPI_Wtime(); send && MPI_Wtime() - begun < LATE;)
			;
		double start = MPI_Wtime();
		if (parts > 0)
			MPI_Pready(parts - 1, *send);
		else
			MPI_Start(send ? send : echo);
		MPI_Wait(hear, MPI_STATUS_IGNORE);
		if (i >= skip)
			times[i - skip] = (MPI_Wtime() - start) * 1e6;
		MPI_Wait(send ? send : echo, MPI_STATUS_IGNORE);
	}
	double m = osu_rank == 0 ? median_of(times, iters) : 0;
	free(times);
	return m;
}

/* late by operations of its own, without the way of the reply. */
static double late_by(char *out, char *in, size_t size, int parts, double reply, MPI_Request *echo, MPI_Request *hear)
{
	MPI_Request send, recv;
	int peer = 1 - osu_rank;
	if (parts > 0 && osu_rank == 0)
		MPI_Psend_init(out, parts, size / parts, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
	else if (parts > 0)
		MPI_Precv_init(in, parts, size / parts, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &recv);
	else
		init(0, out, in, size, &send, &recv);
	double t = late(&send, &recv, parts, size, echo, hear) - reply;
	if (parts == 0 || osu_rank == 0)
		MPI_Request_free(&send);
	if (parts == 0 || osu_rank == 1)
		MPI_Request_free(&recv);
	return t > 1e-3 ? t : 1e-3;
}

int main(int argc, char **argv)
{
	/* Without -t the MPI need not lock, as in latency_persistent. */
	int level = MPI_THREAD_SINGLE;
	for (int k = 1; k < argc; k++)
		if (!strncmp(argv[k], "-t", 2))
			level = MPI_THREAD_MULTIPLE;
	osu_start(argc, argv, OSU_PARTS, "m:i:x:p:t:", level, 2);
	char *out = osu_buffer(osu.max, 'a'), *in = osu_buffer(osu.max, 'b'), byte[2] = {0};
	int parts = osu.parts, peer = 1 - osu_rank;
	MPI_Request echo, hear;
	pthread_t threads[128];

	pthread_barrier_init(&gate, NULL, osu.threads);
	for (int k = 1; k < osu.threads; k++)
		pthread_create(&threads[k], NULL, helper, (void *)(intptr_t)k);
	MPI_Send_init(&byte[0], 1, MPI_CHAR, peer, TAG_ECHO, MPI_COMM_WORLD, &echo);
	MPI_Recv_init(&byte[1], 1, MPI_CHAR, peer, TAG_ECHO, MPI_COMM_WORLD, &hear);

	osu_own("Partitioned");
	if (osu_rank == 0)
		printf("# [ partitions: %d ] [ threads: %d ] [ late by: %g ms ]\n", parts, osu.threads, LATE * 1e3);
	osu_datatype();
	if (osu_rank == 0)
		printf("%-10s%18s%18s%18s%18s%18s%18s\n", "# Size", "Round(us)", "Plain(us)", "One Part(us)",
		       "Last(us)", "Plain Last(us)", "Perceived(MB/s)"), fflush(stdout);
	for (size_t size = osu.min; size <= osu.max; size *= 2) {
		if (size % parts)
			continue;
		double round = round_of(out, in, size, parts);
		double plain = round_of(out, in, size, 0), one = round_of(out, in, size / parts, 0);
		double reply = late(NULL, NULL, 0, size, &echo, &hear) / 2;
		double last = late_by(out, in, size, parts, reply, &echo, &hear);
		double plain_last = late_by(out, in, size, 0, reply, &echo, &hear);
		if (osu_rank == 0)
			printf("%-10zu%18.2f%18.2f%18.2f%18.2f%18.2f%18.2f\n", size, round, plain, one,
			       last, plain_last, size / last), fflush(stdout);
	}
	if (osu.threads > 1) {
		ready_parts = -1;
		pthread_barrier_wait(&gate);
	}
	for (int k = 1; k < osu.threads; k++)
		pthread_join(threads[k], NULL);
	MPI_Request_free(&echo);
	MPI_Request_free(&hear);
	osu_finish();
}
