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

/*
 * struct kwarp_term - a Terminate message, decoded or to be encoded
 * @layer: 0 RDMAP, 1 DDP, 2 LLP (MPA)
 * @seg_len_valid: M bit: @seg_len is valid
 * @has_rdmap: R bit: @rreq is present
 * @seg_len: ULPDU length of the segment in error
 * @ddp_hdr_len: octets of @ddp_hdr: 14 or 18; 0 if there is none
 * @ddp_hdr: DDP header of the segment in error, octets as received
 * @rreq: Read Request header, as on the wire; if the Read was partly answered, the header of a
 *	request for the rest
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

/*
 * Return: false for errors that are only reported locally, for a Terminate received from the peer
 * and for KWARP_PERR_NONE.
 */
bool kwarp_term_wanted(enum kwarp_perr err);

/* Never NULL */
const char *kwarp_perr_name(enum kwarp_perr err);

/**
 * kwarp_term_fill - fill a Terminate for an error
 * @term: result
 * @err: error for which kwarp_term_wanted() is true
 * @ddp_hdr: octets of the failing segment's DDP header, or NULL if there is none
 * @seg_len: ULPDU length of that segment
 * @rreq: octets of the Read Request header in that segment, or NULL
 *
 * Sets M, D and R as RFC 5040 Figure 10 says for the layer and type of the error.  A header is
 * attached if that figure allows it and the caller gives it; @rreq only together with @ddp_hdr.
 */
void kwarp_term_fill(struct kwarp_term *term, enum kwarp_perr err,
		     const u8 *ddp_hdr, u16 seg_len, const u8 *rreq);

/*
 * @out: room for KWARP_TERM_MAX_LEN octets: the payload after the DDP header. Return: octets
 * written.
 */
u32 kwarp_term_encode(u8 *out, const struct kwarp_term *term);

/**
 * kwarp_term_decode - decode a Terminate
 * @in: payload after the DDP header
 * @len: octets of the payload; octets beyond the headers that the flags announce are ignored
 * @term: result
 *
 * If the message is too short for its flags, @term still has layer, type and code (if @len >= 4)
 * and the headers that are complete.  Such messages exist: for a Send with Invalidate that they
 * refuse, some peers set the R bit but send no Read Request header.
 *
 * Return: false if the message is shorter than its flags say.
 */
bool kwarp_term_decode(const u8 *in, u32 len, struct kwarp_term *term);

/* Return: layer, type and code in 16 bits, for the field vendor_err of a work completion. */
static inline u16 kwarp_term_short(const struct kwarp_term *term)
{
	return term->layer << 12 | term->etype << 8 | term->code;
}

/*
 * Return: the error for which kwarp sends this layer, type and code; KWARP_PERR_NONE if there is no
 * such error.
 */
enum kwarp_perr kwarp_term_perr(const struct kwarp_term *term);

/*
 * For an error that this side found. Return: as kwarp_term_short(); 0 for KWARP_PERR_NONE.
 */
u16 kwarp_perr_short(enum kwarp_perr err);

#endif /* KWARP_PROTO_TERM_H */
