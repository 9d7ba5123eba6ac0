/* ranks: 1 2 5
 *
 * Partitioned sends around the ring, with other partitions at the receiver, and threads that
 * make them ready.
 */
#include "check.h"
#include <pthread.h>

enum { sent = 16, got = 8, each = 300, total = sent * each, rounds = 4 };
static double out[total], in[total];

static void fill(int round)
{
	for (int i = 0; i < total; i++)
		out[i] = i + round * 10 + check_rank;
}

static int whole(int first, int n, int round, int from)
{
	for (int i = first; i < first + n; i++)
		if (in[i] != i + round * 10 + from)
			return 0;
	return 1;
}

struct worker {
	MPI_Request request;
	int first, last;
};

static void *make_ready(void *argument)
{
	const struct worker *w = argument;
	for (int i = w->first; i <= w->last; i++)
		OK(MPI_Pready(i, w->request));
	return NULL;
}

static void ready(MPI_Request request, int round)
{
	pthread_t threads[4];
	struct worker workers[4];
	int list[sent];
	switch (round) {
	case 0:
		for (int i = sent - 1; i >= 0; i--)
			OK(MPI_Pready(i, request));
		return;
	case 1:
		OK(MPI_Pready_range(8, sent - 1, request));
		OK(MPI_Pready_range(0, 7, request));
		return;
	case 2:
		for (int i = 0; i < sent; i++)
			list[i] = (i * 5 + 3) % sent;
		OK(MPI_Pready_list(sent, list, request));
		return;
	}
	for (int t = 0; t < 4; t++) {
		workers[t] = (struct worker){request, t * 4, t * 4 + 3};
		pthread_create(&threads[t], NULL, make_ready, &workers[t]);
	}
	for (int t = 0; t < 4; t++)
		pthread_join(threads[t], NULL);
}

int main(int argc, char **argv)
{
	int provided;
	MPI_Request r[2], was[2];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &check_size);
	int left = (check_rank + check_size - 1) % check_size, right = (check_rank + 1) % check_size;
	OK(MPI_Psend_init(out, sent, each, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
	OK(MPI_Precv_init(in, got, total / got, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
	memcpy(was, r, sizeof r);
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	for (int round = 0; round < rounds; round++) {
		fill(round);
		memset(in, 0, sizeof in);
		OK(MPI_Startall(2, r));
		ready(r[0], round);
		for (int i = 0; i < got; i++) {
			int flag = 0;
			while (!flag)
				OK(MPI_Parrived(r[1], i, &flag));
			CHECK(whole(i * (total / got), total / got, round, left));
		}
		OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
		CHECK(memcmp(was, r, sizeof r) == 0 && whole(0, total, round, left));
	}
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
	CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);

	CHECK_CLASS(MPI_Psend_init(out, 2, 1, MPI_DOUBLE, check_size, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Psend_init(out, 2, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]), MPI_ERR_TYPE);
	return check_end();
}
