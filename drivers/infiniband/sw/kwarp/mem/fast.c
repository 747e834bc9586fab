// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fast registration. A kernel consumer maps a page list for a region (kwarp_mr_map_sg()), and then
 * posts the work request REG_MR, which puts the list in force. Region with gaps: its list has
 * pieces of memory of any size, instead of pages.
 */
#include "mr.h"

#include "../door.h"

#include <linux/log2.h>

static int fast_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct kwarp_mr *mr = to_kmr(ibmr);

	if (mr->next.nchunks == mr->max_chunks)
		return -ENOMEM;
	/* Virtual DMA: the "bus" address of a page is its kernel address. */
	mr->next.chunk[mr->next.nchunks++] = (u8 *)(uintptr_t)addr;
	return 0;
}

/* An element that begins where the previous piece ends makes that piece longer. */
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

/*
 * Map a list of elements like ib_sg_to_pages(), but for elements of any size. The first element for
 * which there is no room, and all after it, are not mapped.
 */
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
 * kwarp_mr_map_sg - set the page list that the next REG_MR of a region puts in force
 * @mr: fast-register region
 * @sg: list of DMA-mapped elements: pages or, for a region with gaps, elements of any size
 * @nents: elements in @sg
 * @offset: octets to skip in the first element, or NULL; set as ib_sg_to_pages() does
 *
 * Until the next REG_MR the region keeps the list of its last REG_MR.
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
	/* If nothing was mapped, the next REG_MR keeps the old list. */
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
 * @stag: new STag; only its key may differ from the old one
 * @access: IB_ACCESS_*
 * @stream: stream of the request; of all peers only that of this stream may invalidate the region
 *
 * The first address of the region is ibmr.iova at the time of this call: consumers may change
 * ibmr.iova after mapping (NFS/RDMA puts the XID there).
 *
 * Context: any but hard interrupt.
 * Return: 0; -EINVAL: another protection domain, no fast-register region, another index, or the
 * region is still valid.
 */
int kwarp_mr_activate(struct kwarp_mr *mr, u32 stag, int access,
		      const struct kwarp_mem_stream *stream)
{
	KWARP_DOOR(kwarp_mr_activate, mr, stag, access, stream);
	int ret = -EINVAL;

	/*
	 * READ_ONCE: a REG_MR on another queue pair may change the key now; the index is constant.
	 */
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
