/* Operators of the program's, on predefined types and on derived ones, and MPI's own on long
 * double, pairs and what they refuse.
 *
 * ranks: 1 2 5 */
#include "check.h"

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

/* A matrix of 2 times 2, whose product is associative and does not commute, with a gap. */
typedef struct {
	int a, b;
	double gap;
	int c, d;
} matrix;

static MPI_Datatype matrices;
static long combined; /* matrices, at this rank */

static matrix times(matrix x, matrix y)
{
	matrix z = {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, 0, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
	return z;
}

static int equal(matrix x, matrix y) { return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d; }

static void multiply(void *in, void *inout, int *len, MPI_Datatype *type)
{
	matrix *x = in, *y = inout;
	CHECK(*type == matrices || matrices == MPI_DATATYPE_NULL);
	CHECK(*len > 0);
	CHECK((uintptr_t)x % sizeof(int) == 0 && (uintptr_t)y % sizeof(double) == 0);
	for (int i = 0; i < *len; i++) {
		matrix z = times(x[i], y[i]);
		y[i].a = z.a, y[i].b = z.b, y[i].c = z.c, y[i].d = z.d;
	}
	combined += *len;
}

static void multiply_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
	int n = (int)*len;
	multiply(in, inout, &n, type);
}

static matrix made(int r, int i)
{
	matrix m = {1, r + i % 5, 0.5, r % 2, 1};
	return m;
}

/* The product of the ranks from first up to end. */
static matrix product(int first, int end, int i)
{
	matrix m = made(first, i);
	for (int r = first + 1; r < end; r++)
		m = times(m, made(r, i));
	return m;
}

static void ordered(MPI_Op op, int n)
{
	matrix *mine = calloc((size_t)n + 1, sizeof *mine), *got = calloc((size_t)n + 1, sizeof *got);
	int commutes, last = check_size - 1;
	OK(MPI_Op_commutative(op, &commutes));
	CHECK(!commutes);
	for (int i = 0; i < n; i++)
		mine[i] = made(check_rank, i), got[i].gap = 7;
	OK(MPI_Allreduce(mine, got, n, matrices, op, MPI_COMM_WORLD));
	for (int i = 0; i < n; i++)
		CHECK(equal(got[i], product(0, check_size, i)) && got[i].gap == 7);
	OK(MPI_Scan(mine, got, n, matrices, op, MPI_COMM_WORLD));
	for (int i = 0; i < n; i++)
		CHECK(equal(got[i], product(0, check_rank + 1, i)) && got[i].gap == 7);
	OK(MPI_Exscan(mine, got, n, matrices, op, MPI_COMM_WORLD));
	for (int i = 0; i < n && check_rank > 0; i++)
		CHECK(equal(got[i], product(0, check_rank, i)));
	for (int i = 0; i < n; i++)
		got[i] = mine[i];
	OK(MPI_Reduce(check_rank == last ? MPI_IN_PLACE : mine, got, n, matrices, op, last, MPI_COMM_WORLD));
	for (int i = 0; i < n && check_rank == last; i++)
		CHECK(equal(got[i], product(0, check_size, i)));
	for (int i = 0; i < n; i++)
		got[i] = made(check_rank + 1, i);
	combined = 0;
	OK(MPI_Reduce_local(mine, got, n, matrices, op));
	CHECK(combined == n);
	for (int i = 0; i < n; i++)
		CHECK(equal(got[i], product(check_rank, check_rank + 2, i)));
	free(mine);
	free(got);
}

/* An operator may be freed, and its type too, while a call uses them. */
static void freed(void)
{
	enum { N = 20000 };
	static matrix mine[N], got[N];
	MPI_Datatype pairs[2], keep = matrices;
	MPI_Op op;
	MPI_Request request;
	OK(MPI_Type_dup(matrices, &pairs[0]));
	matrices = MPI_DATATYPE_NULL; /* the function may be told another handle */
	OK(MPI_Op_create(multiply, 0, &op));
	for (int i = 0; i < N; i++)
		mine[i] = made(check_rank, i);
	OK(MPI_Ireduce(mine, got, N, pairs[0], op, 0, MPI_COMM_WORLD, &request));
	OK(MPI_Op_free(&op));
	CHECK(op == MPI_OP_NULL);
	OK(MPI_Type_free(&pairs[0]));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	for (int i = 0; i < N && check_rank == 0; i++)
		CHECK(equal(got[i], product(0, check_size, i)));
	matrices = keep;
}

/* Types whose elements are not where they begin: a bound below, and none in order. */
static MPI_Datatype shifted;

