/* Each constructor of datatypes, with and without _c: size, bounds, and which integers of
 * an array are sent, in which order.
 * ranks: 1 */
#include <stddef.h>

#include "check.h"

#define INTS 64
#define ORIGIN 16 /* displacement 0 is there */

/* expect frees a type of ints, which has these bounds, and elements at these places, in
 * ints from the origin. It sends two elements to itself. */
static void expect(const char *what, MPI_Datatype t, int lb, int extent, int n, const int *at)
{
	int from[INTS], to[INTS], plain[INTS], back[INTS];
	int size, count, lo = n ? at[0] : 0, hi = n ? at[0] + 1 : 0, failures = check_failures;
	MPI_Aint l, e;
	MPI_Count lc, ec;
	MPI_Status st;
	OK(MPI_Type_commit(&t));
	for (int i = 0; i < n; i++) {
		lo = at[i] < lo ? at[i] : lo;
		hi = at[i] >= hi ? at[i] + 1 : hi;
	}
	OK(MPI_Type_size(t, &size));
	CHECK(size == n * 4);
	OK(MPI_Type_get_extent(t, &l, &e));
	CHECK(l == lb * 4 && e == extent * 4);
	OK(MPI_Type_get_extent_x(t, &lc, &ec));
	CHECK(lc == l && ec == e);
	OK(MPI_Type_get_true_extent(t, &l, &e));
	CHECK(l == lo * 4 && e == (hi - lo) * 4);
	OK(MPI_Type_get_true_extent_c(t, &lc, &ec));
	CHECK(lc == l && ec == e);
	OK(MPI_Type_get_true_extent_x(t, &lc, &ec));
	CHECK(lc == l && ec == e);
	for (int i = 0; i < INTS; i++) {
		from[i] = i;
		back[i] = to[i] = plain[i] = -1;
	}
	OK(MPI_Sendrecv(from + ORIGIN, 2, t, 0, 1, plain, INTS, MPI_INT, 0, 1, MPI_COMM_SELF, &st));
	OK(MPI_Get_count(&st, MPI_INT, &count));
	CHECK(count == 2 * n);
	OK(MPI_Get_count(&st, t, &count));
	CHECK(count == (n ? 2 : 0));
	OK(MPI_Get_elements(&st, t, &count));
	CHECK(count == 2 * n);
	for (int i = 0; i < 2 * n; i++)
		CHECK(plain[i] == ORIGIN + at[i % n] + i / n * extent);
	OK(MPI_Sendrecv(plain, 2 * n, MPI_INT, 0, 2, back + ORIGIN, 2, t, 0, 2, MPI_COMM_SELF, &st));
	for (int i = 0; i < 2 * n; i++)
		to[ORIGIN + at[i % n] + i / n * extent] = plain[i];
	CHECK(memcmp(to, back, sizeof to) == 0);
	OK(MPI_Type_free(&t));
	CHECK(t == MPI_DATATYPE_NULL);
	if (check_failures > failures)
		fprintf(stderr, "%s\n", what);
}

