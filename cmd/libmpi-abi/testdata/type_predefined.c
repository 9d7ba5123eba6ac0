/* The datatypes that mpi.h names: size, extent, name, and a message of each.
 * ranks: 1 2 */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "check.h"

struct float_int { float value; int index; };
struct double_int { double value; int index; };
struct long_int { long value; int index; };
struct short_int { short value; int index; };
struct long_double_int { long double value; int index; };

#define SAME(type, c) {type, #type, sizeof(c), sizeof(c)}
#define BYTES(type, n) {type, #type, n, n}
#define PAIR(type, first, c) {type, #type, sizeof(first) + sizeof(int), sizeof(c)}

/* Two handles with one number have one name of the two. */
static const struct {
	MPI_Datatype type;
	const char *name;
	int size;
	MPI_Aint extent;
} types[] = {
	SAME(MPI_AINT, MPI_Aint), SAME(MPI_COUNT, MPI_Count), SAME(MPI_OFFSET, MPI_Offset), SAME(MPI_PACKED, char),
	SAME(MPI_CHAR, char), SAME(MPI_SIGNED_CHAR, char), SAME(MPI_UNSIGNED_CHAR, char), SAME(MPI_BYTE, char),
	SAME(MPI_SHORT, short), SAME(MPI_INT, int), SAME(MPI_LONG, long), SAME(MPI_UNSIGNED_SHORT, short),
	SAME(MPI_UNSIGNED, int), SAME(MPI_UNSIGNED_LONG, long), SAME(MPI_UNSIGNED_LONG_LONG, long long),
	SAME(MPI_FLOAT, float), SAME(MPI_DOUBLE, double), SAME(MPI_LONG_DOUBLE, long double), SAME(MPI_WCHAR, wchar_t),
	SAME(MPI_C_BOOL, bool), SAME(MPI_C_DOUBLE_COMPLEX, double complex), SAME(MPI_C_LONG_DOUBLE_COMPLEX, long double complex),
	SAME(MPI_INT8_T, int8_t), SAME(MPI_UINT8_T, uint8_t), SAME(MPI_INT16_T, int16_t), SAME(MPI_UINT16_T, uint16_t),
	SAME(MPI_INT32_T, int32_t), SAME(MPI_UINT32_T, uint32_t), SAME(MPI_INT64_T, int64_t), SAME(MPI_UINT64_T, uint64_t),
	BYTES(MPI_CXX_BOOL, 1), BYTES(MPI_CXX_FLOAT_COMPLEX, 8), BYTES(MPI_CXX_DOUBLE_COMPLEX, 16), BYTES(MPI_CXX_LONG_DOUBLE_COMPLEX, 32),
	BYTES(MPI_LOGICAL, 4), BYTES(MPI_INTEGER, 4), BYTES(MPI_REAL, 4), BYTES(MPI_COMPLEX, 8), BYTES(MPI_DOUBLE_PRECISION, 8),
	BYTES(MPI_DOUBLE_COMPLEX, 16), BYTES(MPI_CHARACTER, 1), BYTES(MPI_INTEGER1, 1), BYTES(MPI_INTEGER2, 2), BYTES(MPI_INTEGER4, 4),
	BYTES(MPI_INTEGER8, 8), BYTES(MPI_INTEGER16, 16), BYTES(MPI_LOGICAL1, 1), BYTES(MPI_LOGICAL2, 2), BYTES(MPI_LOGICAL4, 4),
	BYTES(MPI_LOGICAL8, 8), BYTES(MPI_LOGICAL16, 16), BYTES(MPI_REAL4, 4), BYTES(MPI_REAL8, 8), BYTES(MPI_REAL16, 16),
	BYTES(MPI_COMPLEX8, 8), BYTES(MPI_COMPLEX16, 16), BYTES(MPI_COMPLEX32, 32),
	BYTES(MPI_2INT, 8), BYTES(MPI_2REAL, 8), BYTES(MPI_2DOUBLE_PRECISION, 16), BYTES(MPI_2INTEGER, 8),
	PAIR(MPI_FLOAT_INT, float, struct float_int), PAIR(MPI_DOUBLE_INT, double, struct double_int), PAIR(MPI_LONG_INT, long, struct long_int),
	PAIR(MPI_SHORT_INT, short, struct short_int), PAIR(MPI_LONG_DOUBLE_INT, long double, struct long_double_int),
};
#define TYPES (int)(sizeof types / sizeof *types)

static void facts(int i)
{
	MPI_Datatype t = types[i].type;
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Count size, lb_c, extent_c;
	MPI_Aint lb, extent;
	int n, ints, addrs, parts, combiner;
	OK(MPI_Type_size(t, &n));
	CHECK(n == types[i].size);
	OK(MPI_Type_size_c(t, &size));
	CHECK(size == types[i].size);
	OK(MPI_Type_size_x(t, &size));
	CHECK(size == types[i].size);
	OK(MPI_Type_get_extent(t, &lb, &extent));
	CHECK(lb == 0 && extent == types[i].extent);
	OK(MPI_Type_get_extent_c(t, &lb_c, &extent_c));
	CHECK(lb_c == 0 && extent_c == types[i].extent);
	OK(MPI_Type_get_true_extent(t, &lb, &extent));
	CHECK(lb == 0 && extent >= types[i].size && extent <= types[i].extent);
	OK(MPI_Type_get_name(t, name, &n));
	CHECK(strcmp(name, types[i].name) == 0 && n == (int)strlen(name));
	OK(MPI_Type_get_envelope(t, &ints, &addrs, &parts, &combiner));
	CHECK(combiner == MPI_COMBINER_NAMED && ints == 0 && addrs == 0 && parts == 0);
	OK(MPI_Type_commit(&t));
	CHECK(t == types[i].type);
	if (check_failures)
		fprintf(stderr, "%s\n", types[i].name);
}

