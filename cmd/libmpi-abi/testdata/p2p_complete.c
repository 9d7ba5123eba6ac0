/* ranks: 1 2
 *
 * Each call that completes requests, with what it leaves: handles, indices, statuses, and
 * the errors in them. Messages go to the rank itself, so that a test knows which have come.
 */
#include "check.h"

enum { n = 6, mark = 4711 };

static MPI_Request r[n];
static MPI_Status s[n];
static int values[n], indices[n], is_mpich;

/* Receives are posted, and the messages of those in the mask are sent. */
static void post(unsigned came)
{
	for (int i = 0; i < n; i++) {
		values[i] = -1;
		s[i].MPI_ERROR = mark;
		OK(MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]));
	}
	for (int i = 0; i < n; i++)
		if (came >> i & 1)
			OK(MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF));
}

static void rest(unsigned missing)
{
	for (int i = 0; i < n; i++)
		if (missing >> i & 1)
			OK(MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF));
}

/* A message has come, and the calls that return no errors in statuses have left MPI_ERROR.
 * MPICH's MPI_Waitall sets it to MPI_SUCCESS if a request is null. */
static void got(int i, const MPI_Status *status)
{
	int count = -1;
	OK(MPI_Get_count(status, MPI_INT, &count));
	CHECK(count == 1 && status->MPI_SOURCE == 0 && status->MPI_TAG == i);
	CHECK(status->MPI_ERROR == mark || is_mpich);
	CHECK(values[i] == i && r[i] == MPI_REQUEST_NULL);
}

static void empty(const MPI_Status *status)
{
	int count = -1, flag = 1;
	OK(MPI_Get_count(status, MPI_INT, &count));
	OK(MPI_Test_cancelled(status, &flag));
	CHECK(count == 0 && !flag && status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG);
}

static void one(void)
{
	int flag = 1;
	MPI_Status t = {.MPI_ERROR = mark};
	post(1);
	OK(MPI_Request_get_status(r[5], &flag, &t));
	CHECK(!flag);
	OK(MPI_Test(&r[5], &flag, &t));
	CHECK(!flag && r[5] != MPI_REQUEST_NULL);
	OK(MPI_Request_get_status(r[0], &flag, &t));
	CHECK(flag && t.MPI_TAG == 0 && r[0] != MPI_REQUEST_NULL);
	OK(MPI_Test(&r[0], &flag, &t));
	CHECK(flag);
	got(0, &t);
	OK(MPI_Wait(&r[0], &t));
	empty(&t);
	t.MPI_TAG = 9;
	OK(MPI_Test(&r[0], &flag, &t));
	CHECK(flag);
	empty(&t);
	OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &t));
	CHECK(flag);
	empty(&t);
	rest(62);
	OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
}

static void all(void)
{
	int flag = 1;
	post(0x1f);
	OK(MPI_Testall(n, r, &flag, s));
	CHECK(!flag && r[0] != MPI_REQUEST_NULL);
	OK(MPI_Request_get_status_all(n, r, &flag, s));
	CHECK(!flag);
	rest(0x20);
	OK(MPI_Request_get_status_all(n, r, &flag, s));
	CHECK(flag && s[3].MPI_TAG == 3 && r[3] != MPI_REQUEST_NULL);
	OK(MPI_Testall(n, r, &flag, s));
	CHECK(flag);
	for (int i = 0; i < n; i++)
		got(i, &s[i]);
	OK(MPI_Testall(n, r, &flag, s));
	CHECK(flag);
	empty(&s[n - 1]);

	post(0x3f);
	OK(MPI_Wait(&r[2], &s[2]));
	got(2, &s[2]);
	OK(MPI_Waitall(n, r, s));
	for (int i = 0; i < n; i++)
		if (i != 2)
			got(i, &s[i]);
	empty(&s[2]);
	OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
	OK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
	CHECK(flag);
}

static void any(void)
{
	int flag = 0, i = 0;
	MPI_Status t = {.MPI_ERROR = mark};
	post(4);
	OK(MPI_Request_get_status_any(n, r, &i, &flag, &t));
	CHECK(flag && i == 2 && t.MPI_TAG == 2 && r[2] != MPI_REQUEST_NULL);
	OK(MPI_Waitany(n, r, &i, &t));
	CHECK(i == 2);
	got(2, &t);
	OK(MPI_Testany(n, r, &i, &flag, &t));
	CHECK(!flag && i == MPI_UNDEFINED);
	OK(MPI_Request_get_status_any(n, r, &i, &flag, &t));
	CHECK(!flag);
	rest(0x3b);
	for (int seen = 1; seen < n; seen++) {
		OK(MPI_Testany(n, r, &i, &flag, &t));
		CHECK(flag && i >= 0 && i < n);
		got(i, &t);
	}
	OK(MPI_Waitany(n, r, &i, &t));
	CHECK(i == MPI_UNDEFINED);
	empty(&t);
	flag = 0, t.MPI_TAG = 1;
	OK(MPI_Testany(n, r, &i, &flag, &t));
	CHECK(flag && i == MPI_UNDEFINED);
	empty(&t);
	flag = 0;
	OK(MPI_Request_get_status_any(n, r, &i, &flag, &t));
	CHECK(flag && i == MPI_UNDEFINED);
	OK(MPI_Waitany(0, NULL, &i, MPI_STATUS_IGNORE));
	CHECK(i == MPI_UNDEFINED);
}

