//go:build cgo && linux

/* Flat calls over libibverbs, which is opened at run time. The inline
   functions of its header that go through tables of the device's context
   (posting, polling, arming) need no symbol; the others come from dlsym. */

#include "shim.h"

#include <errno.h>
#include <stddef.h>

#if defined(__has_include)
#if __has_include(<infiniband/verbs.h>)
#define WEFT_HAVE_VERBS 1
#endif
#endif

#ifdef WEFT_HAVE_VERBS

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
	struct ibv_device **(*get_list)(int *);
	void (*free_list)(struct ibv_device **);
	const char *(*name)(struct ibv_device *);
	struct ibv_context *(*open)(struct ibv_device *);
	int (*close)(struct ibv_context *);
	int (*query_device)(struct ibv_context *, struct ibv_device_attr *);
	int (*query_port)(struct ibv_context *, uint8_t, void *);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *);
	int (*dealloc_pd)(struct ibv_pd *);
	struct ibv_mr *(*reg)(struct ibv_pd *, void *, size_t, int);
	int (*dereg)(struct ibv_mr *);
	struct ibv_comp_channel *(*create_channel)(struct ibv_context *);
	int (*destroy_channel)(struct ibv_comp_channel *);
	struct ibv_cq *(*create_cq)(struct ibv_context *, int, void *, struct ibv_comp_channel *, int);
	int (*destroy_cq)(struct ibv_cq *);
	int (*get_cq_event)(struct ibv_comp_channel *, struct ibv_cq **, void **);
	void (*ack_cq_events)(struct ibv_cq *, unsigned int);
	struct ibv_srq *(*create_srq)(struct ibv_pd *, struct ibv_srq_init_attr *);
	int (*destroy_srq)(struct ibv_srq *);
	struct ibv_qp *(*create_qp)(struct ibv_pd *, struct ibv_qp_init_attr *);
	int (*modify_qp)(struct ibv_qp *, struct ibv_qp_attr *, int);
	int (*destroy_qp)(struct ibv_qp *);
	int (*get_async)(struct ibv_context *, struct ibv_async_event *);
	void (*ack_async)(struct ibv_async_event *);
	const char *(*event_name)(enum ibv_event_type);
} lib;

static const char *load_error;
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void load(void)
{
	static const struct {
		const char *name;
		void *slot;
	} symbols[] = {
		{ "ibv_get_device_list", &lib.get_list },
		{ "ibv_free_device_list", &lib.free_list },
		{ "ibv_get_device_name", &lib.name },
		{ "ibv_open_device", &lib.open },
		{ "ibv_close_device", &lib.close },
		{ "ibv_query_device", &lib.query_device },
		{ "ibv_query_port", &lib.query_port },
		{ "ibv_alloc_pd", &lib.alloc_pd },
		{ "ibv_dealloc_pd", &lib.dealloc_pd },
		{ "ibv_reg_mr", &lib.reg },
		{ "ibv_dereg_mr", &lib.dereg },
		{ "ibv_create_comp_channel", &lib.create_channel },
		{ "ibv_destroy_comp_channel", &lib.destroy_channel },
		{ "ibv_create_cq", &lib.create_cq },
		{ "ibv_destroy_cq", &lib.destroy_cq },
		{ "ibv_get_cq_event", &lib.get_cq_event },
		{ "ibv_ack_cq_events", &lib.ack_cq_events },
		{ "ibv_create_srq", &lib.create_srq },
		{ "ibv_destroy_srq", &lib.destroy_srq },
		{ "ibv_create_qp", &lib.create_qp },
		{ "ibv_modify_qp", &lib.modify_qp },
		{ "ibv_destroy_qp", &lib.destroy_qp },
		{ "ibv_get_async_event", &lib.get_async },
		{ "ibv_ack_async_event", &lib.ack_async },
		{ "ibv_event_type_str", &lib.event_name },
	};
	void *so = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (!so) {
		const char *why = dlerror();
		load_error = why ? strdup(why) : "dlopen of libibverbs.so.1 failed";
		return;
	}
	for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
		void *p = dlsym(so, symbols[i].name);
		if (!p) {
			const char *why = dlerror();
			load_error = why ? strdup(why) : symbols[i].name;
			return;
		}
		memcpy(symbols[i].slot, &p, sizeof p);
	}
}

const char *weft_load(void)
{
	pthread_once(&load_once, load);
	return load_error;
}

