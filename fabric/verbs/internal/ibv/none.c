//go:build cgo && linux

/* The calls where libibverbs' headers were not there. */

#include "lib.h"

#ifndef WEFT_HAVE_VERBS

const char *weft_load(void)
{
	return "this program was built without the headers of libibverbs (Debian: libibverbs-dev), or for 32 bits";
}

int weft_query(const char *device, uint32_t port, struct weft_attr *out, const char **err) { return ENOSYS; }
int weft_open_device(const char *device, const struct weft_options *o, void *sends, void *recvs,
	      void *rdone, void *sdone, struct weft_context **out, const char **err) { return ENOSYS; }
int weft_close(struct weft_context *n, const char **err) { return ENOSYS; }
void weft_ring_slots(struct weft_context *n, uint64_t base, uint32_t size, uint32_t lkey) {}
uint64_t weft_post_poll(struct weft_context *n, int sends, int recvs, int max_recv, int max_send,
		   int looks) { return 0; }
int weft_req_notify(struct weft_context *n, int solicited) { return ENOSYS; }
int weft_ack_events(struct weft_context *n) { return 0; }
int weft_event_fd(struct weft_context *n) { return -1; }
int weft_async_fd(struct weft_context *n) { return -1; }
int weft_async(struct weft_context *n, uint32_t *kind, uint32_t *qpn, const char **name) { return 0; }
int weft_reg_mr(struct weft_context *n, uint64_t addr, uint64_t len, uint32_t access,
		  uint64_t *mr, uint32_t *lkey, uint32_t *rkey) { return ENOSYS; }
int weft_dereg_mr(struct weft_context *n, uint64_t mr) { return ENOSYS; }
int weft_create_qp(struct weft_context *n, uint64_t *qp, uint32_t *number, uint32_t *inline_bytes,
		   const char **err) { return ENOSYS; }
int weft_connect_qp(struct weft_context *n, uint64_t qp, const struct weft_path *p, const char **err) { return ENOSYS; }
int weft_fail_qp(struct weft_context *n, uint64_t qp) { return ENOSYS; }
int weft_destroy_qp(struct weft_context *n, uint64_t qp) { return ENOSYS; }

#endif
