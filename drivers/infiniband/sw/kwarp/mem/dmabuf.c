// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions over a dma-buf.
 *
 * kwarp has no hardware that could attach to the buffer: the processor copies the data. So the
 * exporter maps the buffer into the kernel (dma_buf_vmap()), and the region lies over that mapping.
 *
 * A mapping does not keep the memory of a buffer in place: drivers of GPUs pin a buffer only while
 * a device is attached, and may move a buffer that is only mapped. So kwarp accepts only exporters
 * whose memory never moves. kwarp does not even ask other exporters to map a buffer, because the
 * dma-buf core warns if the mapping fails.
 *
 * The CPU access (dma_buf_begin_cpu_access()), for reading and writing, lasts from the registration
 * to the end of the region. If the exporter's device is not coherent, programs have to synchronize
 * the accesses of that device with the region as they do for their own mapping
 * (DMA_BUF_IOCTL_SYNC).
 */
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "../compat.h"
#include "mr.h"

/* MODULE_IMPORT_NS() takes a string or a token, depending on the kernel; this works on all. */
MODULE_INFO(import_ns, "DMA_BUF");

/* log2 of a piece's size: kwarp_mr.offset, which has 32 bits, has to hold an offset in a piece. */
#define DMABUF_SHIFT	30

struct kwarp_dmabuf {
	struct dma_buf *buf;
	struct iosys_map map;
};

/*
 * Exporters whose pages never move: udmabuf (drivers/dma-buf/udmabuf.c) pins them, and the system
 * heap (heaps/system_heap.c) allocates its own. Both keep the pages until the buffer is released.
 */
static const char *const unmoving[] = { "udmabuf", "system" };

static bool buffer_never_moves(const struct dma_buf *buf)
{
	return match_string(unmoving, ARRAY_SIZE(unmoving), buf->exp_name) >= 0;
}

static bool begins_large_folio(struct page *page)
{
	struct folio *folio = page_folio(page);

	return folio_test_large(folio) && &folio->page == page;
}

/*
 * Check for a bug of udmabuf in Linux 6.12: where the buffer has any page of a large folio, the
 * kernel mapping has the first page of that folio, so the kernel sees other memory than the
 * process. The check: after the first page of a large folio the mapping has to have the folio's
 * second page. A buffer that ends with the first page of a large folio is refused, too, because its
 * mapping looks the same with the bug.
 */
static bool mapping_is_correct(const struct dma_buf *buf, const void *vaddr)
{
	unsigned long second = 0;
	struct page *page;
	size_t at;

	for (at = 0; is_vmalloc_addr(vaddr) && at < buf->size; at += PAGE_SIZE) {
		page = vmalloc_to_page(vaddr + at);
		if (second && page_to_pfn(page) != second)
			return false;
		second = begins_large_folio(page) ? page_to_pfn(page) + 1 : 0;
		cond_resched();
	}
	return !second;
}

bool kwarp_dmabuf_is_writable(const struct kwarp_dmabuf *d)
{
	return d->buf->file->f_mode & FMODE_WRITE;
}

static int check_buffer(const struct kwarp_dmabuf *d, u64 offset, u64 length, int access)
{
	u64 end;

	if (check_add_overflow(offset, length, &end) || end > d->buf->size)
		return -EINVAL;
	if (access & (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !kwarp_dmabuf_is_writable(d))
		return -EACCES;
	return 0;
}

/* Before Linux 6.2 udmabuf has no vmap operation, and its buffers are refused. */
static int map_buffer(struct kwarp_dmabuf *d)
{
	int ret;

	if (!buffer_never_moves(d->buf) || !d->buf->ops->vmap)
		return -EOPNOTSUPP;
	ret = dma_buf_begin_cpu_access(d->buf, DMA_BIDIRECTIONAL);
	if (ret)
		return ret;
	ret = dma_buf_vmap_unlocked(d->buf, &d->map);
	if (!ret && (d->map.is_iomem || !mapping_is_correct(d->buf, d->map.vaddr))) {
		dma_buf_vunmap_unlocked(d->buf, &d->map);
		ret = -EOPNOTSUPP;
	}
	if (ret)
		dma_buf_end_cpu_access(d->buf, DMA_BIDIRECTIONAL);
	return ret;
}

/**
 * kwarp_dmabuf_get - get a dma-buf and map it
 * @fd: file descriptor of the dma-buf in the calling process
 * @offset: offset of the first octet that is wanted
 * @length: octets that are wanted
 * @access: IB_ACCESS_*
 *
 * Return: the buffer, or an ERR_PTR. -EBADF: @fd is not open; -EINVAL: @fd is no dma-buf, or the
 * dma-buf is too short; -EACCES: the dma-buf was opened for reading only; -EOPNOTSUPP: the exporter
 * is not a supported one, or its mapping cannot be used; -ENOMEM.
 */
struct kwarp_dmabuf *kwarp_dmabuf_get(int fd, u64 offset, u64 length, int access)
{
	struct kwarp_dmabuf *d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!d)
		return ERR_PTR(-ENOMEM);
	d->buf = dma_buf_get(fd);
	ret = PTR_ERR_OR_ZERO(d->buf);
	if (ret)
		goto out_free;
	ret = check_buffer(d, offset, length, access);
	if (!ret)
		ret = map_buffer(d);
	if (ret)
		goto out_put;
	return d;

out_put:
	dma_buf_put(d->buf);
out_free:
	kfree(d);
	return ERR_PTR(ret);
}

/* Context: process, may sleep. */
void kwarp_dmabuf_put(struct kwarp_dmabuf *d)
{
	dma_buf_vunmap_unlocked(d->buf, &d->map);
	dma_buf_end_cpu_access(d->buf, DMA_BIDIRECTIONAL);
	dma_buf_put(d->buf);
	kfree(d);
}

void kwarp_dmabuf_pieces(const struct kwarp_dmabuf *d, u64 offset, struct kwarp_mr *mr)
{
	u32 i;

	mr->shift = DMABUF_SHIFT;
	mr->nchunks = mr->max_chunks;
	for (i = 0; i < mr->nchunks; i++)
		mr->chunk[i] = (u8 *)d->map.vaddr + offset + ((u64)i << DMABUF_SHIFT);
}

/* @length is not 0. */
u64 kwarp_dmabuf_count(u64 length)
{
	return ((length - 1) >> DMABUF_SHIFT) + 1;
}
