// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Protocol errors and the Terminate message (RFC 5040 section 4.8). Pure functions, any context. */
#include "ddp.h"
#include "term.h"

/*
 * Headers that RFC 5040 Figure 10 allows after the control word of a Terminate; M, D and R are
 * flags of that word.
 */
enum term_headers {
	TERM_SILENT,	/* no Terminate is sent at all */
	TERM_BARE,	/* M=0 D=0 R=0 */
	TERM_DDP,	/* M=1 D=1 R=0 */
	TERM_DDP_RREQ,	/* M=1 D=1, R=1 if the cause is a Read Request */
};

#define ROW(err, lay, typ, cod, hdrs)				\
	[KWARP_PERR_##err] = { .name = #err, .layer = lay, .etype = typ, \
			       .code = cod, .headers = TERM_##hdrs }

static const struct perr_row {
	const char *name;
	u8 layer;
	u8 etype;
	u8 code;
	u8 headers;
} rows[KWARP_PERR_COUNT] = {
	ROW(NONE, 0, 0, 0, SILENT),

	/* no header, because no inbound message has caused the error: 5040-4.8-24, 5040-7.1-2 */
	ROW(LOCAL, 0, 0, 0x00, BARE),
	/*
	 * The codes are from RFC 5040 Figure 9, the attached headers from 5040-4.8-25, 5040-7.1-5
	 * and 5040-4.8-19. Numbers after a row name the requirements to report this error.
	 */
	ROW(R_STAG, 0, 1, 0x00, DDP_RREQ),		/* 5040-7.2-9, 5040-7.2-4 */
	ROW(R_BOUNDS, 0, 1, 0x01, DDP_RREQ),		/* 5040-7.2-11, -12 */
	ROW(R_ACCESS, 0, 1, 0x02, DDP_RREQ),		/* 5040-8.1.1-5 */
	ROW(R_STREAM, 0, 1, 0x03, DDP_RREQ),		/* 5040-7.2-10 */
	ROW(R_WRAP, 0, 1, 0x04, DDP_RREQ),		/* 5040-7.2-13 */
	ROW(R_CANNOT_INV, 0, 1, 0x09, DDP_RREQ),	/* 5040-5.3-19, 5040-7.2-5 */
	/* attached headers: 5040-4.8-26, 5040-7.1-3 */
	ROW(O_VERSION, 0, 2, 0x05, DDP),		/* 5040-7.2-3, -8 */
	ROW(O_OPCODE, 0, 2, 0x06, DDP),			/* 5040-7.2-2, -7 */
	ROW(O_STREAM, 0, 2, 0x07, DDP),
	ROW(O_GLOBAL, 0, 2, 0x08, DDP),
	ROW(O_CANNOT_INV, 0, 2, 0x09, DDP),
	ROW(O_UNSPEC, 0, 2, 0xff, DDP),

	/* codes: RFC 5041 section 7.2 (5041-7.2-1); attached headers: 5040-4.8-27, 5041-7.1-21 */
	/*
	 * DDP_LOCAL is only for a ULPDU that is shorter than its DDP header: there is no header to
	 * attach
	 */
	ROW(DDP_LOCAL, 1, 0, 0x00, BARE),
	ROW(DDP_T_STAG, 1, 1, 0x00, DDP),		/* 5041-7.1-14, -15 */
	ROW(DDP_T_BOUNDS, 1, 1, 0x01, DDP),		/* 5041-7.1-16, -17 */
	ROW(DDP_T_STREAM, 1, 1, 0x02, DDP),		/* 5041-8.2-1, -3 */
	ROW(DDP_T_WRAP, 1, 1, 0x03, DDP),		/* 5041-7.1-18 */
	ROW(DDP_T_VERSION, 1, 1, 0x04, DDP),		/* 5041-4.1-13 */
	ROW(DDP_U_QN, 1, 2, 0x01, DDP),			/* 5041-7.1-2 */
	ROW(DDP_U_NOBUF, 1, 2, 0x02, DDP),		/* 5041-7.1-3 */
	ROW(DDP_U_MSN, 1, 2, 0x03, DDP),		/* 5041-7.1-10 */
	ROW(DDP_U_MO, 1, 2, 0x04, DDP),			/* 5041-7.1-8 */
	ROW(DDP_U_LONG, 1, 2, 0x05, DDP),		/* 5041-7.1-9 */
	ROW(DDP_U_VERSION, 1, 2, 0x06, DDP),		/* 5041-4.1-13 */

	/* codes: RFC 5044 section 8, RFC 6581 section 8; no attached headers: 5040-4.8-28 */
	ROW(MPA_LOST, 2, 0, 0x01, SILENT),		/* 5044-8-3, 5040-6.2-4 */
	ROW(MPA_CRC, 2, 0, 0x02, BARE),			/* 5044-4.4-20 */
	ROW(MPA_MARKER, 2, 0, 0x03, BARE),		/* 5044-8-4 */
	ROW(MPA_FRAME, 2, 0, 0x04, SILENT),		/* 5044-8-7: just close */
	ROW(MPA_LOCAL, 2, 0, 0x05, BARE),		/* 6581-8-2, -3; 6581-9.3-3 */
	ROW(MPA_IRD, 2, 0, 0x06, BARE),			/* 6581-9.1-13 */
	ROW(MPA_RTR, 2, 0, 0x07, BARE),			/* 6581-9.2-16 */
};

static const struct perr_row *perr_row_of(enum kwarp_perr err)
{
	return &rows[(u32)err < KWARP_PERR_COUNT ? err : KWARP_PERR_NONE];
}

bool kwarp_term_wanted(enum kwarp_perr err)
{
	return perr_row_of(err)->headers != TERM_SILENT;
}

const char *kwarp_perr_name(enum kwarp_perr err)
{
	return perr_row_of(err)->name;
}

u16 kwarp_perr_short(enum kwarp_perr err)
{
	const struct perr_row *row = perr_row_of(err);

	return row->layer << 12 | row->etype << 8 | row->code;
}

enum kwarp_perr kwarp_term_perr(const struct kwarp_term *term)
{
	enum kwarp_perr err;

	for (err = KWARP_PERR_LOCAL; err < KWARP_PERR_COUNT; err++)
		if (kwarp_perr_short(err) == kwarp_term_short(term))
			return err;
	return KWARP_PERR_NONE;
}

void kwarp_term_fill(struct kwarp_term *term, enum kwarp_perr err,
		     const u8 *ddp_hdr, u16 seg_len, const u8 *rreq)
{
	const struct perr_row *row = perr_row_of(err);

	memset(term, 0, sizeof(*term));
	term->layer = row->layer;
	term->etype = row->etype;
	term->code = row->code;

	if (row->headers < TERM_DDP || !ddp_hdr)	/* no header: 5040-4.8-8, -9 */
		return;
	term->seg_len_valid = true;
	term->has_ddp = true;
	term->seg_len = seg_len;
	term->ddp_hdr_len = kwarp_ddp_hdr_len(ddp_hdr[0]);
	memcpy(term->ddp_hdr, ddp_hdr, term->ddp_hdr_len);

	if (row->headers < TERM_DDP_RREQ || !rreq)	/* no second header: 5040-4.8-10, -19 */
		return;
	term->has_rdmap = true;
	memcpy(term->rreq, rreq, sizeof(term->rreq));
}

/* The control word of a Terminate (5040-4.8-3); its reserved bits are zero (5040-4.8-12). */
static u32 encode_ctrl(const struct kwarp_term *term)
{
	return FIELD_PREP(KWARP_TERM_LAYER, term->layer) |
	       FIELD_PREP(KWARP_TERM_ETYPE, term->etype) |
	       FIELD_PREP(KWARP_TERM_CODE, term->code) |
	       (term->seg_len_valid ? KWARP_TERM_M : 0) |
	       (term->has_ddp ? KWARP_TERM_D : 0) |
	       (term->has_rdmap ? KWARP_TERM_R : 0);
}

u32 kwarp_term_encode(u8 *out, const struct kwarp_term *term)
{
	u32 len = KWARP_TERM_CTRL_LEN;

	put_unaligned_be32(encode_ctrl(term), out);
	if (term->has_ddp) {		/* segment length and DDP header: 5040-4.8-15, -18 */
		put_unaligned_be16(term->seg_len, out + len);
		len += KWARP_TERM_SEGLEN_LEN;
		memcpy(out + len, term->ddp_hdr, term->ddp_hdr_len);
		len += term->ddp_hdr_len;
	}
	if (term->has_rdmap) {		/* Read Request header: 5040-4.8-20 */
		memcpy(out + len, term->rreq, sizeof(term->rreq));
		len += sizeof(term->rreq);
	}
	return len;
}

/* 0 if @len is too short */
static u32 decode_ddp(const u8 *in, u32 len, struct kwarp_term *term)
{
	u32 hdr_len;

	if (len <= KWARP_TERM_SEGLEN_LEN)
		return 0;
	hdr_len = kwarp_ddp_hdr_len(in[KWARP_TERM_SEGLEN_LEN]);	/* by its T flag: 5040-4.8-16 */
	if (len < KWARP_TERM_SEGLEN_LEN + hdr_len)
		return 0;
	term->seg_len = get_unaligned_be16(in);
	term->ddp_hdr_len = hdr_len;
	memcpy(term->ddp_hdr, in + KWARP_TERM_SEGLEN_LEN, hdr_len);
	term->has_ddp = true;
	return KWARP_TERM_SEGLEN_LEN + hdr_len;
}

bool kwarp_term_decode(const u8 *in, u32 len, struct kwarp_term *term)
{
	u32 ctrl, used = KWARP_TERM_CTRL_LEN, n;

	memset(term, 0, sizeof(*term));
	if (len < KWARP_TERM_CTRL_LEN)
		return false;

	ctrl = get_unaligned_be32(in);	/* 5040-4.8-13: reserved bits are ignored */
	term->layer = FIELD_GET(KWARP_TERM_LAYER, ctrl);
	term->etype = FIELD_GET(KWARP_TERM_ETYPE, ctrl);
	term->code = FIELD_GET(KWARP_TERM_CODE, ctrl);

	if (ctrl & KWARP_TERM_D) {
		n = decode_ddp(in + used, len - used, term);
		if (!n)
			return false;
		used += n;
		term->seg_len_valid = ctrl & KWARP_TERM_M;	/* M bit: 5040-4.8-14 */
	}
	if (ctrl & KWARP_TERM_R) {
		if (len - used < sizeof(term->rreq))
			return false;
		memcpy(term->rreq, in + used, sizeof(term->rreq));
		term->has_rdmap = true;
	}
	return true;
}