static void some(void)
{
	int count = -1;
	post(0x2a);
	OK(MPI_Request_get_status_some(n, r, &count, indices, s));
	CHECK(count == 3 && indices[0] == 1 && indices[2] == 5 && s[1].MPI_TAG == 3 && r[3] != MPI_REQUEST_NULL);
	OK(MPI_Waitsome(n, r, &count, indices, s));
	CHECK(count == 3 && indices[0] == 1 && indices[1] == 3 && indices[2] == 5);
	for (int i = 0; i < count; i++)
		got(indices[i], &s[i]);
	OK(MPI_Testsome(n, r, &count, indices, s));
	CHECK(count == 0);
	OK(MPI_Request_get_status_some(n, r, &count, indices, s));
	CHECK(count == 0);
	rest(0x15);
	OK(MPI_Testsome(n, r, &count, indices, MPI_STATUSES_IGNORE));
	CHECK(count == 3 && indices[0] == 0 && indices[1] == 2 && indices[2] == 4);
	OK(MPI_Waitsome(n, r, &count, indices, s));
	CHECK(count == MPI_UNDEFINED);
	OK(MPI_Testsome(n, r, &count, indices, s));
	CHECK(count == MPI_UNDEFINED);
	OK(MPI_Request_get_status_some(n, r, &count, indices, s));
	CHECK(count == MPI_UNDEFINED);
	OK(MPI_Waitsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE));
	CHECK(count == MPI_UNDEFINED);
}

/* Request 1 gets a message that is too long. */
static void truncated(void)
{
	int two[2] = {1, 1};
	post(0x3d);
	OK(MPI_Send(two, 2, MPI_INT, 0, 1, MPI_COMM_SELF));
}

static void errors(void)
{
	int flag = 0, i = 0, count = 0;
	MPI_Status t = {.MPI_ERROR = mark};
	truncated();
	CHECK_CLASS(MPI_Waitall(n, r, s), MPI_ERR_IN_STATUS);
	for (i = 0; i < n; i++) {
		if (r[i] != MPI_REQUEST_NULL && s[i].MPI_ERROR == MPI_ERR_PENDING) {
			OK(MPI_Wait(&r[i], &s[i])); /* MPI lets a call end early */
			s[i].MPI_ERROR = MPI_SUCCESS;
		}
		CHECK(r[i] == MPI_REQUEST_NULL);
		CHECK_CLASS(s[i].MPI_ERROR, i == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
	}
	truncated();
	CHECK_CLASS(MPI_Testall(n, r, &flag, s), MPI_ERR_IN_STATUS);
	CHECK(flag);
	CHECK_CLASS(s[1].MPI_ERROR, MPI_ERR_TRUNCATE);
	CHECK_CLASS(s[2].MPI_ERROR, MPI_SUCCESS);
	truncated();
	CHECK_CLASS(MPI_Waitsome(n, r, &count, indices, s), MPI_ERR_IN_STATUS);
	CHECK(count == n && indices[1] == 1);
	CHECK_CLASS(s[1].MPI_ERROR, MPI_ERR_TRUNCATE);
	CHECK_CLASS(s[5].MPI_ERROR, MPI_SUCCESS);
	truncated();
	CHECK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
	OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
	CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
	truncated();
	CHECK_CLASS(MPI_Test(&r[1], &flag, &t), MPI_ERR_TRUNCATE);
	CHECK(r[1] == MPI_REQUEST_NULL && t.MPI_ERROR == mark);
	OK(MPI_Waitall(n, r, s));
	truncated();
	CHECK_CLASS(MPI_Waitany(1, r + 1, &i, &t), MPI_ERR_TRUNCATE);
	CHECK(i == 0 && r[1] == MPI_REQUEST_NULL && t.MPI_ERROR == mark);
	OK(MPI_Waitall(n, r, s));
}

static void cancelled(void)
{
	int flag = 0;
	MPI_Status t;
	post(0);
	for (int i = 0; i < n; i++)
		OK(MPI_Cancel(&r[i]));
	OK(MPI_Wait(&r[0], &t));
	OK(MPI_Test_cancelled(&t, &flag));
	CHECK(flag && r[0] == MPI_REQUEST_NULL && values[0] == -1);
	OK(MPI_Waitall(n, r, s));
	OK(MPI_Test_cancelled(&s[5], &flag));
	CHECK(flag);
	OK(MPI_Test_cancelled(&s[0], &flag));
	CHECK(!flag);
}

/* A message may come for a request that has been given up. */
static void freed(void)
{
	int flag = 0;
	post(0);
	for (int i = 0; i < n; i++) {
		OK(MPI_Request_free(&r[i]));
		CHECK(r[i] == MPI_REQUEST_NULL);
	}
	rest(0x3f);
	OK(MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag && values[0] == 0 && values[5] == 5);
}

/* More requests than any scratch memory begins with. */
static void many(void)
{
	enum { many = 5000 };
	static MPI_Request q[2 * many];
	static MPI_Status t[2 * many];
	static int in[many], out[many];
	int left = (check_rank + check_size - 1) % check_size, right = (check_rank + 1) % check_size, wrong = 0;
	for (int i = 0; i < many; i++) {
		out[i] = i + check_rank;
		OK(MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &q[i]));
	}
	for (int i = 0; i < many; i++)
		OK(MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &q[many + i]));
	OK(MPI_Waitall(2 * many, q, t));
	for (int i = 0; i < many; i++)
		wrong += in[i] != i + left || t[i].MPI_TAG != i || q[i] != MPI_REQUEST_NULL || q[many + i] != MPI_REQUEST_NULL;
	CHECK(wrong == 0);
}

int main(int argc, char **argv)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;
	check_init(&argc, &argv);
	OK(MPI_Get_library_version(version, &length));
	is_mpich = strncmp(version, "MPICH", 5) == 0;
	one();
	all();
	any();
	some();
	errors();
	cancelled();
	freed();
	many();
	return check_end();
}
