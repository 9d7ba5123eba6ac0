/* Communicators of the ranks that give the same color, or have something in common.
 * ranks: 1 2 5 */
#include "check.h"

static void is(MPI_Comm comm, int rank, int size)
{
	int r = -1, n = -1;
	MPI_Comm_rank(comm, &r);
	MPI_Comm_size(comm, &n);
	CHECK(r == rank && n == size);
}

static void colors(void)
{
	MPI_Comm c;
	int sum = 0, wanted = 0, r, of = check_rank % 2;
	for (r = of; r < check_size; r += 2)
		wanted += r;
	OK(MPI_Comm_split(MPI_COMM_WORLD, of, -check_rank, &c));
	is(c, (check_size - 1 - check_rank) / 2, (check_size + 1 - of) / 2);
	OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, c));
	CHECK(sum == wanted);
	OK(MPI_Comm_free(&c));

	OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank ? 3 : MPI_UNDEFINED, 0, &c));
	if (check_rank) {
		is(c, check_rank - 1, check_size - 1);
		OK(MPI_Comm_free(&c));
	} else {
		CHECK(c == MPI_COMM_NULL);
	}
	if (weft())
		CHECK_CLASS(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &c), MPI_ERR_ARG);
}

/* All ranks of a test are on one machine, and Weft has them share memory. */
static void types(void)
{
	MPI_Comm c, d;
	MPI_Info info;
	OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c));
	if (weft())
		is(c, check_rank, check_size);
	OK(MPI_Comm_split_type(c, MPI_UNDEFINED, 0, MPI_INFO_NULL, &d));
	CHECK(d == MPI_COMM_NULL);
	OK(MPI_Comm_split_type(c, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &d));
	CHECK(d == MPI_COMM_NULL);

	OK(MPI_Info_create(&info));
	OK(MPI_Comm_split_type(c, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &d));
	CHECK(d == MPI_COMM_NULL);
	if (weft()) { /* MPICH 5.0 does not know this one */
		OK(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
		OK(MPI_Comm_split_type(c, MPI_COMM_TYPE_HW_GUIDED, -check_rank, info, &d));
		is(d, check_size - 1 - check_rank, check_size);
		OK(MPI_Comm_free(&d));
		OK(MPI_Info_set(info, "mpi_pset_name", "mpi://SELF"));
		OK(MPI_Comm_split_type(c, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &d));
		is(d, 0, 1);
		OK(MPI_Comm_free(&d));
		OK(MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD"));
		OK(MPI_Comm_split_type(c, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &d));
		is(d, check_rank, check_size);
		OK(MPI_Comm_free(&d));
	}
	OK(MPI_Info_set(info, "mpi_hw_resource_type", "no such thing"));
	OK(MPI_Comm_split_type(c, MPI_COMM_TYPE_HW_GUIDED, 0, info, &d));
	CHECK(d == MPI_COMM_NULL);
	OK(MPI_Info_free(&info));
	CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, 4711, 0, MPI_INFO_NULL, &d), MPI_ERR_ARG);
	OK(MPI_Comm_free(&c));
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	colors();
	types();
	return check_end();
}