#define LIST(...) (int[]){__VA_ARGS__}
#define EXPECT(make, lb, extent, ...)                                                                        \
	do {                                                                                                 \
		MPI_Datatype t = MPI_DATATYPE_NULL;                                                          \
		OK(make);                                                                                    \
		expect(#make, t, lb, extent, (int)(sizeof LIST(__VA_ARGS__) / sizeof(int)), LIST(__VA_ARGS__)); \
	} while (0)

static void strided(MPI_Datatype pair)
{
	EXPECT(MPI_Type_contiguous(3, MPI_INT, &t), 0, 3, 0, 1, 2);
	EXPECT(MPI_Type_contiguous_c(2, pair, &t), 0, 6, 0, 2, 3, 5);
	EXPECT(MPI_Type_vector(2, 2, 3, MPI_INT, &t), 0, 5, 0, 1, 3, 4);
	EXPECT(MPI_Type_vector_c(2, 1, -2, MPI_INT, &t), -2, 3, 0, -2);
	EXPECT(MPI_Type_vector(2, 1, 2, pair, &t), 0, 9, 0, 2, 6, 8);
	EXPECT(MPI_Type_create_hvector(3, 1, 8, MPI_INT, &t), 0, 5, 0, 2, 4);
	EXPECT(MPI_Type_create_hvector_c(2, 2, -16, MPI_INT, &t), -4, 6, 0, 1, -4, -3);
	EXPECT(MPI_Type_dup(pair, &t), 0, 3, 0, 2);
	EXPECT(MPI_Type_create_resized(MPI_INT, 0, 8, &t), 0, 2, 0);
	EXPECT(MPI_Type_create_resized_c(pair, -4, 20, &t), -1, 5, 0, 2);
	EXPECT(MPI_Type_create_resized(MPI_INT, 0, -8, &t), 0, -2, 0);
}

static void lists(MPI_Datatype pair)
{
	int lens[] = {2, 0, 1}, disps[] = {4, 9, 1};
	MPI_Aint bytes[] = {16, 36, 4}, behind[] = {-4, -16};
	MPI_Count lens_c[] = {2, 0, 1}, disps_c[] = {4, 9, 1}, bytes_c[] = {16, 36, 4};
	EXPECT(MPI_Type_indexed(3, lens, disps, MPI_INT, &t), 1, 5, 4, 5, 1);
	EXPECT(MPI_Type_indexed_c(3, lens_c, disps_c, MPI_INT, &t), 1, 5, 4, 5, 1);
	EXPECT(MPI_Type_create_hindexed(3, lens, bytes, MPI_INT, &t), 1, 5, 4, 5, 1);
	EXPECT(MPI_Type_create_hindexed_c(3, lens_c, bytes_c, MPI_INT, &t), 1, 5, 4, 5, 1);
	EXPECT(MPI_Type_create_indexed_block(2, 2, disps, MPI_INT, &t), 4, 7, 4, 5, 9, 10);
	EXPECT(MPI_Type_create_indexed_block_c(2, 2, disps_c, MPI_INT, &t), 4, 7, 4, 5, 9, 10);
	EXPECT(MPI_Type_create_hindexed_block(2, 1, behind, MPI_INT, &t), -4, 4, -1, -4);
	EXPECT(MPI_Type_create_hindexed_block_c(3, 1, bytes_c, pair, &t), 1, 11, 4, 6, 9, 11, 1, 3);
}

static void structs(MPI_Datatype pair)
{
	int lens[] = {1, 2};
	MPI_Aint disps[] = {-12, 4}, lb, extent;
	MPI_Count lens_c[] = {1, 2}, disps_c[] = {-12, 4};
	MPI_Datatype types[] = {MPI_INT, pair}, t;
	struct { double d; char c; } padded;
	struct { char c; long double l; char end; } wide;
	EXPECT(MPI_Type_create_struct(2, lens, disps, types, &t), -3, 10, -3, 1, 3, 4, 6);
	EXPECT(MPI_Type_create_struct_c(2, lens_c, disps_c, types, &t), -3, 10, -3, 1, 3, 4, 6);
	/* The extent has the padding of C. */
	OK(MPI_Type_create_struct(2, LIST(1, 1), (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_DOUBLE, MPI_CHAR}, &t));
	OK(MPI_Type_get_extent(t, &lb, &extent));
	CHECK(lb == 0 && extent == sizeof padded);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_create_struct(3, LIST(1, 1, 1), (MPI_Aint[]){0, offsetof(__typeof__(wide), l), offsetof(__typeof__(wide), end)},
		(MPI_Datatype[]){MPI_CHAR, MPI_LONG_DOUBLE, MPI_CHAR}, &t));
	OK(MPI_Type_get_extent(t, &lb, &extent));
	CHECK(lb == 0 && extent == sizeof wide);
	OK(MPI_Type_free(&t));
}

