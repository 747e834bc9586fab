// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fakes for rings and for the RDMA core's mappings: they count what exists, and fail when
 * vt.fault says so.
 */
#include "fakes.h"

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/vmalloc.h>

struct kwarp_account *vt_account_get(void)
{
	vt->accounts++;
	return (struct kwarp_account *)&vt->accounts;
}

void vt_account_hold(struct kwarp_account *account)
{
	vt->accounts++;
}

void vt_account_put(struct kwarp_account *account)
{
	vt->accounts--;
}

int vt_charge(struct kwarp_charge *charge, u64 octets)
{
	if (!charge->account)
		return 0;
	if (vt_is_fault(FAULT_CHARGE))
		return -ENOMEM;
	charge->octets += octets;
	vt->charged += octets;
	return 0;
}

void vt_uncharge(struct kwarp_charge *charge)
{
	vt->charged -= charge->octets;
	charge->octets = 0;
}

void vt_charge_late(const struct kwarp_charge *charge, bool late)
{
	vt->late += late ? 1 : -1;
}

bool vt_charge_can_wait(const struct kwarp_charge *charge, u64 octets)
{
	return vt->late;
}

void vt_pay_ring(struct kwarp_charge *charge, struct kwarp_account *account)
{
	charge->account = account;
	if (account)
		vt->charged += ++charge->octets;
}

int vt_note_ring(int ret, bool user)
{
	if (ret)
		return ret;
	vt->rings++;
	if (user)
		vt->paid++;
	else
		vt->unpaid++;
	return 0;
}

int vt_ring_init(struct kwarp_ring *ring, u32 entries, u32 stride, bool user)
{
	struct kwarp_account *account = ring->charge.account;
	int ret;

	ring->charge.account = NULL;
	ret = vt_note_ring(vt_is_fault(FAULT_RING) ? -ENOMEM :
			   kwarp_ring_init(ring, entries, stride, user), user);
	if (!ret)
		vt_pay_ring(&ring->charge, account);
	return ret;
}

void vt_ring_fini(struct kwarp_ring *ring)
{
	vt->rings -= !!ring->hdr;
	vt_uncharge(&ring->charge);
	kwarp_ring_fini(ring);
}

int vt_sq_init(struct kwarp_sq *sq, u32 entries, u32 stride)
{
	struct kwarp_account *account = sq->ring.charge.account;
	int ret;

	sq->ring.charge.account = NULL;
	ret = vt_note_ring(vt_is_fault(FAULT_RING) ? -ENOMEM :
			   kwarp_sq_init(sq, entries, stride), sq->user);
	if (!ret)
		vt_pay_ring(&sq->ring.charge, account);
	return ret;
}

int vt_rq_init(struct kwarp_rq *rq, u32 entries, u32 stride)
{
	struct kwarp_account *account = rq->ring.charge.account;
	int ret;

	rq->ring.charge.account = NULL;
	ret = vt_note_ring(vt_is_fault(FAULT_RING) ? -ENOMEM :
			   kwarp_rq_init(rq, entries, stride), rq->user);
	if (!ret)
		vt_pay_ring(&rq->ring.charge, account);
	return ret;
}

/* Fake for the vfree() of kwarp_mmap_free(): frees a ring whose mmap entry is gone. */
void vt_vfree(const void *addr)
{
	vt->rings -= !!addr;
	vfree(addr);
}

struct file *vt_getfile(const char *name, const struct file_operations *fops, void *priv, int flags)
{
	return vt_is_fault(FAULT_FILE) ? ERR_PTR(-ENFILE) :
					 anon_inode_getfile(name, fops, priv, flags);
}

/* Fake for queue_rcu_work(): the work item runs at the next vt_grace_period(). */
bool vt_queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *work)
{
	vt_grace_period();
	vt->after_grace = work;
	return true;
}

void vt_grace_period(void)
{
	struct rcu_work *work = vt->after_grace;

	vt->after_grace = NULL;
	if (work)
		work->work.func(&work->work);
}

/* ------------------------------------------------------- the RDMA core's mappings */

int rdma_user_mmap_entry_insert_range(struct ib_ucontext *ibuc, struct rdma_user_mmap_entry *entry,
				      size_t length, u32 min, u32 max)
{
	if (vt_is_fault(FAULT_MAP) || vt->maps == VT_MAPS)
		return -ENOMEM;
	/* A foreign library takes the key 0x90000 for "nothing to map": use only pages after it. */
	if (min <= 0x90000 >> PAGE_SHIFT || max < min)
		return -EINVAL;
	kref_init(&entry->ref);
	entry->ucontext = ibuc;
	entry->start_pgoff = min + 16 * vt->maps++;
	entry->npages = PAGE_ALIGN(length) >> PAGE_SHIFT;
	vt->map[vt->maps - 1] = entry;
	return 0;
}

static void entry_gone(struct kref *kref)
{
	kwarp_mmap_free(container_of(kref, struct rdma_user_mmap_entry, ref));
}

void rdma_user_mmap_entry_put(struct rdma_user_mmap_entry *entry)
{
	kref_put(&entry->ref, entry_gone);
}

void rdma_user_mmap_entry_remove(struct rdma_user_mmap_entry *entry)
{
	u32 i = 0;

	while (vt->map[i] != entry)
		i++;
	vt->map[i] = NULL;
	rdma_user_mmap_entry_put(entry);
}

struct rdma_user_mmap_entry *rdma_user_mmap_entry_get(struct ib_ucontext *ibuc,
						      struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int i;

	for (i = 0; i < VT_MAPS; i++) {
		entry = vt->map[i];
		if (!entry || entry->ucontext != ibuc || entry->start_pgoff != vma->vm_pgoff ||
		    entry->npages != vma_pages(vma))
			continue;
		kref_get(&entry->ref);
		return entry;
	}
	return NULL;
}

/* Like the real function, but there is no earlier file. */
void vt_set_file(struct vm_area_struct *vma, struct file *file)
{
	vma->vm_file = get_file(file);
}

void vt_unmap(void)
{
	if (vt->mapping)
		__fput_sync(vt->mapping);
	vt->mapping = NULL;
}

int vt_remap(struct vm_area_struct *vma, void *addr, unsigned long pgoff)
{
	/* A child must not inherit the mapping. */
	vt->mapped = pgoff || !(vma->vm_flags & VM_DONTCOPY) ? NULL : addr;
	return 0;
}

/* The mapping stays until vt_unmap(), or the next call. */
int vt_mmap(struct kwarp_ucontext *uc, u64 offset, size_t len)
{
	struct vm_area_struct vma = {
		.vm_start = 0x10000,
		.vm_end = 0x10000 + PAGE_ALIGN(len),
		.vm_pgoff = offset >> PAGE_SHIFT,
	};
	int ret;

	vt_unmap();
	vt->mapped = NULL;
	ret = kwarp_mmap(&uc->ibuc, &vma);
	vt->mapping = vma.vm_file;
	return ret;
}

void vt_expect_map(struct kunit *test, u64 offset, u32 len)
{
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, offset, len), 0);
	KUNIT_EXPECT_NOT_NULL(test, vt->mapped);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, offset, len + PAGE_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, offset, len - PAGE_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, offset + PAGE_SIZE, len), -EINVAL);
	/* 5042-3-1: another process cannot map the ring. */
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->other, offset, len), -EINVAL);
	KUNIT_EXPECT_NULL(test, vt->mapped);
}
