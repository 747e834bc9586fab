// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "mr.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_umem.h>

#include "../kwarp.h"

/*
 * After a re-registration the old region may still be in use for a moment. So the old and the new
 * region each hold a reference, and the last one to go releases the pages.
 */
struct kwarp_backing {
	refcount_t users;
	struct ib_umem *umem;
	struct kwarp_dmabuf *dmabuf;
};

static struct kwarp_backing *backing_new(struct ib_umem *umem, struct kwarp_dmabuf *dmabuf)
{
	struct kwarp_backing *b = kzalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);

	if (!b)
		return NULL;
	refcount_set(&b->users, 1);
	b->umem = umem;
	b->dmabuf = dmabuf;
	return b;
}

/*
 * Drop a reference after an error, without releasing the pages: the caller of the create function
 * still owns them.
 */
static void backing_drop(struct kwarp_backing *b)
{
	if (b && refcount_dec_and_test(&b->users))
		kfree(b);
}

static void backing_put(struct kwarp_backing *b)
{
	if (!b || !refcount_dec_and_test(&b->users))
		return;
	if (b->umem)
		ib_umem_release(b->umem);
	if (b->dmabuf)
		kwarp_dmabuf_put(b->dmabuf);
	kfree(b);
}

/*
 * The memory of a program's region is charged to the program's memory cgroup and to the account of
 * its user; that of a kernel consumer's region is not charged.
 */
static struct kwarp_mr *mr_new(struct ib_pd *pd, enum kwarp_mr_kind kind,
			       u32 max_chunks)
{
	gfp_t gfp = pd->uobject ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;
	struct kwarp_mr *mr = kzalloc(sizeof(*mr), gfp);

	if (!mr)
		return NULL;
	mr->charge.account = pd->uobject ? to_kpd(pd)->charge.account : NULL;
	if (kwarp_charge(&mr->charge, KWARP_OBJECT_MEMORY + kmalloc_size_roundup(sizeof(*mr)) +
				      (u64)max_chunks * sizeof(*mr->chunk)))
		goto out_free;
	if (max_chunks) {
		/*
		 * No warning if this fails: a program may ask for a list that is too large for the
		 * machine.
		 */
		mr->chunk = kvcalloc(max_chunks, sizeof(*mr->chunk), gfp | __GFP_NOWARN);
		if (!mr->chunk)
			goto out_free;
	}
	refcount_set(&mr->refs, 1);
	init_completion(&mr->idle);
	rwlock_init(&mr->lock);
	INIT_LIST_HEAD(&mr->bound);
	mr->kind = kind;
	mr->pd = pd;
	mr->max_chunks = max_chunks;
	mr->shift = PAGE_SHIFT;
	return mr;

out_free:
	kwarp_uncharge(&mr->charge);
	kfree(mr);
	return NULL;
}

static void mr_free(struct kwarp_mr *mr)
{
	kwarp_uncharge(&mr->charge);
	kvfree(mr->next.chunk);
	kvfree(mr->next.before);
	kvfree(mr->before);
	/* A window has no list of its own: its @chunk points into the list of its region. */
	if (mr->kind != KWARP_MR_WINDOW)
		kvfree(mr->chunk);
	kfree_rcu(mr, rcu);
}

/* On failure @mr is freed. */
static struct kwarp_mr *mr_register(struct kwarp_dev *kdev, struct kwarp_mr *mr)
{
	int ret = kwarp_stag_alloc(kdev, mr, get_random_u8());

	if (ret) {
		mr_free(mr);
		return ERR_PTR(ret);
	}
	kwarp_stag_publish(kdev, mr);
	return mr;
}

/* log2 of the largest piece: kwarp_mr.offset, which has 32 bits, has to hold an offset in it. */
#define MAX_SHIFT	30

/*
 * Larger pieces need fewer pointers. A piece is aligned to its size in physical memory and in the
 * address space of the process. It need not be aligned in the addresses of the region (iova). The
 * region may begin and end inside a piece.
 */
static u8 best_shift(struct ib_umem *umem)
{
	unsigned long size = ib_umem_find_best_pgsz(umem, GENMASK(MAX_SHIFT, PAGE_SHIFT),
						    umem->address);

	return size ? ilog2(size) : PAGE_SHIFT;
}

static u32 user_offset(const struct ib_umem *umem, u8 shift)
{
	return umem->address & ((1UL << shift) - 1);
}

