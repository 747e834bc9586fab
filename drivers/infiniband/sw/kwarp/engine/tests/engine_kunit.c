// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of engine.c: which call starts, stops and wakes what, and in which order. Functions that it
 * calls are replaced by functions of this file, which append a word to a log; "[" is
 * kwarp_tx_claim(), which stops the runner (the context that sends), and "]" is kwarp_tx_release().
 *
 * Numbers such as 5040-7.1-7 name requirements of RFCs, see Documentation/conformance.
 */
#include <kunit/test.h>

#include "../../kwarp.h"
#include "../../tests/doors.h"
#include "../engine.h"
#include "../fail.h"
#include "../tcp.h"
#include "../tx/coalesce.h"
#include "../tx/run.h"
#include "../tx/tx.h"

#include "../../queue/tests/fixture.h"

#define LOG_LEN	120

struct door_test {
	struct kwarp_engine e;
	struct kwarp_sq sq;
	struct kwarp_rq rq;
	struct kwarp_cq cq;
	struct kwarp_cq recv_cq;
	struct ib_qp qp;
	struct ib_pd pd;
	struct kwarp_dev kdev;
	int sock;
	int install;
	bool drained;
	u32 drain_to;
	char log[LOG_LEN];
};

static struct door_test *door;

static void say(const char *what)
{
	if (door->log[0])
		strlcat(door->log, " ", LOG_LEN);
	strlcat(door->log, what, LOG_LEN);
}

static void expect_log(struct kunit *test, const char *want)
{
	KUNIT_EXPECT_STREQ(test, door->log, want);
	door->log[0] = 0;
}

static void door_tx_kick(struct kwarp_engine *e, enum kwarp_tx_from from)
{
	say(from == KWARP_TX_FROM_ANY ? "kick" :
	    from == KWARP_TX_FROM_DOORBELL ? "doorbell" :
	    from == KWARP_TX_FROM_POSTER ? "post" :
	    from == KWARP_TX_FROM_PROCESS ? "send" : "?");
}

static void door_tx_claim(struct kwarp_engine *e)
{
	atomic_set(&e->tx.run, KWARP_RUN_ACTIVE);
	say("[");
}

static void door_tx_release(struct kwarp_engine *e)
{
	atomic_set(&e->tx.run, KWARP_RUN_IDLE);
	door->drain_to = e->tx.drain_to;
	say("]");
}

static void door_coalesce_stop(struct kwarp_engine *e)
{
	say("timer");
}

static bool door_tx_drained(const struct kwarp_engine *e)
{
	return door->drained;
}

static int door_sock_install(struct kwarp_engine *e, struct socket *sock)
{
	say("install");
	return door->install;
}

static void door_sock_remove(struct kwarp_engine *e)
{
	say("remove");
}

static void door_sock_drain(struct kwarp_engine *e)
{
	say("drain");
}

static void door_tcp_shutdown(struct socket *sock)
{
	say("fin");
}

static void door_engine_flush(struct kwarp_engine *e)
{
	say(test_bit(KWARP_E_DEAD, &e->flags) ? "flush" : "flush alive");
}

static void door_batch_fini(struct kwarp_batch *b)
{
	say("free");
}

static void door_forget_qp(struct kwarp_cq *cq, struct ib_qp *ibqp)
{
	say(ibqp != &door->qp ? "?" : cq == &door->cq ? "forget" : "forget-recv");
}

static void door_cq_settle(struct kwarp_cq *cq)
{
	say(cq == &door->cq ? "settle" : "settle-recv");
}

static void door_mem_stream_end(struct kwarp_mem_stream *s)
{
	say(s == &door->e.mem ? "windows" : "?");
}

static void door_sq_reset(struct kwarp_sq *sq)
{
	say("sq");
}

static void door_rq_reset(struct kwarp_rq *rq)
{
	say("rq");
}

static void on_event(struct kwarp_engine *e, enum kwarp_qp_event event)
{
	say(event == KWARP_QPE_PROTO ? "PROTO" : event == KWARP_QPE_LOST ? "LOST" : "?");
}

