/* Epochs of groups: each rank exposes its part to its left neighbor and writes to the right.
 *     ranks: 1 2 5
 */
#include "check.h"

int main(int argc, char **argv)
{
	int right, left, round, ended, part[4] = {0}, *where = part;
	MPI_Group world, to, from;
	MPI_Win win;
	check_init(&argc, &argv);
	right = (check_rank + 1) % check_size;
	left = (check_rank + check_size - 1) % check_size;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Group_incl(world, 1, &right, &to));
	OK(MPI_Group_incl(world, 1, &left, &from));
	OK(MPI_Win_create(where, sizeof part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	for (round = 1; round < 20; round++) {
		int sent = 100 * round + check_rank, got = -1;
		OK(MPI_Win_post(from, round % 2 ? MPI_MODE_NOSTORE : 0, win));
		OK(MPI_Win_start(to, 0, win));
		OK(MPI_Put(&sent, 1, MPI_INT, right, round % 2, 1, MPI_INT, win));
		OK(MPI_Get(&got, 1, MPI_INT, right, 1 - round % 2, 1, MPI_INT, win));
		OK(MPI_Win_complete(win));
		CHECK(got == (round == 1 ? 0 : 100 * (round - 1) + check_rank));
		if (round % 3) {
			OK(MPI_Win_wait(win));
		} else {
			for (ended = 0; !ended;)
				OK(MPI_Win_test(win, &ended));
		}
		CHECK(part[round % 2] == 100 * round + left);
	}
	/* The empty group: nobody is asked, and nobody waits. */
	OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
	OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
	OK(MPI_Win_complete(win));
	OK(MPI_Win_wait(win));
	/* With NOCHECK all have posted before any starts. */
	OK(MPI_Win_post(from, MPI_MODE_NOCHECK | MPI_MODE_NOPUT, win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_start(to, MPI_MODE_NOCHECK, win));
	OK(MPI_Win_complete(win));
	OK(MPI_Win_wait(win));
	OK(MPI_Group_free(&to));
	OK(MPI_Group_free(&from));
	OK(MPI_Group_free(&world));
	OK(MPI_Win_free(&win));
	return check_end();
}
