/* Operators in C: calls of the program's functions, and MPI's own on numbers that Go does
 * not have. */
#include "weft.h"

/* weft_call_op calls a function of the program's for n elements. Displacement 0 of the first
 * one is at bytes behind in and inout, which may be outside of their memory. */
void weft_call_op(uintptr_t f, void *in, void *inout, int64_t at, int64_t n, uint64_t datatype, int large)
{
	MPI_Datatype type = (MPI_Datatype)(uintptr_t)datatype;
	void *lower = (void *)((uintptr_t)in + (uintptr_t)at), *upper = (void *)((uintptr_t)inout + (uintptr_t)at);
	if (large) {
		MPI_Count len = n;
		((MPI_User_function_c *)f)(lower, upper, &len, &type);
	} else {
		int len = (int)n;
		((MPI_User_function *)f)(lower, upper, &len, &type);
	}
}

/* REAL*16 has 113 bits of precision, as long double has on some machines. */
#ifdef __SIZEOF_FLOAT128__
typedef __float128 real16;
#else
typedef long double real16;
#endif
typedef __int128 integer16;
typedef _Complex long double complex_long_double;
typedef struct { real16 re, im; } complex32;
typedef struct { long double value; int index; } long_double_int;

static complex32 product(complex32 a, complex32 b)
{
	return (complex32){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Of two equal values the one with the lower index. */
static long_double_int nearest(long_double_int a, long_double_int b)
{
	return a.value == b.value ? (a.index < b.index ? a : b) : a.value < b.value ? a : b;
}

static long_double_int farthest(long_double_int a, long_double_int b)
{
	return a.value == b.value ? (a.index < b.index ? a : b) : a.value > b.value ? a : b;
}

/* A function of MPI's form, where a is an element of lower ranks and b one of upper ones. A
 * number that is none stays so: x != x. */
#define COMBINE(name, type, expression) \
	static void name##_##type(void *in, void *inout, int *len, MPI_Datatype *datatype) \
	{ \
		const type *lower = in; \
		type *upper = inout; \
		(void)datatype; \
		for (int i = 0; i < *len; i++) { \
			type a = lower[i], b = upper[i]; \
			upper[i] = expression; \
		} \
	}
#define NUMBERS(type) \
	COMBINE(sum, type, a + b) \
	COMBINE(prod, type, a * b)
#define ORDERED(type) \
	NUMBERS(type) \
	COMBINE(min, type, a < b || a != a ? a : b) \
	COMBINE(max, type, a > b || a != a ? a : b)

typedef long double long_double;
ORDERED(long_double)
NUMBERS(complex_long_double)
COMBINE(minloc, long_double_int, nearest(a, b))
COMBINE(maxloc, long_double_int, farthest(a, b))
ORDERED(real16)
COMBINE(sum, complex32, ((complex32){a.re + b.re, a.im + b.im}))
COMBINE(prod, complex32, product(a, b))
ORDERED(integer16)
COMBINE(band, integer16, a & b)
COMBINE(bor, integer16, a | b)
COMBINE(bxor, integer16, a ^ b)
COMBINE(land, integer16, a && b)
COMBINE(lor, integer16, a || b)
COMBINE(lxor, integer16, !a != !b)

#define NUMBERS_OF(datatype, type) {MPI_SUM, datatype, sum_##type}, {MPI_PROD, datatype, prod_##type}
#define ORDERED_OF(datatype, type) \
	NUMBERS_OF(datatype, type), {MPI_MIN, datatype, min_##type}, {MPI_MAX, datatype, max_##type}

static const struct { MPI_Op op; MPI_Datatype datatype; MPI_User_function *f; } raw[] = {
	ORDERED_OF(MPI_LONG_DOUBLE, long_double),
	NUMBERS_OF(MPI_C_LONG_DOUBLE_COMPLEX, complex_long_double),
	NUMBERS_OF(MPI_CXX_LONG_DOUBLE_COMPLEX, complex_long_double),
	{MPI_MINLOC, MPI_LONG_DOUBLE_INT, minloc_long_double_int},
	{MPI_MAXLOC, MPI_LONG_DOUBLE_INT, maxloc_long_double_int},
	ORDERED_OF(MPI_REAL16, real16),
	NUMBERS_OF(MPI_COMPLEX32, complex32),
	ORDERED_OF(MPI_INTEGER16, integer16),
	{MPI_BAND, MPI_INTEGER16, band_integer16},
	{MPI_BOR, MPI_INTEGER16, bor_integer16},
	{MPI_BXOR, MPI_INTEGER16, bxor_integer16},
	{MPI_LAND, MPI_LOGICAL16, land_integer16},
	{MPI_LOR, MPI_LOGICAL16, lor_integer16},
	{MPI_LXOR, MPI_LOGICAL16, lxor_integer16},
};

/* weft_raw_op is the function of one of MPI's operators on such a datatype, or 0. */
uintptr_t weft_raw_op(uint32_t op, uint32_t datatype)
{
	for (size_t i = 0; i < sizeof raw / sizeof *raw; i++)
		if (W(raw[i].op) == op && W(raw[i].datatype) == datatype)
			return (uintptr_t)raw[i].f;
	return 0;
}
