/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Why streams ended, and why connections did not start.  The engine notes what a check has refused
 * (struct kwarp_refusal).  When a stream has ended by an error, that becomes a line in the kernel
 * log and a record in a ring of the link, which netlink.c tells to users.  The cm adds a record for
 * a startup that has failed.
 */
#ifndef KWARP_ENDED_H
#define KWARP_ENDED_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "proto/perr.h"

struct kwarp_dev;
struct kwarp_ended_ring;
struct pid;

/* The check that has failed.  A private vendor_err is 0x10000 plus this number. */
enum kwarp_why {
	KWARP_WHY_NONE,
	/* in the order of enum kwarp_mem_err */
	KWARP_WHY_STAG,
	KWARP_WHY_PD,
	KWARP_WHY_RIGHT,
	KWARP_WHY_WRAP,
	KWARP_WHY_BOUNDS,
	KWARP_WHY_QP_RIGHT,	/* the queue pair does not give the peer this right */
	KWARP_WHY_ORD,
	KWARP_WHY_ENTRY,
	KWARP_WHY_RING,
	KWARP_WHY_CQ,
	KWARP_WHY_MEMORY,	/* not used any more; it keeps the numbers below */
	KWARP_WHY_NO_RECEIVE,
	KWARP_WHY_LONG,		/* the message is longer than the receive */
	KWARP_WHY_BIND,
	KWARP_WHY_INV,
	KWARP_WHY_ALIGN,	/* an atomic operation at an address that is no multiple of 8 */
	KWARP_WHY_MANY,		/* more Reads than the IRD */
	KWARP_WHY_INJECTED,	/* none has failed: a fault was asked for, see fault.h */
	KWARP_WHY_COUNT
};

/* What was refused: first what the peer has asked for, then what this end's program has. */
enum kwarp_refused_op {
	KWARP_REFUSED_WRITE,
	KWARP_REFUSED_READ,
	KWARP_REFUSED_ATOMIC,
	KWARP_REFUSED_INV,
	KWARP_REFUSED_SEND,
	KWARP_REFUSED_RECEIVE,	/* an element of a posted receive */
	KWARP_REFUSED_REQUEST,	/* an element of a posted request, or the request */
	KWARP_REFUSED_SINK,	/* the buffer of a posted Read or atomic operation */
	KWARP_REFUSED_COUNT
};

/* What a record is about. Each kind has its own share of the ring. */
enum kwarp_ended_kind {
	KWARP_ENDED_STREAM,
	KWARP_ENDED_STARTUP,	/* a program here has connected, and that has failed */
	KWARP_ENDED_INBOUND,	/* a peer has connected to a listener here, and that has failed */
	KWARP_ENDED_KINDS
};

/*
 * struct kwarp_refusal - what a check of the engine has refused
 * @why: written last, with release semantics; KWARP_WHY_NONE: the rest is not valid
 * @stag: lkey or rkey as given
 * @len: octets as given; KWARP_WHY_LONG: of the message
 * @rights: IB_ACCESS_* that are needed
 * @found: the consumer has a region or window with the index of @stag; if not, the fields below are
 *	not set
 * @hidden: the addresses of the region are the kernel's
 * @mr_len: its octets; KWARP_WHY_LONG: of the receive
 */
struct kwarp_refusal {
	enum kwarp_why why;
	enum kwarp_refused_op op;
	enum kwarp_perr perr;
	u32 stag;
	u64 addr;
	u64 len;
	int rights;
	bool found;
	bool hidden;
	u32 mr_stag;
	int mr_access;
	u64 mr_va;
	u64 mr_len;
};

/* What of ours the peer's Terminate names. */
enum kwarp_blamed {
	KWARP_BLAMED_NOTHING,
	KWARP_BLAMED_TAGGED,	/* a segment of a Write or Read Response: stag, addr, len */
	KWARP_BLAMED_READ,	/* a Read Request: stag, addr, len of its source */
	KWARP_BLAMED_MESSAGE,	/* an untagged message: number */
};

union kwarp_ended_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/*
 * struct kwarp_ended - a stream that has ended by an error, or a startup that has failed
 * @kind: which of these; the members from @perr on, but @err, are those of a stream
 * @startup: name of the state in which the startup has failed
 * @seq: number, counted per link from 1
 * @time: nanoseconds since boot
 * @age_ms: how long it lasted; startup: in its last state
 * @pid: process that created the queue pair, a reference; NULL: a kernel consumer, or, of a peer's
 *	startup, that no program has accepted it: then @program is empty
 * @program: name of the process or, for a kernel consumer, of the module
 * @perr: error that this end has found
 * @term: its code, see kwarp_term_short()
 * @term_perr: its error, or KWARP_PERR_NONE if the code is of no RFC
 * @vendor_err: as in completions
 * @err: TCP's error, a positive errno, or 0; startup: the program's
 * @cut: the peer has closed in the middle of a message
 * @blamed_msn: or its MSN, if it is an untagged message
 * @sent: octets that the peer's TCP has acknowledged
 * @received: octets that TCP has received
 * @retrans: segments that TCP has sent again
 */
struct kwarp_ended {
	enum kwarp_ended_kind kind;
	const char *startup;
	const char *no_start;
	const char *no_start_text;
	u64 seq;
	u64 time;
	u64 age_ms;
	struct pid *pid;
	kuid_t uid;
	char program[TASK_COMM_LEN];
	u32 qpn;
	union kwarp_ended_addr local;
	union kwarp_ended_addr remote;
	enum kwarp_perr perr;
	bool has_term;
	u16 term;
	enum kwarp_perr term_perr;
	u32 vendor_err;
	int err;
	bool cut;
	struct kwarp_refusal refused;
	enum kwarp_blamed blamed;
	u32 blamed_stag;
	u32 blamed_msn;
	u64 blamed_addr;
	u32 blamed_len;
	u64 sent;
	u64 received;
	u32 retrans;
};

/* Octets that are enough for each text. */
#define KWARP_RIGHTS_LEN	96
#define KWARP_ENDED_TEXT	400

struct kwarp_ended_ring *kwarp_ended_alloc(void);
void kwarp_ended_free(struct kwarp_ended_ring *ring);
void kwarp_ended_add(struct kwarp_dev *kdev, struct kwarp_ended *rec);
void kwarp_ended_add_startup(struct kwarp_dev *kdev, struct kwarp_ended *rec);
bool kwarp_ended_next(struct kwarp_ended_ring *ring, u64 after, kuid_t uid, bool all,
		      struct kwarp_ended *rec);
const char *kwarp_ended_error(const struct kwarp_ended *rec);
void kwarp_ended_text(const struct kwarp_ended *rec, char *buf, size_t size);
const char *kwarp_why_name(enum kwarp_why why);
void kwarp_rights_text(int access, char buf[KWARP_RIGHTS_LEN]);

#endif /* KWARP_ENDED_H */