static const struct kwarp_engine_ops door_ops = { .event = on_event };

static void wire(struct door_test *t, const struct kwarp_mem_stream *shared_mem)
{
	const struct kwarp_engine_parts parts = {
		.kdev = &t->kdev,
		.ibqp = &t->qp,
		.sq = &t->sq,
		.rq = &t->rq,
		.shared_mem = shared_mem,
		.recv_cq = &t->recv_cq,
	};

	kwarp_engine_wire(&t->e, &parts);
}

static int door_init(struct kunit *test)
{
	struct door_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	door = t;
	kwarp_stub(test, kwarp_tx_kick, door_tx_kick);
	kwarp_stub(test, kwarp_tx_claim, door_tx_claim);
	kwarp_stub(test, kwarp_tx_release, door_tx_release);
	kwarp_stub(test, kwarp_tx_drained, door_tx_drained);
	kwarp_stub(test, kwarp_coalesce_stop, door_coalesce_stop);
	kwarp_stub(test, kwarp_sock_install, door_sock_install);
	kwarp_stub(test, kwarp_sock_remove, door_sock_remove);
	kwarp_stub(test, kwarp_sock_drain, door_sock_drain);
	kwarp_stub(test, kwarp_tcp_shutdown, door_tcp_shutdown);
	kwarp_stub(test, kwarp_engine_flush, door_engine_flush);
	kwarp_stub(test, kwarp_batch_fini, door_batch_fini);
	kwarp_stub(test, kwarp_cq_forget_qp, door_forget_qp);
	kwarp_stub(test, kwarp_cq_settle, door_cq_settle);
	kwarp_stub(test, kwarp_mem_stream_end, door_mem_stream_end);
	kwarp_stub(test, kwarp_sq_reset, door_sq_reset);
	kwarp_stub(test, kwarp_rq_reset, door_rq_reset);
	test_ring_init(test, &t->sq.ring, 8, sizeof(struct kwarp_sqe));
	t->sq.cq = &t->cq;
	t->qp.pd = &t->pd;
	kwarp_engine_init(&t->e, &door_ops);
	wire(t, NULL);
	return 0;
}

static int start(struct door_test *t, bool initiator)
{
	struct kwarp_readqs readqs = { };
	const struct kwarp_stream_params p = { .initiator = initiator, .readqs = &readqs };

	return kwarp_engine_start(&t->e, (struct socket *)&t->sock, &p);
}

static void test_wire(struct kunit *test)
{
	struct door_test *t = test->priv;
	struct kwarp_mem_stream srq_mem;

	KUNIT_EXPECT_PTR_EQ(test, t->e.ops, &door_ops);
	KUNIT_EXPECT_PTR_EQ(test, t->e.kdev, &t->kdev);
	KUNIT_EXPECT_PTR_EQ(test, t->e.ibqp, &t->qp);
	KUNIT_EXPECT_PTR_EQ(test, t->e.mem.pd, &t->pd);
	KUNIT_EXPECT_PTR_EQ(test, t->e.sq, &t->sq);
	KUNIT_EXPECT_PTR_EQ(test, t->e.rq, &t->rq);
	KUNIT_EXPECT_PTR_EQ(test, t->e.recv_cq, &t->recv_cq);
	KUNIT_EXPECT_PTR_EQ(test, t->e.recv_mem, &t->e.mem);
	KUNIT_EXPECT_FALSE(test, t->e.rq_shared);
	KUNIT_EXPECT_EQ(test, t->e.tx.home, 0);
	/* Receives of an SRQ use the SRQ's protection domain (shared_mem). */
	t->cq.home = 3;
	wire(t, &srq_mem);
	KUNIT_EXPECT_EQ(test, t->e.tx.home, 3);
	KUNIT_EXPECT_PTR_EQ(test, t->e.recv_mem, &srq_mem);
	KUNIT_EXPECT_TRUE(test, t->e.rq_shared);
	t->e.perr = KWARP_PERR_LOCAL;
	kwarp_engine_reset(&t->e);
	expect_log(test, "[ sq windows ]");
	KUNIT_EXPECT_EQ(test, kwarp_engine_perr(&t->e), KWARP_PERR_NONE);
}

