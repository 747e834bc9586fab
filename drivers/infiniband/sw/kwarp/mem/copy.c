// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Translation of an address in a region to kernel memory, and copies. A region is a list of pieces
 * of memory; all have the same size (1 << shift octets), but a region with gaps has pieces of any
 * size. INFINIBAND_VIRT_DMA rules out highmem, so every page has a kernel address. Neighbouring
 * pieces that are contiguous in the kernel's direct map, such as those of a huge page, are copied
 * in one memcpy().
 */
#include "mr.h"

#include <linux/skbuff.h>
#include <linux/string.h>

static u32 gaps_piece(const struct kwarp_mr *mr, u64 pos)
{
	u32 first = 0, end = mr->nchunks, mid;

	while (end - first > 1) {
		mid = first + (end - first) / 2;
		if (mr->before[mid] <= pos)
			first = mid;
		else
			end = mid;
	}
	return first;
}

static void *gaps_span(const struct kwarp_mr *mr, u64 pos, u32 want, u32 *len)
{
	u32 i = gaps_piece(mr, pos);
	u64 end = i + 1 < mr->nchunks ? mr->before[i + 1] : mr->length;

	*len = min_t(u64, end - pos, want);
	return mr->chunk[i] + (pos - mr->before[i]);
}

static __always_inline void *find_span(const struct kwarp_mr *mr, u64 addr, u32 want,
				       u32 *len)
{
	u64 size = 1ULL << mr->shift, pos, in, have;
	u32 i;

	*len = want;
	if (mr->kind == KWARP_MR_DMA)
		return (void *)(uintptr_t)addr;
	if (unlikely(mr->before))
		return gaps_span(mr, addr - mr->va, want, len);
	pos = addr - mr->va + mr->offset;
	i = pos >> mr->shift;
	in = pos & (size - 1);
	have = size - in;
	if (likely(have >= want))
		return mr->chunk[i] + in;
	pos = i;
	while (have < want && i + 1 < mr->nchunks &&
	       mr->chunk[i + 1] == mr->chunk[i] + size) {
		have += size;
		i++;
	}
	*len = min_t(u64, have, want);
	return mr->chunk[pos] + in;
}

/*
 * The access has been checked, and the caller holds a reference. @len: octets that are contiguous,
 * at most @want, which is not 0.
 */
void *kwarp_mr_span(const struct kwarp_mr *mr, u64 addr, u32 want, u32 *len)
{
	return find_span(mr, addr, want, len);
}

/* The caller has checked the access and holds a reference. Context: any. */
void kwarp_mr_write(const struct kwarp_mr *mr, u64 addr, const void *src, u32 len)
{
	while (len) {
		u32 n;
		void *dst = find_span(mr, addr, len, &n);

		memcpy(dst, src, n);
		addr += n;
		src += n;
		len -= n;
	}
}

/* Return: false if octets of the skb cannot be read. */
bool kwarp_mr_write_skb(const struct kwarp_mr *mr, u64 addr, const struct sk_buff *skb, u32 offset,
			u32 len)
{
	while (len) {
		u32 n;
		void *dst = find_span(mr, addr, len, &n);

		if (skb_copy_bits(skb, offset, dst, n))
			return false;
		addr += n;
		offset += n;
		len -= n;
	}
	return true;
}

void kwarp_mr_read(const struct kwarp_mr *mr, u64 addr, void *to, u32 len)
{
	while (len) {
		u32 n;
		const void *src = find_span(mr, addr, len, &n);

		memcpy(to, src, n);
		addr += n;
		to += n;
		len -= n;
	}
}
