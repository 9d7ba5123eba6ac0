/* ranks: 1 2 5
 *
 * Messages of all lengths in all modes go around a ring, blocking and not, and arrive whole.
 */
#include "check.h"

static const int sizes[] = {0, 8, 1 << 10, 64 << 10, 1 << 20};
enum { longest = 1 << 20 };
static unsigned char out[longest], in[longest];
static int left, right, is_mpich;

typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int send_function_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int isend_function_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static send_function *const sends[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
static send_function_c *const sends_c[] = {MPI_Send_c, MPI_Ssend_c, MPI_Bsend_c, MPI_Rsend_c};
static isend_function *const isends[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
static isend_function_c *const isends_c[] = {MPI_Isend_c, MPI_Issend_c, MPI_Ibsend_c, MPI_Irsend_c};

static void fill(int n, int salt)
{
	for (int i = 0; i < n; i++)
		out[i] = (unsigned char)(i * 7 + salt + check_rank);
	memset(in, 0, sizeof in);
}

static void whole(int n, int salt)
{
	int wrong = 0;
	for (int i = 0; i < n; i++)
		wrong += in[i] != (unsigned char)(i * 7 + salt + left);
	CHECK(wrong == 0);
	CHECK(n == longest || in[n] == 0);
}

static void arrived(const MPI_Status *s, int n, int salt, int tag)
{
	int count = -1;
	OK(MPI_Get_count(s, MPI_BYTE, &count));
	CHECK(count == n);
	CHECK(s->MPI_SOURCE == left);
	CHECK(s->MPI_TAG == tag);
	whole(n, salt);
}

/* The receive is posted first, so that ready sends and synchronous ones to oneself work. */
static void modes(int n)
{
	MPI_Request r[2];
	MPI_Status s[2];
	for (int mode = 0; mode < 4; mode++) {
		int any = mode % 2, tag = 100 + mode;
		fill(n, mode);
		OK(MPI_Irecv(in, longest, MPI_BYTE, any ? MPI_ANY_SOURCE : left, any ? MPI_ANY_TAG : tag, MPI_COMM_WORLD, &r[0]));
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK((mode % 2 ? sends[mode](out, n, MPI_BYTE, right, tag, MPI_COMM_WORLD) : sends_c[mode](out, n, MPI_BYTE, right, tag, MPI_COMM_WORLD)));
		OK(MPI_Wait(&r[0], &s[0]));
		CHECK(r[0] == MPI_REQUEST_NULL);
		arrived(&s[0], n, mode, tag);
		OK(MPI_Barrier(MPI_COMM_WORLD));

		fill(n, mode + 9);
		OK(MPI_Irecv_c(in, longest, MPI_BYTE, any ? left : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &r[0]));
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK((mode % 2 ? isends_c[mode](out, n, MPI_BYTE, right, tag, MPI_COMM_WORLD, &r[1]) : isends[mode](out, n, MPI_BYTE, right, tag, MPI_COMM_WORLD, &r[1])));
		OK(MPI_Waitall(2, r, s));
		CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
		arrived(&s[0], n, mode + 9, tag);
		OK(MPI_Barrier(MPI_COMM_WORLD));
	}
}

static void blocking(int n)
{
	MPI_Status s;
	fill(n, 3);
	if (check_size == 1)
		return;
	if (check_rank == 0)
		OK(MPI_Send(out, n, MPI_BYTE, right, 5, MPI_COMM_WORLD));
	OK(MPI_Recv(in, longest, MPI_BYTE, left, 5, MPI_COMM_WORLD, &s));
	arrived(&s, n, 3, 5);
	if (check_rank != 0)
		OK(MPI_Send_c(out, n, MPI_BYTE, right, 5, MPI_COMM_WORLD));
}

/* The shift with one call, in its four forms and with both widths of counts. MPICH sets
 * no status for an Isendrecv. */
static void shift(int n)
{
	MPI_Request r;
	MPI_Status s;
	fill(n, 1);
	OK(MPI_Sendrecv(out, n, MPI_BYTE, right, 6, in, longest, MPI_BYTE, left, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
	arrived(&s, n, 1, 6);
	fill(n, 2);
	OK(MPI_Isendrecv_c(out, n, MPI_BYTE, right, 7, in, longest, MPI_BYTE, left, 7, MPI_COMM_WORLD, &r));
	OK(MPI_Wait(&r, &s));
	whole(n, 2);
	if (!is_mpich)
		arrived(&s, n, 2, 7);
	fill(n, 3);
	memcpy(in, out, (size_t)n);
	OK(MPI_Sendrecv_replace_c(in, n, MPI_BYTE, right, 8, left, 8, MPI_COMM_WORLD, &s));
	arrived(&s, n, 3, 8);
	fill(n, 4);
	memcpy(in, out, (size_t)n);
	OK(MPI_Isendrecv_replace(in, n, MPI_BYTE, right, 9, left, 9, MPI_COMM_WORLD, &r));
	OK(MPI_Wait(&r, &s));
	whole(n, 4);
	if (!is_mpich)
		arrived(&s, n, 4, 9);
}

static void no_process(void)
{
	MPI_Request r;
	MPI_Status s;
	int x = 5, count = -1;
	for (int mode = 0; mode < 4; mode++) {
		OK(sends[mode](&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
		OK(isends[mode](&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	}
	OK(MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &s));
	CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && x == 5);
	OK(MPI_Get_count(&s, MPI_INT, &count));
	CHECK(count == 0);
	OK(MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r));
	OK(MPI_Wait(&r, &s));
	CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && x == 5);
	OK(MPI_Sendrecv(&x, 1, MPI_INT, MPI_PROC_NULL, 1, &x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &s));
	CHECK(s.MPI_SOURCE == MPI_PROC_NULL && x == 5);
}

static void errors(void)
{
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Status s;
	int x = 0;
	CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, check_size, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, -9, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, 0, -7, MPI_COMM_WORLD), MPI_ERR_TAG);
	CHECK_CLASS(MPI_Send(&x, -1, MPI_INT, 0, 1, MPI_COMM_WORLD), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_NULL), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Isend(&x, 1, MPI_INT, check_size, 1, MPI_COMM_WORLD, &r), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, check_size, 1, MPI_COMM_WORLD, &s), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Irecv(&x, 1, MPI_INT, 0, -7, MPI_COMM_WORLD, &r), MPI_ERR_TAG);
	CHECK_CLASS(MPI_Sendrecv(&x, 1, MPI_INT, check_size, 1, &x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &s), MPI_ERR_RANK);

	int two[2] = {1, 2};
	OK(MPI_Irecv(&x, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &r));
	OK(MPI_Send(two, 2, MPI_INT, 0, 3, MPI_COMM_SELF));
	CHECK_CLASS(MPI_Wait(&r, &s), MPI_ERR_TRUNCATE);
	CHECK(r == MPI_REQUEST_NULL && s.MPI_SOURCE == 0 && s.MPI_TAG == 3);
}

