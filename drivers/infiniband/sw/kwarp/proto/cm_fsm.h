/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Life of a connection endpoint, from the first SYN to the last ACK, as one const table: state x
 * event -> state and actions (RFC 5044 section 7.1.2, RFC 6581 section 5). Half-open: an endpoint
 * of a listener is half-open from the start until the ULP accepts, or until its end if it is
 * refused; the knob (tunable) half_open_max limits the number of half-open endpoints.
 */
#ifndef KWARP_PROTO_CM_FSM_H
#define KWARP_PROTO_CM_FSM_H

#include "os.h"

enum kwarp_cm_state {
	KWARP_CMS_NEW,		/* allocated, nothing started */

	/* Initiator */
	KWARP_CMS_CONNECT,	/* TCP handshake */
	KWARP_CMS_SEND_REQ,	/* TCP has not taken all of the Request yet */
	KWARP_CMS_WAIT_REP,	/* waiting for the Reply */

	/* Responder */
	KWARP_CMS_WAIT_REQ,	/* waiting for the Request */
	KWARP_CMS_WAIT_BACKLOG,	/* Request received; it cannot be passed to the ULP yet */
	KWARP_CMS_WAIT_ULP,	/* the ULP has the Request; waiting for its accept or reject */
	KWARP_CMS_SEND_REP,	/* TCP has not taken all of the accepting Reply yet */
	KWARP_CMS_WAIT_FPDU,	/* the QP has the socket; waiting for the RTR */

	/* startup has failed, and a last message is sent */
	KWARP_CMS_SEND_REJ,	/* TCP has not taken all of the rejecting Reply yet */
	KWARP_CMS_SEND_TERM,	/* TCP has not taken all of the Terminate yet */

	/* startup is over in the following states */
	KWARP_CMS_STREAM,	/* the QP has the socket, the ULP knows of the connection */
	KWARP_CMS_CLOSED,	/* the ULP knows of the end, the QP still has the socket */
	KWARP_CMS_LINGER,	/* FIN sent, waiting until TCP has closed the connection */
	KWARP_CMS_DEAD,		/* socket and QP released; only the memory is left */
	KWARP_CMS_COUNT
};

enum kwarp_cm_event {
	KWARP_CME_NONE,		/* nothing happened; never given to the table */

	/* from the ULP */
	KWARP_CME_CONNECT,	/* the ULP connects: TCP's connect has been started */
	KWARP_CME_ACCEPT,	/* the ULP accepts: the Reply is ready to be sent */
	KWARP_CME_REJECT,	/* the ULP rejects, or its accept cannot be carried out */

	/* from TCP and the peer */
	KWARP_CME_INBOUND,	/* a listener accepted the TCP connection */
	KWARP_CME_TCP_UP,	/* TCP is connected */
	KWARP_CME_SENT,		/* TCP has all of the Request, rejecting Reply or Terminate */
	KWARP_CME_QUEUED,	/* valid Request; earlier ones are first, or iw_cm lacks memory */
	KWARP_CME_REQUEST,	/* valid Request, delivered to the ULP */
	KWARP_CME_REFUSE,	/* valid Request that is rejected without asking the ULP */
	KWARP_CME_REPLY,	/* accepting Reply received, negotiated, the QP has the socket */
	KWARP_CME_REJECTED,	/* rejecting Reply received */
	KWARP_CME_OWE_TERM,	/* accepting Reply received; answer it with a Terminate */
	KWARP_CME_RETRY,	/* the peer may know revision 1 only: connect once more */
	KWARP_CME_ATTACHED,	/* Reply sent, the QP has the socket, no RTR expected */
	KWARP_CME_ATTACHED_P2P,	/* Reply sent, the QP has the socket, RTR expected */
	KWARP_CME_BAD,		/* the peer broke a rule of startup; LINGER: it sent more data */
	KWARP_CME_LOST,		/* unexpected FIN or RST, or a TCP error */
	KWARP_CME_DONE,		/* both FINs sent and acknowledged */

