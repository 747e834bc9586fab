// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fuzz target: Terminate messages (RFC 5040 section 4.8). The target decodes one from a peer, and
 * makes one about any segment of the peer.
 *
 * Input: an error, flags and the length of the segment, then octets.
 */
#include "fuzz.h"

#include "ddp.h"
#include "rdmap.h"
#include "term.h"

static void decode_theirs(const u8 *data, size_t len)
{
	u8 out[KWARP_TERM_MAX_LEN], *in = fuzz_copy(data, len);
	struct kwarp_term term;
	u32 used;

	if (kwarp_term_decode(in, len, &term)) {
		used = kwarp_term_encode(out, &term);
		CHECK(used <= len && used <= sizeof(out));
		CHECK(!memcmp(out, in, 2));
		CHECK(!memcmp(out + 4, in + 4, used - 4));
	}
	CHECK(kwarp_term_short(&term) == (len < 4 ? 0 : in[0] << 8 | in[1]));
	free(in);
}

static void encode_ours(struct fuzz *f, enum kwarp_perr err, u16 seg_len, bool rreq)
{
	u8 out[KWARP_TERM_MAX_LEN], seg[KWARP_DDP_MAX_HDR + KWARP_RDMAP_RREQ_LEN] = {};
	struct kwarp_term term, back;
	struct kwarp_ddp_hdr hdr;
	struct kwarp_rreq req;
	u32 len;

	memcpy(seg, f->at, min_t(size_t, f->left, sizeof(seg)));
	kwarp_ddp_decode(seg, &hdr);
	kwarp_rdmap_check(&hdr, seg_len, rreq);
	kwarp_rreq_decode(seg + KWARP_DDP_MAX_HDR, &req);
	kwarp_term_fill(&term, err, f->left ? seg : NULL, seg_len,
			rreq ? seg + KWARP_DDP_MAX_HDR : NULL);
	len = kwarp_term_encode(out, &term);
	CHECK(len >= KWARP_TERM_CTRL_LEN && len <= sizeof(out));
	CHECK(kwarp_term_short(&term) == kwarp_perr_short(err));
	CHECK(kwarp_term_decode(out, len, &back));
	CHECK(!memcmp(&term, &back, sizeof(term)));
	CHECK(kwarp_perr_name(err));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz f = { data, size };
	u8 err = fuzz_u8(&f), flags = fuzz_u8(&f);
	u16 seg_len = fuzz_u16(&f);

	decode_theirs(f.at, f.left);
	encode_ours(&f, err, seg_len, flags & 1);
	return 0;
}
