/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: a run, which is one execution of a case, and what all runs share: addresses, time
 * limits, verdicts.
 */
#ifndef RAWPEER_RUN_H
#define RAWPEER_RUN_H

#include "kwtest.h"
#include "runner/case.h"

/**
 * struct rp_where - addresses, time limits and flags of all runs
 * @addr, @port: the consumer's listener; @control: port of its control channel
 * @own, @own_port: where the raw peer listens; @listener: socket that listens there
 * @prompt_ms: time limit for what has to happen at once; @slow: factor on all time limits
 * @want_crc, @want_markers: the raw peer asks for CRC, for markers, at startup
 * @whole: -w, @quick: how often -q was given: see kwrawpeer.c
 * @seed: decides where writes are cut
 */
struct rp_where {
	const char *addr, *port, *control, *own, *own_port;
	int listener;
	unsigned int prompt_ms, slow, want_crc, want_markers, quick;
	bool whole;
	uint64_t seed;
};

extern struct rp_where rp_where;

/**
 * struct rp_sent - a segment that was sent
 * @ulpdu: its first octets; @len: length of the whole ULPDU
 */
struct rp_sent {
	uint8_t ulpdu[KWRAW_READ_REQ_LEN];
	uint16_t len;
};

#define RP_LAST_SENT	8

/**
 * struct rp_rreq - a Read that waits for its Response
 * @stag, @to: its sink; @size: octets; @done: octets that were answered
 */
struct rp_rreq {
	uint32_t stag, size, done;
	uint64_t to;
};

#define RP_READS	64

/**
 * struct rp_reads - Reads in one direction that wait for their Responses, oldest first
 */
struct rp_reads {
	struct rp_rreq r[RP_READS];
	unsigned int head, tail;
};

/**
 * struct rp_atomic - an atomic operation that waits for its Response
 * @id: Request Identifier
 * @off: for an operation of the consumer, offset in its memory at which the value is stored
 */
struct rp_atomic {
	uint32_t id, off;
};

/**
 * struct rp_atomics - atomic operations in one direction that wait for Responses, oldest first
 */
struct rp_atomics {
	struct rp_atomic a[RP_READS];
	unsigned int head, tail;
};

/**
 * struct rp_region - a memory region of the consumer
 * @stag: its STag; @to: tagged offset of its first octet; @len: its length
 */
struct rp_region {
	uint32_t stag, len;
	uint64_t to;
};

/**
 * struct rp - one run of one case
 * @k: the case; @role: the raw peer's role
 * @failed: the run has failed
 * @c: the connection; @up: it is open
 * @asked: the Request that a case has sent itself, or the device's if the case answers it itself
 * @region: the consumer's regions
 * @msn, @mo: the next ones to send, per queue; @peer_msn, @peer_mo: the next ones to receive
 * @pos: position in the payload octets that kw_fill() makes from RP_PAYLOAD_KEY
 * @to: octets of the device's current Write that have come
 * @recv: number of the receive buffer that the next Send goes to
 * @sent: the last segments that were sent; @n_sent: number of all that were sent
 * @ours, @our_atomics: Reads and atomic operations of the raw peer that wait for their Responses;
 *	@theirs, @their_atomics: those of the consumer
 * @out, @out_len: octets that are to be sent together
 * @rng: random numbers of this run
 */
struct rp {
	const struct rp_case *k;
	enum rp_role role;
	bool failed, up;
	struct kwraw c;
	struct kwraw_mpa asked;
	struct rp_region region[KWT_REGIONS];
	uint32_t msn[KWRAW_QUEUES], mo[KWRAW_QUEUES], peer_msn[KWRAW_QUEUES], peer_mo[KWRAW_QUEUES];
	uint64_t pos, to;
	unsigned int recv;
	struct rp_sent sent[RP_LAST_SENT];
	unsigned int n_sent;
	struct rp_reads ours, theirs;
	struct rp_atomics our_atomics, their_atomics;
	uint8_t *out;
	size_t out_len;
	struct kw_rng rng;
};

/* Seed from which kw_fill() makes the endless octets that the raw peer sends as payload. */
#define RP_PAYLOAD_KEY	0xf00d

/* Functions of groups.c. Both return an exit code. */
/* Run the cases of these names, or all. */
int rp_run_cases(char **names, int n);
/* Print a line about each of these cases. */
int rp_list_cases(char **names, int n);
/* Make @count connections with mutated streams, see runner/mutate.c. Return an exit code. */
int rp_mutate(unsigned int count, uint64_t seed);

/* Functions of report.c */
/* Report that the run has failed. Only the first failure of a run is reported. */
void rp_fail(struct rp *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Time limit, in milliseconds, for what has to happen at once. */
int rp_soon(void);
/* Read known differences from a file, see kwrawpeer.c. */
void rp_read_known(const char *path);
/* Return: the reason why this case is known to fail in this role, or NULL. */
const char *rp_why_known(const char *name, enum rp_role role);
const char *rp_role_name(enum rp_role role);

#endif /* RAWPEER_RUN_H */
