// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fuzz target: MPA startup. Kwarp's responder answers any Request, kwarp's initiator reads any
 * Reply, and kwarp's two sides negotiate with each other and must agree.
 *
 * Input: parameters of both sides, then a frame.
 */
#include "fuzz.h"

#include "mpa_neg.h"
#include "term.h"

static void get_params(struct fuzz *f, struct kwarp_mpa_params *p)
{
	u8 bits = fuzz_u8(f);

	p->crc = bits % 3;
	p->markers = bits & 4;
	p->p2p = bits & 8;
	p->rev = 1 + (bits >> 4 & 1);
	p->rtr = bits >> 5;
	p->ird = fuzz_u16(f);
	p->ord = fuzz_u16(f);
	p->max_ird = fuzz_u16(f);
}

/*
 * Decode a frame after each octet that arrives. The number of octets that the decoder needs never
 * shrinks, and an error remains an error. Return: true if the frame is complete and valid.
 */
static bool arrive(const u8 *data, u32 len, bool reply, struct kwarp_mpa_frame *frame)
{
	u32 n, need = 0, last = 0;
	bool bad = false;
	const u8 *pdata;
	u8 *copy;

	for (n = 0; n <= len; n++) {
		copy = fuzz_copy(data, n);
		if (kwarp_mpa_frame_need(copy, n, reply, &need))
			bad = true;
		else
			CHECK(!bad);
		CHECK(bad || (need >= last && need >= 20 && need <= 532));
		last = need;
		CHECK(!kwarp_mpa_frame_decode(copy, n, reply, frame, &pdata) ==
		      (!bad && n >= need));
		if (!bad && n >= need) {
			CHECK(pdata + frame->pdata_len == copy + need);
			free(copy);
			return true;
		}
		free(copy);
	}
	return false;
}

/* Encode a frame, decode the result, and check that all fields are the same. */
static void transfer(const struct kwarp_mpa_frame *in, struct kwarp_mpa_frame *out)
{
	u8 wire[KWARP_MPA_FRAME_LEN + KWARP_MPA_MAX_PDATA] = {};
	const u8 *pdata;
	u32 len = kwarp_mpa_frame_encode(wire, in);

	CHECK(len <= KWARP_MPA_MAX_HDR && !(wire[16] & 0x0f));
	CHECK(!kwarp_mpa_frame_decode(wire, len + in->pdata_len, in->reply, out, &pdata));
	CHECK(pdata == wire + len);
	CHECK(out->ird == in->ird && out->ord == in->ord && out->rtr == in->rtr);
	CHECK(out->p2p == in->p2p && out->enhanced == in->enhanced && out->rev == in->rev);
	CHECK(out->reject == in->reject && out->pdata_len == in->pdata_len);
}

/* The responder with parameters @p answers a Request of any origin. */
static void answer(const struct kwarp_mpa_params *p, const struct kwarp_mpa_frame *req,
		   bool accept, struct kwarp_mpa_frame *reply,
		   struct kwarp_mpa_result *res)
{
	struct kwarp_mpa_frame ours;
	enum kwarp_perr err;

	err = kwarp_mpa_respond(p, req, accept, 5, &ours, res);
	CHECK(!err || (err == KWARP_PERR_MPA_FRAME && ours.reject));
	CHECK(ours.reject || accept);
	CHECK(ours.enhanced == req->enhanced && ours.p2p == req->p2p);
	CHECK(!(ours.rtr & (ours.rtr - 1)) && !ours.rtr == !ours.p2p);
	if (req->enhanced && req->ird != KWARP_DEPTH_NV)
		CHECK(res->ord <= req->ird && ours.ord == res->ord);
	if (req->enhanced && req->ord != KWARP_DEPTH_NV)
		CHECK(res->ird <= p->max_ird && ours.ird == res->ird);
	transfer(&ours, reply);
}

/* The initiator with parameters @p, which has sent @req, reads a Reply of any origin. */
static enum kwarp_perr read_reply(const struct kwarp_mpa_params *p,
				  const struct kwarp_mpa_frame *req,
				  const struct kwarp_mpa_frame *reply,
				  struct kwarp_mpa_result *res)
{
	enum kwarp_perr err = kwarp_mpa_conclude(p, req, reply, res);

	CHECK(!err || err == KWARP_PERR_MPA_FRAME || kwarp_term_wanted(err));
	if (err)
		return err;
	CHECK(!(res->rtr & (res->rtr - 1)) && !(res->rtr & ~(req->rtr & reply->rtr)));
	CHECK(!res->rtr == !req->p2p);
	if (reply->enhanced && reply->ird != KWARP_DEPTH_NV)
		CHECK(res->ord <= reply->ird);
	if (reply->enhanced && reply->ord != KWARP_DEPTH_NV && p->ird != KWARP_DEPTH_NV)
		CHECK(res->ird >= reply->ord && res->ird <= p->max_ird);
	return err;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz f = { data, size };
	struct kwarp_mpa_params i, r;
	struct kwarp_mpa_frame req, theirs, reply;
	struct kwarp_mpa_result ires, rres;
	bool accept;

	get_params(&f, &i);
	get_params(&f, &r);
	accept = fuzz_u8(&f) & 1;
	kwarp_mpa_request(&i, 0, &req);
	transfer(&req, &theirs);

	answer(&r, &theirs, accept, &reply, &rres);
	if (!reply.reject && !read_reply(&i, &req, &reply, &ires)) {
		CHECK(ires.crc == rres.crc);
		CHECK(ires.tx_markers == rres.rx_markers);
		CHECK(ires.rx_markers == rres.tx_markers);
	}
	if (arrive(f.at, f.left, false, &theirs))
		answer(&r, &theirs, accept, &reply, &rres);
	if (arrive(f.at, f.left, true, &reply) && !reply.reject)
		read_reply(&i, &req, &reply, &ires);
	return 0;
}
