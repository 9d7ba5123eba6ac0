/* Collective calls within one group in all their forms, in place and not, on integers and on
 * a type with gaps, against plain arithmetic.
 *
 * ranks: 1 2 5 */
#include "check.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT, LARGE, FORMS };
static int form;

#define RUN(name, nonblocking, ...) \
	do { \
		MPI_Request request_ = MPI_REQUEST_NULL; \
		switch (form) { \
		case BLOCKING: \
			OK(MPI_##name(__VA_ARGS__)); \
			break; \
		case NONBLOCKING: \
			OK(MPI_##nonblocking(__VA_ARGS__, &request_)); \
			OK(MPI_Wait(&request_, MPI_STATUS_IGNORE)); \
			CHECK(request_ == MPI_REQUEST_NULL); \
			break; \
		case PERSISTENT: \
			OK(MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request_)); \
			OK(MPI_Start(&request_)); \
			OK(MPI_Wait(&request_, MPI_STATUS_IGNORE)); \
			OK(MPI_Request_free(&request_)); \
			break; \
		case LARGE: \
			OK(MPI_##name##_c(__VA_ARGS__)); \
		} \
	} while (0)

/* The type of the elements: how many integers one has, and the integers of its extent. */
static MPI_Datatype type;
static MPI_Op add; /* adds them: MPI's operators take predefined types only */
static int parts, extent;

static int *elements(int n)
{
	int *all = malloc(sizeof(int) * (size_t)(n * extent + 1));
	for (int i = 0; i < n * extent; i++)
		all[i] = -1;
	return all;
}

/* The i-th integer of elements. */
static int *at(int *all, int i) { return &all[i / parts * extent + i % parts * 2]; }

/* What rank r has as its i-th integer. */
static int value(int r, int i) { return r * 1009 + i * 3 + 1; }

static void add_elements(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
	CHECK(*datatype == type);
	for (int i = 0; i < *len * parts; i++)
		*at(inout, i) += *at(in, i);
}

static int sum(int from, int to, int i)
{
	int s = 0;
	for (int r = from; r < to; r++)
		s += value(r, i);
	return s;
}

static void fill(int *all, int first, int n, int r, int i)
{
	for (int k = 0; k < n; k++)
		*at(all, first + k) = value(r, i + k);
}

static void same(const char *call, int *got, int *want, int n)
{
	if (memcmp(got, want, sizeof(int) * (size_t)(n * extent))) {
		check_failures++;
		fprintf(stderr, "%s, form %d, %d elements of %d: not what it should be\n", call, form, n, parts);
	}
	free(got);
	free(want);
}

static void rooted(int n, int root, int inplace)
{
	int p = check_size, me = check_rank, m = n * parts, here = inplace && me == root;
	int *mine = elements(n), *all = elements(n * p), *want = elements(n * p);

	fill(mine, 0, m, me, 0);
	fill(all, 0, m, root, 0);
	if (me != root)
		fill(all, 0, m, me, 5);
	fill(want, 0, m, root, 0);
	RUN(Bcast, Ibcast, all, n, type, root, MPI_COMM_WORLD);
	same("Bcast", all, want, n);

	all = elements(n * p), want = elements(n * p);
	if (me == root) {
		for (int r = 0; r < p; r++)
			fill(want, r * m, m, r, 0);
		if (inplace)
			fill(all, me * m, m, me, 0);
		RUN(Gather, Igather, here ? MPI_IN_PLACE : mine, n, here ? MPI_DATATYPE_NULL : type, all, n, type, root, MPI_COMM_WORLD);
	} else {
		RUN(Gather, Igather, mine, n, type, (void *)8, -1, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
	}
	same("Gather", all, want, n * p);

	all = elements(n * p), want = elements(n);
	fill(want, 0, m, root, me * m);
	int *got = elements(n);
	if (me == root) {
		fill(all, 0, m * p, root, 0);
		RUN(Scatter, Iscatter, all, n, type, here ? MPI_IN_PLACE : got, n, type, root, MPI_COMM_WORLD);
	} else {
		RUN(Scatter, Iscatter, (void *)8, -1, MPI_DATATYPE_NULL, got, n, type, root, MPI_COMM_WORLD);
	}
	if (here)
		fill(got, 0, m, root, me * m);
	same("Scatter", got, want, n);
	free(all);

	got = elements(n), want = elements(n);
	if (here)
		fill(got, 0, m, me, 0);
	if (me == root)
		for (int i = 0; i < m; i++)
			*at(want, i) = sum(0, p, i);
	RUN(Reduce, Ireduce, here ? MPI_IN_PLACE : mine, me == root ? got : (void *)8, n, type, add, root, MPI_COMM_WORLD);
	same("Reduce", got, want, n);
	free(mine);
}

static void exchanges(int n, int inplace)
{
	int p = check_size, me = check_rank, m = n * parts;
	int *mine = elements(n), *all = elements(n * p), *want = elements(n * p);
	fill(mine, 0, m, me, 0);
	for (int r = 0; r < p; r++)
		fill(want, r * m, m, r, 0);
	if (inplace)
		fill(all, me * m, m, me, 0);
	RUN(Allgather, Iallgather, inplace ? MPI_IN_PLACE : mine, n, inplace ? MPI_DATATYPE_NULL : type, all, n, type, MPI_COMM_WORLD);
	same("Allgather", all, want, n * p);
	free(mine);

	mine = elements(n * p), all = elements(n * p), want = elements(n * p);
	fill(mine, 0, m * p, me, 0);
	for (int r = 0; r < p; r++)
		fill(want, r * m, m, r, me * m);
	if (inplace)
		fill(all, 0, m * p, me, 0);
	RUN(Alltoall, Ialltoall, inplace ? MPI_IN_PLACE : mine, n, inplace ? MPI_DATATYPE_NULL : type, all, n, type, MPI_COMM_WORLD);
	same("Alltoall", all, want, n * p);
	free(mine);
}

static void reductions(int n, int inplace)
{
	int p = check_size, me = check_rank, m = n * parts;
	int *mine = elements(n * p), *got = elements(n * p), *want = elements(n * p);
	void *send = inplace ? MPI_IN_PLACE : mine;
	fill(mine, 0, m * p, me, 0);
#define BEGIN() \
	do { \
		got = elements(n * p), want = elements(n * p); \
		if (inplace) \
			fill(got, 0, m, me, 0), fill(want, 0, m, me, 0); \
	} while (0)

	free(got), free(want);
	BEGIN();
	for (int i = 0; i < m; i++)
		*at(want, i) = sum(0, p, i);
	RUN(Allreduce, Iallreduce, send, got, n, type, add, MPI_COMM_WORLD);
	same("Allreduce", got, want, n * p);

	BEGIN();
	for (int i = 0; i < m; i++)
		*at(want, i) = sum(0, me + 1, i);
	RUN(Scan, Iscan, send, got, n, type, add, MPI_COMM_WORLD);
	same("Scan", got, want, n * p);

	BEGIN();
	for (int i = 0; i < m && me > 0; i++)
		*at(want, i) = sum(0, me, i);
	RUN(Exscan, Iexscan, send, me > 0 || inplace ? got : (void *)8, n, type, add, MPI_COMM_WORLD);
	same("Exscan", got, want, n * p);

	BEGIN();
	if (inplace)
		fill(got, 0, m * p, me, 0);
	for (int i = 0; i < m; i++)
		*at(want, i) = sum(0, p, me * m + i);
	RUN(Reduce_scatter_block, Ireduce_scatter_block, send, got, n, type, add, MPI_COMM_WORLD);
	same("Reduce_scatter_block", got, want, n);
	free(mine);
}

/* A persistent call is started again, with what is in its buffers by then. */
static void again(void)
{
	int mine = 0, got;
	MPI_Request request;
	OK(MPI_Allreduce_init(&mine, &got, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
	for (int i = 0; i < 5; i++) {
		mine = check_rank * i, got = -1;
		OK(MPI_Start(&request));
		OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
		CHECK(got == (check_size - 1) * i);
	}
	OK(MPI_Request_free(&request));
}

static void barriers(void)
{
	MPI_Request request;
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request));
	OK(MPI_Start(&request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_Request_free(&request));
}

/* What is refused is refused at every rank, and the communicator can be used afterwards. */
static void refusals(void)
{
	int one = 1, two = 0;
	MPI_Request request;
	CHECK_CLASS(MPI_Bcast(&one, 1, MPI_INT, check_size, MPI_COMM_WORLD), MPI_ERR_ROOT);
	CHECK_CLASS(MPI_Bcast(&one, 1, MPI_INT, -1, MPI_COMM_WORLD), MPI_ERR_ROOT);
	CHECK_CLASS(MPI_Bcast(&one, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Bcast(&one, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Ibcast(&one, -1, MPI_INT, 0, MPI_COMM_WORLD, &request), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Bcast_init(&one, -1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Allreduce(&one, &two, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
	CHECK_CLASS(MPI_Reduce(&one, &two, 1, MPI_INT, MPI_SUM, check_size, MPI_COMM_WORLD), MPI_ERR_ROOT);
	CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
	OK(MPI_Allreduce(&one, &two, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(two == check_size);
}

int main(int argc, char **argv)
{
	MPI_Datatype pair, gaps;
	MPI_Op add_gaps;
	static const int lengths[] = {0, 1, 3, 2500};
	check_init(&argc, &argv);
	OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pair));
	OK(MPI_Type_create_resized(pair, 0, 5 * sizeof(int), &gaps));
	OK(MPI_Type_commit(&gaps));
	OK(MPI_Op_create(add_elements, 1, &add_gaps));
	for (int i = 0; i < 2; i++) {
		type = i ? gaps : MPI_INT, parts = i ? 2 : 1, extent = i ? 5 : 1, add = i ? add_gaps : MPI_SUM;
		for (form = 0; form < FORMS; form++)
			for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
				for (int inplace = 0; inplace < 2; inplace++) {
					rooted(lengths[k], 0, inplace);
					rooted(lengths[k], check_size - 1, inplace);
					exchanges(lengths[k], inplace);
					reductions(lengths[k], inplace);
				}
	}
	barriers();
	again();
	refusals();
	OK(MPI_Op_free(&add_gaps));
	OK(MPI_Type_free(&pair));
	OK(MPI_Type_free(&gaps));
	return check_end();
}
