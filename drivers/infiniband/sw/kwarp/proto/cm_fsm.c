// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Life of a connection endpoint (RFC 5044 section 7.1.2, RFC 6581 section 5).
 *
 *	Initiator			Responder
 *	NEW --CONNECT--> CONNECT	NEW --INBOUND--> WAIT_REQ
 *	  TCP_UP |  ^ RETRY		  REQUEST |  `-QUEUED-> WAIT_BACKLOG --REQUEST--> WAIT_ULP
 *	      SEND_REQ (once)		      WAIT_ULP --REJECT--> SEND_REJ
 *	  SENT |			   ACCEPT |                   | SENT
 *	      WAIT_REP --REJECTED--.	      SEND_REP             LINGER
 *	  REPLY |  `-OWE_TERM->SEND_TERM  ATTACHED |  `-ATTACHED_P2P-> WAIT_FPDU
 *	      STREAM                \	      STREAM <-------- FPDU -----'
 *	  PEER_FIN |  `-- DOWN --> LINGER --DONE--> DEAD
 *	      CLOSED ---- DOWN ------^
 *
 * A pair of state and event that is missing in the table is illegal: the event is impossible in
 * that state, or comes too late, and changes nothing.
 *
 * The iWARP CM (iw_cm) has rules for upcalls, which the actions of the table keep:
 *
 * - After a connect that returned 0 there is exactly one CONNECT_REPLY.
 * - After an accept that returned 0 there is exactly one ESTABLISHED, because iw_cm's disconnect
 *   and destroy wait for it.  A failure is reported by ESTABLISHED with an error, and then CLOSE.
 * - After a successful CONNECT_REPLY or ESTABLISHED there is exactly one CLOSE.
 * - After CLOSE or a failed CONNECT_REPLY there is no upcall.
 *
 * Pure functions, any context.
 */
#include "cm_fsm.h"

#define GO(state, acts)	{ .next = KWARP_CMS_##state, .legal = true, .actions = (acts) }
#define DO(action)	BIT(KWARP_CMA_##action)

#define CONN_FAIL	(DO(REPLY_FAIL) | DO(QP_PUT))
#define ACC_FAIL	(DO(EST_FAIL) | DO(QP_PUT))
/*
 * Three ways to end a connection and release its QP: END_FIN: with a FIN; END_DROP: after the loss
 * of the connection, with a FIN, while octets that still come in are dropped; END_KILL: by
 * releasing the socket.
 */
#define END_FIN		(DO(QP_PUT) | DO(FIN))
#define END_DROP	(END_FIN | DO(DISCARD))
#define END_KILL	(DO(QP_PUT) | DO(KILL))
/*
 * End of an endpoint that may be half-open: a refused endpoint is half-open as long as it has a
 * socket.
 */
#define GONE		(DO(LEAVE) | DO(KILL))