	/* from the QP */
	KWARP_CME_FPDU,		/* the RTR, or another first FPDU, is received and valid */
	KWARP_CME_PEER_FIN,	/* peer half-closed the stream */
	KWARP_CME_DOWN_FIN,	/* stream over after a close, a Terminate, or the QP's abort */
	KWARP_CME_DOWN_ERR,	/* stream over because the connection was lost */
	KWARP_CME_DOWN_KILL,	/* stream over, and the device is going away: skip LINGER */
	KWARP_CME_NO_QP,	/* the QP is being destroyed */

	/* from connection management itself */
	KWARP_CME_LOCAL,	/* local failure, such as no memory */
	KWARP_CME_TIMER,	/* the timer of the state has expired */
	KWARP_CME_ORPHAN,	/* the listener is gone */
	KWARP_CME_EVICT,	/* too many are half-open: end this endpoint to make room */
	/* the device is going away, the ULP misuses its iw_cm id, or the ULP's process is ending */
	KWARP_CME_ABORT,
	KWARP_CME_COUNT
};

/* Actions of an event; cm/ep_run.c carries them out in this order. */
enum kwarp_cm_action {
	KWARP_CMA_LEAVE,	/* tell the listener that the endpoint is not half-open any more */
	KWARP_CMA_RECONNECT,	/* start a second TCP connection, for revision 1 */
	KWARP_CMA_REPLY_OK,	/* upcall CONNECT_REPLY: success */
	KWARP_CMA_REPLY_FAIL,	/* upcall CONNECT_REPLY: failure; no upcall follows */
	KWARP_CMA_EST,		/* upcall ESTABLISHED: success */
	KWARP_CMA_EST_FAIL,	/* upcall ESTABLISHED: failure; then upcall CLOSE */
	KWARP_CMA_CLOSE,	/* upcall CLOSE; no upcall follows */
	KWARP_CMA_QP_ABORT,	/* let the QP end the stream at once; a DOWN event follows */
	KWARP_CMA_QP_PUT,	/* drop the reference to the QP */
	KWARP_CMA_FIN,		/* close the sending half: send a FIN */
	KWARP_CMA_DISCARD,	/* drop inbound octets from now on */
	KWARP_CMA_KILL,		/* release the socket, with RST if still open */
	KWARP_CMA_HURRY,	/* let the timer expire within startup_timeout (a knob) from now */
	KWARP_CMA_REFUSE,	/* build a rejecting Reply; ignore a later answer of the ULP */
	KWARP_CMA_COUNT
};

/*
 * Timer that runs in a state. It limits the time until the event in the comment has happened. If
 * the next state has the same timer, the timer is not started again.
 */
enum kwarp_cm_timer {
	KWARP_CMT_NONE,
	KWARP_CMT_CONNECT,	/* until TCP is connected */
	KWARP_CMT_REPLY,	/* until the Request is sent and answered (5044-7.1.2-29) */
	KWARP_CMT_REQUEST,	/* until the Request has come (5044-7.1.2-24, -29) */
	KWARP_CMT_BACKLOG,	/* until the Request is passed to the ULP */
	KWARP_CMT_VERDICT,	/* until the ULP has answered this Request */
	KWARP_CMT_SEND,		/* until TCP has taken the Reply */
	KWARP_CMT_FPDU,		/* until the RTR has come */
	KWARP_CMT_TERM,		/* until TCP has taken the Terminate */
	KWARP_CMT_LINGER,	/* until the FINs of both sides are acknowledged */
};

struct kwarp_cm_step {
	u8 next;		/* next state, enum kwarp_cm_state */
	bool legal;		/* false: the event cannot occur or comes too late; ignore it */
	u16 actions;		/* bits: BIT(enum kwarp_cm_action) */
};

const struct kwarp_cm_step *kwarp_cm_fsm(enum kwarp_cm_state state,
					 enum kwarp_cm_event event);
enum kwarp_cm_timer kwarp_cm_state_timer(enum kwarp_cm_state state);

const char *kwarp_cm_state_name(enum kwarp_cm_state state);
const char *kwarp_cm_event_name(enum kwarp_cm_event event);

#endif /* KWARP_PROTO_CM_FSM_H */
