/* Operations on windows with derived types, and accumulates with each operator.
 *     ranks: 1 2 5
 */
#include "check.h"

#define N 24

static MPI_Win win;
static int target;

/* Columns of a matrix of 4 by 6 ints: apart at one side, at the other, at both. */
static void check_columns(int *part)
{
	int dense[4] = {1, 2, 3, 4}, got[4] = {0}, matrix[N], back[N], i;
	MPI_Datatype column, resized;
	OK(MPI_Type_vector(4, 1, 6, MPI_INT, &column));
	OK(MPI_Type_create_resized(column, 0, sizeof(int), &resized));
	OK(MPI_Type_commit(&column));
	OK(MPI_Type_commit(&resized));
	for (i = 0; i < N; i++)
		part[i] = 0, matrix[i] = 100 + i, back[i] = 0;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(dense, 4, MPI_INT, target, 2, 1, column, win));
	OK(MPI_Put(matrix, 1, column, target, 3, 1, column, win));
	OK(MPI_Put_c(matrix + 4, 2, resized, target, 4, 2, resized, win));
	OK(MPI_Accumulate(dense, 4, MPI_INT, target, 0, 1, column, MPI_SUM, win));
	OK(MPI_Win_fence(0, win));
	for (i = 0; i < 4; i++) {
		CHECK(part[6 * i] == i + 1 && part[6 * i + 1] == 0 && part[6 * i + 2] == i + 1);
		CHECK(part[6 * i + 3] == 100 + 6 * i && part[6 * i + 4] == 104 + 6 * i && part[6 * i + 5] == 105 + 6 * i);
	}
	OK(MPI_Win_fence(0, win));
	OK(MPI_Get(got, 4, MPI_INT, target, 3, 1, column, win));
	OK(MPI_Get_c(back + 1, 1, column, target, 4, 1, column, win));
	OK(MPI_Win_fence(0, win));
	for (i = 0; i < 4; i++)
		CHECK(got[i] == 100 + 6 * i && back[6 * i] == 0 && back[6 * i + 1] == 104 + 6 * i);
	OK(MPI_Win_fence(0, win));
	OK(MPI_Get_accumulate_c(matrix, 1, column, back, 1, column, target, 3, 1, column, MPI_REPLACE, win));
	OK(MPI_Win_fence(0, win));
	for (i = 0; i < 4; i++)
		CHECK(back[6 * i] == 100 + 6 * i && part[6 * i + 3] == 100 + 6 * i);
	/* A type may be freed as soon as the call has returned. */
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(dense, 4, MPI_INT, target, 0, 1, column, win));
	OK(MPI_Type_free(&column));
	OK(MPI_Type_free(&resized));
	OK(MPI_Win_fence(0, win));
	CHECK(part[0] == 1 && part[6] == 2 && part[18] == 4);
}

/* The origin's addresses are those of the program's variables, from MPI_BOTTOM on. */
static void check_bottom(int *part)
{
	static int fixed[2] = {11, 12};
	int local = 13, lens[2] = {2, 1};
	MPI_Aint at[2];
	MPI_Datatype both;
	OK(MPI_Get_address(fixed, &at[0]));
	OK(MPI_Get_address(&local, &at[1]));
	OK(MPI_Type_create_hindexed(2, lens, at, MPI_INT, &both));
	OK(MPI_Type_commit(&both));
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(MPI_BOTTOM, 1, both, target, 5, 3, MPI_INT, win));
	OK(MPI_Win_fence(0, win));
	CHECK(part[5] == 11 && part[6] == 12 && part[7] == 13);
	OK(MPI_Type_free(&both));
}

