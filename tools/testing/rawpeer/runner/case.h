/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: what a case is, and what runs cases against a consumer (kwtarget).
 *
 * A case is a list of steps, or a function. A case runs in each of its roles, once with every
 * write in one piece and once cut at random places. A field that is 0 has the correct value on
 * the wire: a case gives what is wrong with a segment as a difference from the correct one.
 *
 *   runner/run.c      options, list, runs, verdicts
 *   runner/start.c    startup: connections in full operation
 *   runner/step.c     steps that do something
 *   runner/expect.c   steps that wait for an answer
 *   runner/control.c  control channel to the consumer
 *   runner/mutate.c   mutated streams
 *   cases/            the cases, a file for each subject
 */
#ifndef RAWPEER_CASE_H
#define RAWPEER_CASE_H

#include <infiniband/verbs.h>

#include "wire/ddp.h"
#include "wire/mpa.h"
#include "target/kwtarget.h"
#include "kwtest.h"

/* The raw peer's end of a connection: the one that connects, or the one that listens. */
enum rp_role {
	RP_INIT = 1,
	RP_RESP = 2,
	RP_BOTH = 3,
};

enum rp_do {
	RP_DONE,	/* end of the list */
	RP_SEG,		/* send a segment */
	RP_NOISE,	/* send @len octets that are no FPDU */
	RP_TERM,	/* a Terminate @err has to come, about segment @of, and the event */
	RP_GET,		/* this segment has to come */
	RP_POST,	/* the consumer posts a request */
	RP_RECV,	/* the consumer posts a receive of @len */
	RP_WC,		/* this completion has to be next */
	RP_NO_WC,	/* there is no completion */
	RP_ARM,		/* the consumer asks to be woken by what is solicited */
	RP_AWAKE,	/* it is woken */
	RP_ASLEEP,	/* it is not */
	RP_EVENT,	/* this asynchronous event has to be next */
	RP_DEREG,	/* the consumer deregisters region @at */
	RP_BUSY,	/* the consumer cannot: a window is bound to region @at */
	RP_BIND,	/* the consumer posts a request that binds the window */
	RP_PUT,		/* the consumer stores @word at @at, @off */
	RP_CLOSE,	/* the consumer disconnects */
	RP_DESTROY,	/* the consumer destroys its queue pair */
	RP_FIN,		/* half-close */
	RP_RST,		/* reset */
	RP_SEE_FIN,	/* the device half-closes, and nothing comes before */
	RP_QUIET,	/* nothing comes for a while */
	RP_END,		/* the connection has to end like @end, and nothing comes before */
};

/* What a Terminate brings of the segment it is about. */
enum rp_headers {
	RP_BARE,
	RP_DDP,		/* M and D */
	RP_RREQ,	/* M, D and R */
};

/* How a connection may end. */
#define RP_ANY_END	0	/* FIN or RST */
#define RP_BY_FIN	1
#define RP_BY_RST	2

/* Remote buffer that the consumer's Writes and Reads name. */
#define RP_STAG		0x00c0ffee
#define RP_TO		0xfedcba9876543210ULL
/* Sink of our Read Requests. */
#define RP_SINK_STAG	0x8badf00d
#define RP_SINK_TO	0x0123456789abcdefULL
/* Request Identifier of our Atomic Requests, and what Immediate Data is if nothing is said. */
#define RP_ATOMIC_ID	0x11223344
#define RP_IMM		0xdeadbeef

/**
 * struct rp_step - one step; which members count depends on @what
 *
 * RP_SEG:
 * @op: opcode; @len: octets of payload, a stream that goes on in the next segment of
 *	the message
 * @at, @off: target: region and offset in it (tagged), source (Read Request); for a
 *	Read Response @at stays 0, it goes where the consumer's oldest Read has it
 * @to: instead of @at: this TO, as it is, with the STag of @at
 * @more: without L
 * @hit: the payload arrives in memory; @maybe: that memory may hold anything;
 *	@loose: it may, unless CRC is in use, which is checked before
 * @t_x, @dv_x, @rv_x, @op_x, @stag_x, @qn_x: bits to invert; @msn_d, @mo_d: to add
 * @rsvd, @rdmap_rsvd: reserved bits; @term_rsvd: those in the control field of a Terminate
 * @inv: region to invalidate, @inv_x as above
 * @size: of a Read; @cut: octets to leave away at the end of the ULPDU, below 0: to add
 * @bad: KWRAW_BAD_*; @part: if not 0, send so many octets of the FPDU and no more
 * @hold: send it together with the next one
 * @err, @headers: of a Terminate; @about: opcode of the untagged message that the DDP header in
 *	it is of, @about_msn; none: that header is all zeros
 * @aop, @aop_rsvd: AOpCode and the bits above it, of an Atomic Request; @data, @mask, @compare,
 *	@compare_mask as they are; @hit: its target holds @word then
 * @word: value in an Atomic Response; @hit: it arrives in memory
 * @id_x: bits to invert of the Request Identifier
 * @imm_x, @rest: Immediate Data, bits to invert and the second half
 *
 * RP_GET: @op, @at, @off, @len, @more, @inv, @size; @at and @off: where the payload
 *	comes from, or the sink of a Read or atomic operation; @aop, @data, @compare of an
 *	Atomic Request, of which the masks are all ones; @word of an Atomic Response, @hit: it is
 *	what we sent last; @imm_x
 * RP_TERM: @err as layer << 12 | type << 8 | code, @headers, @of: number of the segment
 *	that it is about, counted back: 0 is the last one sent
 * RP_POST: @verb, @at, @off, @len, @inv, @flags; @data, @compare of an atomic operation, whose
 *	@len counts only if it is not 0; @imm_x
 * RP_BIND: @flags: rights beside those to read and to write, IBV_ACCESS_ZERO_BASED
 * RP_WC: @status, @wc, @len, @wr: work request id, @inv: region whose STag it says is
 *	invalid now; none: it says nothing of the kind; @imm_x
 * RP_EVENT: @event; RP_END: @end
 */