/* Buffered sends have room for what the program has attached, and wait for nobody. */
static void buffered(void)
{
	enum { n = 16, room = n * (8 + MPI_BSEND_OVERHEAD) };
	static char memory[room];
	MPI_Request r;
	void *at = NULL;
	int size = 0;
	double x = 1;
	MPI_Comm own;
	OK(MPI_Buffer_attach(memory, room));
	for (int i = 0; i < n; i++, x++)
		OK(MPI_Bsend(&x, 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF));
	CHECK_CLASS(MPI_Bsend(out, room, MPI_BYTE, 0, 1, MPI_COMM_SELF), MPI_ERR_BUFFER);
	for (int i = 0; i < n; i++) {
		OK(MPI_Recv(&x, 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE));
		CHECK(x == i + 1);
	}
	OK(MPI_Buffer_flush());
	OK(MPI_Buffer_iflush(&r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	OK(MPI_Buffer_detach(&at, &size));
	CHECK(at == memory && size == room);

	OK(MPI_Comm_dup(MPI_COMM_SELF, &own));
	OK(MPI_Comm_attach_buffer_c(own, memory, room));
	OK(MPI_Bsend(&x, 1, MPI_DOUBLE, 0, 1, own));
	OK(MPI_Comm_iflush_buffer(own, &r));
	OK(MPI_Recv(&x, 1, MPI_DOUBLE, 0, 1, own, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	OK(MPI_Comm_flush_buffer(own));
	MPI_Count large = 0;
	OK(MPI_Comm_detach_buffer_c(own, &at, &large));
	CHECK(at == memory && large == room);
	OK(MPI_Comm_free(&own));

	OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
	OK(MPI_Bsend(out, longest, MPI_BYTE, 0, 1, MPI_COMM_SELF));
	OK(MPI_Recv(in, longest, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
	OK(MPI_Buffer_detach(&at, &size));
	CHECK(at == MPI_BUFFER_AUTOMATIC);
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	left = (check_rank + check_size - 1) % check_size;
	right = (check_rank + 1) % check_size;
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;
	OK(MPI_Get_library_version(version, &length));
	is_mpich = strncmp(version, "MPICH", 5) == 0;
	static char memory[2 * (longest + MPI_BSEND_OVERHEAD)];
	void *at;
	int size;
	buffered();
	OK(MPI_Buffer_attach(memory, sizeof memory));
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		modes(sizes[i]);
		blocking(sizes[i]);
		shift(sizes[i]);
	}
	OK(MPI_Buffer_detach(&at, &size));
	no_process();
	errors();
	return check_end();
}
