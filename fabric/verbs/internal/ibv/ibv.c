//go:build cgo && linux

/* Flat calls over libibverbs, which is opened at run time: devices and memory.
   The inline functions of its header that go through tables of the device's
   context (posting, polling, arming) need no symbol; the others come from
   dlsym. */

#include "lib.h"

#ifdef WEFT_HAVE_VERBS

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct weft_lib weft_lib;

static const char *load_error;
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void load(void)
{
	static const struct {
		const char *name;
		void *slot;
	} symbols[] = {
		{ "ibv_get_device_list", &weft_lib.get_list },
		{ "ibv_free_device_list", &weft_lib.free_list },
		{ "ibv_get_device_name", &weft_lib.name },
		{ "ibv_open_device", &weft_lib.open },
		{ "ibv_close_device", &weft_lib.close },
		{ "ibv_query_device", &weft_lib.query_device },
		{ "ibv_query_port", &weft_lib.query_port },
		{ "ibv_alloc_pd", &weft_lib.alloc_pd },
		{ "ibv_dealloc_pd", &weft_lib.dealloc_pd },
		{ "ibv_reg_mr", &weft_lib.reg },
		{ "ibv_dereg_mr", &weft_lib.dereg },
		{ "ibv_create_comp_channel", &weft_lib.create_channel },
		{ "ibv_destroy_comp_channel", &weft_lib.destroy_channel },
		{ "ibv_create_cq", &weft_lib.create_cq },
		{ "ibv_destroy_cq", &weft_lib.destroy_cq },
		{ "ibv_get_cq_event", &weft_lib.get_cq_event },
		{ "ibv_ack_cq_events", &weft_lib.ack_cq_events },
		{ "ibv_create_srq", &weft_lib.create_srq },
		{ "ibv_destroy_srq", &weft_lib.destroy_srq },
		{ "ibv_create_qp", &weft_lib.create_qp },
		{ "ibv_modify_qp", &weft_lib.modify_qp },
		{ "ibv_destroy_qp", &weft_lib.destroy_qp },
		{ "ibv_get_async_event", &weft_lib.get_async },
		{ "ibv_ack_async_event", &weft_lib.ack_async },
		{ "ibv_event_type_str", &weft_lib.event_name },
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
static int open_device(const char *device, struct ibv_context **out, const char **err)
{
	if (weft_load()) {
		*err = "dlopen";
		return ENOSYS;
	}
	errno = 0;
	struct ibv_device **list = weft_lib.get_list(NULL);
	if (!list)
		return failed(err, "ibv_get_device_list");
	*out = NULL;
	int found = 0;
	for (int i = 0; list[i]; i++) {
		if (strcmp(weft_lib.name(list[i]), device))
			continue;
		found = 1;
		errno = 0;
		*out = weft_lib.open(list[i]);
		break;
	}
	int e = errno;
	weft_lib.free_list(list);
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
		return weft_lib.query_port(ctx, port, attr);
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
	e = answer(weft_lib.query_device(ctx, &d), err, "ibv_query_device");
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
	weft_lib.close(ctx);
	return e;
}

static int nonblocking(int fd)
{
	int f = fcntl(fd, F_GETFL);
	return f < 0 ? f : fcntl(fd, F_SETFL, f | O_NONBLOCK);
}

int weft_open_device(const char *device, const struct weft_options *o, void *sends, void *recvs,
	      void *rdone, void *sdone, struct weft_context **out, const char **err)
{
	struct weft_context *n = calloc(1, sizeof *n);
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
	n->pd = weft_lib.alloc_pd(n->ctx);
	if (!n->pd) {
		e = failed(err, "ibv_alloc_pd");
		goto out;
	}
	n->channel = weft_lib.create_channel(n->ctx);
	if (!n->channel) {
		e = failed(err, "ibv_create_comp_channel");
		goto out;
	}
	if (nonblocking(n->channel->fd) || nonblocking(n->ctx->async_fd)) {
		e = failed(err, "fcntl");
		goto out;
	}
	n->rcq = weft_lib.create_cq(n->ctx, o->recv_cqe, NULL, n->channel, 0);
	if (n->rcq)
		n->scq = weft_lib.create_cq(n->ctx, o->send_cqe, NULL, n->channel, 0);
	if (!n->scq) {
		e = failed(err, "ibv_create_cq");
		goto out;
	}
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = o->srq_depth, .max_sge = 1 } };
	n->srq = weft_lib.create_srq(n->pd, &srq);
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

int weft_close(struct weft_context *n, const char **err)
{
	int e = 0;
	if (n->srq)
		e = answer(weft_lib.destroy_srq(n->srq), err, "ibv_destroy_srq");
	if (n->scq && !e)
		e = answer(weft_lib.destroy_cq(n->scq), err, "ibv_destroy_cq");
	if (n->rcq && !e)
		e = answer(weft_lib.destroy_cq(n->rcq), err, "ibv_destroy_cq");
	if (n->channel && !e)
		e = answer(weft_lib.destroy_channel(n->channel), err, "ibv_destroy_comp_channel");
	if (n->pd && !e)
		e = answer(weft_lib.dealloc_pd(n->pd), err, "ibv_dealloc_pd");
	/* With the file the kernel takes back whatever could not be destroyed, unless
	   the provider's library still maps a part of it. */
	if (n->ctx) {
		int c = answer(weft_lib.close(n->ctx), e ? NULL : err, "ibv_close_device");
		e = e ? e : c;
	}
	free(n);
	return e;
}

void weft_ring_slots(struct weft_context *n, uint64_t base, uint32_t size, uint32_t lkey)
{
	n->slot_base = base;
	n->slot_size = size;
	n->slot_lkey = lkey;
}
int weft_event_fd(struct weft_context *n) { return n->channel->fd; }

int weft_async_fd(struct weft_context *n) { return n->ctx->async_fd; }

int weft_async(struct weft_context *n, uint32_t *kind, uint32_t *qpn, const char **name)
{
	struct ibv_async_event ev;

	if (weft_lib.get_async(n->ctx, &ev))
		return 0;
	*kind = 0;
	*qpn = 0;
	*name = weft_lib.event_name(ev.event_type);
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
	weft_lib.ack_async(&ev);
	return 1;
}

int weft_reg_mr(struct weft_context *n, uint64_t addr, uint64_t len, uint32_t access,
		  uint64_t *mr, uint32_t *lkey, uint32_t *rkey)
{
	errno = 0;
	struct ibv_mr *m = weft_lib.reg(n->pd, (void *)(uintptr_t)addr, len, access);
	if (!m)
		return failed(NULL, NULL);
	*mr = (uintptr_t)m;
	*lkey = m->lkey;
	*rkey = m->rkey;
	return 0;
}

int weft_dereg_mr(struct weft_context *n, uint64_t mr)
{
	return answer(weft_lib.dereg((struct ibv_mr *)(uintptr_t)mr), NULL, NULL);
}

#endif
