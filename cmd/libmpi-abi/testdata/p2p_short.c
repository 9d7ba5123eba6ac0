/* ranks: 1 2 5
 *
 * Short messages: sends that have completed in their own call, and receives that the library
 * may start later than the program asks for them, in all calls that take their requests.
 */
#include "check.h"
#include <sched.h>
#include <unistd.h>

enum { MANY = 200, ROUNDS = 100 };

/* to and from are this rank's neighbours in a ring: itself, if it is alone. */
static int to, from;

static void send(int value, int tag) { OK(MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD)); }

/* Receives take messages in the order in which they were asked for, however many there are,
 * with wildcards or without. */
static void order(void)
{
	static int got[MANY];
	MPI_Request r[MANY];
	MPI_Status s[MANY];
	for (int i = 0; i < MANY; i++) {
		got[i] = -1;
		OK(MPI_Irecv(&got[i], 1, MPI_INT, i % 3 ? from : MPI_ANY_SOURCE, i % 5 ? 7 : MPI_ANY_TAG, MPI_COMM_WORLD, &r[i]));
	}
	for (int i = 0; i < MANY; i++)
		send(i, 7);
	OK(MPI_Waitall(MANY, r, s));
	for (int i = 0; i < MANY; i++) {
		int n;
		OK(MPI_Get_count(&s[i], MPI_INT, &n));
		CHECK(got[i] == i && s[i].MPI_SOURCE == from && s[i].MPI_TAG == 7 && n == 1 && r[i] == MPI_REQUEST_NULL);
	}
}

