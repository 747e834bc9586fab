/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * MPA startup: Request and Reply Frame codec and the negotiation of CRC,
 * markers, IRD/ORD and RTR as pure functions (RFC 5044 section 7.1, RFC 6581).
 */
#ifndef KWARP_PROTO_MPA_NEG_H
#define KWARP_PROTO_MPA_NEG_H

#include "term.h"
#include "wire.h"

enum kwarp_crc_policy {
	KWARP_CRC_OFF,		/* do not ask; use it if the peer asks */
	KWARP_CRC_ON,		/* ask */
	KWARP_CRC_REQUIRED,	/* ask, and refuse a peer that did not ask */
};

/* RTR forms, as a mask */
#define KWARP_RTR_SEND		BIT(0)	/* B */
#define KWARP_RTR_WRITE		BIT(1)	/* C */
#define KWARP_RTR_READ		BIT(2)	/* D */

#define KWARP_DEPTH_NV		0x3fff	/* IRD/ORD: the ULP takes care of it */

/**
 * struct kwarp_mpa_frame - a startup frame in host order
 * @reply: Reply Frame, else Request
 * @markers: M
 * @crc: C
 * @reject: R of a Reply
 * @enhanced: S counts: Rev 2 and S=1
 * @p2p: A
 * @rtr: B, C, D as KWARP_RTR_*
 * @rev: Rev field
 * @ird: 14 bits
 * @ord: 14 bits
 * @pd_len: private data of the ULP, enhanced data not counted
 */
struct kwarp_mpa_frame {
	bool reply;
	bool markers;
	bool crc;
	bool reject;
	bool enhanced;
	bool p2p;
	u8 rtr;
	u8 rev;
	u16 ird;
	u16 ord;
	u16 pd_len;
};

/**
 * kwarp_mpa_frame_need - octets that make the frame complete
 * @buf: octets received so far
 * @len: their number
 * @reply: a Reply is expected, else a Request
 * @need: result: total length of the frame as far as known now; the frame is
 *	complete when @len >= @need
 *
 * Checks the key octet by octet as it comes, so that garbage is refused at once;
 * then the revision (1 or 2), then PD_Length (at most 512, at least 4 if the frame
 * is enhanced).  Octets beyond @need are the caller's business: neither side may
 * send any yet (RFC 5044 7.1.2).
 *
 * Context: any.
 * Return: KWARP_PERR_NONE, or KWARP_PERR_MPA_FRAME (bad key, revision, PD_Length).
 */
enum kwarp_perr kwarp_mpa_frame_need(const u8 *buf, u32 len, bool reply, u32 *need);

/**
 * kwarp_mpa_frame_decode - decode a complete frame
 * @buf: kwarp_mpa_frame_need() octets
 * @len: their number
 * @reply: a Reply is expected
 * @frame: result
 * @pd: result: start of the ULP's private data inside @buf (frame->pd_len octets)
 *
 * Reserved bits, R of a Request, S of a revision 1 frame and B, C, D without A are
 * ignored and come out as zero.
 *
 * Context: any.
 * Return: KWARP_PERR_NONE, or KWARP_PERR_MPA_FRAME (malformed or not complete).
 */
enum kwarp_perr kwarp_mpa_frame_decode(const u8 *buf, u32 len, bool reply,
				       struct kwarp_mpa_frame *frame, const u8 **pd);

/**
 * kwarp_mpa_frame_encode - header and enhanced data to wire octets
 * @buf: room for KWARP_MPA_MAX_HDR octets
 * @frame: frame; its @pd_len is at most kwarp_mpa_max_pd()
 *
 * The ULP's private data follows behind it.
 *
 * Context: any.
 * Return: octets written, 20 or 24.
 */
u32 kwarp_mpa_frame_encode(u8 *buf, const struct kwarp_mpa_frame *frame);

#define KWARP_MPA_MAX_HDR	(KWARP_MPA_FRAME_LEN + KWARP_MPA_ENH_LEN)

/* Room for the ULP's private data in a frame: 512, less 4 if enhanced. */
static inline u32 kwarp_mpa_max_pd(bool enhanced)
{
	return KWARP_MPA_MAX_PD - (enhanced ? KWARP_MPA_ENH_LEN : 0);
}

