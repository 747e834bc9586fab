// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The negotiation of CRC, markers, IRD/ORD and RTR. Pure functions, any context. */
#include "mpa_neg.h"

#define DEPTH_MAX	(KWARP_DEPTH_NV - 1)

/* --------------------------------------------------------------- request */

/*
 * All ones is not a value but KWARP_DEPTH_NV (not negotiated), so no other number becomes all ones
 * (6581-9.1-24).
 */
static u16 wire_depth(u16 depth)
{
	return depth == KWARP_DEPTH_NV ? depth : min_t(u16, depth, DEPTH_MAX);
}

/* This IRD is the result unless the peer asks for another number. */
static u16 own_ird(const struct kwarp_mpa_params *p)
{
	return p->ird == KWARP_DEPTH_NV ? p->ird : min(p->ird, p->max_ird);
}

void kwarp_mpa_request(const struct kwarp_mpa_params *p, u16 pdata_len,
		       struct kwarp_mpa_frame *req)
{
	memset(req, 0, sizeof(*req));
	req->markers = p->markers;		/* M bit: 5044-7.1.1-5 */
	req->crc = p->crc != KWARP_CRC_OFF;	/* C: CRC wanted: 5044-4.4-4, -5 */
	req->rev = p->rev >= 2 ? 2 : 1;		/* Rev: 6581-6-6, -7 */
	req->pdata_len = pdata_len;
	req->enhanced = req->rev == 2;		/* S bit: 6581-10-4 */
	if (!req->enhanced)
		return;
	req->ird = wire_depth(own_ird(p));	/* IRD, ORD: 14 bits: 6581-9.1-1 */
	req->ord = wire_depth(p->ord);
	req->p2p = p->p2p && p->rtr & KWARP_RTR_ALL;	/* A bit: 6581-9.2-5, -18 */
	req->rtr = req->p2p ? p->rtr & KWARP_RTR_ALL : 0;	/* B, C, D: 6581-9.2-6, -20 */
}

/* ------------------------------------------------------------------- RTR */

/*
 * A Write needs no resource at either end; a Read uses an IRD slot until it is answered; a Send
 * consumes a receive that the ULP has posted.
 */
static u8 pick_rtr(u8 forms)
{
	if (forms & KWARP_RTR_WRITE)
		return KWARP_RTR_WRITE;
	if (forms & KWARP_RTR_READ)
		return KWARP_RTR_READ;
	return forms & KWARP_RTR_SEND;
}

/* A Read only if the Responder's IRD will not be 0. */
static u8 takeable_rtr(const struct kwarp_mpa_params *p,
		       const struct kwarp_mpa_frame *req)
{
	u16 ird = req->ord == KWARP_DEPTH_NV ? p->ird : p->max_ird;
	u8 forms = p->rtr & KWARP_RTR_ALL;

	if (!ird)
		forms &= ~KWARP_RTR_READ;
	return forms ? forms : KWARP_RTR_WRITE;	/* at least one form: 6581-9.2-7 */
}

/*
 * Return: the RTR flag of the Reply: a form that both sides can use, or if there is none, a form
 * that the Responder can receive (6581-9.2-8, -10, -11, -13). Only one flag is set, because some
 * Initiators fail if they have a choice.
 */
static u8 reply_rtr(const struct kwarp_mpa_params *p, const struct kwarp_mpa_frame *req)
{
	u8 ours = takeable_rtr(p, req);
	u8 common = ours & req->rtr;

	return pick_rtr(common ? common : ours);
}

/* --------------------------------------------------------------- respond */

static void respond_ord(const struct kwarp_mpa_params *p,
			const struct kwarp_mpa_frame *req,
			struct kwarp_mpa_frame *reply, struct kwarp_mpa_result *res)
{
	if (req->ird == KWARP_DEPTH_NV) {	/* not negotiated: 6581-9.1-20, -21 */
		res->ord = p->ord;
		reply->ord = KWARP_DEPTH_NV;
		return;
	}
	res->ord = min(p->ord, req->ird);	/* not above the IRD: 6581-9.1-5, -7 */
	reply->ord = res->ord;			/* the final number: 6581-9.1-2 */
}

static void respond_ird(const struct kwarp_mpa_params *p,
			const struct kwarp_mpa_frame *req,
			struct kwarp_mpa_frame *reply, struct kwarp_mpa_result *res)
{
	if (req->ord == KWARP_DEPTH_NV) {	/* not negotiated: 6581-9.1-17, -18 */
		res->ird = p->ird;
		reply->ird = KWARP_DEPTH_NV;
		return;
	}
	res->ird = min_t(u16, min(req->ord, p->max_ird), DEPTH_MAX);
	/* a Read as RTR needs an IRD of 1: 6581-9.1-6, 6581-9.2-23 */
	if (!res->ird && reply->rtr & KWARP_RTR_READ)
		res->ird = 1;
	reply->ird = res->ird;			/* the final number: 6581-9.1-2 */
}

static void respond_enhanced(const struct kwarp_mpa_params *p,
			     const struct kwarp_mpa_frame *req,
			     struct kwarp_mpa_frame *reply,
			     struct kwarp_mpa_result *res)
{
	reply->p2p = req->p2p;			/* A bit: 6581-9.2-8, -19; 6581-9.3-1 */
	reply->rtr = req->p2p ? reply_rtr(p, req) : 0;	/* no flag without A: 6581-9.2-20 */
	respond_ord(p, req, reply, res);
	respond_ird(p, req, reply, res);
	res->rtr = reply->rtr;
}

