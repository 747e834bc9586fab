// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Atomic operations (RFC 7306 section 8) that the device refuses as responder,
 * and the Terminates about them.
 */
#include "runner/atomic.h"
#include "runner/start.h"

/* Offset of a word that crosses the end of region KWT_RW: 19997 of 20000 octets. */
#define RW_ACROSS	(RW_OFF + 19992)

static void misaligned(struct rp *r);
static void misaligned_iova(struct rp *r);
static void unknown_codes(struct rp *r);
static void wrong_lengths(struct rp *r);
static void too_many(struct rp *r);

const struct rp_case rp_cases_atomic_refused[] = {
	{
		.name = "atomic-too-many", .ids = "7306-5.2.1-9 7306-5.2-3",
		.ird = 4, .run = too_many,
	},
	{
		.name = "atomic-misaligned", .ids = "7306-5.1.1-2 7306-5.1.1-3 7306-5.1.1-4 7306-5.1.1-5 7306-5.1.2-4 7306-5.1.2-5 7306-5.1.2-6 7306-5.1.2-7 7306-5.1.2-8 7306-8.2-4 7306-8.2-5 7306-8.1-2",
		.run = misaligned,
	},
	{
		.name = "atomic-misaligned-iova", .ids = "7306-5.2.1-6 7306-8.2-4",
		.run = misaligned_iova,
	},
	{
		.name = "atomic-codes", .ids = "7306-5.2.1-12 7306-10.1-1",
		.run = unknown_codes,
	},
	{
		.name = "atomic-lengths", .ids = "7306-4.1-6 7306-4.2-1 7306-8.1-2",
		.run = wrong_lengths,
	},
	{
		.name = "atomic-not-last", .ids = "7306-4.1-6",
		RP_ONE_REFUSED(0x0207, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .more = true),
	},
	{
		.name = "atomic-msn-skipped", .ids = "7306-8.2-1",
		RP_ONE_REFUSED(0x1203, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .msn_d = 1),
	},
	{
		.name = "atomic-msn-of-read", .ids = "7306-5.2-1 7306-8.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 8 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RO, .len = 8 },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .msn_d = -1 },
			{ RP_REFUSED, .err = 0x1203, .headers = RP_DDP },
		},
	},
	{
		.name = "atomic-mo", .ids = "7306-8.2-1",
		RP_ONE_REFUSED(0x1204, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .mo_d = 8),
	},
	{
		.name = "atomic-ddp-version", .ids = "7306-8.2-1",
		RP_ONE_REFUSED(0x1206, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .dv_x = 1),
	},
	{
		.name = "atomic-rdmap-version", .ids = "7306-8.2-3",
		RP_ONE_REFUSED(0x0205, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .rv_x = 1),
	},
	{
		.name = "atomic-tagged", .ids = "7306-4.1-5 7306-5.2.1-8",
		RP_ONE_REFUSED(0x0206, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .t_x = true),
	},
	{
		.name = "atomic-on-queue-0", .ids = "7306-4.1-5 7306-5.2.1-13",
		RP_ONE_REFUSED(0x0206, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .qn_x = 1),
	},
	{
		.name = "atomic-on-queue-2", .ids = "7306-4.1-5 7306-5.2.1-13",
		RP_ONE_REFUSED(0x0206, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .qn_x = 3),
	},
	{
		.name = "atomic-on-queue-3", .ids = "7306-4.1-5 7306-5.2.1-13",
		RP_ONE_REFUSED(0x0206, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .qn_x = 2),
	},
	{
		.name = "atomic-on-queue-5", .ids = "7306-8.2-1",
		RP_ONE_REFUSED(0x1201, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .qn_x = 4),
	},
	{
		.name = "atomic-crc", .ids = "7306-8.2-1",
		.crc = true,
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .bad = KWRAW_BAD_CRC },
			{ RP_REFUSED, .err = 0x2002, .headers = RP_BARE },
		},
	},
	{
		.name = "atomic-stag-key", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0100, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .stag_x = 1),
	},
	{
		.name = "atomic-stag-index", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0100, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF,
			       .stag_x = 0x00010000),
	},
	{
		.name = "atomic-stag-dead", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0100, RP_DDP, ADD(1), .at = KWT_DEAD, .off = 8),
	},
	{
		.name = "atomic-stag-zero", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0100, RP_DDP, ADD(1), .at = KWT_NONE, .to = 4096),
	},
	{
		.name = "atomic-stag-deregistered", .ids = "7306-8.2-6 7306-9-1",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .hit = true, .word = 42 },
			{ RP_GET, RESP, .word = 41 },
			{ RP_DEREG, .at = KWT_RW },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF },
			{ RP_REFUSED, .err = 0x0100, .headers = RP_DDP },
		},
	},
	{
		.name = "atomic-other-pd", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0103, RP_DDP, ADD(1), .at = KWT_PD, .off = 8),
	},
	{
		.name = "atomic-read-only", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0102, RP_DDP, ADD(1), .at = KWT_RO, .off = ALIGNED(0x8005)),
	},
	{
		.name = "atomic-write-only", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0102, RP_DDP, ADD(1), .at = KWT_WO, .off = ALIGNED(0xa011)),
	},
	{
		.name = "atomic-local-only", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0102, RP_DDP, ADD(1), .at = KWT_LO, .off = 8),
	},
	{
		.name = "atomic-no-right", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0102, RP_DDP, SWAP(1, 2), .at = KWT_SINK, .off = ALIGNED(0x11003)),
	},
	{
		.name = "atomic-without-rights", .ids = "7306-8.2-6 7306-9-1",
		.no_rights = true,
		RP_ONE_REFUSED(0x0102, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF),
	},
	{
		.name = "atomic-without-atomics", .ids = "7306-8.2-6 7306-9-1",
		.no_atomics = true,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 8, .hit = true },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 8 },
			{ RP_GET, .op = KWRAW_READ_RESP, .len = 8, .hit = true },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF },
			{ RP_REFUSED, .err = 0x0102, .headers = RP_DDP },
		},
	},
	{
		.name = "atomic-bounds-before", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0101, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF - 8),
	},
	{
		.name = "atomic-bounds-across-end", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0101, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_ACROSS),
	},
	{
		.name = "atomic-bounds-behind", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0101, RP_DDP, SWAP(1, 2), .at = KWT_RW, .off = RW_ACROSS + 8),
	},
	{
		.name = "atomic-bounds-one-octet", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0101, RP_DDP, ADD(1), .at = KWT_ONE),
	},
	{
		.name = "atomic-bounds-to-zero", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0101, RP_DDP, ADD(1), .at = KWT_RW, .to = 8),
	},
	{
		.name = "atomic-wrap", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0104, RP_DDP, ADD(1), .at = KWT_RW, .to = ~0ULL - 7),
	},
	{
		.name = "atomic-wrap-misaligned", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0104, RP_DDP, SWAP(1, 2), .at = KWT_RW, .to = ~0ULL),
	},
	{
		.name = "atomic-first-length", .ids = "7306-4.1-6 7306-8.1-2",
		RP_ONE_REFUSED(0x0207, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .aop = 1,
			       .cut = 4),
	},
	{
		.name = "atomic-first-code", .ids = "7306-5.2.1-12",
		.no_rights = true,
		RP_ONE_REFUSED(0x0206, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .stag_x = 1,
			       .aop = 1),
	},
	{
		.name = "atomic-first-rights", .ids = "7306-8.2-6",
		.no_atomics = true,
		RP_ONE_REFUSED(0x0102, RP_DDP, ADD(1), .at = KWT_RW, .off = RW_OFF, .stag_x = 1),
	},
	{
		.name = "atomic-first-pd", .ids = "7306-8.2-6",
		RP_ONE_REFUSED(0x0103, RP_DDP, ADD(1), .at = KWT_PD, .off = 3001),
	},
	{
		.name = "atomic-first-right", .ids = "7306-8.2-6",
		RP_ONE_REFUSED(0x0102, RP_DDP, ADD(1), .at = KWT_RO, .off = 5001),
	},
	{
		.name = "atomic-first-bounds", .ids = "7306-8.2-6",
		RP_ONE_REFUSED(0x0101, RP_DDP, ADD(1), .at = KWT_RW, .off = 19999),
	},
	{
		.name = "atomic-first-error", .ids = "7306-8.1-2 7306-8.2-5",
		.steps = {
			{ RP_PUT, .at = KWT_RW, .off = RW_OFF, .word = 41 },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .aop = 1, .hold = true },
			{ RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF },
			{ RP_REFUSED, .err = 0x0206, .headers = RP_DDP, .of = 1 },
		},
	},
	{
		.name = "atomic-window-misaligned", .ids = "7306-5.2.1-6 7306-8.2-4",
		.first = rp_zero_window,
		RP_ONE_REFUSED(0x0207, RP_DDP, ADD(1), .at = KWT_WIN, .off = 8),
	},
	{
		.name = "atomic-window-no-right", .ids = "7306-8.2-6 7306-9-1",
		.first = rp_window,
		RP_ONE_REFUSED(0x0102, RP_DDP, ADD(1), .at = KWT_WIN, .off = WIN_OFF),
	},
	{
		.name = "atomic-window-bounds", .ids = "7306-8.2-6 7306-9-1",
		.first = rp_zero_window,
		RP_ONE_REFUSED(0x0101, RP_DDP, ADD(1), .at = KWT_WIN, .off = WIN_OFF + 19992),
	},
	{
		.name = "atomic-window-not-bound", .ids = "7306-8.2-6 7306-9-1",
		RP_ONE_REFUSED(0x0100, RP_DDP, ADD(1), .at = KWT_WIN, .off = WIN_OFF),
	},
	{ .name = NULL }
};