static const struct kwarp_cm_step table[KWARP_CMS_COUNT][KWARP_CME_COUNT] = {
	[KWARP_CMS_NEW] = {
		[KWARP_CME_CONNECT]	= GO(CONNECT, 0),
		[KWARP_CME_INBOUND]	= GO(WAIT_REQ, 0),
		/* no upcall: connect() itself returns the error */
		[KWARP_CME_LOCAL]	= GO(DEAD, END_KILL),
	},
	[KWARP_CMS_CONNECT] = {
		[KWARP_CME_TCP_UP]	= GO(SEND_REQ, 0),
		[KWARP_CME_LOST]	= GO(DEAD, CONN_FAIL | DO(KILL)),
		[KWARP_CME_TIMER]	= GO(DEAD, CONN_FAIL | DO(KILL)),
		[KWARP_CME_NO_QP]	= GO(DEAD, CONN_FAIL | DO(KILL)),
		[KWARP_CME_ABORT]	= GO(DEAD, CONN_FAIL | DO(KILL)),
	},
	[KWARP_CMS_SEND_REQ] = {
		[KWARP_CME_SENT]	= GO(WAIT_REP, 0),
		/* second attempt, with revision 1: 6581-10-10 */
		[KWARP_CME_RETRY]	= GO(CONNECT, DO(RECONNECT)),
		[KWARP_CME_LOST]	= GO(DEAD, CONN_FAIL | DO(KILL)),
		[KWARP_CME_TIMER]	= GO(DEAD, CONN_FAIL | DO(KILL)),
		[KWARP_CME_NO_QP]	= GO(DEAD, CONN_FAIL | DO(KILL)),
		[KWARP_CME_ABORT]	= GO(DEAD, CONN_FAIL | DO(KILL)),
	},
	[KWARP_CMS_WAIT_REP] = {
		/* 5044-7.1.2-15; 6581-5-3: the QP, which has the socket by now, sends the RTR */
		[KWARP_CME_REPLY]	= GO(STREAM, DO(REPLY_OK)),
		/* 5044-7.1.2-14, 5044-7.1.4.2-4: tell the ULP, then close on its behalf */
		[KWARP_CME_REJECTED]	= GO(LINGER, CONN_FAIL | DO(FIN)),
		/* the Reply is answered by a Terminate: 6581-8-1, 6581-9.3-3 */
		[KWARP_CME_OWE_TERM]	= GO(SEND_TERM, CONN_FAIL),
		/* second attempt, with revision 1: 6581-10-10 */
		[KWARP_CME_RETRY]	= GO(CONNECT, DO(RECONNECT)),
		/* a bad Reply, close at once: 5044-7.1.1-4, 5044-7.1.2-13, -17, -18, 5044-8-7 */
		[KWARP_CME_BAD]		= GO(DEAD, CONN_FAIL | DO(KILL)),
		[KWARP_CME_LOST]	= GO(DEAD, CONN_FAIL | DO(KILL)),
		[KWARP_CME_TIMER]	= GO(DEAD, CONN_FAIL | DO(KILL)),
		[KWARP_CME_NO_QP]	= GO(DEAD, CONN_FAIL | DO(KILL)),
		[KWARP_CME_ABORT]	= GO(DEAD, CONN_FAIL | DO(KILL)),
	},
	[KWARP_CMS_WAIT_REQ] = {
		/* a valid Request: 5044-7.1.2-3 */
		[KWARP_CME_REQUEST]	= GO(WAIT_ULP, 0),
		[KWARP_CME_QUEUED]	= GO(WAIT_BACKLOG, 0),
		[KWARP_CME_REFUSE]	= GO(SEND_REJ, 0),
		/* a malformed Request: 5044-7.1.1-2, 5044-7.1.2-4, 5044-7.1.3-1 */
		[KWARP_CME_BAD]		= GO(DEAD, GONE),
		[KWARP_CME_LOST]	= GO(DEAD, GONE),
		/* the Request does not come in time: 5044-7.1.2-24, -29 */
		[KWARP_CME_TIMER]	= GO(DEAD, GONE),
		[KWARP_CME_ORPHAN]	= GO(DEAD, GONE),
		[KWARP_CME_EVICT]	= GO(DEAD, GONE),
		[KWARP_CME_ABORT]	= GO(DEAD, GONE),
	},
	[KWARP_CMS_WAIT_BACKLOG] = {
		[KWARP_CME_REQUEST]	= GO(WAIT_ULP, 0),
		/* 5044-7.1.1-23: the peer must not send octets after the Request yet */
		[KWARP_CME_BAD]		= GO(DEAD, GONE),
		[KWARP_CME_LOST]	= GO(DEAD, GONE),
		/*
		 * Send a rejecting Reply, as if the ULP had rejected: after a reset the initiator
		 * might think that this end knows revision 1 only (6581-10-2).
		 */
		[KWARP_CME_TIMER]	= GO(SEND_REJ, DO(REFUSE)),
		[KWARP_CME_ORPHAN]	= GO(SEND_REJ, DO(REFUSE)),
		[KWARP_CME_EVICT]	= GO(SEND_REJ, DO(REFUSE)),
		[KWARP_CME_ABORT]	= GO(DEAD, GONE),
	},
	[KWARP_CMS_WAIT_ULP] = {
		/* accepting Reply: 5044-7.1.2-8 */
		[KWARP_CME_ACCEPT]	= GO(SEND_REP, DO(LEAVE)),
		/* rejecting Reply: 5044-7.1.2-5 */
		[KWARP_CME_REJECT]	= GO(SEND_REJ, DO(QP_PUT)),
		/* 5044-7.1.1-23: the peer must not send octets after the Request yet */
		[KWARP_CME_BAD]		= GO(DEAD, GONE),
		[KWARP_CME_LOST]	= GO(DEAD, GONE),
		[KWARP_CME_TIMER]	= GO(DEAD, GONE),
		/* the listener is gone, and iw_cm may have dropped the Request: shorten the wait */
		[KWARP_CME_ORPHAN]	= GO(WAIT_ULP, DO(HURRY)),
		/* too many are half-open: send a rejecting Reply, as if the ULP had rejected */
		[KWARP_CME_EVICT]	= GO(SEND_REJ, DO(REFUSE)),
		[KWARP_CME_ABORT]	= GO(DEAD, GONE),
	},
	[KWARP_CMS_SEND_REP] = {
		[KWARP_CME_ATTACHED]	= GO(STREAM, DO(EST)),
		[KWARP_CME_ATTACHED_P2P] = GO(WAIT_FPDU, 0),
		[KWARP_CME_LOST]	= GO(DEAD, ACC_FAIL | DO(KILL)),
		/* 5044-7.1.2-16: no Terminate is allowed before the first FPDU: just close */
		[KWARP_CME_LOCAL]	= GO(DEAD, ACC_FAIL | DO(KILL)),
		[KWARP_CME_TIMER]	= GO(DEAD, ACC_FAIL | DO(KILL)),
		[KWARP_CME_NO_QP]	= GO(DEAD, ACC_FAIL | DO(KILL)),
		[KWARP_CME_ABORT]	= GO(DEAD, ACC_FAIL | DO(KILL)),
	},
	[KWARP_CMS_WAIT_FPDU] = {
		[KWARP_CME_FPDU]	= GO(STREAM, DO(EST)),
		/* after a FIN no RTR (the first message of peer-to-peer mode) can come */
		[KWARP_CME_PEER_FIN]	= GO(WAIT_FPDU, DO(QP_ABORT)),
		[KWARP_CME_TIMER]	= GO(WAIT_FPDU, DO(QP_ABORT)),
		[KWARP_CME_ABORT]	= GO(WAIT_FPDU, DO(QP_ABORT)),
		[KWARP_CME_DOWN_FIN]	= GO(LINGER, ACC_FAIL | END_FIN),
		[KWARP_CME_DOWN_ERR]	= GO(LINGER, ACC_FAIL | END_DROP),
		[KWARP_CME_DOWN_KILL]	= GO(DEAD, ACC_FAIL | END_KILL),
	},
	[KWARP_CMS_SEND_REJ] = {
		/* 5044-7.1.2-7: FIN after the Reply; a RST could destroy the Reply */
		[KWARP_CME_SENT]	= GO(LINGER, DO(FIN)),
		[KWARP_CME_LOST]	= GO(DEAD, GONE),
		[KWARP_CME_TIMER]	= GO(DEAD, GONE),
		[KWARP_CME_EVICT]	= GO(DEAD, GONE),
		[KWARP_CME_ABORT]	= GO(DEAD, GONE),
	},
	[KWARP_CMS_SEND_TERM] = {
		/* 5040-6.2.1-5: FIN after the Terminate */
		[KWARP_CME_SENT]	= GO(LINGER, DO(FIN) | DO(DISCARD)),
		[KWARP_CME_LOST]	= GO(DEAD, DO(KILL)),
		[KWARP_CME_TIMER]	= GO(DEAD, DO(KILL)),
		[KWARP_CME_ABORT]	= GO(DEAD, DO(KILL)),
	},
	[KWARP_CMS_STREAM] = {
		/*
		 * 5044-7.2-2: the QP first sends what was posted, then it reports DOWN (end of the
		 * stream)
		 */
		[KWARP_CME_PEER_FIN]	= GO(CLOSED, DO(CLOSE)),
		[KWARP_CME_DOWN_FIN]	= GO(LINGER, DO(CLOSE) | END_FIN),
		[KWARP_CME_DOWN_ERR]	= GO(LINGER, DO(CLOSE) | END_DROP),
		[KWARP_CME_DOWN_KILL]	= GO(DEAD, DO(CLOSE) | END_KILL),
		[KWARP_CME_ABORT]	= GO(STREAM, DO(QP_ABORT)),
	},
	[KWARP_CMS_CLOSED] = {
		[KWARP_CME_DOWN_FIN]	= GO(LINGER, END_FIN),
		[KWARP_CME_DOWN_ERR]	= GO(LINGER, END_DROP),
		[KWARP_CME_DOWN_KILL]	= GO(DEAD, END_KILL),
		[KWARP_CME_ABORT]	= GO(CLOSED, DO(QP_ABORT)),
	},
	[KWARP_CMS_LINGER] = {
		[KWARP_CME_DONE]	= GO(DEAD, GONE),
		/* data after the end of the stream: there is no receiver for it */
		[KWARP_CME_BAD]		= GO(DEAD, GONE),
		[KWARP_CME_LOST]	= GO(DEAD, GONE),
		[KWARP_CME_TIMER]	= GO(DEAD, GONE),
		[KWARP_CME_EVICT]	= GO(DEAD, GONE),
		[KWARP_CME_ABORT]	= GO(DEAD, GONE),
	},
	/* KWARP_CMS_DEAD has no row: no event is legal */
};

