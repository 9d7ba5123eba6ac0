/* What the generated bodies look at before a call goes to Go. A body has a, the words of
 * the call, and call, its name. A check that fails ends it, so that nothing of the call
 * has to be kept meanwhile. */
#ifndef WEFT_CHECK_H
#define WEFT_CHECK_H

/* An integer as a word. */
#define N(x) ((uint64_t)(int64_t)(x))

/* Sets what the errors of a call are about. The words are left alone: a call writes as
 * many as it has. */
static inline void weft_about(struct weft_args *a, enum weft_kind kind, uint64_t object, int large)
{
	a->object = object;
	a->kind = (int32_t)kind;
	a->large = large;
}

/* The end of a call with a handle that is stale, null or of another kind. */
static __attribute__((noinline, cold, unused)) int weft_stale(struct weft_args *a, enum weft_kind kind, const char *call)
{
	return weft_raise(a, weft_class_of_kind(kind), call);
}

#define WEFT_READY() \
	do { \
		int code = weft_ready(); \
		if (__builtin_expect(code, 0)) \
			return weft_raise(&a, code, call); \
	} while (0)

#define WEFT_ALIVE(kind, handle) \
	do { \
		if (__builtin_expect(!weft_find(kind, W(handle)), 0)) \
			return weft_stale(&a, kind, call); \
	} while (0)

#define WEFT_ALIVE_OR(null, kind, handle) \
	do { \
		if ((handle) != (null)) \
			WEFT_ALIVE(kind, handle); \
	} while (0)

/* Outputs and texts have an address. */
#define WEFT_GIVEN(address) \
	do { \
		if (__builtin_expect(!(address), 0)) \
			return weft_raise(&a, MPI_ERR_ARG, call); \
	} while (0)

/* The rest of a call, which is in Go. */
static inline int weft_answer(struct weft_args *a, int function, const char *call)
{
	int code = weft_go(function, a);
	return __builtin_expect(code, 0) ? weft_raise(a, code, call) : MPI_SUCCESS;
}

#endif
