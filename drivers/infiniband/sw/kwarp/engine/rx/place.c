// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Context of all functions: socket lock held. */
#include "rx.h"

#include "../../door.h"
#include "../fail.h"

/*
 * The region of the previous segment is tried first, because it is usually the right one. The
 * reference to the region lasts until another STag is looked up or the receive run ends. Return:
 * the region, or NULL; the key byte of the STag is not compared.
 */
struct kwarp_mr *kwarp_rx_mr(struct kwarp_engine *e, u32 stag)
{
	struct kwarp_rx *rx = &e->rx;

	if (rx->mr) {
		if (READ_ONCE(rx->mr->stag) >> 8 == stag >> 8)
			return rx->mr;
		kwarp_mr_put(rx->mr);
	}
	rx->mr = kwarp_mr_lookup(e->kdev, stag);
	return rx->mr;
}

/* Sets rx.region_checked. */
enum kwarp_mem_err kwarp_rx_check_target(struct kwarp_engine *e, u64 addr, int rights)
{
	struct kwarp_rx *rx = &e->rx;
	u32 stag = rx->fpdu.hdr.stag;
	struct kwarp_mr *mr = kwarp_rx_mr(e, stag);
	enum kwarp_mem_err err;

	err = kwarp_mem_check(mr, stag, &e->mem, addr, rx->fpdu.payload_len, rights);
	if (err == KWARP_MEM_OK)
		rx->region_checked = mr->kind < KWARP_MR_FAST;
	return err;
}

/* @data: NULL: the octets are in @skb. @unreadable: octets of @skb cannot be read. */
struct source {
	const u8 *data;
	const struct sk_buff *skb;
	u32 offset;
	bool unreadable;
};

static __always_inline void copy_from(struct source *from, const struct kwarp_mr *mr, u64 addr,
				      u32 len)
{
	if (from->data) {
		kwarp_mr_write(mr, addr, from->data, len);
		from->data += len;
	} else {
		if (!kwarp_mr_write_skb(mr, addr, from->skb, from->offset, len))
			from->unreadable = true;
		from->offset += len;
	}
}

static noinline __cold void refuse_piece(struct kwarp_engine *e, const struct kwarp_mr *mr,
					 u32 stag, u64 addr, int rights, u32 len,
					 enum kwarp_mem_err err)
{
	const struct kwarp_rx *rx = &e->rx;
	const bool tagged = rx->target == KWARP_RXT_TAGGED;
	const struct kwarp_asked asked = {
		.op = rx->target == KWARP_RXT_RECEIVE ? KWARP_REFUSED_RECEIVE :
		      tagged && rx->fpdu.hdr.opcode == KWARP_OP_WRITE ? KWARP_REFUSED_WRITE :
									KWARP_REFUSED_SINK,
		.stag = stag,
		.addr = addr,
		.len = len,
		.rights = rights,
	};

	kwarp_refuse_access(e, &asked, mr, kwarp_why_mem(err),
			    tagged ? KWARP_PERR_DDP_T_STAG : KWARP_PERR_LOCAL);
}

/* kwarp_mr_begin() keeps the region from being revoked between check and copy. */
static enum kwarp_mem_err place_piece(struct kwarp_engine *e, const struct kwarp_mem_stream *stream,
				      u32 stag, u64 addr, int rights, struct source *from, u32 len)
{
	struct kwarp_mr *mr = kwarp_rx_mr(e, stag);
	enum kwarp_mem_err err;

	if (!mr) {
		refuse_piece(e, NULL, stag, addr, rights, len, KWARP_MEM_STAG);
		return KWARP_MEM_STAG;
	}
	kwarp_mr_begin(mr);
	err = kwarp_mem_check(mr, stag, stream, addr, len, rights);
	if (err == KWARP_MEM_OK)
		copy_from(from, mr, addr, len);
	else
		refuse_piece(e, mr, stag, addr, rights, len, err);
	kwarp_mr_end(mr);
	return err;
}

/*
 * The message's length has been checked. Regions of an SRQ's receive belong to the SRQ's protection
 * domain, which may differ from the QP's.
 */
static enum kwarp_perr place_receive(struct kwarp_engine *e, struct source *from, u32 len)
{
	struct kwarp_rx *rx = &e->rx;

	while (len) {
		const struct kwarp_sge *s = &rx->rwqe.sge[rx->sge];
		u32 n = min(len, s->length - rx->sge_off);

		if (n && place_piece(e, e->recv_mem, s->lkey, s->addr + rx->sge_off,
				     IB_ACCESS_LOCAL_WRITE, from, n) != KWARP_MEM_OK) {
			rx->rwqe_status = KWARP_WC_LOC_PROT_ERR;
			return KWARP_PERR_LOCAL;
		}
		rx->sge_off += n;
		len -= n;
		if (rx->sge_off == s->length) {
			rx->sge++;
			rx->sge_off = 0;
		}
	}
	return KWARP_PERR_NONE;
}

static enum kwarp_perr place_small(struct kwarp_engine *e, const u8 *data, u32 len)
{
	struct kwarp_rx *rx = &e->rx;

	/*
	 * kwarp_rdmap_check() has limited the length already; this check guards against errors in
	 * this module.
	 */
	if (len > sizeof(rx->small) - rx->small_have)
		return KWARP_PERR_O_UNSPEC;
	memcpy(rx->small + rx->small_have, data, len);
	rx->small_have += len;
	return KWARP_PERR_NONE;
}

/*
 * Unless rx->region_checked, check the region again: since the header was checked, perhaps in an
 * earlier receive run, the region may have been revoked, and even registered again with fewer
 * rights.
 */
static __always_inline enum kwarp_perr place_tagged(struct kwarp_engine *e, struct source *from,
						    u32 len)
{
	struct kwarp_rx *rx = &e->rx;

	if (likely(rx->region_checked))
		copy_from(from, rx->mr, rx->addr, len);
	else if (place_piece(e, &e->mem, rx->fpdu.hdr.stag, rx->addr, rx->rights, from, len) !=
		 KWARP_MEM_OK)
		return KWARP_PERR_DDP_T_STAG;
	rx->addr += len;
	return KWARP_PERR_NONE;
}

/* @data: the value, in the byte order of this machine. */
enum kwarp_mem_err kwarp_rx_put(struct kwarp_engine *e, u32 stag, u64 addr, const void *data,
				u32 len)
{
	struct source from = { .data = data };

	return place_piece(e, &e->mem, stag, addr, IB_ACCESS_LOCAL_WRITE, &from, len);
}

enum kwarp_perr kwarp_rx_place(struct kwarp_engine *e, const u8 *data, u32 len)
{
	KWARP_DOOR(kwarp_rx_place, e, data, len);
	struct source from = { .data = data };

	switch (e->rx.target) {
	case KWARP_RXT_RECEIVE:
		return place_receive(e, &from, len);
	case KWARP_RXT_TAGGED:
		return place_tagged(e, &from, len);
	case KWARP_RXT_SMALL:
		return place_small(e, data, len);
	default:
		return KWARP_PERR_O_UNSPEC;
	}
}

/* KWARP_PERR_MPA_LOST: octets cannot be read. */
enum kwarp_perr kwarp_rx_place_skb(struct kwarp_engine *e, const struct sk_buff *skb, u32 offset,
				   u32 len)
{
	struct source from = { .skb = skb, .offset = offset };
	enum kwarp_perr err = e->rx.target == KWARP_RXT_TAGGED ? place_tagged(e, &from, len) :
								 place_receive(e, &from, len);

	return unlikely(from.unreadable) ? KWARP_PERR_MPA_LOST : err;
}
