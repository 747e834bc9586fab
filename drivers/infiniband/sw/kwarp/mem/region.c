// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Creating and destroying regions and windows.
 */
#include "mr.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_umem.h>

#include "../kwarp.h"

/* User space's are charged to its memory cgroup; kernel consumers' to nobody in particular. */
static struct kwarp_mr *mr_new(struct ib_pd *pd, enum kwarp_mr_kind kind,
			       u32 max_chunks)
{
	gfp_t gfp = pd->uobject ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;
	struct kwarp_mr *mr = kzalloc(sizeof(*mr), gfp);

	if (!mr)
		return NULL;
	if (max_chunks) {
		/* A large one may fail, and that is no news. */
		mr->chunk = kvcalloc(max_chunks, sizeof(*mr->chunk), gfp | __GFP_NOWARN);
		if (!mr->chunk) {
			kfree(mr);
			return NULL;
		}
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
}

static void mr_free(struct kwarp_mr *mr)
{
	kvfree(mr->next.chunk);
	/* A window's belong to its region. */
	if (mr->kind != KWARP_MR_WINDOW)
		kvfree(mr->chunk);
	kfree_rcu(mr, rcu);
}

/* Give it an STag under which it can be found; @mr is freed if there is none. */
static struct kwarp_mr *mr_register(struct kwarp_dev *kdev, struct kwarp_mr *mr, u8 key,
				    bool valid)
{
	int ret = kwarp_stag_alloc(kdev, mr, key);

	if (ret) {
		mr_free(mr);
		return ERR_PTR(ret);
	}
	mr->valid = valid;
	kwarp_stag_publish(kdev, mr);
	return mr;
}

/* Largest piece: kwarp_mr.offset has to hold an offset in it. */
#define MAX_SHIFT	30

/*
 * The larger the pieces, the fewer pointers: of huge pages one for each, 4 KiB of them instead
 * of 2 MiB for 1 GiB.  A piece is aligned in memory and in the process alike, but not to the
 * region's own addresses, which kwarp_mr_span() does not ask for.  Of the first and the last
 * one there may be less than all.
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

	for_each_sgtable_page(&mr->umem->sgt_append.sgt, &it, 0) {
		in = pos & ((1ULL << mr->shift) - 1);
		if (pos >> mr->shift == mr->nchunks)
			mr->chunk[mr->nchunks++] = page_address(sg_page_iter_page(&it)) - in;
		pos += PAGE_SIZE;
		/* There can be 2^28 pages. */
		cond_resched();
	}
}

/* Less than 2 GiB of pointers: the kernel warns of whoever asks for more at a time. */
#define MAX_CHUNKS	(INT_MAX / sizeof(u8 *))

/**
 * kwarp_mr_create_user - region over pinned user memory
 * @kdev: device
 * @pd: protection domain
 * @umem: pinned pages; owned by the region on success
 * @iova: address by which the region is named in work requests and by the peer
 * @access: IB_ACCESS_*
 *
 * Context: process, may sleep.
 * Return: the region, or an ERR_PTR.
 */
struct kwarp_mr *kwarp_mr_create_user(struct kwarp_dev *kdev, struct ib_pd *pd,
				      struct ib_umem *umem, u64 iova, int access)
{
	u8 shift = best_shift(umem);
	u64 chunks = (user_offset(umem, shift) + (u64)umem->length - 1) >> shift;
	struct kwarp_mr *mr;

	if (chunks >= MAX_CHUNKS)
		return ERR_PTR(-ENOMEM);
	mr = mr_new(pd, KWARP_MR_USER, chunks + 1);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = umem;
	mr->shift = shift;
	mr->va = iova;
	mr->length = umem->length;
	mr->offset = user_offset(umem, shift);
	mr->access = access;
	user_chunks(mr);
	return mr_register(kdev, mr, get_random_u8(), true);
}

/* Region whose page list a kernel consumer gives later; born invalid. */
struct kwarp_mr *kwarp_mr_create_fast(struct kwarp_dev *kdev, struct ib_pd *pd,
				      u32 max_pages)
{
	struct kwarp_mr *mr;

	if (!max_pages || max_pages > KWARP_MAX_FRMR_PAGES)
		return ERR_PTR(-EINVAL);
	mr = mr_new(pd, KWARP_MR_FAST, max_pages);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->next.chunk = kvcalloc(max_pages, sizeof(*mr->chunk), GFP_KERNEL);
	if (!mr->next.chunk) {
		mr_free(mr);
		return ERR_PTR(-ENOMEM);
	}
	return mr_register(kdev, mr, 0, false);
}

/*
 * Region over all kernel memory, for kernel consumers.  Some of them can be told to lend all of
 * it to their peers (IB_PD_UNSAFE_GLOBAL_RKEY): with a network in between that is refused.
 */
