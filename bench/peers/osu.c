#include "ddt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define NAME_WIDTH 10
#define FIELD_WIDTH 18
#define PRECISION 2
#define FINE 5
#define MAX_THREADS 128

struct osu_options osu;
int osu_rank, osu_size;

static void defaults(enum osu_kind kind)
{
	osu = (struct osu_options){
		.min = 1, .max = 1 << 22, .window = 64,
		.senders = 1, .receivers = 2, .seconds = 5, .budget = 0.5, .work = 2,
		.parts = 16, .threads = 1,
		.creation = OSU_ALLOCATE, .sync = OSU_FLUSH, .type = MPI_INT64_T, .width = 8,
	};
	switch (kind) {
	case OSU_GET_ACC:
		osu.creation = OSU_CREATE, osu.sync = OSU_LOCK;
		/* fall through */
	case OSU_ACCESS:
	case OSU_LAT:
		osu.iters = 10000, osu.skip = 100;
		osu.iters_large = 1000, osu.skip_large = 10;
		break;
	case OSU_ACTIVE:
		osu.sync = OSU_PSCW;
		/* fall through */
	case OSU_RATES:
	case OSU_BW:
		osu.iters = 100, osu.skip = 10;
		osu.iters_large = 20, osu.skip_large = 2;
		break;
	case OSU_COLL:
		osu.max = 1 << 20;
		osu.iters = 1000, osu.skip = 100;
		osu.iters_large = 100, osu.skip_large = 10;
		break;
	case OSU_OVERLAP:
		osu.min = 8192;
		osu.iters = 1000, osu.skip = 100;
		osu.iters_large = 100, osu.skip_large = 10;
		break;
	case OSU_ASYNC:
		osu.min = 8, osu.max = 1 << 20;
		osu.iters = osu.iters_large = 50;
		osu.skip = osu.skip_large = 1;
		osu.work = 20;
		break;
	case OSU_PARTS:
		osu.min = 64;
		osu.iters = 1000, osu.skip = 100;
		osu.iters_large = 100, osu.skip_large = 10;
		break;
	case OSU_OWN:
		osu.max = 65536;
		osu.skip = osu.skip_large = 1;
		break;
	}
}

_Noreturn void osu_fail(const char *why)
{
	if (osu_rank == 0 && why)
		fprintf(stderr, "%s\n", why);
	MPI_Finalize();
	exit(why ? EXIT_FAILURE : EXIT_SUCCESS);
}

static _Noreturn void usage(const char *name, const char *accepts)
{
	static const struct { char opt; const char *text; } help[] = {
		{'m', "-m [MIN:]MAX  first and last message size (matching: depth), doubling (async: times 8)"},
		{'i', "-i N          iterations (matching: batches, instead of a time budget)"},
		{'x', "-x N          warm-up iterations (matching: batches)"},
		{'W', "-W N          messages in a window"},
		{'t', "-t [S:]R      sender threads in rank 0, receiver threads in rank 1 (partitioned: N threads)"},
		{'p', "-p N          partitions of a message (sizes that it does not divide are left out)"},
		{'q', "-q QUEUE      posted or unexpected"},
		{'b', "-b MS         time budget for a depth, in milliseconds"},
		{'k', "-k WHO        who computes: receiver or both (async: the operation, ssend or send)"},
		{'w', "-w FACTOR     how long to compute, in times of the pure communication (async: in ms;\n"
		      "                one-sided: the window: create, allocate or dynamic)"},
		{'s', "-s SECONDS    how long rank 1 waits (one-sided: the synchronization: lock, flush,\n"
		      "                flush_local, lock_all, pscw or fence; put_bibw: pscw or fence)"},
		{'T', "-T TYPE       mpi_char, mpi_int, mpi_float or mpi_int64_t"},
		{'O', "-O OP         the operator: sum, or maxloc of pairs of int"},
		{'D', "-D TYPE       messages of a derived datatype: cont, vect:STRIDE:BLOCK, indx:FILE (lines of\n"
		      "                DISPLACEMENT,LENGTH), struct, or (latency, bw, bibw) hand:STRIDE:BLOCK, a vector\n"
		      "                packed by the program"},
	};
	if (osu_rank == 0) {
		printf("Usage: %s [options]\n", name);
		for (size_t k = 0; k < sizeof help / sizeof *help; k++)
			if (strchr(accepts, help[k].opt))
				printf("  %s\n", help[k].text);
		printf("  -h            this help\n");
	}
	osu_fail(NULL);
}