/* Only an initiator may send before it has received an FPDU (RFC 5044 7.1.2 rule 4). */
static void test_start(struct kunit *test)
{
	struct door_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, start(t, false), 0);
	expect_log(test, "[ install ]");
	KUNIT_EXPECT_TRUE(test, kwarp_engine_attached(&t->e));
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_TX_OPEN, &t->e.flags));
	kwarp_engine_stop(&t->e, true);
	expect_log(test, "[ remove fin timer free flush ]");
	KUNIT_EXPECT_FALSE(test, kwarp_engine_attached(&t->e));
	KUNIT_EXPECT_TRUE(test, kwarp_engine_dead(&t->e));
	/* A second kwarp_engine_stop() flushes requests that were posted after the first. */
	kwarp_engine_stop(&t->e, true);
	expect_log(test, "[ flush ]");
	kwarp_engine_reset(&t->e);
	expect_log(test, "[ sq rq windows ]");
	KUNIT_EXPECT_FALSE(test, kwarp_engine_dead(&t->e));
	KUNIT_EXPECT_EQ(test, start(t, true), 0);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_OPEN, &t->e.flags));
}

static void test_start_fails(struct kunit *test)
{
	struct door_test *t = test->priv;

	t->install = -ENOTCONN;
	KUNIT_EXPECT_EQ(test, start(t, true), -ENOTCONN);
	expect_log(test, "[ install free ]");
	KUNIT_EXPECT_FALSE(test, kwarp_engine_attached(&t->e));
	KUNIT_EXPECT_EQ(test, t->e.flags, 0);
	kwarp_engine_poll(&t->e);
	expect_log(test, "");
}

/* tx.drain_to is set before the runner can see KWARP_E_TX_DRAIN. */
static void test_drain(struct kunit *test)
{
	struct door_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, start(t, true), 0);
	t->log[0] = 0;
	t->sq.ring.hdr->prod = 5;
	kwarp_engine_drain(&t->e);
	expect_log(test, "[ ]");
	KUNIT_EXPECT_EQ(test, t->drain_to, 5);
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_DRAIN, &t->e.flags));
	KUNIT_EXPECT_FALSE(test, kwarp_engine_fin(&t->e));
	expect_log(test, "[ ]");
	t->drained = true;
	KUNIT_EXPECT_TRUE(test, kwarp_engine_fin(&t->e));
	expect_log(test, "[ fin ]");
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_STOP, &t->e.flags));
}

/* RFC 5044 7.1.2 rule 4, RFC 5040 section 5.4 */
static const struct term_row {
	const char *desc;
	unsigned long flags;
	bool sent;
} term_rows[] = {
	{ "none is latched", BIT(KWARP_E_TX_OPEN), false },
	{ "in Full Operation", BIT(KWARP_E_TERM_READY) | BIT(KWARP_E_TX_OPEN), true },
	{ "responder that has heard nothing", BIT(KWARP_E_TERM_READY), false },
	{ "responder that has got octets", BIT(KWARP_E_TERM_READY) | BIT(KWARP_E_RX_ANY), true },
	{ "after our FIN", BIT(KWARP_E_TERM_READY) | BIT(KWARP_E_TX_OPEN) | BIT(KWARP_E_TX_STOP),
	  false },
};

KUNIT_ARRAY_PARAM_DESC(term, term_rows, desc);

static void test_terminate(struct kunit *test)
{
	const struct term_row *row = test->param_value;
	struct door_test *t = test->priv;

	t->e.flags = row->flags;
	KUNIT_EXPECT_EQ(test, kwarp_engine_terminate(&t->e), row->sent);
	expect_log(test, row->sent ? "send" : "");
	KUNIT_EXPECT_EQ(test, test_bit(KWARP_E_TX_TERM, &t->e.flags), row->sent);
}

