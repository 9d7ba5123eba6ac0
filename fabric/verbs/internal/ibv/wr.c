//go:build cgo && linux

/* The path of messages: posting, polling and the doorbell. */

#include "lib.h"

#ifdef WEFT_HAVE_VERBS

#define AT(type, member, offset) _Static_assert(offsetof(type, member) == (offset), "see wr.go")

/* The layout of wr.go, which is that of the library's structs. */
_Static_assert(sizeof(struct ibv_send_wr) == sizeof(((struct weft_send *)0)->wr), "see wr.go");
AT(struct ibv_send_wr, next, WEFT_AT_NEXT);
AT(struct ibv_send_wr, sg_list, WEFT_AT_LIST);
AT(struct ibv_send_wr, num_sge, WEFT_AT_SEGMENTS);
AT(struct ibv_send_wr, opcode, WEFT_AT_OP);
AT(struct ibv_send_wr, send_flags, WEFT_AT_FLAGS);
AT(struct ibv_send_wr, imm_data, WEFT_AT_NOTE);
AT(struct ibv_send_wr, wr.rdma.remote_addr, WEFT_AT_REMOTE);
AT(struct ibv_send_wr, wr.rdma.rkey, WEFT_AT_RKEY);
AT(struct ibv_send_wr, wr.atomic.remote_addr, WEFT_AT_REMOTE);
AT(struct ibv_send_wr, wr.atomic.compare_add, WEFT_AT_RKEY);
AT(struct ibv_send_wr, wr.atomic.swap, WEFT_AT_SWAP);
AT(struct ibv_send_wr, wr.atomic.rkey, WEFT_AT_WORD_KEY);
_Static_assert(sizeof(struct ibv_sge) == sizeof(((struct weft_send *)0)->sge[0]), "see wr.go");
AT(struct ibv_sge, length, WEFT_AT_LENGTH);
AT(struct ibv_sge, lkey, WEFT_AT_LKEY);
_Static_assert(sizeof(struct ibv_wc) == sizeof(struct weft_done), "see wr.go");
AT(struct ibv_wc, status, WEFT_AT_STATUS);
AT(struct ibv_wc, opcode, WEFT_AT_DONE_OP);
AT(struct ibv_wc, vendor_err, WEFT_AT_VENDOR);
AT(struct ibv_wc, byte_len, WEFT_AT_BYTES);
AT(struct ibv_wc, imm_data, WEFT_AT_DATA);
AT(struct ibv_wc, qp_num, WEFT_AT_QPN);
_Static_assert(IBV_WR_RDMA_WRITE == 0 && IBV_WR_RDMA_WRITE_WITH_IMM == 1 && IBV_WR_SEND == 2 &&
	       IBV_WR_RDMA_READ == 4 && IBV_WR_ATOMIC_CMP_AND_SWP == 5 && IBV_WR_ATOMIC_FETCH_AND_ADD == 6 &&
	       IBV_SEND_SIGNALED == 2 && IBV_SEND_SOLICITED == 4 && IBV_SEND_INLINE == 8 &&
	       IBV_WC_RECV_RDMA_WITH_IMM == 129, "see wr.go");

static inline struct ibv_send_wr *wr(struct weft_send *s) { return (struct ibv_send_wr *)s->wr; }

/* refuse notes down that the chain from bad on was refused, and answers its length. */
static __attribute__((noinline)) int refuse(struct weft_send *first, struct ibv_send_wr *bad, int e)
{
	int refused = 0;

	if (e < 0)
		e = errno ? errno : EIO;
	for (bad = bad ? bad : wr(first); bad; bad = bad->next) {
		((struct weft_send *)bad)->refused = e; /* its first member */
		refused++;
	}
	return refused;
}

/* post posts the chain that begins with a request and answers how many of it were refused. */
static inline int post(struct weft_send *first)
{
	struct ibv_send_wr *bad = NULL;
	int e = ibv_post_send((struct ibv_qp *)(uintptr_t)first->qp, wr(first), &bad);

	return e ? refuse(first, bad, e) : 0;
}

