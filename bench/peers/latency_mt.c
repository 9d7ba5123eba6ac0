/* Ping-pong by S sender threads of rank 0 and R receiver threads of rank 1, at
 * MPI_THREAD_MULTIPLE. Exchange i belongs to sender i mod S and receiver i mod
 * R. With one sender every exchange uses tags 1 (ping) and 2 (pong), so that any
 * receiver may serve any ping; with more, exchange i uses tag i both ways. */
#include "osu.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static pthread_barrier_t gate;
static double totals[128]; /* each sender's own; OSU shares one, unguarded */

/* All threads of both ranks set off together. */
static void together(void)
{
	if (pthread_barrier_wait(&gate) == PTHREAD_BARRIER_SERIAL_THREAD)
		MPI_Barrier(MPI_COMM_WORLD);
	pthread_barrier_wait(&gate);
}

static void *sender(void *arg)
{
	int id = (intptr_t)arg;
	char *out = osu_buffer(osu.max, 'a'), *in = osu_buffer(osu.max, 'b');
	for (size_t size = osu.min; size <= osu.max; size *= 2) {
		int iters, skip;
		double start = 0, total = 0;
		osu_counts(size, &iters, &skip);
		together();
		for (int i = id; i < iters + skip; i += osu.senders) {
			int ping = osu.senders > 1 ? i : 1, pong = osu.senders > 1 ? i : 2;
			if (i >= skip)
				start = MPI_Wtime();
			MPI_Send(out, size, MPI_CHAR, 1, ping, MPI_COMM_WORLD);
			MPI_Recv(in, size, MPI_CHAR, 1, pong, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (i >= skip)
				total += MPI_Wtime() - start;
		}
		totals[id] = total;
		if (pthread_barrier_wait(&gate) == PTHREAD_BARRIER_SERIAL_THREAD) {
			double sum = 0;
			for (int k = 0; k < osu.senders; k++)
				sum += totals[k];
			osu_row(size, sum * 1e6 / (2.0 * iters));
		}
	}
	return NULL;
}

static void *receiver(void *arg)
{
	int id = (intptr_t)arg;
	char *out = osu_buffer(osu.max, 'a'), *in = osu_buffer(osu.max, 'b');
	for (size_t size = osu.min; size <= osu.max; size *= 2) {
		int iters, skip;
		osu_counts(size, &iters, &skip);
		together();
		for (int i = id; i < iters + skip; i += osu.receivers) {
			int ping = osu.senders > 1 ? i : 1, pong = osu.senders > 1 ? i : 2;
			MPI_Recv(in, size, MPI_CHAR, 0, ping, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(out, size, MPI_CHAR, 0, pong, MPI_COMM_WORLD);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_LAT, "m:i:x:t:", MPI_THREAD_MULTIPLE, 2);
	pthread_t threads[128];
	int n = osu_rank == 0 ? osu.senders : osu.receivers;

	if (osu_rank == 0)
		printf("# Number of Sender threads: %d \n# Number of Receiver threads: %d\n",
		       osu.senders, osu.receivers);
	osu_preamble("Multi-threaded Latency");
	osu_datatype();
	osu_heads("# Size", "Avg Latency(us)", NULL);
	pthread_barrier_init(&gate, NULL, n);
	for (intptr_t k = 0; k < n; k++)
		pthread_create(&threads[k], NULL, osu_rank == 0 ? sender : receiver, (void *)k);
	for (int k = 0; k < n; k++)
		pthread_join(threads[k], NULL);
	osu_finish();
}
