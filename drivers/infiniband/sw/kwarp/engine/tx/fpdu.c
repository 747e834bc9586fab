// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Builds one FPDU into the batch. Context of all functions: the runner.
 *
 * If the batch has contiguous room for the whole FPDU, and there are no markers, payload is copied
 * there, and the CRC is computed once at the end. If not, all octets pass through put_pieces(),
 * which uses one piece of memory after the other, inserts markers at the stream offsets where they
 * are due, and computes the CRC step by step.
 */
#include "tx.h"

#include "../../door.h"
#include "../../proto/mpa_frame.h"
#include "../fail.h"

struct fpdu {
	struct kwarp_engine *e;
	struct kwarp_batch *b;
	u8 *whole;		/* start of the FPDU if it is contiguous; NULL if not */
	u8 *at;			/* next octet to write if it is contiguous; NULL if not */
	u32 start;		/* stream offset of this FPDU's ULPDU_Length field */
	u32 crc;
	bool begun;		/* ULPDU_Length has been written */
	bool stopped;		/* the batch has no room or no memory; no error */
	bool no_memory;		/* @stopped is set because no memory is available */
};

static bool put_raw(struct fpdu *f, const u8 *src, u32 len, bool crc)
{
	while (len) {
		u32 n;
		u8 *dst = kwarp_batch_frag(f->b, len, &n);

		if (!dst) {
			f->stopped = true;
			/*
			 * Memory is not short if all entries of @bv of the batch are in use: this
			 * batch is sent, and the next one has free entries.
			 */
			f->no_memory = f->b->n < KWARP_BATCH_BVECS;
			return false;
		}
		memcpy(dst, src, n);
		if (crc && f->e->tx.crc)
			f->crc = kwarp_mpa_crc_add(f->crc, dst, n);
		f->e->tx.off += n;
		src += n;
		len -= n;
	}
	return true;
}

/*
 * A marker holds the distance to the start of its FPDU; 0 if it comes just before the length field
 * (5044-4.3-4, -8, -13, -15).
 */
static bool put_marker(struct fpdu *f)
{
	u8 marker[KWARP_MPA_MARKER_LEN];

	kwarp_mpa_marker_encode(marker, f->begun ? f->e->tx.off - f->start : 0);
	return put_raw(f, marker, sizeof(marker), true);
}

static bool put_pieces(struct fpdu *f, const u8 *src, u32 len, bool crc)
{
	while (len) {
		u32 n = len;

		if (f->e->tx.markers) {
			u32 room = kwarp_mpa_to_marker(f->e->tx.off);

			if (!room) {
				if (!put_marker(f))
					return false;
				continue;
			}
			n = min(n, room);
		}
		if (!f->begun) {
			f->begun = true;
			f->start = f->e->tx.off;
		}
		if (!put_raw(f, src, n, crc))
			return false;
		src += n;
		len -= n;
	}
	return true;
}

static bool fpdu_put(struct fpdu *f, const u8 *src, u32 len, bool crc)
{
	if (unlikely(!f->at))
		return put_pieces(f, src, len, crc);
	memcpy(f->at, src, len);
	f->at += len;
	return true;
}

static u32 spoil_crc(const struct kwarp_tx *tx, u32 crc)
{
	return crc ^ kwarp_engine_fault(container_of(tx, struct kwarp_engine, tx),
					KWARP_FAULT_BAD_CRC);
}

/* @len: octets of length field, header and payload. */
void kwarp_tx_end_fpdu(const struct kwarp_tx *tx, u8 *fpdu, u32 len, u32 pad)
{
	u8 *end = fpdu + len;

	put_unaligned_be32(0, end);
	if (unlikely(pad))
		put_unaligned_be32(0, end + pad);
	/* Without CRCs the field is sent as zero, and the peer ignores it (5044-4.1-7). */
	if (tx->crc)
		kwarp_mpa_crc_put(end + pad,
				  spoil_crc(tx, kwarp_mpa_crc_add(kwarp_mpa_crc_init(), fpdu,
								  len + pad)));
}

static bool put_trailer(struct fpdu *f, u32 pad)
{
	static const u8 zero[KWARP_MPA_MAX_PAD];
	u8 crc[KWARP_MPA_CRC_LEN] = { 0 };

	if (f->whole) {
		kwarp_tx_end_fpdu(&f->e->tx, f->whole, f->at - f->whole, pad);
		f->e->tx.off += f->at - f->whole + pad + KWARP_MPA_CRC_LEN;
		return true;
	}
	if (!fpdu_put(f, zero, pad, true))
		return false;
	/*
	 * A marker that is due here is sent before the CRC field and covered by it (5044-4.4-15).
	 */
	if (f->e->tx.markers && !kwarp_mpa_to_marker(f->e->tx.off) && !put_marker(f))
		return false;
	if (f->e->tx.crc)
		kwarp_mpa_crc_put(crc, spoil_crc(&f->e->tx, f->crc));
	return fpdu_put(f, crc, sizeof(crc), false);
}