/*
 * Try both operations at each misaligned address in a word. The compare mask of the CmpSwap is 0,
 * so its comparison would be successful: a device that carries it out changes memory, and the check
 * of the memory at the end of the run fails.
 */
static void misaligned_at(struct rp *r, enum kwt_region at, int off)
{
	struct rp_step add = { RP_SEG, ADD(1), .at = at },
		       swap = { RP_SEG, .op = KWRAW_ATOMIC_REQ, .aop = KWRAW_CMP_SWAP, .at = at,
				.data = 5, .mask = ~0ULL };
	int i;

	for (i = 1; i < 8; i++) {
		add.off = off + i;
		rp_refused(r, &add, 0x0207, "FetchAdd at", i);
		swap.off = off + i;
		rp_refused(r, &swap, 0x0207, "CmpSwap at", i);
	}
}

static void misaligned(struct rp *r)
{
	misaligned_at(r, KWT_RW, RW_OFF + 64);
}

static void misaligned_iova(struct rp *r)
{
	misaligned_at(r, KWT_IOVA, IOVA_OFF + 64);
}

static void unknown_codes(struct rp *r)
{
	struct rp_step ask = {
		RP_SEG, .op = KWRAW_ATOMIC_REQ, .at = KWT_RW, .off = RW_OFF, .data = 1,
		.mask = ~0ULL,
	};
	int code;

	for (code = 0; code < 16; code++) {
		ask.aop = code;
		if (code != KWRAW_FETCH_ADD && code != KWRAW_CMP_SWAP)
			rp_refused(r, &ask, 0x0206, "operation code", code);
	}
}