struct kwarp_mr *kwarp_mr_create_dma(struct kwarp_dev *kdev, struct ib_pd *pd,
				     int access)
{
	struct kwarp_mr *mr;

	access &= ~IB_ACCESS_OPTIONAL;
	/* It has no bounds, so no peer may name it (5040-8.1.1-3). */
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
	return mr_register(kdev, mr, get_random_u8(), true);
}

/* Window, not bound to anything; @pd_wide: of type 1. */
struct kwarp_mr *kwarp_mr_create_window(struct kwarp_dev *kdev, struct ib_pd *pd,
					bool pd_wide)
{
	struct kwarp_mr *mr = mr_new(pd, KWARP_MR_WINDOW, 0);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->pd_wide = pd_wide;
	return mr_register(kdev, mr, get_random_u8(), false);
}

static int fast_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct kwarp_mr *mr = to_kmr(ibmr);

	if (mr->next.nchunks == mr->max_chunks)
		return -ENOMEM;
	/* Virtual DMA: the "bus" address of a page is its kernel address. */
	mr->next.chunk[mr->next.nchunks++] = (u8 *)(uintptr_t)addr;
	return 0;
}

/**
 * kwarp_mr_map_sg - take the page list of a fast-register region
 * @mr: region
 * @sg: list of DMA-mapped elements
 * @nents: elements in @sg
 * @offset: octets to skip in the first element, or NULL; what the core leaves there
 *
 * The list counts from the next REG_MR on; until then what was registered before, if
 * anything, stays as it is.
 *
 * Context: any; the consumer has no REG_MR of this region outstanding.
 * Return: number of elements mapped, or a negative errno.
 */
int kwarp_mr_map_sg(struct kwarp_mr *mr, struct scatterlist *sg, int nents,
		    unsigned int *offset)
{
	struct kwarp_mr_list *next = &mr->next;
	int n;

	if (mr->kind != KWARP_MR_FAST)
		return -EINVAL;
	next->nchunks = 0;
	n = ib_sg_to_pages(&mr->ibmr, sg, nents, offset, fast_set_page);
	next->shift = ilog2(mr->ibmr.page_size);
	next->length = mr->ibmr.length;
	next->offset = mr->ibmr.iova & (mr->ibmr.page_size - 1);
	next->fresh = true;
	return n;
}

static void take_list(struct kwarp_mr *mr)
{
	struct kwarp_mr_list *next = &mr->next;

	lockdep_assert_held_write(&mr->lock);
	if (!next->fresh)
		return;
	swap(mr->chunk, next->chunk);
	mr->nchunks = next->nchunks;
	mr->shift = next->shift;
	mr->offset = next->offset;
	mr->length = next->length;
	next->fresh = false;
}

/**
 * kwarp_mr_activate - carry out REG_MR
 * @mr: fast-register region
 * @stag: new STag; only the key may differ
 * @access: IB_ACCESS_*
 * @stream: whose send queue it is from: its peer, and no other, may invalidate the region
 *
 * The address by which the region is named is ibmr.iova as it is now: consumers set it
 * after mapping (NFS/RDMA puts the XID there).
 *
 * Return: 0, -EINVAL: of another protection domain, no region of that kind, or still valid.
 */
int kwarp_mr_activate(struct kwarp_mr *mr, u32 stag, int access,
		      const struct kwarp_mem_stream *stream)
{
	int ret = -EINVAL;

	/* Another queue pair may be changing the key, nobody the index. */
	if (mr->kind != KWARP_MR_FAST || mr->pd != stream->pd ||
	    (READ_ONCE(mr->stag) ^ stag) >> 8)
		return -EINVAL;
	write_lock_bh(&mr->lock);
	if (!mr->valid) {
		take_list(mr);
		mr->va = mr->ibmr.iova;
		mr->access = access;
		mr->owner = READ_ONCE(stream->id);
		WRITE_ONCE(mr->stag, stag);
		WRITE_ONCE(mr->valid, true);
		ret = 0;
	}
	write_unlock_bh(&mr->lock);
	return ret;
}

/**
 * kwarp_mr_destroy - revoke for good and free
 * @kdev: device
 * @mr: region or window; gone afterwards
 *
 * When it returns 0, neither peer nor consumer reaches the memory any more by this STag.
 *
 * Context: process, sleeps until running steps have let go of the region.
 * Return: 0; -EBUSY, and nothing has changed, if windows are bound to the region.
 */
int kwarp_mr_destroy(struct kwarp_dev *kdev, struct kwarp_mr *mr)
{
	if (!kwarp_mr_close(mr))
		return -EBUSY;
	kwarp_stag_free(kdev, mr);
	kwarp_mr_put(mr);
	wait_for_completion(&mr->idle);
	/* Not before: a bind may have been under way, and have made it valid. */
	if (mr->kind == KWARP_MR_WINDOW) {
		kwarp_mr_close(mr);
		kwarp_window_unbind(mr);
	}
	if (mr->umem)
		ib_umem_release(mr->umem);
	mr->umem = NULL;
	mr_free(mr);
	return 0;
}
