/* The library's memory, and the calls that begin and end its use (MPI-5.0 §11). */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "weft.h"

struct weft_slot *weft_slots;
_Atomic int weft_open;

/* The state of what MPI_Init and MPI_Finalize are about. Sessions are beside it. */
enum { NONE, STARTING, OPEN, ENDING, ENDED };
static _Atomic int state;

static int level; /* of threads, that the program was promised */
static _Thread_local int main_thread; /* this one has called MPI_Init */

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

/* turn goes from one state to the next, and reports whether it was that one: of several
 * threads one does. */
static int turn(int from, int to) { return atomic_compare_exchange_strong(&state, &from, to); }

static int start(const char *call, int required, int *provided)
{
	struct weft_args a = {.word = {0, 0, (uint64_t)(int64_t)required, W(provided)}};
	int code;
	if (!turn(NONE, STARTING))
		return weft_raise(&a, weft_may_start(1), call);
	if ((code = weft_may_start(0)) == MPI_SUCCESS)
		code = weft_go(weft_fn_Init_thread, &a);
	if (code) {
		state = NONE;
		return weft_raise(&a, code, call);
	}
	main_thread = 1;
	level = required < MPI_THREAD_SINGLE ? MPI_THREAD_SINGLE : required > MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE : required;
	*provided = level;
	weft_slot_of(WEFT_COMM, W(MPI_COMM_WORLD))->handler = W(MPI_ERRORS_ARE_FATAL);
	weft_slot_of(WEFT_COMM, W(MPI_COMM_SELF))->handler = W(MPI_ERRORS_ARE_FATAL);
	weft_open++;
	state = OPEN;
	return MPI_SUCCESS;
}

/* The arguments of the program are its own. */
MPI_API(Init, int *argc, char ***argv)
{
	int provided;
	(void)argc, (void)argv;
	return start("MPI_Init", MPI_THREAD_SINGLE, &provided);
}

MPI_API(Init_thread, int *argc, char ***argv, int required, int *provided)
{
	(void)argc, (void)argv;
	if (!provided)
		return weft_raise_on(WEFT_NONE, 0, MPI_ERR_ARG, "MPI_Init_thread");
	return start("MPI_Init_thread", required, provided);
}

MPI_API(Initialized, int *flag)
{
	if (!flag)
		return weft_raise_on(WEFT_NONE, 0, MPI_ERR_ARG, "MPI_Initialized");
	*flag = state >= OPEN;
	return MPI_SUCCESS;
}

MPI_API(Finalized, int *flag)
{
	if (!flag)
		return weft_raise_on(WEFT_NONE, 0, MPI_ERR_ARG, "MPI_Finalized");
	*flag = state == ENDED;
	return MPI_SUCCESS;
}

/* The attributes of MPI_COMM_SELF end first, while all calls can be made still (MPI-5.0
 * §11.2.4). The handler that MPI_COMM_SELF has sees errors of this call, and none later. */
MPI_API(Finalize, void)
{
	struct weft_args a = {0};
	struct weft_slot *self = weft_slot_of(WEFT_COMM, W(MPI_COMM_SELF));
	int code;
	if (!turn(OPEN, ENDING))
		return weft_raise(&a, MPI_ERR_OTHER, "MPI_Finalize");
	if ((code = weft_attributes_end(WEFT_COMM, W(MPI_COMM_SELF))) != MPI_SUCCESS ||
	    (code = weft_attributes_end(WEFT_COMM, W(MPI_COMM_WORLD))) != MPI_SUCCESS) {
		state = OPEN;
		return weft_raise(&a, code, "MPI_Finalize");
	}
	code = weft_go(weft_fn_Finalize, &a);
	weft_open--;
	state = ENDED;
	if (code)
		code = weft_raise(&a, code, "MPI_Finalize");
	self->handler = 0;
	return code;
}

/* The error handler that the session is to have sees errors of the call as well. */
MPI_API(Session_init, MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
	static const char call[] = "MPI_Session_init";
	struct weft_args a = {.word = {W(info), W(errhandler), W(session)}};
	int code = weft_handler_fits(W(errhandler), WEFT_SESSION);
	if (code)
		return weft_raise(&a, code, call);
	a.kind = WEFT_ERRHANDLER;
	a.object = W(errhandler);
	if (!session)
		code = MPI_ERR_ARG;
	else if (info != MPI_INFO_NULL && !weft_find(WEFT_INFO, W(info)))
		code = MPI_ERR_INFO;
	else if ((code = weft_may_start(0)) == MPI_SUCCESS)
		code = weft_go(weft_fn_Session_init, &a);
	if (code)
		return weft_raise(&a, code, call);
	weft_open++;
	return MPI_SUCCESS;
}

MPI_API(Session_finalize, MPI_Session *session)
{
	static const char call[] = "MPI_Session_finalize";
	struct weft_args a = {.kind = WEFT_SESSION, .word = {W(session)}};
	uint32_t handler;
	int code;
	if (!session)
		return weft_refuse(WEFT_NONE, 0, call);
	a.object = W(*session);
	if ((code = weft_check(WEFT_SESSION, a.object)) != MPI_SUCCESS)
		return weft_raise(&a, code, call);
	handler = weft_slot_of(WEFT_SESSION, a.object)->handler;
	if ((code = weft_go(weft_fn_Session_finalize, &a)) != MPI_SUCCESS)
		return weft_raise_by(handler, WEFT_SESSION, a.object, code, call);
	weft_open--;
	return MPI_SUCCESS;
}

static void *flush(void *flushed)
{
	fflush(NULL);
	sem_post(flushed);
	return NULL;
}

/* A thread of its own flushes, since another one may hold a stream for long: one that waits
 * for input, say. The process ends behind this, so nothing is freed. */
void weft_flush(void)
{
	sem_t *flushed = malloc(sizeof *flushed);
	pthread_t thread;
	struct timespec until;
	if (!flushed || sem_init(flushed, 0, 0) || pthread_create(&thread, NULL, flush, flushed))
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	while (sem_timedwait(flushed, &until) && errno == EINTR) {
	}
}

/* What the program has written comes before its end. */
MPI_API(Abort, MPI_Comm comm, int errorcode)
{
	struct weft_args a = {.word = {W(comm), (uint64_t)(int64_t)errorcode}};
	weft_flush();
	weft_go(weft_fn_Abort, &a);
	_Exit(errorcode);
}

/* asked is what calls about the threads of MPI_Init answer: no session can. */
static int asked(const int *out, const char *call)
{
	if (state == OPEN || state == ENDING)
		return out ? MPI_SUCCESS : weft_raise_on(WEFT_NONE, 0, MPI_ERR_ARG, call);
	return weft_raise_on(WEFT_NONE, 0, MPI_ERR_OTHER, call);
}

MPI_API(Query_thread, int *provided)
{
	int code = asked(provided, "MPI_Query_thread");
	if (!code)
		*provided = level;
	return code;
}

MPI_API(Is_thread_main, int *flag)
{
	int code = asked(flag, "MPI_Is_thread_main");
	if (!code)
		*flag = main_thread;
	return code;
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
	if (weft_ready() || !s || !size)
		return weft_refuse(WEFT_COMM, W(comm), "MPI_Comm_remote_size");
	if (s->remote < 0)
		return weft_raise_on(WEFT_COMM, W(comm), MPI_ERR_COMM, "MPI_Comm_remote_size");
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
