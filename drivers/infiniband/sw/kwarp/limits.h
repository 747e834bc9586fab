/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Every limit of the device and of its knobs, most with a reason. */
#ifndef KWARP_LIMITS_H
#define KWARP_LIMITS_H

/* Objects per device: bounded so that one user cannot exhaust kernel memory. */
#define KWARP_MAX_QP		(128 * 1024)
#define KWARP_MAX_CQ		(128 * 1024)
#define KWARP_MAX_PD		(128 * 1024)
#define KWARP_MAX_SRQ		(128 * 1024)
/*
 * Regions and windows together.  An STag has a 24-bit index; with a quarter of the indices in
 * use, random allocation is still fast and guessing is hard.
 */
#define KWARP_MAX_MR		(4 * 1024 * 1024)

/*
 * Kernel memory that the objects of a user's programs may hold, octets; RLIMIT_MEMLOCK is added to
 * it. The kernel allows a user as much in pipes.
 */
#define KWARP_USER_MEMORY	(64 << 20)
/* What an object costs besides its structure and rings: uverbs object, nodes of tables; octets. */
#define KWARP_OBJECT_MEMORY	1024

/* Length of the GID table, and its first entry for an IP address of the netdev (verbs/gids.c). */
#define KWARP_GIDS		16
#define KWARP_GID_ADDRESS	2

/* Entries of a ring: a power of two. The rings are vmalloc'ed, so large ones are fine. */
#define KWARP_MAX_SQ_WR		(32 * 1024)
#define KWARP_MAX_RQ_WR		(32 * 1024)
#define KWARP_MAX_SRQ_WR	(512 * 1024)
#define KWARP_MAX_CQE		(4 * 1024 * 1024)
/* At most this many entries are completed, flushed or copied before interrupts are on again. */
#define KWARP_IRQ_OFF_BATCH	64

/* SGEs per request: a 512-octet send queue entry has room for 29 after its fixed 48 octets. */
#define KWARP_MAX_SGE		29
/* SGEs per Read: one, because a Read Response writes one tagged buffer (RFC 5040 5.2.2). */
#define KWARP_MAX_SGE_RD	1
/* Octets of inline payload: a 512-octet entry without its fixed 48 octets. */
#define KWARP_MAX_INLINE	464

/*
 * Buffers for payload that a processor keeps for reuse: 32 KiB each, or one page if that is more.
 * Together they are as much as is in flight at 5 GB/s with a round trip of 200 us.
 */
#define KWARP_PAGES		32

/* Largest IRD and ORD (Reads and atomic operations at a time): rdma_cm has them as u8. */
#define KWARP_MAX_IRD		255
#define KWARP_MAX_ORD		255

/* Longest message, RFC 5041 5.2: below 2^32; the verbs give the length as u32. */
#define KWARP_MAX_MSG		U32_MAX
/*
 * Largest memory region: the list of its pages has, in the worst case, an 8-octet pointer for every
 * 4 KiB, and the kernel allocates less than 2 GiB at a time.  So a region is smaller than 1 TiB,
 * even if it does not begin at the beginning of a page.
 */
#define KWARP_MAX_MR_SIZE	(BIT_ULL(40) - BIT_ULL(20))
#define KWARP_MAX_FRMR_PAGES	512

/*
 * Incomplete FPDUs for which TCP's receive buffer is too small, so that kwarp keeps them, up to 64
 * KiB each.  When the limit of TCP's memory or of the memory cgroup is reached, a device may keep
 * this number of FPDUs without charging them.
 */
#define KWARP_MAX_UNPAID_STASHES	64

/*
 * Knob half_open_max: its default, smallest and largest value.  The knob limits how many
 * connections of a listener are half-open: the ULP has not accepted them, or they were refused and
 * have not ended yet.  Each needs a socket and some KiB.
 */
#define KWARP_HALF_OPEN		1024
#define KWARP_HALF_OPEN_MIN	16
#define KWARP_HALF_OPEN_MAX	65536
/*
 * If a listener has as many half-open connections as the knob half_open_max allows, and others
 * wait, the listener ends the half-open connections that have been in the same state for this time,
 * milliseconds.
 */
#define KWARP_EVICT_AGE_MS		1000
/*
 * As KWARP_EVICT_AGE_MS, but for a half-open connection that waits for the ULP to accept or reject:
 * it gets more time, because the ULP may be slow.
 */
#define KWARP_EVICT_ULP_AGE_MS		10000
/*
 * Responder, default of the knob startup_timeout: seconds to wait for the Request, and again, after
 * the Reply, to wait for the first FPDU.
 */
#define KWARP_STARTUP_TIMEOUT		10
/*
 * Initiator, default of the knob connect_timeout: seconds to wait until TCP is connected, and again
 * to wait for the Reply.
 */
#define KWARP_CONNECT_TIMEOUT		30
/* Largest value of the knobs connect_timeout, linger_timeout and startup_timeout, seconds. */
#define KWARP_MAX_TIMEOUT		3600
/*
 * Interval at which a connect or accept that is not answered yet looks whether its process is
 * ending (cm/caller.c).  So a killed process is held up for this time at most.
 */
