//go:build cgo && linux

/* The path of messages: posting, polling and the doorbell. */

#include "shim_lib.h"

#ifdef WEFT_HAVE_VERBS

#include <arpa/inet.h>

static void fill(struct weft_nic *n, int i)
{
	static const uint8_t opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	struct weft_send *d = &n->sends[i];
	struct ibv_send_wr *w = &n->wr[i];
	struct ibv_sge *g = n->sge[i];

	w->wr_id = d->id;
	w->next = NULL;
	w->sg_list = g;
	w->num_sge = d->segments;
	w->opcode = opcodes[d->op];
	w->send_flags = (d->flags & 1 ? IBV_SEND_SIGNALED : 0) | (d->flags & 2 ? IBV_SEND_SOLICITED : 0) |
			(d->flags & 4 ? IBV_SEND_INLINE : 0);
	for (int k = 0; k < d->segments; k++) {
		g[k].addr = d->addr[k];
		g[k].length = d->length[k];
		g[k].lkey = d->lkey[k];
	}
	if (d->flags & 8)
		g[0].addr = (uintptr_t)d->own;
	if (d->op == 2)
		w->imm_data = htonl(d->note);
	if (d->op >= 4) {
		w->wr.atomic.remote_addr = d->remote;
		w->wr.atomic.compare_add = d->compare;
		w->wr.atomic.swap = d->swap;
		w->wr.atomic.rkey = d->rkey;
	} else {
		w->wr.rdma.remote_addr = d->remote;
		w->wr.rdma.rkey = d->rkey;
	}
}

/* post posts the chain that begins with request i and answers how many of it were refused. */
static int post(struct weft_nic *n, int i)
{
	struct ibv_send_wr *bad = NULL;
	int e = ibv_post_send((struct ibv_qp *)(uintptr_t)n->sends[i].qp, &n->wr[i], &bad), refused = 0;

	if (!e)
		return 0;
	if (e < 0)
		e = errno ? errno : EIO;
	if (!bad)
		bad = &n->wr[i];
	for (; bad; bad = bad->next) {
		n->sends[bad - n->wr].refused = e;
		refused++;
	}
	return refused;
}

/* One chain, and with it one doorbell, for each queue pair in the batch. */
static int post_sends(struct weft_nic *n, int count)
{
	uint64_t taken = 0;
	_Static_assert(WEFT_SENDS <= 64, "a bit for each");
	int refused = 0;

	for (int i = 0; i < count; i++) {
		if (taken >> i & 1)
			continue;
		struct ibv_send_wr *last = &n->wr[i];
		fill(n, i);
		for (int k = i + 1; k < count; k++) {
			if (taken >> k & 1 || n->sends[k].qp != n->sends[i].qp)
				continue;
			taken |= (uint64_t)1 << k;
			fill(n, k);
			last->next = &n->wr[k];
			last = &n->wr[k];
		}
		refused += post(n, i);
	}
	return refused;
}

static int post_recvs(struct weft_nic *n, int count)
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

static int poll(struct ibv_cq *cq, struct ibv_wc *wc, struct weft_done *out, int max)
{
	int c = ibv_poll_cq(cq, max, wc);

	for (int i = 0; i < c; i++) {
		out[i].id = wc[i].wr_id;
		out[i].qpn = wc[i].qp_num;
		out[i].status = wc[i].status;
		out[i].vendor = wc[i].vendor_err;
		out[i].bytes = wc[i].byte_len;
		out[i].noted = wc[i].opcode == IBV_WC_RECV_RDMA_WITH_IMM;
		out[i].note = ntohl(wc[i].imm_data);
	}
	return c;
}

static __attribute__((noinline)) uint64_t turn(struct weft_nic *n, int sends, int recvs, int max_recv,
					       int max_send, int looks)
{
	uint64_t refused = 0, e = post_recvs(n, recvs);
	int r = 0, s = 0;

	if (sends > 0)
		refused = post_sends(n, sends);
	do {
		if (max_recv > 0)
			r = poll(n->rcq, n->wc, n->rdone, max_recv);
		if (max_send > 0)
			s = poll(n->scq, n->wc, n->sdone, max_send);
	} while (!r && !s && --looks > 0);
	if (r < 0 || s < 0)
		e = EIO;
	if (r < 0)
		r = 0;
	if (s < 0)
		s = 0;
	return (uint64_t)r | (uint64_t)s << 16 | refused << 32 | (e & 0x7fff) << 48;
}

uint64_t weft_turn(struct weft_nic *n, int sends, int recvs, int max_recv, int max_send,
		   int looks)
{
	/* The commonest turns by far: a message, and an operation with its end. */
	if (sends == 1 && !(recvs | max_recv)) {
		fill(n, 0);
		uint64_t refused = (uint64_t)post(n, 0) << 32;
		if (!max_send)
			return refused;
		int s = poll(n->scq, n->wc, n->sdone, max_send);
		return refused | (s < 0 ? (uint64_t)EIO << 48 : (uint64_t)s << 16);
	}
	return turn(n, sends, recvs, max_recv, max_send, looks);
}

int weft_arm(struct weft_nic *n, int solicited)
{
	int e = answer(ibv_req_notify_cq(n->rcq, solicited), NULL, NULL);
	return e ? e : answer(ibv_req_notify_cq(n->scq, 0), NULL, NULL);
}

int weft_drain(struct weft_nic *n)
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
