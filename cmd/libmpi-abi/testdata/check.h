/* What the test programs share. A program says in a comment on how many ranks it runs:
 *     ranks: 1 2 5
 * It prints what is wrong to stderr, and ends with the code 1 then. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures;

/* CHECK notes a condition that does not hold, and goes on. */
#define CHECK(condition) \
	((condition) ? (void)0 : (void)(check_failures++, fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition)))

/* CHECK_CLASS makes a call and notes an error of another class than the one named. */
#define CHECK_CLASS(call, wanted) check_class((call), (wanted), #call, __FILE__, __LINE__)

/* OK makes a call that has to succeed. */
#define OK(call) check_class((call), MPI_SUCCESS, #call, __FILE__, __LINE__)

static inline void check_class(int code, int wanted, const char *call, const char *file, int line)
{
	int class = 0, n;
	char text[MPI_MAX_ERROR_STRING] = "";
	if (code != MPI_SUCCESS)
		MPI_Error_class(code, &class);
	if (class == wanted)
		return;
	check_failures++;
	if (code != MPI_SUCCESS)
		MPI_Error_string(code, text, &n);
	fprintf(stderr, "%s:%d: %s: class %d, not %d %s\n", file, line, call, class, wanted, text);
}

/* check_rank and check_size are those of MPI_COMM_WORLD, after check_init. Errors are
 * returned from then on. */
static int check_rank, check_size;

static inline void check_init(int *argc, char ***argv)
{
	MPI_Init(argc, argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &check_size);
}

/* weft reports whether this is Weft: it refuses more than the standard asks for. */
static inline int weft(void)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int n;
	MPI_Get_library_version(version, &n);
	return !strncmp(version, "Weft", 4);
}

/* check_end finalizes, and returns what main returns. */
static inline int check_end(void)
{
	MPI_Finalize();
	return check_failures ? 1 : 0;
}

#endif
