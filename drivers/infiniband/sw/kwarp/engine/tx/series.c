// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Builds the middle of a long message: several FPDUs of full length at a time, contiguous in the
 * batch, with payload from one region, which is checked once for all of them. Context of all
 * functions: the runner.
 *
 * The octets are the same as if fpdu.c had built the FPDUs one by one. fpdu.c builds all others:
 * the last FPDU of each message, FPDUs with markers or aligned to TCP segments, and those that fail
 * a check here: fpdu.c checks again and reports the error.
 */
#include "tx.h"

#include "../../door.h"
#include "../../proto/mpa_frame.h"

/*
 * FPDUs to be built together. @wire: octets of each FPDU, with length field, header, pad and CRC.
 * @check: octets from @addr on for which the access is checked.
 */
struct series {
	u32 n;
	u32 payload;
	u32 wire;
	u32 stag;
	u64 addr;
	u32 check;
	int rights;
};

/* Return: contiguous octets in it; 0 if it is not a region. */
static u32 find_source(struct kwarp_engine *e, struct series *s)
{
	const struct kwarp_tx_msg *m = &e->tx.msg;
	const struct kwarp_sge *sge = &e->tx.wqe.sge[m->sge];
	const struct kwarp_iread *r;

	switch (m->src) {
	case KWARP_SRC_SGL:
		s->stag = sge->lkey;
		s->addr = sge->addr + m->sge_off;
		s->rights = 0;
		return sge->length - m->sge_off;
	case KWARP_SRC_REGION:
		r = kwarp_iread_head(&e->iread);
		s->stag = r->src_stag;
		s->addr = r->src_to + (r->size - m->left);
		s->rights = IB_ACCESS_REMOTE_READ;
		return m->left;
	default:
		return 0;
	}
}

/* The last FPDU of the message is never one of them. */
static void plan_series(struct kwarp_engine *e, struct series *s)
{
	const struct kwarp_tx *tx = &e->tx;
	const struct kwarp_batch *b = &tx->batch;
	u32 source, octets;

	s->n = 0;
	s->payload = tx->mulpdu - kwarp_ddp_len(tx->msg.hdr.tagged);
	s->wire = kwarp_mpa_fpdu_len(tx->mulpdu);
	if (tx->msg.left <= s->payload || tx->markers || b->cut || b->len >= b->goal)
		return;
	source = find_source(e, s);
	octets = min(tx->msg.left - 1, source);
	s->n = min3(octets / s->payload, kwarp_batch_room(b) / s->wire,
		    (b->goal - b->len) / s->wire);
	s->check = tx->msg.src == KWARP_SRC_REGION ? source : s->n * s->payload;
}

static void put_series(struct kwarp_engine *e, const struct series *s, struct kwarp_mr *mr,
		       u8 *to)
{
	struct kwarp_ddp_hdr *hdr = &e->tx.msg.hdr;
	u64 addr = s->addr;
	u32 i, len;

	hdr->last = false;
	for (i = 0; i < s->n; i++) {
		put_unaligned_be16(e->tx.mulpdu, to);
		len = KWARP_MPA_LEN_FIELD + kwarp_ddp_encode(to + KWARP_MPA_LEN_FIELD, hdr);
		kwarp_mr_read(mr, addr, to + len, s->payload);
		kwarp_ddp_advance(hdr, s->payload);
		addr += s->payload;
		to += s->wire;
	}
}

/* The CRC is computed over our copy, after the region is unlocked. */
static void end_series(const struct kwarp_tx *tx, const struct series *s, u8 *to)
{
	u32 i;

	for (i = 0; i < s->n; i++, to += s->wire)
		kwarp_tx_end_fpdu(tx, to, KWARP_MPA_LEN_FIELD + tx->mulpdu,
				  kwarp_mpa_pad(tx->mulpdu));
}

static void account_series(struct kwarp_engine *e, const struct series *s)
{
	struct kwarp_tx *tx = &e->tx;

	e->stats.s.tx.fpdus += s->n;
	e->stats.s.tx.octets += s->n * s->payload;
	tx->off += s->n * s->wire;
	tx->msg.left -= s->n * s->payload;
	if (tx->msg.src == KWARP_SRC_SGL)
		kwarp_tx_pass_sge(tx, s->n * s->payload);
}

/* False: nothing was appended; the caller then calls kwarp_tx_build(). */
bool kwarp_tx_build_series(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_tx_build_series, e);
	struct kwarp_batch *b = &e->tx.batch;
	struct series s;
	struct kwarp_mr *mr;
	u8 *to = NULL;

	kwarp_assert_runner(e);
	plan_series(e, &s);
	mr = s.n > 1 ? kwarp_batch_mr(b, s.stag) : NULL;
	if (!mr)
		return false;
	/* kwarp_mr_begin() keeps the region from being revoked between check and copy. */
	kwarp_mr_begin(mr);
	if (kwarp_mem_check(mr, s.stag, &e->mem, s.addr, s.check, s.rights) == KWARP_MEM_OK)
		to = kwarp_batch_whole(b, s.n * s.wire);
	if (to)
		put_series(e, &s, mr, to);
	kwarp_mr_end(mr);
	if (!to)
		return false;
	end_series(&e->tx, &s, to);
	account_series(e, &s);
	return true;
}