static bool add_spans(struct fpdu *f, const struct kwarp_mr *mr, u64 addr, u32 len)
{
	while (len) {
		u32 n;
		void *p = kwarp_mr_span(mr, addr, len, &n);

		if (!fpdu_put(f, p, n, true))
			return false;
		addr += n;
		len -= n;
	}
	return true;
}

/* The region of an answer to the peer's Read (@rights are given), or of a posted request. */
static noinline __cold void refuse_region(struct kwarp_engine *e, const struct kwarp_mr *mr,
					  u32 stag, u64 addr, u32 len, int rights,
					  enum kwarp_mem_err err)
{
	const struct kwarp_asked asked = {
		.op = rights ? KWARP_REFUSED_READ : KWARP_REFUSED_REQUEST,
		.stag = stag,
		.addr = addr,
		.len = len,
		.rights = rights,
	};

	kwarp_refuse_access(e, &asked, mr, kwarp_why_mem(err),
			    rights ? kwarp_read_perr(err) : KWARP_PERR_LOCAL);
}

/*
 * Check the access to @check octets of a region, and append the first @len of them.
 * kwarp_mr_begin() keeps the region from being revoked between check and copy.
 */
static enum kwarp_mem_err add_region(struct fpdu *f, u32 stag, u64 addr, u32 check,
				     u32 len, int rights)
{
	struct kwarp_mr *mr = kwarp_batch_mr(f->b, stag);
	enum kwarp_mem_err err;

	if (!mr) {
		refuse_region(f->e, NULL, stag, addr, check, rights, KWARP_MEM_STAG);
		return KWARP_MEM_STAG;
	}
	kwarp_mr_begin(mr);
	err = kwarp_mem_check(mr, stag, &f->e->mem, addr, check, rights);
	if (unlikely(err != KWARP_MEM_OK))
		refuse_region(f->e, mr, stag, addr, check, rights, err);
	/* If the batch is full, the returned error is ignored, because f->stopped is set. */
	if (err == KWARP_MEM_OK && !add_spans(f, mr, addr, len))
		err = KWARP_MEM_STAG;
	kwarp_mr_end(mr);
	return err;
}

static enum kwarp_perr add_sgl(struct fpdu *f, u32 len)
{
	struct kwarp_tx_msg *m = &f->e->tx.msg;

	while (len) {
		const struct kwarp_sge *s = &f->e->tx.wqe.sge[m->sge];
		u32 n = min(len, s->length - m->sge_off);

		/*
		 * Check the region again: the whole request was checked when pick.c took it, but
		 * the region may have been revoked since.
		 */
		if (n && add_region(f, s->lkey, s->addr + m->sge_off, n, n, 0) !=
			 KWARP_MEM_OK)
			return KWARP_PERR_LOCAL;
		kwarp_tx_pass_sge(&f->e->tx, n);
		len -= n;
	}
	return KWARP_PERR_NONE;
}

/*
 * The access to all octets that are still to be sent is checked again for each FPDU (or for several
 * at once, see series.c), since the region may be revoked.
 */
static enum kwarp_perr add_response(struct fpdu *f, u32 len)
{
	const struct kwarp_iread *r = kwarp_iread_head(&f->e->iread);
	u32 left = f->e->tx.msg.left;

	if (!len)
		return KWARP_PERR_NONE;
	return kwarp_read_perr(add_region(f, r->src_stag, r->src_to + (r->size - left),
					  left, len, IB_ACCESS_REMOTE_READ));
}

static enum kwarp_perr add_payload(struct fpdu *f, u32 len)
{
	struct kwarp_tx_msg *m = &f->e->tx.msg;

	switch (m->src) {
	case KWARP_SRC_SGL:
		return add_sgl(f, len);
	case KWARP_SRC_REGION:
		return add_response(f, len);
	default:
		if (!fpdu_put(f, m->buf, len, true))
			return KWARP_PERR_LOCAL;
		m->buf += len;
		return KWARP_PERR_NONE;
	}
}

static u32 encode_head(u8 *p, const struct kwarp_ddp_hdr *hdr, u32 payload)
{
	u32 n = kwarp_ddp_encode(p + KWARP_MPA_LEN_FIELD, hdr);

	put_unaligned_be16(n + payload, p);
	return KWARP_MPA_LEN_FIELD + n;
}

static bool put_head(struct fpdu *f, const struct kwarp_ddp_hdr *hdr, u32 payload)
{
	u8 head[KWARP_MPA_LEN_FIELD + KWARP_DDP_MAX_HDR];

	if (unlikely(!f->at))
		return put_pieces(f, head, encode_head(head, hdr, payload), true);
	f->at += encode_head(f->at, hdr, payload);
	return true;
}

