// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of backlogs: in which order, and how many at a time, Requests of a listener are passed to
 * the ULP.
 *
 * Line: the endpoints (connections) whose Requests wait, the oldest first. A marked endpoint has
 * the bit KWARP_EP_SOCK, which makes it ask again whether it may pass its Request on.
 */
#include <kunit/test.h>

#include "../types.h"

#include "../../tests/doors.h"
#include "../backlog.h"
#include "../ep.h"

static void backlog_ep_mark(struct kwarp_ep *ep, int bit)
{
	set_bit(bit, &ep->events);
}

#define BACKLOG		2
#define CLIENTS		5

struct line {
	struct kwarp_listener l;
	struct kwarp_ep ep[CLIENTS];
};

static struct line *line_new(struct kunit *test)
{
	struct line *line = kunit_kzalloc(test, sizeof(*line), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, line);
	kwarp_stub(test, kwarp_ep_mark, backlog_ep_mark);
	spin_lock_init(&line->l.lock);
	INIT_LIST_HEAD(&line->l.waiting);
	line->l.backlog = BACKLOG;
	for (i = 0; i < CLIENTS; i++) {
		mutex_init(&line->ep[i].mutex);
		INIT_LIST_HEAD(&line->ep[i].in_line);
		line->ep[i].listener = &line->l;
	}
	return line;
}

static bool try_backlog(struct line *line, int i)
{
	bool passed;

	clear_bit(KWARP_EP_SOCK, &line->ep[i].events);
	spin_lock(&line->l.lock);
	passed = kwarp_backlog_try(&line->ep[i]);
	if (passed)
		kwarp_backlog_asked(&line->ep[i]);
	spin_unlock(&line->l.lock);
	return passed;
}

static void leave_backlog(struct line *line, int i)
{
	mutex_lock(&line->ep[i].mutex);
	kwarp_backlog_leave(&line->ep[i]);
	mutex_unlock(&line->ep[i].mutex);
}

static bool ep_is_marked(struct line *line, int i)
{
	return test_bit(KWARP_EP_SOCK, &line->ep[i].events);
}

static void test_backlog(struct kunit *test)
{
	struct line *line = line_new(test);
	int i;

	for (i = 0; i < CLIENTS; i++)
		KUNIT_EXPECT_EQ_MSG(test, try_backlog(line, i), i < BACKLOG, "Request %d", i);
	for (i = BACKLOG; i < CLIENTS; i++) {
		/* The first in line is marked, but the ULP has to answer a Request first. */
		KUNIT_EXPECT_EQ(test, ep_is_marked(line, i), i > BACKLOG);
		KUNIT_EXPECT_FALSE(test, try_backlog(line, i));
		leave_backlog(line, i - BACKLOG);
		KUNIT_EXPECT_TRUE(test, ep_is_marked(line, i));
		/* An endpoint that is not the first in line does not overtake. */
		if (i + 1 < CLIENTS)
			KUNIT_EXPECT_FALSE(test, try_backlog(line, i + 1));
		KUNIT_EXPECT_TRUE(test, try_backlog(line, i));
		KUNIT_EXPECT_EQ(test, line->l.asked, BACKLOG);
	}
	for (i = 0; i < CLIENTS; i++)
		leave_backlog(line, i);
	KUNIT_EXPECT_EQ(test, line->l.asked, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&line->l.waiting));
}

/* Only the first is marked; when it passes its Request on, it marks the next. */
static void test_backlog_together(struct kunit *test)
{
	struct line *line = line_new(test);
	int i;

	for (i = 0; i < CLIENTS; i++)
		try_backlog(line, i);
	leave_backlog(line, 0);
	leave_backlog(line, 1);
	KUNIT_EXPECT_FALSE(test, ep_is_marked(line, 3));
	KUNIT_EXPECT_TRUE(test, try_backlog(line, 2));
	KUNIT_EXPECT_TRUE(test, ep_is_marked(line, 3));
	KUNIT_EXPECT_TRUE(test, try_backlog(line, 3));
	KUNIT_EXPECT_TRUE(test, ep_is_marked(line, 4));
	KUNIT_EXPECT_FALSE(test, try_backlog(line, 4));
}