/* A posted receive wakes the runner only after the end of the stream, to be flushed. */
static void test_posted(struct kunit *test)
{
	struct door_test *t = test->priv;

	kwarp_engine_posted_send(&t->e, false);
	kwarp_engine_posted_send(&t->e, true);
	expect_log(test, "post doorbell");
	kwarp_engine_posted_recv(&t->e, false);
	kwarp_engine_posted_recv(&t->e, true);
	expect_log(test, "");
	set_bit(KWARP_E_DEAD, &t->e.flags);
	kwarp_engine_posted_recv(&t->e, false);
	kwarp_engine_posted_recv(&t->e, true);
	expect_log(test, "kick send");
}

/* Only the first error is reported, and only once (5040-7.1-7). */
static void test_fail(struct kunit *test)
{
	struct door_test *t = test->priv;

	kwarp_engine_fail(&t->e, KWARP_PERR_R_BOUNDS, NULL, 0, NULL);
	expect_log(test, "PROTO");
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TERM_READY, &t->e.flags));
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_RX_STOP, &t->e.flags));
	kwarp_engine_fail(&t->e, KWARP_PERR_LOCAL, NULL, 0, NULL);
	kwarp_engine_lost(&t->e);
	expect_log(test, "");
	KUNIT_EXPECT_EQ(test, kwarp_engine_perr(&t->e), KWARP_PERR_R_BOUNDS);
	KUNIT_EXPECT_EQ(test, kwarp_engine_short(&t->e), kwarp_perr_short(KWARP_PERR_R_BOUNDS));
}

/*
 * What is noted first stays, and is told in vendor_err if RFC 5040 has one code for it. A reset
 * forgets it.
 */
static void test_refused(struct kunit *test)
{
	struct door_test *t = test->priv;
	const struct kwarp_mr mr = {
		.kind = KWARP_MR_USER, .stag = 0x1200, .va = 0x7000, .length = 32,
		.access = IB_ACCESS_LOCAL_WRITE, .pd = t->e.mem.pd,
	};
	const struct kwarp_mr fast = {
		.kind = KWARP_MR_FAST, .va = 0x7000, .length = 32, .pd = t->e.mem.pd,
	};
	const struct kwarp_asked asked = {
		.op = KWARP_REFUSED_REQUEST, .stag = 0x1200, .addr = 0x7010, .len = 64,
	};
	const struct kwarp_refusal *r = &t->e.refused;

	KUNIT_EXPECT_EQ(test, kwarp_engine_cause(&t->e), 0);
	kwarp_refuse_access(&t->e, &asked, &mr, KWARP_WHY_BOUNDS, KWARP_PERR_LOCAL);
	kwarp_engine_fail_local(&t->e, KWARP_WHY_CQ);
	expect_log(test, "PROTO");
	KUNIT_EXPECT_EQ(test, r->why, KWARP_WHY_BOUNDS);
	KUNIT_EXPECT_TRUE(test, r->found && !r->hidden);
	KUNIT_EXPECT_EQ(test, r->mr_va, 0x7000);
	KUNIT_EXPECT_EQ(test, r->mr_len, 32);
	KUNIT_EXPECT_EQ(test, kwarp_engine_short(&t->e), KWARP_VENDOR_BOUNDS);
	kwarp_engine_reset(&t->e);
	t->log[0] = 0;
	KUNIT_EXPECT_EQ(test, kwarp_engine_cause(&t->e), 0);
	KUNIT_EXPECT_EQ(test, kwarp_engine_short(&t->e), 0);
	/* Addresses of the kernel's regions are not noted. */
	kwarp_refuse_access(&t->e, &asked, &fast, KWARP_WHY_BOUNDS, KWARP_PERR_R_BOUNDS);
	KUNIT_EXPECT_TRUE(test, r->hidden && !r->mr_va);
	/* The peer gets a code for that, which is also in vendor_err. */
	kwarp_engine_fail(&t->e, KWARP_PERR_R_BOUNDS, NULL, 0, NULL);
	KUNIT_EXPECT_EQ(test, kwarp_engine_short(&t->e), kwarp_perr_short(KWARP_PERR_R_BOUNDS));
}

