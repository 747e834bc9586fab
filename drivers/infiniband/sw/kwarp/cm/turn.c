// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * When the ULP is told of a Request.
 *
 * A program has room for as many connections that it has not looked at as its backlog says, and
 * ib_ucm rejects what is beyond without asking it. With TCP the rest would wait. So they wait
 * here: the ULP has as many Requests without its verdict as its backlog says, and those that came
 * later follow one by one, in their order.
 *
 * There are programs that collect more of them before they accept the first: so one more follows
 * whenever KWARP_TURN_MS have passed, as TCP gives a peer another chance. The first one in line has
 * a timer for that; the others sleep until they are the first.
 *
 * A Request whose peer has gone counts no more, though ib_ucm may still have it: what comes next
 * may then be rejected by ib_ucm, as it would be without all this.
 *
 * All under the listener's lock: asked, asked_at, waiting, and ep->turn and ep->asked.
 */
#include "turn.h"

#include <linux/jiffies.h>

#include "ep.h"
#include "types.h"

static struct kwarp_ep *first_in_line(struct kwarp_listener *l)
{
	return list_first_entry_or_null(&l->waiting, struct kwarp_ep, turn);
}

static bool has_room(const struct kwarp_listener *l)
{
	return l->asked < max(l->backlog, 1);
}

/* Until one more is told in any case, jiffies. */
static unsigned long until_next(const struct kwarp_listener *l)
{
	return max_t(long, l->asked_at + msecs_to_jiffies(KWARP_TURN_MS) - jiffies, 0);
}

/* Out of the line. Return: another one is the first now. */
static bool leave_line(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;
	bool first = first_in_line(l) == ep;

	lockdep_assert_held(&l->lock);
	list_del_init(&ep->turn);
	return first;
}

/* The first one in line looks again. It is listed, hence alive. */
static void wake_first(struct kwarp_listener *l)
{
	struct kwarp_ep *ep = first_in_line(l);

	lockdep_assert_held(&l->lock);
	if (ep)
		kwarp_ep_mark(ep, KWARP_EP_SOCK);
}

/**
 * kwarp_turn_is - may the ULP be told of this Request?
 * @ep: responder with a valid Request
 *
 * If not, the endpoint stands in line, and is marked when it is the first, and when there is room;
 * in between it looks when kwarp_turn_delay() says so.
 *
 * Context: process; ep->mutex and the listener's lock held.
 * Return: true if nobody is before it and the ULP has room, or has answered nothing for a while.
 */
bool kwarp_turn_is(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;
	struct kwarp_ep *first = first_in_line(l);

	lockdep_assert_held(&l->lock);
	if ((!first || first == ep) && (has_room(l) || !until_next(l)))
		return true;
	if (list_empty(&ep->turn))
		list_add_tail(&ep->turn, &l->waiting);
	return false;
}

/**
 * kwarp_turn_delay - when does a Request that waits have to look again by itself?
 * @ep: responder whose turn it was not
 *
 * Context: process; ep->mutex held.
 * Return: jiffies; 0: not at all, it is marked when it is the first in line.
 */
unsigned long kwarp_turn_delay(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;
	unsigned long delay = 0;

	lockdep_assert_held(&ep->mutex);
	spin_lock(&l->lock);
	if (first_in_line(l) == ep)
		delay = max(until_next(l), 1UL);
	spin_unlock(&l->lock);
	return delay;
}

/**
 * kwarp_turn_asked - the ULP has been told of this Request
 * @ep: responder
 *
 * Context: process; ep->mutex and the listener's lock held.
 */
void kwarp_turn_asked(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;

	lockdep_assert_held(&l->lock);
	leave_line(ep);
	ep->asked = true;
	l->asked++;
	l->asked_at = jiffies;
	/* It may be a new one. */
	wake_first(l);
}

/**
 * kwarp_turn_over - the ULP has given its verdict, or none is needed any more
 * @ep: endpoint
 *
 * Context: process; ep->mutex held.
 */
void kwarp_turn_over(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;

	lockdep_assert_held(&ep->mutex);
	if (!l)
		return;
	spin_lock(&l->lock);
	if (ep->asked)
		l->asked--;
	if (leave_line(ep) || (ep->asked && has_room(l)))
		wake_first(l);
	ep->asked = false;
	spin_unlock(&l->lock);
}
