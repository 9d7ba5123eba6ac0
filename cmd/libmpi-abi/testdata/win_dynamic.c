/* Windows to which memory is attached. Displacements are addresses.
 *     ranks: 1 2 5
 */
#include "check.h"

#define N 100

int main(int argc, char **argv)
{
	int *heap = calloc(N, sizeof *heap), fixed[4] = {0}, r, k, flag, lens[2] = {2, 1}, sent[3], one = 1, old, unit;
	MPI_Aint mine[2], *all, at[2], size;
	MPI_Datatype pieces;
	MPI_Win win;
	void *base;
	check_init(&argc, &argv);
	all = calloc(check_size, sizeof mine);
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
	CHECK(flag && base == MPI_BOTTOM);
	OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &base, &flag));
	CHECK(flag && *(MPI_Aint *)base == 0);
	OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &base, &flag));
	CHECK(flag && *(int *)base == MPI_WIN_FLAVOR_DYNAMIC);
	OK(MPI_Win_attach(win, heap, N * sizeof *heap));
	OK(MPI_Win_attach(win, fixed, sizeof fixed));
	OK(MPI_Get_address(heap, &mine[0]));
	OK(MPI_Get_address(fixed, &mine[1]));
	OK(MPI_Allgather(mine, 2, MPI_AINT, all, 2, MPI_AINT, MPI_COMM_WORLD));

	OK(MPI_Win_fence(0, win));
	for (r = 0; r < check_size; r++) {
		OK(MPI_Put(&check_size, 1, MPI_INT, r, MPI_Aint_add(all[2 * r], check_rank * sizeof(int)), 1, MPI_INT, win));
		OK(MPI_Accumulate(&one, 1, MPI_INT, r, all[2 * r + 1], 1, MPI_INT, MPI_SUM, win));
	}
	OK(MPI_Win_fence(0, win));
	for (r = 0; r < N; r++)
		CHECK(heap[r] == (r < check_size ? check_size : 0));
	CHECK(fixed[0] == check_size);

	/* A type whose displacements are addresses at the target, from MPI_BOTTOM on. */
	r = (check_rank + 1) % check_size;
	at[0] = all[2 * r] + 40 * sizeof(int);
	at[1] = all[2 * r] + 50 * sizeof(int);
	OK(MPI_Type_create_hindexed(2, lens, at, MPI_INT, &pieces));
	OK(MPI_Type_commit(&pieces));
	for (k = 0; k < 3; k++)
		sent[k] = 7 + k;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(sent, 3, MPI_INT, r, (MPI_Aint)(intptr_t)MPI_BOTTOM, 1, pieces, win));
	OK(MPI_Win_fence(0, win));
	CHECK(heap[40] == 7 && heap[41] == 8 && heap[50] == 9 && heap[42] == 0);
	OK(MPI_Type_free(&pieces));

	OK(MPI_Win_lock_all(0, win));
	OK(MPI_Fetch_and_op(&one, &old, MPI_INT, 0, all[1], MPI_SUM, win));
	OK(MPI_Win_flush(0, win));
	CHECK(old >= check_size && old < 2 * check_size);
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win));
	CHECK(fixed[0] == (check_rank ? check_size : 2 * check_size));
	OK(MPI_Win_unlock(check_rank, win));

	CHECK(MPI_Win_shared_query(win, 0, &size, &unit, &base) != MPI_SUCCESS);
	OK(MPI_Win_detach(win, heap));
	OK(MPI_Win_detach(win, fixed));
	OK(MPI_Win_attach(win, heap, sizeof *heap)); /* again, and never detached */
	OK(MPI_Win_attach(win, fixed, 0));
	OK(MPI_Win_detach(win, fixed));
	OK(MPI_Win_free(&win));
	free(heap);
	free(all);
	return check_end();
}