static void add_shifted(void *in, void *inout, int *len, MPI_Datatype *type)
{
	MPI_Aint lb, extent;
	CHECK(*type == shifted);
	MPI_Type_get_extent(*type, &lb, &extent);
	for (int i = 0; i < *len; i++) {
		short *x = (short *)((char *)in + i * extent), *y = (short *)((char *)inout + i * extent);
		y[-2] = (short)(x[-2] + y[-2]);
		y[3] = (short)(x[3] + y[3]);
	}
}

static void below(void)
{
	enum { N = 30000, EVERY = 8 };
	static short mine[(N + 1) * EVERY], got[(N + 1) * EVERY];
	int ones[2] = {1, 1}, at[2] = {3, -2};
	MPI_Datatype two;
	MPI_Op op;
	OK(MPI_Type_indexed(2, ones, at, MPI_SHORT, &two));
	OK(MPI_Type_create_resized(two, -4, EVERY * sizeof(short), &shifted));
	OK(MPI_Type_commit(&shifted));
	OK(MPI_Op_create(add_shifted, 1, &op));
	for (int i = 0; i < (N + 1) * EVERY; i++)
		mine[i] = (short)(i % 1000 + check_rank), got[i] = -5;
	OK(MPI_Allreduce(mine + 2, got + 2, N, shifted, op, MPI_COMM_WORLD));
	for (int i = 0; i < N * EVERY; i++) {
		int in = i % EVERY == 0 || i % EVERY == 5;
		CHECK(got[i] == (in ? i % 1000 * check_size + check_size * (check_size - 1) / 2 : -5));
	}
	OK(MPI_Op_free(&op));
	OK(MPI_Type_free(&two));
	OK(MPI_Type_free(&shifted));
}

/* The length is that of a part of the vectors, all of which come once at each step. */
static void largest(void *in, void *inout, int *len, MPI_Datatype *type)
{
	double *x = in, *y = inout;
	CHECK(*type == MPI_DOUBLE);
	for (int i = 0; i < *len; i++)
		y[i] = x[i] > y[i] ? x[i] : y[i];
}