/* A whole number of at least `least`, or the end of the job. */
static long number(const char *text, long least, const char *why)
{
	char *end;
	long n = strtol(text, &end, 10);
	if (end == text || *end || n < least)
		osu_fail(why);
	return n;
}

/* Reads MAX, MIN:MAX, MIN: or :MAX. */
static void range(char *text)
{
	const char *why = "Invalid Message Size";
	char *colon = strchr(text, ':');
	if (!colon) {
		osu.max = number(text, 1, why);
		return;
	}
	*colon = 0;
	if (*text)
		osu.min = number(text, 1, why);
	if (colon[1])
		osu.max = number(colon + 1, 1, why);
}

static void threads_of(char *text)
{
	const char *why = "Invalid Number of Threads";
	char *colon = strchr(text, ':');
	if (colon) {
		*colon = 0;
		osu.senders = number(text, 1, why);
		text = colon + 1;
	}
	osu.receivers = number(text, 1, why);
	if (osu.senders >= MAX_THREADS || osu.receivers >= MAX_THREADS)
		osu_fail(why);
}

/* The number of a word among n. */
static int word(const char *text, const char *const *words, int n, const char *why)
{
	for (int k = 0; k < n; k++)
		if (!strcasecmp(text, words[k]))
			return k;
	osu_fail(why);
}

static void creation_of(const char *text)
{
	static const char *const words[] = {"create", "allocate", "dynamic"};
	osu.creation = word(text, words, 3, "Please use 'create', 'allocate' or 'dynamic' for the window");
}

static void sync_of(const char *text, enum osu_kind kind)
{
	static const char *const words[] = {"lock", "pscw", "fence", "flush", "flush_local", "lock_all"};
	const char *why = "Please use 'lock', 'flush', 'flush_local', 'lock_all', 'pscw' or 'fence' for the synchronization";
	osu.sync = word(text, words, 6, why);
	if (kind == OSU_ACTIVE && osu.sync != OSU_PSCW && osu.sync != OSU_FENCE)
		osu_fail("Please use 'pscw' or 'fence' for the synchronization");
}

static void type_of(const char *text)
{
	static const char *const words[] = {"mpi_char", "mpi_int", "mpi_float", "mpi_int64_t"};
	MPI_Datatype types[] = {MPI_CHAR, MPI_INT, MPI_FLOAT, MPI_INT64_T};
	size_t widths[] = {1, sizeof(int), sizeof(float), 8};
	int k = word(text, words, 4, "Please use 'mpi_char', 'mpi_int', 'mpi_float' or 'mpi_int64_t' for the type");
	osu.type = types[k], osu.width = widths[k];
}

static void op_of(const char *text)
{
	static const char *const words[] = {"sum", "maxloc"};
	osu.maxloc = word(text, words, 2, "Please use 'sum' or 'maxloc' for the operator");
}

static int one_sided(enum osu_kind kind) { return kind >= OSU_ACCESS; }