/**
 * struct kwarp_mpa_params - what one side wants; a snapshot of the knobs and of the
 *	connection parameters, constant during a startup
 * @crc: policy
 * @markers: ask the peer for markers
 * @rev: initiator: revision to start with, 1 or 2
 * @p2p: initiator: ask for the peer-to-peer model
 * @rtr: forms that we can send (initiator) or take (responder)
 * @ird: inbound Reads and atomic operations that this connection shall serve
 * @ord: outbound ones that it wants
 * @max_ird: most that the device can serve; for both sides
 *
 * @ird and @ord may be KWARP_DEPTH_NV to leave a direction to the ULP; it then
 * comes back as the result.
 */
struct kwarp_mpa_params {
	enum kwarp_crc_policy crc;
	bool markers;
	bool p2p;
	u8 rev;
	u8 rtr;
	u16 ird;
	u16 ord;
	u16 max_ird;
};

/**
 * struct kwarp_mpa_result - what both sides agreed on
 * @crc: generate and check CRCs
 * @tx_markers: we send markers
 * @rx_markers: the peer sends markers
 * @enhanced: enhanced set-up took place
 * @ird: inbound Reads and atomic operations to serve
 * @ord: outbound ones allowed
 * @rtr: initiator: the one form to send first. Responder: forms offered in the
 *	reply. 0: no RTR
 */
struct kwarp_mpa_result {
	bool crc;
	bool tx_markers;
	bool rx_markers;
	bool enhanced;
	u16 ird;
	u16 ord;
	u8 rtr;
};

/**
 * kwarp_mpa_request - Initiator: fill a Request
 * @p: our side
 * @pd_len: private data of the ULP
 * @req: result
 *
 * Revision 2 is always enhanced: IRD and ORD are worth negotiating.
 *
 * Context: any.
 */
void kwarp_mpa_request(const struct kwarp_mpa_params *p, u16 pd_len,
		       struct kwarp_mpa_frame *req);

/**
 * kwarp_mpa_respond - Responder: answer a Request
 * @p: our side (crc policy, markers, rtr forms, ird/ord wanted by the ULP, max_ird)
 * @req: decoded Request
 * @accept: the ULP's verdict
 * @pd_len: private data of the ULP in the reply
 * @reply: result, R set if not accepted
 * @res: result, valid if accepted
 *
 * The reply has one RTR flag and no more: a form that the Initiator offers and we
 * can take (Write before Read before Send), else one of ours.  Its C flag is the
 * result, ours or the Initiator's: some Initiators look at nothing else.
 *
 * IRD follows the Initiator's ORD as far as the device can, whatever p->ird is;
 * that counts only where the Initiator says nothing (revision 1, NV).
 *
 * Context: any.
 * Return: KWARP_PERR_NONE, or KWARP_PERR_MPA_FRAME with @reply a valid reject
 * (CRC required and not offered).
 */
enum kwarp_perr kwarp_mpa_respond(const struct kwarp_mpa_params *p,
				  const struct kwarp_mpa_frame *req, bool accept,
				  u16 pd_len, struct kwarp_mpa_frame *reply,
				  struct kwarp_mpa_result *res);

/**
 * kwarp_mpa_conclude - Initiator: read an accepting Reply
 * @p: our side
 * @req: the Request we sent
 * @reply: decoded Reply with R=0
 * @res: result
 *
 * The Reply has to be enhanced if and only if the Request was; a revision 2 Reply
 * with S=0 to a revision 1 Request will do.  A Read is chosen as RTR only if the
 * Responder has an IRD for it; an ORD of 0 is then raised to 1.
 *
 * Context: any.
 * Return: KWARP_PERR_NONE; KWARP_PERR_MPA_FRAME: close without a word;
 * KWARP_PERR_MPA_LOCAL, _IRD, _RTR: send that Terminate, then close
 * (6581-8-1; @res is valid so that the Terminate can be framed).
 */
enum kwarp_perr kwarp_mpa_conclude(const struct kwarp_mpa_params *p,
				   const struct kwarp_mpa_frame *req,
				   const struct kwarp_mpa_frame *reply,
				   struct kwarp_mpa_result *res);

#endif /* KWARP_PROTO_MPA_NEG_H */
