// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwverbs is a test program: every wrong call must fail with the right errno, and change nothing.
 * This file: wrong work requests. The post itself has to refuse each of them, with bad_wr set to
 * the wrong request, and the connection has to survive.
 */
#include "kwverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool kv_completion(struct kv_env *e, struct ibv_wc *wc)
{
	int64_t until = kw_now_ms() + 2000;

	while (kw_now_ms() < until)
		if (ibv_poll_cq(e->cq, 1, wc) > 0)
			return true;
	return false;
}

#define MANY_SGES	64
#define ECHO_LEN	64	/* length of a message that the server kwconn echoes */

static struct ibv_sge some_sges[MANY_SGES];

static struct ibv_sge *sges(struct kv_env *e, uint32_t len)
{
	int i;

	for (i = 0; i < MANY_SGES; i++) {
		some_sges[i].addr = (uintptr_t)e->buf;
		some_sges[i].length = len;
		some_sges[i].lkey = e->mr->lkey;
	}
	return some_sges;
}

/* A Write of no octets is valid, and needs nothing from the peer. */
static struct ibv_send_wr empty_write(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED };

	return wr;
}

/* Post a chain. Requests before @bad must complete with success, and @bad must be refused. */
static int refused_send(struct kv_env *e, struct ibv_send_wr *first, struct ibv_send_wr *bad)
{
	struct ibv_send_wr *told = (void *)1, *wr;
	int rv = ibv_post_send(e->qp, first, &told);
	struct ibv_wc wc;

	if (!rv)
		return 0;
	if (told != bad) {
		kw_say("bad_wr is %p, must be %p", (void *)told, (void *)bad);
		return KV_WRONG;
	}
	for (wr = first; wr != bad; wr = wr->next)
		if (!kv_completion(e, &wc) || wc.status != IBV_WC_SUCCESS ||
		    wc.wr_id != wr->wr_id) {
			kw_say("a request before the refused one did not complete");
			return KV_WRONG;
		}
	return rv;
}

/* Post one request with @num_sge elements of @len octets, which must be refused. */
static int send_of(struct kv_env *e, unsigned int opcode, unsigned int flags, uint32_t len,
		   int num_sge)
{
	struct ibv_send_wr wr = empty_write();

	wr.opcode = opcode;
	wr.sg_list = sges(e, len);
	wr.num_sge = num_sge;
	wr.send_flags |= flags;
	return refused_send(e, &wr, &wr);
}

static int send_sges(struct kv_env *e)
{
	return send_of(e, IBV_WR_RDMA_WRITE, 0, 8, e->cap.max_send_sge + 1);
}

static int send_negative_sges(struct kv_env *e)
{
	return send_of(e, IBV_WR_RDMA_WRITE, 0, 8, -1);
}

static int send_inline_long(struct kv_env *e)
{
	return send_of(e, IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, e->cap.max_inline_data + 1, 1);
}

static int send_inline_read(struct kv_env *e)
{
	return send_of(e, IBV_WR_RDMA_READ, IBV_SEND_INLINE, 8, 1);
}

static int send_opcode(struct kv_env *e)
{
	return send_of(e, e->arg, 0, 8, 1);
}

/* Atomic operations whose elements are not exactly one of 8 octets, as the result needs. */
static int send_atomic(struct kv_env *e)
{
	return send_of(e, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, e->arg, 1);
}

static int send_atomic_none(struct kv_env *e)
{
	return send_of(e, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, 0);
}

static int send_atomic_two(struct kv_env *e)
{
	return send_of(e, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 4, 2);
}

/* Post a bind of @length octets. @key is added to the STag, which is valid only if @key is 0. */
static int send_bind(struct kv_env *e, uint32_t key, uint64_t length)
{
	struct ibv_mw *mw = ibv_alloc_mw(e->pd, IBV_MW_TYPE_2);
	struct ibv_send_wr wr = empty_write();
	int rv;

	if (!mw)
		return KV_SKIP;
	wr.opcode = IBV_WR_BIND_MW;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = mw->rkey + key;
	wr.bind_mw.bind_info.mr = e->mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)e->buf;
	wr.bind_mw.bind_info.length = length;
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ;
	rv = refused_send(e, &wr, &wr);
	ibv_dealloc_mw(mw);
	return rv;
}

static int send_bind_other_window(struct kv_env *e)
{
	return send_bind(e, 0x100, 8);
}

static int send_bind_nothing(struct kv_env *e)
{
	return send_bind(e, 0, 0);
}

