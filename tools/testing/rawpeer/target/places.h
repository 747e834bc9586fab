/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the consumer under test (kwtarget) and the raw peer (kwrawpeer) agree on: the layout of the
 * consumer's memory, and the commands of the control connection.
 *
 * The memory is one arena, filled with what kw_fill() makes from KWT_ARENA_KEY. Memory regions lie
 * in the arena, with guard zones around them; most regions neither begin nor end on a page
 * boundary. A second buffer, the shadow, has what the arena must contain: "expect" and "ignore"
 * change the shadow, "verify" compares the whole arena with the shadow.
 *
 * The raw peer sends one line, the consumer answers with one line that begins with "ok" or "no".
 * Numbers are decimal; times are milliseconds.
 *
 *	region NAME			ok STAG TO LEN
 *	begin IRD ORD SIZE...		restore the arena; the next connection asks for this
 *					IRD and ORD and posts receives of these sizes
 *	no-rights			the next connection takes all rights from its peer
 *	no-atomics			the next connection takes all rights from its peer but
 *					those to read and to write
 *	accept T			accept a connection request: answer as of cm
 *	reject T			reject a connection request: answer as of cm
 *	connect ADDR PORT [PD_LEN]	begin to connect
 *	cm T				the next connection event: ok NAME STATUS PD_LEN
 *					DEPTH RESOURCES, the last two are the peer's
 *	recv SIZE			post another receive: ok WR_ID
 *	post VERB LKEY ADDR LEN RKEY TO FLAGS IMM A B
 *					post a request: ok WR_ID, or no ERRNO; an atomic
 *					operation adds A, or compares with A and stores B
 *	wc T				the next completion: ok WR_ID STATUS OPCODE LEN FLAGS
 *					STAG IMM
 *	arm				ask for an event at the next solicited completion
 *	notified T			ok if that event comes
 *	event T				the next asynchronous event: ok TYPE
 *	dereg NAME			deregister a region until the next "begin": ok, or
 *					no ERRNO
 *	bind RIGHTS			post a request that binds the window, with these
 *					rights beside those to read and to write: ok WR_ID
 *					STAG; the end of the queue pair unbinds the window
 *	disconnect			end the connection gracefully
 *	destroy				destroy queue pair and id, whatever they are doing
 *	expect OFF LEN KEY POS		LEN octets of the arena have to become those that
 *					kw_fill() makes from KEY, from octet POS on
 *	ignore OFF LEN...		these parts of the arena may hold anything
 *	word OFF VALUE			eight octets of the arena have to become this number
 *	put OFF VALUE			store this number in eight octets of the arena
 *	verify				ok if the arena is as expected, or no OFFSET
 *	other				switch to the other one of two connections, which has
 *					receive buffers of its own
 *	knob NAME VALUE			set a knob (a setting of the device in sysfs), for later
 *					connections
 *	relisten			destroy the listener and make a new one
 *	end T [any]			every posted request has to complete, once, each
 *					at most T after the one before, as flushed, and no
 *					event may be left (with "any": any status, any events):
 *					ok, or no REASON; then the connection is destroyed
 */
#ifndef RAWPEER_TARGET_PLACES_H
#define RAWPEER_TARGET_PLACES_H

#include <stdint.h>

#define KWT_ARENA_LEN	0x28000
#define KWT_ARENA_KEY	0xa7e4a

#define KWT_RECV_OFF	0x17010
#define KWT_RECV_STEP	0x1000
#define KWT_RECV_MAX	8
#define KWT_RECV_OTHER	2	/* receive buffers of the second connection, after the first's */
#define KWT_RECV_LEN	0xf00

#define KWT_WR_SEND	100	/* first work request id in a send queue; receives count from 0 */

/* Memory regions of the consumer, and its window. A comment says what a peer may do with it. */
enum kwt_region {
	KWT_NONE,
	KWT_RW,		/* remote read, write and atomic operations, several pages */
	KWT_RO,		/* remote read */
	KWT_WO,		/* remote write */
	KWT_LO,		/* local write, no remote access */
	KWT_PD,		/* remote read and write, in another protection domain */
	KWT_DEAD,	/* deregistered at the start */
	KWT_IOVA,	/* as KWT_RW, but its tagged offsets are not its addresses */
	KWT_ONE,	/* as KWT_RW, but of one octet */
	KWT_SINK,	/* target of the consumer's own Reads */
	KWT_SRC,	/* source of what the consumer sends */
	KWT_RECV,	/* all receive buffers */
	KWT_BELOW,	/* no remote access; the window is bound to a part of it */
	KWT_WIN,	/* the window: remote read and write, once it is bound */
	KWT_REGIONS,
};

/**
 * struct kwt_place - where a region is
 * @name: its name on the control channel
 * @off: offset of its first octet in the arena
 * @len: number of its octets
 */
struct kwt_place {
	const char *name;
	uint32_t off, len;
};

extern const struct kwt_place kwt_places[KWT_REGIONS];

#endif /* RAWPEER_TARGET_PLACES_H */