static void parse(int argc, char **argv, enum osu_kind kind, const char *accepts)
{
	char optstring[64];
	int c;
	snprintf(optstring, sizeof optstring, "%sh", accepts);
	opterr = 0;
	while ((c = getopt(argc, argv, optstring)) != -1) {
		switch (c) {
		case 'm': range(optarg); break;
		case 'i':
			osu.iters = osu.iters_large = number(optarg, 1, "Invalid Number of Iterations");
			osu.iters_set = 1;
			break;
		case 'x':
			osu.skip = osu.skip_large = number(optarg, 0, "Invalid Number of Warmup Iterations");
			break;
		case 'W': osu.window = number(optarg, 1, "Invalid Window Size"); break;
		case 't':
			if (kind == OSU_PARTS)
				osu.threads = number(optarg, 1, "Invalid Number of Threads");
			else
				threads_of(optarg);
			break;
		case 'p': osu.parts = number(optarg, 1, "Invalid Number of Partitions"); break;
		case 'b': osu.budget = number(optarg, 1, "Invalid Budget") / 1e3; break;
		case 's':
			if (one_sided(kind)) {
				sync_of(optarg, kind);
				break;
			}
			osu.seconds = atof(optarg);
			if (osu.seconds <= 0)
				osu_fail("Invalid Number of Seconds");
			break;
		case 'k':
			if (kind == OSU_ASYNC) {
				osu.standard = !strcmp(optarg, "send");
				if (!osu.standard && strcmp(optarg, "ssend"))
					osu_fail("Please use 'ssend' or 'send' for the operation");
				break;
			}
			osu.both = !strcmp(optarg, "both");
			if (!osu.both && strcmp(optarg, "receiver"))
				osu_fail("Please use 'receiver' or 'both' for who computes");
			break;
		case 'T': type_of(optarg); break;
		case 'O': op_of(optarg); break;
		case 'D':
			osu_ddt_of(optarg);
			if (osu.ddt == OSU_HAND && kind != OSU_LAT && kind != OSU_BW)
				osu_fail("Please use 'cont', 'vect:STRIDE:BLOCK', 'indx:FILE' or 'struct' for the ddt: this test does not pack by hand");
			break;
		case 'w':
			if (one_sided(kind)) {
				creation_of(optarg);
				break;
			}
			osu.work = atof(optarg);
			if (!(osu.work > 0))
				osu_fail("Invalid Work");
			break;
		case 'q':
			osu.unexpected = !strcmp(optarg, "unexpected");
			if (!osu.unexpected && strcmp(optarg, "posted"))
				osu_fail("Please use 'posted' or 'unexpected' for the queue");
			break;
		case 'h': usage(argv[0], accepts);
		default: osu_fail("Invalid option (-h lists them)");
		}
	}
	if (osu.threads >= MAX_THREADS || osu.threads > osu.parts)
		osu_fail("Invalid Number of Threads: each needs a partition at least");
	if (optind != argc)
		osu_fail("Invalid argument (-h lists the options)");
}

void osu_start(int argc, char **argv, enum osu_kind kind, const char *accepts,
               int threads, int ranks)
{
	int provided = threads;
	if (threads == MPI_THREAD_SINGLE)
		MPI_Init(&argc, &argv);
	else
		MPI_Init_thread(&argc, &argv, threads, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &osu_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &osu_size);
	defaults(kind);
	parse(argc, argv, kind, accepts);
	if (provided < threads)
		osu_fail("MPI_Init_thread must return MPI_THREAD_MULTIPLE!");
	if (ranks > 0 && osu_size != ranks)
		osu_fail("This test requires exactly two processes");
	if (osu_size < 2)
		osu_fail("This test requires at least two processes");
	if (ranks == 0 && osu_size % 2)
		osu_fail("This test requires an even number of processes");
}

void osu_finish(void)
{
	osu_message_free();
	MPI_Finalize();
}

void osu_counts(size_t size, int *iters, int *skip)
{
	*iters = size > OSU_LARGE ? osu.iters_large : osu.iters;
	*skip = size > OSU_LARGE ? osu.skip_large : osu.skip;
}

char *osu_buffer(size_t size, char fill)
{
	void *p;
	if (posix_memalign(&p, sysconf(_SC_PAGESIZE), size < 64 ? 64 : size))
		MPI_Abort(MPI_COMM_WORLD, 1);
	return memset(p, fill, size < 64 ? 64 : size);
}

void osu_buffer_free(char *buffer)
{
	free(buffer);
}

void osu_preamble(const char *name)
{
	if (osu_rank == 0)
		printf("\n# OSU MPI %s Test v7.4\n", name), fflush(stdout);
}

