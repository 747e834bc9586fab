/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: one run of one case, and what all runs share: addresses, time limits, verdicts.
 */
#ifndef RAWPEER_RUN_H
#define RAWPEER_RUN_H

#include "kwtest.h"
#include "runner/case.h"

/**
 * struct rp_where - where things are
 * @addr, @port: of the consumer's listener; @control: of its control channel
 * @own, @own_port: where we listen; @listener: that socket
 * @prompt_ms: for what has to happen at once; @slow: factor on all times
 * @want_crc, @want_markers: what we ask for at start-up
 */
struct rp_where {
	const char *addr, *port, *control, *own, *own_port;
	int listener;
	int prompt_ms, slow;
	bool want_crc, want_markers;
};

extern struct rp_where rp_where;

/**
 * struct rp_sent - a segment that was sent
 */
struct rp_sent {
	uint8_t ulpdu[KWRAW_READ_REQ_LEN];
	uint16_t len;
};

#define RP_LAST_SENT	8

/**
 * struct rp_rreq - a Read that waits for its Response
 */
struct rp_rreq {
	uint32_t stag, size, done;
	uint64_t to;
};

#define RP_READS	64

/**
 * struct rp_reads - Reads in one direction, oldest first
 */
struct rp_reads {
	struct rp_rreq r[RP_READS];
	unsigned int head, tail;
};

/**
 * struct rp_atomic - an atomic operation that waits for its Response
 * @id: Request Identifier
 * @off: of the consumer's operations: offset in the arena at which the value is stored
 */
struct rp_atomic {
	uint32_t id, off;
};

/**
 * struct rp_atomics - those in one direction, oldest first
 */
struct rp_atomics {
	struct rp_atomic a[RP_READS];
	unsigned int head, tail;
};

/**
 * struct rp_region - a region as the peer sees it
 */
struct rp_region {
	uint32_t stag, len;
	uint64_t to;
};

/**
 * struct rp - one run of one case
 * @failed: has failed; @skipped: cannot be run here
 * @c: the connection; @up: it is open; @asked: our frame, if a case sent it itself
 * @msn, @mo: next ones to send per queue; @peer_msn, @peer_mo: to receive
 * @pos: in the stream of payload octets
 * @recv: receive that the next Send goes to; @recv_size: of each
 * @sent: the last ones, @n_sent counts all
 * @ours: our Reads; @theirs: the consumer's; @our_atomics, @their_atomics
 * @out: octets that wait to be sent together
 * @posted: requests that the consumer has posted
 */
struct rp {
	const struct rp_case *k;
	enum rp_role role;
	bool failed, skipped, up;
	struct kwraw c;
	struct kwraw_mpa asked;
	struct rp_region region[KWT_REGIONS];
	uint32_t msn[KWRAW_QUEUES], mo[KWRAW_QUEUES], peer_msn[KWRAW_QUEUES], peer_mo[KWRAW_QUEUES];
	uint64_t pos, to;
	unsigned int recv;
	struct rp_sent sent[RP_LAST_SENT];
	unsigned int n_sent, posted;
	struct rp_reads ours, theirs;
	struct rp_atomics our_atomics, their_atomics;
	uint8_t *out;
	size_t out_len;
	struct kw_rng rng;
};

#define RP_PAYLOAD_KEY	0xf00d

/* Commands of kwrawpeer that work on cases. */
bool rp_knows(const char *command);
int rp_main(int argc, char **argv);
int rp_mutate(unsigned int count, uint64_t seed);

/* The case has failed; the first reason counts. */
void rp_fail(struct rp *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Time to wait for what has to happen at once. */
int rp_soon(void);

#endif /* RAWPEER_RUN_H */
