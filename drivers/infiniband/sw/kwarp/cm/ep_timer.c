// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The timer of an endpoint (one connection). */
#include "ep.h"

#include "../wq.h"
#include "startup.h"

static void ep_arm_timer(struct kwarp_ep *ep, unsigned long delay)
{
	kwarp_ep_get(ep);			/* reference for the timer */
	if (mod_delayed_work(kwarp_wq, &ep->timer, delay))
		kwarp_ep_put(ep);		/* the armed timer has a reference already */
}

static unsigned long until_deadline(const struct kwarp_ep *ep)
{
	lockdep_assert_held(&ep->mutex);
	return max_t(long, ep->due.deadline - jiffies, 0);
}

/* Does iw_cm wait for an upcall, on behalf of a process? */
static bool holds_caller(const struct kwarp_ep *ep)
{
	lockdep_assert_held(&ep->mutex);
	return ep->cm_id && !ep->reported && ep->su && ep->su->caller;
}

bool kwarp_ep_caller_ends(const struct kwarp_ep *ep)
{
	return holds_caller(ep) && kwarp_caller_ends(ep->su->caller);
}

void kwarp_ep_arm_deadline(struct kwarp_ep *ep)
{
	unsigned long delay = until_deadline(ep);

	if (holds_caller(ep))
		delay = min(delay, msecs_to_jiffies(KWARP_CALLER_MS));
	ep_arm_timer(ep, delay);
}

static u32 timeout_of(const struct kwarp_dev *kdev, enum kwarp_cm_timer kind)
{
	switch (kind) {
	case KWARP_CMT_CONNECT:
	case KWARP_CMT_REPLY:
		return READ_ONCE(kdev->knobs.connect_timeout) * MSEC_PER_SEC;
	case KWARP_CMT_REQUEST:
	case KWARP_CMT_SEND:
	case KWARP_CMT_FPDU:
		return READ_ONCE(kdev->knobs.startup_timeout) * MSEC_PER_SEC;
	case KWARP_CMT_BACKLOG:
		return KWARP_BACKLOG_TIMEOUT_MS;
	case KWARP_CMT_VERDICT:
		return KWARP_VERDICT_TIMEOUT_MS;
	case KWARP_CMT_TERM:
		return KWARP_TERM_TIMEOUT_MS;
	default:
		return READ_ONCE(kdev->knobs.linger_timeout) * MSEC_PER_SEC;
	}
}

void kwarp_ep_set_timer(struct kwarp_ep *ep)
{
	enum kwarp_cm_timer kind = kwarp_cm_state_timer(ep->state);

	lockdep_assert_held(&ep->mutex);
	if (kind == ep->due.kind)
		return;
	ep->due.kind = kind;
	if (kind == KWARP_CMT_NONE) {
		if (cancel_delayed_work(&ep->timer))
			kwarp_ep_put(ep);
		return;
	}
	ep->due.deadline = jiffies + msecs_to_jiffies(timeout_of(ep->kdev, kind));
	/*
	 * su->give_up limits both attempts of an initiator together (MPA revision 2, then 1): the
	 * second attempt does not extend the time.
	 */
	if ((kind == KWARP_CMT_CONNECT || kind == KWARP_CMT_REPLY) &&
	    time_after(ep->due.deadline, ep->su->give_up))
		ep->due.deadline = ep->su->give_up;
	kwarp_ep_arm_deadline(ep);
}

/* When the timer expires, the endpoint looks at its socket again. */
void kwarp_ep_retry_in(struct kwarp_ep *ep, unsigned long delay)
{
	ep_arm_timer(ep, min(delay, until_deadline(ep)));
}
