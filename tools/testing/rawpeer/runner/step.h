/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: the steps of a case. A case describes a wrong segment by its differences from a
 * correct one: members that are 0 leave the segment correct.
 */
#ifndef RAWPEER_STEP_H
#define RAWPEER_STEP_H

#include <infiniband/verbs.h>

#include "target/places.h"
#include "wire/ddp.h"
#include "wire/mpa.h"

/* What a step does, or what has to happen in it. Members with @ are those of struct rp_step. */
enum rp_do {
	RP_DONE,	/* end of the list of steps */
	RP_SEG,		/* send a segment */
	RP_SEND,	/* send a Send of @len octets, which has to complete request @wr */
	RP_NOISE,	/* send @len octets that are no FPDU */
	RP_TERM,	/* a Terminate has to come, and the consumer has to get an event */
	RP_REFUSED,	/* as RP_TERM, then as RP_END with RP_BY_FIN */
	RP_GET,		/* a segment has to come from the device, as the step describes it */
	RP_POST,	/* the consumer posts a request */
	RP_RECV,	/* the consumer posts a receive of @len octets */
	RP_WC,		/* the consumer's next completion has to be as the step describes it */
	RP_NO_WC,	/* the consumer must have no completion */
	RP_ARM,		/* the consumer asks for an event at the next solicited completion */
	RP_AWAKE,	/* the event that RP_ARM has asked for has to come */
	RP_ASLEEP,	/* the event that RP_ARM has asked for must not come */
	RP_EVENT,	/* the consumer's next asynchronous event has to be @event */
	RP_DEREG,	/* the consumer deregisters region @at */
	RP_BUSY,	/* deregistering region @at has to fail: a window is bound to it */
	RP_BIND,	/* the consumer posts a request that binds the window */
	RP_PUT,		/* the consumer stores @word in region @at, at offset @off */
	RP_CLOSE,	/* the consumer disconnects */
	RP_DESTROY,	/* the consumer destroys its queue pair */
	RP_FIN,		/* the raw peer half-closes the connection */
	RP_RST,		/* the raw peer resets the connection */
	RP_SEE_FIN,	/* the device has to half-close, and to send nothing before */
	RP_QUIET,	/* the device must send nothing, and not close, for 100 ms (times -F) */
	RP_END,		/* the connection has to end as @end says, and nothing may come before */
};

/* What a Terminate returns of the segment that it is about. */
enum rp_headers {
	RP_BARE,	/* nothing */
	RP_DDP,		/* bits M and D: the segment's length and DDP header */
	RP_RREQ,	/* bits M, D and R: also the RDMAP header of a Read Request */
};

/* How a connection may end. */
#define RP_ANY_END	0	/* with a FIN or a reset */
#define RP_BY_FIN	1
#define RP_BY_RST	2

/* STag and tagged offset of the raw peer's buffer that the consumer's Writes and Reads name. */
#define RP_STAG		0x00c0ffee
#define RP_TO		0xfedcba9876543210ULL
/* STag and tagged offset of the sink that the raw peer's own Read Requests name. */
#define RP_SINK_STAG	0x8badf00d
#define RP_SINK_TO	0x0123456789abcdefULL
/* Request Identifier of the raw peer's first Atomic Request. */
#define RP_ATOMIC_ID	0x11223344
/* Immediate Data, if a step does not change bits of it. */
#define RP_IMM		0xdeadbeef

