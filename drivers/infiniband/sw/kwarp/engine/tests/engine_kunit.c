// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of engine.c: which call starts, stops and wakes what, and in which order. The code under
 * test is included. All functions that it calls are replaced by functions of this file, which
 * append a word to a log; "[" is kwarp_tx_claim(), which stops the runner (the context that sends),
 * and "]" is kwarp_tx_release().
 *
 * Numbers such as 5040-7.1-7 name requirements of RFCs, see Documentation/conformance.
 */
#include <kunit/test.h>

#define kwarp_tx_init		door_tx_init
#define kwarp_tx_kick		door_tx_kick
#define kwarp_tx_claim		door_tx_claim
#define kwarp_tx_release	door_tx_release
#define kwarp_coalesce_stop	door_coalesce_stop
#define kwarp_coalesce_init_cq	door_coalesce_init_cq
#define kwarp_coalesce_fini_cq	door_coalesce_fini_cq
#define kwarp_tx_drained	door_tx_drained
#define kwarp_coalesce_reset	door_coalesce_reset
#define kwarp_rx_init		door_rx_init
#define kwarp_engine_stats	door_engine_stats
#define kwarp_sock_init		door_sock_init
#define kwarp_sock_install	door_sock_install
#define kwarp_sock_remove	door_sock_remove
#define kwarp_sock_drain	door_sock_drain
#define kwarp_sock_has_news	door_sock_has_news
#define kwarp_tcp_shutdown	door_tcp_shutdown
#define kwarp_engine_flush	door_engine_flush
#define kwarp_batch_init	door_batch_init
#define kwarp_batch_fini	door_batch_fini
#define kwarp_pages_init	door_pages_init
#define kwarp_pages_fini	door_pages_fini
#define kwarp_cq_forget_qp	door_forget_qp
#define kwarp_cq_settle		door_cq_settle
#define kwarp_mem_stream_end	door_mem_stream_end
#define kwarp_sq_reset		door_sq_reset
#define kwarp_rq_reset		door_rq_reset
#define cancel_delayed_work_sync door_cancel_work

struct delayed_work;
static bool door_cancel_work(struct delayed_work *work);

#include "../engine.c"

#include "../../queue/tests/fixture.h"

#define LOG_LEN	120

/**
 * struct door_test - an engine and the log of its calls
 * @e: engine
 * @sq: its send queue, with a real ring
 * @rq: its receive queue
 * @cq: CQ of the send queue
 * @recv_cq: CQ of the receive queue
 * @qp: queue pair named in completions
 * @pd: protection domain of @qp
 * @kdev: device
 * @sock: the engine's socket; only its address is used
 * @install: result of kwarp_sock_install()
 * @drained: result of kwarp_tx_drained()
 * @drain_to: value of tx.drain_to at the last call of kwarp_tx_release()
 * @log: words that the replaced functions have appended
 */
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

void door_tx_init(struct kwarp_engine *e)
{
}

void door_tx_kick(struct kwarp_engine *e, enum kwarp_tx_from from)
{
	say(from == KWARP_TX_FROM_ANY ? "kick" :
	    from == KWARP_TX_FROM_DOORBELL ? "doorbell" :
	    from == KWARP_TX_FROM_POSTER ? "post" :
	    from == KWARP_TX_FROM_PROCESS ? "send" : "?");
}

void door_coalesce_init_cq(struct kwarp_cq *cq, struct kwarp_timers *user)
{
}

void door_coalesce_fini_cq(struct kwarp_cq *cq)
{
}

bool door_sock_has_news(const struct kwarp_engine *e)
{
	return false;
}

void door_tx_claim(struct kwarp_engine *e)
{
	say("[");
}

void door_tx_release(struct kwarp_engine *e)
{
	door->drain_to = e->tx.drain_to;
	say("]");
}

void door_coalesce_stop(struct kwarp_engine *e)
{
	say("timer");
}

bool door_tx_drained(const struct kwarp_engine *e)
{
	return door->drained;
}

void door_coalesce_reset(struct kwarp_engine *e)
{
}

void door_rx_init(struct kwarp_engine *e, bool crc, bool markers)
{
}

void door_sock_init(struct kwarp_engine *e)
{
}

int door_sock_install(struct kwarp_engine *e, struct socket *sock)
{
	say("install");
	return door->install;
}

void door_sock_remove(struct kwarp_engine *e)
{
	say("remove");
}

void door_sock_drain(struct kwarp_engine *e)
{
	say("drain");
}

void door_tcp_shutdown(struct socket *sock)
{
	say("fin");
}

void door_engine_flush(struct kwarp_engine *e)
{
	say(test_bit(KWARP_E_DEAD, &e->flags) ? "flush" : "flush alive");
}

void door_batch_init(struct kwarp_batch *b, struct kwarp_dev *kdev)
{
}

void door_batch_fini(struct kwarp_batch *b)
{
	say("free");
}

void door_pages_init(struct kwarp_dev *kdev)
{
}

void door_pages_fini(struct kwarp_dev *kdev)
{
}

void door_forget_qp(struct kwarp_cq *cq, struct ib_qp *ibqp)
{
	say(ibqp != &door->qp ? "?" : cq == &door->cq ? "forget" : "forget-recv");
}

void door_cq_settle(struct kwarp_cq *cq)
{
	say(cq == &door->cq ? "settle" : "settle-recv");
}

void door_mem_stream_end(struct kwarp_mem_stream *s)
{
	say(s == &door->e.mem ? "windows" : "?");
}

void door_sq_reset(struct kwarp_sq *sq)
{
	say("sq");
}

void door_rq_reset(struct kwarp_rq *rq)
{
	say("rq");
}

static bool door_cancel_work(struct delayed_work *work)
{
	say("work");
	return false;
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

/* After a failed start the engine has no socket and no flag set. */
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

/*
 * tx.drain_to, the index up to which a graceful close sends, is set before the runner can see
 * KWARP_E_TX_DRAIN.
 */
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
	/* While there is something to send, no FIN is sent. */
	KUNIT_EXPECT_FALSE(test, kwarp_engine_fin(&t->e));
	expect_log(test, "[ ]");
	t->drained = true;
	KUNIT_EXPECT_TRUE(test, kwarp_engine_fin(&t->e));
	expect_log(test, "[ fin ]");
	KUNIT_EXPECT_TRUE(test, test_bit(KWARP_E_TX_STOP, &t->e.flags));
}

/*
 * When a Terminate is sent (RFC 5044 7.1.2 rule 4, RFC 5040 section 5.4). @flags: flags of the
 * engine before the call. @sent: expected result of kwarp_engine_terminate().
 */
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

/*
 * Each posted send wakes the runner; a posted receive does that only after the end of the stream
 * (KWARP_E_DEAD), because then the runner has to flush it.
 */
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

	kwarp_engine_cancel(&t->e);
	expect_log(test, "work");
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
