/* Error handlers (MPI-5.0 §9.3). They run here, when the call in Go has returned: no frame
 * of Go is on the stack, so a handler may longjmp, throw or exit. */
#include <stdio.h>
#include <stdlib.h>

#include "weft.h"

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

int weft_refuse(enum weft_kind kind, uint64_t handle, const char *call)
{
	struct weft_args a = {.kind = kind, .object = handle};
	int code = weft_ready();
	if (!code)
		code = weft_find(kind, handle) ? MPI_ERR_ARG : weft_class_of_kind(kind);
	return weft_raise(&a, code, call);
}

static _Noreturn void fatal(const char *call, int code)
{
	char text[4096];
	int class = code & 0xffff;
	struct weft_args a = {.word = {W(MPI_COMM_WORLD), (uint64_t)(class < 256 ? class : 1)}};
	fflush(NULL);
	weft_text(code, text, sizeof text);
	if (weft_ready()) {
		fprintf(stderr, "weft: %s: %s, or is not initialized: call MPI_Init before, and MPI_Finalize behind all others\n", call, text);
		exit(class < 256 ? class : 1);
	}
	fprintf(stderr, "weft: rank %d: %s: %s\n", weft_slot_of(WEFT_COMM, W(MPI_COMM_WORLD))->rank, call, text);
	weft_go(weft_fn_Abort, &a);
	exit(class < 256 ? class : 1);
}

int weft_raise(const struct weft_args *a, int code, const char *call)
{
	struct weft_slot *object = a->kind == WEFT_NONE ? NULL : weft_find(a->kind, a->object);
	uint32_t h;
	if (!object) { /* MPI_COMM_SELF stands for no object */
		object = weft_find(WEFT_COMM, W(MPI_COMM_SELF));
	}
	h = object ? object->handler : W(MPI_ERRORS_ARE_FATAL);
	if (h == W(MPI_ERRORS_RETURN))
		return code;
	fatal(call, code);
}