static enum kwarp_perr build_fpdu(struct fpdu *f, u32 payload)
{
	const struct kwarp_ddp_hdr *hdr = &f->e->tx.msg.hdr;
	u32 ulpdu = kwarp_ddp_len(hdr->tagged) + payload;
	enum kwarp_perr err;

	if (!f->e->tx.markers)
		f->at = kwarp_batch_whole(f->b, kwarp_mpa_fpdu_len(ulpdu));
	f->whole = f->at;
	f->crc = kwarp_mpa_crc_init();
	if (!put_head(f, hdr, payload))
		return KWARP_PERR_LOCAL;
	err = add_payload(f, payload);
	if (err != KWARP_PERR_NONE)
		return err;
	return put_trailer(f, kwarp_mpa_pad(ulpdu)) ? KWARP_PERR_NONE : KWARP_PERR_LOCAL;
}

/*
 * A Read Response fails: the Terminate returns a Read Request header for what is still missing (RFC
 * 5040 section 4.8).
 */
static void fail_response(struct kwarp_engine *e, enum kwarp_perr err)
{
	const struct kwarp_iread *r = kwarp_iread_head(&e->iread);
	u32 done = r->size - e->tx.msg.left;
	struct kwarp_rreq req = {
		.sink_stag = r->sink_stag,
		.sink_to = r->sink_to + done,
		.size = r->size - done,
		.src_stag = r->src_stag,
		.src_to = r->src_to + done,
	};
	u8 ddp[KWARP_DDP_UNTAGGED_LEN], raw[KWARP_RDMAP_RREQ_LEN];

	kwarp_iread_ddp(&e->iread, ddp);
	kwarp_rreq_encode(raw, &req);
	kwarp_engine_fail(e, err, ddp, sizeof(ddp) + sizeof(raw), raw);
}

static void build_failed(struct kwarp_engine *e, enum kwarp_perr err)
{
	struct kwarp_tx_msg *m = &e->tx.msg;

	/* Octets in the engine do not fail: what fails is a Read Response or a request. */
	if (m->src == KWARP_SRC_REGION) {
		fail_response(e, err);
	} else {
		kwarp_sq_failed(e->sq, m->sq_index, KWARP_WC_LOC_PROT_ERR, kwarp_engine_cause(e));
		kwarp_engine_fail(e, err, NULL, 0, NULL);
	}
	m->kind = KWARP_TXK_NONE;
}

/*
 * A long FPDU is made shorter if the rest of the batch is worth it: then each batch is as long as
 * one packet of the network device.
 */
static u32 fitting_ulpdu(const struct kwarp_engine *e)
{
	const struct kwarp_batch *b = &e->tx.batch;
	const u32 room = kwarp_batch_left(b) & ~3, cost = kwarp_mpa_fpdu_len(0);

	if (!b->least || room < b->least + cost)
		return e->tx.mulpdu;
	return min(e->tx.mulpdu, room - cost);
}

/*
 * Return: true if it was appended; false if the batch is full or has to end because of alignment,
 * if memory is short (tx.no_memory), or if the message failed (then the stream is failing). If
 * false, the batch is unchanged.
 */
bool kwarp_tx_build(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_tx_build, e);
	struct kwarp_tx_msg *m = &e->tx.msg;
	u32 payload = kwarp_ddp_seg_payload(fitting_ulpdu(e), m->hdr.tagged, m->left);
	u32 ulpdu = kwarp_ddp_len(m->hdr.tagged) + payload;
	struct fpdu f = { .e = e, .b = &e->tx.batch };
	u32 off = e->tx.off, sge = m->sge, sge_off = m->sge_off;
	const u8 *buf = m->buf;
	struct kwarp_batch_mark mark;
	enum kwarp_perr err;

	kwarp_assert_runner(e);
	if (!kwarp_batch_fits(f.b, kwarp_mpa_wire_len(off, ulpdu, e->tx.markers)))
		return false;
	kwarp_batch_mark(f.b, &mark);
	m->hdr.last = payload == m->left;
	err = build_fpdu(&f, payload);
	if (err != KWARP_PERR_NONE) {
		kwarp_batch_rollback(f.b, &mark);
		e->tx.off = off;
		m->sge = sge;
		m->sge_off = sge_off;
		m->buf = buf;
		if (f.stopped)
			e->tx.no_memory = f.no_memory;
		else
			build_failed(e, err);
		return false;
	}
	m->left -= payload;
	kwarp_ddp_advance(&m->hdr, payload);
	e->stats.s.tx.fpdus++;
	e->stats.s.tx.octets += payload;
	if (m->hdr.last)
		kwarp_tx_message_built(e);
	return true;
}
