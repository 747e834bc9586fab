// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the receive side: a message waits for a receive; a Send with immediate data. */
#include "../../kwarp.h"
#include "rx_fixture.h"

/* The test itself looks again. */
static void no_work(struct work_struct *work)
{
}

static int park_init(struct kunit *test)
{
	struct rx_test *t;
	int ret = rx_test_init(test);

	if (ret)
		return ret;
	t = test->priv;
	INIT_DELAYED_WORK(&t->a.e.recv_wait, no_work);
	t->a.e.rx.wait = 1000;
	return 0;
}

static void park_exit(struct kunit *test)
{
	struct rx_test *t = test->priv;

	cancel_delayed_work_sync(&t->a.e.recv_wait);
	rx_test_exit(test);
}

/* The engine has asked for another look; the work item may have run. */
static void stop_work(struct rx_test *t)
{
	cancel_delayed_work_sync(&t->a.e.recv_wait);
}

/* Feed a Send of some octets, without CRC. Return: octets that are left. */
static size_t feed_send(struct stream *s, u32 len)
{
	u8 ulpdu[18 + 8] = { 0x41, 0x43 }, wire[64];
	struct kwarp_emit w = { .buf = wire, .size = sizeof(wire) };
	size_t left;

	put_unaligned_be32(s->msn[KWARP_QN_SEND]++, ulpdu + 10);
	kwarp_emit_fpdu(&w, ulpdu, 18 + len, 0);
	kwarp_fpdu_rx_verify(&s->e.rx.fpdu, w.crc, wire + w.len - 4);
	left = kwarp_rx_feed(&s->e, wire, w.len);
	if (left && !s->e.perr)
		memcpy(s->rest, wire + w.len - left, left);
	return left;
}

static void test_waits(struct kunit *test)
{
	struct rx_test *t = test->priv;
	struct stream *s = &t->a;

	/* Everything after the header is left: pad and CRC. */
	KUNIT_EXPECT_EQ(test, feed_send(s, 0), 4);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_parked(&s->e));
	KUNIT_EXPECT_EQ(test, s->e.perr, KWARP_PERR_NONE);
	KUNIT_EXPECT_EQ(test, t->rq.ring.hdr->flags, KWARP_RING_NEED_KICK);
	stop_work(t);
	KUNIT_EXPECT_FALSE(test, kwarp_rx_retry(&s->e));
	stop_work(t);
	rx_post(t, 5, 1);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_retry(&s->e));
	KUNIT_EXPECT_FALSE(test, kwarp_rx_parked(&s->e));
	KUNIT_EXPECT_EQ(test, t->rq.ring.hdr->flags, 0);
	KUNIT_EXPECT_EQ(test, kwarp_rx_feed(&s->e, s->rest, 4), 0);
	rx_expect_done(test, 5);
	/* The next one finds a receive at once. */
	rx_post(t, 6, 1);
	KUNIT_EXPECT_EQ(test, feed_send(s, 0), 0);
	rx_expect_done(test, 6);
}

static void add_no_receive(struct kunit *test, u32 skip)
{
	struct kwarp_fault_rule *rule = kzalloc(sizeof(*rule), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rule);
	*rule = (struct kwarp_fault_rule){
		.kind = KWARP_FAULT_NO_RECEIVE, .arg = 1, .skip = skip, .times = 1, .percent = 100,
		.admin = true,
	};
	KUNIT_ASSERT_GT(test, kwarp_fault_add(rule), 0);
}

/* A fault denies the receive once: the segment waits, and the rule has one match. */
static void test_denied(struct kunit *test)
{
	const struct kwarp_fault_which all = { .all = true };
	struct kwarp_fault_rule told = {};
	struct rx_test *t = test->priv;
	struct stream *s = &t->a;
	char link[IB_DEVICE_NAME_MAX];

	add_no_receive(test, 0);
	s->qp.device = &s->e.kdev->ibdev;
	rx_post(t, 5, 1);
	KUNIT_EXPECT_EQ(test, feed_send(s, 0), 4);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_parked(&s->e));
	KUNIT_EXPECT_TRUE(test, kwarp_fault_next(&all, &told, link));
	KUNIT_EXPECT_EQ(test, told.matched, 1);
	stop_work(t);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_retry(&s->e));
	KUNIT_EXPECT_EQ(test, kwarp_rx_feed(&s->e, s->rest, 4), 0);
	rx_expect_done(test, 5);
	/* The second look is denied, the one after it is not. */
	add_no_receive(test, 1);
	KUNIT_EXPECT_EQ(test, feed_send(s, 0), 4);
	stop_work(t);
	rx_post(t, 6, 1);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_retry(&s->e));
	KUNIT_EXPECT_FALSE(test, s->e.rx.denied);
	kwarp_fault_exit();
}

