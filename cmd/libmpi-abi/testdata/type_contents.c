/* How datatypes have been made: envelopes and contents (MPI-5.0 §5.1.13).
 * ranks: 1 */
#include "check.h"

#define MOST 16

/* What a type was made of, in words: combiner, integers, addresses, large counts. The parts
 * are types; a predefined one has its handle. */
struct contents {
	int combiner, ints, addrs, counts, types;
	long long numbers[MOST];
	MPI_Datatype of[2];
};

static void free_part(MPI_Datatype *t)
{
	int ints, addrs, types, combiner;
	MPI_Count i, a, c, n;
	if (MPI_Type_get_envelope(*t, &ints, &addrs, &types, &combiner) != MPI_SUCCESS)
		OK(MPI_Type_get_envelope_c(*t, &i, &a, &c, &n, &combiner));
	if (combiner != MPI_COMBINER_NAMED)
		OK(MPI_Type_free(t));
}

/* equal compares and frees a type. */
static void equal(const char *what, MPI_Datatype t, const struct contents *want)
{
	int ints[MOST], combiner, i, a, n, k = 0, failures = check_failures;
	MPI_Aint addrs[MOST];
	MPI_Count counts[MOST], ic, ac, cc, nc;
	MPI_Datatype types[2];
	OK(MPI_Type_get_envelope_c(t, &ic, &ac, &cc, &nc, &combiner));
	CHECK(ic == want->ints && ac == want->addrs && cc == want->counts && nc == want->types && combiner == want->combiner);
	OK(MPI_Type_get_contents_c(t, MOST, MOST, MOST, 2, ints, addrs, counts, types));
	for (int j = 0; j < want->ints; j++)
		CHECK(ints[j] == want->numbers[k++]);
	for (int j = 0; j < want->addrs; j++)
		CHECK(addrs[j] == want->numbers[k++]);
	for (int j = 0; j < want->counts; j++)
		CHECK(counts[j] == want->numbers[k++]);
	for (int j = 0; j < want->types; j++) {
		CHECK(want->of[j] == MPI_DATATYPE_NULL ? types[j] != MPI_DATATYPE_NULL : types[j] == want->of[j]);
		free_part(&types[j]);
	}
	if (want->counts) {
		CHECK_CLASS(MPI_Type_get_envelope(t, &i, &a, &n, &combiner), MPI_ERR_TYPE);
		CHECK_CLASS(MPI_Type_get_contents(t, MOST, MOST, 2, ints, addrs, types), MPI_ERR_TYPE);
	} else {
		OK(MPI_Type_get_envelope(t, &i, &a, &n, &combiner));
		CHECK(i == want->ints && a == want->addrs && n == want->types && combiner == want->combiner);
		OK(MPI_Type_get_contents(t, i, a, n, ints, addrs, types));
		for (int j = 0; j < i; j++)
			CHECK(ints[j] == want->numbers[j]);
		for (int j = 0; j < n; j++)
			free_part(&types[j]);
	}
	OK(MPI_Type_free(&t));
	if (check_failures > failures)
		fprintf(stderr, "%s\n", what);
}