enum kwarp_perr kwarp_mpa_respond(const struct kwarp_mpa_params *p,
				  const struct kwarp_mpa_frame *req, bool accept,
				  u16 pdata_len, struct kwarp_mpa_frame *reply,
				  struct kwarp_mpa_result *res)
{
	bool refuse = accept && p->crc == KWARP_CRC_REQUIRED && !req->crc;

	memset(reply, 0, sizeof(*reply));
	memset(res, 0, sizeof(*res));
	reply->reply = true;
	reply->reject = !accept || refuse;	/* R bit: 5044-7.1.2-5, -8 */
	reply->rev = req->rev;	/* same Rev, also if S=0: 6581-6-5, RFC 6581 section 6 */
	reply->enhanced = req->enhanced;	/* S bit: 6581-10-1, -3, -6, -7 */
	reply->markers = p->markers;		/* M bit: 5044-7.1.1-6 */
	/* The C bit of the Reply is the negotiated result: some Initiators look only at this bit */
	reply->crc = p->crc != KWARP_CRC_OFF || req->crc;
	reply->pdata_len = refuse ? 0 : pdata_len;

	res->crc = reply->crc;			/* if either side asks: 5044-7.1.1-9, -10 */
	res->tx_markers = req->markers;		/* if the peer asks: 5044-7.1.1-5, -7, -8 */
	res->rx_markers = p->markers;
	res->ird = own_ird(p);
	res->ord = p->ord;
	if (req->enhanced)
		respond_enhanced(p, req, reply, res);
	return refuse ? KWARP_PERR_MPA_FRAME : KWARP_PERR_NONE;
}

/* -------------------------------------------------------------- conclude */

/* 6581-9.1-11, -19: limit the Initiator's ORD to the Responder's IRD. */
static u16 conclude_ord(const struct kwarp_mpa_params *p,
			const struct kwarp_mpa_frame *reply)
{
	return reply->ird == KWARP_DEPTH_NV ? p->ord : min(p->ord, reply->ird);
}

/* 6581-9.1-10, -12, -22: raise the Initiator's IRD to the Responder's ORD, if the device can. */
static enum kwarp_perr conclude_ird(const struct kwarp_mpa_params *p,
				    const struct kwarp_mpa_frame *reply,
				    struct kwarp_mpa_result *res)
{
	if (reply->ord == KWARP_DEPTH_NV || reply->ord <= res->ird)
		return KWARP_PERR_NONE;
	if (reply->ord > p->max_ird)
		return KWARP_PERR_MPA_IRD;	/* more than the device can: 6581-9.1-13 */
	res->ird = reply->ord;
	return KWARP_PERR_NONE;
}

static enum kwarp_perr conclude_rtr(const struct kwarp_mpa_frame *req,
				    const struct kwarp_mpa_frame *reply,
				    struct kwarp_mpa_result *res)
{
	u8 forms = req->rtr & reply->rtr;	/* forms of both sides: 6581-9.2-12, -14 */
	bool slot = reply->ird != KWARP_DEPTH_NV && reply->ird;

	if (!reply->p2p)			/* Reply without the A bit: violates 6581-9.2-8 */
		return KWARP_PERR_MPA_LOCAL;
	if (!res->ord && !slot)			/* no Read is served: 6581-9.3-2, 6581-9.2-23 */
		forms &= ~KWARP_RTR_READ;
	if (!forms)
		return KWARP_PERR_MPA_RTR;	/* no common form: 6581-9.2-15, -16 */

	res->rtr = pick_rtr(forms);
	if (res->rtr == KWARP_RTR_READ && !res->ord)
		res->ord = 1;			/* a Read as RTR needs 1: RFC 6581 section 9.2 */
	return KWARP_PERR_NONE;
}

enum kwarp_perr kwarp_mpa_conclude(const struct kwarp_mpa_params *p,
				   const struct kwarp_mpa_frame *req,
				   const struct kwarp_mpa_frame *reply,
				   struct kwarp_mpa_result *res)
{
	enum kwarp_perr err;

	memset(res, 0, sizeof(*res));
	res->crc = req->crc || reply->crc;	/* if either side asks: 5044-7.1.1-9, -10 */
	res->tx_markers = reply->markers;	/* if the peer asks: 5044-7.1.1-6, -7, -8 */
	res->rx_markers = req->markers;
	res->ird = own_ird(p);
	res->ord = p->ord;
	if (reply->enhanced != req->enhanced)	/* not as in the Request: 6581-10-6, -7 */
		return KWARP_PERR_MPA_FRAME;
	if (p->crc == KWARP_CRC_REQUIRED && !reply->crc)
		return KWARP_PERR_MPA_FRAME;
	if (!req->enhanced)
		return KWARP_PERR_NONE;

	/* 6581-9.3-2: negotiate the depths (IRD, ORD) before the RTR */
	res->ord = conclude_ord(p, reply);
	err = conclude_ird(p, reply, res);
	if (err || !req->p2p)			/* no RTR: 6581-9.2-21 */
		return err;
	return conclude_rtr(req, reply, res);
}