/* Afterwards the stream ends as it would have at once. */
static void test_time_out(struct kunit *test)
{
	struct rx_test *t = test->priv;
	struct stream *s = &t->a;

	feed_send(s, 0);
	stop_work(t);
	s->e.rx.parked_at = jiffies - 2 * HZ;
	KUNIT_EXPECT_TRUE(test, kwarp_rx_retry(&s->e));
	KUNIT_EXPECT_FALSE(test, kwarp_rx_parked(&s->e));
	KUNIT_EXPECT_EQ(test, s->e.perr, KWARP_PERR_DDP_U_NOBUF);
	KUNIT_EXPECT_EQ(test, t->rq.ring.hdr->flags, 0);
}

static void test_no_limit(struct kunit *test)
{
	struct rx_test *t = test->priv;
	struct stream *s = &t->a;

	s->e.rx.wait = U32_MAX;
	feed_send(s, 0);
	stop_work(t);
	s->e.rx.parked_at = jiffies - 2 * HZ;
	KUNIT_EXPECT_FALSE(test, kwarp_rx_retry(&s->e));
	stop_work(t);
	KUNIT_EXPECT_EQ(test, s->e.perr, KWARP_PERR_NONE);
}

static void test_no_wait(struct kunit *test)
{
	struct rx_test *t = test->priv;

	t->a.e.rx.wait = 0;
	KUNIT_EXPECT_EQ(test, feed_send(&t->a, 0), 0);
	KUNIT_EXPECT_FALSE(test, kwarp_rx_parked(&t->a.e));
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_DDP_U_NOBUF);
}

/* The wait is no refusal: if the stream fails later for another reason, that one is told. */
static void test_no_refusal(struct kunit *test)
{
	struct rx_test *t = test->priv;
	struct stream *s = &t->a;

	feed_send(s, 8);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_parked(&s->e));
	KUNIT_EXPECT_EQ(test, s->e.refused.why, KWARP_WHY_NONE);
	stop_work(t);
	rx_post(t, 5, 1);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_retry(&s->e));
	KUNIT_EXPECT_EQ(test, s->e.perr, KWARP_PERR_DDP_U_LONG);
	KUNIT_EXPECT_EQ(test, s->e.refused.why, KWARP_WHY_LONG);
}

/* Ticks until the next look; 0: none is due. */
static long next_look(struct rx_test *t)
{
	const struct delayed_work *work = &t->a.e.recv_wait;
	long ticks = 0;

	if (delayed_work_pending(work))
		ticks = max_t(long, work->timer.expires - jiffies, 1);
	stop_work(t);
	return ticks;
}

/* A program that has to ring needs no look before the wait ends. */
static void test_looks(struct kunit *test)
{
	struct rx_test *t = test->priv;
	struct stream *s = &t->a;

	feed_send(s, 0);
	KUNIT_EXPECT_GT(test, next_look(t), HZ / 2);
	s->e.rx.wait = U32_MAX;
	KUNIT_EXPECT_FALSE(test, kwarp_rx_retry(&s->e));
	KUNIT_EXPECT_EQ(test, next_look(t), 0);
}

/* The longer a message has waited, the rarer are the looks, which cost time of a processor. */
static void test_rare_looks(struct kunit *test)
{
	struct rx_test *t = test->priv;
	struct stream *s = &t->a;

	s->e.rq_shared = true;
	s->e.rx.wait = U32_MAX;
	feed_send(s, 0);
	KUNIT_EXPECT_LE(test, next_look(t), 2);
	s->e.rx.parked_at = jiffies - HZ;
	KUNIT_EXPECT_FALSE(test, kwarp_rx_retry(&s->e));
	KUNIT_EXPECT_GT(test, next_look(t), 2);
	/* The end of the wait is not missed. */
	s->e.rx.wait = 1000;
	s->e.rx.parked_at = jiffies - msecs_to_jiffies(1000) + 1;
	KUNIT_EXPECT_FALSE(test, kwarp_rx_retry(&s->e));
	KUNIT_EXPECT_LE(test, next_look(t), 2);
}