static void wrong_lengths(struct rp *r)
{
	static const int cuts[] = { 52, 51, 24, 8, 4, 1, -1, -4, -8, -500 };
	struct rp_step ask = { RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cuts); i++) {
		ask.cut = cuts[i];
		rp_refused(r, &ask, 0x0207, "octets left away", cuts[i]);
	}
}

/* --------------------------------------------------------- more than agreed on */

#define BURST		20
#define READ_LEN	4000

/*
 * Does the segment answer request @n? Requests with even numbers are Reads, the others atomic
 * operations. *@done: octets of the current Read that were answered.
 */
static bool is_answer(const struct kwraw_seg *s, size_t len, unsigned int n, uint32_t *done)
{
	if (n & 1)
		return s->opcode == KWRAW_ATOMIC_RESP && s->qn == 3 && s->msn == n / 2 + 1 &&
		       len == KWRAW_UNTAGGED_HDR + KWRAW_ATOMIC_RESP_LEN;
	if (s->opcode != KWRAW_READ_RESP || s->to != RP_SINK_TO + *done)
		return false;
	*done = s->last ? 0 : *done + len - KWRAW_TAGGED_HDR;
	return true;
}

/*
 * Receive answers in the order of the requests, then a Terminate about a request that is beyond the
 * IRD of 4.
 */
static void take_answers(struct rp *r)
{
	static uint8_t ulpdu[KWRAW_ULPDU_MAX];
	struct kwraw_seg s, about;
	struct kwraw_term t;
	unsigned int n = 0;
	uint32_t done = 0;
	size_t len;

	for (;;) {
		if (kwraw_recv_fpdu(&r->c, ulpdu, &len, rp_soon()) != KWRAW_GOT_FPDU ||
		    !kwraw_seg_decode(ulpdu, len, &s)) {
			rp_fail(r, "no FPDU after %u answers", n);
			return;
		}
		if (!is_answer(&s, len, n, &done))
			break;
		n += s.last;
	}
	if (!kwraw_term_decode(ulpdu, len, &t) || !t.has_ddp || t.has_rdma ||
	    !kwraw_seg_decode(t.ddp, t.ddp_len, &about))
		rp_fail(r, "opcode %u after %u answers, must be a Terminate", s.opcode, n);
	else if (t.layer != 1 || t.etype != 2 || t.code != 2 || about.qn != 1 || about.msn < 5 ||
		 about.msn > BURST)
		rp_fail(r, "Terminate %x/%x/%02x about request %u", t.layer, t.etype, t.code,
			about.msn);
}

/*
 * Send Reads and atomic operations in turns, more than the IRD allows, all in one segment of TCP.
 * The device may answer some of them before it reads the others, so the number of additions that it
 * carries out is not known.
 */
static void too_many(struct rp *r)
{
	struct rp_step read = {
		RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = READ_LEN, .hold = true,
	}, add = {
		RP_SEG, ADD(1), .at = KWT_RW, .off = RW_OFF, .maybe = true,
	};
	unsigned int i;

	r->c.piece = 0;
	if (!rp_open(r))
		return;
	for (i = 0; i < BURST; i++) {
		add.hold = i < BURST - 1;
		rp_seg(r, i & 1 ? &add : &read);
	}
	take_answers(r);
	rp_expect(r, &(struct rp_step){ RP_EVENT, .event = IBV_EVENT_QP_FATAL });
	rp_ended(r, RP_BY_FIN);
}
