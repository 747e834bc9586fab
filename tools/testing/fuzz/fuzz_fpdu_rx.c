// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fuzz target: the FPDU parser. The stream is the input itself, or a valid stream of FPDUs that
 * a simple sender (tests/emit.h) makes from the input. It is parsed three times: whole, in
 * pieces, and octet by octet. All three results must agree. With CRCs the parser gets an FPDU
 * only after it is complete and verified, as in the driver.
 *
 * Input: mode, seed of the cuts, position of a bit to flip, then octets.
 */
#include "fuzz.h"

#include "fpdu_rx.h"
#include "tests/emit.h"

#define STREAM_MAX	BIT(18)

#define MODE_CRC	0x01
#define MODE_MARKERS	0x02
#define MODE_SENDER	0x04	/* the sender makes the stream */
#define MODE_FLIP	0x08	/* one bit of the sender's stream is flipped */

/* The result of one pass over the stream. */
struct pass {
	struct kwarp_fpdu_rx rx;
	u32 fed;	/* with CRCs: octets of complete FPDUs that the parser got */
	u32 head_end;	/* with CRCs: stream offset where the header of the FPDU ends */
	u8 payload[STREAM_MAX];
	u32 len;	/* octets in payload */
	u32 done;	/* octets of payload that are of complete FPDUs */
	u32 hdrs;	/* FPDUs that have begun */
	u32 ends;	/* FPDUs that are complete */
	enum kwarp_perr err;
};

static struct pass whole, pieces, octets;
static u8 stream[STREAM_MAX];

static void on_event(struct pass *p, enum kwarp_fpdu_event ev, const u8 *data, u32 dlen)
{
	switch (ev) {
	case KWARP_FPDU_HDR:
		CHECK(p->hdrs++ == p->ends);
		CHECK(p->rx.payload_len + kwarp_ddp_hdr_len(*kwarp_fpdu_rx_raw(&p->rx)) ==
		      p->rx.ulpdu_len);
		CHECK(!p->rx.check_crc || p->rx.off == p->head_end);
		break;
	case KWARP_FPDU_DATA:
		CHECK(dlen && p->hdrs == p->ends + 1);
		CHECK(p->len + dlen <= STREAM_MAX);
		memcpy(p->payload + p->len, data, dlen);
		p->len += dlen;
		CHECK(p->len - p->done <= p->rx.payload_len);
		break;
	case KWARP_FPDU_END:
		CHECK(++p->ends == p->hdrs);
		CHECK(p->len - p->done == p->rx.payload_len);
		CHECK(kwarp_fpdu_rx_idle(&p->rx));
		p->done = p->len;
		break;
	case KWARP_FPDU_DATA_END:
		on_event(p, KWARP_FPDU_DATA, data, dlen);
		on_event(p, KWARP_FPDU_END, NULL, 0);
		break;
	case KWARP_FPDU_ERROR:
		p->err = p->rx.err;
		CHECK(p->err == KWARP_PERR_MPA_CRC ||
		      p->err == KWARP_PERR_MPA_MARKER || p->err == KWARP_PERR_DDP_LOCAL);
		break;
	case KWARP_FPDU_MORE:
		break;
	}
}

static void feed_piece(struct pass *p, const u8 *data, size_t len)
{
	u8 *copy = fuzz_copy(data, len);
	const u8 *at = copy, *end = copy + len, *piece = NULL;
	enum kwarp_fpdu_event ev;
	size_t before;
	u32 dlen = 0;

	while (!p->err) {
		before = len;
		ev = kwarp_fpdu_rx_next(&p->rx, &at, &len, &piece, &dlen);
		CHECK(at + len == end);
		CHECK(ev == KWARP_FPDU_ERROR || ev == KWARP_FPDU_MORE || len < before);
		CHECK(ev != KWARP_FPDU_MORE || !len);
		CHECK((ev != KWARP_FPDU_DATA && ev != KWARP_FPDU_DATA_END) ||
		      (piece >= copy && piece + dlen <= end));
		on_event(p, ev, piece, dlen);
		if (ev == KWARP_FPDU_MORE)
			break;
	}
	free(copy);
}

static void start(struct pass *p, u8 mode)
{
	kwarp_fpdu_rx_init(&p->rx, mode & MODE_CRC, mode & MODE_MARKERS);
	p->fed = 0;
	p->len = 0;
	p->done = 0;
	p->hdrs = 0;
	p->ends = 0;
	p->err = KWARP_PERR_NONE;
}