/* The queue belongs to others, too: its flags are left alone. */
static void test_shared(struct kunit *test)
{
	struct rx_test *t = test->priv;
	struct stream *s = &t->a;

	s->e.rq_shared = true;
	feed_send(s, 0);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_parked(&s->e));
	KUNIT_EXPECT_EQ(test, t->rq.ring.hdr->flags, 0);
	stop_work(t);
	rx_post(t, 5, 1);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_retry(&s->e));
	kwarp_rx_feed(&s->e, s->rest, 4);
	rx_expect_done(test, 5);
}

/* The stream ends meanwhile. */
static void test_stopped(struct kunit *test)
{
	struct rx_test *t = test->priv;
	struct stream *s = &t->a;

	feed_send(s, 0);
	stop_work(t);
	set_bit(KWARP_E_RX_STOP, &s->e.flags);
	KUNIT_EXPECT_TRUE(test, kwarp_rx_retry(&s->e));
	KUNIT_EXPECT_FALSE(test, kwarp_rx_parked(&s->e));
	KUNIT_EXPECT_EQ(test, s->e.perr, KWARP_PERR_NONE);
}

/* Other queues do not wait: the peer has sent more Read Requests than agreed. */
static void test_reads(struct kunit *test)
{
	struct rx_test *t = test->priv;
	u8 rreq[KWARP_RDMAP_RREQ_LEN] = { };
	u32 i;

	for (i = 0; i <= DEPTH; i++)
		rx_feed_untagged(&t->a, 0x41, KWARP_OP_RREQ, 0, KWARP_QN_RREQ, rreq, sizeof(rreq));
	KUNIT_EXPECT_FALSE(test, kwarp_rx_parked(&t->a.e));
	KUNIT_EXPECT_EQ(test, t->a.e.perr, KWARP_PERR_DDP_U_NOBUF);
}

/* The four octets arrive as they were sent, and the message has no effect on an STag. */
static void test_send_imm(struct kunit *test)
{
	static const u8 imm[4] = { 0x12, 0x34, 0x56, 0x78 };
	struct rx_test *t = test->priv;
	const struct kwarp_cqe *cqe;
	u8 op;

	t->a.e.more = KWARP_RDMAP_SEND_IMM;
	t->mr.stag = get_unaligned_be32(imm);
	for (op = KWARP_OP_SEND_IMM; op <= KWARP_OP_SEND_SE_IMM; op++) {
		rx_post(t, op, 1);
		rx_feed_send(&t->a, op, get_unaligned_be32(imm));
		cqe = test_cq_pop(t->cq);
		KUNIT_ASSERT_NOT_NULL(test, cqe);
		KUNIT_EXPECT_EQ(test, cqe->id, op);
		KUNIT_EXPECT_EQ(test, cqe->opcode, KWARP_WC_RECV_SEND_IMM);
		KUNIT_EXPECT_MEMEQ(test, (const u8 *)&cqe->imm, imm, 4);
		KUNIT_EXPECT_EQ(test, cqe->flags & KWARP_CQE_SOLICITED,
				op == KWARP_OP_SEND_SE_IMM ? KWARP_CQE_SOLICITED : 0);
	}
	KUNIT_EXPECT_TRUE(test, t->mr.valid);
	/* On other streams the opcode is unknown. */
	rx_post(t, 1, 1);
	rx_feed_send(&t->b, KWARP_OP_SEND_IMM, 1);
	KUNIT_EXPECT_EQ(test, t->b.e.perr, KWARP_PERR_O_OPCODE);
}

static struct kunit_case rx_park_cases[] = {
	KUNIT_CASE(test_waits),
	KUNIT_CASE(test_denied),
	KUNIT_CASE(test_time_out),
	KUNIT_CASE(test_no_limit),
	KUNIT_CASE(test_no_wait),
	KUNIT_CASE(test_no_refusal),
	KUNIT_CASE(test_looks),
	KUNIT_CASE(test_rare_looks),
	KUNIT_CASE(test_shared),
	KUNIT_CASE(test_stopped),
	KUNIT_CASE(test_reads),
	KUNIT_CASE(test_send_imm),
	{}
};

static struct kunit_suite rx_park_suite = {
	.name = "kwarp_rx_park",
	.init = park_init,
	.exit = park_exit,
	.test_cases = rx_park_cases,
};

kunit_test_suite(rx_park_suite);