/* Every call finds a receive that was just asked for. */
static void looked_at(void)
{
	MPI_Request r, same;
	MPI_Status s;
	int x = -1, flag, n;
	OK(MPI_Irecv(&x, 1, MPI_INT, from, 8, MPI_COMM_WORLD, &r));
	same = MPI_Request_fromint(MPI_Request_toint(r));
	CHECK(same == r);
	OK(MPI_Request_get_status(r, &flag, &s));
	CHECK(!flag);
	OK(MPI_Test(&r, &flag, &s));
	CHECK(!flag && r == same);
	MPI_Barrier(MPI_COMM_WORLD);
	send(5, 8);
	OK(MPI_Wait(&same, &s));
	CHECK(x == 5);
	if (weft()) /* others don't look */
		CHECK_CLASS(MPI_Wait(&r, &s), MPI_ERR_REQUEST);

	OK(MPI_Irecv(&x, 1, MPI_INT, from, 9, MPI_COMM_WORLD, &r));
	OK(MPI_Cancel(&r));
	OK(MPI_Wait(&r, &s));
	OK(MPI_Test_cancelled(&s, &flag));
	CHECK(flag);

	OK(MPI_Irecv(&x, 1, MPI_INT, from, 10, MPI_COMM_WORLD, &r));
	OK(MPI_Request_free(&r));
	send(6, 10);
	send(0, 11); /* behind it */
	OK(MPI_Recv(&n, 1, MPI_INT, from, 11, MPI_COMM_WORLD, &s));
	CHECK(x == 6);

	char two[2];
	OK(MPI_Irecv(two, 2, MPI_CHAR, from, 12, MPI_COMM_WORLD, &r));
	send(7, 12);
	CHECK_CLASS(MPI_Wait(&r, &s), MPI_ERR_TRUNCATE);
	OK(MPI_Irecv(NULL, 0, MPI_INT, from, 13, MPI_COMM_WORLD, &r));
	OK(MPI_Send(NULL, 0, MPI_INT, to, 13, MPI_COMM_WORLD));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK_CLASS(MPI_Irecv(&x, -1, MPI_INT, from, 1, MPI_COMM_WORLD, &r), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Irecv(&x, 1, MPI_INT, check_size, 1, MPI_COMM_WORLD, &r), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Irecv(&x, 1, MPI_INT, from, -7, MPI_COMM_WORLD, &r), MPI_ERR_TAG);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* A send that has completed is a request to all calls that complete some, beside a receive
 * that has not. */
static void completed_sends(void)
{
	int x = -1, one = 1, i, n, flag, indices[3];
	MPI_Status s[3];
	MPI_Request r[3], receive;
	for (int form = 0; form < 10; form++) {
		OK(MPI_Irecv(&x, 1, MPI_INT, from, 21, MPI_COMM_WORLD, &receive));
		OK(MPI_Isend(&one, 1, MPI_INT, to, 20, MPI_COMM_WORLD, &r[1]));
		r[0] = receive;
		r[2] = MPI_REQUEST_NULL;
		memset(s, 0x55, sizeof s);
		switch (form) {
		case 0:
			OK(MPI_Waitany(3, r, &i, s));
			CHECK(i == 1);
			break;
		case 1:
			do
				OK(MPI_Testany(3, r, &i, &flag, s));
			while (!flag);
			CHECK(i == 1);
			break;
		case 2:
		case 3:
			do
				OK((form == 2 ? MPI_Waitsome : MPI_Testsome)(3, r, &n, indices, s));
			while (n == 0);
			CHECK(n == 1 && indices[0] == 1);
			break;
		case 4:
			OK(MPI_Wait(&r[1], s));
			break;
		case 5:
			do
				OK(MPI_Test(&r[1], &flag, s));
			while (!flag);
			break;
		case 6:
			OK(MPI_Request_free(&r[1]));
			break;
		case 7:
			OK(MPI_Cancel(&r[1]));
			OK(MPI_Wait(&r[1], s));
			break;
		case 8:
			do
				OK(MPI_Request_get_status_any(3, r, &i, &flag, s));
			while (!flag);
			CHECK(i == 1 && r[1] != MPI_REQUEST_NULL);
			do
				OK(MPI_Request_get_status_some(3, r, &n, indices, s));
			while (n == 0);
			CHECK(n == 1 && indices[0] == 1);
			CHECK(MPI_Request_fromint(MPI_Request_toint(r[1])) == r[1]);
			CHECK_CLASS(MPI_Start(&r[1]), MPI_ERR_REQUEST);
			OK(MPI_Wait(&r[1], s));
			break;
		case 9:
			break;
		}
		CHECK(r[0] == receive && (form == 9 || r[1] == MPI_REQUEST_NULL));
		MPI_Barrier(MPI_COMM_WORLD);
		send(form, 21);
		OK(MPI_Waitall(3, r, s));
		CHECK(x == form && r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL && s[0].MPI_SOURCE == from);
		OK(MPI_Recv(&n, 1, MPI_INT, from, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
	OK(MPI_Waitany(1, &r[2], &i, s));
	CHECK(i == MPI_UNDEFINED);
}

/* A rank that calls nothing is sent to synchronously: with the receive asked for before the
 * message comes, after it has come, or at the same moment. */
static void computing(void)
{
	MPI_Request r;
	int flag = 0;
	if (!weft() || check_size < 2 || check_rank > 1)
		return;
	for (int i = 1; i <= ROUNDS; i++) {
		volatile int x = 0;
		if (check_rank == 1) {
			OK(MPI_Ssend(&i, 1, MPI_INT, 0, 30, MPI_COMM_WORLD));
			continue;
		}
		if (i % 3 == 0) {
			do
				OK(MPI_Iprobe(1, 30, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
			while (!flag);
		}
		if (i % 10 == 0)
			usleep(20000); /* the library's thread has nothing left to do by then */
		OK(MPI_Irecv((int *)&x, 1, MPI_INT, 1, 30, MPI_COMM_WORLD, &r));
		while (x != i)
			sched_yield();
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	}
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	to = (check_rank + 1) % check_size;
	from = (check_rank + check_size - 1) % check_size;
	order();
	looked_at();
	completed_sends();
	computing();
	return check_end();
}
