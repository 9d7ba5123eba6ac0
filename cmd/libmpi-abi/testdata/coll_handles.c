/* Handles that are none, and arrays that are not there, in collective calls: each is refused
 * at every rank, and the communicator stays of use. Other libraries need not notice.
 *
 * ranks: 1 2 5 */
#include "check.h"

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *len; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
	enum { MOST = 8 };
	int one = 1, got[MOST], ones[MOST], at[MOST], flag;
	int *volatile nothing = NULL;
	MPI_Datatype types[MOST], stale_type;
	MPI_Op op, stale_op;
	MPI_Comm stale;
	MPI_Request request = MPI_REQUEST_NULL;
	check_init(&argc, &argv);
	for (int i = 0; i < MOST; i++)
		ones[i] = 1, at[i] = i, types[i] = MPI_INT;

	OK(MPI_Op_create(add, 1, &op));
	stale_op = op;
	OK(MPI_Allreduce(&one, got, 1, MPI_INT, stale_op, MPI_COMM_WORLD));
	CHECK(got[0] == check_size);
	OK(MPI_Op_free(&op));
	CHECK_CLASS(MPI_Allreduce(&one, got, 1, MPI_INT, stale_op, MPI_COMM_WORLD), MPI_ERR_OP);
	CHECK_CLASS(MPI_Iallreduce(&one, got, 1, MPI_INT, stale_op, MPI_COMM_WORLD, &request), MPI_ERR_OP);
	CHECK_CLASS(MPI_Reduce_local(&one, got, 1, MPI_INT, stale_op), MPI_ERR_OP);
	CHECK_CLASS(MPI_Op_commutative(stale_op, &flag), MPI_ERR_OP);
	CHECK_CLASS(MPI_Op_free(&stale_op), MPI_ERR_OP);
	CHECK_CLASS(MPI_Allreduce(&one, got, 1, MPI_INT, (MPI_Op)MPI_COMM_WORLD, MPI_COMM_WORLD), MPI_ERR_OP);
	CHECK_CLASS(MPI_Op_create(NULL, 1, &op), MPI_ERR_ARG);

	OK(MPI_Type_contiguous(1, MPI_INT, &stale_type));
	CHECK_CLASS(MPI_Bcast(&one, 1, stale_type, 0, MPI_COMM_WORLD), MPI_ERR_TYPE); /* not committed */
	types[check_size - 1] = stale_type;
	OK(MPI_Type_free(&types[check_size - 1]));
	CHECK_CLASS(MPI_Bcast(&one, 1, stale_type, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Allgather(&one, 1, MPI_INT, got, 1, stale_type, MPI_COMM_WORLD), MPI_ERR_TYPE);
	types[check_size - 1] = stale_type;
	CHECK_CLASS(MPI_Alltoallw(ones, ones, at, types, got, ones, at, types, MPI_COMM_WORLD), MPI_ERR_TYPE);
	types[check_size - 1] = MPI_INT;

	OK(MPI_Comm_dup(MPI_COMM_WORLD, &stale));
	CHECK(stale != MPI_COMM_NULL);
	{
		MPI_Comm copy = stale;
		OK(MPI_Comm_free(&copy));
	}
	CHECK_CLASS(MPI_Barrier(stale), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Ibarrier(stale, &request), MPI_ERR_COMM);

	CHECK_CLASS(MPI_Allgatherv(&one, 1, MPI_INT, got, nothing, at, MPI_INT, MPI_COMM_WORLD), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Allgatherv(&one, 1, MPI_INT, got, ones, nothing, MPI_INT, MPI_COMM_WORLD), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Alltoallv(ones, nothing, at, MPI_INT, got, ones, at, MPI_INT, MPI_COMM_WORLD), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Alltoallw(ones, ones, at, types, got, ones, at, (MPI_Datatype *)nothing, MPI_COMM_WORLD), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Reduce_scatter(ones, got, nothing, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Allreduce(nothing, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Allreduce(&one, nothing, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Bcast(nothing, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Allgather(&one, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Ibcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD, (MPI_Request *)nothing), MPI_ERR_ARG);
	OK(MPI_Allreduce(nothing, nothing, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));

	OK(MPI_Allreduce(&one, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(got[0] == check_size);
	CHECK(request == MPI_REQUEST_NULL);
	return check_end();
}
