/* Attributes of windows, and those that every window has. ranks: 1 2 5 */
#include "check.h"

static int order[8], deletions, fails;

static int on_delete(MPI_Win win, int key, void *value, void *extra)
{
	(void)win, (void)key, (void)extra;
	if (fails)
		return MPI_ERR_OTHER;
	order[deletions++ % 8] = (int)(MPI_Aint)value;
	return MPI_SUCCESS;
}

static void describes(MPI_Win win, void *base, MPI_Aint size, int unit, int flavor)
{
	void *b = &b;
	MPI_Aint *s = NULL;
	int *i = NULL, flag = 0;
	OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &b, &flag));
	CHECK(flag && b == base);
	OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &s, &flag));
	CHECK(flag && s && *s == size);
	OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &i, &flag));
	CHECK(flag && i && *i == unit);
	OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &i, &flag));
	CHECK(flag && i && *i == flavor);
	OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &i, &flag));
	CHECK(flag && i && (*i == MPI_WIN_UNIFIED || *i == MPI_WIN_SEPARATE));
	CHECK(MPI_Win_set_attr(win, MPI_WIN_BASE, NULL) != MPI_SUCCESS);
	CHECK(MPI_Win_delete_attr(win, MPI_WIN_SIZE) != MPI_SUCCESS);
}

int main(int argc, char **argv)
{
	MPI_Win win;
	double memory[8];
	void *base, *value;
	int keys[3], flag;
	check_init(&argc, &argv);
	OK(MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	describes(win, memory, sizeof memory, sizeof(double), MPI_WIN_FLAVOR_CREATE);
	for (int i = 0; i < 3; i++) {
		OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keys[i], NULL));
		OK(MPI_Win_set_attr(win, keys[i], (void *)(MPI_Aint)i));
	}
	OK(MPI_Win_get_attr(win, keys[1], &value, &flag));
	CHECK(flag && value == (void *)1);
	OK(MPI_Win_delete_attr(win, keys[1]));
	OK(MPI_Win_get_attr(win, keys[1], &value, &flag));
	CHECK(!flag && deletions == 1 && order[0] == 1);
	fails = 1;
	CHECK(MPI_Win_delete_attr(win, keys[0]) != MPI_SUCCESS);
	fails = deletions = 0;
	OK(MPI_Win_free(&win));
	CHECK(win == MPI_WIN_NULL && deletions == 2 && order[0] + order[1] == 2);
	CHECK_CLASS(MPI_Win_set_attr(MPI_WIN_NULL, keys[0], NULL), MPI_ERR_WIN);
	for (int i = 0; i < 3; i++)
		OK(MPI_Win_free_keyval(&keys[i]));
	OK(MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	describes(win, base, 64, 4, MPI_WIN_FLAVOR_ALLOCATE);
	OK(MPI_Win_free(&win));
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	describes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
	OK(MPI_Win_free(&win));
	return check_end();
}
