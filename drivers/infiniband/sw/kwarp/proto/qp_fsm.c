// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Life of a queue pair's stream (RFC 5040 sections 6.2 and 7, RFC 5041 section 6.2): a table with a
 * row for every pair of state and event. CM: connection management, cm/.
 *
 *	        ATTACH        CLOSE, PEER_FIN           DRAINED
 *	IDLE ---------> RTS ------------------> CLOSING ---------> ERROR
 *	                 \    PROTO      PROTO    |     TERM_SENT   ^  ^
 *	                  `--------------------> TERM --------------'  |
 *	    ABORT, LOST; in RTS and CLOSING also PEER_TERM ------------'
 *	ERROR --RESET--> IDLE --ABORT, NO_PEER--> ERROR
 *
 * ERROR is the state after every end of a stream, also after a graceful one.
 *
 * Only the first error counts (5040-7.1-7): TERM and ERROR ignore all later ones.  DRAINED,
 * TERM_SENT and CLOSE may come when another event has already changed the state; the new state
 * ignores them.  Pairs that are a misuse by the consumer (RESET of a stream, CLOSE without one) or
 * that only a bug in kwarp could cause are refused.
 *
 * Pure functions, any context.
 */
#include "qp_fsm.h"

#define GO(state, acts)	{ .next = KWARP_QPS_##state, .legal = true, .actions = (acts) }
#define DO(action)	BIT(KWARP_QPA_##action)
#define IGNORE(state)	{ .next = KWARP_QPS_##state, .legal = true }

/*
 * The connection is lost, so the QP can send neither a Terminate nor a FIN. Requests are flushed,
 * and DOWN tells the CM that the stream is over; RST makes DOWN say that the connection was lost.
 */
#define END_RST		(DO(RST) | DO(FLUSH) | DO(DOWN))
/*
 * The stream ends with a FIN, not with RST, so that TCP still delivers what it has taken, for
 * example a Terminate: 5040-6.2.1-5.
 */
#define END_FIN		(DO(FIN) | DO(FLUSH) | DO(DOWN))
/*
 * ERR_HERE: an error found at this side; ERR_PEER: an error reported by the peer's Terminate.
 * 5041-7.1-22, 5044-8-10: everything that is received after the error is dropped.
 */
#define ERR_HERE	(DO(STOP_RX) | DO(SEND_TERM) | DO(EV_FATAL))
#define ERR_PEER	(DO(STOP_RX) | END_FIN | DO(EV_REQ))

static const struct kwarp_qp_step table[KWARP_QPS_COUNT][KWARP_QPE_COUNT] = {
	[KWARP_QPS_IDLE] = {
		/* 5044-7.1-7: the QP gets the connection when the stream begins */
		[KWARP_QPE_ATTACH]	= GO(RTS, 0),
		/*
		 * 5041-6.2.2-5: posted requests complete; the CM gets no DOWN, because there is no
		 * stream
		 */
		[KWARP_QPE_ABORT]	= GO(ERROR, DO(FLUSH)),
		/* as the verbs of InfiniBand have it when the peer does not answer */
		[KWARP_QPE_NO_PEER]	= GO(ERROR, DO(FLUSH) | DO(EV_FATAL)),
		[KWARP_QPE_RESET]	= IGNORE(IDLE),
	},
	[KWARP_QPS_RTS] = {
		/* 5041-6.2.1-2: posted requests are sent before the FIN */
		[KWARP_QPE_CLOSE]	= GO(CLOSING, DO(DRAIN)),
		/* 5040-2.4-5, 5041-2.3-2: requests under way are not finished */
		[KWARP_QPE_ABORT]	= GO(ERROR, DO(STOP_RX) | END_FIN),
		/* the peer has half-closed (5041-6.2.1-5), sending continues (-6; 5044-7.2-2) */
		[KWARP_QPE_PEER_FIN]	= GO(CLOSING, DO(DRAIN) | DO(PEER_CLOSED)),
		/*
		 * no Terminate is possible, an event tells the consumer: 5041-6.2.2-1, -5;
		 * 5040-6.2-4
		 */
		[KWARP_QPE_LOST]	= GO(ERROR, DO(STOP_RX) | END_RST | DO(EV_FATAL)),
		/* send a Terminate: 5040-6.2.1-1, 5041-7.1-20, -23, 5041-6.2.2-7, 5044-8-11, -12 */
		[KWARP_QPE_PROTO]	= GO(TERM, ERR_HERE),
		/* the peer has ended the stream: 5040-5.4-8, -10, -12; 5040-6.2.1-3, -4 */
		[KWARP_QPE_PEER_TERM]	= GO(ERROR, ERR_PEER),
		/* a QP is reset only after the end of its stream */
	},
	[KWARP_QPS_CLOSING] = {
		[KWARP_QPE_CLOSE]	= IGNORE(CLOSING),
		[KWARP_QPE_ABORT]	= GO(ERROR, DO(STOP_RX) | END_FIN),
		/* the peer has half-closed (5041-6.2.1-5); posted requests are still sent (-6) */
		[KWARP_QPE_PEER_FIN]	= GO(CLOSING, DO(PEER_CLOSED)),
		/* 5041-6.2.2-5; no event: the consumer is closing and sees flushed requests */
		[KWARP_QPE_LOST]	= GO(ERROR, DO(STOP_RX) | END_RST),
		/* 5041-6.2.1-9: still receiving, so errors are still found */
		[KWARP_QPE_PROTO]	= GO(TERM, ERR_HERE),
		[KWARP_QPE_PEER_TERM]	= GO(ERROR, ERR_PEER),
		/* graceful end, after this side has sent its FIN: 5041-6.2.1-7, -8; 5040-6.2-2 */
		[KWARP_QPE_DRAINED]	= GO(ERROR, END_FIN),
	},
	[KWARP_QPS_TERM] = {
		/* the stream is closed after the Terminate in any case */
		[KWARP_QPE_CLOSE]	= IGNORE(TERM),
		[KWARP_QPE_ABORT]	= GO(ERROR, DO(STOP_RX) | END_FIN),
		/* this end can still send the Terminate: 5041-6.2.2-6, 5044-8-12 */
		[KWARP_QPE_PEER_FIN]	= IGNORE(TERM),
		/* 5040-6.2.1-2: the Terminate cannot be sent any more */
		[KWARP_QPE_LOST]	= GO(ERROR, END_RST),
		/* 5040-7.1-7: only the first failing message is reported */
		[KWARP_QPE_PROTO]	= IGNORE(TERM),
		/* 5041-7.1-22: inbound messages are dropped, including a Terminate */
		[KWARP_QPE_PEER_TERM]	= IGNORE(TERM),
		/* the protocol error came first, so the Terminate still has to be sent */
		[KWARP_QPE_DRAINED]	= IGNORE(TERM),
		/*
		 * nothing is sent after a Terminate (5040-5.4-11); flush (5040-6.2.1-3), FIN (-5)
		 */
		[KWARP_QPE_TERM_SENT]	= GO(ERROR, END_FIN),
	},
	[KWARP_QPS_ERROR] = {
		[KWARP_QPE_CLOSE]	= IGNORE(ERROR),
		/* flush requests posted since the end of the stream (5041-6.2.1-3) */
		[KWARP_QPE_ABORT]	= GO(ERROR, DO(FLUSH)),
		/* 5040-7.1-7, 5041-7.1-22: too late, the stream is over */
		[KWARP_QPE_PEER_FIN]	= IGNORE(ERROR),
		[KWARP_QPE_LOST]	= IGNORE(ERROR),
		[KWARP_QPE_PROTO]	= IGNORE(ERROR),
		[KWARP_QPE_PEER_TERM]	= IGNORE(ERROR),
		/* too late: ABORT, LOST or PEER_TERM has ended the stream */
		[KWARP_QPE_DRAINED]	= IGNORE(ERROR),
		[KWARP_QPE_TERM_SENT]	= IGNORE(ERROR),
		[KWARP_QPE_RESET]	= GO(IDLE, 0),
	},
};

const struct kwarp_qp_step *kwarp_qp_fsm(enum kwarp_qp_state state,
					 enum kwarp_qp_event event)
{
	static const struct kwarp_qp_step refuse = { .next = KWARP_QPS_ERROR };

	static_assert(KWARP_QPA_COUNT <= 16);	/* kwarp_qp_step.actions has 16 bits */
	if ((u32)state >= KWARP_QPS_COUNT || (u32)event >= KWARP_QPE_COUNT)
		return &refuse;
	return &table[state][event];
}

#define STATE(name)	\
	[KWARP_QPS_##name] = #name

const char *kwarp_qp_state_name(enum kwarp_qp_state state)
{
	static const char * const names[] = {
		STATE(IDLE), STATE(RTS), STATE(CLOSING), STATE(TERM), STATE(ERROR),
	};

	static_assert(ARRAY_SIZE(names) == KWARP_QPS_COUNT);
	return (u32)state < ARRAY_SIZE(names) ? names[state] : "?";
}

#define EVENT(name)	\
	[KWARP_QPE_##name] = #name

const char *kwarp_qp_event_name(enum kwarp_qp_event event)
{
	static const char * const names[] = {
		EVENT(ATTACH), EVENT(CLOSE), EVENT(NO_PEER), EVENT(ABORT), EVENT(PEER_FIN),
		EVENT(LOST), EVENT(PROTO), EVENT(PEER_TERM), EVENT(DRAINED), EVENT(TERM_SENT),
		EVENT(RESET),
	};

	static_assert(ARRAY_SIZE(names) == KWARP_QPE_COUNT);
	return (u32)event < ARRAY_SIZE(names) ? names[event] : "?";
}
