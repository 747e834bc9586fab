// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the state table of connection endpoints: every pair of state and event, and every path.
 */
#include <kunit/test.h>

#include "../cm_fsm.h"

#define S(state)	KWARP_CMS_##state
#define E(event)	KWARP_CME_##event
#define A(act)		BIT(KWARP_CMA_##act)

/* The endpoint ends: its connect has returned 0, but has then failed. */
#define CONN_DEAD	(A(REPLY_FAIL) | A(QP_PUT) | A(KILL))
/* The endpoint ends: its accept has returned 0, but has then failed. */
#define ACC_DEAD	(A(EST_FAIL) | A(QP_PUT) | A(KILL))
/* The endpoint ends; it may have been half-open until now, so the listener is told, too. */
#define GONE		(A(LEAVE) | A(KILL))

/* All legal pairs of state and event. Any other pair changes nothing. */
static const struct step_case {
	enum kwarp_cm_state from;
	enum kwarp_cm_event event;
	enum kwarp_cm_state to;
	u32 actions;
} steps[] = {
	{ S(NEW), E(CONNECT), S(CONNECT), 0 },
	{ S(NEW), E(INBOUND), S(WAIT_REQ), 0 },
	{ S(NEW), E(LOCAL), S(DEAD), A(QP_PUT) | A(KILL) },

	{ S(CONNECT), E(TCP_UP), S(SEND_REQ), 0 },
	{ S(CONNECT), E(LOST), S(DEAD), CONN_DEAD },
	{ S(CONNECT), E(TIMER), S(DEAD), CONN_DEAD },
	{ S(CONNECT), E(NO_QP), S(DEAD), CONN_DEAD },
	{ S(CONNECT), E(ABORT), S(DEAD), CONN_DEAD },

	{ S(SEND_REQ), E(SENT), S(WAIT_REP), 0 },
	{ S(SEND_REQ), E(RETRY), S(CONNECT), A(RECONNECT) },
	{ S(SEND_REQ), E(LOST), S(DEAD), CONN_DEAD },
	{ S(SEND_REQ), E(TIMER), S(DEAD), CONN_DEAD },
	{ S(SEND_REQ), E(NO_QP), S(DEAD), CONN_DEAD },
	{ S(SEND_REQ), E(ABORT), S(DEAD), CONN_DEAD },

	{ S(WAIT_REP), E(REPLY), S(STREAM), A(REPLY_OK) },
	{ S(WAIT_REP), E(REJECTED), S(LINGER), A(REPLY_FAIL) | A(QP_PUT) | A(FIN) },
	{ S(WAIT_REP), E(OWE_TERM), S(SEND_TERM), A(REPLY_FAIL) | A(QP_PUT) },
	{ S(WAIT_REP), E(RETRY), S(CONNECT), A(RECONNECT) },
	{ S(WAIT_REP), E(BAD), S(DEAD), CONN_DEAD },
	{ S(WAIT_REP), E(LOST), S(DEAD), CONN_DEAD },
	{ S(WAIT_REP), E(TIMER), S(DEAD), CONN_DEAD },
	{ S(WAIT_REP), E(NO_QP), S(DEAD), CONN_DEAD },
	{ S(WAIT_REP), E(ABORT), S(DEAD), CONN_DEAD },

	{ S(WAIT_REQ), E(REQUEST), S(WAIT_ULP), 0 },
	{ S(WAIT_REQ), E(QUEUED), S(WAIT_BACKLOG), 0 },
	{ S(WAIT_REQ), E(REFUSE), S(SEND_REJ), 0 },
	{ S(WAIT_REQ), E(BAD), S(DEAD), GONE },
	{ S(WAIT_REQ), E(LOST), S(DEAD), GONE },
	{ S(WAIT_REQ), E(TIMER), S(DEAD), GONE },
	{ S(WAIT_REQ), E(ORPHAN), S(DEAD), GONE },
	{ S(WAIT_REQ), E(EVICT), S(DEAD), GONE },
	{ S(WAIT_REQ), E(ABORT), S(DEAD), GONE },

	{ S(WAIT_BACKLOG), E(REQUEST), S(WAIT_ULP), 0 },
	{ S(WAIT_BACKLOG), E(BAD), S(DEAD), GONE },
	{ S(WAIT_BACKLOG), E(LOST), S(DEAD), GONE },
	{ S(WAIT_BACKLOG), E(TIMER), S(SEND_REJ), A(REFUSE) },
	{ S(WAIT_BACKLOG), E(ORPHAN), S(SEND_REJ), A(REFUSE) },
	{ S(WAIT_BACKLOG), E(EVICT), S(SEND_REJ), A(REFUSE) },
	{ S(WAIT_BACKLOG), E(ABORT), S(DEAD), GONE },

	{ S(WAIT_ULP), E(ACCEPT), S(SEND_REP), A(LEAVE) },
	{ S(WAIT_ULP), E(REJECT), S(SEND_REJ), A(QP_PUT) },
	{ S(WAIT_ULP), E(BAD), S(DEAD), GONE },
	{ S(WAIT_ULP), E(LOST), S(DEAD), GONE },
	{ S(WAIT_ULP), E(TIMER), S(DEAD), GONE },
	{ S(WAIT_ULP), E(ORPHAN), S(WAIT_ULP), A(HURRY) },
	{ S(WAIT_ULP), E(EVICT), S(SEND_REJ), A(REFUSE) },
	{ S(WAIT_ULP), E(ABORT), S(DEAD), GONE },

	{ S(SEND_REP), E(ATTACHED), S(STREAM), A(EST) },
	{ S(SEND_REP), E(ATTACHED_P2P), S(WAIT_FPDU), 0 },
	{ S(SEND_REP), E(LOST), S(DEAD), ACC_DEAD },
	{ S(SEND_REP), E(LOCAL), S(DEAD), ACC_DEAD },
	{ S(SEND_REP), E(TIMER), S(DEAD), ACC_DEAD },
	{ S(SEND_REP), E(NO_QP), S(DEAD), ACC_DEAD },
	{ S(SEND_REP), E(ABORT), S(DEAD), ACC_DEAD },

	{ S(WAIT_FPDU), E(FPDU), S(STREAM), A(EST) },
	{ S(WAIT_FPDU), E(PEER_FIN), S(WAIT_FPDU), A(QP_ABORT) },
	{ S(WAIT_FPDU), E(TIMER), S(WAIT_FPDU), A(QP_ABORT) },
	{ S(WAIT_FPDU), E(ABORT), S(WAIT_FPDU), A(QP_ABORT) },
	{ S(WAIT_FPDU), E(DOWN_FIN), S(LINGER), A(EST_FAIL) | A(QP_PUT) | A(FIN) },
	{ S(WAIT_FPDU), E(DOWN_ERR), S(LINGER),
	  A(EST_FAIL) | A(QP_PUT) | A(FIN) | A(DISCARD) },
	{ S(WAIT_FPDU), E(DOWN_KILL), S(DEAD), ACC_DEAD },

	{ S(SEND_REJ), E(SENT), S(LINGER), A(FIN) },
	{ S(SEND_REJ), E(LOST), S(DEAD), GONE },
	{ S(SEND_REJ), E(TIMER), S(DEAD), GONE },
	{ S(SEND_REJ), E(EVICT), S(DEAD), GONE },
	{ S(SEND_REJ), E(ABORT), S(DEAD), GONE },

	{ S(SEND_TERM), E(SENT), S(LINGER), A(FIN) | A(DISCARD) },
	{ S(SEND_TERM), E(LOST), S(DEAD), A(KILL) },
	{ S(SEND_TERM), E(TIMER), S(DEAD), A(KILL) },
	{ S(SEND_TERM), E(ABORT), S(DEAD), A(KILL) },

	{ S(STREAM), E(PEER_FIN), S(CLOSED), A(CLOSE) },
	{ S(STREAM), E(DOWN_FIN), S(LINGER), A(CLOSE) | A(QP_PUT) | A(FIN) },
	{ S(STREAM), E(DOWN_ERR), S(LINGER), A(CLOSE) | A(QP_PUT) | A(FIN) | A(DISCARD) },
	{ S(STREAM), E(DOWN_KILL), S(DEAD), A(CLOSE) | A(QP_PUT) | A(KILL) },
	{ S(STREAM), E(ABORT), S(STREAM), A(QP_ABORT) },

	{ S(CLOSED), E(DOWN_FIN), S(LINGER), A(QP_PUT) | A(FIN) },
	{ S(CLOSED), E(DOWN_ERR), S(LINGER), A(QP_PUT) | A(FIN) | A(DISCARD) },
	{ S(CLOSED), E(DOWN_KILL), S(DEAD), A(QP_PUT) | A(KILL) },
	{ S(CLOSED), E(ABORT), S(CLOSED), A(QP_ABORT) },

	{ S(LINGER), E(DONE), S(DEAD), GONE },
	{ S(LINGER), E(BAD), S(DEAD), GONE },
	{ S(LINGER), E(LOST), S(DEAD), GONE },
	{ S(LINGER), E(TIMER), S(DEAD), GONE },
	{ S(LINGER), E(EVICT), S(DEAD), GONE },
	{ S(LINGER), E(ABORT), S(DEAD), GONE },
};

