// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. The administrator changes a knob, a setting of the device in sysfs, while a
 * connection exists: that connection keeps what its two ends have agreed on, and the next one has
 * the new value.
 */
#include "runner/atomic.h"
#include "runner/control.h"
#include "runner/start.h"

/* Length of the messages in both directions: longer than the distance between two markers. */
#define LONG		1200

static const struct rp_step both_ways[] = {
	{ RP_SEND, .len = LONG },
	{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = LONG },
	{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = LONG },
	{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
	{ .what = RP_DONE },
};

/* Steps if CRCs are in use: a wrong CRC ends the connection. */
static const struct rp_step crc_counts[] = {
	{ RP_SEG, .op = KWRAW_SEND, .len = LONG, .bad = KWRAW_BAD_CRC },
	{ RP_REFUSED, .err = 0x2002, .headers = RP_BARE },
	{ .what = RP_DONE },
};

/* Steps if CRCs are not in use: a wrong CRC has no effect. */
static const struct rp_step crc_is_filler[] = {
	{ RP_SEG, .op = KWRAW_SEND, .len = LONG, .hit = true, .bad = KWRAW_BAD_CRC },
	{ RP_WC, .wr = 1, .wc = IBV_WC_RECV, .len = LONG },
	{ .what = RP_DONE },
};

static void set_knob(struct rp *r, const char *name, bool on)
{
	if (!rp_ctl("knob %s %s", name, on ? "on" : "off"))
		rp_fail(r, "the consumer cannot change a knob: %s", rp_ctl_no());
}

/* Check that @what is in use after the startup (@is) exactly if the device's knob was @on. */
static bool agreed(struct rp *r, const char *what, bool is, bool on)
{
	if (is != on)
		rp_fail(r, "%s: %s, must be %s", what, is ? "in use" : "not in use",
			on ? "in use" : "not in use");
	return !r->failed;
}

/*
 * Make a connection while knob crc is @on, and then change the knob: the connection must continue
 * to use CRCs, or not to use them.
 */
static void crc_through_change(struct rp *r, bool on)
{
	if (r->failed || !rp_open(r) || !agreed(r, "CRC", r->c.crc, on))
		return;
	set_knob(r, "crc", !on);
	rp_steps(r, both_ways);
	rp_steps(r, on ? crc_counts : crc_is_filler);
	rp_again(r, "CRC", on);
}

/* The raw peer does not ask for CRCs here, so the device's knob decides whether they are used. */
static void crc_changes(struct rp *r)
{
	bool want = rp_where.want_crc;

	rp_where.want_crc = false;
	crc_through_change(r, true);
	crc_through_change(r, false);
	crc_through_change(r, true);
	rp_where.want_crc = want;
	rp_ctl("knob crc on");
}

/*
 * Make a connection while knob markers is @on, and then change the knob: the connection must
 * continue with markers, or without them.
 */
static void markers_through_change(struct rp *r, bool on)
{
	if (r->failed || !rp_open(r) || !agreed(r, "markers", r->c.tx.markers, on))
		return;
	set_knob(r, "markers", !on);
	rp_steps(r, both_ways);
	rp_again(r, "markers", on);
}

static void markers_change(struct rp *r)
{
	markers_through_change(r, false);
	markers_through_change(r, true);
	markers_through_change(r, false);
	rp_ctl("knob markers off");
}

/* ------------------------------------------------------------------- RFC 7306 */

static const struct rp_step all_of_7306[] = {
	{ RP_SEG, .op = KWRAW_IMM },
	{ RP_WC, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
	{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
	{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 42 },
	{ RP_GET, RESP, .word = 41 },
	{ .what = RP_DONE },
};

/*
 * Messages that the device does not know while knob rfc7306 is off, and the error in its Terminate.
 * The device does not know queue 3 then, either.
 */
static const struct {
	struct rp_step ask;
	uint16_t err;
} not_known[] = {
	{ { RP_SEG, .op = KWRAW_IMM }, 0x0206 },
	{ { RP_SEG, .op = KWRAW_IMM_SE }, 0x0206 },
	{ { RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF }, 0x0206 },
	{ { RP_SEG, SWAP(1, 2), .at = KWT_RW, .off = RW_OFF }, 0x0206 },
	{ { RP_SEG, RESP, .qn_x = 3 }, 0x0206 },
	{ { RP_SEG, RESP, .qn_x = 2 }, 0x0206 },
	{ { RP_SEG, RESP }, 0x1201 },
	{ { RP_SEG, .op = KWRAW_SEND, .len = 16, .qn_x = 3 }, 0x1201 },
	/* The opcode is not known, so its length is not checked. */
	{ { RP_SEG, .op = KWRAW_IMM, .cut = 4 }, 0x0206 },
};

/*
 * Change knob rfc7306 while a connection exists. A connection that has begun with the messages of
 * RFC 7306 keeps them; one that has begun without them does not get them.
 */
static void rfc7306_changes(struct rp *r)
{
	size_t i;

	if (!rp_open(r))
		return;
	set_knob(r, "rfc7306", false);
	rp_steps(r, all_of_7306);
	rp_again(r, "RFC 7306", true);
	for (i = 0; i < ARRAY_SIZE(not_known); i++)
		rp_refused(r, &not_known[i].ask, not_known[i].err, "message", i);
	if (!r->failed && rp_open(r)) {
		set_knob(r, "rfc7306", true);
		rp_seg(r, &not_known[0].ask);
		rp_one_step(r, &(struct rp_step){ RP_REFUSED, .err = 0x0206, .headers = RP_DDP });
		rp_again(r, "RFC 7306", false);
	}
	if (!r->failed && rp_open(r))
		rp_steps(r, all_of_7306);
	rp_ctl("knob rfc7306 on");
}

/* ----------------------------------------------------------------- long frames */

/* STag and TO of an announcement (Documentation/protocol.rst), and its bit for long FPDUs. */
#define ANNOUNCE_STAG	1
#define ANNOUNCE_TO	0x6b77617270000000ULL
#define ANNOUNCE_LONG	1ULL

/* Length of a Send that needs several segments of this MTU. */
#define SEVERAL		9000

/* Receive a segment from the device. Return its octets of payload. */
static size_t get_seg(struct rp *r, struct kwraw_seg *seg)
{
	static uint8_t ulpdu[KWRAW_ULPDU_MAX];
	size_t len = 0, hdr;
	enum kwraw_got how = kwraw_recv_fpdu(&r->c, ulpdu, &len, rp_soon());

	hdr = how == KWRAW_GOT_FPDU ? kwraw_seg_decode(ulpdu, len, seg) : 0;
	if (!hdr)
		rp_fail(r, "%s came, must be a segment", kwraw_got_name(how));
	return len - hdr;
}

/* Check that the device announces that it accepts long FPDUs. */
static void see_announcement(struct rp *r)
{
	struct kwraw_seg seg = { };
	size_t len = get_seg(r, &seg);

	if (!r->failed && (seg.opcode != KWRAW_WRITE || len || seg.stag != ANNOUNCE_STAG ||
			   seg.to != (ANNOUNCE_TO | ANNOUNCE_LONG)))
		rp_fail(r, "opcode %u, STag %x, TO %llx, %zu octets came, must be an announcement",
			seg.opcode, seg.stag, (unsigned long long)seg.to, len);
}

/* Let the consumer send a message. Return the number of segments that it comes in. */
static unsigned int segments_of_send(struct rp *r)
{
	const struct rp_step post = { RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = SEVERAL };
	const struct rp_step done = { RP_WC, .wr = 100, .wc = IBV_WC_SEND };
	struct kwraw_seg seg = { };
	unsigned int segments = 0;
	size_t len = 0;

	rp_one_step(r, &post);
	while (!r->failed && !seg.last) {
		len += get_seg(r, &seg);
		segments++;
	}
	if (!r->failed && (seg.opcode != KWRAW_SEND || len != SEVERAL))
		rp_fail(r, "opcode %u, %zu octets came", seg.opcode, len);
	rp_one_step(r, &done);
	return segments;
}

/*
 * Make a connection whose first FPDU is a Write of no octets with this STag and TO. Only if that is
 * an announcement, the device announces, too, and sends FPDUs that are longer than a TCP segment.
 */
static void first_write(struct rp *r, uint32_t stag, uint64_t to, bool is_long)
{
	struct rp_step first = { RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .to = to };
	unsigned int segments;
	bool several;

	if (r->failed || !rp_open(r))
		return;
	first.stag_x = r->region[KWT_RW].stag ^ stag;
	rp_seg(r, &first);
	if (is_long)
		see_announcement(r);
	segments = segments_of_send(r);
	several = segments > 1;
	if (!r->failed && is_long == several)
		rp_fail(r, "STag %x, TO %llx: a Send of %u octets came in %u segments", stag,
			(unsigned long long)to, SEVERAL, segments);
	rp_again(r, "announcement", (int)(to & 0xffff));
}

/* A Write of no octets has any STag and TO, and no effect but that of an announcement. */
static void long_fpdus(struct rp *r)
{
	set_knob(r, "long_frames", true);
	first_write(r, ANNOUNCE_STAG, ANNOUNCE_TO | ANNOUNCE_LONG, true);
	first_write(r, ANNOUNCE_STAG, ANNOUNCE_TO | 0xffffff, true);
	first_write(r, ANNOUNCE_STAG, ANNOUNCE_TO | 0xfffffe, false);
	first_write(r, ANNOUNCE_STAG, ANNOUNCE_TO, false);
	first_write(r, ANNOUNCE_STAG, ANNOUNCE_LONG, false);
	first_write(r, ANNOUNCE_STAG, (ANNOUNCE_TO ^ 1ULL << 63) | ANNOUNCE_LONG, false);
	first_write(r, 0, ANNOUNCE_TO | ANNOUNCE_LONG, false);
	rp_ctl("knob long_frames off");
}

const struct rp_case rp_cases_knob[] = {
	{ .name = "knob-crc", .ids = "5044-4.4-9 5044-4.4-10 5044-4.4-4",
	  .crc = true, .recvs = { 2000, 2000 }, .run = crc_changes },
	{ .name = "knob-markers", .ids = "5044-7.1.1-5 5044-7.1.1-6 5044-7.1.1-7",
	  .no_markers = true, .recvs = { 2000, 2000 }, .run = markers_change },
	{ .name = "knob-long-frames", .ids = "5041-5.2-14",
	  .role = RP_INIT, .no_markers = true, .run = long_fpdus },
	{ .name = "knob-rfc7306", .ids = "7306-1.1-4 7306-10.2-1",
	  .run = rfc7306_changes },
	{ .name = NULL }
};
