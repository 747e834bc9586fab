/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Atomic operations (RFC 7306 section 5): headers, and the new value that an operation computes. */
#ifndef KWARP_PROTO_ATOMIC_H
#define KWARP_PROTO_ATOMIC_H

#include "wire.h"

/**
 * struct kwarp_atomic_req - Atomic Request header in host order (RFC 7306 section 5.2.1)
 * @op: KWARP_ATOMIC_*, or a code that RFC 7306 does not assign
 * @id: Request Identifier, repeated in the response
 * @stag: STag of the responder's buffer
 * @to: tagged offset of the eight octets in that buffer
 * @data: FetchAdd: value to add; CmpSwap: value to store
 * @mask: FetchAdd: each set bit is the highest bit of a field; CmpSwap: bits of @data to store
 * @compare: CmpSwap: value to compare with
 * @compare_mask: CmpSwap: bits to compare
 */
struct kwarp_atomic_req {
	u64 to;
	u64 data;
	u64 mask;
	u64 compare;
	u64 compare_mask;
	u32 id;
	u32 stag;
	u8 op;
};

/* @value: the eight octets before the operation */
struct kwarp_atomic_resp {
	u32 id;
	u64 value;
};

/* Reserved bits are sent as zero, and ignored when received (7306-5.2.1-1, -2). */
void kwarp_atomic_req_decode(const u8 in[KWARP_ATOMIC_REQ_LEN], struct kwarp_atomic_req *req);
void kwarp_atomic_req_encode(u8 out[KWARP_ATOMIC_REQ_LEN], const struct kwarp_atomic_req *req);
void kwarp_atomic_resp_decode(const u8 in[KWARP_ATOMIC_RESP_LEN],
			      struct kwarp_atomic_resp *resp);
void kwarp_atomic_resp_encode(u8 out[KWARP_ATOMIC_RESP_LEN],
			      const struct kwarp_atomic_resp *resp);

/* 7306-5.2.1-3, -12: is the operation code FetchAdd or CmpSwap? */
static inline bool kwarp_atomic_op_known(u8 op)
{
	return op == KWARP_ATOMIC_FETCH_ADD || op == KWARP_ATOMIC_CMP_SWAP;
}

/*
 * @old: current value, in the byte order of this machine. Return: equal to @old if the operation
 * changes nothing.
 */
u64 kwarp_atomic_result(const struct kwarp_atomic_req *req, u64 old);

#endif /* KWARP_PROTO_ATOMIC_H */
