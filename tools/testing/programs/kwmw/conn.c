// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwmw is a test program for memory windows, which are in the server's memory.
 * This file: connections, for server and client: creating their objects, posting, and waiting for
 * completions.
 */
#include "kwmw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void km_must(bool ok, const char *what)
{
	if (!ok)
		kw_die(KW_MISMATCH, "FAILED: %s (%s)", what, strerror(errno));
}

struct ibv_wc km_next_wc(struct ibv_cq *cq)
{
	int64_t until = kw_now_ms() + KM_EVENT_MS;
	struct ibv_wc wc;

	while (kw_now_ms() < until)
		if (ibv_poll_cq(cq, 1, &wc) > 0)
			return wc;
	kw_die(KW_STALL, "no completion");
}

void km_expect_wc(struct km_conn *c, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = km_next_wc(opcode == IBV_WC_RECV ? c->recv_cq : c->cq);

	if (wc.status != IBV_WC_SUCCESS || wc.opcode != opcode)
		kw_die(KW_MISMATCH, "FAILED: completion '%s', opcode %d instead of %d",
		       ibv_wc_status_str(wc.status), wc.opcode, opcode);
}

void km_post_recv(struct km_conn *c)
{
	struct ibv_sge sge = { (uintptr_t)&c->msg[1], sizeof(*c->msg), c->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	km_must(!ibv_post_recv(c->id->qp, &wr, &bad), "post a receive");
}

void km_post(struct km_conn *c, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int rv;

	wr->send_flags |= IBV_SEND_SIGNALED;
	rv = ibv_post_send(c->id->qp, wr, &bad);
	if (rv)
		kw_die(KW_MISMATCH, "FAILED: opcode %d: %s", wr->opcode, strerror(rv));
}

void km_post_msg(struct km_conn *c, enum ibv_wr_opcode opcode, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)&c->msg[0], sizeof(*c->msg), c->mr->lkey };
	struct ibv_send_wr wr = { .opcode = opcode, .sg_list = &sge, .num_sge = 1 };

	wr.invalidate_rkey = rkey;
	km_post(c, &wr);
}

void km_make_conn(struct km_conn *c, struct rdma_cm_id *id, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr a;

	c->id = id;
	c->cq = ibv_create_cq(id->verbs, 32, NULL, NULL, 0);
	c->recv_cq = ibv_create_cq(id->verbs, 32, NULL, NULL, 0);
	a = kw_qp_attr(c->cq, 8, 4, 1);
	a.recv_cq = c->recv_cq;
	if (!c->cq || !c->recv_cq || rdma_create_qp(id, pd, &a))
		kw_die(KW_SETUP, "cannot create the queues: %s", strerror(errno));
	c->msg = kw_zalloc(2 * sizeof(*c->msg));
	c->mr = ibv_reg_mr(id->qp->pd, c->msg, 2 * sizeof(*c->msg), IBV_ACCESS_LOCAL_WRITE);
	km_must(c->mr, "register messages");
	km_post_recv(c);
}

void km_drop_conn(struct km_conn *c)
{
	rdma_destroy_qp(c->id);
	km_must(!ibv_destroy_cq(c->cq) && !ibv_destroy_cq(c->recv_cq) && !ibv_dereg_mr(c->mr),
		"destroy a connection's objects");
	free(c->msg);
	kwcm_destroy(c->id);
}