const struct kwarp_cm_step *kwarp_cm_fsm(enum kwarp_cm_state state,
					 enum kwarp_cm_event event)
{
	static const struct kwarp_cm_step refuse = { .next = KWARP_CMS_DEAD };

	static_assert(KWARP_CMA_COUNT <= 16);	/* kwarp_cm_step.actions has 16 bits */
	if ((u32)state >= KWARP_CMS_COUNT || (u32)event >= KWARP_CME_COUNT)
		return &refuse;
	return &table[state][event];
}

enum kwarp_cm_timer kwarp_cm_state_timer(enum kwarp_cm_state state)
{
	static const u8 timers[KWARP_CMS_COUNT] = {
		[KWARP_CMS_CONNECT]	= KWARP_CMT_CONNECT,
		[KWARP_CMS_SEND_REQ]	= KWARP_CMT_REPLY,
		[KWARP_CMS_WAIT_REP]	= KWARP_CMT_REPLY,
		[KWARP_CMS_WAIT_REQ]	= KWARP_CMT_REQUEST,
		[KWARP_CMS_WAIT_BACKLOG] = KWARP_CMT_BACKLOG,
		[KWARP_CMS_WAIT_ULP]	= KWARP_CMT_VERDICT,
		[KWARP_CMS_SEND_REP]	= KWARP_CMT_SEND,
		[KWARP_CMS_WAIT_FPDU]	= KWARP_CMT_FPDU,
		[KWARP_CMS_SEND_REJ]	= KWARP_CMT_SEND,
		[KWARP_CMS_SEND_TERM]	= KWARP_CMT_TERM,
		[KWARP_CMS_LINGER]	= KWARP_CMT_LINGER,
	};