static int send_read_sges(struct kv_env *e)
{
	if (e->attr.max_sge_rd >= (int)e->cap.max_send_sge)
		return KV_SKIP;
	return send_of(e, IBV_WR_RDMA_READ, 0, 8, e->attr.max_sge_rd + 1);
}

/* Post a chain of two good requests, a wrong one, and another good one. */
static int send_chain(struct kv_env *e)
{
	struct ibv_send_wr wr[4];
	int i;

	for (i = 0; i < 4; i++) {
		wr[i] = empty_write();
		wr[i].wr_id = i;
		wr[i].next = i < 3 ? &wr[i + 1] : NULL;
	}
	wr[2].sg_list = sges(e, 8);
	wr[2].num_sge = e->cap.max_send_sge + 1;
	return refused_send(e, wr, &wr[2]);
}

/*
 * Post more requests in one chain than the queue can hold. The post has to fail, and the requests
 * before bad_wr, at least as many as were granted, have to complete.
 */
static int send_overflow(struct kv_env *e)
{
	unsigned int i, n = 16 * e->cap.max_send_wr + 1024;
	struct ibv_send_wr *wr = kw_zalloc(n * sizeof(*wr)), *bad = NULL;
	struct ibv_wc wc;
	int rv;

	for (i = 0; i < n; i++) {
		wr[i] = empty_write();
		wr[i].wr_id = i;
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	}
	rv = ibv_post_send(e->qp, wr, &bad);
	for (i = 0; &wr[i] != bad && rv && i < n; i++)
		if (!kv_completion(e, &wc) || wc.wr_id != i)
			break;
	if (rv && (&wr[i] != bad || i < e->cap.max_send_wr)) {
		kw_say("%u requests completed of those before bad_wr; %u were granted", i,
		       e->cap.max_send_wr);
		rv = KV_WRONG;
	}
	free(wr);
	return rv;
}

static int refused_recv(struct kv_env *e, struct ibv_recv_wr *wr)
{
	struct ibv_recv_wr *told = (void *)1;
	int rv = ibv_post_recv(e->qp, wr, &told);

	if (rv && told != wr) {
		kw_say("bad_wr is %p, must be %p", (void *)told, (void *)wr);
		return KV_WRONG;
	}
	return rv;
}

static int recv_sges(struct kv_env *e)
{
	struct ibv_recv_wr wr = { .sg_list = sges(e, 8), .num_sge = e->cap.max_recv_sge + 1 };

	return refused_recv(e, &wr);
}

static int recv_negative_sges(struct kv_env *e)
{
	struct ibv_recv_wr wr = { .sg_list = sges(e, 8), .num_sge = -1 };

	return refused_recv(e, &wr);
}

/*
 * Post receives until the queue is full. No message arrives, so the queue has to be full after the
 * granted number of receives, or soon after.
 */
static int recv_overflow(struct kv_env *e)
{
	struct ibv_recv_wr wr = { .sg_list = sges(e, 8), .num_sge = 1 };
	unsigned int i, limit = 4 * e->cap.max_recv_wr + 64;
	int rv = 0;

	for (i = 0; i < limit && !rv; i++)
		rv = refused_recv(e, &wr);
	if (rv && rv != KV_WRONG && i <= e->cap.max_recv_wr) {
		kw_say("the queue took %u receives, %u were granted", i - 1, e->cap.max_recv_wr);
		rv = KV_WRONG;
	}
	return rv;
}

/*
 * Send from a zero-based region, and receive the echo of the server (kwconn) in the same region.
 * The addresses in the requests are offsets in the region, which begins in the middle of a page.
 */
static int zero_based(struct kv_env *e)
{
	uint8_t *begin = e->buf + 1000;
	struct ibv_mr *mr = ibv_reg_mr(e->pd, begin, 8192, IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_ZERO_BASED);
	struct ibv_sge from = { .addr = 8, .length = ECHO_LEN };
	struct ibv_sge to = { .addr = 8000, .length = ECHO_LEN };
	struct ibv_send_wr wr = { .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED }, *bad_send;
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct ibv_wc wc[2] = { 0 };
	int rv;

	if (!mr)
		return errno;
	from.lkey = mr->lkey;
	to.lkey = mr->lkey;
	kw_fill(begin + from.addr, ECHO_LEN, 0x2b, 0);
	rv = ibv_post_recv(e->qp, &recv, &bad_recv);
	if (!rv)
		rv = ibv_post_send(e->qp, &wr, &bad_send);
	if (!rv && (!kv_completion(e, &wc[0]) || !kv_completion(e, &wc[1]) || wc[0].status ||
		    wc[1].status || kw_check(begin + to.addr, ECHO_LEN, 0x2b, 0) != ECHO_LEN)) {
		kw_say("no echo, or a wrong one: '%s', '%s'", ibv_wc_status_str(wc[0].status),
		       ibv_wc_status_str(wc[1].status));
		rv = KV_WRONG;
	}
	ibv_dereg_mr(mr);
	return rv;
}

