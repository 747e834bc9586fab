// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfault is a test program that lets the n-th allocation of a call fail, for n = 1, 2, ...
 * This file: each verb in turn.
 *
 * A verb that creates an object may fail: with ENOMEM, or with EFAULT if a copy from or to the
 * program fails. Then no object may be left, and the next attempt has to work as if the failed one
 * had not happened. A verb that destroys or posts has to succeed, because freeing memory must not
 * need memory.
 */
#include "kwcm.h"
#include "kwfault.h"
#include "kwtest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS	60000
#define MOST_POINTS	2000
#define ALL_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND)

/**
 * struct env - objects for the calls
 * @id: id with queue pair @qp; for verbs that need a connection, connected to a server (kwconn)
 * @pd, @cq, @mr, @qp: working objects
 * @buf: @len octets
 * @obj: the object of the call that is being tried
 */
struct env {
	struct rdma_cm_id *id;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_comp_channel *comp;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	uint8_t *buf;
	size_t len;
	void *obj;
};

/**
 * struct verb - a verb to try
 * @name: name of the case
 * @prepare: makes the object that the verb needs; NULL: it needs none. No fault is injected.
 * @call: the verb itself; returns 0 or errno. Here one allocation fails.
 * @undo: called after success and, if there is @prepare, after failure. No fault is injected.
 * @must: the verb has to succeed
 */
struct verb {
	const char *name;
	int (*prepare)(struct env *e);
	int (*call)(struct env *e);
	int (*undo)(struct env *e);
	bool must;
};

/* Store the created object in @obj. Return: 0, or errno if there is none. */
static int made(struct env *e, void *obj)
{
	e->obj = obj;
	return obj ? 0 : errno ? errno : EINVAL;
}

static int nothing(struct env *e)
{
	return 0;
}

static int open_dev(struct env *e)
{
	return made(e, ibv_open_device(e->verbs->device));
}

static int close_dev(struct env *e)
{
	return ibv_close_device(e->obj) ? errno : 0;
}

static int query_dev(struct env *e)
{
	struct ibv_device_attr attr;

	return ibv_query_device(e->verbs, &attr);
}

static int query_port(struct env *e)
{
	struct ibv_port_attr attr;

	return ibv_query_port(e->verbs, 1, &attr);
}

static int alloc_pd(struct env *e)
{
	return made(e, ibv_alloc_pd(e->verbs));
}

static int dealloc_pd(struct env *e)
{
	return ibv_dealloc_pd(e->obj);
}

static int reg_small(struct env *e)
{
	return made(e, ibv_reg_mr(e->pd, e->buf + 1, 1000, ALL_ACCESS));
}

static int reg_medium(struct env *e)
{
	return made(e, ibv_reg_mr(e->pd, e->buf, 65536, ALL_ACCESS));
}

static int reg_large(struct env *e)
{
	return made(e, ibv_reg_mr(e->pd, e->buf, e->len, ALL_ACCESS));
}

static int dereg(struct env *e)
{
	return ibv_dereg_mr(e->obj);
}

static int create_cq(struct env *e)
{
	return made(e, ibv_create_cq(e->verbs, 16, NULL, NULL, 0));
}

static int create_large_cq(struct env *e)
{
	return made(e, ibv_create_cq(e->verbs, 2000, NULL, e->comp, 0));
}

static int arm_cq(struct env *e)
{
	return ibv_req_notify_cq(e->obj, 0);
}

static int resize_up(struct env *e)
{
	return ibv_resize_cq(e->obj, 1000);
}

static int resize_down(struct env *e)
{
	return ibv_resize_cq(e->obj, 8);
}

static int destroy_cq(struct env *e)
{
	return ibv_destroy_cq(e->obj);
}

static int create_srq(struct env *e)
{
	struct ibv_srq_init_attr a = { .attr = { .max_wr = 500, .max_sge = 4 } };

	return made(e, ibv_create_srq(e->pd, &a));
}

static int modify_srq(struct env *e)
{
	struct ibv_srq_attr a = { .srq_limit = 1 };

	return ibv_modify_srq(e->obj, &a, IBV_SRQ_LIMIT);
}

static int query_srq(struct env *e)
{
	struct ibv_srq_attr a;

	return ibv_query_srq(e->obj, &a);
}

static int destroy_srq(struct env *e)
{
	return ibv_destroy_srq(e->obj);
}

static int create_qp_of(struct env *e, unsigned int wr, unsigned int sge)
{
	struct ibv_qp_init_attr a = kw_qp_attr(e->cq, wr, wr, sge);

	return made(e, ibv_create_qp(e->pd, &a));
}

static int create_qp(struct env *e)
{
	return create_qp_of(e, 4, 1);
}

static int create_large_qp(struct env *e)
{
	return create_qp_of(e, 300, 4);
}

