/* Shared by the peer benchmarks: options, buffers, and the tables that the OSU
 * micro-benchmarks 7.4 print. See README.md for the methods. */
#ifndef PEERS_OSU_H
#define PEERS_OSU_H

#include <mpi.h>
#include <stddef.h>

#define OSU_LARGE 8192 /* above this size a size-driven test runs the "large" counts */

/* Which set of defaults a program starts from. */
enum osu_kind { OSU_LAT, OSU_BW, OSU_COLL, OSU_OWN, OSU_OVERLAP, OSU_ASYNC, OSU_PARTS,
                /* one-sided */ OSU_ACCESS, OSU_RATES, OSU_ACTIVE, OSU_GET_ACC };

/* -w and -s of the one-sided ones. */
enum osu_creation { OSU_CREATE, OSU_ALLOCATE, OSU_DYNAMIC };
enum osu_sync { OSU_LOCK, OSU_PSCW, OSU_FENCE, OSU_FLUSH, OSU_FLUSH_LOCAL, OSU_LOCK_ALL };

/* -D: what a message consists of, see ddt.h. */
enum osu_ddt { OSU_PLAIN, OSU_CONT, OSU_VECT, OSU_INDX, OSU_STRUCT, OSU_HAND };

struct osu_options {
	size_t min, max;             /* -m: message sizes, or queue depths */
	int iters, iters_large;      /* -i */
	int skip, skip_large;        /* -x */
	int iters_set;               /* -i was given */
	int window;                  /* -W */
	int senders, receivers;      /* -t */
	int parts, threads;          /* -p and -t of partitioned */
	int unexpected;              /* -q */
	int both;                    /* -k of overlap */
	int standard;                /* -k of async */
	double work;                 /* -w: of async in milliseconds */
	double seconds;              /* -s */
	double budget;               /* -b, in seconds */
	enum osu_creation creation;  /* -w of one-sided */
	enum osu_sync sync;          /* -s of one-sided */
	MPI_Datatype type;           /* -T of one-sided */
	size_t width;                /* bytes of that type */
	int maxloc;                  /* -O of reductions */
	enum osu_ddt ddt;            /* -D */
	size_t stride, block;        /* of vect and hand */
	int blocks, *disps, *lens;   /* of indx */
};

extern struct osu_options osu;
extern int osu_rank, osu_size;

/* Starts MPI (asking for `threads`), reads the options named in `accepts` (a
 * getopt string, 'h' is always accepted) over the defaults of `kind`, and ends
 * the job with a message if they make no sense or if the number of ranks is not
 * `ranks` (0: an even number, -1: two or more). */
void osu_start(int argc, char **argv, enum osu_kind kind, const char *accepts,
               int threads, int ranks);
void osu_finish(void);
_Noreturn void osu_fail(const char *why);
/* Reads -D. */
void osu_ddt_of(char *text);

/* Sets *iters and *skip for a message size. */
void osu_counts(size_t size, int *iters, int *skip);
/* A page-aligned buffer of at least `size` bytes, filled with `fill`. */
char *osu_buffer(size_t size, char fill);
void osu_buffer_free(char *buffer);

/* What rank 0 prints: `# OSU MPI <name> Test v7.4` after an empty line, the
 * datatype line, the column heads, and the rows. With -D there is one more column, what
 * is sent. */
void osu_preamble(const char *name);
/* The same for a test that OSU does not have. */
void osu_own(const char *name);
/* The same of a one-sided test: without the empty line, with the window, the
 * synchronization and the datatype. */
void osu_preamble_of_windows(const char *name);
void osu_datatype(void); /* MPI_CHAR */
void osu_datatype_of(const char *type);
void osu_heads(const char *first, const char *second, const char *third);
void osu_row(size_t first, double second);
/* The same with as many decimals as a time below a tenth of a microsecond needs. */
void osu_fine_row(size_t first, double second);
void osu_row2(size_t first, double second, double third);
/* Of a transfer while ranks compute: OSU's line of what the time consists of, and the
 * table. Without sizes, and then of a row of size 0, that column is left out. */
void osu_overall(void);
void osu_overlap_heads(int sizes);
void osu_overlap_row(size_t size, double overall, double compute, double pure);

#endif
