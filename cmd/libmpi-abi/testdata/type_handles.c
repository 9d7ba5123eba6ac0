/* Handles of datatypes that are null, of another kind, or not committed, and other
 * arguments that are wrong.
 * ranks: 1 */
#include "check.h"

static void wrong(MPI_Datatype t)
{
	MPI_Datatype made = MPI_DATATYPE_NULL, copy = t;
	MPI_Aint disp = 0, lb, extent;
	MPI_Count count;
	MPI_Status st = {0};
	char name[MPI_MAX_OBJECT_NAME];
	int one = 1, n, buf = 0, combiner;
	CHECK_CLASS(MPI_Type_contiguous(1, t, &made), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_vector(1, 1, 1, t, &made), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_hvector(1, 1, 1, t, &made), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_indexed(1, &one, &one, t, &made), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_hindexed(1, &one, &disp, t, &made), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_indexed_block(1, 1, &one, t, &made), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_hindexed_block(1, 1, &disp, t, &made), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_struct(1, &one, &disp, &t, &made), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_resized(t, 0, 1, &made), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_dup(t, &made), MPI_ERR_TYPE);
	CHECK(made == MPI_DATATYPE_NULL);
	CHECK_CLASS(MPI_Type_commit(&copy), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_free(&copy), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_size(t, &n), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_size_c(t, &count), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_get_extent(t, &lb, &extent), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_get_true_extent(t, &lb, &extent), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_get_envelope(t, &n, &n, &n, &combiner), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_set_name(t, "none"), MPI_ERR_TYPE);
	if (t != MPI_DATATYPE_NULL)
		CHECK_CLASS(MPI_Type_get_name(t, name, &n), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Get_count(&st, t, &n), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Get_elements(&st, t, &n), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Send(&buf, 1, t, 0, 1, MPI_COMM_SELF), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Recv(&buf, 1, t, 0, 1, MPI_COMM_SELF, &st), MPI_ERR_TYPE);
}

/* A type may be made of one that is not committed, but no message. */
static void uncommitted(void)
{
	MPI_Datatype t, dup, both;
	int from[2] = {1, 2}, to[2] = {0}, n = 0;
	MPI_Status st;
	OK(MPI_Type_contiguous(2, MPI_INT, &t));
	CHECK_CLASS(MPI_Send(from, 1, t, 0, 1, MPI_COMM_SELF), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Recv(to, 1, t, 0, 1, MPI_COMM_SELF, &st), MPI_ERR_TYPE);
	OK(MPI_Type_dup(t, &dup));
	CHECK_CLASS(MPI_Send(from, 1, dup, 0, 1, MPI_COMM_SELF), MPI_ERR_TYPE);
	OK(MPI_Type_contiguous(1, t, &both));
	OK(MPI_Type_commit(&both));
	OK(MPI_Type_commit(&both)); /* once more does nothing */
	OK(MPI_Type_free(&t));
	OK(MPI_Sendrecv(from, 1, both, 0, 1, to, 1, both, 0, 1, MPI_COMM_SELF, &st));
	CHECK(to[0] == 1 && to[1] == 2);
	OK(MPI_Type_dup(both, &t)); /* committed, as both is */
	OK(MPI_Sendrecv(from, 1, t, 0, 1, to, 1, t, 0, 1, MPI_COMM_SELF, &st));
	OK(MPI_Get_count(&st, t, &n));
	CHECK(n == 1);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_free(&dup));
	OK(MPI_Type_free(&both));
}

static void arguments(void)
{
	MPI_Datatype t, integer = MPI_INT;
	MPI_Aint disp = 0;
	int size = 4, part = 2, start = 0, n;
	CHECK_CLASS(MPI_Type_free(&integer), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Type_vector(-1, 1, 1, MPI_INT, &t), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Type_indexed(-1, &size, &size, MPI_INT, &t), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Type_create_struct(-1, &size, &disp, &integer, &t), MPI_ERR_COUNT);
	CHECK(MPI_Type_vector(1, -1, 1, MPI_INT, &t) != MPI_SUCCESS);
	CHECK_CLASS(MPI_Type_indexed(1, NULL, &size, MPI_INT, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_indexed_block(1, 1, NULL, MPI_INT, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_subarray(1, &size, &part, &start, -7, MPI_INT, &t), MPI_ERR_ARG);
	start = -1;
	CHECK(MPI_Type_create_subarray(1, &size, &part, &start, MPI_ORDER_C, MPI_INT, &t) != MPI_SUCCESS);
	CHECK_CLASS(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &n), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
}

/* There is no end of types that are made and freed. */
static void again(void)
{
	MPI_Datatype t;
	for (int i = 0; i < 1000; i++) {
		OK(MPI_Type_contiguous(1, MPI_INT, &t));
		OK(MPI_Type_free(&t));
	}
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	wrong(MPI_DATATYPE_NULL);
	wrong((MPI_Datatype)MPI_COMM_WORLD);
	uncommitted();
	arguments();
	again();
	return check_end();
}
