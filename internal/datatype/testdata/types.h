/* Reads datatypes as text, as their trees of constructors: the name of each, its numbers,
 * and the types that it is made of. For programs of tests. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

/* The first call of a case that has failed. */
static char failure[128];

static void check(int code, const char *call)
{
	char text[MPI_MAX_ERROR_STRING];
	int n;
	if (code == MPI_SUCCESS || failure[0])
		return;
	MPI_Error_string(code, text, &n);
	text[strcspn(text, "\n")] = 0;
	snprintf(failure, sizeof failure, "%s: %.80s", call, text);
}

#define TRY(call) check(call, #call)

static long number(void)
{
	long n;
	if (scanf("%ld", &n) != 1)
		die("a number is missing");
	return n;
}

static int *ints(int n)
{
	int *list = malloc((n + 1) * sizeof *list);
	for (int i = 0; i < n; i++)
		list[i] = number();
	return list;
}

static MPI_Aint *addrs(int n)
{
	MPI_Aint *list = malloc((n + 1) * sizeof *list);
	for (int i = 0; i < n; i++)
		list[i] = number();
	return list;
}

static int order(void) { return number() == 12 ? MPI_ORDER_C : MPI_ORDER_FORTRAN; }

struct named {
	const char *name;
	MPI_Datatype type;
};

static MPI_Datatype named(const char *name)
{
	struct named list[] = {
		{"bool", MPI_C_BOOL}, {"int8", MPI_INT8_T}, {"uint8", MPI_UINT8_T}, {"int16", MPI_INT16_T},
		{"uint16", MPI_UINT16_T}, {"int32", MPI_INT32_T}, {"uint32", MPI_UINT32_T}, {"int64", MPI_INT64_T},
		{"uint64", MPI_UINT64_T}, {"float32", MPI_FLOAT}, {"float64", MPI_DOUBLE},
		{"complex64", MPI_C_FLOAT_COMPLEX}, {"complex128", MPI_C_DOUBLE_COMPLEX}, {"byte", MPI_BYTE},
		{"packed", MPI_PACKED}, {"float_int", MPI_FLOAT_INT}, {"double_int", MPI_DOUBLE_INT},
		{"long_int", MPI_LONG_INT}, {"2int", MPI_2INT}, {"short_int", MPI_SHORT_INT},
	};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (strcmp(list[i].name, name) == 0)
			return list[i].type;
	fprintf(stderr, "no type %s\n", name);
	exit(1);
}

/* The types of a case, which are freed behind it. */
enum { MOST = 10000 };
static MPI_Datatype made[MOST];
static int created;

static MPI_Datatype tree(void)
{
	char op[32];
	MPI_Datatype t;
	if (scanf("%31s", op) != 1)
		die("a type is missing");
	if (!strcmp(op, "contiguous")) {
		int n = number();
		TRY(MPI_Type_contiguous(n, tree(), &t));
	} else if (!strcmp(op, "vector")) {
		int *a = ints(3);
		TRY(MPI_Type_vector(a[0], a[1], a[2], tree(), &t));
	} else if (!strcmp(op, "hvector")) {
		int *a = ints(2);
		MPI_Aint stride = number();
		TRY(MPI_Type_create_hvector(a[0], a[1], stride, tree(), &t));
	} else if (!strcmp(op, "indexed")) {
		int n = number(), *lens = ints(n), *disps = ints(n);
		TRY(MPI_Type_indexed(n, lens, disps, tree(), &t));
	} else if (!strcmp(op, "hindexed")) {
		int n = number(), *lens = ints(n);
		MPI_Aint *disps = addrs(n);
		TRY(MPI_Type_create_hindexed(n, lens, disps, tree(), &t));
	} else if (!strcmp(op, "indexed_block")) {
		int *a = ints(2), *disps = ints(a[0]);
		TRY(MPI_Type_create_indexed_block(a[0], a[1], disps, tree(), &t));
	} else if (!strcmp(op, "hindexed_block")) {
		int *a = ints(2);
		MPI_Aint *disps = addrs(a[0]);
		TRY(MPI_Type_create_hindexed_block(a[0], a[1], disps, tree(), &t));
	} else if (!strcmp(op, "struct")) {
		int n = number(), *lens = ints(n);
		MPI_Aint *disps = addrs(n);
		MPI_Datatype *types = malloc((n + 1) * sizeof *types);
		for (int i = 0; i < n; i++)
			types[i] = tree();
		TRY(MPI_Type_create_struct(n, lens, disps, types, &t));
	} else if (!strcmp(op, "subarray")) {
		int n = number(), *sizes = ints(n), *subsizes = ints(n), *starts = ints(n), o = order();
		TRY(MPI_Type_create_subarray(n, sizes, subsizes, starts, o, tree(), &t));
	} else if (!strcmp(op, "darray")) {
		int size = number(), rank = number(), n = number();
		int *gsizes = ints(n), *dists = ints(n), *dargs = ints(n), *psizes = ints(n), o = order();
		int known[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
		for (int i = 0; i < n; i++) {
			dists[i] = known[dists[i] - 16];
			if (dargs[i] < 0)
				dargs[i] = MPI_DISTRIBUTE_DFLT_DARG;
		}
		TRY(MPI_Type_create_darray(size, rank, n, gsizes, dists, dargs, psizes, o, tree(), &t));
	} else if (!strcmp(op, "resized")) {
		MPI_Aint lb = number(), extent = number();
		TRY(MPI_Type_create_resized(tree(), lb, extent, &t));
	} else if (!strcmp(op, "dup")) {
		TRY(MPI_Type_dup(tree(), &t));
	} else {
		return named(op);
	}
	if (failure[0])
		return MPI_INT;
	if (created == MOST)
		die("a case has too many types");
	return made[created++] = t;
}

static void hex(FILE *out, const unsigned char *b, long n)
{
	fprintf(out, " x");
	for (long i = 0; i < n; i++)
		fprintf(out, "%02x", b[i]);
}

static void release(void)
{
	while (created > 0)
		MPI_Type_free(&made[--created]);
}