/* One chain, and with it one doorbell, for each queue pair in the batch. */
static int post_sends(struct weft_context *n, int count)
{
	uint64_t taken = 0;
	_Static_assert(WEFT_SENDS <= 64, "a bit for each");
	int refused = 0;

	for (int i = 0; i < count; i++) {
		if (taken >> i & 1)
			continue;
		struct weft_send *first = &n->sends[i], *last = first;
		for (int k = i + 1; k < count; k++) {
			if (taken >> k & 1 || n->sends[k].qp != first->qp)
				continue;
			taken |= (uint64_t)1 << k;
			wr(last)->next = wr(&n->sends[k]);
			last = &n->sends[k];
		}
		wr(last)->next = NULL;
		refused += post(first);
	}
	return refused;
}

static int post_recvs(struct weft_context *n, int count)
{
	struct ibv_recv_wr *bad;

	if (count <= 0)
		return 0;
	for (int i = 0; i < count; i++) {
		n->rsge[i].addr = n->slot_base + (uint64_t)n->recvs[i] * n->slot_size;
		n->rsge[i].length = n->slot_size;
		n->rsge[i].lkey = n->slot_lkey;
		n->rwr[i].wr_id = n->recvs[i];
		n->rwr[i].sg_list = &n->rsge[i];
		n->rwr[i].num_sge = 1;
		n->rwr[i].next = i + 1 < count ? &n->rwr[i + 1] : NULL;
	}
	return answer(ibv_post_srq_recv(n->srq, n->rwr, &bad), NULL, NULL);
}

static inline int poll(struct ibv_cq *cq, struct weft_done *out, int max)
{
	return ibv_poll_cq(cq, max, (struct ibv_wc *)out);
}

static __attribute__((noinline)) uint64_t post_poll(struct weft_context *n, int sends, int recvs, int max_recv,
					       int max_send, int looks)
{
	uint64_t refused = 0, e = post_recvs(n, recvs);
	int r = 0, s = 0;

	if (sends > 0)
		refused = post_sends(n, sends);
	do {
		if (max_recv > 0)
			r = poll(n->rcq, n->rdone, max_recv);
		if (max_send > 0)
			s = poll(n->scq, n->sdone, max_send);
	} while (!r && !s && --looks > 0);
	if (r < 0 || s < 0)
		e = EIO;
	if (r < 0)
		r = 0;
	if (s < 0)
		s = 0;
	return (uint64_t)r | (uint64_t)s << 16 | refused << 32 | (e & 0x7fff) << 48;
}

uint64_t weft_post_poll(struct weft_context *n, int sends, int recvs, int max_recv, int max_send,
		   int looks)
{
	/* The commonest calls by far: a message, and an operation with its end. */
	if (sends == 1 && !(recvs | max_recv)) {
		wr(n->sends)->next = NULL;
		uint64_t refused = (uint64_t)post(n->sends) << 32;
		if (!max_send)
			return refused;
		int s = poll(n->scq, n->sdone, max_send);
		return refused | (s < 0 ? (uint64_t)EIO << 48 : (uint64_t)s << 16);
	}
	return post_poll(n, sends, recvs, max_recv, max_send, looks);
}

int weft_req_notify(struct weft_context *n, int solicited)
{
	int e = answer(ibv_req_notify_cq(n->rcq, solicited), NULL, NULL);
	return e ? e : answer(ibv_req_notify_cq(n->scq, 0), NULL, NULL);
}

int weft_ack_events(struct weft_context *n)
{
	struct ibv_cq *cq;
	void *user;
	int c = 0;

	while (!weft_lib.get_cq_event(n->channel, &cq, &user)) {
		weft_lib.ack_cq_events(cq, 1);
		c++;
	}
	return c;
}

#endif
