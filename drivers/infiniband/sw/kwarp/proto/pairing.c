// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Wired queue pairs: who connects, and who is the right peer. Pure functions, any context. */
#include "pairing.h"

int kwarp_pair_order(const struct kwarp_pair *pair)
{
	int order = memcmp(pair->addr, pair->peer_addr, sizeof(pair->addr));

	if (order)
		return order;
	return pair->own.qpn == pair->own.peer_qpn ? 0 :
	       pair->own.qpn < pair->own.peer_qpn ? -1 : 1;
}

u32 kwarp_pair_encode(u8 *buf, const struct kwarp_pair_msg *msg)
{
	struct kwarp_wire_pair *wire = (void *)buf;

	memset(wire, 0, sizeof(*wire));
	put_unaligned_be32(KWARP_PAIR_MAGIC, &wire->magic);
	wire->version = KWARP_PAIR_VERSION;
	wire->flags = msg->sends ? KWARP_PAIR_SENDS : 0;
	wire->rnr_retry = msg->rnr_retry;
	put_unaligned_be32(msg->features, &wire->features);
	put_unaligned_be32(msg->qpn, &wire->qpn);
	put_unaligned_be32(msg->peer_qpn, &wire->peer_qpn);
	put_unaligned_be32(msg->sends ? msg->sq_psn : 0, &wire->sq_psn);
	put_unaligned_be32(msg->rq_psn, &wire->rq_psn);
	return sizeof(*wire);
}

/* A later version may append fields, and use flags that are ignored here. */
bool kwarp_pair_decode(const u8 *buf, u32 len, struct kwarp_pair_msg *msg)
{
	const struct kwarp_wire_pair *wire = (const void *)buf;

	if (len < sizeof(*wire) || get_unaligned_be32(&wire->magic) != KWARP_PAIR_MAGIC ||
	    wire->version != KWARP_PAIR_VERSION)
		return false;
	msg->sends = wire->flags & KWARP_PAIR_SENDS;
	msg->rnr_retry = wire->rnr_retry;
	msg->features = get_unaligned_be32(&wire->features);
	msg->qpn = get_unaligned_be32(&wire->qpn);
	msg->peer_qpn = get_unaligned_be32(&wire->peer_qpn);
	msg->sq_psn = get_unaligned_be32(&wire->sq_psn);
	msg->rq_psn = get_unaligned_be32(&wire->rq_psn);
	return true;
}

bool kwarp_pair_match(const struct kwarp_pair *pair, const struct kwarp_pair_msg *msg)
{
	const struct kwarp_pair_msg *own = &pair->own;

	if (msg->qpn != own->peer_qpn || msg->peer_qpn != own->qpn)
		return false;
	if (own->sends && msg->rq_psn != own->sq_psn)
		return false;
	if (msg->sends && msg->sq_psn != own->rq_psn)
		return false;
	return own->sends || msg->sends;
}
