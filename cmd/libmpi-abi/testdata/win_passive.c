/* Locks and flushes: counters that all ranks change at once, and operations with requests.
 *     ranks: 1 2 5
 */
#include "check.h"

#define ROUNDS 200

enum { COUNTER, TICKET, SWAPPED, FLAGS, ELEMENTS };

static MPI_Win win;
static int64_t *part;

/* next is a number that no other rank gets. */
static int64_t next(void)
{
	int64_t one = 1, old = -1;
	OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, TICKET, MPI_SUM, win));
	OK(MPI_Win_flush(0, win));
	return old;
}

static void check_counters(void)
{
	int64_t old, last = -1, mine = 0, one = 1, seen, wanted;
	int i;
	OK(MPI_Win_lock_all(0, win));
	for (i = 0; i < ROUNDS; i++) {
		old = next();
		CHECK(old > last);
		last = old;
		OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, COUNTER, 1, MPI_INT64_T, MPI_SUM, win));
		for (seen = 0, old = -1; old != seen;) { /* add 1 by compare and swap */
			seen = old < 0 ? 0 : old;
			wanted = seen + 1;
			OK(MPI_Compare_and_swap(&wanted, &seen, &old, MPI_INT64_T, 0, SWAPPED, win));
			OK(MPI_Win_flush_local(0, win));
		}
		mine++;
	}
	OK(MPI_Win_flush_all(win));
	OK(MPI_Win_unlock_all(win));
	CHECK(mine == ROUNDS);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	for (i = COUNTER; i <= SWAPPED; i++) {
		OK(MPI_Fetch_and_op(NULL, &old, MPI_INT64_T, 0, i, MPI_NO_OP, win));
		OK(MPI_Win_flush(0, win));
		CHECK(old == (int64_t)ROUNDS * check_size);
	}
	OK(MPI_Win_unlock(0, win));
}

/* Under an exclusive lock a get, a change and a put are one step. */
static void check_exclusive(void)
{
	int64_t v = 0;
	int i, target = check_size - 1;
	for (i = 0; i < ROUNDS / 4; i++) {
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
		OK(MPI_Get(&v, 1, MPI_INT64_T, target, FLAGS, 1, MPI_INT64_T, win));
		OK(MPI_Win_flush(target, win));
		v += 3;
		OK(MPI_Put(&v, 1, MPI_INT64_T, target, FLAGS, 1, MPI_INT64_T, win));
		OK(MPI_Win_unlock(target, win));
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, target, MPI_MODE_NOCHECK, win));
	OK(MPI_Get(&v, 1, MPI_INT64_T, target, FLAGS, 1, MPI_INT64_T, win));
	OK(MPI_Win_unlock(target, win));
	CHECK(v == 3 * (int64_t)(ROUNDS / 4) * check_size);
}

static void check_requests(void)
{
	int64_t src[2] = {7, 8}, got[2] = {0}, old[2] = {0}, add[2] = {1, 2};
	int right = (check_rank + 1) % check_size;
	MPI_Aint at = ELEMENTS;
	MPI_Request r[2];
	MPI_Status st;
	OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
	OK(MPI_Rput(src, 2, MPI_INT64_T, right, at, 2, MPI_INT64_T, win, &r[0]));
	OK(MPI_Rput_c(src, 2, MPI_INT64_T, MPI_PROC_NULL, at, 2, MPI_INT64_T, win, &r[1]));
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
	OK(MPI_Win_flush(right, win));
	OK(MPI_Raccumulate(add, 2, MPI_INT64_T, right, at, 2, MPI_INT64_T, MPI_SUM, win, &r[0]));
	OK(MPI_Wait(&r[0], &st));
	OK(MPI_Win_flush(right, win));
	OK(MPI_Rget_accumulate(add, 2, MPI_INT64_T, old, 2, MPI_INT64_T, right, at, 2, MPI_INT64_T, MPI_REPLACE, win, &r[0]));
	OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	CHECK(old[0] == 8 && old[1] == 10);
	OK(MPI_Win_flush_local_all(win));
	OK(MPI_Rget_c(got, 2, MPI_INT64_T, right, at, 2, MPI_INT64_T, win, &r[0]));
	OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	CHECK(got[0] == 1 && got[1] == 2);
	OK(MPI_Rget_accumulate_c(NULL, 0, MPI_DATATYPE_NULL, got, 2, MPI_INT64_T, right, at, 2, MPI_INT64_T, MPI_NO_OP, win, &r[0]));
	OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	OK(MPI_Get_accumulate(src, 2, MPI_INT64_T, old, 2, MPI_INT64_T, right, at, 2, MPI_INT64_T, MPI_MAX, win));
	OK(MPI_Win_flush(right, win));
	CHECK(old[0] == 1 && old[1] == 2);
	OK(MPI_Win_sync(win));
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win));
	CHECK(part[ELEMENTS] == 7 && part[ELEMENTS + 1] == 8);
	OK(MPI_Win_unlock(check_rank, win));
}

int main(int argc, char **argv)
{
	int64_t local[ELEMENTS + 2];
	int made;
	check_init(&argc, &argv);
	for (made = 0; made < 2; made++) {
		if (made) {
			OK(MPI_Win_create(part = local, sizeof local, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
		} else {
			OK(MPI_Win_allocate(sizeof local, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win));
		}
		OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win));
		memset(part, 0, sizeof local);
		OK(MPI_Win_unlock(check_rank, win));
		OK(MPI_Barrier(MPI_COMM_WORLD));
		check_counters();
		check_exclusive();
		check_requests();
		OK(MPI_Win_free(&win));
	}
	return check_end();
}
