// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fixture of the tests of coalesce.c, which is included */
#include "coalesce_fixture.h"

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>

#undef hrtimer_resolution
#define hrtimer_resolution	coalesce_told_resolution
#define ktime_get_ns		coalesce_told_ns
#define local_clock		coalesce_told_clock

unsigned int coalesce_told_resolution;

static u64 coalesce_told_clock(void);

#include "../tx/coalesce.c"

#undef local_clock

void coalesce_count(struct kwarp_cq_coalesce *h, u32 sent)
{
	hold_count(h, sent);
}

void coalesce_forgot(struct kwarp_cq_coalesce *h)
{
	hold_forgot(h);
}

/* ----------------------------------------------------------- fake runner */

static struct coalesce_test *the_test;

u64 coalesce_told_ns(void)
{
	return READ_ONCE(the_test->now) ?: ktime_to_ns(ktime_get());
}

/* A look takes as long as it takes, unless the test says that it takes no time. */
static u64 coalesce_told_clock(void)
{
	return the_test->looks_at_once ? 0 : local_clock();
}

void coalesce_told(struct stream *s)
{
	s->sq.ring.hdr->flags = coalesce_is_held(s) ? KWARP_RING_HELD :
							      KWARP_RING_NEED_KICK;
}

/* As the runner does, it takes all requests and sets the ring's flags. */
static void sent_by_timer(struct kwarp_engine *e)
{
	struct stream *s = container_of(e, struct stream, e);

	udelay(the_test->slow_us);
	s->sq.next = s->sq.ring.hdr->prod;
	s->sends++;
	s->told_held = READ_ONCE(e->tx.coalesce.on);
	coalesce_told(s);
	for (; s == the_test->s && the_test->leave; the_test->leave--) {
		kwarp_coalesce_rung(&s[the_test->leave].e);
		kwarp_coalesce_sent(&s[the_test->leave].e);
		kwarp_coalesce_returns(&s[the_test->leave].e);
	}
}

static void start_stream(struct coalesce_test *t, struct stream *s, struct kwarp_dev *kdev)
{
	s->sq.cq = &t->scq->cq;
	s->e.kdev = kdev;
	s->e.sq = &s->sq;
	s->e.recv_cq = &t->rcq->cq;
	s->e.sock = (struct socket *)t;
	/* The test acts as the runner. */
	atomic_set(&s->e.tx.run, KWARP_RUN_ACTIVE);
	s->e.flags = BIT(KWARP_E_TX_OPEN);
	s->e.tx.coalesce.send = sent_by_timer;
	kwarp_coalesce_reset(&s->e);
}

int coalesce_test_init(struct kunit *test)
{
	struct coalesce_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct kwarp_dev *kdev = kunit_kzalloc(test, sizeof(*kdev), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_ASSERT_NOT_NULL(test, kdev);
	test->priv = t;
	the_test = t;
	/* What looks of an earlier test have used in this tick must not make this one's late. */
	this_cpu_write(kwarp_softirq_share.looks, 0);
	t->scq = test_cq_new(test, 64);
	t->rcq = test_cq_new(test, 64);
	t->hold = &t->scq->cq.coalesce;
	t->scq->cq.ibcq.device = &kdev->ibdev;
	kwarp_engine_init_cq(&t->scq->cq, &t->user);
	/* Most tests are about a CQ for which enough was sent, so that streams are held. */
	t->hold->obey = 0;
	kdev->knobs.coalesce_us = TEST_US;
	coalesce_told_resolution = 1;
	t->now = NSEC_PER_SEC;
	for (i = 0; i < STREAMS; i++) {
		test_ring_init(test, &t->s[i].sq.ring, 64, 64);
		start_stream(t, &t->s[i], kdev);
	}
	return 0;
}

void coalesce_test_exit(struct kunit *test)
{
	struct coalesce_test *t = test->priv;
	u32 i;

	for (i = 0; i < STREAMS; i++)
		kwarp_coalesce_stop(&t->s[i].e);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->hold->streams));
	kwarp_engine_fini_cq(&t->scq->cq);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->s[0].e.kdev->timers.holds), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->user.holds), 0);
}

void coalesce_poll(struct test_cq *cq)
{
	cq->cq.ring.hdr->polls++;
}

/* Stop the timer: the test looks itself, by coalesce_look_now(). */
static void no_timer(struct coalesce_test *t)
{
	hrtimer_cancel(&t->hold->timer);
}

bool coalesce_held_after_ring_of(struct coalesce_test *t, struct stream *s)
{
	kwarp_coalesce_rung(&s->e);
	s->sq.next = s->sq.ring.hdr->prod;
	kwarp_coalesce_sent(&s->e);
	kwarp_coalesce_returns(&s->e);
	no_timer(t);
	coalesce_told(s);
	return coalesce_is_held(s);
}

bool coalesce_held_after_ring(struct coalesce_test *t)
{
	return coalesce_held_after_ring_of(t, &t->s[0]);
}

/* Make the stream's send queue held: the program polls, then rings its doorbell. */
void coalesce_hold(struct kunit *test, struct stream *s)
{
	struct coalesce_test *t = test->priv;

	coalesce_poll(t->scq);
	KUNIT_ASSERT_TRUE(test, coalesce_held_after_ring_of(t, s));
}

/* Return: nanoseconds to the next round; 0: no queue of the CQ is held. */
u64 coalesce_look_now(struct coalesce_test *t)
{
	u64 ns;

	t->now += t->hold->ns;
	spin_lock_bh(&t->hold->lock);
	ns = hold_look(t->hold);
	if (!ns && t->hold->runs)
		kwarp_timers_put(&t->user.holds, &t->s[0].e.kdev->timers.holds);
	t->hold->runs = ns;
	spin_unlock_bh(&t->hold->lock);
	return ns;
}

/* The program ends. */
void coalesce_forget_poster(struct kwarp_cq_coalesce *h)
{
	WRITE_ONCE(h->poster, 0);
}

void coalesce_post_waiting(struct stream *s)
{
	s->sq.ring.hdr->prod++;
}
