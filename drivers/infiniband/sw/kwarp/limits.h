/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every limit of the device, with its reason.
 */
#ifndef KWARP_LIMITS_H
#define KWARP_LIMITS_H

/* Objects per device: bounded so that one user cannot exhaust kernel memory. */
#define KWARP_MAX_QP		(128 * 1024)
#define KWARP_MAX_CQ		(128 * 1024)
#define KWARP_MAX_PD		(128 * 1024)
#define KWARP_MAX_SRQ		(128 * 1024)
/*
 * Regions and windows together.  A 24-bit STag index; a quarter of it keeps random
 * allocation quick and guessing hard.
 */
#define KWARP_MAX_MR		(4 * 1024 * 1024)

/* Ring sizes: a power of two of entries; vmalloc'ed, so large rings are fine. */
#define KWARP_MAX_SQ_WR		(32 * 1024)
#define KWARP_MAX_RQ_WR		(32 * 1024)
#define KWARP_MAX_SRQ_WR	(512 * 1024)
#define KWARP_MAX_CQE		(4 * 1024 * 1024)
/* Requests completed at a time while interrupts are off. */
#define KWARP_IRQ_OFF_BATCH	64

/* SGEs per request: 29 fill a 512-octet send queue entry behind its fixed 48 octets. */
#define KWARP_MAX_SGE		29
/* RFC 5040 5.2.2: a Read Response writes one tagged buffer. */
#define KWARP_MAX_SGE_RD	1
/* Inline payload of the same 512-octet entry. */
#define KWARP_MAX_INLINE	464

/* Pages for payload that a device keeps, of 32 KiB each but where pages are larger. */
#define KWARP_PAGES		512

/* Depth of Reads and atomic operations: rdma_cm carries IRD and ORD as u8. */
#define KWARP_MAX_IRD		128
#define KWARP_MAX_ORD		128

/* Longest message, RFC 5041 5.2: below 2^32; the verbs give the length as u32. */
#define KWARP_MAX_MSG		U32_MAX
/*
 * Memory region: a pointer for each of its pages, at worst one for 4 KiB, where they are not
 * parts of larger ones, and the kernel allocates less than 2 GiB at a time.  So less than
 * 1 TiB, wherever in a page it begins.
 */
#define KWARP_MAX_MR_SIZE	(BIT_ULL(40) - BIT_ULL(20))
/* Pages of a fast-register region. */
#define KWARP_MAX_FRMR_PAGES	512

/*
 * FPDUs in work that TCP could not keep and nobody pays for, because TCP's memory or the
 * cgroup's is used up: of each device, of 64 KiB each.
 */
#define KWARP_MAX_UNPAID_STASHES	64

/*
 * Listener: connections that have not finished MPA startup, or were refused: by default, and the
 * limits.  Each has a socket and some KiB.
 */
#define KWARP_HALF_OPEN		1024
#define KWARP_HALF_OPEN_MIN	16
#define KWARP_HALF_OPEN_MAX	65536
/* If all places are taken, one that has not got on for so long gives way, milliseconds. */
#define KWARP_EVICT_AGE_MS		1000
/* ... and one that waits for the ULP's verdict. */
#define KWARP_EVICT_ULP_AGE_MS		10000
/* Startup timers, seconds, by default: for the Request; for TCP's connect, and then the Reply. */
#define KWARP_STARTUP_TIMEOUT		10
#define KWARP_CONNECT_TIMEOUT		30
/* The longest of these that a knob takes. */
#define KWARP_MAX_TIMEOUT		3600
/*
 * Connections that were established, are over, and whose last trace waits for Tasks RCU, which
 * takes a second under load, or longer: of all devices. See cm/cm_qp.c.
 */
#define KWARP_MAX_RETURNED		(64 * 1024)
/*
 * The ULP's verdict on a Request: no initiator known waits longer than 60 s.  That of a
 * Request, too, which iw_cm dropped for want of memory: it says so to nobody.
 */
#define KWARP_VERDICT_TIMEOUT_MS	120000
/*
 * A Request's turn, and then it is rejected: before those initiators give up that wait longest for
 * their Reply (our own: KWARP_CONNECT_TIMEOUT, unless the knob says less), which is the better end.
 */
#define KWARP_TURN_TIMEOUT_MS		25000
/* One more Request is told, though the ULP has not answered those before. See cm/turn.c. */
#define KWARP_TURN_MS			1000
/* Next try to deliver a Request that iw_cm had no room for. */
#define KWARP_UPCALL_RETRY_MS		20
/* Listener: TCP's own queue; short ones would drop SYNs of a burst. */
#define KWARP_MIN_BACKLOG		16
#define KWARP_MAX_BACKLOG		4096
/* Connections that a listener takes before it lets others work. */
#define KWARP_ACCEPT_BATCH		32
/* Next try after accept() failed for want of memory, or of a place. */
#define KWARP_ACCEPT_RETRY_MS		100
/* Graceful close: from our FIN to the peer's, seconds, by default. */
#define KWARP_LINGER_TIMEOUT		5
/* ... which starts again this often if not all that we sent has been acknowledged, */
#define KWARP_CLOSE_EXTENSIONS		23
/* ... and this often in a row if nothing of it has. */
#define KWARP_CLOSE_STALLS		6
/* A Terminate that TCP does not take within this time is given up. */
#define KWARP_TERM_TIMEOUT_MS		2000
/* Draining what was posted before a graceful close. */
#define KWARP_DRAIN_TIMEOUT_MS		10000

/* What a knob takes for TCP's buffers, octets, of which TCP counts twice as many. */
#define KWARP_BUFFER_MIN	65536
#define KWARP_BUFFER_MAX	(INT_MAX / 2)

/* Name of a congestion control, as TCP has it. */
#define KWARP_CONGESTION_LEN	16

/*
 * Microseconds until a timer looks after requests that are held (engine/tx/coalesce.h): by default,
 * and the limits.  A timer that goes off more often leaves no time for anything else.
 */
#define KWARP_COALESCE_US	100
#define KWARP_COALESCE_MIN_US	10
#define KWARP_COALESCE_MAX_US	1000
/* CQs of a device whose timers run at once: what they cost is nobody's. Others are not held. */
#define KWARP_MAX_HOLDS		256
/* Likewise streams of libsiw's, whose timers run more often and send. */
#define KWARP_MAX_PACED		16

#endif /* KWARP_LIMITS_H */