static int qp_to_error(struct env *e)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };

	return ibv_modify_qp(e->obj, &a, IBV_QP_STATE);
}

static int query_qp(struct env *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	return ibv_query_qp(e->obj, &a, IBV_QP_STATE, &init);
}

static int destroy_qp(struct env *e)
{
	return ibv_destroy_qp(e->obj);
}

static int alloc_mw(struct env *e)
{
	return made(e, ibv_alloc_mw(e->pd, IBV_MW_TYPE_2));
}

static int dealloc_mw(struct env *e)
{
	return ibv_dealloc_mw(e->obj);
}

/* ------------------------------------------------------- on a connection */

static bool completed(struct env *e)
{
	int64_t until = kw_now_ms() + CONNECT_MS;
	struct ibv_wc wc;

	while (kw_now_ms() < until)
		if (ibv_poll_cq(e->cq, 1, &wc) > 0)
			return wc.status == IBV_WC_SUCCESS;
	return false;
}

static int post(struct env *e, uint32_t len, unsigned int flags)
{
	struct ibv_sge sge = { .addr = (uintptr_t)e->buf, .length = len, .lkey = e->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED | flags,
	};
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = &sge, .num_sge = 1 };
	int ret = ibv_post_recv(e->qp, &recv, &bad_recv);

	return ret ? ret : ibv_post_send(e->qp, &wr, &bad);
}

static int post_small(struct env *e)
{
	return post(e, 64, 0);
}

/* Wait until the Send is complete, and the answer has arrived. */
static int echoed(struct env *e)
{
	return completed(e) && completed(e) ? 0 : EIO;
}

static int post_bind(struct env *e)
{
	struct ibv_mw *mw = e->obj;
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = {
				.mr = e->mr, .addr = (uintptr_t)e->buf, .length = 4096,
				.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
			},
		},
	};

	return ibv_post_send(e->qp, &wr, &bad);
}

static int bound(struct env *e)
{
	return completed(e) ? dealloc_mw(e) : EIO;
}

static int disconnect(struct env *e)
{
	return rdma_disconnect(e->id) ? errno : 0;
}

static const struct verb verbs[] = {
	{ "open-device", NULL, open_dev, close_dev, false },
	{ "close-device", open_dev, close_dev, nothing, true },
	{ "query-device", NULL, query_dev, nothing, false },
	{ "query-port", NULL, query_port, nothing, false },
	{ "alloc-pd", NULL, alloc_pd, dealloc_pd, false },
	{ "dealloc-pd", alloc_pd, dealloc_pd, nothing, true },
	{ "reg-mr-small", NULL, reg_small, dereg, false },
	{ "reg-mr-medium", NULL, reg_medium, dereg, false },
	{ "reg-mr-large", NULL, reg_large, dereg, false },
	{ "dereg-mr", reg_large, dereg, nothing, true },
	{ "create-cq", NULL, create_cq, destroy_cq, false },
	{ "create-cq-large", NULL, create_large_cq, destroy_cq, false },
	{ "req-notify-cq", create_large_cq, arm_cq, destroy_cq, false },
	{ "resize-cq-up", create_cq, resize_up, destroy_cq, false },
	{ "resize-cq-down", create_large_cq, resize_down, destroy_cq, false },
	{ "destroy-cq", create_large_cq, destroy_cq, nothing, true },
	{ "create-srq", NULL, create_srq, destroy_srq, false },
	{ "modify-srq", create_srq, modify_srq, destroy_srq, false },
	{ "query-srq", create_srq, query_srq, destroy_srq, false },
	{ "destroy-srq", create_srq, destroy_srq, nothing, true },
	{ "create-qp", NULL, create_qp, destroy_qp, false },
	{ "create-qp-large", NULL, create_large_qp, destroy_qp, false },
	{ "modify-qp", create_qp, qp_to_error, destroy_qp, false },
	{ "query-qp", create_qp, query_qp, destroy_qp, false },
	{ "destroy-qp", create_large_qp, destroy_qp, nothing, true },
	{ "alloc-mw", NULL, alloc_mw, dealloc_mw, false },
	{ "dealloc-mw", alloc_mw, dealloc_mw, nothing, true },
};

static const struct verb connected[] = {
	{ "bind-mw", alloc_mw, post_bind, bound, true },
	/* The server, kwconn, sends the message back. */
	{ "post-send", NULL, post_small, echoed, true },
	{ "disconnect", NULL, disconnect, nothing, true },
};