struct pair {
	enum kwarp_cm_state state;
	enum kwarp_cm_event event;
};

static const void *pair_gen_params(const void *prev, char *desc)
{
	static struct pair pairs[KWARP_CMS_COUNT * KWARP_CME_COUNT];
	u32 i = prev ? (const struct pair *)prev - pairs + 1 : 0;

	if (i >= ARRAY_SIZE(pairs))
		return NULL;
	pairs[i].state = i / KWARP_CME_COUNT;
	pairs[i].event = i % KWARP_CME_COUNT;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %s",
		 kwarp_cm_state_name(pairs[i].state), kwarp_cm_event_name(pairs[i].event));
	return &pairs[i];
}

static void test_pair(struct kunit *test)
{
	const struct pair *p = test->param_value;
	const struct kwarp_cm_step *got = kwarp_cm_fsm(p->state, p->event);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i].from != p->state || steps[i].event != p->event)
			continue;
		KUNIT_EXPECT_TRUE(test, got->legal);
		KUNIT_EXPECT_EQ(test, got->next, steps[i].to);
		KUNIT_EXPECT_EQ(test, got->actions, steps[i].actions);
		return;
	}
	KUNIT_EXPECT_FALSE(test, got->legal);
	KUNIT_EXPECT_EQ(test, got->actions, 0);
}

