// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the state table of streams: every pair of state and event, and rules for the table. */
#include <kunit/test.h>

#include "../qp_fsm.h"

#define A(act)	BIT(KWARP_QPA_##act)

/* Pairs of state and event that do something; all other legal pairs are in ignored[]. */
static const struct step_case {
	enum kwarp_qp_state from;
	enum kwarp_qp_event event;
	enum kwarp_qp_state to;
	u32 actions;
} steps[] = {
	{ KWARP_QPS_IDLE, KWARP_QPE_ATTACH, KWARP_QPS_RTS, 0 },
	{ KWARP_QPS_IDLE, KWARP_QPE_ABORT, KWARP_QPS_ERROR, A(FLUSH) },
	{ KWARP_QPS_IDLE, KWARP_QPE_NO_PEER, KWARP_QPS_ERROR, A(FLUSH) | A(EV_FATAL) },
	{ KWARP_QPS_RTS, KWARP_QPE_CLOSE, KWARP_QPS_CLOSING, A(DRAIN) },
	{ KWARP_QPS_RTS, KWARP_QPE_PEER_FIN, KWARP_QPS_CLOSING,
	  A(DRAIN) | A(PEER_CLOSED) },
	{ KWARP_QPS_RTS, KWARP_QPE_PROTO, KWARP_QPS_TERM,
	  A(STOP_RX) | A(SEND_TERM) | A(EV_FATAL) },
	{ KWARP_QPS_RTS, KWARP_QPE_PEER_TERM, KWARP_QPS_ERROR,
	  A(STOP_RX) | A(FIN) | A(FLUSH) | A(EV_REQ) | A(DOWN) },
	{ KWARP_QPS_RTS, KWARP_QPE_LOST, KWARP_QPS_ERROR,
	  A(STOP_RX) | A(RST) | A(FLUSH) | A(EV_FATAL) | A(DOWN) },
	{ KWARP_QPS_RTS, KWARP_QPE_ABORT, KWARP_QPS_ERROR,
	  A(STOP_RX) | A(FIN) | A(FLUSH) | A(DOWN) },
	{ KWARP_QPS_CLOSING, KWARP_QPE_PEER_FIN, KWARP_QPS_CLOSING, A(PEER_CLOSED) },
	{ KWARP_QPS_CLOSING, KWARP_QPE_PROTO, KWARP_QPS_TERM,
	  A(STOP_RX) | A(SEND_TERM) | A(EV_FATAL) },
	{ KWARP_QPS_CLOSING, KWARP_QPE_PEER_TERM, KWARP_QPS_ERROR,
	  A(STOP_RX) | A(FIN) | A(FLUSH) | A(EV_REQ) | A(DOWN) },
	{ KWARP_QPS_CLOSING, KWARP_QPE_LOST, KWARP_QPS_ERROR,
	  A(STOP_RX) | A(RST) | A(FLUSH) | A(DOWN) },
	{ KWARP_QPS_CLOSING, KWARP_QPE_DRAINED, KWARP_QPS_ERROR,
	  A(FIN) | A(FLUSH) | A(DOWN) },
	{ KWARP_QPS_CLOSING, KWARP_QPE_ABORT, KWARP_QPS_ERROR,
	  A(STOP_RX) | A(FIN) | A(FLUSH) | A(DOWN) },
	{ KWARP_QPS_TERM, KWARP_QPE_TERM_SENT, KWARP_QPS_ERROR,
	  A(FIN) | A(FLUSH) | A(DOWN) },
	{ KWARP_QPS_TERM, KWARP_QPE_LOST, KWARP_QPS_ERROR, A(RST) | A(FLUSH) | A(DOWN) },
	{ KWARP_QPS_TERM, KWARP_QPE_ABORT, KWARP_QPS_ERROR,
	  A(STOP_RX) | A(FIN) | A(FLUSH) | A(DOWN) },
	{ KWARP_QPS_ERROR, KWARP_QPE_ABORT, KWARP_QPS_ERROR, A(FLUSH) },
	{ KWARP_QPS_ERROR, KWARP_QPE_RESET, KWARP_QPS_IDLE, 0 },
};

/* Events that are repeated or come too late, and errors after the first one */
static const u32 ignored[KWARP_QPS_COUNT] = {
	[KWARP_QPS_IDLE] = BIT(KWARP_QPE_RESET),
	[KWARP_QPS_CLOSING] = BIT(KWARP_QPE_CLOSE),
	[KWARP_QPS_TERM] = BIT(KWARP_QPE_CLOSE) | BIT(KWARP_QPE_PEER_FIN) |
			   BIT(KWARP_QPE_PROTO) | BIT(KWARP_QPE_PEER_TERM) |
			   BIT(KWARP_QPE_DRAINED),
	[KWARP_QPS_ERROR] = BIT(KWARP_QPE_CLOSE) | BIT(KWARP_QPE_PEER_FIN) |
			    BIT(KWARP_QPE_LOST) | BIT(KWARP_QPE_PROTO) |
			    BIT(KWARP_QPE_PEER_TERM) | BIT(KWARP_QPE_DRAINED) |
			    BIT(KWARP_QPE_TERM_SENT),
};

struct pair {
	enum kwarp_qp_state state;
	enum kwarp_qp_event event;
};

