// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "fail.h"

#include "../door.h"
#include "rx/rx.h"

/*
 * Receives of an SRQ stay posted, except one that a message has taken. Context: the runner, after
 * kwarp_engine_stop() has set KWARP_E_DEAD.
 */
void kwarp_engine_flush(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_engine_flush, e);
	u32 vendor_err = kwarp_engine_short(e);

	kwarp_assert_runner(e);
	kwarp_sq_flush(e->sq, vendor_err);
	kwarp_rx_flush(e);
	if (!e->rq_shared) {
		/*
		 * A program that posts receives has to ring the doorbell from now on, so that the
		 * new receives are flushed.
		 */
		kwarp_ring_set_flags(&e->rq->ring,
				     KWARP_RING_NEED_KICK | KWARP_RING_ERROR);
		/*
		 * Pairs with the program's barrier between storing the index and reading the flags.
		 */
		smp_mb();
		kwarp_rq_flush(e->rq, e->recv_cq, e->ibqp, vendor_err);
	}
}
