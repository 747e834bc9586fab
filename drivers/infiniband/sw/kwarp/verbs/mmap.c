// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Rings in user space.
 *
 * The mmap entry owns the ring's memory from kwarp_mmap_insert() on, and goes with the object:
 * mapping takes a reference on it only while it is at work.  A mapping keeps the pages, by
 * references of their own.  They are ordinary memory, so one that outlives its object, or its
 * device, is harmless.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/siw-abi.h>

#include "../queue/ring.h"
#include "verbs.h"

#define FIRST_PAGE	((SIW_INVAL_UOBJ_KEY >> PAGE_SHIFT) + 1)

struct ring_map {
	struct rdma_user_mmap_entry entry;
	void *mem;
};

static struct ring_map *to_ring_map(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct ring_map, entry);
}

/**
 * kwarp_mmap_insert - offer memory to a process
 * @ibuc: its context
 * @mem: of kwarp_ring_memory()
 * @len: octets of it
 * @key: result: offset for mmap()
 *
 * Return: the entry, which now owns the memory; NULL without memory.
 */
struct rdma_user_mmap_entry *kwarp_mmap_insert(struct ib_ucontext *ibuc, void *mem, size_t len,
					       u64 *key)
{
	struct ring_map *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	map->mem = mem;
	/* A key that libsiw takes for no key is none of ours. */
	if (rdma_user_mmap_entry_insert_range(ibuc, &map->entry, len, FIRST_PAGE, U32_MAX)) {
		kfree(map);
		return NULL;
	}
	*key = rdma_user_mmap_get_offset(&map->entry);
	return &map->entry;
}

/* Offer a ring, and what is in its tail. */
struct rdma_user_mmap_entry *kwarp_mmap_ring(struct ib_ucontext *ibuc,
					     const struct kwarp_ring *ring, u64 *key)
{
	return kwarp_mmap_insert(ibuc, ring->hdr, ring->len + ring->tail, key);
}

/* The object that used the ring is gone. */
void kwarp_ring_release_map(struct kwarp_ring *ring, struct rdma_user_mmap_entry *map)
{
	if (map)
		rdma_user_mmap_entry_remove(map);
	else
		kwarp_ring_fini(ring);
	ring->hdr = NULL;
}

/* ib_device_ops.mmap */
int kwarp_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(ibuc, vma);
	int ret;

	/* Unknown key, or a length that is not the ring's. */
	if (!entry)
		return -EINVAL;
	ret = remap_vmalloc_range(vma, to_ring_map(entry)->mem, 0);
	rdma_user_mmap_entry_put(entry);
	return ret;
}

/* ib_device_ops.mmap_free: the last user of the entry is gone. */
void kwarp_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct ring_map *map = to_ring_map(entry);

	vfree(map->mem);
	kfree(map);
}
