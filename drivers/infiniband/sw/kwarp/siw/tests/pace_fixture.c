// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fixture of the tests of pace.c, which is included */
#include "pace_fixture.h"

#include <linux/hrtimer.h>
#include <linux/timekeeping.h>
#include <rdma/siw-abi.h>

static ktime_t pace_told_time(void);

#define ktime_get		pace_told_time
#include "../pace.c"
#undef ktime_get

static struct pace_test *the_test;

static ktime_t pace_told_time(void)
{
	const u64 now = READ_ONCE(the_test->now);

	return now ? ns_to_ktime(now) : ktime_get();
}

void pace_post(struct pace_test *t, u32 n)
{
	struct kwarp_siw_ring *r = t->ring;
	struct siw_sqe *e = (struct siw_sqe *)r->mem;
	u32 at = r->next;

	while (r->foreign.ops->posted(&r->foreign, at - r->next))
		at++;
	while (n--)
		e[at++ & r->mask].flags = SIW_WQE_VALID;
}

static void take_requests(struct pace_test *t)
{
	kwarp_sq_tell(&t->sq, 0);
	kwarp_sq_posted_all(&t->sq);
	t->sq.next = t->sq.ring.hdr->prod;
	t->sq.retired = t->sq.next;
}

void pace_tell_posters(struct pace_test *t)
{
	kwarp_sq_tell(&t->sq, READ_ONCE(t->e.tx.coalesce.on) ? KWARP_RING_HELD :
							       KWARP_RING_NEED_KICK);
}

static void sent_by_timer(struct kwarp_engine *e)
{
	struct pace_test *t = container_of(e, struct pace_test, e);

	take_requests(t);
	pace_tell_posters(t);
	WRITE_ONCE(t->sends, t->sends + 1);
}

/* The program posts @n requests and rings. Return: true if the stream is held after that. */
bool pace_ring(struct pace_test *t, u32 n)
{
	pace_post(t, n);
	take_requests(t);
	kwarp_siw_hold_ops.sent(&t->e, true);
	pace_tell_posters(t);
	return t->e.tx.coalesce.on;
}

void pace_set_run(struct pace_test *t, enum kwarp_run run)
{
	atomic_set(&t->e.tx.run, run);
}

/* e->tx.run, which says whether there is a runner, has the value @run. */
enum hrtimer_restart pace_look_beside(struct pace_test *t, enum kwarp_run run)
{
	enum hrtimer_restart ret;

	hrtimer_cancel(&t->p->timer);
	t->now += 25 * NSEC_PER_USEC;
	pace_set_run(t, run);
	ret = pace_timer(&t->p->timer);
	pace_set_run(t, KWARP_RUN_ACTIVE);
	return ret;
}

enum hrtimer_restart pace_look(struct pace_test *t)
{
	return pace_look_beside(t, KWARP_RUN_IDLE);
}

int pace_test_init(struct kunit *test)
{
	struct pace_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct kwarp_dev *kdev = kunit_kzalloc(test, sizeof(*kdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_ASSERT_NOT_NULL(test, kdev);
	t->ring = kwarp_siw_new_sq(64, NULL);
	KUNIT_ASSERT_NOT_NULL(test, t->ring);
	test->priv = t;
	the_test = t;
	t->now = NSEC_PER_SEC;
	t->p = &t->ring->pace;
	t->e.kdev = kdev;
	t->e.sq = &t->sq;
	t->sq.foreign = &t->ring->foreign;
	t->sq.cq = &t->cq;
	t->cq.coalesce.user = &t->user;
	test_ring_init(test, &t->sq.ring, 64, 256);
	t->sq.ring.hdr->flags = KWARP_RING_NEED_KICK;
	/* The test acts as the runner. */
	atomic_set(&t->e.tx.run, KWARP_RUN_ACTIVE);
	t->e.tx.coalesce.send = sent_by_timer;
	kwarp_siw_pace_init(t->ring);
	t->e.tx.coalesce.ns = KWARP_PACE_LOOKS * TEST_NS;
	kwarp_siw_hold_ops.reset(&t->e);
	return 0;
}

void pace_test_exit(struct kunit *test)
{
	struct pace_test *t = test->priv;

	if (!t)
		return;
	kwarp_siw_hold_ops.stop(&t->e);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&t->p->timer));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->timers.paced), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->user.paced), 0);
	kwarp_siw_free(t->ring);
}