/* op on 0110 (at the target) and 0011 */
static void check_op(void *part, MPI_Datatype type, MPI_Op op, double there, double mine, double wanted)
{
	int i, size;
	unsigned char to[16], from[16], old[16], result[16];
#define AS(T) (*(T *)to = (T)there, *(T *)from = (T)mine, *(T *)result = (T)wanted)
	OK(MPI_Type_size(type, &size));
	if (type == MPI_INT32_T)
		AS(int32_t);
	else if (type == MPI_UINT8_T)
		AS(uint8_t);
	else if (type == MPI_UINT64_T)
		AS(uint64_t);
	else if (type == MPI_SHORT)
		AS(short);
	else if (type == MPI_FLOAT)
		AS(float);
	else
		AS(double);
	memset(old, 0, sizeof old);
	for (i = 0; i < size; i++)
		((unsigned char *)part)[i] = to[i];
	OK(MPI_Win_fence(0, win));
	OK(MPI_Get_accumulate(from, 1, type, old, 1, type, target, 0, 1, type, op, win));
	OK(MPI_Win_fence(0, win));
	if (memcmp(part, result, size) || memcmp(old, to, size)) {
		check_failures++;
		fprintf(stderr, "operator %d on type %d: %g and %g\n", MPI_Op_toint(op), MPI_Type_toint(type), there, mine);
	}
	OK(MPI_Win_fence(0, win));
}

static void check_ops(void *part)
{
	MPI_Datatype integers[] = {MPI_INT32_T, MPI_UINT8_T, MPI_UINT64_T, MPI_SHORT}, floats[] = {MPI_FLOAT, MPI_DOUBLE};
	struct { MPI_Op op; int wanted, for_floats; } ops[] = {
		{MPI_SUM, 9, 1}, {MPI_PROD, 18, 1}, {MPI_MIN, 3, 1}, {MPI_MAX, 6, 1},
		{MPI_BAND, 2, 0}, {MPI_BOR, 7, 0}, {MPI_BXOR, 5, 0},
		{MPI_LAND, 1, 0}, {MPI_LOR, 1, 0}, {MPI_LXOR, 0, 0},
		{MPI_REPLACE, 3, 1}, {MPI_NO_OP, 6, 1},
	};
	int i, k;
	for (i = 0; i < (int)(sizeof ops / sizeof *ops); i++) {
		for (k = 0; k < 4; k++)
			check_op(part, integers[k], ops[i].op, 6, 3, ops[i].wanted);
		for (k = 0; k < 2 && ops[i].for_floats; k++)
			check_op(part, floats[k], ops[i].op, 6, 3, ops[i].wanted);
	}
}

/* MINLOC and MAXLOC take pairs. */
static void check_pairs(void *part)
{
	struct { int value, index; } *at = part, mine = {5, 1}, old = {0, 0};
	at->value = 5, at->index = 3;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Accumulate(&mine, 1, MPI_2INT, target, 0, 1, MPI_2INT, MPI_MINLOC, win));
	OK(MPI_Win_fence(0, win));
	CHECK(at->value == 5 && at->index == 1);
	mine.value = 6, mine.index = 9;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Get_accumulate(&mine, 1, MPI_2INT, &old, 1, MPI_2INT, target, 0, 1, MPI_2INT, MPI_MAXLOC, win));
	OK(MPI_Win_fence(0, win));
	CHECK(at->value == 6 && at->index == 9 && old.value == 5 && old.index == 1);
}

/* Every type that is an integer can be swapped. */
static void check_swap(void *part)
{
#define SWAP(T, type) \
	do { \
		T *at = part, mine = 9, wrong = 4, right = 5, old = 0; \
		*at = 5; \
		OK(MPI_Win_fence(0, win)); \
		OK(MPI_Compare_and_swap(&mine, &wrong, &old, type, target, 0, win)); \
		OK(MPI_Win_fence(0, win)); \
		CHECK(old == 5 && *at == 5); \
		OK(MPI_Win_fence(0, win)); \
		OK(MPI_Compare_and_swap(&mine, &right, &old, type, target, 0, win)); \
		OK(MPI_Win_fence(0, win)); \
		CHECK(old == 5 && *at == 9); \
	} while (0)
	SWAP(signed char, MPI_SIGNED_CHAR);
	SWAP(short, MPI_SHORT);
	SWAP(unsigned, MPI_UNSIGNED);
	SWAP(long, MPI_LONG);
	SWAP(uint64_t, MPI_UINT64_T);
	SWAP(MPI_Aint, MPI_AINT);
	SWAP(unsigned char, MPI_BYTE);
}

int main(int argc, char **argv)
{
	int *part;
	check_init(&argc, &argv);
	target = (check_rank + 1) % check_size;
	OK(MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	check_columns(part);
	check_bottom(part);
	check_ops(part);
	check_pairs(part);
	check_swap(part);
	OK(MPI_Win_free(&win));
	return check_end();
}
