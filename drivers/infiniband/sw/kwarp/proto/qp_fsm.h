/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Life of a queue pair's stream as one const table (RFC 5040 section 6, RFC 5041 section 6.2). */
#ifndef KWARP_PROTO_QP_FSM_H
#define KWARP_PROTO_QP_FSM_H

#include "os.h"

enum kwarp_qp_state {
	KWARP_QPS_IDLE,		/* no stream yet; receives and sends may be posted */
	KWARP_QPS_RTS,		/* the stream works (the RFCs' "Full Operation") */
	KWARP_QPS_CLOSING,	/* draining, then a FIN is sent; still receiving */
	KWARP_QPS_TERM,		/* error: a Terminate is sent next, inbound octets are dropped */
	KWARP_QPS_ERROR,	/* stream over, gracefully or not; all requests are flushed */
	KWARP_QPS_COUNT
};

enum kwarp_qp_event {
	KWARP_QPE_ATTACH,	/* the CM gives the QP a socket: the stream begins */
	KWARP_QPE_CLOSE,	/* local graceful close (modify to SQD, disconnect) */
	KWARP_QPE_NO_PEER,	/* wired queue pair: the peer did not connect in time */
	KWARP_QPE_ABORT,	/* local abortive close (modify to ERR, destroy, device removal) */
	KWARP_QPE_PEER_FIN,	/* the peer's FIN, which cuts off no message */
	KWARP_QPE_LOST,		/* connection lost: RST, TCP error, FIN inside FPDU or message */
	KWARP_QPE_PROTO,	/* protocol error found at this side: a Terminate must be sent */
	KWARP_QPE_PEER_TERM,	/* Terminate received */
	/*
	 * In CLOSING. From the engine: everything is sent, and all Reads are answered; qp_work.c
	 * then sends a FIN, and does not pass the event to the table. In the table: the FIN is
	 * sent, and the peer's FIN has come, or has not come in time.
	 */
	KWARP_QPE_DRAINED,
	KWARP_QPE_TERM_SENT,	/* in TERM: TCP has the Terminate, or it has been given up */
	KWARP_QPE_RESET,	/* modify to RESET after the stream is over */
	KWARP_QPE_COUNT
};

enum kwarp_qp_action {
	/* qp/qp_work.c carries out the following actions, called steps, in this order. */
	KWARP_QPA_PEER_CLOSED,	/* tell the CM that the peer has half-closed */
	KWARP_QPA_SEND_TERM,	/* send a Terminate as the next message */
	KWARP_QPA_DRAIN,	/* send all posted requests, then report DRAINED */
	KWARP_QPA_FLUSH,	/* complete every request with flush error */
	KWARP_QPA_EV_FATAL,	/* async event: IB_EVENT_QP_FATAL or _QP_ACCESS_ERR */
	KWARP_QPA_EV_REQ,	/* async event: IB_EVENT_QP_REQ_ERR (peer's Terminate) */
	KWARP_QPA_DOWN,		/* tell the CM that the stream is over */
	KWARP_QPA_STEPS,

	/*
	 * The following actions are no steps: STOP_RX takes effect at once; FIN and RST change what
	 * the steps FLUSH and DOWN do.
	 */
	KWARP_QPA_STOP_RX = KWARP_QPA_STEPS,	/* drop all further inbound octets */
	KWARP_QPA_FIN,		/* FLUSH also sends a FIN */
	KWARP_QPA_RST,		/* DOWN tells the CM that the connection is lost; no FIN */
	KWARP_QPA_COUNT
};

/*
 * @legal: false: the event cannot occur or is refused; nothing changes. @actions: BIT(enum
 * kwarp_qp_action).
 */
struct kwarp_qp_step {
	u8 next;
	bool legal;
	u16 actions;
};

/*
 * Context: any; the caller serialises the transitions of a queue pair. Return: the entry of the
 * table, never NULL; not legal for values out of range.
 */
const struct kwarp_qp_step *kwarp_qp_fsm(enum kwarp_qp_state state,
					 enum kwarp_qp_event event);

const char *kwarp_qp_state_name(enum kwarp_qp_state state);
const char *kwarp_qp_event_name(enum kwarp_qp_event event);

#endif /* KWARP_PROTO_QP_FSM_H */