struct rp_step {
	enum rp_do what;
	enum kwraw_op op;
	uint32_t len;
	enum kwt_region at;
	int32_t off;
	uint64_t to;
	bool more, hit, maybe, loose, hold, t_x;
	uint8_t dv_x, rv_x, op_x, rsvd, rdmap_rsvd;
	uint16_t term_rsvd;
	uint32_t stag_x, qn_x, inv_x;
	int32_t msn_d, mo_d, cut;
	enum kwt_region inv;
	uint32_t size, part;
	unsigned int bad;
	uint16_t err;
	enum rp_headers headers;
	enum kwraw_op about;
	uint32_t about_msn;
	uint8_t aop;
	uint32_t aop_rsvd, id_x, imm_x, rest;
	uint64_t data, mask, compare, compare_mask, word;
	unsigned int of;
	enum ibv_wr_opcode verb;
	unsigned int flags;
	enum ibv_wc_status status;
	enum ibv_wc_opcode wc;
	unsigned int wr;
	enum ibv_event_type event;
	unsigned int end;
};

#define RP_STEPS	24

struct rp;

/**
 * struct rp_case - one case
 * @name: on the command line and in reports
 * @ids: the requirements it shows
 * @role: in which roles it runs
 * @recvs: sizes of the receives that are posted first; default: four of 512
 * @no_recvs: none
 * @ird, @ord: the consumer's; default 4
 * @no_ord: the consumer wants an ORD of 0; @no_place: our IRD is 0, whatever it wants
 * @no_rights: the consumer gives us none, before it connects or accepts; @no_atomics: only
 *	those to read and to write
 * @plain: not cut at random places
 * @markers: only if the device receives markers; @no_markers: only if not
 * @crc: only if CRC is in use; @no_crc: only if not
 * @first: in full operation, what several cases begin with; @steps: after it
 * @run: instead of steps: from the TCP connection on
 */
struct rp_case {
	const char *name, *ids;
	enum rp_role role;
	uint32_t recvs[KWT_RECV_MAX];
	bool no_recvs, no_ord, no_place, no_rights, no_atomics;
	bool plain, markers, no_markers, crc, no_crc;
	unsigned int ird, ord;
	const struct rp_step *first;
	struct rp_step steps[RP_STEPS];
	void (*run)(struct rp *r);
};

/**
 * struct rp_group - cases that run together; their list ends with a NULL name
 */
struct rp_group {
	const char *name;
	const struct rp_case *cases;
};

extern const struct rp_case rp_cases_req[], rp_cases_rep[], rp_cases_fpdu[],
	rp_cases_untagged[], rp_cases_tagged[], rp_cases_rdmap[], rp_cases_read[],
	rp_cases_window[], rp_cases_close[], rp_cases_neighbour[], rp_cases_knob[],
	rp_cases_imm[], rp_cases_atomic[], rp_cases_atomic_post[];

/**
 * struct rp_where - where things are
 * @addr, @port: of the consumer's listener; @control: of its control channel
 * @own, @own_port: where we listen; @listener: that socket
 * @prompt_ms: for what has to happen at once; @slow: factor on all times
 * @want_crc, @want_markers: what we ask for at startup
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

/* ------------------------------------------------------------ control channel */

void rp_ctl_open(void);
void rp_ctl_close(void);
/* One command, one answer, without its "ok "; NULL if the answer is "no". */
const char *rp_ctl(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* What the answer was, after a NULL. */
const char *rp_ctl_no(void);

/* -------------------------------------------------------------------- startup */

/* A connection event has to be this one. */
void rp_cm(struct rp *r, const char *name);
/* "begin" with what the case wants. */
void rp_begin(struct rp *r);
/* TCP is up; as responder the consumer's Request has not been read. */
bool rp_tcp(struct rp *r);
/* Everything up to full operation. */
bool rp_open(struct rp *r);
/* The connection has to end. */
void rp_ended(struct rp *r, unsigned int how);
/* The end of each run: our side is closed, and the consumer in order. */
void rp_finish(struct rp *r);

/* ---------------------------------------------------------------------- steps */

/* A Read of 100 octets by the consumer waits for its Response. */
extern const struct rp_step rp_reading[];
/* The consumer's window is bound to this stream. */
extern const struct rp_step rp_window[];

/* Eight octets of memory as the consumer's processor has them: that of the peer, too. */
uint64_t rp_word(const uint8_t *octets);
void rp_steps(struct rp *r, const struct rp_step *s);
void rp_seg(struct rp *r, const struct rp_step *s);
void rp_expect(struct rp *r, const struct rp_step *s);

#endif /* RAWPEER_CASE_H */
