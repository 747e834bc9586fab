/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One negotiation of MPA startup, for the tests of mpa_neg.c. NV: IRD or ORD that is not
 * negotiated. B, C, D: forms of the RTR ("ready to receive" message): Send, Write, Read.
 *
 * Numbers such as 5044-7.1.1-15 name requirements of RFCs, see Documentation/conformance.
 */
#ifndef KWARP_PROTO_MPA_NEG_FIXTURE_H
#define KWARP_PROTO_MPA_NEG_FIXTURE_H

#include <kunit/test.h>

#include "../mpa_neg.h"

#define NV	KWARP_DEPTH_NV
#define B	KWARP_RTR_SEND
#define C	KWARP_RTR_WRITE
#define D	KWARP_RTR_READ

/* Parameters of both sides, the frames as the other side decoded them, and the results */
struct setup {
	struct kwarp_mpa_params i, r;
	struct kwarp_mpa_frame req, rep;
	struct kwarp_mpa_result ires, rres;
	enum kwarp_perr ierr, rerr;
};

static const struct kwarp_mpa_params plain = {
	.crc = KWARP_CRC_ON, .rev = 2, .rtr = B | C | D, .ird = 16, .ord = 16, .max_ird = 32,
};

/* Encode and decode a frame, so that the other side gets it as from the wire. */
static inline void transfer_frame(struct kunit *test, struct kwarp_mpa_frame *frame)
{
	u8 wire[KWARP_MPA_MAX_HDR];
	bool reply = frame->reply;
	const u8 *pdata;
	u32 len;

	KUNIT_ASSERT_EQ(test, frame->pdata_len, 0);
	len = kwarp_mpa_frame_encode(wire, frame);
	KUNIT_ASSERT_EQ(test, wire[16] & 0x0f, 0);	/* reserved bits: 5044-7.1.1-15, 6581-6-3 */
	KUNIT_ASSERT_EQ(test, kwarp_mpa_frame_decode(wire, len, reply, frame, &pdata), 0);
}

static inline void run_setup(struct kunit *test, struct setup *s)
{
	kwarp_mpa_request(&s->i, 0, &s->req);
	transfer_frame(test, &s->req);
	s->rerr = kwarp_mpa_respond(&s->r, &s->req, true, 0, &s->rep, &s->rres);
	transfer_frame(test, &s->rep);
	if (!s->rep.reject)
		s->ierr = kwarp_mpa_conclude(&s->i, &s->req, &s->rep, &s->ires);
}

#endif /* KWARP_PROTO_MPA_NEG_FIXTURE_H */