struct weft_nic {
	struct weft_options o;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *rcq, *scq;
	struct ibv_srq *srq;
	struct weft_send *sends;
	uint32_t *recvs;
	struct weft_done *rdone, *sdone;
	uint64_t slot_base;
	uint32_t slot_size, slot_lkey;
	struct ibv_send_wr wr[WEFT_SENDS];
	struct ibv_sge sge[WEFT_SENDS][2];
	struct ibv_recv_wr rwr[WEFT_RECVS];
	struct ibv_sge rsge[WEFT_RECVS];
	struct ibv_wc wc[WEFT_DONES];
};

static int failed(const char **err, const char *call)
{
	int e = errno;
	if (err)
		*err = call;
	return e ? e : EIO;
}

/* Calls that answer an errno, or -1 with errno. */
static int answer(int r, const char **err, const char *call)
{
	if (!r)
		return 0;
	if (err)
		*err = call;
	if (r > 0)
		return r;
	return errno ? errno : EIO;
}

static int open_device(const char *device, struct ibv_context **out, const char **err)
{
	if (weft_load()) {
		*err = "dlopen";
		return ENOSYS;
	}
	errno = 0;
	struct ibv_device **list = lib.get_list(NULL);
	if (!list)
		return failed(err, "ibv_get_device_list");
	*out = NULL;
	int found = 0;
	for (int i = 0; list[i]; i++) {
		if (strcmp(lib.name(list[i]), device))
			continue;
		found = 1;
		errno = 0;
		*out = lib.open(list[i]);
		break;
	}
	int e = errno;
	lib.free_list(list);
	if (*out)
		return 0;
	*err = found ? "ibv_open_device" : "ibv_get_device_list";
	return found ? (e ? e : EIO) : ENODEV;
}

/* What ibv_query_port of the header does, with the library's call looked up. */
static int query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr)
{
	struct verbs_context *v = verbs_get_ctx_op(ctx, query_port);
	memset(attr, 0, sizeof *attr);
	if (!v)
		return lib.query_port(ctx, port, attr);
	return v->query_port(ctx, port, attr, sizeof *attr);
}

int weft_query(const char *device, uint32_t port, struct weft_attr *out, const char **err)
{
	struct ibv_context *ctx;
	int e = open_device(device, &ctx, err);
	if (e)
		return e;
	struct ibv_device_attr d;
	struct ibv_port_attr p;
	memset(&d, 0, sizeof d);
	e = answer(lib.query_device(ctx, &d), err, "ibv_query_device");
	if (!e)
		e = answer(query_port(ctx, port, &p), err, "ibv_query_port");
	if (!e) {
		memset(out, 0, sizeof *out);
		out->max_mr_size = d.max_mr_size;
		out->max_qp = d.max_qp;
		out->max_cqe = d.max_cqe;
		out->max_srq_wr = d.max_srq_wr;
		out->max_mr = d.max_mr;
		out->max_rd_atom = d.max_qp_rd_atom;
		out->max_init_rd_atom = d.max_qp_init_rd_atom;
		out->atomics = d.atomic_cap == IBV_ATOMIC_NONE ? 0 : d.atomic_cap == IBV_ATOMIC_HCA ? 1 : 2;
		out->vendor_id = d.vendor_id;
		out->part_id = d.vendor_part_id;
		out->max_msg = p.max_msg_sz;
		out->state = p.state;
		out->max_mtu = p.max_mtu;
		out->active_mtu = p.active_mtu;
		out->lid = p.lid;
		out->link_layer = p.link_layer;
		out->gids = p.gid_tbl_len;
		memcpy(out->fw, d.fw_ver, sizeof out->fw - 1);
	}
	lib.close(ctx);
	return e;
}

static int nonblocking(int fd)
{
	int f = fcntl(fd, F_GETFL);
	return f < 0 ? f : fcntl(fd, F_SETFL, f | O_NONBLOCK);
}

