/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Atomic operations (RFC 7306 section 5): headers, and what an operation makes of a value.
 */
#ifndef KWARP_PROTO_ATOMIC_H
#define KWARP_PROTO_ATOMIC_H

#include "wire.h"

/**
 * struct kwarp_atomic_req - Atomic Request header in host order (RFC 7306 section 5.2.1)
 * @op: KWARP_ATOMIC_*, or a code that nobody has assigned
 * @id: Request Identifier, mirrored in the response
 * @stag: STag of the answering side's buffer
 * @to: tagged offset of the eight octets there
 * @data: FetchAdd: what is added; CmpSwap: what is stored
 * @mask: FetchAdd: each bit that is set is the highest of a field; CmpSwap: bits that are stored
 * @compare: CmpSwap: what has to be there
 * @compare_mask: CmpSwap: bits of it that count
 */
struct kwarp_atomic_req {
	u8 op;
	u32 id;
	u32 stag;
	u64 to;
	u64 data;
	u64 mask;
	u64 compare;
	u64 compare_mask;
};

/**
 * struct kwarp_atomic_resp - Atomic Response header in host order (RFC 7306 section 5.2.2)
 * @id: Request Identifier of the request
 * @value: what was there before the operation
 */
struct kwarp_atomic_resp {
	u32 id;
	u64 value;
};

/* Codecs.  Reserved bits are sent as zero and not looked at (7306-5.2.1-1, -2).  Context: any. */
void kwarp_atomic_req_decode(const u8 in[KWARP_ATOMIC_REQ_LEN], struct kwarp_atomic_req *req);
void kwarp_atomic_req_encode(u8 out[KWARP_ATOMIC_REQ_LEN], const struct kwarp_atomic_req *req);
void kwarp_atomic_resp_decode(const u8 in[KWARP_ATOMIC_RESP_LEN],
			      struct kwarp_atomic_resp *resp);
void kwarp_atomic_resp_encode(u8 out[KWARP_ATOMIC_RESP_LEN],
			      const struct kwarp_atomic_resp *resp);

/* 7306-5.2.1-3, -12: the operations that there are. */
static inline bool kwarp_atomic_op_known(u8 op)
{
	return op == KWARP_ATOMIC_FETCH_ADD || op == KWARP_ATOMIC_CMP_SWAP;
}

/**
 * kwarp_atomic_result - what an operation makes of a value
 * @req: the operation, of a known code
 * @old: what is there, in the byte order of this machine
 *
 * Context: any.
 * Return: what has to be there afterwards; @old itself if that is to stay.
 */
u64 kwarp_atomic_result(const struct kwarp_atomic_req *req, u64 old);

#endif /* KWARP_PROTO_ATOMIC_H */
