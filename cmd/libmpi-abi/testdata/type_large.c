/* Counts above 2^31: sizes and bounds of types that no memory need hold, and what an int
 * can't say is MPI_UNDEFINED.
 * ranks: 1 */
#include "check.h"

#define G ((MPI_Count)1 << 30)

/* expect frees a type with these numbers, all in ints. */
static void expect(const char *what, MPI_Datatype t, MPI_Count size, MPI_Count lb, MPI_Count extent, MPI_Count true_lb, MPI_Count true_extent)
{
	MPI_Count n, l, e;
	MPI_Aint la, ea;
	int small, failures = check_failures;
	OK(MPI_Type_size_c(t, &n));
	CHECK(n == 4 * size);
	OK(MPI_Type_size_x(t, &n));
	CHECK(n == 4 * size);
	OK(MPI_Type_size(t, &small));
	CHECK(small == (4 * size > 2 * G - 1 ? MPI_UNDEFINED : 4 * size));
	OK(MPI_Type_get_extent_c(t, &l, &e));
	CHECK(l == 4 * lb && e == 4 * extent);
	OK(MPI_Type_get_extent(t, &la, &ea));
	CHECK(la == 4 * lb && ea == 4 * extent);
	OK(MPI_Type_get_true_extent_c(t, &l, &e));
	CHECK(l == 4 * true_lb && e == 4 * true_extent);
	OK(MPI_Type_commit(&t));
	OK(MPI_Type_free(&t));
	if (check_failures > failures)
		fprintf(stderr, "%s\n", what);
}

#define EXPECT(make, ...)                              \
	do {                                           \
		MPI_Datatype t = MPI_DATATYPE_NULL;    \
		OK(make);                              \
		expect(#make, t, __VA_ARGS__);         \
	} while (0)

static void types(void)
{
	MPI_Count lens[] = {3 * G, 1}, disps[] = {0, 5 * G}, bytes[] = {0, 20 * G}, sizes[] = {4, 3 * G}, part[] = {2, G}, starts[] = {1, 2 * G};
	int dists[] = {MPI_DISTRIBUTE_BLOCK}, dargs[] = {MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {2};
	MPI_Datatype both[] = {MPI_INT, MPI_FLOAT}, giga;
	EXPECT(MPI_Type_contiguous_c(4 * G, MPI_INT, &t), 4 * G, 0, 4 * G, 0, 4 * G);
	EXPECT(MPI_Type_vector_c(2, 3 * G, 4 * G, MPI_INT, &t), 6 * G, 0, 7 * G, 0, 7 * G);
	EXPECT(MPI_Type_create_hvector_c(2, 1, -32 * G, MPI_INT, &t), 2, -8 * G, 8 * G + 1, -8 * G, 8 * G + 1);
	EXPECT(MPI_Type_indexed_c(2, lens, disps, MPI_INT, &t), 3 * G + 1, 0, 5 * G + 1, 0, 5 * G + 1);
	EXPECT(MPI_Type_create_hindexed_c(2, lens, bytes, MPI_INT, &t), 3 * G + 1, 0, 5 * G + 1, 0, 5 * G + 1);
	EXPECT(MPI_Type_create_indexed_block_c(2, 4 * G, disps, MPI_INT, &t), 8 * G, 0, 9 * G, 0, 9 * G);
	EXPECT(MPI_Type_create_hindexed_block_c(2, 4 * G, bytes, MPI_INT, &t), 8 * G, 0, 9 * G, 0, 9 * G);
	EXPECT(MPI_Type_create_struct_c(2, lens, bytes, both, &t), 3 * G + 1, 0, 5 * G + 1, 0, 5 * G + 1);
	EXPECT(MPI_Type_create_subarray_c(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &t), 2 * G, 0, 12 * G, 5 * G, 4 * G);
	EXPECT(MPI_Type_create_darray_c(2, 1, 1, &sizes[1], dists, dargs, grid, MPI_ORDER_C, MPI_INT, &t), 3 * G / 2, 0, 3 * G, 3 * G / 2, 3 * G / 2);
	EXPECT(MPI_Type_create_resized_c(MPI_INT, -16 * G, 64 * G, &t), 1, -4 * G, 16 * G, 0, 1);
	OK(MPI_Type_contiguous(1 << 30, MPI_INT, &giga));
	EXPECT(MPI_Type_contiguous(1 << 10, giga, &t), G << 10, 0, G << 10, 0, G << 10);
	OK(MPI_Type_free(&giga));
}

/* Statuses and sizes of packed bytes. */
static void counts(void)
{
	MPI_Datatype big;
	MPI_Status st = {0};
	MPI_Count n = 0;
	int small = 0;
	OK(MPI_Status_set_elements_c(&st, MPI_BYTE, 12 * G));
	OK(MPI_Get_count(&st, MPI_BYTE, &small));
	CHECK(small == MPI_UNDEFINED);
	OK(MPI_Get_elements(&st, MPI_BYTE, &small));
	CHECK(small == MPI_UNDEFINED);
	OK(MPI_Get_count_c(&st, MPI_BYTE, &n));
	CHECK(n == 12 * G);
	OK(MPI_Get_elements_x(&st, MPI_BYTE, &n));
	CHECK(n == 12 * G);
	OK(MPI_Type_contiguous_c(3 * G, MPI_INT, &big));
	OK(MPI_Type_commit(&big));
	OK(MPI_Status_set_elements_c(&st, big, 6 * G));
	OK(MPI_Get_count(&st, big, &small));
	CHECK(small == 2);
	OK(MPI_Get_elements_c(&st, big, &n));
	CHECK(n == 6 * G);
	OK(MPI_Pack_size_c(4 * G, MPI_INT, MPI_COMM_SELF, &n));
	CHECK(n >= 16 * G);
	OK(MPI_Type_free(&big));
}

/* A message of many elements that take no room, through the calls with _c. */
static void message(void)
{
	MPI_Datatype empty;
	MPI_Status st;
	MPI_Request r;
	MPI_Count n;
	double value = 2.5, got = 0;
	OK(MPI_Type_contiguous_c(0, MPI_INT, &empty));
	OK(MPI_Type_commit(&empty));
	OK(MPI_Irecv_c(NULL, 8 * G, empty, 0, 1, MPI_COMM_SELF, &r));
	OK(MPI_Send_c(NULL, 8 * G, empty, 0, 1, MPI_COMM_SELF));
	OK(MPI_Wait(&r, &st));
	OK(MPI_Type_free(&empty));
	OK(MPI_Irecv_c(&got, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &r));
	OK(MPI_Send_c(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF));
	OK(MPI_Wait(&r, &st));
	OK(MPI_Get_count_c(&st, MPI_DOUBLE, &n));
	CHECK(n == 1 && got == 2.5);
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	types();
	counts();
	message();
	return check_end();
}
