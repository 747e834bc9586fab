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
 * struct kwarp_wqe - send work request, private
 * @e: fixed part
 * @sge: scatter/gather list, without KWARP_WR_INLINE
 * @data: payload, with KWARP_WR_INLINE
 * @len: total payload, octets
 */
struct kwarp_wqe {
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

static inline bool kwarp_wqe_is_read(const struct kwarp_wqe *wqe)
{
	return wqe->e.opcode == KWARP_WR_READ || wqe->e.opcode == KWARP_WR_READ_INV;
}

/* Octets per ring entry that hold @sges elements and @inl inline octets. */
u32 kwarp_sqe_stride(u32 sges, u32 inl);
u32 kwarp_rqe_stride(u32 sges);

bool kwarp_wqe_load(struct kwarp_wqe *wqe, const void *slot, u32 stride, bool user);
bool kwarp_rwqe_load(struct kwarp_rwqe *rwqe, const void *slot, u32 stride);

#endif /* KWARP_QUEUE_WQE_H */