static bool is_attached(enum kwarp_cm_state state)
{
	return state == S(WAIT_FPDU) || state == S(STREAM) || state == S(CLOSED);
}

static void test_pair_rules(struct kunit *test)
{
	const struct pair *p = test->param_value;
	const struct kwarp_cm_step *s = kwarp_cm_fsm(p->state, p->event);

	if (!s->legal)
		return;
	KUNIT_EXPECT_EQ(test, !!(s->actions & A(KILL)), s->next == S(DEAD));
	KUNIT_EXPECT_EQ(test, !!(s->actions & A(FIN)), s->next == S(LINGER));
	/* while the QP owns the socket, connection management does not touch it */
	if (is_attached(p->state) && p->event < E(DOWN_FIN))
		KUNIT_EXPECT_EQ(test, s->actions & (A(FIN) | A(KILL) | A(QP_PUT)), 0);
	KUNIT_EXPECT_NE(test, p->state, S(DEAD));
	KUNIT_EXPECT_NE(test, s->next, S(NEW));
}

static void test_no_state_waits_for_ever(struct kunit *test)
{
	u32 state;

	for (state = S(NEW) + 1; state < S(DEAD); state++) {
		bool timed = kwarp_cm_state_timer(state) != KWARP_CMT_NONE;

		KUNIT_EXPECT_TRUE(test, kwarp_cm_fsm(state, E(ABORT))->legal);
		KUNIT_EXPECT_EQ(test, kwarp_cm_fsm(state, E(TIMER))->legal, timed);
		KUNIT_EXPECT_EQ(test, timed, state != S(STREAM) && state != S(CLOSED));
	}
	KUNIT_EXPECT_EQ(test, kwarp_cm_state_timer(S(DEAD)), KWARP_CMT_NONE);
}

/* What has happened on one path through the table */
struct world {
	bool active;		/* an Initiator whose connect has returned 0 */
	bool accepted;		/* the ULP's accept has returned 0 */
	bool reported;		/* upcall CONNECT_REPLY or ESTABLISHED has been made */
	bool closed;		/* no more upcalls are allowed */
	bool qp;		/* the endpoint has a reference to a queue pair */
	bool half_open;		/* the listener counts the endpoint as half-open */
};

