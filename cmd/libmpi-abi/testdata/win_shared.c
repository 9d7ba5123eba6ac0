/* Parts of windows that loads and stores of other ranks reach.
 *     ranks: 1 2 5
 */
#include "check.h"

#define N 3 /* ints of a part: no cache line is full */

static void check_neighbors(MPI_Info info, int contiguous)
{
	int *mine, *theirs, *first, unit, r, k, n = check_rank + 1;
	MPI_Aint size, large_unit;
	MPI_Win win;
	OK(MPI_Win_allocate_shared(n * N * (MPI_Aint)sizeof *mine, n, info, MPI_COMM_WORLD, &mine, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
	for (k = 0; k < n * N; k++)
		mine[k] = 1000 * check_rank + k;
	OK(MPI_Win_sync(win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_sync(win));
	OK(MPI_Win_shared_query(win, 0, &size, &unit, &first));
	for (r = 0; r < check_size; r++) {
		OK(MPI_Win_shared_query(win, r, &size, &unit, &theirs));
		CHECK(size == (r + 1) * N * (MPI_Aint)sizeof *mine && unit == r + 1);
		for (k = 0; k < (r + 1) * N; k++)
			CHECK(theirs[k] == 1000 * r + k);
		CHECK(r != check_rank || theirs == mine);
		if (contiguous)
			CHECK(theirs == first + N * r * (r + 1) / 2);
	}
	OK(MPI_Win_shared_query_c(win, MPI_PROC_NULL, &size, &large_unit, &theirs));
	CHECK(size == N * (MPI_Aint)sizeof *mine && large_unit == 1 && theirs == first);
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Win_free(&win));
}

/* All of the memory is the last rank's, and the others find it. A part of no bytes lies
 * where that of its neighbor begins. */
static void check_one_part(void)
{
	int last = check_size - 1, *base, *at, unit, flag;
	MPI_Aint size;
	void *attribute;
	MPI_Win win;
	OK(MPI_Win_allocate_shared(check_rank == last ? 256 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &at));
	CHECK(size == 256 && unit == 4 && at == base);
	OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &attribute, &flag));
	CHECK(flag && attribute == base);
	OK(MPI_Win_fence(0, win));
	if (check_rank == 0)
		at[5] = 55;
	OK(MPI_Win_fence(0, win));
	CHECK(base[5] == 55);
	OK(MPI_Win_free(&win));

	OK(MPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
	OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &at));
	CHECK(size == 0);
	OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
	MPI_Info info;
	MPI_Comm node;
	int size;
	check_init(&argc, &argv);
	OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
	OK(MPI_Comm_size(node, &size));
	OK(MPI_Comm_free(&node));
	if (size == check_size) {
		check_neighbors(MPI_INFO_NULL, 1);
		OK(MPI_Info_create(&info));
		OK(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
		check_neighbors(info, 0);
		OK(MPI_Info_free(&info));
		check_one_part();
	}
	return check_end();
}
