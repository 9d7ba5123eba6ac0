/* What is freed while operations use it lives until they end: a communicator, whose error
 * handler still sees their errors, a datatype, which the program's operator is told, and an
 * operator. Error codes of the program's functions come back as they are.
 *     ranks: 1 2 5
 */
#include "check.h"

static int seen, wrong_type;

static void handler(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
	seen++;
}

static void communicator(MPI_Errhandler h, int free_it_too)
{
	MPI_Comm dup;
	MPI_Request r;
	int in, out[2] = {1, 2}, next = (check_rank + 1) % check_size;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
	OK(MPI_Comm_set_errhandler(dup, h));
	OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, dup, &r));
	OK(MPI_Send(out, 2, MPI_INT, next, 1, dup)); /* too long for its receive */
	OK(MPI_Comm_free(&dup));
	if (free_it_too)
		OK(MPI_Errhandler_free(&h));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
	CHECK_CLASS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

/* Sums pairs, whose type has a handle that the library knows. */
static void sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
	MPI_Aint lb, extent;
	wrong_type += MPI_Type_get_extent(*type, &lb, &extent) != MPI_SUCCESS || extent != 2 * sizeof(int);
	for (int i = 0; i < 2 * *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void reduction(void)
{
	MPI_Datatype pair;
	MPI_Op op;
	MPI_Request r;
	int in[4] = {1, 2, 3, 4}, out[4];
	OK(MPI_Type_contiguous(2, MPI_INT, &pair));
	OK(MPI_Type_commit(&pair));
	OK(MPI_Op_create(sum, 1, &op));
	OK(MPI_Iallreduce(in, out, 2, pair, op, MPI_COMM_WORLD, &r));
	OK(MPI_Type_free(&pair));
	OK(MPI_Op_free(&op));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(wrong_type == 0);
	for (int i = 0; i < 4; i++)
		CHECK(out[i] == check_size * in[i]);
}

/* An operator that counts with 64 bits is told all of them. */
static void sum_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
	CHECK(*n > 0 && *n <= 4);
	for (MPI_Count i = 0; *n <= 4 && *type == MPI_INT && i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void large(void)
{
	MPI_Op op;
	int in[4] = {1, 2, 3, 4}, out[4] = {10, 20, 30, 40};
	OK(MPI_Op_create_c(sum_c, 1, &op));
	OK(MPI_Reduce_local(in, out, 4, MPI_INT, op));
	for (int i = 0; i < 4; i++)
		CHECK(out[i] == 11 * in[i]);
	OK(MPI_Op_free(&op));
}

static int code_of_program;
static int query(void *extra, MPI_Status *status) { return (void)extra, MPI_Status_set_elements(status, MPI_INT, 0), code_of_program; }
static int nothing(void *extra) { return (void)extra, MPI_SUCCESS; }
static int cancel(void *extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

static void codes(void)
{
	MPI_Request r;
	int class;
	OK(MPI_Add_error_class(&class));
	OK(MPI_Add_error_code(class, &code_of_program));
	OK(MPI_Grequest_start(query, nothing, cancel, NULL, &r));
	OK(MPI_Grequest_complete(r));
	CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == code_of_program);
}

int main(int argc, char **argv)
{
	MPI_Errhandler h;
	check_init(&argc, &argv);
	communicator(MPI_ERRORS_RETURN, 0);
	OK(MPI_Comm_create_errhandler(handler, &h));
	communicator(h, 1);
	CHECK(seen == 1);
	reduction();
	large();
	codes();
	return check_end();
}
