/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private copies of queue entries: copied once from shared memory, then validated,
 * and only then looked at by anything else.
 */
#ifndef KWARP_QUEUE_WQE_H
#define KWARP_QUEUE_WQE_H

#include "../limits.h"
#include "ring.h"

/**
 * struct kwarp_wr_rule - what a send work request of one opcode may have, and what it does
 * @user: user space may post it
 * @kernel: kernel consumers may, as @ib_wr
 * @inlined: its payload may be inline
 * @remote: it names remote memory: raddr, rkey
 * @inv: it invalidates an STag: inv_stag or, a Read, that of its sink
 * @imm: Immediate Data follows its payload
 * @atomic: it is an atomic operation
 * @awaits: it completes with the peer's response: a Read or an atomic operation
 * @rfc7306: it needs that RFC
 * @local: it touches no wire
 * @max_sge: most elements
 * @op: what carries its payload: enum kwarp_rdmap_op, without and with KWARP_WR_SOLICITED;
 *	with @imm: what carries the Immediate Data
 * @ib_wr: enum ib_wr_opcode
 * @ib_wc: enum ib_wc_opcode
 */
struct kwarp_wr_rule {
	bool user;
	bool kernel;
	bool inlined;
	bool remote;
	bool inv;
	bool imm;
	bool atomic;
	bool awaits;
	bool rfc7306;
	bool local;
	u8 max_sge;
	u8 op[2];
	u8 ib_wr;
	u8 ib_wc;
};

/**
 * struct kwarp_wqe - send work request, private
 * @rule: that of its opcode
 * @e: fixed part
 * @sge: scatter/gather list, without KWARP_WR_INLINE
 * @data: payload, with KWARP_WR_INLINE
 * @len: total payload, octets
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

/**
 * struct kwarp_rwqe - receive work request, private
 * @id: wr_id
 * @num_sge: elements
 * @len: room, octets
 * @sge: scatter list
 */
struct kwarp_rwqe {
	u64 id;
	u32 num_sge;
	u32 len;
	struct kwarp_sge sge[KWARP_MAX_SGE];
};

/* Nobody may post what is no opcode; it completes as a Send. */
const struct kwarp_wr_rule *kwarp_wr_rule(u8 opcode);

/* Octets per ring entry that hold @sges elements and @inl inline octets. */
u32 kwarp_sqe_stride(u32 sges, u32 inl);
u32 kwarp_rqe_stride(u32 sges);

bool kwarp_wqe_load(struct kwarp_wqe *wqe, const void *slot, u32 stride, bool user);
bool kwarp_rwqe_load(struct kwarp_rwqe *rwqe, const void *slot, u32 stride);

#endif /* KWARP_QUEUE_WQE_H */
