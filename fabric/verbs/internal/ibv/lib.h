/* What the C files share. */

#ifndef WEFT_IBV_LIB_H
#define WEFT_IBV_LIB_H

#include "ibv.h"

#if defined(__has_include)
#if __has_include(<infiniband/verbs.h>) && UINTPTR_MAX == UINT64_MAX
#define WEFT_HAVE_VERBS 1
#endif
#endif

#include <errno.h>

#ifdef WEFT_HAVE_VERBS

#include <infiniband/verbs.h>
#include <stddef.h>

/* The functions of libibverbs that come from dlsym, which weft_load has found. */
struct weft_lib {
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
};

extern __attribute__((visibility("hidden"))) struct weft_lib weft_lib;

struct weft_context {
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
	struct ibv_recv_wr rwr[WEFT_RECVS];
	struct ibv_sge rsge[WEFT_RECVS];
};

static inline int failed(const char **err, const char *call)
{
	int e = errno;
	if (err)
		*err = call;
	return e ? e : EIO;
}

/* Calls that answer an errno, or -1 with errno. */
static inline int answer(int r, const char **err, const char *call)
{
	if (!r)
		return 0;
	if (err)
		*err = call;
	if (r > 0)
		return r;
	return errno ? errno : EIO;
}

#endif
#endif