#define KWARP_CALLER_MS			250
/* An endpoint offers octets to TCP again after this time, if TCP had no memory. */
#define KWARP_SEND_RETRY_MS		20
/*
 * A stand-in that iw_cm has returned is freed by Tasks RCU, which takes a second under load, or
 * longer. While this number of stand-ins, of all devices, waits to be freed, connect and accept
 * fail with ENOMEM.
 */
#define KWARP_MAX_RETURNED		(64 * 1024)
/*
 * Time for the ULP to accept or reject a Request: no known initiator waits longer than 60 s.  The
 * time limit also ends a Request that the ULP never gets, because iw_cm had no memory for the event
 * and does not report that.
 */
#define KWARP_VERDICT_TIMEOUT_MS	120000
/*
 * A ULP gets only as many Requests at a time as its backlog says; others wait in line
 * (cm/backlog.c).  A Request that has waited for this time is rejected.  The time is shorter than
 * the time for which kwarp's initiator waits for the Reply (KWARP_CONNECT_TIMEOUT by default), so
 * that the initiator gets a Reject and not a time-out.
 */
#define KWARP_BACKLOG_TIMEOUT_MS	25000
/*
 * A ULP that does not answer its Requests gets one more Request each time this interval has passed.
 */
#define KWARP_BACKLOG_MS		1000
/* Time until a Request is passed to iw_cm again, after iw_cm had no memory for it. */
#define KWARP_UPCALL_RETRY_MS		20
/*
 * Smallest and largest length of a listener's accept queue in TCP: a shorter one would drop SYNs if
 * many come at once.
 */
#define KWARP_MIN_BACKLOG		16
#define KWARP_MAX_BACKLOG		4096
/* Connections that a listener's work item accepts before it lets other work items run. */
#define KWARP_ACCEPT_BATCH		32
/*
 * Time until a listener tries to accept again, after accept() failed, or while the listener has as
 * many half-open connections as the knob half_open_max allows.
 */
#define KWARP_ACCEPT_RETRY_MS		100
/* Graceful close: default time to wait for the peer's FIN after this end's FIN, seconds. */
#define KWARP_LINGER_TIMEOUT		5
/*
 * While the peer has not acknowledged all octets, the wait for its FIN starts again, at most this
 * many times.
 */
#define KWARP_CLOSE_EXTENSIONS		23
/*
 * The wait for the peer's FIN starts again at most this many times in a row while the peer
 * acknowledges nothing.
 */
#define KWARP_CLOSE_STALLS		6
/* Time from the peer's FIN until a wired queue pair ends (qp/qp_work.c). */
#define KWARP_WIRE_FIN_MS		1000
/* Shortest and longest time for the peer of a wired queue pair to connect, see cm/wire.c. */
#define KWARP_WIRE_MIN_MS		1000
#define KWARP_WIRE_MAX_MS		30000
/* Largest value of the knob receive_wait, milliseconds. */
#define KWARP_MAX_RECEIVE_WAIT_MS	60000
/* First and longest interval between attempts to connect a wired queue pair, doubled each time. */
#define KWARP_WIRE_RETRY_MS		4
#define KWARP_WIRE_RETRY_MAX_MS		500
/* A Terminate that TCP does not take within this time is not sent. */
#define KWARP_TERM_TIMEOUT_MS		2000
/* Time to send the requests that were posted before a graceful close. */
#define KWARP_DRAIN_TIMEOUT_MS		10000

/* Limits of the knobs for TCP's buffers, octets. TCP doubles the value, hence INT_MAX / 2. */
#define KWARP_BUFFER_MIN	65536
#define KWARP_BUFFER_MAX	(INT_MAX / 2)

/* Smallest key by which a program maps a ring; a multiple of all page sizes. */
#define KWARP_MMAP_FIRST	0x100000

/*
 * Knob coalesce_us: default, smallest and largest value.  The knob is the time, in microseconds,
 * between two looks for requests that a program has posted into the ring without a doorbell
 * (engine/tx/coalesce.h).  A shorter interval would cost too much processor time.
 */
#define KWARP_COALESCE_US	100
#define KWARP_COALESCE_MIN_US	10
#define KWARP_COALESCE_MAX_US	1000
/*
 * Number of CQs of a device that may have the timer of the knob coalesce_us at a time: limited,
 * because the timer's processor time is charged to nobody.
 */
#define KWARP_MAX_HOLDS		256
#define KWARP_MAX_USER_HOLDS	192	/* of one user, on all devices */
/*
 * Number of streams of a device that may have a timer of their own at a time, instead of their CQ's
 * (struct kwarp_hold_ops). The limit is smaller than KWARP_MAX_HOLDS, because this timer runs more
 * often, and sends the requests that it finds.
 */
#define KWARP_MAX_PACED		16
#define KWARP_MAX_USER_PACED	12	/* of one user, on all devices */

#endif /* KWARP_LIMITS_H */
