// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of turns: in which order, and how many at a time, Requests of a listener are passed to the
 * ULP. The code under test is included.
 *
 * Line: the endpoints (connections) whose Requests wait, the oldest first. A marked endpoint has
 * the bit KWARP_EP_SOCK, which makes it ask again whether it may pass its Request on.
 */
#include <kunit/test.h>

#include "../types.h"

#include "../turn.h"

/* Rename what the included code defines and calls: the module has functions of these names. */
#define kwarp_turn_is		tested_turn_is
#define kwarp_turn_delay	tested_turn_delay
#define kwarp_turn_asked	tested_turn_asked
#define kwarp_turn_over		tested_turn_over
#define kwarp_ep_mark		turn_ep_mark

static bool tested_turn_is(struct kwarp_ep *ep);
static unsigned long tested_turn_delay(struct kwarp_ep *ep);
static void tested_turn_asked(struct kwarp_ep *ep);
static void tested_turn_over(struct kwarp_ep *ep);
static void turn_ep_mark(struct kwarp_ep *ep, int bit);

#include "../turn.c"

static void turn_ep_mark(struct kwarp_ep *ep, int bit)
{
	set_bit(bit, &ep->events);
}

#define BACKLOG		2
#define CLIENTS		5

/**
 * struct line - Requests of one listener
 * @l: listener
 * @ep: endpoints, in the order in which their Requests came
 */
struct line {
	struct kwarp_listener l;
	struct kwarp_ep ep[CLIENTS];
};

static struct line *line_new(struct kunit *test)
{
	struct line *line = kunit_kzalloc(test, sizeof(*line), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, line);
	spin_lock_init(&line->l.lock);
	INIT_LIST_HEAD(&line->l.waiting);
	line->l.backlog = BACKLOG;
	for (i = 0; i < CLIENTS; i++) {
		mutex_init(&line->ep[i].mutex);
		INIT_LIST_HEAD(&line->ep[i].turn);
		line->ep[i].listener = &line->l;
	}
	return line;
}

/* Endpoint @i tries to pass its Request on, like cm_upcall.c. Return: true: the ULP has it. */
static bool look_for_turn(struct line *line, int i)
{
	bool told;

	clear_bit(KWARP_EP_SOCK, &line->ep[i].events);
	spin_lock(&line->l.lock);
	told = tested_turn_is(&line->ep[i]);
	if (told)
		tested_turn_asked(&line->ep[i]);
	spin_unlock(&line->l.lock);
	return told;
}

static void end_turn(struct line *line, int i)
{
	mutex_lock(&line->ep[i].mutex);
	tested_turn_over(&line->ep[i]);
	mutex_unlock(&line->ep[i].mutex);
}

static bool ep_is_marked(struct line *line, int i)
{
	return test_bit(KWARP_EP_SOCK, &line->ep[i].events);
}

/*
 * As many Requests are passed on as the backlog says, then one for each answer of the ULP, in
 * order.
 */
static void test_turns(struct kunit *test)
{
	struct line *line = line_new(test);
	int i;

	for (i = 0; i < CLIENTS; i++)
		KUNIT_EXPECT_EQ_MSG(test, look_for_turn(line, i), i < BACKLOG, "Request %d", i);
	for (i = BACKLOG; i < CLIENTS; i++) {
		/*
		 * The endpoint that becomes the first in line is marked, but the ULP has to answer
		 * a Request first.
		 */
		KUNIT_EXPECT_EQ(test, ep_is_marked(line, i), i > BACKLOG);
		KUNIT_EXPECT_FALSE(test, look_for_turn(line, i));
		end_turn(line, i - BACKLOG);
		KUNIT_EXPECT_TRUE(test, ep_is_marked(line, i));
		/* An endpoint that is not the first in line does not overtake. */
		if (i + 1 < CLIENTS)
			KUNIT_EXPECT_FALSE(test, look_for_turn(line, i + 1));
		KUNIT_EXPECT_TRUE(test, look_for_turn(line, i));
		KUNIT_EXPECT_EQ(test, line->l.asked, BACKLOG);
	}
	for (i = 0; i < CLIENTS; i++)
		end_turn(line, i);
	KUNIT_EXPECT_EQ(test, line->l.asked, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&line->l.waiting));
}

/*
 * The ULP answers two Requests before the first endpoint in line has asked again. Only the first is
 * marked; when it passes its Request on, it marks the next.
 */
static void test_turns_together(struct kunit *test)
{
	struct line *line = line_new(test);
	int i;

	for (i = 0; i < CLIENTS; i++)
		look_for_turn(line, i);
	end_turn(line, 0);
	end_turn(line, 1);
	KUNIT_EXPECT_FALSE(test, ep_is_marked(line, 3));
	KUNIT_EXPECT_TRUE(test, look_for_turn(line, 2));
	KUNIT_EXPECT_TRUE(test, ep_is_marked(line, 3));
	KUNIT_EXPECT_TRUE(test, look_for_turn(line, 3));
	KUNIT_EXPECT_TRUE(test, ep_is_marked(line, 4));
	KUNIT_EXPECT_FALSE(test, look_for_turn(line, 4));
}

