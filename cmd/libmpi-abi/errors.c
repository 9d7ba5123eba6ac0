/* Error handlers (MPI-5.0 §9.3). They run here, when the call in Go has returned: no frame
 * of Go is on the stack, so a handler may longjmp, throw or exit.
 *
 * An error handler is a slot with a C function. The program's references to it are counted,
 * and its handle is stale without any. Objects don't count: Go copies the handler of an
 * object to those that are made of it. Instead, whether any object still has a handler is
 * looked up when slots are wanted (collect). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the rest, and references of slots */
static uint32_t unused = WEFT_FIRST;                    /* the first slot that never was used */
static uint32_t free_slots;                             /* the first free one; 0: none */
static uint32_t made;                                   /* handlers since slots were collected */
static int64_t round_number;                            /* of the last collection */

enum { COLLECT = 1024 }; /* handlers, at least, between two collections */

/* The handlers that are there from the start. They are found like others, and never freed. */
__attribute__((constructor(102))) static void predefine(void)
{
	const MPI_Errhandler all[] = {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		weft_slot_of(WEFT_ERRHANDLER, W(all[i]))->handle = (uint32_t)W(all[i]);
	weft_slot_of(WEFT_FILE, W(MPI_FILE_NULL))->handler = W(MPI_ERRORS_RETURN);
}

int weft_class_of_kind(enum weft_kind kind)
{
	static const int classes[WEFT_KINDS] = {
		[WEFT_NONE] = MPI_ERR_ARG,
		[WEFT_COMM] = MPI_ERR_COMM,
		[WEFT_GROUP] = MPI_ERR_GROUP,
		[WEFT_INFO] = MPI_ERR_INFO,
		[WEFT_SESSION] = MPI_ERR_SESSION,
		[WEFT_WIN] = MPI_ERR_WIN,
		[WEFT_MESSAGE] = MPI_ERR_REQUEST,
		[WEFT_DATATYPE] = MPI_ERR_TYPE,
		[WEFT_OP] = MPI_ERR_OP,
		[WEFT_ERRHANDLER] = MPI_ERR_ERRHANDLER,
		[WEFT_FILE] = MPI_ERR_FILE,
		[WEFT_REQUEST] = MPI_ERR_REQUEST,
	};
	return classes[kind];
}

/* mark notes which handlers objects of a kind have, or had: an object that is being made
 * looks like one that is gone. */
static void mark(enum weft_kind kind)
{
	for (uint32_t i = 0; i < WEFT_SLOTS; i++) {
		struct weft_slot *s = weft_slot_of(kind, i);
		if (i >= WEFT_FIRST && s->generation == 0)
			break;
		if (s->handler >= WEFT_FIRST)
			weft_slot_of(WEFT_ERRHANDLER, s->handler)->marked = round_number;
	}
}

/* collect frees the slots of handlers that neither the program nor an object has. */
static void collect(void)
{
	made = 0;
	round_number++;
	mark(WEFT_COMM);
	mark(WEFT_WIN);
	mark(WEFT_SESSION);
	mark(WEFT_FILE);
	free_slots = 0;
	for (uint32_t i = WEFT_FIRST; i < unused; i++) {
		struct weft_slot *s = weft_slot_of(WEFT_ERRHANDLER, i);
		if (s->references > 0 || s->marked == round_number)
			continue;
		s->next_free = free_slots;
		free_slots = i;
	}
}

static int create(enum weft_kind kind, void (*function)(void), MPI_Errhandler *out, const char *call)
{
	struct weft_slot *s;
	uint32_t i;
	if (!function || !out)
		return weft_raise_on(WEFT_NONE, 0, MPI_ERR_ARG, call);
	pthread_mutex_lock(&lock);
	if (!free_slots && (unused == WEFT_SLOTS || (made >= COLLECT && made >= (unused - WEFT_FIRST) / 2)))
		collect();
	if ((i = free_slots) != 0)
		free_slots = (uint32_t)weft_slot_of(WEFT_ERRHANDLER, i)->next_free;
	else if (unused < WEFT_SLOTS)
		i = unused++;
	if (i == 0) {
		pthread_mutex_unlock(&lock);
		return weft_raise_on(WEFT_NONE, 0, MPI_ERR_NO_MEM, call);
	}
	made++;
	s = weft_slot_of(WEFT_ERRHANDLER, i);
	s->references = 1;
	s->kind = (int32_t)kind;
	s->function = function;
	s->own = (uint32_t)WEFT_ERRHANDLER << 27 | s->generation++ % 128 << 20 | i;
	atomic_store_explicit(&s->handle, s->own, memory_order_release);
	*out = (MPI_Errhandler)(uintptr_t)s->own;
	pthread_mutex_unlock(&lock);
	return MPI_SUCCESS;
}

/* function_of is the function of a handler that an object of the kind has, or NULL. The
 * handle may be stale for the program. */
static void (*function_of(uint32_t handler, enum weft_kind kind))(void)
{
	struct weft_slot *s = weft_slot_of(WEFT_ERRHANDLER, handler);
	return handler >= WEFT_FIRST && s->own == handler && s->kind == (int32_t)kind ? s->function : NULL;
}

int weft_handler_fits(uint64_t handler, enum weft_kind kind)
{
	struct weft_slot *s = weft_find(WEFT_ERRHANDLER, handler);
	return s && (handler < WEFT_FIRST || s->kind == (int32_t)kind) ? MPI_SUCCESS : MPI_ERR_ERRHANDLER;
}

static _Noreturn void fatal(const char *call, int code)
{
	char text[4096];
	int class = code & 0xffff, status = class > 0 && class < 256 ? class : 1;
	struct weft_args a = {.word = {W(MPI_COMM_WORLD), (uint64_t)status}};
	weft_flush();
	weft_text(code, text, sizeof text);
	if (weft_ready() && code == MPI_ERR_OTHER)
		fprintf(stderr, "weft: %s: MPI is not in use: call it after MPI_Init or MPI_Session_init, and before MPI_Finalize\n", call);
	else if (weft_find(WEFT_COMM, W(MPI_COMM_WORLD)))
		fprintf(stderr, "weft: rank %d: %s: %s\n", weft_slot_of(WEFT_COMM, W(MPI_COMM_WORLD))->rank, call, text);
	else
		fprintf(stderr, "weft: %s: %s\n", call, text);
	weft_go(weft_fn_Abort, &a);
	_Exit(status);
}

int weft_raise_by(uint64_t handler, enum weft_kind kind, uint64_t handle, int code, const char *call)
{
	void (*function)(void);
	if (handler == W(MPI_ERRORS_RETURN))
		return code;
	function = function_of((uint32_t)handler, kind);
	if (!function)
		fatal(call, code);
	switch (kind) {
	case WEFT_COMM: {
		MPI_Comm comm = (MPI_Comm)(uintptr_t)handle;
		((MPI_Comm_errhandler_function *)function)(&comm, &code, call);
		break;
	}
	case WEFT_WIN: {
		MPI_Win win = (MPI_Win)(uintptr_t)handle;
		((MPI_Win_errhandler_function *)function)(&win, &code, call);
		break;
	}
	case WEFT_SESSION: {
		MPI_Session session = (MPI_Session)(uintptr_t)handle;
		((MPI_Session_errhandler_function *)function)(&session, &code, call);
		break;
	}
	default: {
		MPI_File file = (MPI_File)(uintptr_t)handle;
		((MPI_File_errhandler_function *)function)(&file, &code, call);
	}
	}
	return code;
}

/* holder is the slot with the error handler of an object, or NULL: only some kinds have one.
 * MPI_FILE_NULL has that of what is about no file, and of files when they are opened. */
static struct weft_slot *holder(enum weft_kind kind, uint64_t handle)
{
	if (kind == WEFT_FILE && handle == W(MPI_FILE_NULL))
		return weft_slot_of(kind, handle);
	if (kind == WEFT_ERRHANDLER && handle >= WEFT_FIRST) { /* the program may have freed it, and objects have it */
		struct weft_slot *s = weft_slot_of(kind, handle);
		return s->own == handle ? s : NULL;
	}
	if (kind == WEFT_COMM || kind == WEFT_WIN || kind == WEFT_SESSION || kind == WEFT_FILE || kind == WEFT_ERRHANDLER)
		return weft_find(kind, handle);
	return NULL;
}

/* null_of is the handle of a kind that stands for no object. */
static uint64_t null_of(enum weft_kind kind)
{
	return kind == WEFT_COMM ? W(MPI_COMM_NULL) : kind == WEFT_WIN ? W(MPI_WIN_NULL) : kind == WEFT_SESSION ? W(MPI_SESSION_NULL) : W(MPI_FILE_NULL);
}

int weft_raise_on(enum weft_kind kind, uint64_t handle, int code, const char *call)
{
	struct weft_slot *s = holder(kind, handle);
	if (kind == WEFT_ERRHANDLER && s) { /* that of an object that is not made yet, or gone */
		kind = (enum weft_kind)s->kind;
		return weft_raise_by(handle, kind, null_of(kind), code, call);
	}
	if (!s && kind == WEFT_FILE) {
		handle = W(MPI_FILE_NULL);
		s = weft_slot_of(kind, handle);
	}
	if (!s) { /* MPI_COMM_SELF stands for no object, while there is one */
		kind = WEFT_COMM;
		handle = W(MPI_COMM_SELF);
		s = weft_slot_of(kind, handle);
	}
	return weft_raise_by(s->handler, kind, handle, code, call);
}

int weft_raise(const struct weft_args *a, int code, const char *call)
{
	return weft_raise_on((enum weft_kind)a->kind, a->object, code, call);
}

int weft_refuse(enum weft_kind kind, uint64_t handle, const char *call)
{
	int code = weft_check(kind, handle);
	return weft_raise_on(kind, handle, code ? code : MPI_ERR_ARG, call);
}

static int set(enum weft_kind kind, uint64_t handle, MPI_Errhandler errhandler, const char *call)
{
	struct weft_slot *s = holder(kind, handle);
	int code;
	if (weft_ready() || !s)
		return weft_refuse(kind, handle, call);
	if ((code = weft_handler_fits(W(errhandler), kind)) != MPI_SUCCESS)
		return weft_raise_on(kind, handle, code, call);
	s->handler = (uint32_t)W(errhandler);
	return MPI_SUCCESS;
}

/* The handle that get returns is one more reference, which the program has to free. */
static int get(enum weft_kind kind, uint64_t handle, MPI_Errhandler *out, const char *call)
{
	struct weft_slot *s = holder(kind, handle), *own;
	uint32_t h;
	if (weft_ready() || !s || !out)
		return weft_refuse(kind, handle, call);
	pthread_mutex_lock(&lock);
	h = s->handler;
	if (function_of(h, kind)) {
		own = weft_slot_of(WEFT_ERRHANDLER, h);
		own->references++;
		atomic_store_explicit(&own->handle, h, memory_order_release);
	} else if (h >= WEFT_FIRST || h == 0) {
		h = (uint32_t)W(MPI_ERRORS_ARE_FATAL);
	}
	pthread_mutex_unlock(&lock);
	*out = (MPI_Errhandler)(uintptr_t)h;
	return MPI_SUCCESS;
}

static int call_handler(enum weft_kind kind, uint64_t handle, int code, const char *call)
{
	struct weft_slot *s = holder(kind, handle);
	if (weft_ready() || !s)
		return weft_refuse(kind, handle, call);
	weft_raise_by(s->handler, kind, handle, code, call);
	return MPI_SUCCESS;
}

MPI_API(Errhandler_free, MPI_Errhandler *errhandler)
{
	struct weft_slot *s;
	int code = MPI_SUCCESS;
	if (!errhandler)
		return weft_raise_on(WEFT_NONE, 0, MPI_ERR_ARG, "MPI_Errhandler_free");
	pthread_mutex_lock(&lock);
	s = weft_find(WEFT_ERRHANDLER, W(*errhandler));
	if (!s)
		code = MPI_ERR_ERRHANDLER;
	else if (W(*errhandler) >= WEFT_FIRST && --s->references == 0)
		s->handle = 0;
	pthread_mutex_unlock(&lock);
	if (code)
		return weft_raise_on(WEFT_NONE, 0, code, "MPI_Errhandler_free");
	*errhandler = MPI_ERRHANDLER_NULL;
	return MPI_SUCCESS;
}

MPI_API(Comm_create_errhandler, MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
	return create(WEFT_COMM, (void (*)(void))function, errhandler, "MPI_Comm_create_errhandler");
}

MPI_API(Comm_set_errhandler, MPI_Comm comm, MPI_Errhandler errhandler)
{
	return set(WEFT_COMM, W(comm), errhandler, "MPI_Comm_set_errhandler");
}

MPI_API(Comm_get_errhandler, MPI_Comm comm, MPI_Errhandler *errhandler)
{
	return get(WEFT_COMM, W(comm), errhandler, "MPI_Comm_get_errhandler");
}

MPI_API(Comm_call_errhandler, MPI_Comm comm, int errorcode)
{
	return call_handler(WEFT_COMM, W(comm), errorcode, "MPI_Comm_call_errhandler");
}

MPI_API(Win_create_errhandler, MPI_Win_errhandler_function *function, MPI_Errhandler *errhandler)
{
	return create(WEFT_WIN, (void (*)(void))function, errhandler, "MPI_Win_create_errhandler");
}

MPI_API(Win_set_errhandler, MPI_Win win, MPI_Errhandler errhandler)
{
	return set(WEFT_WIN, W(win), errhandler, "MPI_Win_set_errhandler");
}

MPI_API(Win_get_errhandler, MPI_Win win, MPI_Errhandler *errhandler)
{
	return get(WEFT_WIN, W(win), errhandler, "MPI_Win_get_errhandler");
}

MPI_API(Win_call_errhandler, MPI_Win win, int errorcode)
{
	return call_handler(WEFT_WIN, W(win), errorcode, "MPI_Win_call_errhandler");
}

MPI_API(Session_create_errhandler, MPI_Session_errhandler_function *function, MPI_Errhandler *errhandler)
{
	return create(WEFT_SESSION, (void (*)(void))function, errhandler, "MPI_Session_create_errhandler");
}

MPI_API(Session_set_errhandler, MPI_Session session, MPI_Errhandler errhandler)
{
	return set(WEFT_SESSION, W(session), errhandler, "MPI_Session_set_errhandler");
}

MPI_API(Session_get_errhandler, MPI_Session session, MPI_Errhandler *errhandler)
{
	return get(WEFT_SESSION, W(session), errhandler, "MPI_Session_get_errhandler");
}

MPI_API(Session_call_errhandler, MPI_Session session, int errorcode)
{
	return call_handler(WEFT_SESSION, W(session), errorcode, "MPI_Session_call_errhandler");
}

MPI_API(File_create_errhandler, MPI_File_errhandler_function *function, MPI_Errhandler *errhandler)
{
	return create(WEFT_FILE, (void (*)(void))function, errhandler, "MPI_File_create_errhandler");
}

MPI_API(File_set_errhandler, MPI_File file, MPI_Errhandler errhandler)
{
	return set(WEFT_FILE, W(file), errhandler, "MPI_File_set_errhandler");
}

MPI_API(File_get_errhandler, MPI_File file, MPI_Errhandler *errhandler)
{
	return get(WEFT_FILE, W(file), errhandler, "MPI_File_get_errhandler");
}

MPI_API(File_call_errhandler, MPI_File file, int errorcode)
{
	return call_handler(WEFT_FILE, W(file), errorcode, "MPI_File_call_errhandler");
}
