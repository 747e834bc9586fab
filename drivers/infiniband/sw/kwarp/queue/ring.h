/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A ring: a header (rdma/kwarp-abi.h) and entries of fixed size. prod is the producer's index in
 * the header, cons the consumer's.
 *
 * The layout is the same for user space (mapped) and kernel consumers (not mapped). User space can
 * write to the whole ring at any time. So the kernel keeps its own indices, reads prod (cons of a
 * CQ) once and validates the value, and copies an entry before it uses it.
 */
#ifndef KWARP_QUEUE_RING_H
#define KWARP_QUEUE_RING_H

#include <asm/barrier.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <rdma/kwarp-abi.h>

#include "../account.h"

/*
 * Where a ring is; changes only when a CQ or SRQ is resized. @len: octets of header and entries.
 * @tail: octets after this ring, for another ring in the same memory and mapping. @mask: number of
 * entries - 1. @charge: what the user pays for the memory, until an mmap entry owns both
 */
struct kwarp_ring {
	struct kwarp_ring_hdr *hdr;
	u8 *entries;
	size_t len;
	size_t tail;
	u32 mask;
	u32 stride;
	struct kwarp_charge charge;
};

void *kwarp_ring_memory(size_t len, bool user);
u64 kwarp_ring_cost(size_t len);
size_t kwarp_ring_octets(u32 entries, u32 stride);
void kwarp_ring_place(struct kwarp_ring *ring, void *mem, u32 entries, u32 stride);
int kwarp_ring_init(struct kwarp_ring *ring, u32 entries, u32 stride, bool user);
void kwarp_ring_fini(struct kwarp_ring *ring);

static inline u32 kwarp_ring_size(const struct kwarp_ring *ring)
{
	return ring->mask + 1;
}

static inline void *kwarp_ring_slot(const struct kwarp_ring *ring, u32 index)
{
	return ring->entries + (size_t)(index & ring->mask) * ring->stride;
}

/* Return: false if user space has written an impossible index. */
static inline bool kwarp_ring_pending(const struct kwarp_ring *ring, u32 next, u32 *count)
{
	/* Pairs with the poster's release store of prod. */
	*count = smp_load_acquire(&ring->hdr->prod) - next;
	return *count <= ring->mask + 1;
}

static inline void kwarp_ring_release(const struct kwarp_ring *ring, u32 cons)
{
	/* Pairs with the poster's acquire load of cons. */
	smp_store_release(&ring->hdr->cons, cons);
}

static inline void kwarp_ring_set_flags(const struct kwarp_ring *ring, u32 flags)
{
	/*
	 * The kernel writes flags from one context at a time; programs only read them. A poll that
	 * sees KWARP_RING_ERROR also sees the entries before the lost one.
	 */
	smp_store_release(&ring->hdr->flags, flags);
}

#endif /* KWARP_QUEUE_RING_H */