/* A queue pair that is not connected takes no requests to send. */
static int send_unconnected(struct kv_env *e)
{
	struct ibv_qp_init_attr a = kv_good_qp(e);
	struct ibv_qp *qp = ibv_create_qp(e->pd, &a);
	struct ibv_send_wr wr = empty_write(), *bad = NULL;
	int rv;

	if (!qp)
		return KV_WRONG;
	rv = ibv_post_send(qp, &wr, &bad);
	ibv_destroy_qp(qp);
	if (rv && bad != &wr) {
		kw_say("bad_wr is not set");
		return KV_WRONG;
	}
	return rv;
}

const struct kv_case kv_post_cases[] = {
	{ "send-sges", send_sges, { EINVAL, ENOMEM }, 0 },
	{ "send-negative-sges", send_negative_sges, { EINVAL, ENOMEM }, 0 },
	{ "send-inline-long", send_inline_long, { EINVAL, ENOMEM }, 0 },
	{ "send-inline-read", send_inline_read, { EINVAL }, 0 },
	{ "send-atomic-short", send_atomic, { EINVAL, EOPNOTSUPP }, 4 },
	{ "send-atomic-long", send_atomic, { EINVAL, EOPNOTSUPP }, 9 },
	{ "send-atomic-none", send_atomic_none, { EINVAL, EOPNOTSUPP }, 0 },
	{ "send-atomic-two", send_atomic_two, { EINVAL, EOPNOTSUPP }, 0 },
	/* iWARP has no Send with immediate data: Immediate Data has no other payload (RFC 7306). */
	{ "send-immediate", send_opcode, { EINVAL, EOPNOTSUPP }, IBV_WR_SEND_WITH_IMM },
	{ "send-unknown", send_opcode, { EINVAL, EOPNOTSUPP }, 250 },
	{ "send-bind-other-window", send_bind_other_window, { EINVAL }, 0 },
	{ "send-bind-nothing", send_bind_nothing, { EINVAL }, 0 },
	{ "send-read-sges", send_read_sges, { EINVAL, ENOMEM }, 0 },
	{ "send-chain", send_chain, { EINVAL, ENOMEM }, 0 },
	{ "send-overflow", send_overflow, { ENOMEM }, 0 },
	{ "recv-sges", recv_sges, { EINVAL, ENOMEM }, 0 },
	{ "recv-negative-sges", recv_negative_sges, { EINVAL, ENOMEM }, 0 },
	{ "zero-based", zero_based, { 0 }, 0 },
	{ "send-unconnected", send_unconnected, { EINVAL, ENOTCONN }, 0 },
	/* This case is the last one, because it leaves the receive queue full. */
	{ "recv-overflow", recv_overflow, { ENOMEM }, 0 },
	{ 0 }
};

/* ------------------------------------------------------------- after the end */

/* After the end of the connection each posted request has to be flushed. */
unsigned int kv_after_the_end(struct kv_env *e)
{
	struct ibv_send_wr wr = empty_write(), *bad;
	struct ibv_wc wc;
	int rv;

	/* The receives that were posted earlier are flushed first. */
	while (kv_completion(e, &wc))
		if (wc.status != IBV_WC_WR_FLUSH_ERR) {
			kw_say("FAILED flushed-recv: status '%s'", ibv_wc_status_str(wc.status));
			return 1;
		}
	wr.wr_id = 4711;
	rv = ibv_post_send(e->qp, &wr, &bad);
	if (rv) {
		kw_say("FAILED flushed-send: the post gave '%s'", strerror(rv));
		return 1;
	}
	if (!kv_completion(e, &wc) || wc.wr_id != 4711 || wc.status != IBV_WC_WR_FLUSH_ERR) {
		kw_say("FAILED flushed-send: not flushed");
		return 1;
	}
	kw_say("ok flushed-send");
	return 0;
}