/* Three elements go to oneself. Padding need not arrive, and bytes behind them must not. */
static void message(int i)
{
	unsigned char from[200], to[200];
	int n = (int)types[i].extent, size = types[i].size, count;
	MPI_Status st;
	for (int k = 0; k < 200; k++)
		from[k] = (unsigned char)(types[i].type == MPI_C_BOOL || types[i].type == MPI_CXX_BOOL ? k % 2 : k + 1);
	memset(to, 0xee, sizeof to);
	OK(MPI_Sendrecv(from, 3, types[i].type, check_rank, 1, to, 6, types[i].type, check_rank, 1, MPI_COMM_WORLD, &st));
	OK(MPI_Get_count(&st, types[i].type, &count));
	CHECK(count == 3);
	if (n == size)
		CHECK(memcmp(from, to, 3 * (size_t)n) == 0);
	else
		CHECK(memcmp(from, to, 2) == 0 && memcmp(from + 2 * n, to + 2 * n, 2) == 0);
	for (int k = 3 * n; k < 200; k++)
		CHECK(to[k] == 0xee);
}

static void names(void)
{
	char name[MPI_MAX_OBJECT_NAME], long_name[2 * MPI_MAX_OBJECT_NAME];
	MPI_Datatype dup;
	int n;
	OK(MPI_Type_dup(MPI_INT, &dup));
	OK(MPI_Type_get_name(dup, name, &n));
	CHECK(n == 0 && name[0] == 0);
	memset(long_name, 'x', sizeof long_name);
	long_name[sizeof long_name - 1] = 0;
	MPI_Type_set_name(dup, long_name); /* cut, or refused */
	OK(MPI_Type_set_name(dup, "mine"));
	OK(MPI_Type_get_name(dup, name, &n));
	CHECK(n == 4 && strcmp(name, "mine") == 0);
	OK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &n));
	CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0);
	OK(MPI_Type_set_name(MPI_INT, "number"));
	OK(MPI_Type_get_name(MPI_INT, name, &n));
	CHECK(strcmp(name, "number") == 0);
	OK(MPI_Type_free(&dup));
}

/* Types that are found by what they are. */
static void found(void)
{
	static const struct { int class, size; MPI_Datatype type; } sizes[] = {
		{MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1}, {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2}, {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},
		{MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8}, {MPI_TYPECLASS_REAL, 4, MPI_REAL4}, {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
		{MPI_TYPECLASS_REAL, 16, MPI_REAL16}, {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8}, {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
		{MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
	};
	static const struct { int p, r, size; } reals[] = {
		{6, 37, 4}, {MPI_UNDEFINED, 20, 4}, {7, MPI_UNDEFINED, 8}, {6, 38, 8}, {15, 307, 8}, {16, MPI_UNDEFINED, 16},
	};
	static const struct { int r, size; } integers[] = {{2, 1}, {3, 2}, {9, 4}, {10, 8}, {18, 8}};
	MPI_Datatype t, again, old;
	int n, ints[2], addrs, parts, combiner;
	for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
		OK(MPI_Type_match_size(sizes[i].class, sizes[i].size, &t));
		CHECK(t == sizes[i].type);
	}
	CHECK_CLASS(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &t), MPI_ERR_ARG);
	for (int i = 0; i < (int)(sizeof reals / sizeof *reals); i++) {
		OK(MPI_Type_create_f90_real(reals[i].p, reals[i].r, &t));
		OK(MPI_Type_size(t, &n));
		CHECK(n == reals[i].size);
		OK(MPI_Type_create_f90_complex(reals[i].p, reals[i].r, &again));
		OK(MPI_Type_size(again, &n));
		CHECK(n == 2 * reals[i].size);
	}
	for (int i = 0; i < (int)(sizeof integers / sizeof *integers); i++) {
		OK(MPI_Type_create_f90_integer(integers[i].r, &t));
		OK(MPI_Type_size(t, &n));
		CHECK(n == integers[i].size);
	}
	CHECK(MPI_Type_create_f90_real(200, MPI_UNDEFINED, &t) != MPI_SUCCESS);
	CHECK(MPI_Type_create_f90_integer(200, &t) != MPI_SUCCESS);
	OK(MPI_Type_create_f90_real(12, 40, &t));
	OK(MPI_Type_create_f90_real(12, 40, &again));
	CHECK(t == again);
	OK(MPI_Type_get_envelope(t, &n, &addrs, &parts, &combiner));
	CHECK(n == 2 && addrs == 0 && parts == 0 && combiner == MPI_COMBINER_F90_REAL);
	OK(MPI_Type_get_contents(t, 2, 0, 0, ints, NULL, NULL));
	CHECK(ints[0] == 12 && ints[1] == 40);
	OK(MPI_Type_contiguous(2, t, &old)); /* the part is no new handle */
	OK(MPI_Type_get_contents(old, 1, 0, 1, ints, NULL, &again));
	CHECK(again == t);
	OK(MPI_Type_free(&old));
	OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &t));
	CHECK(t == MPI_DOUBLE_INT);
	OK(MPI_Type_get_value_index(MPI_INT, MPI_INT, &t));
	CHECK(t == MPI_2INT);
	OK(MPI_Type_get_value_index(MPI_CHAR, MPI_DOUBLE, &t));
	CHECK(t == MPI_DATATYPE_NULL);
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	for (int i = 0; i < TYPES; i++) {
		facts(i);
		message(i);
	}
	names();
	found();
	return check_end();
}
