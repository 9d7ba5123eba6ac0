/* Reads datatypes as text, one after another, and says what a C MPI makes of each:
 *
 *   case COUNT ORIGIN LENGTH MORE TREE
 *
 * answers with one of the lines
 *
 *   SIZE LB EXTENT TRUE_LB TRUE_EXTENT PACKED EXTERNAL ELEMENTS...
 *   failed CALL: WHY
 *
 * PACKED and EXTERNAL are what MPI_Pack and MPI_Pack_external give of COUNT elements
 * in LENGTH bytes of known memory, in hexadecimal digits after an x. ELEMENTS are
 * what MPI_Get_elements_x says of messages of 0, 1, ... bytes, 40 at most. EXTERNAL and
 * ELEMENTS are empty unless MORE is 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *why)
{
	fprintf(stderr, "pack: %s\n", why);
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
	fprintf(stderr, "pack: no type %s\n", name);
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

int main(int argc, char **argv)
{
	char word[8];
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	while (scanf("%7s", word) == 1) {
		int count = number(), size, pos = 0;
		long origin = number(), length = number(), more = number();
		MPI_Aint lb, extent, at = 0;
		MPI_Datatype t = (release(), tree());
		MPI_Status status;
		unsigned char *mem = malloc(length + 1), *packed, *external;
		char *line;
		size_t line_length;
		FILE *out = open_memstream(&line, &line_length);

		if (failure[0]) {
			printf("failed %s\n", failure);
			failure[0] = 0;
			continue;
		}
		for (long i = 0; i < length; i++)
			mem[i] = i * 167 + (i >> 8) * 13 + 1;
		if (created > 0)
			TRY(MPI_Type_commit(&t));
		TRY(MPI_Type_size(t, &size));
		TRY(MPI_Type_get_extent(t, &lb, &extent));
		fprintf(out, "%d %ld %ld", size, (long)lb, (long)extent);
		TRY(MPI_Type_get_true_extent(t, &lb, &extent));
		fprintf(out, " %ld %ld", (long)lb, (long)extent);

		packed = calloc((long)size * count + 64, 1);
		external = calloc((long)size * count + 64, 1);
		TRY(MPI_Pack(mem + origin, count, t, packed, size * count + 64, &pos, MPI_COMM_SELF));
		hex(out, packed, pos);
		if (more)
			TRY(MPI_Pack_external("external32", mem + origin, count, t, external, (long)size * count + 64, &at));
		hex(out, external, at);

		memset(&status, 0, sizeof status);
		for (int n = 0; more && n <= 40 && n <= size * count; n++) {
			MPI_Count elements;
			TRY(MPI_Status_set_elements(&status, MPI_BYTE, n));
			TRY(MPI_Get_elements_x(&status, t, &elements));
			fprintf(out, " %lld", elements == MPI_UNDEFINED ? -1LL : (long long)elements);
		}
		fclose(out);
		if (failure[0])
			printf("failed %s\n", failure);
		else
			printf("%s\n", line);
		failure[0] = 0;
		free(line);
		free(mem);
		free(packed);
		free(external);
	}
	MPI_Finalize();
	return 0;
}