static void arrays(void)
{
	int sizes[] = {3, 4}, part[] = {2, 2}, starts[] = {1, 1};
	MPI_Count sizes_c[] = {3, 4}, part_c[] = {2, 2}, starts_c[] = {1, 1};
	int dists[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, dargs[] = {MPI_DISTRIBUTE_DFLT_DARG, 1}, grid[] = {2, 2};
	int none[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK}, row[] = {1, 2}, two[] = {2, 2};
	EXPECT(MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &t), 0, 12, 5, 6, 9, 10);
	EXPECT(MPI_Type_create_subarray_c(2, sizes_c, part_c, starts_c, MPI_ORDER_FORTRAN, MPI_INT, &t), 0, 12, 4, 5, 7, 8);
	EXPECT(MPI_Type_create_darray(4, 1, 2, sizes, dists, dargs, grid, MPI_ORDER_C, MPI_INT, &t), 0, 12, 1, 3, 5, 7);
	EXPECT(MPI_Type_create_darray(4, 2, 2, sizes, dists, dargs, grid, MPI_ORDER_C, MPI_INT, &t), 0, 12, 8, 10);
	EXPECT(MPI_Type_create_darray_c(2, 1, 2, sizes_c, none, two, row, MPI_ORDER_FORTRAN, MPI_INT, &t), 0, 12, 6, 7, 8, 9, 10, 11);
}

static void empty(void)
{
	MPI_Datatype t;
	OK(MPI_Type_contiguous(0, MPI_INT, &t));
	expect("empty contiguous", t, 0, 0, 0, NULL);
	OK(MPI_Type_indexed(0, NULL, NULL, MPI_INT, &t));
	expect("empty indexed", t, 0, 0, 0, NULL);
	OK(MPI_Type_create_struct(0, NULL, NULL, NULL, &t));
	expect("empty struct", t, 0, 0, 0, NULL);
	OK(MPI_Type_vector(0, 3, 2, MPI_INT, &t));
	expect("empty vector", t, 0, 0, 0, NULL);
}

/* Elements that are not whole, and of several kinds. */
static void elements(void)
{
	MPI_Datatype mixed;
	MPI_Status st;
	MPI_Count count_c;
	int count;
	char bytes[64] = {0}, to[64];
	static const int expected[][3] = { /* bytes, elements, count of the type */
		{0, 0, 0}, {4, 1, MPI_UNDEFINED}, {20, 2, MPI_UNDEFINED}, {36, 3, 1}, {40, 4, MPI_UNDEFINED}, {5, MPI_UNDEFINED, MPI_UNDEFINED},
		{28, MPI_UNDEFINED, MPI_UNDEFINED},
	};
	OK(MPI_Type_create_struct(2, LIST(1, 2), (MPI_Aint[]){0, 16}, (MPI_Datatype[]){MPI_INT, MPI_LONG_DOUBLE}, &mixed));
	OK(MPI_Type_commit(&mixed));
	for (int i = 0; i < (int)(sizeof expected / sizeof *expected); i++) {
		OK(MPI_Sendrecv(bytes, expected[i][0], MPI_BYTE, 0, 3, to, 64, MPI_BYTE, 0, 3, MPI_COMM_SELF, &st));
		OK(MPI_Get_elements(&st, mixed, &count));
		CHECK(count == expected[i][1]);
		OK(MPI_Get_elements_c(&st, mixed, &count_c));
		CHECK(count_c == expected[i][1]);
		OK(MPI_Get_elements_x(&st, mixed, &count_c));
		CHECK(count_c == expected[i][1]);
		OK(MPI_Get_count(&st, mixed, &count));
		CHECK(count == expected[i][2]);
		OK(MPI_Get_count_c(&st, mixed, &count_c));
		CHECK(count_c == expected[i][2]);
	}
	for (int n = 0; n < 8; n++) {
		OK(MPI_Status_set_elements(&st, mixed, n));
		OK(MPI_Get_elements(&st, mixed, &count));
		CHECK(count == n);
		OK(MPI_Status_set_elements_c(&st, MPI_INT, n));
		OK(MPI_Get_count(&st, MPI_INT, &count));
		CHECK(count == n);
		OK(MPI_Status_set_elements_x(&st, MPI_LONG_DOUBLE, n));
		OK(MPI_Get_elements(&st, MPI_LONG_DOUBLE, &count));
		CHECK(count == n);
	}
	OK(MPI_Type_free(&mixed));
}

int main(int argc, char **argv)
{
	MPI_Datatype pair; /* two ints, with a gap between them */
	check_init(&argc, &argv);
	OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pair));
	strided(pair);
	lists(pair);
	structs(pair);
	arrays();
	empty();
	elements();
	OK(MPI_Type_free(&pair));
	return check_end();
}