int weft_open(const char *device, const struct weft_options *o, void *sends, void *recvs,
	      void *rdone, void *sdone, struct weft_nic **out, const char **err)
{
	struct weft_nic *n = calloc(1, sizeof *n);
	if (!n)
		return failed(err, "calloc");
	n->o = *o;
	n->sends = sends;
	n->recvs = recvs;
	n->rdone = rdone;
	n->sdone = sdone;
	int e = open_device(device, &n->ctx, err);
	if (e)
		goto out;
	errno = 0;
	n->pd = lib.alloc_pd(n->ctx);
	if (!n->pd) {
		e = failed(err, "ibv_alloc_pd");
		goto out;
	}
	n->channel = lib.create_channel(n->ctx);
	if (!n->channel) {
		e = failed(err, "ibv_create_comp_channel");
		goto out;
	}
	if (nonblocking(n->channel->fd) || nonblocking(n->ctx->async_fd)) {
		e = failed(err, "fcntl");
		goto out;
	}
	n->rcq = lib.create_cq(n->ctx, o->recv_cqe, NULL, n->channel, 0);
	if (n->rcq)
		n->scq = lib.create_cq(n->ctx, o->send_cqe, NULL, n->channel, 0);
	if (!n->scq) {
		e = failed(err, "ibv_create_cq");
		goto out;
	}
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = o->srq_depth, .max_sge = 1 } };
	n->srq = lib.create_srq(n->pd, &srq);
	if (!n->srq) {
		e = failed(err, "ibv_create_srq");
		goto out;
	}
	*out = n;
	return 0;
out:
	weft_close(n, NULL);
	return e;
}

int weft_close(struct weft_nic *n, const char **err)
{
	int e = 0;
	if (n->srq)
		e = answer(lib.destroy_srq(n->srq), err, "ibv_destroy_srq");
	if (n->scq && !e)
		e = answer(lib.destroy_cq(n->scq), err, "ibv_destroy_cq");
	if (n->rcq && !e)
		e = answer(lib.destroy_cq(n->rcq), err, "ibv_destroy_cq");
	if (n->channel && !e)
		e = answer(lib.destroy_channel(n->channel), err, "ibv_destroy_comp_channel");
	if (n->pd && !e)
		e = answer(lib.dealloc_pd(n->pd), err, "ibv_dealloc_pd");
	/* The kernel takes back whatever could not be destroyed. */
	if (n->ctx && !e)
		e = answer(lib.close(n->ctx), err, "ibv_close_device");
	free(n);
	return e;
}

void weft_slots(struct weft_nic *n, uint64_t base, uint32_t size, uint32_t lkey)
{
	n->slot_base = base;
	n->slot_size = size;
	n->slot_lkey = lkey;
}

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

	while (!lib.get_cq_event(n->channel, &cq, &user)) {
		lib.ack_cq_events(cq, 1);
		c++;
	}
	return c;
}

int weft_event_fd(struct weft_nic *n) { return n->channel->fd; }

int weft_async_fd(struct weft_nic *n) { return n->ctx->async_fd; }

int weft_async(struct weft_nic *n, uint32_t *kind, uint32_t *qpn, const char **name)
{
	struct ibv_async_event ev;

	if (lib.get_async(n->ctx, &ev))
		return 0;
	*kind = 0;
	*qpn = 0;
	*name = lib.event_name(ev.event_type);
	switch (ev.event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		*kind = 1;
		*qpn = ev.element.qp->qp_num;
		break;
	case IBV_EVENT_PORT_ERR:
		*kind = ev.element.port_num == (int)n->o.port ? 2 : 0;
		break;
	case IBV_EVENT_PORT_ACTIVE:
		*kind = ev.element.port_num == (int)n->o.port ? 3 : 0;
		break;
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_SRQ_ERR:
		*kind = 4;
		break;
	default:
		break;
	}
	lib.ack_async(&ev);
	return 1;
}

int weft_register(struct weft_nic *n, uint64_t addr, uint64_t len, uint32_t access,
		  uint64_t *mr, uint32_t *lkey, uint32_t *rkey)
{
	errno = 0;
	struct ibv_mr *m = lib.reg(n->pd, (void *)(uintptr_t)addr, len, access);
	if (!m)
		return failed(NULL, NULL);
	*mr = (uintptr_t)m;
	*lkey = m->lkey;
	*rkey = m->rkey;
	return 0;
}

int weft_deregister(struct weft_nic *n, uint64_t mr)
{
	return answer(lib.dereg((struct ibv_mr *)(uintptr_t)mr), NULL, NULL);
}

