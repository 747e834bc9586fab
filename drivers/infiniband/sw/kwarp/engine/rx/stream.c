// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Begins and ends the inbound half of a stream.
 *
 * Numbers such as 5041-4.3-13 name requirements of RFCs, see Documentation/conformance.
 */
#include "stream.h"

#include "../../proto/announce.h"

void kwarp_rx_init(struct kwarp_engine *e, bool crc, bool markers)
{
	struct kwarp_rx *rx = &e->rx;
	int i;

	kwarp_fpdu_rx_init(&rx->fpdu, crc, markers);
	/* The first MSN is 1 (5041-4.3-13). */
	for (i = 0; i < KWARP_QN_COUNT; i++)
		rx->q[i] = (struct kwarp_ddp_untagged_rx) { .msn = 1 };
	rx->target = KWARP_RXT_NONE;
	rx->tagged_open = false;
	rx->written = 0;
	rx->ahead = 0;
	rx->skip = 0;
	rx->want = 0;
	rx->stash = (struct kwarp_rx_stash) { };
}

/*
 * A zero-length Write has come: the peer may have said what it accepts (proto/announce.h). A
 * responder answers the first time. Context: socket lock held.
 */
void kwarp_rx_hear(struct kwarp_engine *e)
{
	if (!(kwarp_announced(&e->rx.fpdu.hdr) & KWARP_ANNOUNCE_LONG))
		return;
	set_bit(KWARP_E_PEER_LONG, &e->flags);
	if (kwarp_engine_announce(e))
		e->rx.kick = true;
}

/*
 * Is the stream between messages, with no Read or atomic operation of ours outstanding, so that a
 * FIN here cuts off neither a message nor an answer?
 */
static bool between_messages(const struct kwarp_engine *e)
{
	const struct kwarp_rx *rx = &e->rx;

	return kwarp_fpdu_rx_idle(&rx->fpdu) && !rx->want && !rx->stash.have &&
	       !rx->q[KWARP_QN_SEND].open && !rx->tagged_open &&
	       kwarp_readq_empty(&e->oread);
}

/**
 * kwarp_rx_eof - report that the peer has closed its half, or that the connection is lost
 * @e: engine
 * @reset: the connection is lost; false: a FIN has come
 *
 * A FIN that cuts off a message is reported as the loss of the connection.
 *
 * Context: socket lock held; may be called again.
 */
void kwarp_rx_eof(struct kwarp_engine *e, bool reset)
{
	if (test_and_set_bit(reset ? KWARP_E_RST_SEEN : KWARP_E_FIN_SEEN, &e->flags))
		return;
	/*
	 * After a local error the parser may stand inside a message. That is no loss: our Terminate
	 * is sent before we close.
	 */
	if (reset || (!test_bit(KWARP_E_FAILED, &e->flags) && !between_messages(e)))
		e->ops->event(e, KWARP_QPE_LOST);
	else
		e->ops->event(e, KWARP_QPE_PEER_FIN);
}
