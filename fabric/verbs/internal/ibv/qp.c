//go:build cgo && linux

/* Queue pairs. */

#include "lib.h"

#ifdef WEFT_HAVE_VERBS

#include <string.h>

int weft_create_qp(struct weft_context *n, uint64_t *qp, uint32_t *number, uint32_t *inline_bytes, const char **err)
{
	struct ibv_qp_init_attr a = {
		.send_cq = n->scq, .recv_cq = n->rcq, .srq = n->srq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = n->o.send_depth, .max_send_sge = 2, .max_inline_data = n->o.inline_bytes },
	};
	errno = 0;
	struct ibv_qp *q = weft_lib.create_qp(n->pd, &a);
	if (!q) {
		/* The device may not take so much inline. */
		a.cap.max_send_wr = n->o.send_depth;
		a.cap.max_send_sge = 2;
		a.cap.max_inline_data = 0;
		q = weft_lib.create_qp(n->pd, &a);
	}
	if (!q)
		return failed(err, "ibv_create_qp");
	struct ibv_qp_attr m = {
		.qp_state = IBV_QPS_INIT, .pkey_index = 0, .port_num = n->o.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
	};
	int e = answer(weft_lib.modify_qp(q, &m, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		       err, "ibv_modify_qp to INIT");
	if (e) {
		weft_lib.destroy_qp(q);
		return e;
	}
	*qp = (uintptr_t)q;
	*number = q->qp_num;
	*inline_bytes = a.cap.max_inline_data;
	return 0;
}

int weft_connect_qp(struct weft_context *n, uint64_t qp, const struct weft_path *p, const char **err)
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
	int e = answer(weft_lib.modify_qp(q, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		       err, "ibv_modify_qp to RTR");
	if (e)
		return e;
	struct ibv_qp_attr s = {
		.qp_state = IBV_QPS_RTS, .sq_psn = p->my_psn, .timeout = n->o.ack_timeout,
		.retry_cnt = n->o.ack_retries, .rnr_retry = 7, .max_rd_atomic = p->reads,
	};
	return answer(weft_lib.modify_qp(q, &s, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
		      err, "ibv_modify_qp to RTS");
}

int weft_fail_qp(struct weft_context *n, uint64_t qp)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };
	return answer(weft_lib.modify_qp((struct ibv_qp *)(uintptr_t)qp, &a, IBV_QP_STATE), NULL, NULL);
}

int weft_destroy_qp(struct weft_context *n, uint64_t qp)
{
	return answer(weft_lib.destroy_qp((struct ibv_qp *)(uintptr_t)qp), NULL, NULL);
}

#endif
