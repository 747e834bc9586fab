// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Rings in user space.
 *
 * From kwarp_mmap_insert() on the mmap entry owns the memory of the ring, and its charge.  The
 * entry is removed when the object (CQ, QP, SRQ) that uses the ring is destroyed, or gets another
 * ring by a resize.  kwarp_mmap() holds a reference on the entry only while it maps.  A mapping in
 * a process holds references on the pages.  The pages are ordinary memory, so a mapping that
 * outlives the object or the device is harmless.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <rdma/siw-abi.h>

#include "../queue/ring.h"
#include "../wq.h"
#include "verbs.h"

#define FIRST_PAGE	((SIW_INVAL_UOBJ_KEY >> PAGE_SHIFT) + 1)

struct ring_map {
	struct rdma_user_mmap_entry entry;
	void *mem;
	struct kwarp_charge charge;
	bool late;			/* free @mem after a grace period */
	struct rcu_work free;
};

static struct ring_map *to_ring_map(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct ring_map, entry);
}

/**
 * kwarp_mmap_insert - let a process map the memory of a ring
 * @ibuc: context of the process
 * @mem: memory from kwarp_ring_memory()
 * @len: octets of @mem
 * @charge: what the user pays for @mem
 * @key: result: offset that the process has to give to mmap()
 *
 * Return: the entry, which now owns the memory and the charge; NULL: out of memory, both still are
 * the caller's.
 */
struct rdma_user_mmap_entry *kwarp_mmap_insert(struct ib_ucontext *ibuc, void *mem, size_t len,
					       struct kwarp_charge *charge, u64 *key)
{
	struct ring_map *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	map->mem = mem;
	/*
	 * Use keys above SIW_INVAL_UOBJ_KEY, which libsiw (the libibverbs provider of siw) takes
	 * for "nothing to map".
	 */
	if (rdma_user_mmap_entry_insert_range(ibuc, &map->entry, len, FIRST_PAGE, U32_MAX)) {
		kfree(map);
		return NULL;
	}
	map->charge = *charge;
	charge->octets = 0;
	*key = rdma_user_mmap_get_offset(&map->entry);
	return &map->entry;
}

/*
 * Let a process map a ring, and the memory after it (@ring->tail octets, where the receive ring of
 * a queue pair lies).  Return: as kwarp_mmap_insert().
 */
struct rdma_user_mmap_entry *kwarp_mmap_ring(struct ib_ucontext *ibuc, struct kwarp_ring *ring,
					     u64 *key)
{
	return kwarp_mmap_insert(ibuc, ring->hdr, ring->len + ring->tail, &ring->charge, key);
}

/* Free a ring that its object does not use any more. @map: the ring's mmap entry, or NULL. */
void kwarp_ring_free(struct kwarp_ring *ring, struct rdma_user_mmap_entry *map)
{
	if (map)
		rdma_user_mmap_entry_remove(map);
	else
		kwarp_ring_fini(ring);
	ring->hdr = NULL;
}

/**
 * kwarp_ring_free_late - free a ring that kwarp_cq_polls() may still be reading
 * @map: mmap entry of the ring
 *
 * The ring cannot be mapped any more; its memory is freed after a grace period, for which the
 * caller does not wait.
 */
void kwarp_ring_free_late(struct rdma_user_mmap_entry *map)
{
	to_ring_map(map)->late = true;
	rdma_user_mmap_entry_remove(map);
}

/*
 * ib_device_ops.mmap: map a ring into the calling process.
 *
 * Children do not inherit the mapping: the provider of a child would publish indices of its own in
 * the ring, and later requests of the parent would not be sent.
 */
int kwarp_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(ibuc, vma);
	int ret;

	/* The process has given an unknown key, or a length that is not the ring's. */
	if (!entry)
		return -EINVAL;
	kwarp_vm_flags_set(vma, VM_DONTCOPY);
	ret = remap_vmalloc_range(vma, to_ring_map(entry)->mem, 0);
	rdma_user_mmap_entry_put(entry);
	return ret;
}

static void free_map(struct ring_map *map)
{
	vfree(map->mem);
	kwarp_uncharge(&map->charge);
	kfree(map);
}

static void free_map_late(struct work_struct *work)
{
	struct ring_map *map = container_of(to_rcu_work(work), struct ring_map, free);
	struct kwarp_account *account = map->charge.account;

	free_map(map);
	if (account)
		kwarp_account_put(account);
}

/*
 * ib_device_ops.mmap_free: the last reference on the entry is gone, so free the ring's memory.
 *
 * Not in an RCU callback: in softirq vfree() puts the memory itself on a list, and a program that
 * still has the memory mapped could write to the list's pointer.
 */
void kwarp_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct ring_map *map = to_ring_map(entry);

	if (map->late) {
		/* The context, which holds the account, may be gone before the ring is. */
		if (map->charge.account)
			kwarp_account_hold(map->charge.account);
		INIT_RCU_WORK(&map->free, free_map_late);
		queue_rcu_work(kwarp_wq, &map->free);
	} else {
		free_map(map);
	}
}
