/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * MPA startup: Request and Reply Frame codec and the negotiation of CRC,
 * markers, IRD/ORD and RTR as pure functions (RFC 5044 section 7.1, RFC 6581).
 *
 * Numbers such as 6581-8-1 name requirements of RFCs, see Documentation/conformance.
 */
#ifndef KWARP_PROTO_MPA_NEG_H
#define KWARP_PROTO_MPA_NEG_H

#include "term.h"
#include "wire.h"

enum kwarp_crc_policy {
	KWARP_CRC_OFF,		/* do not ask for CRCs; use them if the peer asks */
	KWARP_CRC_ON,		/* ask for CRCs */
	KWARP_CRC_REQUIRED,	/* ask for CRCs, and refuse a peer that does not ask */
};

/* Forms of the RTR (first message of the Initiator in the peer-to-peer model), as a mask */
#define KWARP_RTR_SEND		BIT(0)	/* B bit of the enhanced data */
#define KWARP_RTR_WRITE		BIT(1)	/* C bit */
#define KWARP_RTR_READ		BIT(2)	/* D bit */

#define KWARP_DEPTH_NV		0x3fff	/* IRD/ORD: not negotiated, the ULP takes care of it */

/**
 * struct kwarp_mpa_frame - a startup frame in host order
 * @reply: true: Reply Frame; false: Request Frame
 * @markers: M bit: the sender wants to receive markers
 * @crc: C bit: the sender wants CRCs
 * @reject: R bit of a Reply: the connection is rejected
 * @enhanced: the frame has enhanced data: Rev 2 and S bit set
 * @p2p: A bit: peer-to-peer model
 * @rtr: bits B, C, D as KWARP_RTR_*
 * @rev: Rev field
 * @ird: IRD, 14 bits
 * @ord: ORD, 14 bits
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
 * kwarp_mpa_frame_need - how many octets a startup frame has
 * @buf: octets received so far
 * @len: number of octets in @buf
 * @reply: true: a Reply is expected; false: a Request
 * @need: result: length of the frame, as far as it is known now; the frame is
 *	complete when @len >= @need
 *
 * Checks the octets of the key that have come, so that garbage is refused at once;
 * then the revision (1 or 2), then PD_Length (at most 512, at least 4 if the frame
 * is enhanced).  The caller handles octets beyond @need: neither side may
 * send any yet (RFC 5044 section 7.1.2).
 *
 * Context: any.
 * Return: KWARP_PERR_NONE, or KWARP_PERR_MPA_FRAME (bad key, revision, PD_Length).
 */
enum kwarp_perr kwarp_mpa_frame_need(const u8 *buf, u32 len, bool reply, u32 *need);

/**
 * kwarp_mpa_frame_decode - decode a complete frame
 * @buf: octets of the frame, as many as kwarp_mpa_frame_need() says
 * @len: number of octets in @buf
 * @reply: true: a Reply is expected; false: a Request
 * @frame: result
 * @pd: result: start of the ULP's private data inside @buf (frame->pd_len octets)
 *
 * Reserved bits, R of a Request, S of a revision 1 frame and B, C, D without A are
 * ignored; their members of @frame are zero.
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
 * The caller puts the ULP's private data after these octets.
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
 * struct kwarp_mpa_params - parameters of one side; copied from the knobs and the ULP's
 *	connection parameters, constant during a startup
 * @crc: CRC policy
 * @markers: ask the peer for markers
 * @rev: initiator: revision to start with, 1 or 2
 * @p2p: initiator: ask for the peer-to-peer model
 * @rtr: KWARP_RTR_* forms that this side can send (initiator) or receive (responder)
 * @ird: number of inbound Reads and atomic operations that this connection shall serve at a time
 * @ord: number of outbound Reads and atomic operations that it wants at a time
 * @max_ird: largest @ird that the device can serve
 *
 * @ird and @ord may be KWARP_DEPTH_NV: then this direction is not negotiated, and the result is
 * KWARP_DEPTH_NV, too.
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
 * @ird: number of inbound Reads and atomic operations to serve at a time
 * @ord: number of outbound Reads and atomic operations allowed at a time
 * @rtr: initiator: form of the RTR to send. Responder: form offered in the Reply. 0: no RTR
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
 * @p: parameters of this side
 * @pd_len: octets of the ULP's private data
 * @req: result
 *
 * A Request of revision 2 always has enhanced data, so that IRD and ORD are negotiated.
 *
 * Context: any.
 */
void kwarp_mpa_request(const struct kwarp_mpa_params *p, u16 pd_len,
		       struct kwarp_mpa_frame *req);

/**
 * kwarp_mpa_respond - Responder: answer a Request
 * @p: parameters of this side
 * @req: decoded Request
 * @accept: true: the ULP accepts; false: it rejects
 * @pd_len: octets of the ULP's private data in the Reply
 * @reply: result, R set if not accepted
 * @res: result, valid if accepted
 *
 * The Reply has only one RTR flag: a form that the Initiator offers and this side
 * can receive (Write before Read before Send), or if there is none, a form that this side can
 * receive.  The C flag of the Reply is the negotiated result (either side asks for CRCs), because
 * some Initiators look only at that flag.
 *
 * The IRD of this side becomes the Initiator's ORD, limited to p->max_ird.  p->ird counts only if
 * the Initiator sends no ORD (revision 1, or NV).
 *
 * Context: any.
 * Return: KWARP_PERR_NONE; KWARP_PERR_MPA_FRAME: CRCs are required, but the Initiator does not ask
 * for them; @reply is a valid rejecting Reply then.
 */
enum kwarp_perr kwarp_mpa_respond(const struct kwarp_mpa_params *p,
				  const struct kwarp_mpa_frame *req, bool accept,
				  u16 pd_len, struct kwarp_mpa_frame *reply,
				  struct kwarp_mpa_result *res);

/**
 * kwarp_mpa_conclude - Initiator: read an accepting Reply
 * @p: parameters of this side
 * @req: the Request that was sent
 * @reply: decoded Reply with R=0
 * @res: result
 *
 * The Reply has to be enhanced if and only if the Request was; so a revision 2 Reply
 * with S=0 to a revision 1 Request is accepted.  A Read is chosen as RTR only if the
 * Responder has an IRD for it; an ORD of 0 is then raised to 1.
 *
 * Context: any.
 * Return: KWARP_PERR_NONE; KWARP_PERR_MPA_FRAME: close without a Terminate;
 * KWARP_PERR_MPA_LOCAL, _IRD, _RTR: send the Terminate for that error, then close
 * (6581-8-1; CRC and markers in @res are valid, because the Terminate needs them).
 */
enum kwarp_perr kwarp_mpa_conclude(const struct kwarp_mpa_params *p,
				   const struct kwarp_mpa_frame *req,
				   const struct kwarp_mpa_frame *reply,
				   struct kwarp_mpa_result *res);

#endif /* KWARP_PROTO_MPA_NEG_H */
