// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A listener's backlog: when an endpoint may pass its MPA Request to the ULP.
 *
 * rdma_ucm queues as many Requests for a program as its backlog says, and rejects all others
 * without asking the program. A TCP listener would let such connections wait in its accept queue,
 * so this file lets them wait, too: the ULP gets at most @backlog Requests that it has not
 * answered. The others wait in listener->waiting (the line) and follow one by one, the oldest
 * first. An endpoint in line that is marked (bit KWARP_EP_SOCK) tries again to pass its Request on.
 *
 * Some programs collect more Requests than their backlog before they accept the first. For them one
 * more Request is passed on whenever the last Request was passed on KWARP_BACKLOG_MS ago. The first
 * endpoint in line has a timer for that; the others do nothing until they are the first.
 *
 * A Request whose peer has closed the connection is not counted any more, though rdma_ucm may still
 * have it in its queue. Then rdma_ucm may reject the next Request, as it would without this file.
 *
 * The listener's lock protects its fields asked, asked_at and waiting, and the fields
 * in_line and asked of its endpoints.
 */
#include "backlog.h"

#include <linux/jiffies.h>

#include "ep.h"
#include "types.h"

static struct kwarp_ep *first_in_line(struct kwarp_listener *l)
{
	return list_first_entry_or_null(&l->waiting, struct kwarp_ep, in_line);
}

static bool has_room(const struct kwarp_listener *l)
{
	return l->asked < max(l->backlog, 1);
}

/* Jiffies until one more Request may be passed on though the ULP has not answered the others. */
static unsigned long until_next(const struct kwarp_listener *l)
{
	return max_t(long, l->asked_at + msecs_to_jiffies(KWARP_BACKLOG_MS) - jiffies, 0);
}

/* Return: true: it was the first. */
static bool leave_line(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;
	bool first = first_in_line(l) == ep;

	lockdep_assert_held(&l->lock);
	list_del_init(&ep->in_line);
	return first;
}

/* No reference is needed: endpoints leave the line before they are freed. */
static void wake_first(struct kwarp_listener *l)
{
	struct kwarp_ep *ep = first_in_line(l);

	lockdep_assert_held(&l->lock);
	if (ep)
		kwarp_ep_mark(ep, KWARP_EP_SOCK);
}

/*
 * If the Request may not be passed on now, the endpoint is added to the line, and asks again later:
 * when it is marked, or when the timer expires that the caller sets for kwarp_backlog_delay(). An
 * endpoint is marked when it becomes the first in line, and the first is marked when the ULP has
 * answered enough Requests. Context: process; ep->mutex and the listener's lock held. Return: true:
 * no other endpoint is before this one in line, and the ULP has fewer than @backlog unanswered
 * Requests or has received no Request for KWARP_BACKLOG_MS.
 */
bool kwarp_backlog_try(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;
	struct kwarp_ep *first = first_in_line(l);

	lockdep_assert_held(&l->lock);
	if ((!first || first == ep) && (has_room(l) || !until_next(l)))
		return true;
	if (list_empty(&ep->in_line))
		list_add_tail(&ep->in_line, &l->waiting);
	return false;
}

/*
 * Return: time until then, jiffies; 0: @ep needs no timer, because it is not the first in line, and
 * is marked when it becomes the first.
 */
unsigned long kwarp_backlog_delay(struct kwarp_ep *ep)
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

void kwarp_backlog_asked(struct kwarp_ep *ep)
{
	struct kwarp_listener *l = ep->listener;

	lockdep_assert_held(&l->lock);
	leave_line(ep);
	ep->asked = true;
	l->asked++;
	l->asked_at = jiffies;
	/* If @ep was the first in line, the next endpoint is the first now: mark that one. */
	wake_first(l);
}

/*
 * @ep: endpoint whose state is neither WAIT_BACKLOG (in line) nor WAIT_ULP (unanswered) any more;
 * no effect if it was in neither
 */
void kwarp_backlog_leave(struct kwarp_ep *ep)
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
