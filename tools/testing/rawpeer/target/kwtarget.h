/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the consumer under test (kwtarget) and the raw peer (kwrawpeer) agree on: the layout of the
 * consumer's memory, and the commands of the control connection.
 *
 * The memory is one arena, filled with the stream of KWT_ARENA_KEY. Memory regions lie in the arena
 * with guard zones around them; most regions neither begin nor end on a page boundary. A second
 * buffer, the shadow, has what the arena must contain: "expect" and "ignore" change the shadow,
 * "verify" compares the whole arena with the shadow.
 *
 * The raw peer sends one line, the consumer answers with one line that begins with "ok" or "no".
 * Numbers are decimal; times are milliseconds.
 *
 *	region NAME			ok STAG TO LEN
 *	begin IRD ORD SIZE...		arena as new; receives of these sizes for the
 *					next connection
 *	no-rights			that connection gives its peer none, on purpose
 *	no-atomics			likewise, only those to read and to write
 *	accept T			take a connection request: answer as of cm
 *	reject T			refuse one
 *	connect ADDR PORT [PD_LEN]	begin to connect
 *	cm T				the next connection event: ok NAME STATUS PD_LEN
 *					DEPTH RESOURCES, the last two as the peer has them
 *	recv SIZE			post another receive: ok WR_ID
 *	post VERB LKEY ADDR LEN RKEY TO FLAGS IMM A B
 *					post a request: ok WR_ID, or no ERRNO; A is added
 *					or compared, B stored
 *	wc T				ok WR_ID STATUS OPCODE LEN FLAGS STAG IMM
 *	arm				ask for a completion event, only for what is solicited
 *	notified T			ok if it comes
 *	event T				the next asynchronous event: ok TYPE
 *	dereg NAME			deregister a region, and register it again at "begin":
 *					ok, or no ERRNO
 *	bind RIGHTS			post a request that binds the window, with these
 *					rights beside those to read and to write: ok WR_ID
 *					STAG; it is free again when the queue pair is gone
 *	disconnect			gracefully
 *	destroy				the queue pair, whatever it is doing
 *	expect OFF LEN KEY POS		this part of the arena changes to that stream
 *	ignore OFF LEN...		these parts may hold anything
 *	word OFF VALUE			the eight octets there change to that number
 *	put OFF VALUE			store that number there
 *	verify				ok, or no OFFSET
 *	other				from now on all this is about the other one of two
 *					connections, which has receive buffers of its own
 *	knob NAME VALUE			of the device, for connections to come
 *	relisten			destroy the listener and make a new one
 *	end T [any]			every posted request has to come back within T,
 *					once, and flushed (any: or not), with no event
 *					left: ok, or no WHAT; then all is destroyed
 */
#ifndef RAWPEER_KWTARGET_H
#define RAWPEER_KWTARGET_H

#include <stdint.h>

#define KWT_ARENA_LEN	0x28000
#define KWT_ARENA_KEY	0xa7e4a

#define KWT_RECV_OFF	0x17010
#define KWT_RECV_STEP	0x1000
#define KWT_RECV_MAX	8
#define KWT_RECV_OTHER	2	/* of the other connection, after those */
#define KWT_RECV_LEN	0xf00

#define KWT_WR_SEND	100	/* first work request id of what is not a receive */

enum kwt_region {
	KWT_NONE,
	KWT_RW,		/* remote read, write and atomic operations, several pages */
	KWT_RO,		/* remote read */
	KWT_WO,		/* remote write */
	KWT_LO,		/* local write, nothing remote */
	KWT_PD,		/* remote read and write, in another protection domain */
	KWT_DEAD,	/* was deregistered */
	KWT_IOVA,	/* as KWT_RW, its tagged offsets are no addresses */
	KWT_ONE,	/* as KWT_RW, one octet */
	KWT_SINK,	/* target of the consumer's own Reads */
	KWT_SRC,	/* source of what the consumer sends */
	KWT_RECV,	/* receives */
	KWT_BELOW,	/* nothing remote; the window is bound to it */
	KWT_WIN,	/* the window: remote read and write, once it is bound */
	KWT_REGIONS,
};

/**
 * struct kwt_place - where a region is
 * @name: on the control channel
 * @off: in the arena
 * @len: octets
 */
struct kwt_place {
	const char *name;
	uint32_t off, len;
};

extern const struct kwt_place kwt_places[KWT_REGIONS];

#endif /* RAWPEER_KWTARGET_H */