static void user_chunks(struct kwarp_mr *mr)
{
	u64 pos = round_down(mr->offset, PAGE_SIZE), in;
	struct sg_page_iter it;

	for_each_sgtable_page(&mr->backing->umem->sgt_append.sgt, &it, 0) {
		in = pos & ((1ULL << mr->shift) - 1);
		if (pos >> mr->shift == mr->nchunks)
			mr->chunk[mr->nchunks++] = page_address(sg_page_iter_page(&it)) - in;
		pos += PAGE_SIZE;
		/* There can be 2^28 pages: let other tasks run. */
		cond_resched();
	}
}

/* Limit the list of pointers to less than 2 GiB: kvmalloc() warns about larger allocations. */
#define MAX_CHUNKS	(INT_MAX / sizeof(u8 *))

/*
 * Allocate a region of user space, which takes over the caller's reference on @b. On failure that
 * reference is dropped.
 */
static struct kwarp_mr *user_new(struct ib_pd *pd, u64 chunks, struct kwarp_backing *b,
				 int access)
{
	struct kwarp_mr *mr = NULL;

	if (b && chunks <= MAX_CHUNKS)
		mr = mr_new(pd, KWARP_MR_USER, chunks);
	if (!mr) {
		backing_drop(b);
		return NULL;
	}
	mr->backing = b;
	mr->access = access;
	return mr;
}

/*
 * The caller has filled the region's list of pieces. On failure the region is freed, and its
 * reference on the struct kwarp_backing is dropped.
 */
static struct kwarp_mr *user_register(struct kwarp_dev *kdev, struct kwarp_mr *mr, u64 iova,
				      u64 length)
{
	struct kwarp_backing *b = mr->backing;

	mr->va = iova;
	mr->length = length;
	/* The RDMA core sets these two fields only for some of the verbs that make a region. */
	mr->ibmr.iova = iova;
	mr->ibmr.length = length;
	mr = mr_register(kdev, mr);
	if (IS_ERR(mr))
		backing_drop(b);
	return mr;
}

/*
 * Context: process, may sleep. @umem is owned by the region on success. Return: the region, to be
 * opened by kwarp_mr_open(), or an ERR_PTR.
 */
struct kwarp_mr *kwarp_mr_create_user(struct kwarp_dev *kdev, struct ib_pd *pd,
				      struct ib_umem *umem, u64 iova, int access)
{
	u8 shift = best_shift(umem);
	u64 last = (user_offset(umem, shift) + (u64)umem->length - 1) >> shift;
	struct kwarp_mr *mr = user_new(pd, last + 1, backing_new(umem, NULL), access);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->shift = shift;
	mr->offset = user_offset(umem, shift);
	user_chunks(mr);
	return user_register(kdev, mr, iova, umem->length);
}

/* Like kwarp_mr_create_user(), for a dma-buf; @d is owned by the region on success. */
struct kwarp_mr *kwarp_mr_create_dmabuf(struct kwarp_dev *kdev, struct ib_pd *pd,
					struct kwarp_dmabuf *d,
					const struct kwarp_mr_place *place, int access)
{
	u64 chunks = kwarp_dmabuf_count(place->length);
	struct kwarp_mr *mr = user_new(pd, chunks, backing_new(NULL, d), access);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	kwarp_dmabuf_pieces(d, place->offset, mr);
	return user_register(kdev, mr, place->iova, place->length);
}

/* In steps with cond_resched(), because the list may be long. */
static void copy_chunks(struct kwarp_mr *mr, const struct kwarp_mr *old)
{
	const u32 most = 1 << 17;
	u32 n;

	for (; mr->nchunks < old->nchunks; mr->nchunks += n) {
		n = min(old->nchunks - mr->nchunks, most);
		memcpy(mr->chunk + mr->nchunks, old->chunk + mr->nchunks, n * sizeof(*mr->chunk));
		cond_resched();
	}
}

/*
 * Context: process, may sleep. The caller keeps @old, a KWARP_MR_USER, from being destroyed during
 * the call.
 */
