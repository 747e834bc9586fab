// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Whether to hold a send queue: see coalesce.h.
 */
#include "coalesce.h"

#include <linux/hrtimer.h>
#include <linux/sched.h>

#include "../../kwarp.h"

/* The timer asks, and the program has not rung for a period. */
static bool hold_goes_on(struct kwarp_coalesce *c, const struct kwarp_coalesce_facts *f)
{
	u32 *looks = f->posted ? &c->left : &c->quiet;

	if (f->armed)
		return false;
	/* It has something to poll, and will come to the end of it; but some never do. */
	if (f->completions && ++*looks < KWARP_COALESCE_LOOKS)
		return true;
	if (f->posted)
		c->obey = KWARP_COALESCE_OBEY;
	return false;
}

/**
 * kwarp_coalesce_verdict - hold what is posted next?
 * @c: counts, brought up to date
 * @f: facts
 *
 * Context: the runner.
 * Return: true: the send queue is held from now on, or still.
 */
bool kwarp_coalesce_verdict(struct kwarp_coalesce *c, const struct kwarp_coalesce_facts *f)
{
	if (f->due)
		return hold_goes_on(c, f);
	c->quiet = 0;
	c->left = 0;
	if (c->obey) {
		c->obey--;
		return false;
	}
	return f->polled && !f->armed;
}

/* May whoever posts keep the processor from the timer for as long as it likes? */
static bool poster_is_realtime(void)
{
	switch (current->policy) {
	case SCHED_FIFO:
	case SCHED_RR:
	case SCHED_DEADLINE:
		return true;
	default:
		return IS_ENABLED(CONFIG_PREEMPT_RT);
	}
}

/* What the program has said in its CQs.  All of it is a hint: it may be saying more just now. */
static void read_cqs(struct kwarp_engine *e, struct kwarp_coalesce_facts *f)
{
	struct kwarp_cq_view view = {};

	kwarp_cq_look(e->sq->cq, &view);
	if (e->recv_cq != e->sq->cq)
		kwarp_cq_look(e->recv_cq, &view);
	f->completions = view.completions;
	f->armed = view.armed;
	f->polled = view.polls != e->tx.coalesce.polls;
	e->tx.coalesce.polls = view.polls;
}

/* The timer looks at it before it has become the runner. */
static void set_on(struct kwarp_coalesce *c, bool on)
{
	WRITE_ONCE(c->on, on);
}

/* A stream begins.  Context: the runner. */
void kwarp_coalesce_reset(struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;

	kwarp_assert_runner(e);
	c->ns = READ_ONCE(e->kdev->knobs.coalesce_us) * NSEC_PER_USEC;
	set_on(c, false);
	c->rung = false;
	c->lately = false;
	c->obey = 0;
	c->quiet = 0;
	c->left = 0;
}

/* A doorbell was rung: kwarp_coalesce_sent() follows.  Context: the runner, process. */
void kwarp_coalesce_rung(struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;

	kwarp_assert_runner(e);
	c->rung = true;
	c->lately = true;
	c->rung_at = READ_ONCE(e->sq->ring.hdr->prod);
	c->realtime = poster_is_realtime();
}

static bool may_hold(const struct kwarp_engine *e)
{
	const struct kwarp_coalesce *c = &e->tx.coalesce;

	/* A timer that has to wait for the next tick would hold for much too long. */
	if (!e->sock || !c->ns || hrtimer_resolution > c->ns || c->realtime)
		return false;
	/* A responder whose peer has said nothing cannot send, whoever rings. */
	return test_bit(KWARP_E_TX_OPEN, &e->flags);
}

/**
 * kwarp_coalesce_sent - all that could be sent has been: if a doorbell was rung for it, what now?
 * @e: engine
 *
 * After the sending, since what completes at once may raise the event that the program has
 * asked for: then it does not sleep, and goes on.
 *
 * Context: the runner.
 */
void kwarp_coalesce_sent(struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;
	struct kwarp_coalesce_facts facts = {};
	bool on = false;

	kwarp_assert_runner(e);
	if (!c->rung)
		return;
	c->rung = false;
	if (may_hold(e)) {
		read_cqs(e, &facts);
		on = kwarp_coalesce_verdict(c, &facts);
	}
	/* Once: the timer may be looking. */
	set_on(c, on);
}

/* Has the program left requests in the ring, although it could have rung? */
static bool has_left(const struct kwarp_engine *e)
{
	u32 prod = READ_ONCE(e->sq->ring.hdr->prod);

	/* What waits for a Read Response would wait if its program had rung, too. */
	return prod != e->sq->next && prod != e->tx.coalesce.rung_at &&
	       !test_bit(KWARP_E_TX_WAIT_READ, &e->flags);
}

/*
 * The timer looks, before it sends.  Nothing is to be judged if the program has rung since the
 * last look, or need not: what it rang for is still being sent, or TCP has no room.
 *
 * Context: the runner, softirq.
 */
void kwarp_coalesce_due(struct kwarp_engine *e)
{
	struct kwarp_coalesce *c = &e->tx.coalesce;
	struct kwarp_coalesce_facts facts = { .due = true };
	bool lately = c->lately;

	kwarp_assert_runner(e);
	c->lately = false;
	if (!c->on || lately || c->rung || READ_ONCE(e->sq->ring.hdr->flags) != KWARP_RING_HELD)
		return;
	facts.posted = has_left(e);
	read_cqs(e, &facts);
	/* A program that waits for an event has gone to sleep in good faith. */
	if (facts.posted && !facts.armed)
		atomic_long_inc(&e->kdev->coalesce_timeouts);
	set_on(c, kwarp_coalesce_verdict(c, &facts));
}
