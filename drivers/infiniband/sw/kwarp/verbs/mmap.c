// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Rings in user space.
 *
 * From kwarp_mmap_insert() on a file owns the memory of the ring, and its charge: a process cannot
 * open the file, but each of its mappings holds a reference.  So the user pays for the memory until
 * the last mapping is gone, which may outlive the object, the context and the device.
 *
 * The mmap entry holds a reference, too.  It is removed when the object (CQ, QP, SRQ) that uses the
 * ring is destroyed, or gets another ring by a resize.  kwarp_mmap() holds a reference on the entry
 * only while it maps.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "../queue/ring.h"
#include "../wq.h"
#include "verbs.h"

/* Small keys are not used: another user library may take one for "nothing to map". */
#define FIRST_PAGE	(KWARP_MMAP_FIRST >> PAGE_SHIFT)

/* @file: frees the struct when its last reference is dropped, long after @entry may be gone */
struct ring_map {
	struct rdma_user_mmap_entry entry;
	struct file *file;
	void *mem;
	struct kwarp_charge charge;
	bool late;			/* drop @entry's reference on @file after a grace period */
	struct rcu_work free;
};

static struct ring_map *to_ring_map(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct ring_map, entry);
}

static int free_map(struct inode *inode, struct file *file)
{
	struct ring_map *map = file->private_data;
	struct kwarp_account *account = map->charge.account;

	vfree(map->mem);
	kwarp_uncharge(&map->charge);
	kfree(map);
	if (account)
		kwarp_account_put(account);
	return 0;
}

/* With the owner, a mapping keeps the module loaded. */
static const struct file_operations ring_fops = {
	.owner = THIS_MODULE,
	.release = free_map,
};

/* In place of the RDMA core's functions, which expect a file of the core. */
static const struct vm_operations_struct ring_vm_ops = {};

static struct ring_map *new_map(void)
{
	struct ring_map *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	map->file = anon_inode_getfile("[kwarp_ring]", &ring_fops, map, O_RDWR);
	if (!IS_ERR(map->file))
		return map;
	kfree(map);
	return NULL;
}

/* In a kernel thread fput() frees later, and the module could not be unloaded until then. */
static void put_map(struct ring_map *map)
{
	if (current->flags & PF_KTHREAD)
		__fput_sync(map->file);
	else
		fput(map->file);
}

/*
 * Return: the entry, which now owns the memory and the charge; NULL: out of memory, both still are
 * the caller's.
 */
struct rdma_user_mmap_entry *kwarp_mmap_insert(struct ib_ucontext *ibuc, void *mem, size_t len,
					       struct kwarp_charge *charge, u64 *key)
{
	struct ring_map *map = new_map();

	if (!map)
		return NULL;
	map->mem = mem;
	if (rdma_user_mmap_entry_insert_range(ibuc, &map->entry, len, FIRST_PAGE, U32_MAX)) {
		map->mem = NULL;
		put_map(map);
		return NULL;
	}
	map->charge = *charge;
	charge->octets = 0;
	/* The context, which holds the account, may be gone before the ring is. */
	if (map->charge.account)
		kwarp_account_hold(map->charge.account);
	*key = rdma_user_mmap_get_offset(&map->entry);
	return &map->entry;
}

struct rdma_user_mmap_entry *kwarp_mmap_ring(struct ib_ucontext *ibuc, struct kwarp_ring *ring,
					     u64 *key)
{
	return kwarp_mmap_insert(ibuc, ring->hdr, ring->len + ring->tail, &ring->charge, key);
}

void kwarp_ring_free(struct kwarp_ring *ring, struct rdma_user_mmap_entry *map)
{
	if (map)
		rdma_user_mmap_entry_remove(map);
	else
		kwarp_ring_fini(ring);
	ring->hdr = NULL;
}

/*
 * The ring cannot be mapped any more; its memory is freed after a grace period, for which the
 * caller does not wait.
 */
void kwarp_ring_free_late(struct rdma_user_mmap_entry *map)
{
	to_ring_map(map)->late = true;
	kwarp_charge_late(&to_ring_map(map)->charge, true);
	rdma_user_mmap_entry_remove(map);
}

/*
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
	vm_flags_set(vma, VM_DONTCOPY);
	vma_set_file(vma, to_ring_map(entry)->file);
	vma->vm_ops = &ring_vm_ops;
	ret = remap_vmalloc_range(vma, to_ring_map(entry)->mem, 0);
	rdma_user_mmap_entry_put(entry);
	return ret;
}

static void put_map_late(struct work_struct *work)
{
	struct ring_map *map = container_of(to_rcu_work(work), struct ring_map, free);
	const struct kwarp_charge charge = map->charge;

	if (charge.account)
		kwarp_account_hold(charge.account);
	put_map(map);
	/* Not before: a resize that has no memory knows by this that waiting helps. */
	kwarp_charge_late(&charge, false);
	if (charge.account)
		kwarp_account_put(charge.account);
}

/*
 * Not in an RCU callback: in softirq vfree() puts the memory itself on a list, and a program that
 * still has the memory mapped could write to the list's pointer.
 */
void kwarp_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct ring_map *map = to_ring_map(entry);

	if (map->late) {
		INIT_RCU_WORK(&map->free, put_map_late);
		queue_rcu_work(kwarp_wq, &map->free);
	} else {
		put_map(map);
	}
}
