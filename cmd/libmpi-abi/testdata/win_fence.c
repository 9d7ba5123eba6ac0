/* Windows between fences: all kinds of them, their attributes, names, groups and hints.
 *     ranks: 1 2 5
 */
#include "check.h"

#define N 16

static MPI_Win made(MPI_Win win)
{
	MPI_Errhandler handler;
	OK(MPI_Win_get_errhandler(win, &handler));
	CHECK(handler == MPI_ERRORS_ARE_FATAL);
	OK(MPI_Errhandler_free(&handler));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	return win;
}

static void check_attributes(MPI_Win win, void *base, MPI_Aint size, int unit, int flavor)
{
	void *value;
	int flag;
	OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
	CHECK(flag && value == base);
	OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag));
	CHECK(flag && *(MPI_Aint *)value == size);
	OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag));
	CHECK(flag && *(int *)value == unit);
	OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
	CHECK(flag && *(int *)value == flavor);
	OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag));
	CHECK(flag && (*(int *)value == MPI_WIN_UNIFIED || *(int *)value == MPI_WIN_SEPARATE));
}

/* Each rank puts its number into its element at each rank, adds there, and gets from it. */
static void exchange(MPI_Win win, int *part)
{
	int r, me = check_rank + 1, got[8] = {0};
	for (r = 0; r < N; r++)
		part[r] = 0;
	OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
	for (r = 0; r < check_size; r++) {
		OK(MPI_Put(&me, 1, MPI_INT, r, check_rank, 1, MPI_INT, win));
		OK(MPI_Accumulate_c(&me, 1, MPI_INT, r, N - 1, 1, MPI_INT, MPI_SUM, win));
	}
	OK(MPI_Put(&me, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
	OK(MPI_Win_fence(0, win));
	for (r = 0; r < check_size; r++)
		CHECK(part[r] == r + 1);
	CHECK(part[N - 1] == check_size * (check_size + 1) / 2);
	OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win));
	for (r = 0; r < check_size; r++)
		OK(MPI_Get(&got[r], 1, MPI_INT, r, check_rank, 1, MPI_INT, win));
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	for (r = 0; r < check_size; r++)
		CHECK(got[r] == me);
}

static void check_objects(MPI_Win win)
{
	char name[MPI_MAX_OBJECT_NAME], longer[3 * MPI_MAX_OBJECT_NAME];
	int n, same, flag;
	MPI_Group of_win, of_world;
	MPI_Info info;
	OK(MPI_Win_get_name(win, name, &n));
	CHECK(n == 0 && name[0] == 0);
	OK(MPI_Win_set_name(win, "halo"));
	OK(MPI_Win_get_name(win, name, &n));
	CHECK(n == 4 && !strcmp(name, "halo"));
	memset(longer, 'x', sizeof longer);
	longer[sizeof longer - 1] = 0;
	OK(MPI_Win_set_name(win, longer));
	OK(MPI_Win_get_name(win, name, &n));
	CHECK(n == MPI_MAX_OBJECT_NAME - 1 && name[n] == 0 && name[n - 1] == 'x');
	OK(MPI_Win_get_group(win, &of_win));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &of_world));
	OK(MPI_Group_compare(of_win, of_world, &same));
	CHECK(same == MPI_IDENT);
	OK(MPI_Group_free(&of_win));
	OK(MPI_Group_free(&of_world));
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "accumulate_ops", "same_op"));
	OK(MPI_Win_set_info(win, info));
	OK(MPI_Info_free(&info));
	OK(MPI_Win_get_info(win, &info));
	n = sizeof name;
	OK(MPI_Info_get_string(info, "accumulate_ops", &n, name, &flag));
	CHECK(!flag || !strcmp(name, "same_op") || !strcmp(name, "same_op_no_op"));
	OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
	int local[N], *part, *shared, none = 0, n;
	MPI_Comm node;
	void *empty;
	MPI_Win win;
	check_init(&argc, &argv);

	OK(MPI_Win_create(local, sizeof local, sizeof *local, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	check_attributes(made(win), local, sizeof local, sizeof *local, MPI_WIN_FLAVOR_CREATE);
	exchange(win, local);
	check_objects(win);
	OK(MPI_Win_free(&win));
	CHECK(win == MPI_WIN_NULL);

	OK(MPI_Win_allocate(sizeof local, sizeof *local, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win));
	check_attributes(made(win), part, sizeof local, sizeof *local, MPI_WIN_FLAVOR_ALLOCATE);
	exchange(win, part);
	OK(MPI_Win_free(&win));

	OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
	OK(MPI_Comm_size(node, &n));
	OK(MPI_Comm_free(&node));
	if (n == check_size) {
		OK(MPI_Win_allocate_shared_c(sizeof local, sizeof *local, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win));
		check_attributes(made(win), shared, sizeof local, sizeof *local, MPI_WIN_FLAVOR_SHARED);
		exchange(win, shared);
		OK(MPI_Win_free(&win));
	}

	OK(MPI_Alloc_mem(sizeof local, MPI_INFO_NULL, &part));
	OK(MPI_Win_create_c(part, sizeof local, sizeof *local, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	check_attributes(made(win), part, sizeof local, sizeof *local, MPI_WIN_FLAVOR_CREATE);
	exchange(win, part);
	OK(MPI_Win_free(&win));
	OK(MPI_Free_mem(part));
	OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &empty));
	OK(MPI_Free_mem(empty));

	/* A part without memory, and one at rank 0 only. */
	OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	check_attributes(made(win), NULL, 0, 1, MPI_WIN_FLAVOR_CREATE);
	OK(MPI_Win_free(&win));
	OK(MPI_Win_create(&none, check_rank ? 0 : sizeof none, 1 + check_rank, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	check_attributes(made(win), &none, check_rank ? 0 : sizeof none, 1 + check_rank, MPI_WIN_FLAVOR_CREATE);
	OK(MPI_Win_fence(0, win));
	OK(MPI_Accumulate(&check_size, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
	OK(MPI_Win_fence(0, win));
	CHECK(none == (check_rank ? 0 : check_size * check_size));
	OK(MPI_Win_free(&win));
	return check_end();
}