/*
 * Endpoints end: the first in line, the last in line, and one whose Request the ULP has received
 * and not answered. An endpoint is marked when it becomes the first in line; the first is marked
 * when the ULP may get one Request more.
 */
static void test_turns_die(struct kunit *test)
{
	struct line *line = line_new(test);
	int i;

	for (i = 0; i < CLIENTS; i++)
		look_for_turn(line, i);
	end_turn(line, 2);
	KUNIT_EXPECT_TRUE(test, ep_is_marked(line, 3));
	KUNIT_EXPECT_FALSE(test, look_for_turn(line, 3));
	/* Endpoint 4, the last in line, ends: no effect on the first, 3. Then 4 lines up again. */
	end_turn(line, 4);
	KUNIT_EXPECT_FALSE(test, ep_is_marked(line, 3));
	KUNIT_EXPECT_FALSE(test, look_for_turn(line, 4));
	end_turn(line, 0);
	KUNIT_EXPECT_TRUE(test, ep_is_marked(line, 3));
	end_turn(line, 3);
	KUNIT_EXPECT_TRUE(test, ep_is_marked(line, 4));
	KUNIT_EXPECT_TRUE(test, look_for_turn(line, 4));
	/* The end of an endpoint that has ended already has no effect. */
	end_turn(line, 0);
	KUNIT_EXPECT_EQ(test, line->l.asked, BACKLOG);
}

/*
 * If the ULP answers no Request for KWARP_TURN_MS, one more is passed on: that of the first in
 * line.
 */
static void test_turns_collected(struct kunit *test)
{
	struct line *line = line_new(test);
	int i;

	for (i = 0; i < CLIENTS; i++)
		look_for_turn(line, i);
	line->l.asked_at = jiffies - msecs_to_jiffies(KWARP_TURN_MS) - 1;
	KUNIT_EXPECT_FALSE(test, look_for_turn(line, 3));
	KUNIT_EXPECT_TRUE(test, look_for_turn(line, 2));
	KUNIT_EXPECT_FALSE(test, look_for_turn(line, 3));
	KUNIT_EXPECT_EQ(test, line->l.asked, BACKLOG + 1);
}

static unsigned long turn_delay(struct line *line, int i)
{
	unsigned long ret;

	mutex_lock(&line->ep[i].mutex);
	ret = tested_turn_delay(&line->ep[i]);
	mutex_unlock(&line->ep[i].mutex);
	return ret;
}

/*
 * Only the first in line has a delay after which it asks again without being marked. The delay ends
 * KWARP_TURN_MS after the last Request was passed on, but is at least one jiffy: 0 means no delay.
 */
static void test_turns_delay(struct kunit *test)
{
	const unsigned long turn = msecs_to_jiffies(KWARP_TURN_MS);
	struct line *line = line_new(test);
	int i;

	for (i = 0; i < CLIENTS; i++)
		look_for_turn(line, i);
	KUNIT_EXPECT_GT(test, turn_delay(line, 2), turn / 2);
	KUNIT_EXPECT_LE(test, turn_delay(line, 2), turn);
	KUNIT_EXPECT_EQ(test, turn_delay(line, 3), 0);
	line->l.asked_at = jiffies - 10 * turn;
	KUNIT_EXPECT_EQ(test, turn_delay(line, 2), 1);
	KUNIT_EXPECT_EQ(test, turn_delay(line, 3), 0);
}

/* A backlog of 0 counts as 1; otherwise no Request would be passed on. */
static void test_turns_no_backlog(struct kunit *test)
{
	struct line *line = line_new(test);

	line->l.backlog = 0;
	KUNIT_EXPECT_TRUE(test, look_for_turn(line, 0));
	KUNIT_EXPECT_FALSE(test, look_for_turn(line, 1));
	end_turn(line, 0);
	KUNIT_EXPECT_TRUE(test, look_for_turn(line, 1));
}

static struct kunit_case turn_order_cases[] = {
	KUNIT_CASE(test_turns),
	KUNIT_CASE(test_turns_together),
	KUNIT_CASE(test_turns_die),
	KUNIT_CASE(test_turns_collected),
	KUNIT_CASE(test_turns_delay),
	KUNIT_CASE(test_turns_no_backlog),
	{}
};

static struct kunit_suite turn_order_suite = {
	.name = "kwarp_cm_turn_order",
	.test_cases = turn_order_cases,
};

kunit_test_suite(turn_order_suite);