struct kwarp_mr *kwarp_mr_create_same(struct kwarp_dev *kdev, struct ib_pd *pd,
				      const struct kwarp_mr *old, int access)
{
	struct kwarp_mr *mr;

	refcount_inc(&old->backing->users);
	mr = user_new(pd, old->nchunks, old->backing, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->shift = old->shift;
	mr->offset = old->offset;
	copy_chunks(mr, old);
	return user_register(kdev, mr, old->va, old->length);
}

/* Context: any; once per region, and not at the same time as its destruction. */
void kwarp_mr_open(struct kwarp_mr *mr)
{
	/* WRITE_ONCE: kwarp_mem_check() reads @valid without a lock. */
	WRITE_ONCE(mr->valid, true);
}

/* NULL if the region is over a dma-buf. */
const struct ib_umem *kwarp_mr_umem(const struct kwarp_mr *mr)
{
	return mr->backing->umem;
}

bool kwarp_mr_is_writable(const struct kwarp_mr *mr)
{
	const struct kwarp_backing *b = mr->backing;

	return b->umem ? b->umem->writable : kwarp_dmabuf_is_writable(b->dmabuf);
}

/*
 * Allocate the second list of a fast-register region, which is filled while the first list is in
 * use, and with @gaps also the list @before that goes with each of the two.
 */
static bool fast_lists(struct kwarp_mr *mr, bool gaps)
{
	u32 n = mr->max_chunks;

	mr->next.chunk = kvcalloc(n, sizeof(*mr->chunk), GFP_KERNEL);
	if (!mr->next.chunk || !gaps)
		return mr->next.chunk;
	mr->before = kvcalloc(n, sizeof(*mr->before), GFP_KERNEL);
	mr->next.before = kvcalloc(n, sizeof(*mr->before), GFP_KERNEL);
	return mr->before && mr->next.before;
}

/*
 * The region is not valid yet. @max_chunks: pages, or with @gaps pieces of any size, which begin
 * and end anywhere (IB_MR_TYPE_SG_GAPS).
 */
struct kwarp_mr *kwarp_mr_create_fast(struct kwarp_dev *kdev, struct ib_pd *pd,
				      u32 max_chunks, bool gaps)
{
	struct kwarp_mr *mr;

	if (!max_chunks || max_chunks > KWARP_MAX_FRMR_PAGES)
		return ERR_PTR(-EINVAL);
	mr = mr_new(pd, KWARP_MR_FAST, max_chunks);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	if (!fast_lists(mr, gaps)) {
		mr_free(mr);
		return ERR_PTR(-ENOMEM);
	}
	return mr_register(kdev, mr);
}

/*
 * Some consumers can be configured to give peers access to all of it (IB_PD_UNSAFE_GLOBAL_RKEY):
 * that is refused, because the peers of an iWARP device may be anywhere in the network.
 */
struct kwarp_mr *kwarp_mr_create_dma(struct kwarp_dev *kdev, struct ib_pd *pd,
				     int access)
{
	struct kwarp_mr *mr;

	access &= ~IB_ACCESS_OPTIONAL;
	/* The region has no bounds, so no peer may have access to it (5040-8.1.1-3). */
	if (access & ~IB_ACCESS_LOCAL_WRITE) {
		dev_warn_once(&kdev->ibdev.dev,
			      "a kernel consumer wants all memory open to its peers: it has to use fast registration\n");
		return ERR_PTR(-EINVAL);
	}
	mr = mr_new(pd, KWARP_MR_DMA, 0);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->access = access;
	mr->length = U64_MAX;
	mr->valid = true;
	return mr_register(kdev, mr);
}

/* @pd_wide: true for type 1, false for type 2. */
struct kwarp_mr *kwarp_mr_create_window(struct kwarp_dev *kdev, struct ib_pd *pd,
					bool pd_wide)
{
	struct kwarp_mr *mr = mr_new(pd, KWARP_MR_WINDOW, 0);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->pd_wide = pd_wide;
	return mr_register(kdev, mr);
}

/*
 * When this returns 0, neither peer nor consumer has access to the memory by this STag. Context:
 * process, sleeps until all references on the region have been dropped. Return: 0; -EBUSY, and
 * nothing has changed: windows are bound to the region.
 */
int kwarp_mr_destroy(struct kwarp_dev *kdev, struct kwarp_mr *mr)
{
	if (!kwarp_mr_close(mr))
		return -EBUSY;
	kwarp_stag_free(kdev, mr);
	kwarp_mr_put(mr);
	wait_for_completion(&mr->idle);
	/*
	 * A bind that held a reference may have made the window valid again after the first
	 * kwarp_mr_close(). No more binds are under way now, so close the window for good.
	 */
	if (mr->kind == KWARP_MR_WINDOW) {
		kwarp_mr_close(mr);
		kwarp_window_unbind(mr);
	}
	backing_put(mr->backing);
	mr_free(mr);
	return 0;
}
