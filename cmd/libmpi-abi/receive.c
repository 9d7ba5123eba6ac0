/* MPI_Irecv. A program that posts several receives pays for one way to Go: a short receive is
 * written down here, and the next call that goes there starts all, in their order.
 *
 * No message sees a difference: where one has come before its receive that is not put off,
 * and when the progress thread has taken messages it starts what is written down. (A ready
 * send may be said to be too early, if something else than MPI has told of the receive.)
 * Only where the program has one thread: otherwise capi leaves the limit at 0. */
#include "weft.h"

struct weft_late weft_late;

int weft_quick_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	const struct weft_slot *c = weft_find(WEFT_COMM, W(comm)), *t = weft_find(WEFT_DATATYPE, W(datatype));
	uint32_t n = atomic_load_explicit(&weft_late.asked, memory_order_relaxed);
	uint32_t limit = atomic_load_explicit(&weft_late.limit, memory_order_relaxed);
	struct weft_receive *r = &weft_late.receives[n % WEFT_LATE];
	if (!c || !t || !request || !t->dense || W(buf) < WEFT_FIRST || (uint64_t)(uint32_t)count * (uint32_t)t->dense >= limit ||
	    n == atomic_load_explicit(&weft_late.free, memory_order_acquire) || !r->request ||
	    (source != MPI_ANY_SOURCE && (uint32_t)source >= (uint32_t)(c->remote < 0 ? c->size : c->remote)) ||
	    (tag != MPI_ANY_TAG && tag < 0) || atomic_load_explicit(&weft_late.unexpected, memory_order_relaxed))
		return 0;
	r->buf = W(buf);
	r->comm = W(comm);
	r->bytes = count * t->dense;
	r->source = source;
	r->tag = tag;
	*request = (MPI_Request)(uintptr_t)r->request;
	/* The progress thread stores unexpected and then looks at asked: one of the two sees the
	 * other. */
	atomic_store(&weft_late.asked, n + 1);
	if (__builtin_expect(atomic_load(&weft_late.unexpected), 0))
		weft_start_late();
	return 1;
}