static const void *pair_gen_params(const void *prev, char *desc)
{
	static struct pair pairs[KWARP_QPS_COUNT * KWARP_QPE_COUNT];
	u32 i = prev ? (const struct pair *)prev - pairs + 1 : 0;

	if (i >= ARRAY_SIZE(pairs))
		return NULL;
	pairs[i].state = i / KWARP_QPE_COUNT;
	pairs[i].event = i % KWARP_QPE_COUNT;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %s",
		 kwarp_qp_state_name(pairs[i].state), kwarp_qp_event_name(pairs[i].event));
	return &pairs[i];
}

static void test_pair(struct kunit *test)
{
	const struct pair *p = test->param_value;
	const struct kwarp_qp_step *got = kwarp_qp_fsm(p->state, p->event);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i].from != p->state || steps[i].event != p->event)
			continue;
		KUNIT_EXPECT_TRUE(test, got->legal);
		KUNIT_EXPECT_EQ(test, got->next, steps[i].to);
		KUNIT_EXPECT_EQ(test, got->actions, steps[i].actions);
		return;
	}
	KUNIT_EXPECT_EQ(test, got->legal, !!(ignored[p->state] & BIT(p->event)));
	if (got->legal)
		KUNIT_EXPECT_EQ(test, got->next, p->state);
	KUNIT_EXPECT_EQ(test, got->actions, 0);
}

static void test_pair_rules(struct kunit *test)
{
	const struct pair *p = test->param_value;
	const struct kwarp_qp_step *s = kwarp_qp_fsm(p->state, p->event);
	bool had_stream = p->state != KWARP_QPS_IDLE && p->state != KWARP_QPS_ERROR;
	bool ends = p->state != s->next && s->next == KWARP_QPS_ERROR;
	bool loses = ends && had_stream;

	if (!s->legal) {
		KUNIT_EXPECT_EQ(test, s->actions, 0);
		return;
	}
	/* 5041-6.2.2-5: all posted requests complete when the stream is over */
	if (ends)
		KUNIT_EXPECT_TRUE(test, s->actions & A(FLUSH));
	KUNIT_EXPECT_EQ(test, !!(s->actions & A(DOWN)), loses);
	KUNIT_EXPECT_EQ(test, !!(s->actions & A(FIN)) + !!(s->actions & A(RST)), loses);
	/* 5041-6.2.2-7: the Terminate is requested exactly when TERM is entered */
	KUNIT_EXPECT_EQ(test, !!(s->actions & A(SEND_TERM)),
			p->state != s->next && s->next == KWARP_QPS_TERM);
	/* 5040-7.1-7: no async event after the first error */
	if ((!had_stream && p->event != KWARP_QPE_NO_PEER) || p->state == KWARP_QPS_TERM)
		KUNIT_EXPECT_EQ(test, s->actions & (A(EV_FATAL) | A(EV_REQ)), 0);
	KUNIT_EXPECT_NE(test, s->actions & (A(EV_FATAL) | A(EV_REQ)),
			A(EV_FATAL) | A(EV_REQ));
	if (p->state == KWARP_QPS_ERROR && s->next != KWARP_QPS_ERROR)
		KUNIT_EXPECT_EQ(test, p->event, KWARP_QPE_RESET);
	if (p->state != KWARP_QPS_RTS && s->next == KWARP_QPS_RTS)
		KUNIT_EXPECT_EQ(test, p->event, KWARP_QPE_ATTACH);
}

static void test_reachable(struct kunit *test)
{
	u32 from, ev, round, seen = BIT(KWARP_QPS_IDLE), back = BIT(KWARP_QPS_IDLE);

	for (round = 0; round < KWARP_QPS_COUNT; round++) {
		for (from = 0; from < KWARP_QPS_COUNT; from++) {
			for (ev = 0; ev < KWARP_QPE_COUNT; ev++) {
				const struct kwarp_qp_step *s = kwarp_qp_fsm(from, ev);
				u32 next = s->legal ? s->next : from;

				if (seen & BIT(from))
					seen |= BIT(next);
				if (back & BIT(next))
					back |= BIT(from);
			}
		}
	}
	KUNIT_EXPECT_EQ(test, seen, BIT(KWARP_QPS_COUNT) - 1);
	KUNIT_EXPECT_EQ(test, back, BIT(KWARP_QPS_COUNT) - 1);
}

static void test_out_of_range(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, kwarp_qp_fsm(KWARP_QPS_COUNT, 0)->legal);
	KUNIT_EXPECT_FALSE(test, kwarp_qp_fsm(0, KWARP_QPE_COUNT)->legal);
	KUNIT_EXPECT_FALSE(test, kwarp_qp_fsm(-1, -1)->legal);
	KUNIT_EXPECT_STREQ(test, kwarp_qp_state_name(KWARP_QPS_COUNT), "?");
	KUNIT_EXPECT_STREQ(test, kwarp_qp_event_name(-1), "?");
}

static struct kunit_case qp_fsm_cases[] = {
	KUNIT_CASE_PARAM(test_pair, pair_gen_params),
	KUNIT_CASE_PARAM(test_pair_rules, pair_gen_params),
	KUNIT_CASE(test_reachable),
	KUNIT_CASE(test_out_of_range),
	{}
};

static struct kunit_suite qp_fsm_suite = {
	.name = "kwarp_qp_fsm",
	.test_cases = qp_fsm_cases,
};

kunit_test_suite(qp_fsm_suite);
