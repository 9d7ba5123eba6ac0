/* ranks: 1 2
 *
 * Eight threads at once, on communicators of their own and on one with tags of their own:
 * ping-pongs, windows of requests, and completion by another thread than the one that has
 * started. The threads are made by C, before MPI_Init or behind it.
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>

enum { threads = 8, turns = 200, window = 32 };
static MPI_Comm comms[threads];
static pthread_barrier_t initialized;
static MPI_Request handed[threads][window];
static int in[threads][window];

static void pingpong(int me, MPI_Comm comm, int tag)
{
	int peer = (check_rank + 1) % check_size;
	MPI_Status s;
	for (int i = 0; i < turns; i++) {
		int out = i * threads + me, back = -1;
		MPI_Request r;
		OK(MPI_Irecv(&back, 1, MPI_INT, peer, tag, comm, &r));
		OK(MPI_Send(&out, 1, MPI_INT, peer, tag, comm));
		OK(MPI_Wait(&r, &s));
		CHECK(back == out && s.MPI_TAG == tag && r == MPI_REQUEST_NULL);
	}
}

static void windows(int me, int tag)
{
	int peer = (check_rank + 1) % check_size, out[window];
	MPI_Request r[2 * window];
	MPI_Status s[2 * window];
	for (int turn = 0; turn < turns / 4; turn++) {
		int got[window], wrong = 0;
		for (int i = 0; i < window; i++)
			OK(MPI_Irecv(&got[i], 1, MPI_INT, peer, tag + i, MPI_COMM_WORLD, &r[i]));
		for (int i = 0; i < window; i++) {
			out[i] = i + me * turn;
			OK(MPI_Isend(&out[i], 1, MPI_INT, peer, tag + i, MPI_COMM_WORLD, &r[window + i]));
		}
		if (turn % 3 == 0) {
			int left = 2 * window, n, indices[2 * window];
			while (left > 0) {
				OK(MPI_Waitsome(2 * window, r, &n, indices, MPI_STATUSES_IGNORE));
				left -= n;
			}
		} else if (turn % 3 == 1) {
			int flag = 0;
			while (!flag)
				OK(MPI_Testall(2 * window, r, &flag, s));
		} else {
			OK(MPI_Waitall(2 * window, r, s));
		}
		for (int i = 0; i < window; i++)
			wrong += got[i] != i + me * turn;
		CHECK(wrong == 0);
	}
}

static void *work(void *argument)
{
	int me = *(int *)argument;
	pthread_barrier_wait(&initialized);
	if (check_failures)
		return NULL;
	pingpong(me, comms[me], 0);
	pingpong(me, MPI_COMM_WORLD, 100 + me);
	windows(me, 1000 + me * window);
	for (int i = 0; i < window; i++)
		OK(MPI_Irecv(&in[me][i], 1, MPI_INT, check_rank, 5000 + me * window + i, MPI_COMM_WORLD, &handed[me][i]));
	return NULL;
}

/* A thread completes what its neighbour has started. */
static void *finish(void *argument)
{
	int me = *(int *)argument, from = (me + 1) % threads, i;
	MPI_Status s;
	for (int k = 0; k < window; k++)
		OK(MPI_Send(&k, 1, MPI_INT, check_rank, 5000 + me * window + k, MPI_COMM_WORLD));
	for (int k = 0; k < window; k++) {
		OK(MPI_Waitany(window, handed[from], &i, &s));
		CHECK(i >= 0 && i < window && in[from][i] == i && s.MPI_TAG == 5000 + from * window + i);
	}
	return NULL;
}

/* Rivals complete the same request, which no program may. One of them gets it, and the
 * others are told that it is none, or that another waits for it. */
static MPI_Request contested;
static pthread_barrier_t begin, over;
static _Atomic int winners;

static void *rival(void *argument)
{
	int me = *(int *)argument;
	for (int turn = 0; turn < turns; turn++) {
		pthread_barrier_wait(&begin);
		MPI_Request r[2] = {MPI_REQUEST_NULL, contested};
		MPI_Status s[2];
		int code = MPI_SUCCESS, flag = 0, i = 1, indices[2];
		switch ((me + turn) % 5) {
		case 0:
			code = MPI_Wait(&r[1], s);
			break;
		case 1:
			while (!flag && !code)
				code = MPI_Test(&r[1], &flag, s);
			break;
		case 2:
			code = MPI_Waitall(2, r, s);
			break;
		case 3:
			code = MPI_Waitany(2, r, &i, s);
			break;
		case 4:
			code = MPI_Waitsome(2, r, &i, indices, s);
			break;
		}
		winners += code == MPI_SUCCESS;
		pthread_barrier_wait(&over);
	}
	return NULL;
}

static void contest(void)
{
	pthread_t thread[threads];
	int me[threads], x = 0;
	pthread_barrier_init(&begin, NULL, threads + 1);
	pthread_barrier_init(&over, NULL, threads + 1);
	for (int i = 0; i < threads; i++) {
		me[i] = i;
		pthread_create(&thread[i], NULL, rival, &me[i]);
	}
	for (int turn = 0; turn < turns; turn++) {
		OK(MPI_Irecv(&x, 1, MPI_INT, check_rank, 9000, MPI_COMM_WORLD, &contested));
		winners = 0;
		pthread_barrier_wait(&begin);
		OK(MPI_Send(&turn, 1, MPI_INT, check_rank, 9000, MPI_COMM_WORLD));
		pthread_barrier_wait(&over);
		CHECK(winners <= 1);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;
	pthread_t thread[threads];
	int me[threads], provided;
	pthread_barrier_init(&initialized, NULL, threads + 1);
	for (int i = 0; i < threads; i++) {
		me[i] = i;
		pthread_create(&thread[i], NULL, work, &me[i]);
	}
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	CHECK(provided == MPI_THREAD_MULTIPLE);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &check_size);
	for (int i = 0; i < threads; i++)
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
	pthread_barrier_wait(&initialized);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, finish, &me[i]);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < threads; i++)
		OK(MPI_Comm_free(&comms[i]));
	OK(MPI_Get_library_version(version, &length));
	if (strncmp(version, "MPICH", 5) != 0)
		contest();
	return check_end();
}
