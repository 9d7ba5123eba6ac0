/* ranks: 1 2 5
 *
 * Persistent requests keep their handles, and count as null while they are not started.
 */
#include "check.h"

typedef int init_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static init_function *const inits[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
static int is_mpich;
enum { modes = 4, rounds = 5, items = 1000 };

static void idle(MPI_Request *r)
{
	MPI_Request was = *r;
	MPI_Status s = {.MPI_TAG = 5};
	int flag = 0, i = 0, count = 0;
	OK(MPI_Wait(r, &s));
	CHECK(*r == was && s.MPI_SOURCE == MPI_ANY_SOURCE && s.MPI_TAG == MPI_ANY_TAG);
	OK(MPI_Test(r, &flag, &s));
	CHECK(*r == was && flag);
	OK(MPI_Waitany(1, r, &i, &s));
	CHECK(*r == was && i == MPI_UNDEFINED);
	OK(MPI_Testsome(1, r, &count, &i, &s));
	CHECK(*r == was && count == MPI_UNDEFINED);
	OK(MPI_Request_get_status(*r, &flag, &s));
	CHECK(flag && s.MPI_TAG == MPI_ANY_TAG);
	OK(MPI_Request_get_status_any(1, r, &i, &flag, &s));
	CHECK(flag && i == MPI_UNDEFINED);
	OK(MPI_Request_get_status_some(1, r, &count, &i, &s));
	CHECK(count == MPI_UNDEFINED);
	OK(MPI_Request_get_status_all(1, r, &flag, &s));
	CHECK(flag);
}

/* The receive is started first, for ready sends. */
static void ring(int mode)
{
	static double out[items], in[items];
	int left = (check_rank + check_size - 1) % check_size, right = (check_rank + 1) % check_size;
	MPI_Request r[2], was[2];
	MPI_Status s[2];
	OK(MPI_Recv_init(in, items, MPI_DOUBLE, left, mode, MPI_COMM_WORLD, &r[0]));
	OK(inits[mode](out, items, MPI_DOUBLE, right, mode, MPI_COMM_WORLD, &r[1]));
	idle(&r[0]);
	memcpy(was, r, sizeof r);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < items; i++)
			out[i] = i + round + check_rank;
		OK(MPI_Start(&r[0]));
		OK(MPI_Barrier(MPI_COMM_WORLD));
		if (round % 2)
			OK(MPI_Startall(1, &r[1]));
		else
			OK(MPI_Start(&r[1]));
		if (round == 3) {
			int flag = 0;
			while (!flag)
				OK(MPI_Testall(2, r, &flag, s));
		} else {
			OK(MPI_Waitall(2, r, s));
		}
		CHECK(memcmp(was, r, sizeof r) == 0);
		CHECK(s[0].MPI_SOURCE == left && s[0].MPI_TAG == mode);
		CHECK(in[0] == round + left && in[items - 1] == items - 1 + round + left);
		idle(&r[0]);
	}
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
	CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
}

/* Of two requests one is started: the other is left aside. In MPICH
 * get_status_any takes the first for one that has completed, and ends the second. */
static void one_of_two(void)
{
	int x[2] = {0}, i = 7, flag = 1, count = 0;
	MPI_Request r[2];
	MPI_Status s[2];
	for (int k = 0; k < 2; k++)
		OK(MPI_Recv_init(&x[k], 1, MPI_INT, 0, k, MPI_COMM_SELF, &r[k]));
	OK(MPI_Start(&r[1]));
	if (!is_mpich) {
		OK(MPI_Request_get_status_any(2, r, &i, &flag, &s[0]));
		CHECK(!flag);
	}
	OK(MPI_Request_get_status_some(2, r, &count, &i, s));
	CHECK(count == 0);
	OK(MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
	if (!is_mpich) {
		OK(MPI_Request_get_status_any(2, r, &i, &flag, &s[0]));
		CHECK(flag && i == 1 && s[0].MPI_TAG == 1);
	}
	OK(MPI_Waitany(2, r, &i, &s[0]));
	CHECK(i == 1 && s[0].MPI_TAG == 1);
	OK(MPI_Waitany(2, r, &i, &s[0]));
	CHECK(i == MPI_UNDEFINED);
	OK(MPI_Startall(2, r));
	OK(MPI_Cancel(&r[0]));
	OK(MPI_Wait(&r[0], &s[0]));
	OK(MPI_Test_cancelled(&s[0], &flag));
	CHECK(flag && r[0] != MPI_REQUEST_NULL);
	OK(MPI_Cancel(&r[1]));
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
}

int main(int argc, char **argv)
{
	static char memory[4 * (items * sizeof(double) + MPI_BSEND_OVERHEAD)];
	MPI_Request r = MPI_REQUEST_NULL;
	void *at;
	int size, x = 0;
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;
	check_init(&argc, &argv);
	OK(MPI_Get_library_version(version, &length));
	is_mpich = strncmp(version, "MPICH", 5) == 0;
	OK(MPI_Buffer_attach(memory, sizeof memory));
	for (int mode = 0; mode < modes; mode++)
		ring(mode);
	OK(MPI_Buffer_detach(&at, &size));
	one_of_two();

	/* A send to no process is persistent, too. */
	OK(MPI_Send_init(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r));
	OK(MPI_Start(&r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(r != MPI_REQUEST_NULL);
	OK(MPI_Request_free(&r));

	/* An operation under way goes on when its request is freed. */
	OK(MPI_Recv_init(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r));
	OK(MPI_Start(&r));
	OK(MPI_Request_free(&r));
	OK(MPI_Send(&size, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
	CHECK(r == MPI_REQUEST_NULL && x == size);

	OK(MPI_Startall(0, NULL));
	CHECK(MPI_Start(&r) != MPI_SUCCESS);
	OK(MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r));
	CHECK(MPI_Start(&r) != MPI_SUCCESS);
	OK(MPI_Cancel(&r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	return check_end();
}