#define EQUAL(make, combiner, ...)                                                         \
	do {                                                                               \
		MPI_Datatype t = MPI_DATATYPE_NULL;                                        \
		OK(make);                                                                  \
		equal(#make, t, &(struct contents){MPI_COMBINER_##combiner, __VA_ARGS__}); \
	} while (0)
#define N(...) {__VA_ARGS__}
#define INT {MPI_INT}
#define DERIVED {MPI_DATATYPE_NULL}

static int lens[] = {1, 2}, disps[] = {5, 0};
static MPI_Aint bytes[] = {20, 0};
static MPI_Count lens_c[] = {1, 2}, disps_c[] = {5, 0}, bytes_c[] = {20, 0};
static int dists[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, dargs[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[] = {2, 1};

static void small(MPI_Datatype two)
{
	EQUAL(MPI_Type_dup(MPI_INT, &t), DUP, 0, 0, 0, 1, N(0), INT);
	EQUAL(MPI_Type_contiguous(3, two, &t), CONTIGUOUS, 1, 0, 0, 1, N(3), DERIVED);
	EQUAL(MPI_Type_vector(3, 2, 4, MPI_INT, &t), VECTOR, 3, 0, 0, 1, N(3, 2, 4), INT);
	EQUAL(MPI_Type_create_hvector(3, 2, 40, MPI_INT, &t), HVECTOR, 2, 1, 0, 1, N(3, 2, 40), INT);
	EQUAL(MPI_Type_indexed(2, lens, disps, two, &t), INDEXED, 5, 0, 0, 1, N(2, 1, 2, 5, 0), DERIVED);
	EQUAL(MPI_Type_create_hindexed(2, lens, bytes, MPI_INT, &t), HINDEXED, 3, 2, 0, 1, N(2, 1, 2, 20, 0), INT);
	EQUAL(MPI_Type_create_indexed_block(2, 3, disps, MPI_INT, &t), INDEXED_BLOCK, 4, 0, 0, 1, N(2, 3, 5, 0), INT);
	EQUAL(MPI_Type_create_hindexed_block(2, 3, bytes, MPI_INT, &t), HINDEXED_BLOCK, 2, 2, 0, 1, N(2, 3, 20, 0), INT);
	EQUAL(MPI_Type_create_struct(2, lens, bytes, ((MPI_Datatype[]){MPI_LONG_DOUBLE, two}), &t), STRUCT, 3, 2, 0, 2, N(2, 1, 2, 20, 0), {MPI_LONG_DOUBLE, MPI_DATATYPE_NULL});
	EQUAL(MPI_Type_create_subarray(1, (int[]){9}, (int[]){4}, (int[]){3}, MPI_ORDER_FORTRAN, MPI_INT, &t), SUBARRAY, 5, 0, 0, 1, N(1, 9, 4, 3, MPI_ORDER_FORTRAN), INT);
	EQUAL(MPI_Type_create_darray(2, 1, 2, (int[]){6, 5}, dists, dargs, grid, MPI_ORDER_C, MPI_INT, &t), DARRAY, 12, 0, 0, 1,
		N(2, 1, 2, 6, 5, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, 2, 2, 1, MPI_ORDER_C), INT);
	EQUAL(MPI_Type_create_resized(two, -8, 32, &t), RESIZED, 0, 2, 0, 1, N(-8, 32), DERIVED);
}

static void large(MPI_Datatype two)
{
	EQUAL(MPI_Type_contiguous_c(3, two, &t), CONTIGUOUS, 0, 0, 1, 1, N(3), DERIVED);
	EQUAL(MPI_Type_vector_c(3, 2, 4, MPI_INT, &t), VECTOR, 0, 0, 3, 1, N(3, 2, 4), INT);
	EQUAL(MPI_Type_create_hvector_c(3, 2, 40, MPI_INT, &t), HVECTOR, 0, 0, 3, 1, N(3, 2, 40), INT);
	EQUAL(MPI_Type_indexed_c(2, lens_c, disps_c, two, &t), INDEXED, 0, 0, 5, 1, N(2, 1, 2, 5, 0), DERIVED);
	EQUAL(MPI_Type_create_hindexed_c(2, lens_c, bytes_c, MPI_INT, &t), HINDEXED, 0, 0, 5, 1, N(2, 1, 2, 20, 0), INT);
	EQUAL(MPI_Type_create_indexed_block_c(2, 3, disps_c, MPI_INT, &t), INDEXED_BLOCK, 0, 0, 4, 1, N(2, 3, 5, 0), INT);
	EQUAL(MPI_Type_create_hindexed_block_c(2, 3, bytes_c, MPI_INT, &t), HINDEXED_BLOCK, 0, 0, 4, 1, N(2, 3, 20, 0), INT);
	EQUAL(MPI_Type_create_struct_c(2, lens_c, bytes_c, ((MPI_Datatype[]){MPI_INT, two}), &t), STRUCT, 0, 0, 5, 2, N(2, 1, 2, 20, 0), {MPI_INT, MPI_DATATYPE_NULL});
	EQUAL(MPI_Type_create_subarray_c(1, (MPI_Count[]){9}, (MPI_Count[]){4}, (MPI_Count[]){3}, MPI_ORDER_C, MPI_INT, &t), SUBARRAY, 2, 0, 3, 1,
		N(1, MPI_ORDER_C, 9, 4, 3), INT);
	EQUAL(MPI_Type_create_darray_c(2, 1, 2, (MPI_Count[]){6, 5}, dists, dargs, grid, MPI_ORDER_C, MPI_INT, &t), DARRAY, 10, 0, 2, 1,
		N(2, 1, 2, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, 2, 2, 1, MPI_ORDER_C, 6, 5), INT);
	EQUAL(MPI_Type_create_resized_c(two, -8, 32, &t), RESIZED, 0, 0, 2, 1, N(-8, 32), DERIVED);
}

/* Parts live as long as what was made of them, and make types again. */
static void parts(void)
{
	MPI_Datatype two, list, part, again;
	int ints[MOST], size, n = -1, from[4] = {1, 2, 3, 4}, to[4] = {0}, addrs, types, combiner;
	MPI_Status st;
	OK(MPI_Type_vector(2, 1, 2, MPI_INT, &two));
	OK(MPI_Type_contiguous(2, two, &list));
	OK(MPI_Type_free(&two));
	OK(MPI_Type_get_contents(list, 1, 0, 1, ints, NULL, &part));
	OK(MPI_Type_free(&list));
	OK(MPI_Type_size(part, &size));
	CHECK(size == 8);
	OK(MPI_Type_get_contents(part, 3, 0, 1, ints, NULL, &again));
	CHECK(ints[0] == 2 && ints[1] == 1 && ints[2] == 2 && again == MPI_INT);
	OK(MPI_Type_commit(&part));
	OK(MPI_Sendrecv(from, 1, part, 0, 1, to, 1, part, 0, 1, MPI_COMM_SELF, &st));
	CHECK(to[0] == 1 && to[1] == 0 && to[2] == 3 && to[3] == 0);
	CHECK(MPI_Type_get_contents(part, 2, 0, 1, ints, NULL, &again) != MPI_SUCCESS);
	OK(MPI_Type_free(&part));
	CHECK_CLASS(MPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_TYPE);
	OK(MPI_Type_get_envelope(MPI_DOUBLE_INT, &n, &addrs, &types, &combiner));
	CHECK(n == 0 && addrs == 0 && types == 0 && combiner == MPI_COMBINER_NAMED);
}

int main(int argc, char **argv)
{
	MPI_Datatype two;
	check_init(&argc, &argv);
	OK(MPI_Type_contiguous(2, MPI_INT, &two));
	small(two);
	large(two);
	parts();
	OK(MPI_Type_free(&two));
	return check_end();
}
