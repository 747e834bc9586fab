// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Header prediction for the middle of a long message.
 *
 * After a segment that is not the last of its message, a sender that fills its segments sends one
 * with the same length and the same header, except for the offset, which grows by the payload. So
 * length field and header of the next FPDU are compared with the expected octets. If they are
 * equal, all that was checked in the previous header is right here, too (opcode, versions, queue,
 * MSN, STag, position in the message). What remains to be checked: that the receive, Read or region
 * has room for the payload; the CRC; and, in kwarp_rx_place(), the access to the region.
 *
 * If anything differs or is wrong, the FPDU is left to segment.c, which processes all of it.
 *
 * Context of all functions: socket lock held.
 */
#include "rx.h"

#include "../../door.h"
#include "../../proto/fpdu_rx.h"

static u64 message_room(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;
	const struct kwarp_ddp_hdr *h = &rx->fpdu.hdr;

	if (!h->tagged)		/* no longer than the receive (5041-7.1-9) */
		return h->qn == KWARP_QN_SEND && rx->q[KWARP_QN_SEND].open ?
		       rx->rwqe.len - rx->q[KWARP_QN_SEND].mo : 0;
	if (h->opcode == KWARP_OP_WRITE)
		return READ_ONCE(e->access) & IB_ACCESS_REMOTE_WRITE ? U64_MAX : 0;
	/* The last segment ends where the Read ends, and is not processed here (5040-5.2.2-9). */
	return kwarp_readq_empty(&e->oread) ? 0 : kwarp_oread_head(&e->oread)->left - 1;
}

/*
 * How many more segments with @payload octets fit into the receive, Read or region that the message
 * goes to (5041-7.1-13)? The last segment of a Read Response is not counted.
 */
static size_t max_segments(struct kwarp_engine *e, u32 payload)
{
	const struct kwarp_rx *rx = &e->rx;
	u64 room = message_room(e);

	/* If rx->region_checked is false, kwarp_rx_place() checks the region for each piece. */
	if (rx->target == KWARP_RXT_TAGGED && rx->region_checked)
		room = min(room, kwarp_mr_room(rx->mr, rx->addr));
	return div_u64(room, payload);
}

static bool crc_is_right(const u8 *head, u32 head_len, const u8 *data, u32 wire)
{
	const u32 covered = wire - KWARP_MPA_CRC_LEN;
	u8 trailer[KWARP_MPA_CRC_LEN];
	u32 crc = kwarp_mpa_crc_add(kwarp_mpa_crc_init(), head, head_len);

	memcpy(trailer, data + covered, sizeof(trailer));
	/* Make the compiler use the copy: it must not read the original again. */
	barrier();
	return kwarp_mpa_crc_ok(trailer, kwarp_mpa_crc_add(crc, data + head_len,
							   covered - head_len));
}

/*
 * For a tagged message: at the start of a receive run look its region up again, and check the
 * access of the next segment (5041-7.1-13).
 */
static bool find_region(struct kwarp_engine *e)
{
	const struct kwarp_rx *rx = &e->rx;

	return rx->target != KWARP_RXT_TAGGED || rx->mr ||
	       kwarp_rx_check_target(e, rx->addr, rx->rights) == KWARP_MEM_OK;
}

/* A deregistration waits for the end of the run, but clears @valid at once. */
static bool region_is_gone(const struct kwarp_rx *rx)
{
	return rx->target == KWARP_RXT_TAGGED && !READ_ONCE(rx->mr->valid);
}

/* If placing fails, restore the state: octets that were written do not count. */
static bool place_whole(struct kwarp_engine *e, const u8 *payload)
{
	struct kwarp_rx *rx = &e->rx;
	const u32 sge = rx->sge, sge_off = rx->sge_off;
	const u8 status = rx->rwqe_status;
	const u64 addr = rx->addr;

	if (likely(kwarp_rx_place(e, payload, rx->fpdu.payload_len) == KWARP_PERR_NONE))
		return true;
	rx->sge = sge;
	rx->sge_off = sge_off;
	rx->rwqe_status = status;
	rx->addr = addr;
	return false;
}

static bool accept_fpdu(struct kwarp_engine *e, const u8 *expected, const u8 *data, u32 wire)
{
	const struct kwarp_fpdu_rx *f = &e->rx.fpdu;
	const u32 head_len = KWARP_MPA_LEN_FIELD + kwarp_ddp_len(f->hdr.tagged);
	/*
	 * Compare first what tagged and untagged headers both have: for a constant length the
	 * compiler inlines memcmp().
	 */
	const u32 common = KWARP_MPA_LEN_FIELD + KWARP_DDP_TAGGED_LEN;
	u8 head[KWARP_FPDU_FIELDS];

	memcpy(head, data, sizeof(head));
	/* Make the compiler use the copy: it must not read the original again. */
	barrier();
	if (memcmp(head, expected, common) ||
	    (!f->hdr.tagged &&
	     memcmp(head + common, expected + common, sizeof(head) - common)))
		return false;
	if (f->check_crc && !crc_is_right(head, head_len, data, wire))
		return false;
	return place_whole(e, data + head_len);
}

/* The next segment begins where this one ends (5041-5.2-7). */
static void account_fpdu(struct kwarp_engine *e)
{
	struct kwarp_rx *rx = &e->rx;
	const struct kwarp_ddp_hdr *h = &rx->fpdu.hdr;
	struct kwarp_oread *r;

	e->stats.s.rx.fpdus++;
	e->stats.s.rx.predicted++;
	e->stats.s.rx.octets += rx->fpdu.payload_len;
	if (!h->tagged) {
		kwarp_ddp_advance_untagged(&rx->q[h->qn], h, rx->fpdu.payload_len);
	} else if (h->opcode == KWARP_OP_WRITE) {
		rx->written += rx->fpdu.payload_len;
	} else {
		r = kwarp_oread_head(&e->oread);
		r->to += rx->fpdu.payload_len;
		r->left -= rx->fpdu.payload_len;
	}
}

/* Return: octets used, of whole FPDUs; 0 if the caller has to pass the next FPDU to the parser. */
size_t kwarp_rx_accept_series(struct kwarp_engine *e, const u8 *data, size_t len)
{
	KWARP_DOOR(kwarp_rx_accept_series, e, data, len);
	struct kwarp_fpdu_rx *f = &e->rx.fpdu;
	u8 expected[KWARP_FPDU_FIELDS];
	u32 wire = kwarp_fpdu_rx_expect(f, expected);
	size_t n, used = 0;

	if (!wire || len < wire || !find_region(e))
		return 0;
	for (n = min(len / wire, max_segments(e, f->payload_len)); n; n--) {
		if (kwarp_rx_stopped(e) || region_is_gone(&e->rx) ||
		    !accept_fpdu(e, expected, data + used, wire))
			break;
		account_fpdu(e);
		kwarp_fpdu_rx_taken(f, expected, wire);
		used += wire;
	}
	return used;
}
