/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Protocol errors and the Terminate message: one table from error to layer,
 * error type, code and attached headers (RFC 5040 section 4.8, RFC 5041 section
 * 7.2, RFC 5044 section 8, RFC 6581 section 8).
 */
#ifndef KWARP_PROTO_TERM_H
#define KWARP_PROTO_TERM_H

#include "perr.h"
#include "wire.h"

/**
 * struct kwarp_term - a Terminate message, decoded or to be encoded
 * @layer: 0 RDMAP, 1 DDP, 2 LLP
 * @etype: error type
 * @code: error code
 * @seg_len_valid: M bit
 * @has_ddp: D bit: @ddp_hdr and @seg_len are present
 * @has_rdmap: R bit: @rreq is present
 * @seg_len: ULPDU length of the segment in error
 * @ddp_hdr_len: 14 or 18
 * @ddp_hdr: header of the segment in error, octets as received
 * @rreq: Read Request header, octets; advanced if the Read was partly answered
 */
struct kwarp_term {
	u8 layer;
	u8 etype;
	u8 code;
	bool seg_len_valid;
	bool has_ddp;
	bool has_rdmap;
	u16 seg_len;
	u8 ddp_hdr_len;
	u8 ddp_hdr[KWARP_DDP_MAX_HDR];
	u8 rreq[KWARP_RDMAP_RREQ_LEN];
};

/**
 * kwarp_term_wanted - may a Terminate be sent for this error at all?
 * @err: any value
 *
 * Context: any.
 * Return: false for local reports, for the peer's own Terminate, for none.
 */
bool kwarp_term_wanted(enum kwarp_perr err);

/**
 * kwarp_perr_name - name of an error for logs and traces
 * @err: any value
 *
 * Context: any.
 * Return: the enumerator without its prefix, never NULL.
 */
const char *kwarp_perr_name(enum kwarp_perr err);

/**
 * kwarp_term_fill - what to say about an error
 * @term: result
 * @err: error for which kwarp_term_wanted() is true
 * @ddp_hdr: octets of the failing segment's DDP header, or NULL if there is none
 * @seg_len: its ULPDU length
 * @rreq: octets of its Read Request header, or NULL
 *
 * Sets M, D and R as RFC 5040 Figure 10 says for the error's layer and type:
 * headers are attached only where the table has them and they are given; @rreq
 * only together with @ddp_hdr.
 *
 * Context: any.
 */
void kwarp_term_fill(struct kwarp_term *term, enum kwarp_perr err,
		     const u8 *ddp_hdr, u16 seg_len, const u8 *rreq);

/**
 * kwarp_term_encode - Terminate to wire octets
 * @out: room for KWARP_TERM_MAX_LEN octets: the payload behind the DDP header
 * @term: message
 *
 * Context: any.
 * Return: octets written: 4, 20, 24, 48 or 52.
 */
u32 kwarp_term_encode(u8 *out, const struct kwarp_term *term);

/**
 * kwarp_term_decode - Terminate to host order
 * @in: payload behind the DDP header
 * @len: its octets; more than the flags ask for are ignored
 * @term: result
 *
 * If the message is cut short, @term still has layer, type and code (if @len >= 4)
 * and the headers that are complete: siw announces a Read Request header
 * that it does not send, for a Send with Invalidate that may not.
 *
 * Context: any.
 * Return: false if it is shorter than its flags say.
 */
bool kwarp_term_decode(const u8 *in, u32 len, struct kwarp_term *term);

/* Compact form for a completion's vendor_err: layer << 12 | etype << 8 | code. */
static inline u16 kwarp_term_short(const struct kwarp_term *term)
{
	return term->layer << 12 | term->etype << 8 | term->code;
}

/**
 * kwarp_term_perr - what a Terminate says
 * @term: received message
 *
 * Context: any.
 * Return: the error that we would send with this layer, type and code, KWARP_PERR_NONE if there
 * is none.
 */
enum kwarp_perr kwarp_term_perr(const struct kwarp_term *term);

/**
 * kwarp_perr_short - vendor_err for an error of our own finding
 * @err: any value
 *
 * Context: any.
 * Return: as kwarp_term_short(); 0 for KWARP_PERR_NONE and KWARP_PERR_PEER_TERM.
 */
u16 kwarp_perr_short(enum kwarp_perr err);

#endif /* KWARP_PROTO_TERM_H */