/* A key that was guessed may be that of another user's region: nothing of it is noted. */
static void test_refused_others(struct kunit *test)
{
	struct door_test *t = test->priv;
	struct ib_pd own = { }, srq = { }, others = { };
	const struct kwarp_mem_stream shared = { .pd = &srq };
	const struct kwarp_asked asked = { .op = KWARP_REFUSED_REQUEST, .stag = 0x1200 };
	struct kwarp_mr mr = {
		.kind = KWARP_MR_USER, .stag = 0x1201, .va = 0x7000, .length = 32, .pd = &others,
		.access = IB_ACCESS_LOCAL_WRITE,
	};
	struct kwarp_refusal *r = &t->e.refused;

	t->e.mem.pd = &own;
	t->e.recv_mem = &shared;
	kwarp_refuse_access(&t->e, &asked, &mr, KWARP_WHY_STAG, KWARP_PERR_LOCAL);
	KUNIT_EXPECT_EQ(test, r->why, KWARP_WHY_STAG);
	KUNIT_EXPECT_FALSE(test, r->found);
	KUNIT_EXPECT_TRUE(test, !r->mr_va && !r->mr_len && !r->mr_access && !r->mr_stag);
	/* Receives of an SRQ have its domain. */
	for (mr.pd = &srq; mr.pd; mr.pd = mr.pd == &srq ? &own : NULL) {
		kwarp_engine_reset(&t->e);
		t->log[0] = 0;
		kwarp_refuse_access(&t->e, &asked, &mr, KWARP_WHY_STAG, KWARP_PERR_LOCAL);
		KUNIT_EXPECT_TRUE(test, r->found);
		KUNIT_EXPECT_EQ(test, r->mr_va, 0x7000);
	}
}

/* The peer's Terminate 0/0/00 is told from a close. */
static void test_peer_local(struct kunit *test)
{
	struct door_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, kwarp_engine_short(&t->e), 0);
	set_bit(KWARP_E_TERM_SEEN, &t->e.flags);
	KUNIT_EXPECT_EQ(test, kwarp_engine_short(&t->e), KWARP_VENDOR_PEER);
	t->e.peer_term = (struct kwarp_term) { .layer = 1, .etype = 2, .code = 2 };
	KUNIT_EXPECT_EQ(test, kwarp_engine_short(&t->e), 0x1202);
}

/* A lost connection is reported, and no Terminate is prepared, since none can be sent. */
static void test_lost(struct kunit *test)
{
	struct door_test *t = test->priv;

	kwarp_engine_lost(&t->e);
	expect_log(test, "LOST");
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_E_TERM_READY, &t->e.flags));
}

static void test_end(struct kunit *test)
{
	struct door_test *t = test->priv;

	schedule_delayed_work(&t->e.tx.work, MAX_JIFFY_OFFSET);
	kwarp_engine_cancel(&t->e);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&t->e.tx.work));
	kwarp_engine_unwire(&t->e);
	expect_log(test, "windows forget forget-recv settle settle-recv");
}

static struct kunit_case engine_cases[] = {
	KUNIT_CASE(test_wire),
	KUNIT_CASE(test_start),
	KUNIT_CASE(test_start_fails),
	KUNIT_CASE(test_drain),
	KUNIT_CASE_PARAM(test_terminate, term_gen_params),
	KUNIT_CASE(test_posted),
	KUNIT_CASE(test_fail),
	KUNIT_CASE(test_refused),
	KUNIT_CASE(test_refused_others),
	KUNIT_CASE(test_peer_local),
	KUNIT_CASE(test_lost),
	KUNIT_CASE(test_end),
	{ }
};

static struct kunit_suite engine_suite = {
	.name = "kwarp_engine",
	.init = door_init,
	.test_cases = engine_cases,
};

kunit_test_suite(engine_suite);
