#ifndef WEFT_IBV_H
#define WEFT_IBV_H

#include <stddef.h>
#include <stdint.h>

/* Mirrors of SendWR and WC in wr.go, whose first parts are structs of
   libibverbs. context_unsafe.go checks the Go side of it, wr.c the other. */
struct weft_send {
	uint64_t wr[16];    /* struct ibv_send_wr */
	uint64_t sge[2][2]; /* struct ibv_sge, twice */
	uint64_t qp;
	uint64_t own_at; /* Go's */
	int32_t refused;
	int32_t pad;
	uint64_t own;
};

struct weft_done {
	uint64_t wc[6]; /* struct ibv_wc */
};

/* Where the members are. */
enum {
	WEFT_AT_NEXT = 8,
	WEFT_AT_LIST = 16,
	WEFT_AT_SEGMENTS = 24,
	WEFT_AT_OP = 28,
	WEFT_AT_FLAGS = 32,
	WEFT_AT_NOTE = 36,
	WEFT_AT_REMOTE = 40,
	WEFT_AT_RKEY = 48, /* of an atomic operation the word */
	WEFT_AT_SWAP = 56,
	WEFT_AT_WORD_KEY = 64,
	WEFT_AT_SEG = offsetof(struct weft_send, sge),
	WEFT_AT_QP = offsetof(struct weft_send, qp),
	WEFT_AT_REFUSED = offsetof(struct weft_send, refused),
	WEFT_AT_OWN = offsetof(struct weft_send, own),
	WEFT_AT_LENGTH = 8, /* of a segment */
	WEFT_AT_LKEY = 12,
	WEFT_AT_STATUS = 8, /* of a completion */
	WEFT_AT_DONE_OP = 12,
	WEFT_AT_VENDOR = 16,
	WEFT_AT_BYTES = 20,
	WEFT_AT_DATA = 24,
	WEFT_AT_QPN = 28,
};

enum { WEFT_SENDS = 64, WEFT_RECVS = 256, WEFT_DONES = 64 };

struct weft_context;

/* What a device and a port can do. */
struct weft_attr {
	uint64_t max_mr_size;
	uint32_t max_qp, max_cqe, max_srq_wr, max_mr;
	uint32_t max_rd_atom, max_init_rd_atom;
	uint32_t atomics; /* 0 none, 1 with the device's own, 2 with the processor's too */
	uint32_t vendor_id, part_id;
	uint32_t max_msg;
	uint32_t state, max_mtu, active_mtu, lid, link_layer, gids;
	char fw[64];
};

struct weft_options {
	uint32_t port, gid_index, global;
	uint32_t srq_depth, recv_cqe, send_cqe;
	uint32_t send_depth, inline_bytes;
	uint32_t ack_timeout, ack_retries;
	uint32_t service_level, traffic_class;
};

struct weft_path {
	uint32_t qpn, psn, my_psn;
	uint8_t gid[16];
	uint32_t lid, mtu, reads, answers;
};

/* Every call that can fail answers 0 or an errno. Where err is given it
   receives the name of the call that failed, which lives for ever. */

/* weft_load opens libibverbs, once; NULL or why it can't. */
const char *weft_load(void);
int weft_query(const char *device, uint32_t port, struct weft_attr *out, const char **err);

int weft_open_device(const char *device, const struct weft_options *o, void *sends, void *recvs,
	      void *rdone, void *sdone, struct weft_context **out, const char **err);
int weft_close(struct weft_context *n, const char **err);
void weft_ring_slots(struct weft_context *n, uint64_t base, uint32_t size, uint32_t lkey);

/* What was found, see Polled in types.go. */
uint64_t weft_post_poll(struct weft_context *n, int sends, int recvs, int max_recv, int max_send, int looks);
int weft_req_notify(struct weft_context *n, int solicited);
int weft_ack_events(struct weft_context *n);
int weft_event_fd(struct weft_context *n);
int weft_async_fd(struct weft_context *n);
/* 1 and the event, or 0. kind: 0 other, 1 queue pair, 2 port down, 3 port up, 4 device. */
int weft_async(struct weft_context *n, uint32_t *kind, uint32_t *qpn, const char **name);

int weft_reg_mr(struct weft_context *n, uint64_t addr, uint64_t len, uint32_t access,
		  uint64_t *mr, uint32_t *lkey, uint32_t *rkey);
int weft_dereg_mr(struct weft_context *n, uint64_t mr);

int weft_create_qp(struct weft_context *n, uint64_t *qp, uint32_t *number, uint32_t *inline_bytes, const char **err);
int weft_connect_qp(struct weft_context *n, uint64_t qp, const struct weft_path *p, const char **err);
int weft_fail_qp(struct weft_context *n, uint64_t qp);
int weft_destroy_qp(struct weft_context *n, uint64_t qp);

#endif
