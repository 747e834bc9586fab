// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Allocates and frees the memory of rings: header and entries, which user space may map. */
#include "ring.h"

#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static_assert(sizeof(struct kwarp_ring_hdr) == KWARP_RING_ENTRIES_OFFSET);
static_assert(offsetof(struct kwarp_ring_hdr, cons) == 64);
static_assert(offsetof(struct kwarp_ring_hdr, flags) == 128);
static_assert(offsetof(struct kwarp_ring_hdr, arm) == 192);
static_assert(KWARP_RING_ENTRIES_OFFSET % L1_CACHE_BYTES == 0);
static_assert(sizeof(struct kwarp_sqe) == 48);
static_assert(sizeof(struct kwarp_rqe) == 16);
static_assert(sizeof(struct kwarp_cqe) == 32);
/* Stored last, after all octets before it. */
static_assert(offsetofend(struct kwarp_cqe, flags) == sizeof(struct kwarp_cqe));

/*
 * Return: whole pages, zeroed, for remap_vmalloc_range() and vfree(). Not vmalloc_user(), which
 * cannot charge the memory cgroup of the current task: with @user the pages are charged; a kernel
 * consumer may allocate while any task is running.
 */
void *kwarp_ring_memory(size_t len, bool user)
{
	const gfp_t gfp = user ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;
	unsigned int n = PAGE_ALIGN(len) >> PAGE_SHIFT, i;
	struct page **pages;
	void *mem;

	pages = kvmalloc_array(n, sizeof(*pages), gfp);
	if (!pages)
		return NULL;
	for (i = 0; i < n; i++) {
		pages[i] = alloc_page(gfp | __GFP_ZERO);
		if (!pages[i])
			goto out_free;
	}
	/* With VM_MAP_PUT_PAGES vfree() frees the pages and the array. */
	mem = vmap(pages, n, VM_MAP | VM_MAP_PUT_PAGES | VM_USERMAP, PAGE_KERNEL);
	if (mem)
		return mem;
out_free:
	while (i--)
		__free_page(pages[i]);
	kvfree(pages);
	return NULL;
}

/* Return: octets that kwarp_ring_memory() allocates: pages, and the list of pages. */
u64 kwarp_ring_cost(size_t len)
{
	return (PAGE_ALIGN(len) >> PAGE_SHIFT) * (PAGE_SIZE + sizeof(struct page *));
}

/* Return: octets, rounded up so that another ring may begin after them; 0: overflow. */
size_t kwarp_ring_octets(u32 entries, u32 stride)
{
	size_t len;

	if (entries > BIT(31))
		return 0;
	entries = roundup_pow_of_two(max(entries, 1U));
	if (check_mul_overflow((size_t)entries, (size_t)stride, &len) ||
	    check_add_overflow(len, (size_t)KWARP_RING_ENTRIES_OFFSET, &len))
		return 0;
	return ALIGN(len, L1_CACHE_BYTES);
}

/* @mem: zeroed, as many octets as kwarp_ring_octets() returns, which is not 0 (overflow). */
void kwarp_ring_place(struct kwarp_ring *ring, void *mem, u32 entries, u32 stride)
{
	ring->hdr = mem;
	ring->entries = (u8 *)mem + KWARP_RING_ENTRIES_OFFSET;
	ring->len = kwarp_ring_octets(entries, stride);
	ring->mask = roundup_pow_of_two(max(entries, 1U)) - 1;
	ring->stride = stride;
}

/**
 * kwarp_ring_init - allocate a ring
 * @ring: uninitialised, except ring->tail, the octets to allocate after this ring for another ring,
 *	and ring->charge.account
 * @entries: number of entries; rounded up to a power of two
 * @stride: octets per entry
 * @user: as for kwarp_ring_memory()
 *
 * Return: 0, -ENOMEM.
 */
int kwarp_ring_init(struct kwarp_ring *ring, u32 entries, u32 stride, bool user)
{
	size_t len = kwarp_ring_octets(entries, stride);
	void *mem;

	if (!len)
		return -ENOMEM;
	if (kwarp_charge(&ring->charge, kwarp_ring_cost(len + ring->tail)))
		return -ENOMEM;
	mem = kwarp_ring_memory(len + ring->tail, user);
	if (!mem) {
		kwarp_uncharge(&ring->charge);
		return -ENOMEM;
	}
	kwarp_ring_place(ring, mem, entries, stride);
	return 0;
}

/* Free a ring that was never mapped to user space, or whose mapping is gone. */
void kwarp_ring_fini(struct kwarp_ring *ring)
{
	vfree(ring->hdr);
	ring->hdr = NULL;
	kwarp_uncharge(&ring->charge);
}