	return (u32)state < ARRAY_SIZE(timers) ? timers[state] : KWARP_CMT_NONE;
}

#define STATE(name)	\
	[KWARP_CMS_##name] = #name

const char *kwarp_cm_state_name(enum kwarp_cm_state state)
{
	static const char * const names[] = {
		STATE(NEW), STATE(CONNECT), STATE(SEND_REQ), STATE(WAIT_REP), STATE(WAIT_REQ),
		STATE(WAIT_BACKLOG), STATE(WAIT_ULP), STATE(SEND_REP), STATE(WAIT_FPDU),
		STATE(SEND_REJ), STATE(SEND_TERM), STATE(STREAM), STATE(CLOSED), STATE(LINGER),
		STATE(DEAD),
	};

	static_assert(ARRAY_SIZE(names) == KWARP_CMS_COUNT);
	return (u32)state < ARRAY_SIZE(names) ? names[state] : "?";
}

#define EVENT(name)	\
	[KWARP_CME_##name] = #name

const char *kwarp_cm_event_name(enum kwarp_cm_event event)
{
	static const char * const names[] = {
		EVENT(NONE), EVENT(CONNECT), EVENT(ACCEPT), EVENT(REJECT), EVENT(INBOUND),
		EVENT(TCP_UP), EVENT(SENT), EVENT(QUEUED), EVENT(REQUEST), EVENT(REFUSE),
		EVENT(REPLY), EVENT(REJECTED), EVENT(OWE_TERM), EVENT(RETRY), EVENT(ATTACHED),
		EVENT(ATTACHED_P2P), EVENT(BAD), EVENT(LOST), EVENT(DONE), EVENT(FPDU),
		EVENT(PEER_FIN), EVENT(DOWN_FIN), EVENT(DOWN_ERR), EVENT(DOWN_KILL), EVENT(NO_QP),
		EVENT(LOCAL), EVENT(TIMER), EVENT(ORPHAN), EVENT(EVICT), EVENT(ABORT),
	};

	static_assert(ARRAY_SIZE(names) == KWARP_CME_COUNT);
	return (u32)event < ARRAY_SIZE(names) ? names[event] : "?";
}