static void predefined_type(void)
{
	enum { N = 100000 };
	double *mine = malloc(sizeof(double) * N), *got = malloc(sizeof(double) * N);
	int commutes;
	MPI_Op op;
	MPI_Request request;
	OK(MPI_Op_create(largest, 1, &op));
	OK(MPI_Op_commutative(op, &commutes));
	CHECK(commutes);
	for (int i = 0; i < N; i++)
		mine[i] = (i + check_rank) % check_size;
	OK(MPI_Iallreduce(mine, got, N, MPI_DOUBLE, op, MPI_COMM_WORLD, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	for (int i = 0; i < N; i++)
		CHECK(got[i] == check_size - 1);
	OK(MPI_Op_free(&op));
	free(mine);
	free(got);
}

static void long_doubles(void)
{
	enum { N = 700 };
	struct { long double value; int index; } here[3], best[3];
	long double mine[N], got[N], p = check_size;
	long double _Complex z = check_rank + 1 + 2 * I, w;
	for (int i = 0; i < N; i++)
		mine[i] = i + check_rank + 0x1p-60L; /* more than a double has */
	OK(MPI_Allreduce(mine, got, N, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
	for (int i = 0; i < N; i++)
		CHECK(got[i] >= i * p + p * (p - 1) / 2 && got[i] < i * p + p * (p - 1) / 2 + 1);
	OK(MPI_Allreduce(mine, got, N, MPI_LONG_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
	CHECK(got[5] == 5 + (p - 1) + 0x1p-60L);
	OK(MPI_Allreduce(mine, got, N, MPI_LONG_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
	CHECK(got[1] == 1 + 0x1p-60L);
	mine[0] = 2;
	OK(MPI_Allreduce(mine, got, 1, MPI_LONG_DOUBLE, MPI_PROD, MPI_COMM_WORLD));
	CHECK(got[0] == (long double)(1 << check_size));
	OK(MPI_Allreduce(&z, &w, 1, MPI_C_LONG_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD));
	CHECK(creall(w) == p * (p + 1) / 2 && cimagl(w) == 2 * p);
	z = I;
	OK(MPI_Allreduce(&z, &w, 1, MPI_C_LONG_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD));
	CHECK(w == (check_size == 1 ? I : check_size == 2 ? -1 : I));
	for (int i = 0; i < 3; i++)
		here[i].value = (check_rank + i) % 3 == 0 ? -1 : 1, here[i].index = check_rank;
	OK(MPI_Allreduce(here, best, 3, MPI_LONG_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
	for (int i = 0; i < 3; i++) {
		int first = (3 - i) % 3; /* the lowest rank with -1 */
		CHECK(best[i].value == (first < check_size ? -1 : 1) && best[i].index == (first < check_size ? first : 0));
	}
	OK(MPI_Allreduce(here, best, 3, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
	CHECK(best[0].value == (check_size > 1 ? 1 : -1) && best[0].index == (check_size > 1 ? 1 : 0));
}

static void pairs(void)
{
	struct { double value; int index; } d = {check_rank % 2, check_rank}, e;
	struct { short value; int index; } s = {(short)-check_rank, check_rank}, t;
	int two[2] = {5, check_rank}, best[2];
	OK(MPI_Allreduce(&d, &e, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
	CHECK(e.value == 0 && e.index == 0);
	OK(MPI_Allreduce(&d, &e, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
	CHECK(e.value == (check_size > 1) && e.index == (check_size > 1));
	OK(MPI_Allreduce(&s, &t, 1, MPI_SHORT_INT, MPI_MINLOC, MPI_COMM_WORLD));
	CHECK(t.value == 1 - check_size && t.index == check_size - 1);
	OK(MPI_Allreduce(two, best, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD));
	CHECK(best[0] == 5 && best[1] == 0);
}

static void logicals(void)
{
	_Bool yes = check_rank == 0, any;
	int n = check_rank ? 4 : 3, all;
	unsigned char bits = (unsigned char)(1 << check_rank), every;
	OK(MPI_Allreduce(&yes, &any, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD));
	CHECK(any);
	OK(MPI_Allreduce(&n, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD));
	CHECK(all != 0);
	OK(MPI_Allreduce(&n, &all, 1, MPI_INT, MPI_LXOR, MPI_COMM_WORLD));
	CHECK(!all == (check_size % 2 == 0));
	OK(MPI_Allreduce(&bits, &every, 1, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD));
	CHECK(every == (1 << check_size) - 1);
}

static void refusals(void)
{
	char room[64] = {0}, more[64] = {0};
	MPI_Op null = MPI_OP_NULL, own = MPI_SUM, op;
	int flag;
	CHECK_CLASS(MPI_Allreduce(room, more, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
	CHECK_CLASS(MPI_Allreduce(room, more, 1, MPI_BYTE, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
	CHECK_CLASS(MPI_Allreduce(room, more, 1, MPI_LONG_DOUBLE, MPI_BOR, MPI_COMM_WORLD), MPI_ERR_OP);
	CHECK_CLASS(MPI_Allreduce(room, more, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX, MPI_COMM_WORLD), MPI_ERR_OP);
	CHECK_CLASS(MPI_Allreduce(room, more, 1, MPI_INT, MPI_MINLOC, MPI_COMM_WORLD), MPI_ERR_OP);
	CHECK_CLASS(MPI_Allreduce(room, more, 1, MPI_2INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
	CHECK_CLASS(MPI_Allreduce(room, more, 1, MPI_C_BOOL, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
	CHECK_CLASS(MPI_Op_free(&null), MPI_ERR_OP);
	CHECK_CLASS(MPI_Op_free(&own), MPI_ERR_OP);
	CHECK_CLASS(MPI_Op_commutative(MPI_OP_NULL, &flag), MPI_ERR_OP);
	OK(MPI_Op_create(multiply, 1, &op));
	OK(MPI_Op_free(&op));
	CHECK(op == MPI_OP_NULL);
	OK(MPI_Op_commutative(MPI_SUM, &flag));
	CHECK(flag);
}

int main(int argc, char **argv)
{
	MPI_Datatype ints;
	MPI_Op op, op_c;
	int lengths[2] = {2, 2};
	MPI_Aint at[2] = {offsetof(matrix, a), offsetof(matrix, c)};
	check_init(&argc, &argv);
	OK(MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &ints));
	OK(MPI_Type_create_resized(ints, 0, sizeof(matrix), &matrices));
	OK(MPI_Type_commit(&matrices));
	OK(MPI_Op_create(multiply, 0, &op));
	OK(MPI_Op_create_c(multiply_c, 0, &op_c));
	for (int n = 0; n < 20000; n = 3 * n + 1) {
		ordered(op, n);
		ordered(op_c, n);
	}
	freed();
	below();
	predefined_type();
	long_doubles();
	pairs();
	logicals();
	refusals();
	OK(MPI_Op_free(&op));
	OK(MPI_Op_free(&op_c));
	OK(MPI_Type_free(&ints));
	OK(MPI_Type_free(&matrices));
	return check_end();
}