static void check_upcalls(struct kunit *test, u32 acts, struct world *w)
{
	if (acts & (A(REPLY_OK) | A(REPLY_FAIL)))
		KUNIT_EXPECT_TRUE(test, w->active && !w->reported && !w->closed);
	if (acts & (A(EST) | A(EST_FAIL)))
		KUNIT_EXPECT_TRUE(test, w->accepted && !w->reported && !w->closed);
	if (acts & A(CLOSE))
		KUNIT_EXPECT_TRUE(test, w->reported && !w->closed);
	if (acts & (A(REPLY_OK) | A(REPLY_FAIL) | A(EST) | A(EST_FAIL)))
		w->reported = true;
	if (acts & (A(REPLY_FAIL) | A(EST_FAIL) | A(CLOSE)))
		w->closed = true;
}

static void check_holdings(struct kunit *test, u32 acts, struct world *w)
{
	/*
	 * a refused endpoint is half-open until the end of state LINGER, which has the action LEAVE
	 * for all endpoints
	 */
	if (acts & A(LEAVE))
		w->half_open = false;
	if (acts & (A(EST) | A(QP_ABORT)))
		KUNIT_EXPECT_FALSE(test, w->half_open);
	if (acts & A(QP_ABORT))
		KUNIT_EXPECT_TRUE(test, w->qp);
	if (acts & A(QP_PUT))
		w->qp = false;
}

static void check_end(struct kunit *test, const struct world *w)
{
	KUNIT_EXPECT_FALSE(test, w->qp);
	KUNIT_EXPECT_FALSE(test, w->half_open);
	KUNIT_EXPECT_EQ(test, w->reported, w->active || w->accepted);
	KUNIT_EXPECT_EQ(test, w->closed, w->reported);
}

/*
 * Follow all paths from @state on.  @depth limits their length, because the table has circles:
 * RETRY leads back to CONNECT, and some events, such as ABORT, may leave the state as it is.
 */
static u32 walk_table(struct kunit *test, enum kwarp_cm_state state, struct world w, u32 depth)
{
	const struct kwarp_cm_step *s;
	u32 event, ends = 0;

	if (state == S(DEAD)) {
		check_end(test, &w);
		return 1;
	}
	for (event = 0; event < KWARP_CME_COUNT && depth; event++) {
		struct world next = w;

		s = kwarp_cm_fsm(state, event);
		if (!s->legal)
			continue;
		if (event == E(ACCEPT)) {
			next.accepted = true;
			next.qp = true;
		}
		check_holdings(test, s->actions, &next);
		check_upcalls(test, s->actions, &next);
		ends += walk_table(test, s->next, next, depth - 1);
	}
	return ends;
}

static void test_initiator_walk(struct kunit *test)
{
	struct world w = { .active = true, .qp = true };

	KUNIT_EXPECT_GT(test, walk_table(test, S(CONNECT), w, 10), 100);
}

static void test_responder_walk(struct kunit *test)
{
	struct world w = { .half_open = true };

	KUNIT_EXPECT_GT(test, walk_table(test, S(WAIT_REQ), w, 10), 100);
}

static void test_out_of_range(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, kwarp_cm_fsm(KWARP_CMS_COUNT, 0)->legal);
	KUNIT_EXPECT_FALSE(test, kwarp_cm_fsm(0, KWARP_CME_COUNT)->legal);
	KUNIT_EXPECT_FALSE(test, kwarp_cm_fsm(-1, -1)->legal);
	KUNIT_EXPECT_EQ(test, kwarp_cm_state_timer(-1), KWARP_CMT_NONE);
	KUNIT_EXPECT_STREQ(test, kwarp_cm_state_name(KWARP_CMS_COUNT), "?");
	KUNIT_EXPECT_STREQ(test, kwarp_cm_event_name(-1), "?");
}

static struct kunit_case cm_fsm_cases[] = {
	KUNIT_CASE_PARAM(test_pair, pair_gen_params),
	KUNIT_CASE_PARAM(test_pair_rules, pair_gen_params),
	KUNIT_CASE(test_no_state_waits_for_ever),
	KUNIT_CASE(test_initiator_walk),
	KUNIT_CASE(test_responder_walk),
	KUNIT_CASE(test_out_of_range),
	{}
};

static struct kunit_suite cm_fsm_suite = {
	.name = "kwarp_cm_fsm",
	.test_cases = cm_fsm_cases,
};

kunit_test_suite(cm_fsm_suite);
