/* The library's memory, and the calls that begin and end its use (MPI-5.0 §11). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "weft.h"

struct weft_slot *weft_slots;
_Atomic int weft_open;

static _Atomic int initialized, finalized;
static int level; /* of threads, that the program was promised */
static pthread_t main_thread;

/* Memory that is not used costs nothing: a slot never moves, so that no reader waits. */
__attribute__((constructor(101))) static void map_slots(void)
{
	size_t size = sizeof(struct weft_slot) * WEFT_SLOTS * WEFT_KINDS;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		static const char why[] = "libmpi_abi: no address space for handles (800 MB): raise ulimit -v\n";
		if (write(2, why, sizeof why - 1) < 0) {
		}
		_exit(1);
	}
	weft_slots = p;
}

static int start(const char *call, int required, int *provided)
{
	struct weft_args a = {.word = {(uint64_t)required}};
	int expected = 0, code;
	if (!atomic_compare_exchange_strong(&initialized, &expected, 1))
		return weft_raise(&a, MPI_ERR_OTHER, call);
	main_thread = pthread_self();
	if ((code = weft_go(weft_fn_Init_thread, &a)) != MPI_SUCCESS) {
		initialized = 0;
		return weft_raise(&a, code, call);
	}
	weft_slot_of(WEFT_COMM, W(MPI_COMM_WORLD))->handler = W(MPI_ERRORS_ARE_FATAL);
	weft_slot_of(WEFT_COMM, W(MPI_COMM_SELF))->handler = W(MPI_ERRORS_ARE_FATAL);
	level = required < MPI_THREAD_SINGLE ? MPI_THREAD_SINGLE : required > MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE : required;
	if (provided)
		*provided = level;
	weft_open++;
	return MPI_SUCCESS;
}

/* The arguments of the program are its own. */
MPI_API(Init, int *argc, char ***argv)
{
	(void)argc, (void)argv;
	return start("MPI_Init", MPI_THREAD_SINGLE, NULL);
}

MPI_API(Init_thread, int *argc, char ***argv, int required, int *provided)
{
	(void)argc, (void)argv;
	return start("MPI_Init_thread", required, provided);
}

MPI_API(Initialized, int *flag)
{
	struct weft_args a = {0};
	if (!flag)
		return weft_raise(&a, MPI_ERR_ARG, "MPI_Initialized");
	*flag = initialized;
	return MPI_SUCCESS;
}

MPI_API(Finalized, int *flag)
{
	struct weft_args a = {0};
	if (!flag)
		return weft_raise(&a, MPI_ERR_ARG, "MPI_Finalized");
	*flag = finalized;
	return MPI_SUCCESS;
}

MPI_API(Finalize, void)
{
	struct weft_args a = {0};
	int code = weft_ready();
	if (!code && (!initialized || finalized))
		code = MPI_ERR_OTHER;
	if (!code)
		code = weft_go(weft_fn_Finalize, &a);
	if (code)
		return weft_raise(&a, code, "MPI_Finalize");
	finalized = 1;
	weft_open--;
	return MPI_SUCCESS;
}

/* What the program has written comes before its end. */
MPI_API(Abort, MPI_Comm comm, int errorcode)
{
	struct weft_args a = {.word = {W(comm), (uint64_t)(int64_t)errorcode}};
	fflush(NULL);
	weft_go(weft_fn_Abort, &a);
	exit(errorcode);
}

MPI_API(Query_thread, int *provided)
{
	struct weft_args a = {0};
	int code = weft_ready();
	if (!code && !provided)
		code = MPI_ERR_ARG;
	if (code)
		return weft_raise(&a, code, "MPI_Query_thread");
	*provided = level;
	return MPI_SUCCESS;
}

MPI_API(Is_thread_main, int *flag)
{
	struct weft_args a = {0};
	int code = weft_ready();
	if (!code && !flag)
		code = MPI_ERR_ARG;
	if (code)
		return weft_raise(&a, code, "MPI_Is_thread_main");
	*flag = pthread_equal(pthread_self(), main_thread) != 0;
	return MPI_SUCCESS;
}

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

MPI_API_OF(double, Wtime, void) { return now(CLOCK_MONOTONIC); }

MPI_API_OF(double, Wtick, void)
{
	struct timespec t;
	clock_getres(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

MPI_API(Comm_rank, MPI_Comm comm, int *rank)
{
	struct weft_slot *s = weft_find(WEFT_COMM, W(comm));
	if (weft_ready() || !s || !rank)
		return weft_refuse(WEFT_COMM, W(comm), "MPI_Comm_rank");
	*rank = s->rank;
	return MPI_SUCCESS;
}

MPI_API(Comm_size, MPI_Comm comm, int *size)
{
	struct weft_slot *s = weft_find(WEFT_COMM, W(comm));
	if (weft_ready() || !s || !size)
		return weft_refuse(WEFT_COMM, W(comm), "MPI_Comm_size");
	*size = s->size;
	return MPI_SUCCESS;
}

MPI_API(Comm_remote_size, MPI_Comm comm, int *size)
{
	struct weft_slot *s = weft_find(WEFT_COMM, W(comm));
	if (weft_ready() || !s || !size || s->remote < 0)
		return weft_refuse(WEFT_COMM, W(comm), "MPI_Comm_remote_size");
	*size = s->remote;
	return MPI_SUCCESS;
}

MPI_API(Comm_test_inter, MPI_Comm comm, int *flag)
{
	struct weft_slot *s = weft_find(WEFT_COMM, W(comm));
	if (weft_ready() || !s || !flag)
		return weft_refuse(WEFT_COMM, W(comm), "MPI_Comm_test_inter");
	*flag = s->remote >= 0;
	return MPI_SUCCESS;
}