/*
 * Find the length of the FPDU at @data, and give its CRC to the parser.
 * Return: the length, 0 if the FPDU is not complete.
 */
static u32 verify(struct pass *p, const u8 *data, size_t len)
{
	u8 *head = fuzz_copy(data, min_t(size_t, len, KWARP_FPDU_HEAD));
	u32 n = kwarp_fpdu_rx_wire_len(&p->rx, head, min_t(size_t, len, KWARP_FPDU_HEAD));

	CHECK(n || len < KWARP_FPDU_MIN);
	CHECK(!n || (n >= KWARP_FPDU_MIN && n <= KWARP_FPDU_MAX));
	if (n > len)
		n = 0;
	if (n) {
		p->head_end = p->rx.off + kwarp_fpdu_rx_head_len(&p->rx, head);
		CHECK(p->head_end - p->rx.off <= min_t(u32, n, KWARP_FPDU_HEAD));
		kwarp_fpdu_rx_verify(&p->rx,
				     kwarp_mpa_crc_add(kwarp_mpa_crc_init(), data, n - 4),
				     data + n - 4);
	}
	free(head);
	return n;
}

/*
 * The stream has arrived up to @end. With CRCs, give the parser the complete FPDUs in pieces of
 * @each octets (0: each FPDU in one piece); without CRCs, give it the octets from @from on.
 */
static void feed(struct pass *p, u32 from, u32 end, u32 each)
{
	u32 n, at, cut;

	if (!p->rx.check_crc) {
		feed_piece(p, stream + from, end - from);
		return;
	}
	while (!p->err && (n = verify(p, stream + p->fed, end - p->fed))) {
		for (at = 0; at < n && !p->err; at += cut) {
			cut = each ? min(each, n - at) : n;
			feed_piece(p, stream + p->fed + at, cut);
		}
		p->fed += n;
	}
}

static void agree(const struct pass *a, const struct pass *b)
{
	CHECK(a->err == b->err);
	CHECK(a->ends == b->ends);
	CHECK(a->done == b->done);
	CHECK(!memcmp(a->payload, b->payload, a->done));
	if (a->err)
		return;
	CHECK(a->rx.off == b->rx.off);
	CHECK(a->rx.step == b->rx.step);
	CHECK(a->len == b->len);
}

/*
 * Make FPDUs from the input: two octets determine the length, then the ULPDU follows.
 * Return: the number of FPDUs.
 */
static u32 send_all(struct fuzz *f, struct kwarp_emit *e)
{
	u32 n, len;

	for (n = 0; f->left > 2 && e->len < STREAM_MAX / 2; n++) {
		len = min_t(size_t, fuzz_u16(f) % 4096, f->left);
		kwarp_emit_fpdu(e, f->at, len, 0);
		f->at += len;
		f->left -= len;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz f = { data, size };
	u8 mode = fuzz_u8(&f);
	u32 rnd = fuzz_u8(&f), flip = fuzz_u16(&f), n = 0, at, cut;
	struct kwarp_emit e = {
		.buf = stream, .size = STREAM_MAX, .markers = mode & MODE_MARKERS,
	};

	if (mode & MODE_SENDER) {
		n = send_all(&f, &e);
		if (mode & MODE_FLIP && e.len)
			stream[flip / 8 % e.len] ^= BIT(flip % 8);
	} else {
		e.len = min_t(size_t, f.left, STREAM_MAX);
		memcpy(stream, f.at, e.len);
	}

	start(&whole, mode);
	feed(&whole, 0, e.len, 0);
	start(&pieces, mode);
	for (at = 0; at < e.len; at += cut) {
		rnd = rnd * 1103515245 + 12345;
		cut = min_t(u32, rnd >> 16 & (rnd & 0x1000000 ? 0x7ff : 0x1f), e.len - at);
		feed(&pieces, at, at + cut, 1 + (rnd >> 8 & 0x3f));
	}
	agree(&whole, &pieces);
	start(&octets, mode);
	for (at = 0; at < e.len; at++)
		feed(&octets, at, at + 1, 1);
	agree(&whole, &octets);

	/*
	 * An undamaged stream is parsed without an error, unless a ULPDU is too short for its
	 * DDP header.
	 */
	if ((mode & (MODE_SENDER | MODE_FLIP)) == MODE_SENDER &&
	    whole.err != KWARP_PERR_DDP_LOCAL)
		CHECK(!whole.err && whole.ends == n);
	return 0;
}
