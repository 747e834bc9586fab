/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * MPA startup: the negotiation of CRC, markers, IRD/ORD and RTR (RFC 5044 section 7.1, RFC 6581).
 */
#ifndef KWARP_PROTO_MPA_NEG_H
#define KWARP_PROTO_MPA_NEG_H

#include "mpa_startup.h"

enum kwarp_crc_policy {
	KWARP_CRC_OFF,		/* do not ask for CRCs; use them if the peer asks */
	KWARP_CRC_ON,		/* ask for CRCs */
	KWARP_CRC_REQUIRED,	/* ask for CRCs, and refuse a peer that does not ask */
};

/**
 * struct kwarp_mpa_params - parameters of one side; copied from the knobs (tunables of the driver)
 *	and the ULP's connection parameters
 * @crc: CRC policy
 * @markers: ask the peer for markers
 * @rev: initiator: revision to start with, 1 or 2
 * @p2p: initiator: ask for the peer-to-peer model
 * @rtr: KWARP_RTR_* forms that this side can send (initiator) or receive (responder)
 * @ird: number of inbound Reads and atomic operations that this connection shall serve at a time
 * @ord: number of outbound Reads and atomic operations that this connection wants at a time
 * @max_ird: largest @ird that the device can serve
 *
 * An Initiator's @ird and @ord may be KWARP_DEPTH_NV: then the number is not negotiated, and the
 * result is KWARP_DEPTH_NV, too. But an IRD in the Reply limits the Initiator's ORD in any case.
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

/*
 * @tx_markers: this end sends markers. @rtr: initiator: form of the RTR to send. Responder: form
 * offered in the Reply. 0: no RTR.
 */
struct kwarp_mpa_result {
	bool crc;
	bool tx_markers;
	bool rx_markers;
	u16 ird;
	u16 ord;
	u8 rtr;
};

/* A Request of revision 2 always has enhanced data, so that IRD and ORD are negotiated. */
void kwarp_mpa_request(const struct kwarp_mpa_params *p, u16 pdata_len,
		       struct kwarp_mpa_frame *req);

/**
 * kwarp_mpa_respond - Responder: answer a Request
 * @p: parameters of this side
 * @req: decoded Request
 * @accept: true: the ULP accepts; false: it rejects
 * @pdata_len: octets of the ULP's private data in the Reply
 * @reply: result; R bit set if not accepted
 * @res: result, valid if accepted
 *
 * The Reply has only one RTR flag: a form that the Initiator offers and this side
 * can receive (Write before Read before Send), or if there is none, a form that this side can
 * receive.  The C flag of the Reply is the negotiated result (either side asks for CRCs), because
 * some Initiators look only at that flag.
 *
 * The IRD of this side becomes the Initiator's ORD, limited to p->max_ird. p->ird counts only if
 * the Initiator sends no ORD (revision 1, or NV: not negotiated).
 *
 * Return: KWARP_PERR_NONE; KWARP_PERR_MPA_FRAME: CRCs are required, but the Initiator does not ask
 * for them; @reply is a valid rejecting Reply then.
 */
enum kwarp_perr kwarp_mpa_respond(const struct kwarp_mpa_params *p,
				  const struct kwarp_mpa_frame *req, bool accept,
				  u16 pdata_len, struct kwarp_mpa_frame *reply,
				  struct kwarp_mpa_result *res);

/**
 * kwarp_mpa_conclude - Initiator: read an accepting Reply
 * @p: parameters of this side
 * @req: the Request that was sent
 * @reply: decoded Reply with R=0
 * @res: result
 *
 * The Reply must have enhanced data if and only if the Request had; so a Reply of revision 2
 * without enhanced data (S=0) to a Request of revision 1 is accepted.  A Read is chosen as RTR only
 * if the negotiated ORD is not 0, or if the Reply has an IRD that is not 0; an ORD of 0 is then
 * raised to 1.
 *
 * Return: KWARP_PERR_NONE; KWARP_PERR_MPA_FRAME: close without a Terminate;
 * KWARP_PERR_MPA_LOCAL, _IRD, _RTR: send the Terminate for that error, then close
 * (6581-8-1; CRC and markers in @res are valid, because the Terminate needs them).
 */
enum kwarp_perr kwarp_mpa_conclude(const struct kwarp_mpa_params *p,
				   const struct kwarp_mpa_frame *req,
				   const struct kwarp_mpa_frame *reply,
				   struct kwarp_mpa_result *res);

#endif /* KWARP_PROTO_MPA_NEG_H */
