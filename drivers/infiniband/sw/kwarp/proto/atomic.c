// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Atomic operations (RFC 7306 section 5). Pure functions, any context. */
#include "atomic.h"

void kwarp_atomic_req_decode(const u8 in[KWARP_ATOMIC_REQ_LEN], struct kwarp_atomic_req *req)
{
	const struct kwarp_wire_atomic_req *wire = (const void *)in;

	req->op = get_unaligned_be32(&wire->op) & KWARP_ATOMIC_OP;
	req->id = get_unaligned_be32(&wire->id);
	req->stag = get_unaligned_be32(&wire->stag);
	req->to = get_unaligned_be64(&wire->to);
	req->data = get_unaligned_be64(&wire->data);
	req->mask = get_unaligned_be64(&wire->mask);
	req->compare = get_unaligned_be64(&wire->compare);
	req->compare_mask = get_unaligned_be64(&wire->compare_mask);
}

void kwarp_atomic_req_encode(u8 out[KWARP_ATOMIC_REQ_LEN], const struct kwarp_atomic_req *req)
{
	struct kwarp_wire_atomic_req *wire = (void *)out;

	put_unaligned_be32(req->op, &wire->op);
	put_unaligned_be32(req->id, &wire->id);
	put_unaligned_be32(req->stag, &wire->stag);
	put_unaligned_be64(req->to, &wire->to);
	put_unaligned_be64(req->data, &wire->data);
	put_unaligned_be64(req->mask, &wire->mask);
	put_unaligned_be64(req->compare, &wire->compare);
	put_unaligned_be64(req->compare_mask, &wire->compare_mask);
}

void kwarp_atomic_resp_decode(const u8 in[KWARP_ATOMIC_RESP_LEN],
			      struct kwarp_atomic_resp *resp)
{
	const struct kwarp_wire_atomic_resp *wire = (const void *)in;

	resp->id = get_unaligned_be32(&wire->id);
	resp->value = get_unaligned_be64(&wire->value);
}

/* Encode an Atomic Response header: 7306-5.2.2-1 */
void kwarp_atomic_resp_encode(u8 out[KWARP_ATOMIC_RESP_LEN],
			      const struct kwarp_atomic_resp *resp)
{
	struct kwarp_wire_atomic_resp *wire = (void *)out;

	put_unaligned_be32(resp->id, &wire->id);
	put_unaligned_be64(resp->value, &wire->value);
}

/*
 * 7306-5.1.1-1, -6: add two values that consist of separate fields; a set bit of @mask marks the
 * highest bit of a field.  The sum of the values without these highest bits has no carry from one
 * field to the next.  Then the highest bits are added without a carry, which is an exclusive or.
 */
static u64 masked_sum(u64 old, u64 add, u64 mask)
{
	return ((old & ~mask) + (add & ~mask)) ^ ((old ^ add) & mask);
}

u64 kwarp_atomic_result(const struct kwarp_atomic_req *req, u64 old)
{
	if (req->op == KWARP_ATOMIC_FETCH_ADD)
		return masked_sum(old, req->data, req->mask);
	/* CmpSwap; nothing is swapped if a compared bit differs: 7306-5.1.2-1, -2 */
	if ((old ^ req->compare) & req->compare_mask)
		return old;
	return (old & ~req->mask) | (req->data & req->mask);
}
