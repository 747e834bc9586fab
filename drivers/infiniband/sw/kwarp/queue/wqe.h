/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private copies of queue entries. An entry is copied once from shared memory, and the copy is
 * validated; all other code uses only the copies.
 */
#ifndef KWARP_QUEUE_WQE_H
#define KWARP_QUEUE_WQE_H

#include "../limits.h"
#include "ring.h"

/*
 * struct kwarp_wr_rule - the rule for send work requests with one opcode
 * @remote: the request is a Write or Read, which names remote memory in raddr and rkey; an atomic
 *	operation does so, too, but has @atomic instead
 * @inv: the request invalidates an STag: a Send the STag inv_stag at the peer; Local Invalidate the
 *	STag inv_stag; a Read the STag of its sink, which is this end's
 * @imm: Immediate Data follows the payload
 * @awaits: the request completes when the peer's response has come: a Read or an atomic operation
 * @send_imm: a Send with immediate data, only between wired queue pairs
 * @rfc7306: the request may be posted only if RFC 7306 is in force for the queue pair
 * @op: RDMAP message (enum kwarp_rdmap_op) that carries the payload, or, if @imm is set, the
 *	Immediate Data: op[0] without KWARP_WR_SOLICITED, op[1] with it; unused if @awaits or @local
 */
struct kwarp_wr_rule {
	bool user;
	bool kernel;
	bool inlined;
	bool remote;
	bool inv;
	bool imm;
	bool send_imm;
	bool atomic;
	bool awaits;
	bool rfc7306;
	bool local;
	u8 max_sge;
	u8 op[2];
	u8 ib_wr;
	u8 ib_wc;
};

/*
 * @sge: scatter/gather list, if e.flags has no KWARP_WR_INLINE; else the payload is in @data. @len:
 * octets in the elements of @sge, or in @data.
 */
struct kwarp_wqe {
	const struct kwarp_wr_rule *rule;
	struct kwarp_sqe e;
	union {
		struct kwarp_sge sge[KWARP_MAX_SGE];
		u8 data[KWARP_MAX_INLINE];
	};
	u32 len;
};

struct kwarp_rwqe {
	u64 id;
	u32 num_sge;
	u32 len;
	struct kwarp_sge sge[KWARP_MAX_SGE];
};

/*
 * An unknown opcode has a rule, too: no consumer may post such a request, and it completes as a
 * Send.
 */
const struct kwarp_wr_rule *kwarp_wr_rule(u8 opcode);

/*
 * Return: octets of a ring entry that has room for @sges elements and, in a send ring, for @inl
 * inline octets instead; a power of two.
 */
u32 kwarp_sqe_stride(u32 sges, u32 inl);
u32 kwarp_rqe_stride(u32 sges);

bool kwarp_wqe_load(struct kwarp_wqe *wqe, const void *slot, u32 stride, bool user);
bool kwarp_rwqe_load(struct kwarp_rwqe *rwqe, const void *slot, u32 stride);

#endif /* KWARP_QUEUE_WQE_H */
