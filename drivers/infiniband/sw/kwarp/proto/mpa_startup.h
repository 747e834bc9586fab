/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* MPA startup: the Request and Reply Frames (RFC 5044 section 7.1, RFC 6581). */
#ifndef KWARP_PROTO_MPA_STARTUP_H
#define KWARP_PROTO_MPA_STARTUP_H

#include "perr.h"
#include "wire.h"

/* Forms of the RTR (first message of the Initiator in the peer-to-peer model), as a mask */
#define KWARP_RTR_SEND		BIT(0)	/* zero-length Send: B bit of the enhanced data */
#define KWARP_RTR_WRITE		BIT(1)	/* zero-length Write: C bit of the enhanced data */
#define KWARP_RTR_READ		BIT(2)	/* zero-length Read: D bit of the enhanced data */
#define KWARP_RTR_ALL		(KWARP_RTR_SEND | KWARP_RTR_WRITE | KWARP_RTR_READ)

#define KWARP_DEPTH_NV		0x3fff	/* IRD or ORD: not negotiated, left to the ULP */

/*
 * struct kwarp_mpa_frame - a startup frame in host order
 * @reply: true: Reply Frame; false: Request Frame
 * @markers: M bit: the sender of the frame wants to receive markers
 * @crc: C bit: the sender of the frame wants CRCs
 * @reject: R bit of a Reply: the connection is rejected
 * @enhanced: the frame has enhanced data: Rev 2 and S bit set
 * @p2p: A bit: peer-to-peer model
 * @rtr: bits B, C, D as KWARP_RTR_*
 * @pdata_len: octets of the ULP's private data, enhanced data not counted
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
	u16 pdata_len;
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
 * is enhanced).  The caller handles octets beyond @need: neither side may send octets after its
 * startup frame yet (RFC 5044 section 7.1.2).
 *
 * Return: KWARP_PERR_NONE, or KWARP_PERR_MPA_FRAME (bad key, revision, PD_Length).
 */
enum kwarp_perr kwarp_mpa_frame_need(const u8 *buf, u32 len, bool reply, u32 *need);

/*
 * Reserved bits, R of a Request, S of a revision 1 frame and B, C, D without A are ignored; their
 * members of @frame are zero.
 */
enum kwarp_perr kwarp_mpa_frame_decode(const u8 *buf, u32 len, bool reply,
				       struct kwarp_mpa_frame *frame, const u8 **pdata);

/*
 * The caller puts the ULP's private data after these octets. @buf: room for KWARP_MPA_MAX_HDR
 * octets.
 */
u32 kwarp_mpa_frame_encode(u8 *buf, const struct kwarp_mpa_frame *frame);

#define KWARP_MPA_MAX_HDR	(KWARP_MPA_FRAME_LEN + KWARP_MPA_ENH_LEN)

static inline u32 kwarp_mpa_max_pdata(bool enhanced)
{
	return KWARP_MPA_MAX_PDATA - (enhanced ? KWARP_MPA_ENH_LEN : 0);
}

#endif /* KWARP_PROTO_MPA_STARTUP_H */
