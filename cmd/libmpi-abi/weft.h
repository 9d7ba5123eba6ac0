/* What the C files of the library share: handles, the way to Go and back, and errors. */
#ifndef WEFT_H
#define WEFT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "include/mpi.h"

/* MPI_API defines PMPI_name, and MPI_name as its weak alias, which a tool may define
 * instead. The library itself calls neither. Nothing else is visible outside. */
#define WEFT_VISIBLE __attribute__((visibility("default")))
#define MPI_API_OF(type, name, ...)                                                            \
	WEFT_VISIBLE type PMPI_##name(__VA_ARGS__);                                            \
	WEFT_VISIBLE type MPI_##name(__VA_ARGS__) __attribute__((weak, alias("PMPI_" #name))); \
	type PMPI_##name(__VA_ARGS__)
#define MPI_API(name, ...) MPI_API_OF(int, name, __VA_ARGS__)

/* The kinds of objects. Package capi has the same numbers. */
enum weft_kind {
	WEFT_NONE,
	WEFT_COMM,
	WEFT_GROUP,
	WEFT_INFO,
	WEFT_SESSION,
	WEFT_WIN,
	WEFT_MESSAGE,
	WEFT_DATATYPE,
	WEFT_OP,
	WEFT_ERRHANDLER,
	WEFT_FILE,
	WEFT_REQUEST,
	WEFT_KINDS
};

struct weft_attribute;

/* What C knows of an object, so that no call is needed to ask for it. Package capi has the
 * same layout, and writes all but attributes and the error handler. A slot whose handle is
 * 0 is free. */
struct weft_slot {
	_Atomic uint32_t handle;
	_Atomic uint32_t handler; /* the handle of its error handler */
	union {
		struct { int32_t rank, size, remote; };           /* of a communicator; remote: -1 within one group */
		struct { int32_t unit, flavor, model; };          /* of a window */
		struct { int32_t fixed, dense; };                 /* of a datatype: it can't be freed; see plain in package capi */
		struct { int32_t references, kind; uint32_t own; }; /* of an error handler, see errors.c */
	};
	uint32_t generation; /* of the slot's next handle */
	union {
		struct { int64_t bytes, lb, extent; };                         /* of a datatype */
		struct { void *base; int64_t length; };                        /* of a window */
		struct { void (*function)(void); int64_t marked, next_free; }; /* of an error handler */
	};
	struct weft_attribute *attributes;
};

/* A handle above 4,095 is kind<<27 | generation<<20 | slot. Predefined handles are in the
 * slot of their number. */
#define WEFT_SLOTS (1u << 20)
#define WEFT_FIRST 4096u

extern struct weft_slot *weft_slots; /* WEFT_KINDS times WEFT_SLOTS */

static inline struct weft_slot *weft_slot_of(enum weft_kind kind, uint64_t handle)
{
	return &weft_slots[(uint32_t)kind * WEFT_SLOTS + (uint32_t)(handle & (WEFT_SLOTS - 1))];
}

/* weft_find returns the slot of a handle, or NULL if that is stale, mistaken or null. */
static inline struct weft_slot *weft_find(enum weft_kind kind, uint64_t handle)
{
	struct weft_slot *s = weft_slot_of(kind, handle);
	return handle != 0 && atomic_load_explicit(&s->handle, memory_order_acquire) == handle ? s : NULL;
}

/* W is a handle or pointer as a word. */
#define W(x) ((uint64_t)(uintptr_t)(x))

/* The arguments of a call, in the order of the C function, and the object whose error
 * handler sees its errors; WEFT_NONE is that of MPI_COMM_SELF. */
struct weft_args {
	uint64_t object;
	int32_t kind;
	int32_t large; /* the function is one with _c */
	uint64_t word[16];
};

/* weft_open is above 0 from MPI_Init or MPI_Session_init on, until the last of MPI_Finalize
 * and MPI_Session_finalize. */
extern _Atomic int weft_open;

/* weft_class_of_kind is the error class of a handle that is none of that kind. */
int weft_class_of_kind(enum weft_kind kind);

static inline int weft_ready(void)
{
	return atomic_load_explicit(&weft_open, memory_order_relaxed) > 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* weft_check is what is wrong with a handle: the library is not in use, or it is none. */
static inline int weft_check(enum weft_kind kind, uint64_t handle)
{
	if (weft_ready())
		return MPI_ERR_OTHER;
	return weft_find(kind, handle) ? MPI_SUCCESS : weft_class_of_kind(kind);
}

/* weft_go makes the call in Go. It returns MPI_SUCCESS or an error code. weft_text is what
 * there is to say of one, and weft_may_start whether the process can be a rank, or an error
 * code; again: it has called MPI_Init before. */
extern int weft_go(int function, struct weft_args *a);
extern void weft_text(int code, char *out, int size);
extern int weft_may_start(int again);

/* A receive that the program has asked for and Go has not started yet. */
struct weft_receive {
	uint64_t buf, comm;
	uint64_t request; /* its handle, which Go gives beforehand */
	int32_t bytes, source, tag, unused;
};

/* The last receives that are put off, see receive.c. Package capi has the same layout. */
#define WEFT_LATE 64u
struct weft_late {
	_Atomic uint32_t asked;      /* so many, by C */
	_Atomic uint32_t free;       /* asked may go so far, by Go */
	_Atomic uint32_t unexpected; /* messages that no receive has matched, by Go */
	_Atomic uint32_t limit;      /* what is put off has fewer bytes, by Go; 0: nothing is */
	struct weft_receive receives[WEFT_LATE];
};

extern struct weft_late weft_late;

/* weft_start_late starts what has been put off. */
extern void weft_start_late(void);

/* A generated body asks these first: they make the call, or return 0 and leave it to Go. */
int weft_quick_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request);
int weft_quick_Wait(MPI_Request *request, MPI_Status *status);
int weft_quick_Waitall(int count, MPI_Request *requests, MPI_Status *statuses);

/* weft_raise has the error handler see the error of a call, in C and behind the crossing: no
 * frame of Go is on the stack, so the handler may longjmp or exit. It returns the code.
 * weft_raise_on is for a call whose arguments are in no struct. Where a call makes an object,
 * the error handler that this is to have stands for it, of kind WEFT_ERRHANDLER. */
int weft_raise(const struct weft_args *a, int code, const char *call);
int weft_raise_on(enum weft_kind kind, uint64_t handle, int code, const char *call);

/* weft_refuse raises what is wrong with a call about an object: the library is not in use,
 * the handle is none, or else an argument. */
int weft_refuse(enum weft_kind kind, uint64_t handle, const char *call);

/* weft_handler_fits is MPI_SUCCESS if the error handler is one that objects of the kind can
 * have. weft_raise_by has it see an error of one. */
int weft_handler_fits(uint64_t handler, enum weft_kind kind);
int weft_raise_by(uint64_t handler, enum weft_kind kind, uint64_t handle, int code, const char *call);

/* weft_attributes_end deletes the attributes of an object, the last one first, until a delete
 * function fails; it returns that error. */
int weft_attributes_end(enum weft_kind kind, uint64_t handle);

/* weft_attributes_copy gives an object the attributes of another one that their keys copy, in
 * the order in which they were set. If it fails the object has none. */
int weft_attributes_copy(enum weft_kind kind, uint64_t from, uint64_t to);

/* weft_flush writes what the program's streams have buffered, for an end that skips exit. */
void weft_flush(void);

#include "gen_numbers.h"

#endif
