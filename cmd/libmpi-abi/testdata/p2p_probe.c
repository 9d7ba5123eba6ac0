/* ranks: 1 2 5
 *
 * Probes, and messages that a matched probe has taken out of the queue.
 */
#include "check.h"

static int left, right;

static void plain(void)
{
	MPI_Status s;
	MPI_Request r;
	int out[3] = {1, 2, 3}, in[3] = {0}, flag = 0, count = 0;
	OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &s));
	CHECK(!flag);
	OK(MPI_Isend(out, 3, MPI_INT, right, 4, MPI_COMM_WORLD, &r));
	OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
	OK(MPI_Get_count(&s, MPI_INT, &count));
	CHECK(count == 3 && s.MPI_SOURCE == left && s.MPI_TAG == 4);
	OK(MPI_Iprobe(left, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
	CHECK(flag);
	OK(MPI_Iprobe(left, 5, MPI_COMM_WORLD, &flag, &s));
	CHECK(!flag);
	OK(MPI_Recv(in, count, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(memcmp(in, out, sizeof in) == 0);
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));

	OK(MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &s));
	OK(MPI_Get_count(&s, MPI_INT, &count));
	CHECK(count == 0 && s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
	flag = 0;
	OK(MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &s));
	CHECK(flag && s.MPI_SOURCE == MPI_PROC_NULL);
	CHECK_CLASS(MPI_Probe(check_size, 1, MPI_COMM_WORLD, &s), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Iprobe(0, -5, MPI_COMM_WORLD, &flag, &s), MPI_ERR_TAG);
}

/* The message that has been matched is not got by a receive for all messages. */
static void matched(int n)
{
	MPI_Message first = MPI_MESSAGE_NULL, second = MPI_MESSAGE_NULL;
	MPI_Request r[3];
	MPI_Status s;
	int flag = 0, count = 0;
	double *out = malloc(sizeof *out * (size_t)n), *in = malloc(sizeof *in * (size_t)n), other = 0;
	for (int i = 0; i < n; i++)
		out[i] = i + check_rank;
	OK(MPI_Isend(out, n, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &r[0]));
	OK(MPI_Isend(out + 1, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &r[1]));
	OK(MPI_Mprobe(left, 1, MPI_COMM_WORLD, &first, &s));
	OK(MPI_Get_count(&s, MPI_DOUBLE, &count));
	CHECK(count == n && s.MPI_SOURCE == left && s.MPI_TAG == 1 && first != MPI_MESSAGE_NULL);
	OK(MPI_Recv(&other, 1, MPI_DOUBLE, left, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
	CHECK(other == left + 1);
	OK(MPI_Mrecv(in, n, MPI_DOUBLE, &first, &s));
	OK(MPI_Get_count(&s, MPI_DOUBLE, &count));
	CHECK(first == MPI_MESSAGE_NULL && count == n && s.MPI_SOURCE == left && s.MPI_TAG == 1);
	CHECK(in[0] == left && in[n - 1] == n - 1 + left);
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &first, &s));
	CHECK(!flag);
	OK(MPI_Barrier(MPI_COMM_WORLD));

	OK(MPI_Isend(out, n, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &r[0]));
	OK(MPI_Issend(out + 1, 1, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &r[1]));
	for (flag = 0; !flag;)
		OK(MPI_Improbe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &first, &s));
	CHECK(s.MPI_SOURCE == left);
	OK(MPI_Mprobe(left, 3, MPI_COMM_WORLD, &second, MPI_STATUS_IGNORE));
	memset(in, 0, sizeof *in * (size_t)n);
	OK(MPI_Mrecv(&other, 1, MPI_DOUBLE, &second, MPI_STATUS_IGNORE));
	OK(MPI_Imrecv(in, n, MPI_DOUBLE, &first, &r[2]));
	CHECK(first == MPI_MESSAGE_NULL && second == MPI_MESSAGE_NULL && other == left + 1);
	OK(MPI_Wait(&r[2], &s));
	CHECK(s.MPI_TAG == 2 && in[n - 1] == n - 1 + left);
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	free(out);
	free(in);
}

static void no_process(void)
{
	MPI_Message m = MPI_MESSAGE_NULL;
	MPI_Request r;
	MPI_Status s;
	int flag = 0, x = 7, count = -1;
	OK(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &m, &s));
	CHECK(m == MPI_MESSAGE_NO_PROC && s.MPI_SOURCE == MPI_PROC_NULL);
	OK(MPI_Mrecv(&x, 1, MPI_INT, &m, &s));
	OK(MPI_Get_count(&s, MPI_INT, &count));
	CHECK(m == MPI_MESSAGE_NULL && count == 0 && s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && x == 7);
	OK(MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &m, &s));
	CHECK(flag && m == MPI_MESSAGE_NO_PROC);
	OK(MPI_Imrecv(&x, 1, MPI_INT, &m, &r));
	OK(MPI_Wait(&r, &s));
	CHECK(m == MPI_MESSAGE_NULL && s.MPI_SOURCE == MPI_PROC_NULL && x == 7);
	m = MPI_MESSAGE_NO_PROC;
	OK(MPI_Mrecv(NULL, 0, MPI_INT, &m, &s));
}

static void errors(void)
{
	MPI_Message m = MPI_MESSAGE_NULL;
	MPI_Request r;
	MPI_Status s;
	int two[2] = {1, 2}, x = 0;
	CHECK(MPI_Mrecv(&x, 1, MPI_INT, &m, &s) != MPI_SUCCESS);
	OK(MPI_Isend(two, 2, MPI_INT, 0, 1, MPI_COMM_SELF, &r));
	OK(MPI_Mprobe(0, 1, MPI_COMM_SELF, &m, &s));
	CHECK_CLASS(MPI_Mrecv(&x, -1, MPI_INT, &m, &s), MPI_ERR_COUNT);
	CHECK(m != MPI_MESSAGE_NULL);
	CHECK_CLASS(MPI_Mrecv(&x, 1, MPI_DATATYPE_NULL, &m, &s), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Mrecv(&x, 1, MPI_INT, &m, &s), MPI_ERR_TRUNCATE);
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	left = (check_rank + check_size - 1) % check_size;
	right = (check_rank + 1) % check_size;
	plain();
	OK(MPI_Barrier(MPI_COMM_WORLD));
	matched(2);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	matched(100000);
	no_process();
	errors();
	return check_end();
}