/* Call the verb with one fault. Return: was there an @n-th allocation, which failed? */
static bool one_point(struct env *e, const struct verb *v, unsigned int n, struct kf_count *c,
		      unsigned int *wrong)
{
	bool hit;
	int ret;

	if (v->prepare && v->prepare(e))
		kw_die(KW_MISMATCH, "FAILED %s, point %u: what it needs cannot be made: %s",
		       v->name, n, strerror(errno));
	errno = 0;
	kf_arm(n);
	ret = v->call(e);
	hit = kf_disarm();
	c->points += hit;
	c->refused += hit && ret;
	c->survived += hit && !ret;
	if (ret && (v->must || !hit || (ret != ENOMEM && ret != EFAULT))) {
		kw_say("FAILED %s, point %u: %s", v->name, n, strerror(ret));
		++*wrong;
		/* Call again without a fault: now the verb, such as a destroy, has to succeed. */
		if (v->must && v->call(e))
			kw_die(KW_MISMATCH, "FAILED %s, once more", v->name);
		ret = 0;
	}
	if ((!ret || v->prepare) && v->undo(e))
		kw_die(KW_MISMATCH, "FAILED %s, point %u: it cannot be undone", v->name, n);
	return hit;
}

static void one_verb(struct env *e, const struct verb *v, unsigned int *wrong)
{
	struct kf_count c = { 0 };
	char before[512], after[512];
	unsigned int n = 1;

	kw_count_objects(ibv_get_device_name(e->verbs->device), before, sizeof(before));
	while (one_point(e, v, n, &c, wrong))
		if (++n > MOST_POINTS)
			kw_die(KW_STALL, "FAILED %s: no end after %u points", v->name, n);
	kw_count_objects(ibv_get_device_name(e->verbs->device), after, sizeof(after));
	if (strcmp(before, after)) {
		kw_say("FAILED %s left objects:\n  before %s  after  %s", v->name, before, after);
		++*wrong;
	}
	kf_report(v->name, &c);
}

static void set_up(struct env *e, const char *addr, const char *port, size_t large)
{
	struct ibv_qp_init_attr a;

	e->id = kwcm_resolve(addr, port);
	e->verbs = e->id->verbs;
	e->len = large;
	e->buf = kw_zalloc(large);
	memset(e->buf, 1, large);
	e->pd = ibv_alloc_pd(e->verbs);
	e->comp = ibv_create_comp_channel(e->verbs);
	e->cq = ibv_create_cq(e->verbs, 64, NULL, NULL, 0);
	e->mr = e->pd ? ibv_reg_mr(e->pd, e->buf, 65536, ALL_ACCESS) : NULL;
	a = kw_qp_attr(e->cq, 16, 16, 1);
	if (!e->comp || !e->cq || !e->mr || rdma_create_qp(e->id, e->pd, &a))
		kw_die(KW_SETUP, "cannot set up: %s", strerror(errno));
	e->qp = e->id->qp;
}

static void tear_down(struct env *e)
{
	rdma_destroy_qp(e->id);
	if (ibv_destroy_cq(e->cq) || ibv_dereg_mr(e->mr) || ibv_dealloc_pd(e->pd) ||
	    ibv_destroy_comp_channel(e->comp))
		kw_die(KW_MISMATCH, "FAILED: cannot destroy the good objects: %s", strerror(errno));
	kwcm_destroy(e->id);
	free(e->buf);
}

/* Like one_point(), on a new connection, which ends afterwards. */
static bool connected_point(const char *addr, const char *port, const struct verb *v,
			    unsigned int n, struct kf_count *c, unsigned int *wrong)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct env e = { 0 };
	struct kwcm_event ev;
	bool hit;

	set_up(&e, addr, port, 65536);
	if (rdma_connect(e.id, &param) ||
	    kwcm_expect(e.id->channel, RDMA_CM_EVENT_ESTABLISHED, CONNECT_MS, &ev))
		kw_die(KW_LOST, "FAILED %s, point %u: cannot connect", v->name, n);
	hit = one_point(&e, v, n, c, wrong);
	if (rdma_disconnect(e.id) && errno != EINVAL)
		kw_say("disconnect: %s", strerror(errno));
	if (kwcm_expect(e.id->channel, RDMA_CM_EVENT_DISCONNECTED, CONNECT_MS, &ev))
		++*wrong;
	tear_down(&e);
	return hit;
}

unsigned int kf_verbs(const char *addr, const char *port, unsigned int large)
{
	unsigned int i, n, wrong = 0;
	struct env e = { 0 };

	set_up(&e, addr, port, large);
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		one_verb(&e, &verbs[i], &wrong);
	tear_down(&e);
	for (i = 0; i < ARRAY_SIZE(connected); i++) {
		struct kf_count c = { 0 };

		for (n = 1; connected_point(addr, port, &connected[i], n, &c, &wrong); n++)
			if (n > MOST_POINTS)
				kw_die(KW_STALL, "FAILED %s: no end", connected[i].name);
		kf_report(connected[i].name, &c);
	}
	return wrong;
}