void osu_preamble_of_windows(const char *name)
{
	static const char *const windows[] = {"MPI_Win_create", "MPI_Win_allocate", "MPI_Win_create_dynamic"};
	static const char *const syncs[] = {
		"MPI_Win_lock/unlock", "MPI_Win_post/start/complete/wait", "MPI_Win_fence",
		"MPI_Win_flush", "MPI_Win_flush_local", "MPI_Win_lock_all/unlock_all",
	};
	char type[MPI_MAX_OBJECT_NAME];
	int length;
	MPI_Type_get_name(osu.type, type, &length);
	if (osu_rank == 0)
		printf("# OSU %s Test v7.4\n# Window creation: %s\n# Synchronization: %s\n", name,
		       windows[osu.creation], syncs[osu.sync]);
	osu_datatype_of(type);
}

void osu_own(const char *name)
{
	if (osu_rank == 0)
		printf("\n# Weft MPI %s Test\n", name), fflush(stdout);
}

void osu_datatype(void)
{
	osu_datatype_of("MPI_CHAR");
}

void osu_datatype_of(const char *type)
{
	if (osu_rank == 0)
		printf("# Datatype: %s.\n", type), fflush(stdout);
}

void osu_heads(const char *first, const char *second, const char *third)
{
	if (osu_rank != 0)
		return;
	printf("%-*s%*s", NAME_WIDTH, first, FIELD_WIDTH, second);
	if (third)
		printf("%*s", FIELD_WIDTH, third);
	if (osu.ddt != OSU_PLAIN)
		printf("%*s", FIELD_WIDTH, "Transmit Size");
	printf("\n");
	fflush(stdout);
}

/* The end of a row. */
static void end_row(void)
{
	if (osu.ddt != OSU_PLAIN)
		printf("%*zu", FIELD_WIDTH, osu_message.sent);
	printf("\n");
	fflush(stdout);
}

static void row(size_t first, double second, int precision)
{
	if (osu_rank != 0)
		return;
	printf("%-*zu%*.*f", NAME_WIDTH, first, FIELD_WIDTH, precision, second);
	end_row();
}

void osu_row(size_t first, double second)
{
	row(first, second, PRECISION);
}

void osu_fine_row(size_t first, double second)
{
	row(first, second, FINE);
}

void osu_overall(void)
{
	if (osu_rank == 0)
		printf("# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n"), fflush(stdout);
}

void osu_overlap_heads(int sizes)
{
	if (osu_rank != 0)
		return;
	if (sizes)
		printf("%-*s%*s", NAME_WIDTH, "# Size", FIELD_WIDTH, "Overall(us)");
	else
		printf("# Overall(us)");
	printf("%*s%*s%*s", FIELD_WIDTH, "Compute(us)", FIELD_WIDTH, "Pure Comm.(us)", FIELD_WIDTH, "Overlap(%)");
	if (osu.ddt != OSU_PLAIN)
		printf("%*s", FIELD_WIDTH, "Transmit Size");
	printf("\n");
	fflush(stdout);
}

void osu_overlap_row(size_t size, double overall, double compute, double pure)
{
	double hidden = 100 * (1 - (overall - compute) / pure);
	if (osu_rank != 0)
		return;
	if (size)
		printf("%-*zu", NAME_WIDTH, size);
	printf("%*.*f", size ? FIELD_WIDTH : FIELD_WIDTH - 1, PRECISION, overall);
	printf("%*.*f%*.*f%*.*f", FIELD_WIDTH, PRECISION, compute, FIELD_WIDTH, PRECISION, pure,
	       FIELD_WIDTH, PRECISION, hidden > 0 ? hidden : 0);
	end_row();
}

void osu_row2(size_t first, double second, double third)
{
	if (osu_rank == 0)
		printf("%-*zu%*.*f%*.*f\n", NAME_WIDTH, first, FIELD_WIDTH, PRECISION, second,
		       FIELD_WIDTH, PRECISION, third), fflush(stdout);
}
