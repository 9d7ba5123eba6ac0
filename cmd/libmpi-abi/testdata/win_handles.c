/* Windows that are null, freed or something else, and calls that a window does not take.
 *     ranks: 1 2 5
 */
#include "check.h"

static int others; /* another library, which crashes where this one refuses a call */
static int seen; /* errors that the window's own handler was told of */

static void note(MPI_Win *win, int *code, ...)
{
	int class;
	CHECK(*win != MPI_WIN_NULL);
	MPI_Error_class(*code, &class);
	seen = class;
}

static void check_none(MPI_Win win)
{
	int v = 0, flag, len;
	void *at;
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Group group;
	MPI_Info info;
	MPI_Request request;
	CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Get(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Rput(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Fetch_and_op(&v, &v, MPI_INT, 0, 0, MPI_SUM, win), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_unlock(0, win), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_sync(win), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_test(win, &flag), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_attach(win, &v, sizeof v), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_get_group(win, &group), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_get_info(win, &info), MPI_ERR_WIN);
	if (win != MPI_WIN_NULL) /* which has a name since MPI-4.1 */
		CHECK_CLASS(MPI_Win_get_name(win, name, &len), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_get_attr(win, MPI_WIN_BASE, &at, &flag), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_WIN);
}

/* The errors of calls that make a window, which all ranks make alike. */
static void check_creation(MPI_Comm comm)
{
	int v;
	void *at;
	MPI_Win win;
	CHECK_CLASS(MPI_Win_create(&v, -1, 1, MPI_INFO_NULL, comm, &win), MPI_ERR_SIZE);
	CHECK_CLASS(MPI_Win_create(&v, (MPI_Aint)1 << 50, 1, MPI_INFO_NULL, comm, &win), MPI_ERR_SIZE);
	CHECK_CLASS(MPI_Win_create(&v, sizeof v, 0, MPI_INFO_NULL, comm, &win), MPI_ERR_DISP);
	CHECK_CLASS(MPI_Win_allocate(-1, 1, MPI_INFO_NULL, comm, &at, &win), MPI_ERR_SIZE);
	CHECK_CLASS(MPI_Win_allocate(8, -4, MPI_INFO_NULL, comm, &at, &win), MPI_ERR_DISP);
	CHECK_CLASS(MPI_Win_create(&v, sizeof v, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Win_create(&v, sizeof v, 1, MPI_INFO_NULL, comm, NULL), MPI_ERR_ARG);
	if (!others)
		CHECK_CLASS(MPI_Free_mem(&v), MPI_ERR_BASE);
	CHECK(MPI_Alloc_mem(-1, MPI_INFO_NULL, &at) != MPI_SUCCESS);
	CHECK(MPI_Alloc_mem(8, MPI_INFO_NULL, NULL) != MPI_SUCCESS);
}

static void check_calls(MPI_Win win)
{
	int v = 0, i;
	double d[2] = {0};
	MPI_Datatype uncommitted;
	MPI_Op op;
	OK(MPI_Type_contiguous(1, MPI_INT, &uncommitted));
	OK(MPI_Op_create((MPI_User_function *)0x1000, 1, &op)); /* never called */
	CHECK_CLASS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
	CHECK(seen == MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_lock(77, 0, 0, win), MPI_ERR_LOCKTYPE);
	CHECK_CLASS(MPI_Win_fence(3, win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_fence(1 << 20, win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, check_size, 0, win), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Win_post(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Win_attach(win, &v, sizeof v), MPI_ERR_RMA_FLAVOR);

	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Put(&v, 1, MPI_INT, check_size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Put(&v, 1, MPI_INT, -7, 0, 1, MPI_INT, win), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Put(&v, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP);
	CHECK_CLASS(MPI_Put(&v, 1, MPI_INT, 0, 2, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Put(&v, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, uncommitted, win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Put(&v, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Put(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Put((void *)&check_size, 1, MPI_INT, 0, 0, 1, (MPI_Datatype)MPI_COMM_WORLD, win), MPI_ERR_TYPE);
	OK(MPI_Put(NULL, 0, MPI_INT, 0, 0, 0, MPI_INT, win));
	CHECK_CLASS(MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, op, win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Accumulate(d, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
	CHECK_CLASS(MPI_Compare_and_swap(d, d, d + 1, MPI_DOUBLE, 0, 0, win), MPI_ERR_TYPE);
	CHECK(seen == MPI_ERR_TYPE);
	OK(MPI_Win_unlock(0, win));
	for (i = 0; i < 2; i++) { /* the window is as good as before */
		OK(MPI_Win_fence(0, win));
		OK(MPI_Put(&v, 1, MPI_INT, check_rank, 0, 1, MPI_INT, win));
		OK(MPI_Win_fence(0, win));
	}
	OK(MPI_Type_free(&uncommitted));
	OK(MPI_Op_free(&op));
}

int main(int argc, char **argv)
{
	int part[2] = {0}, i;
	MPI_Win win, old, again;
	MPI_Errhandler handler;
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	check_init(&argc, &argv);
	OK(MPI_Get_library_version(version, &i));
	others = strstr(version, "MPICH") || strstr(version, "Open MPI");
	check_none(MPI_WIN_NULL);
	if (!others)
		check_none((MPI_Win)MPI_COMM_WORLD);
	check_creation(MPI_COMM_WORLD);
	OK(MPI_Win_create(part, sizeof part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Win_create_errhandler(note, &handler));
	OK(MPI_Win_set_errhandler(win, handler));
	OK(MPI_Errhandler_free(&handler));
	CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
	if (!others)
		check_calls(win);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	old = win;
	OK(MPI_Win_free(&win));
	CHECK(win == MPI_WIN_NULL);
	if (!others)
		check_none(old);
	for (i = 0; i < 3; i++) { /* a new window in its place is another one */
		OK(MPI_Win_create(part, sizeof part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &again));
		if (!others) {
			CHECK(again != old);
			check_none(old);
		}
		OK(MPI_Win_free(&again));
	}
	return check_end();
}