/*
 * An endpoint is marked when it becomes the first in line; the first is marked when the ULP may get
 * one Request more.
 */
static void test_backlog_die(struct kunit *test)
{
	struct line *line = line_new(test);
	int i;

	for (i = 0; i < CLIENTS; i++)
		try_backlog(line, i);
	leave_backlog(line, 2);
	KUNIT_EXPECT_TRUE(test, ep_is_marked(line, 3));
	KUNIT_EXPECT_FALSE(test, try_backlog(line, 3));
	/* Endpoint 4, the last in line, ends: no effect on the first, 3. Then 4 lines up again. */
	leave_backlog(line, 4);
	KUNIT_EXPECT_FALSE(test, ep_is_marked(line, 3));
	KUNIT_EXPECT_FALSE(test, try_backlog(line, 4));
	leave_backlog(line, 0);
	KUNIT_EXPECT_TRUE(test, ep_is_marked(line, 3));
	leave_backlog(line, 3);
	KUNIT_EXPECT_TRUE(test, ep_is_marked(line, 4));
	KUNIT_EXPECT_TRUE(test, try_backlog(line, 4));
	/* The end of an endpoint that has ended already has no effect. */
	leave_backlog(line, 0);
	KUNIT_EXPECT_EQ(test, line->l.asked, BACKLOG);
}

/* If the ULP answers no Request for KWARP_BACKLOG_MS, one more is passed on. */
static void test_backlog_collected(struct kunit *test)
{
	struct line *line = line_new(test);
	int i;

	for (i = 0; i < CLIENTS; i++)
		try_backlog(line, i);
	line->l.asked_at = jiffies - msecs_to_jiffies(KWARP_BACKLOG_MS) - 1;
	KUNIT_EXPECT_FALSE(test, try_backlog(line, 3));
	KUNIT_EXPECT_TRUE(test, try_backlog(line, 2));
	KUNIT_EXPECT_FALSE(test, try_backlog(line, 3));
	KUNIT_EXPECT_EQ(test, line->l.asked, BACKLOG + 1);
}

static unsigned long backlog_delay(struct line *line, int i)
{
	unsigned long ret;

	mutex_lock(&line->ep[i].mutex);
	ret = kwarp_backlog_delay(&line->ep[i]);
	mutex_unlock(&line->ep[i].mutex);
	return ret;
}

/* The delay is at least one jiffy: 0 means no delay. */
static void test_backlog_delay(struct kunit *test)
{
	const unsigned long interval = msecs_to_jiffies(KWARP_BACKLOG_MS);
	struct line *line = line_new(test);
	int i;

	for (i = 0; i < CLIENTS; i++)
		try_backlog(line, i);
	KUNIT_EXPECT_GT(test, backlog_delay(line, 2), interval / 2);
	KUNIT_EXPECT_LE(test, backlog_delay(line, 2), interval);
	KUNIT_EXPECT_EQ(test, backlog_delay(line, 3), 0);
	line->l.asked_at = jiffies - 10 * interval;
	KUNIT_EXPECT_EQ(test, backlog_delay(line, 2), 1);
	KUNIT_EXPECT_EQ(test, backlog_delay(line, 3), 0);
}

/* A backlog of 0 counts as 1; otherwise no Request would be passed on. */
static void test_backlog_no_backlog(struct kunit *test)
{
	struct line *line = line_new(test);

	line->l.backlog = 0;
	KUNIT_EXPECT_TRUE(test, try_backlog(line, 0));
	KUNIT_EXPECT_FALSE(test, try_backlog(line, 1));
	leave_backlog(line, 0);
	KUNIT_EXPECT_TRUE(test, try_backlog(line, 1));
}

static struct kunit_case backlog_order_cases[] = {
	KUNIT_CASE(test_backlog),
	KUNIT_CASE(test_backlog_together),
	KUNIT_CASE(test_backlog_die),
	KUNIT_CASE(test_backlog_collected),
	KUNIT_CASE(test_backlog_delay),
	KUNIT_CASE(test_backlog_no_backlog),
	{}
};

static struct kunit_suite backlog_order_suite = {
	.name = "kwarp_cm_backlog_order",
	.test_cases = backlog_order_cases,
};

kunit_test_suite(backlog_order_suite);
