// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The open receive is the one that the present Send or Immediate Data goes to. It is taken from the
 * queue when the message begins, and completed when the message ends.
 */
#include "rx.h"

#include "../../queue/rq.h"
#include "../../wq.h"
#include "../fail.h"

enum kwarp_perr kwarp_rx_open(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;
	enum kwarp_take taken;
	bool limit_hit;

	rx->denied = kwarp_engine_fault(e, KWARP_FAULT_NO_RECEIVE);
	if (rx->denied) {
		/* A message that waits needs another look: nobody will post and ring. */
		if (rx->wait)
			mod_delayed_work(kwarp_wq, &e->recv_wait, KWARP_FAULT_LOOK);
		else
			kwarp_refuse(e, KWARP_REFUSED_SEND, KWARP_WHY_INJECTED,
				     KWARP_PERR_DDP_U_NOBUF);
		return KWARP_PERR_DDP_U_NOBUF;
	}
	taken = kwarp_rq_take(e->rq, &rx->rwqe, &limit_hit);
	if (limit_hit)
		e->ops->srq_limit(e);
	switch (taken) {
	case KWARP_TAKE_NONE:			/* none posted (5041-7.1-3): the caller may wait */
		return KWARP_PERR_DDP_U_NOBUF;
	case KWARP_TAKE_CORRUPT:
		return kwarp_refuse(e, KWARP_REFUSED_RECEIVE, KWARP_WHY_RING, KWARP_PERR_LOCAL);
	case KWARP_TAKE_BAD:
		rx->rwqe_status = KWARP_WC_LOC_QP_OP_ERR;
		rx->q[KWARP_QN_SEND].open = true;
		return kwarp_refuse(e, KWARP_REFUSED_RECEIVE, KWARP_WHY_ENTRY, KWARP_PERR_LOCAL);
	case KWARP_TAKE_OK:
		break;
	}
	rx->rwqe_status = KWARP_WC_FLUSH_ERR;
	rx->sge = 0;
	rx->sge_off = 0;
	/*
	 * The receive is open from here on, even if this segment turns out to be bad: a flush has
	 * to complete it.
	 */
	rx->q[KWARP_QN_SEND].open = true;
	return KWARP_PERR_NONE;
}

static void tell_message(const struct kwarp_engine *e, struct kwarp_cqe *cqe)
{
	const struct kwarp_ddp_hdr *h = &e->rx.fpdu.hdr;

	if (kwarp_op_invalidates(h->opcode)) {
		cqe->opcode = KWARP_WC_RECV_INV;
		cqe->inv_stag = h->stag;
	} else if (kwarp_op_is_imm(h->opcode)) {
		cqe->opcode = KWARP_WC_RECV_IMM;
		/* the first four octets of the Immediate Data (7306-D-3, -4) */
		memcpy(&cqe->imm, e->rx.small, sizeof(cqe->imm));
	} else if (kwarp_op_sends_imm(h->opcode)) {
		cqe->opcode = KWARP_WC_RECV_SEND_IMM;
		put_unaligned_be32(h->stag, &cqe->imm);
	}
	if (kwarp_op_solicited(h->opcode))
		cqe->flags = KWARP_CQE_SOLICITED;
}

/* Context: socket lock held, or the stream is over. */
void kwarp_rx_complete(struct kwarp_engine *e, enum kwarp_wc_status status, u32 len)
{
	struct kwarp_cqe cqe = {
		.id = e->rx.rwqe.id,
		.qpn = e->ibqp->qp_num,
		.byte_len = len,
		.status = status,
		.opcode = KWARP_WC_RECV,
	};
	unsigned long irqflags;

	if (unlikely(status != KWARP_WC_SUCCESS))
		cqe.vendor_err = kwarp_engine_short(e);
	else if (e->rx.fpdu.hdr.opcode != KWARP_OP_SEND)
		tell_message(e, &cqe);
	irqflags = kwarp_cq_begin(e->recv_cq);
	kwarp_cq_add(e->recv_cq, &cqe, e->ibqp);
	kwarp_cq_notify(e->recv_cq, kwarp_cq_end(e->recv_cq, irqflags));
}

/*
 * Completes the receive that is open at the end of the stream. Context: there are no more calls of
 * tcp_read_sock() for the stream.
 */
void kwarp_rx_flush(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;

	if (!rx->q[KWARP_QN_SEND].open)
		return;
	rx->q[KWARP_QN_SEND].open = false;
	kwarp_rx_complete(e, rx->rwqe_status, 0);
}
