/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: the steps of a case. A field that is 0 has the correct value on the wire: a case gives
 * what is wrong with a segment as a difference from the correct one.
 */
#ifndef RAWPEER_STEP_H
#define RAWPEER_STEP_H

#include <infiniband/verbs.h>

#include "target/kwtarget.h"
#include "wire/ddp.h"
#include "wire/mpa.h"

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

/* A Read of 100 octets by the consumer waits for its Response. */
extern const struct rp_step rp_reading[];
/* The consumer's window is bound to this stream. */
extern const struct rp_step rp_window[];
/* A window with all rights for the peer, whose tagged offsets begin with 0. */
extern const struct rp_step rp_zero_window[];

/* Eight octets of memory as the consumer's processor has them: that of the peer, too. */
uint64_t rp_word(const uint8_t *octets);
void rp_steps(struct rp *r, const struct rp_step *s);
void rp_seg(struct rp *r, const struct rp_step *s);
void rp_expect(struct rp *r, const struct rp_step *s);

#endif /* RAWPEER_STEP_H */
