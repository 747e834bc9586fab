// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Collects the state of a stream that netlink reports to an operator.
 */
#include "engine.h"

#include <linux/minmax.h>
#include <linux/net.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "../proto/term.h"

/*
 * Return: number of posted entries of a queue, from index @from on. The producer index may be in
 * user memory and wrong, so the result is limited to the size of the queue.
 */
static u32 ring_used(const struct kwarp_ring *ring, u32 from)
{
	return min(READ_ONCE(ring->hdr->prod) - from, kwarp_ring_size(ring));
}

static u32 readq_waiting(const struct kwarp_readq *q)
{
	return READ_ONCE(q->tail) - READ_ONCE(q->head);
}

static void describe_stream(const struct kwarp_engine *e, struct kwarp_engine_info *info)
{
	info->attached = true;
	info->crc = e->tx.crc;
	info->tx_markers = e->tx.markers;
	info->rx_markers = e->rx.fpdu.markers;
	info->align = e->tx.align;
	info->ord = e->oread.depth;
	info->ird = e->iread.depth;
	info->out_reads = readq_waiting(&e->oread);
	info->in_reads = readq_waiting(&e->iread);
	/* Argument 2 of getname(): the peer's address, even if the connection is gone. */
	e->sock->ops->getname(e->sock, (struct sockaddr *)&info->local, 0);
	e->sock->ops->getname(e->sock, (struct sockaddr *)&info->remote, 2);
	tcp_get_info(e->sock->sk, &info->tcp);
}

/**
 * kwarp_engine_describe - report the state of a queue pair's stream
 * @e: engine, after kwarp_engine_wire()
 * @info: zeroed by the caller; result
 *
 * The numbers are read without locks while they may change.
 *
 * Context: process, may sleep; serialised with kwarp_engine_start() and kwarp_engine_stop().
 */
void kwarp_engine_describe(struct kwarp_engine *e, struct kwarp_engine_info *info)
{
	might_sleep();
	info->sq_used = ring_used(&e->sq->ring, READ_ONCE(e->sq->retired));
	/*
	 * Do not read the ring of an SRQ: a resize may replace it at any time. The SRQ's receives
	 * are reported for the SRQ itself.
	 */
	if (!e->rq_shared)
		info->rq_used = ring_used(&e->rq->ring, READ_ONCE(e->rq->next));
	info->held = READ_ONCE(e->tx.coalesce.on);
	info->error = kwarp_perr_name(READ_ONCE(e->perr));
	if (test_bit(KWARP_E_TERM_SEEN, &e->flags)) {
		/* Pairs with end_terminate() in rx/segment.c: the flag is read before peer_term. */
		smp_rmb();
		info->peer_term = kwarp_term_short(&e->peer_term);
		info->has_peer_term = true;
	}
	if (e->sock)
		describe_stream(e, info);
}
