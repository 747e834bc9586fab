/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Life of a connection endpoint, from the first SYN to the last ACK, as one const
 * table: state x event -> state and actions (RFC 5044 section 7.1.2, RFC 6581
 * section 5).
 */
#ifndef KWARP_PROTO_CM_FSM_H
#define KWARP_PROTO_CM_FSM_H

#include "os.h"

enum kwarp_cm_state {
	KWARP_CMS_NEW,		/* made, nothing started */

	/* Initiator */
	KWARP_CMS_CONNECT,	/* TCP handshake */
	KWARP_CMS_SEND_REQ,	/* Request not yet wholly with TCP */
	KWARP_CMS_WAIT_REP,	/* Reply awaited */

	/* Responder */
	KWARP_CMS_WAIT_REQ,	/* Request awaited */
	KWARP_CMS_WAIT_TURN,	/* valid Request, of which the ULP has not been told yet */
	KWARP_CMS_WAIT_ULP,	/* Request delivered, verdict awaited */
	KWARP_CMS_SEND_REP,	/* accepting Reply not yet wholly with TCP */
	KWARP_CMS_WAIT_FPDU,	/* QP attached; the ULP hears when the RTR has come */

	/* start-up failed, last words on their way */
	KWARP_CMS_SEND_REJ,	/* rejecting Reply not yet wholly with TCP */
	KWARP_CMS_SEND_TERM,	/* Terminate not yet wholly with TCP */

	/* start-up is over from here on */
	KWARP_CMS_STREAM,	/* the QP has the socket, the ULP knows */
	KWARP_CMS_CLOSED,	/* the ULP knows of the end, the QP still has the socket */
	KWARP_CMS_LINGER,	/* FIN sent, waiting until TCP has finished */
	KWARP_CMS_DEAD,		/* nothing left but memory */
	KWARP_CMS_COUNT
};

enum kwarp_cm_event {
	KWARP_CME_NONE,		/* nothing happened; never given to the table */

	/* from the ULP */
	KWARP_CME_DIAL,		/* connect: TCP connect has been started */
	KWARP_CME_ACCEPT,	/* accept: the Reply is ready to be sent */
	KWARP_CME_REJECT,	/* reject, or an accept that cannot be carried out */

	/* from TCP and the peer */
	KWARP_CME_INBOUND,	/* a listener accepted the TCP connection */
	KWARP_CME_TCP_UP,	/* TCP is connected */
	KWARP_CME_SENT,		/* the frame is wholly with TCP */
	KWARP_CME_QUEUED,	/* valid Request, which has to wait for its turn */
	KWARP_CME_REQUEST,	/* valid Request, delivered to the ULP */
	KWARP_CME_REFUSE,	/* valid Request that is refused without asking the ULP */
	KWARP_CME_REPLY,	/* accepting Reply, negotiated, QP attached */
	KWARP_CME_REJECTED,	/* rejecting Reply */
	KWARP_CME_OWE_TERM,	/* accepting Reply that has to be answered by a Terminate */
	KWARP_CME_RETRY,	/* the peer may know revision 1 only */
	KWARP_CME_ATTACHED,	/* Reply sent, QP attached, no RTR expected */
	KWARP_CME_ATTACHED_P2P,	/* Reply sent, QP attached, RTR expected */
	KWARP_CME_BAD,		/* the peer broke the protocol */
	KWARP_CME_LOST,		/* FIN or RST out of place, TCP error */
	KWARP_CME_DONE,		/* both FINs sent and acknowledged */

	/* from the QP */
	KWARP_CME_FPDU,		/* first FPDU validated */
	KWARP_CME_PEER_FIN,	/* peer half-closed the stream */
	KWARP_CME_DOWN_FIN,	/* stream over, both directions ended cleanly */
	KWARP_CME_DOWN_ERR,	/* stream over after an error */
	KWARP_CME_DOWN_KILL,	/* stream over because we ended it in a hurry */
	KWARP_CME_NO_QP,	/* the QP is going away */

	/* from inside */
	KWARP_CME_LOCAL,	/* out of memory and the like */
	KWARP_CME_TIMER,	/* the state's timer */
	KWARP_CME_ORPHAN,	/* the listener is gone */
	KWARP_CME_EVICT,	/* others want its place among the half-open ones */
	KWARP_CME_ABORT,	/* the device is going away */
	KWARP_CME_COUNT
};

/* Actions the caller carries out, in this order. */
#define KWARP_CMA_LEAVE		BIT(0)	/* not half-open (any more), no verdict possible */
#define KWARP_CMA_REDIAL	BIT(1)	/* new TCP connection, revision 1 */
#define KWARP_CMA_REPLY_OK	BIT(2)	/* upcall: CONNECT_REPLY, 0 */
#define KWARP_CMA_REPLY_FAIL	BIT(3)	/* upcall: CONNECT_REPLY, error; the last one */
#define KWARP_CMA_EST		BIT(4)	/* upcall: ESTABLISHED, 0 */
#define KWARP_CMA_EST_FAIL	BIT(5)	/* upcall: ESTABLISHED, error, then CLOSE */
#define KWARP_CMA_CLOSE		BIT(6)	/* upcall: CLOSE; the last one */
#define KWARP_CMA_QP_ABORT	BIT(7)	/* end the stream at once; DOWN follows */
#define KWARP_CMA_QP_PUT	BIT(8)	/* the QP is not needed any more */
#define KWARP_CMA_FIN		BIT(9)	/* close our sending half */
#define KWARP_CMA_DISCARD	BIT(10)	/* inbound octets are dropped from now on */
#define KWARP_CMA_KILL		BIT(11)	/* release the socket, with RST if still open */
#define KWARP_CMA_HURRY		BIT(12)	/* no more time than a Request has */
#define KWARP_CMA_REFUSE	BIT(13)	/* no verdict possible: make the rejecting Reply */
#define KWARP_CMA_COUNT		14

/* Timer that runs in a state: it goes on while the next state has the same. */
enum kwarp_cm_timer {
	KWARP_CMT_NONE,
	KWARP_CMT_CONNECT,	/* TCP connect */
	KWARP_CMT_REPLY,	/* Request out, Reply in (5044-7.1.2-29) */
	KWARP_CMT_REQUEST,	/* Request in (5044-7.1.2-24, -29) */
	KWARP_CMT_TURN,		/* others' verdicts */
	KWARP_CMT_VERDICT,	/* the ULP's answer */
	KWARP_CMT_SEND,		/* Reply out */
	KWARP_CMT_FPDU,		/* the RTR */
	KWARP_CMT_TERM,		/* Terminate out */
	KWARP_CMT_LINGER,	/* both FINs */
};

struct kwarp_cm_step {
	u8 next;		/* enum kwarp_cm_state */
	bool legal;		/* false: cannot occur or comes too late; ignored */
	u16 actions;
};

/* Context: any; pure. */
const struct kwarp_cm_step *kwarp_cm_fsm(enum kwarp_cm_state state,
					 enum kwarp_cm_event event);
enum kwarp_cm_timer kwarp_cm_state_timer(enum kwarp_cm_state state);

/* The QP owns the socket in these states. */
static inline bool kwarp_cm_attached(enum kwarp_cm_state state)
{
	return state == KWARP_CMS_WAIT_FPDU || state == KWARP_CMS_STREAM ||
	       state == KWARP_CMS_CLOSED;
}

const char *kwarp_cm_state_name(enum kwarp_cm_state state);
const char *kwarp_cm_event_name(enum kwarp_cm_event event);

#endif /* KWARP_PROTO_CM_FSM_H */
