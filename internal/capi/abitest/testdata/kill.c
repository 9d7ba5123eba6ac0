/* Rank 1 kills itself in the state that argument 1 names, and the others, which wait for
 * it there, go on with an error: of class MPI_ERR_OTHER or above MPI_ERR_LASTCODE, as MPI
 * has no class for it. Run by the test of dying ranks, not by itself. */
#include <signal.h>

#include "../../../../cmd/libmpi-abi/testdata/check.h"

#define BIG (1 << 20)

static char in[BIG], out[BIG];
static int gone(void) { return raise(SIGKILL); }
#define DIES (check_rank == 1 && gone())

static int next(void) { return (check_rank + 1) % check_size; }

static int receives(void)
{
	return DIES ? 0 : MPI_Recv(in, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int receives_any(void)
{
	return DIES ? 0 : MPI_Recv(in, 8, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The receiver dies before it reads a long message. */
static int sends(void)
{
	return DIES ? 0 : MPI_Ssend(out, BIG, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
}

/* The sender dies when its long message is announced. */
static int rendezvous(void)
{
	MPI_Request r;
	if (check_rank == 1) {
		for (int i = 0; i < check_size; i++)
			if (i != 1)
				MPI_Isend(out, BIG, MPI_BYTE, i, 1, MPI_COMM_WORLD, &r);
		gone();
	}
	MPI_Status st;
	int code = MPI_Probe(1, 1, MPI_COMM_WORLD, &st);
	return code ? code : MPI_Recv(in, BIG, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int waits(void)
{
	MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	MPI_Status st[2];
	if (DIES)
		return 0;
	MPI_Irecv(in, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &r[0]);
	int code = MPI_Waitall(2, r, st);
	return code == MPI_SUCCESS ? code : st[0].MPI_ERROR;
}

static int tests(void)
{
	MPI_Request r;
	int flag = 0, code = MPI_SUCCESS;
	if (DIES)
		return 0;
	MPI_Irecv(in, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &r);
	while (!flag && !code)
		code = MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
	return code;
}

static int persistent(void)
{
	MPI_Request r;
	if (DIES)
		return 0;
	MPI_Recv_init(in, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &r);
	int code = MPI_Start(&r);
	return code ? code : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static int probes(void)
{
	MPI_Status st;
	return DIES ? 0 : MPI_Probe(1, 1, MPI_COMM_WORLD, &st);
}

static int barrier(void) { return DIES ? 0 : MPI_Barrier(MPI_COMM_WORLD); }
static int bcast(void) { return DIES ? 0 : MPI_Bcast(in, BIG, MPI_BYTE, 1, MPI_COMM_WORLD); }

static int allreduce(void)
{
	return DIES ? 0 : MPI_Allreduce(out, in, BIG / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static int iallreduce(void)
{
	MPI_Request r;
	if (DIES)
		return 0;
	int code = MPI_Iallreduce(out, in, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
	return code ? code : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static int dup(void)
{
	MPI_Comm c;
	return DIES ? 0 : MPI_Comm_dup(MPI_COMM_WORLD, &c);
}

static int split(void)
{
	MPI_Comm c;
	return DIES ? 0 : MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &c);
}

static int partitioned(void)
{
	MPI_Request r;
	int code;
	if (DIES)
		return 0;
	code = MPI_Precv_init(in, 4, 2, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
	if (!code)
		code = MPI_Start(&r);
	return code ? code : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Windows: rank 1 dies within an epoch. */
static int fence(void)
{
	MPI_Win w;
	void *base;
	MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
	MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
	MPI_Win_fence(0, w);
	if (DIES)
		return 0;
	MPI_Put(out, 8, MPI_BYTE, next(), 0, 8, MPI_BYTE, w);
	return MPI_Win_fence(0, w);
}

static int locked(void)
{
	MPI_Win w;
	void *base;
	MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
	MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
	if (check_rank == 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w);
		MPI_Put(out, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, w);
		MPI_Win_flush(1, w);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (DIES)
		return 0;
	int code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w);
	if (!code)
		code = MPI_Put(out, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, w);
	return code ? code : MPI_Win_unlock(1, w);
}

static int finalize(void)
{
	if (DIES)
		return 0;
	return MPI_Finalize();
}

static const struct {
	const char *name;
	int (*f)(void);
	int free; /* the call may succeed */
} states[] = {
	{"recv", receives, 0}, {"recv-any", receives_any, 0}, {"ssend", sends, 0}, {"rendezvous", rendezvous, 0},
	{"waitall", waits, 0}, {"test", tests, 0}, {"persistent", persistent, 0}, {"probe", probes, 0},
	{"barrier", barrier, 0}, {"bcast", bcast, 0}, {"allreduce", allreduce, 0}, {"iallreduce", iallreduce, 0},
	{"dup", dup, 0}, {"split", split, 0}, {"partitioned", partitioned, 0}, {"fence", fence, 0}, {"lock", locked, 0},
	{"finalize", finalize, 1},
};

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
		int code, class = 0;
		if (argc < 2 || strcmp(argv[1], states[i].name))
			continue;
		code = states[i].f();
		if (code)
			MPI_Error_class(code, &class);
		if (class || states[i].free)
			printf("%d goes on\n", check_rank);
		else
			printf("%d has no error\n", check_rank);
		return 0; /* MPI_Finalize needs the dead one, too */
	}
	fprintf(stderr, "kill: no such state\n");
	return 2;
}
