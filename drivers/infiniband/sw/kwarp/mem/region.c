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

/**
 * struct kwarp_backing - whose pages a region of user space lies over
 * @users: regions: the one it was made for, and successors of it
 * @umem: pinned memory of a process, or NULL
 * @dmabuf: a buffer, or NULL
 *
 * A region that is revoked may be in use for a moment still, so it keeps the pages, too.
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

/* No region has come of it: the pages stay whose they were. */
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
	kvfree(mr->next.before);
	kvfree(mr->before);
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

	for_each_sgtable_page(&mr->backing->umem->sgt_append.sgt, &it, 0) {
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

/* A region of user space. It takes the reference to @b, which is dropped if there is none. */
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

/* Its pieces are known. */
static struct kwarp_mr *user_register(struct kwarp_dev *kdev, struct kwarp_mr *mr, u64 iova,
				      u64 length)
{
	struct kwarp_backing *b = mr->backing;

	mr->va = iova;
	mr->length = length;
	/* The core does this for some of the verbs that make a region. */
	mr->ibmr.iova = iova;
	mr->ibmr.length = length;
	mr = mr_register(kdev, mr, get_random_u8(), false);
	if (IS_ERR(mr))
		backing_drop(b);
	return mr;
}

/**
 * kwarp_mr_create_user - region over pinned user memory
 * @kdev: device
 * @pd: protection domain
 * @umem: pinned pages; owned by the region on success
 * @iova: address by which the region is named in work requests and by the peer
 * @access: IB_ACCESS_*
 *
 * Context: process, may sleep.
 * Return: the region, to be opened by kwarp_mr_open(), or an ERR_PTR.
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

/**
 * kwarp_mr_create_dmabuf - region over a dma-buf
 * @kdev: device
 * @pd: protection domain
 * @d: the buffer; owned by the region on success
 * @place: what of it
 * @access: IB_ACCESS_*
 *
 * Context: process, may sleep.
 * Return: the region, to be opened by kwarp_mr_open(), or an ERR_PTR.
 */
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

/* A list of pieces may be long. */
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

/**
 * kwarp_mr_create_same - region over the same memory, by the same addresses
 * @kdev: device
 * @pd: protection domain
 * @old: KWARP_MR_USER, which nobody destroys meanwhile
 * @access: IB_ACCESS_*
 *
 * Context: process, may sleep.
 * Return: the region, to be opened by kwarp_mr_open(), or an ERR_PTR.
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

/**
 * kwarp_mr_open - from now on the STag may be used
 * @mr: KWARP_MR_USER that has just been made
 *
 * Context: any; once, and the caller destroys it not before this has returned.
 */
void kwarp_mr_open(struct kwarp_mr *mr)
{
	/* Found, and looked at, without a lock. */
	WRITE_ONCE(mr->valid, true);
}

/* Pinned memory of a KWARP_MR_USER; NULL: it has none, but a dma-buf. */
const struct ib_umem *kwarp_mr_umem(const struct kwarp_mr *mr)
{
	return mr->backing->umem;
}

/* May a region over the memory of a KWARP_MR_USER have rights to write? */
bool kwarp_mr_is_writable(const struct kwarp_mr *mr)
{
	const struct kwarp_backing *b = mr->backing;

	return b->umem ? b->umem->writable : kwarp_dmabuf_is_writable(b->dmabuf);
}

/* What a list takes that waits while another one is in use. */
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

/**
 * kwarp_mr_create_fast - region whose memory a kernel consumer names later
 * @kdev: device
 * @pd: protection domain
 * @max_chunks: pages, or pieces
 * @gaps: they are of any size, and begin and end anywhere (IB_MR_TYPE_SG_GAPS)
 *
 * Context: process, may sleep.
 * Return: the region, which is not valid yet, or an ERR_PTR.
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

/* One more element, which may go on where the one before it ends. */
static bool gaps_add(struct kwarp_mr *mr, u64 addr, u32 len)
{
	struct kwarp_mr_list *next = &mr->next;
	u8 *at = (u8 *)(uintptr_t)addr;
	u32 n = next->nchunks;

	if (!n || next->chunk[n - 1] + (next->length - next->before[n - 1]) != at) {
		if (n == mr->max_chunks)
			return false;
		next->chunk[n] = at;
		next->before[n] = next->length;
		next->nchunks++;
	}
	next->length += len;
	return true;
}

/* As ib_sg_to_pages(), for elements of any size; what does not fit is left out as a whole. */
static int map_gaps(struct kwarp_mr *mr, struct scatterlist *sgl, int nents,
		    unsigned int *offset)
{
	unsigned int skip = offset ? *offset : 0;
	struct scatterlist *sg;
	int i;

	mr->next.length = 0;
	if (nents <= 0)
		return -EINVAL;
	mr->ibmr.iova = sg_dma_address(sgl) + skip;
	for_each_sg(sgl, sg, nents, i) {
		if (skip > sg_dma_len(sg))
			return -EINVAL;
		if (sg_dma_len(sg) > skip &&
		    !gaps_add(mr, sg_dma_address(sg) + skip, sg_dma_len(sg) - skip))
			break;
		skip = 0;
	}
	if (offset)
		*offset = 0;
	mr->ibmr.length = mr->next.length;
	return i;
}

static int map_pages(struct kwarp_mr *mr, struct scatterlist *sgl, int nents,
		     unsigned int *offset)
{
	struct kwarp_mr_list *next = &mr->next;
	int n = ib_sg_to_pages(&mr->ibmr, sgl, nents, offset, fast_set_page);

	next->shift = ilog2(mr->ibmr.page_size);
	next->length = mr->ibmr.length;
	next->offset = mr->ibmr.iova & (mr->ibmr.page_size - 1);
	return n;
}

/**
 * kwarp_mr_map_sg - take the page list of a fast-register region
 * @mr: region
 * @sg: list of DMA-mapped elements, or of any kind if it may have gaps
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
	int n;

	if (mr->kind != KWARP_MR_FAST)
		return -EINVAL;
	mr->next.nchunks = 0;
	n = mr->before ? map_gaps(mr, sg, nents, offset) : map_pages(mr, sg, nents, offset);
	/* What could not be mapped cannot be registered either. */
	mr->next.fresh = n > 0;
	return n;
}

static void take_page_list(struct kwarp_mr *mr)
{
	struct kwarp_mr_list *next = &mr->next;

	lockdep_assert_held_write(&mr->lock);
	if (!next->fresh)
		return;
	swap(mr->chunk, next->chunk);
	swap(mr->before, next->before);
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
		take_page_list(mr);
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
	backing_put(mr->backing);
	mr_free(mr);
	return 0;
}
