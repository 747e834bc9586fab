// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A Send or Immediate Data has come, and no receive is posted. RFC 5041 lets the stream end
 * (5041-7.1-3). Programs written for InfiniBand expect the sender to try again instead. So the
 * segment may wait, if the stream's parameters say so: its header stays parsed, the octets after it
 * stay with TCP, and when TCP's buffer is full its window closes. Everything behind the segment
 * waits, too, Read Responses and Terminates of the peer as well; therefore the time is limited.
 *
 * A program that posts into the queue pair's own queue rings the doorbell. For an SRQ, which has
 * none, and for a foreign ring, the engine looks again at each packet and from time to time.
 *
 * Context of all functions: socket lock held.
 */
#include "rx.h"

#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "../../wq.h"

/*
 * The peer may make any number of streams wait for ever, so looks become rarer: a wait gets longer
 * by an eighth, or by 40 ms, at most.
 */
static unsigned long look_after(const struct kwarp_rx *rx)
{
	return clamp_t(unsigned long, (jiffies - rx->parked_at) / 8, 1, HZ / 25);
}

static void look_later(struct kwarp_engine *e)
{
	const struct kwarp_rx *rx = &e->rx;
	unsigned long delay = MAX_JIFFY_OFFSET;

	if (rx->wait != U32_MAX)
		delay = rx->parked_at + msecs_to_jiffies(rx->wait) + 1 - jiffies;
	if (e->rq_shared || e->rq->foreign)
		delay = min(delay, look_after(rx));
	if (delay != MAX_JIFFY_OFFSET)
		queue_delayed_work(kwarp_wq, &e->recv_wait, delay);
}

/* Return: true: the segment waits; false: it does not wait, or not any more. */
bool kwarp_rx_park(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;
	const struct kwarp_ddp_hdr *h = &rx->fpdu.hdr;

	/* The other queues do not wait: the peer breaks a rule if it sends too much. */
	if (!rx->wait || h->tagged || h->qn != KWARP_QN_SEND)
		return false;
	if (!kwarp_rx_parked(e)) {
		rx->parked_at = jiffies;
		set_bit(KWARP_E_RX_PARKED, &e->flags);
		if (!e->rq_shared)
			kwarp_ring_set_flags(&e->rq->ring, KWARP_RING_NEED_KICK);
		/*
		 * Pairs with the barriers of those who post: either they see that they have to
		 * ring, or the caller, which looks again, sees the receive.
		 */
		smp_mb();
	} else if (rx->wait != U32_MAX &&
		   time_after(jiffies, rx->parked_at + msecs_to_jiffies(rx->wait))) {
		kwarp_rx_unpark(e);
		return false;
	}
	look_later(e);
	return true;
}

void kwarp_rx_unpark(struct kwarp_engine *e)
{
	clear_bit(KWARP_E_RX_PARKED, &e->flags);
	if (!e->rq_shared)
		kwarp_ring_set_flags(&e->rq->ring, 0);
}