int weft_qp_create(struct weft_nic *n, uint64_t *qp, uint32_t *number, uint32_t *inline_bytes, const char **err)
{
	struct ibv_qp_init_attr a = {
		.send_cq = n->scq, .recv_cq = n->rcq, .srq = n->srq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = n->o.send_depth, .max_send_sge = 2, .max_inline_data = n->o.inline_bytes },
	};
	errno = 0;
	struct ibv_qp *q = lib.create_qp(n->pd, &a);
	if (!q) {
		/* The device may not take so much inline. */
		a.cap.max_send_wr = n->o.send_depth;
		a.cap.max_send_sge = 2;
		a.cap.max_inline_data = 0;
		q = lib.create_qp(n->pd, &a);
	}
	if (!q)
		return failed(err, "ibv_create_qp");
	struct ibv_qp_attr m = {
		.qp_state = IBV_QPS_INIT, .pkey_index = 0, .port_num = n->o.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
	};
	int e = answer(lib.modify_qp(q, &m, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		       err, "ibv_modify_qp to INIT");
	if (e) {
		lib.destroy_qp(q);
		return e;
	}
	*qp = (uintptr_t)q;
	*number = q->qp_num;
	*inline_bytes = a.cap.max_inline_data;
	return 0;
}

int weft_qp_connect(struct weft_nic *n, uint64_t qp, const struct weft_path *p, const char **err)
{
	struct ibv_qp *q = (struct ibv_qp *)(uintptr_t)qp;
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR, .path_mtu = p->mtu, .dest_qp_num = p->qpn, .rq_psn = p->psn,
		.max_dest_rd_atomic = p->answers, .min_rnr_timer = 12,
		.ah_attr = { .dlid = p->lid, .sl = n->o.service_level, .port_num = n->o.port, .is_global = n->o.global },
	};
	if (n->o.global) {
		memcpy(&a.ah_attr.grh.dgid, p->gid, sizeof p->gid);
		a.ah_attr.grh.sgid_index = n->o.gid_index;
		a.ah_attr.grh.hop_limit = 64;
		a.ah_attr.grh.traffic_class = n->o.traffic_class;
	}
	int e = answer(lib.modify_qp(q, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		       err, "ibv_modify_qp to RTR");
	if (e)
		return e;
	struct ibv_qp_attr s = {
		.qp_state = IBV_QPS_RTS, .sq_psn = p->my_psn, .timeout = n->o.ack_timeout,
		.retry_cnt = n->o.ack_retries, .rnr_retry = 7, .max_rd_atomic = p->reads,
	};
	return answer(lib.modify_qp(q, &s, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
		      err, "ibv_modify_qp to RTS");
}

int weft_qp_fail(struct weft_nic *n, uint64_t qp)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };
	return answer(lib.modify_qp((struct ibv_qp *)(uintptr_t)qp, &a, IBV_QP_STATE), NULL, NULL);
}

int weft_qp_destroy(struct weft_nic *n, uint64_t qp)
{
	return answer(lib.destroy_qp((struct ibv_qp *)(uintptr_t)qp), NULL, NULL);
}

#else

const char *weft_load(void)
{
	return "this program was built without the headers of libibverbs (Debian: libibverbs-dev)";
}

int weft_query(const char *device, uint32_t port, struct weft_attr *out, const char **err) { return ENOSYS; }
int weft_open(const char *device, const struct weft_options *o, void *sends, void *recvs,
	      void *rdone, void *sdone, struct weft_nic **out, const char **err) { return ENOSYS; }
int weft_close(struct weft_nic *n, const char **err) { return ENOSYS; }
void weft_slots(struct weft_nic *n, uint64_t base, uint32_t size, uint32_t lkey) {}
uint64_t weft_turn(struct weft_nic *n, int sends, int recvs, int max_recv, int max_send,
		   int looks) { return 0; }
int weft_arm(struct weft_nic *n, int solicited) { return ENOSYS; }
int weft_drain(struct weft_nic *n) { return 0; }
int weft_event_fd(struct weft_nic *n) { return -1; }
int weft_async_fd(struct weft_nic *n) { return -1; }
int weft_async(struct weft_nic *n, uint32_t *kind, uint32_t *qpn, const char **name) { return 0; }
int weft_register(struct weft_nic *n, uint64_t addr, uint64_t len, uint32_t access,
		  uint64_t *mr, uint32_t *lkey, uint32_t *rkey) { return ENOSYS; }
int weft_deregister(struct weft_nic *n, uint64_t mr) { return ENOSYS; }
int weft_qp_create(struct weft_nic *n, uint64_t *qp, uint32_t *number, uint32_t *inline_bytes,
		   const char **err) { return ENOSYS; }
int weft_qp_connect(struct weft_nic *n, uint64_t qp, const struct weft_path *p, const char **err) { return ENOSYS; }
int weft_qp_fail(struct weft_nic *n, uint64_t qp) { return ENOSYS; }
int weft_qp_destroy(struct weft_nic *n, uint64_t qp) { return ENOSYS; }

#endif