/**
 * struct rp_step - one step. @what decides which of the other members have a meaning.
 *
 * RP_SEG. Names that end in _x are bits to invert, names that end in _d are numbers to add, in a
 *	segment that is correct otherwise:
 * @op: opcode; @len: octets of payload, the next ones that kw_fill() makes from RP_PAYLOAD_KEY
 * @at, @off: region, and offset in it: target of a tagged segment, source of a Read Request,
 *	target of an Atomic Request. A Read Response with @at 0 goes to the sink of the consumer's
 *	oldest Read.
 * @to: if not 0, this tagged offset is sent, with the STag of region @at
 * @more: the segment is not the last one of its message
 * @hit: the payload has to arrive in the consumer's memory. Without @hit, @maybe and @loose the
 *	memory must not change.
 * @maybe: the memory that the payload is for may hold anything afterwards; @loose: the same if CRCs
 *	are not in use (with CRCs, the device checks before it stores)
 * @t_x: invert the T flag; @dv_x, @rv_x: DDP version, RDMAP version; @op_x: opcode; @stag_x: STag;
 *	@qn_x: queue number; @msn_d: MSN; @mo_d: MO
 * @rsvd, @rdmap_rsvd: reserved bits of the DDP and RDMAP control octets; @term_rsvd: those of the
 *	control field of a Terminate
 * @inv: region whose STag the message invalidates; @inv_x: bits to invert in that STag
 * @size: octets that a Read Request asks for
 * @cut: octets to leave out at the end of the ULPDU; below 0: octets to add there
 * @bad: KWRAW_BAD_*; @part: if not 0, only so many octets of the FPDU are sent
 * @hold: the FPDU is sent together with the next one
 * @err, @headers: error (see RP_TERM) and headers of a Terminate; @about, @about_msn: opcode and
 *	MSN of the untagged message whose DDP header the Terminate returns. If @about is 0, that
 *	header is all zeros.
 * @aop, @aop_rsvd: operation code of an Atomic Request, and the reserved bits above it; @data,
 *	@mask, @compare, @compare_mask: its operands. With @hit, @word is the result in its target.
 * @word: value in an Atomic Response; with @hit the consumer has to get it
 * @id_x: Request Identifier
 * @imm_x: Immediate Data; @rest: the second half of Immediate Data, which has to be ignored
 *
 * RP_GET: @op, @len, @more, @size as for RP_SEG
 * @at, @off: where the payload comes from, or the sink of a Read or of an atomic operation
 * @hit: the payload, or the value of an Atomic Response, is what the raw peer has sent last
 * @aop, @data, @compare: of an Atomic Request on all 64 bits; @word: value in an Atomic Response
 * @imm_x: Immediate Data
 *
 * RP_TERM: @err: layer << 12 | type << 8 | code; @headers
 * @of: segment that the Terminate is about: 0 is the last one sent, 1 the one before, ...
 * @event: event that the consumer has to get; 0: the one that belongs to @err
 *
 * RP_POST: @verb: opcode; @at, @off, @len: local buffer; @flags: IBV_SEND_*
 * @data, @compare: operands of an atomic operation, whose @len is 8 if it is 0; @imm_x
 *
 * RP_BIND: @flags: rights beside those to read and to write, IBV_ACCESS_ZERO_BASED
 *
 * RP_WC: @wr: work request id; @status; @wc: opcode; @len; @imm_x
 * @inv: region whose STag is invalidated, as the completion reports; 0: it reports none
 *
 * RP_EVENT: @event; RP_END: @end, one of RP_ANY_END, RP_BY_FIN, RP_BY_RST, and, if it is not 0,
 *	@event, which has to come before
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

/*
 * Member of struct rp_case: the raw peer sends one segment, with these members of its step, and the
 * device refuses it with this Terminate.
 */
#define RP_ONE_REFUSED(error, with, ...) \
	.steps = { { RP_SEG, __VA_ARGS__ }, { RP_REFUSED, .err = (error), .headers = (with) } }

struct rp;

/*
 * Steps after which a Read of 100 octets by the consumer waits for its Response. The first of these
 * steps, as of many others, is a Write of no octets by the raw peer: a device that is the Responder
 * sends nothing before the first FPDU of the Initiator (RFC 5044 section 7.1.2).
 */
extern const struct rp_step rp_reading[];
/* Steps after which the consumer's window is bound to this connection. */
extern const struct rp_step rp_window[];
/*
 * Steps after which the window is bound with all rights for the peer, and its tagged offsets begin
 * with 0.
 */
extern const struct rp_step rp_zero_window[];

/* Run a list of steps, up to the first one that fails. */
void rp_steps(struct rp *r, const struct rp_step *s);
/* Run one step of any kind, unless the run has failed. */
void rp_one_step(struct rp *r, const struct rp_step *s);
/* Run one step RP_SEG. */
void rp_seg(struct rp *r, const struct rp_step *s);
/* Run one step in which something has to come, or nothing may come. */
void rp_expect(struct rp *r, const struct rp_step *s);
/* How often rp_flood() sends the Read. */
#define RP_FLOOD	64
/*
 * Open a connection and run the case's steps, the first of which, a Read, RP_FLOOD times. The raw
 * peer reads nothing meanwhile, so that the Responses are more than TCP takes.
 */
bool rp_flood(struct rp *r);
/*
 * Open a connection, run the case's first steps, and send @ask, which the device must refuse with
 * error @err. @what, @n: see rp_again().
 */
void rp_refused(struct rp *r, const struct rp_step *ask, uint16_t err, const char *what, int n);

#endif /* RAWPEER_STEP_H */
