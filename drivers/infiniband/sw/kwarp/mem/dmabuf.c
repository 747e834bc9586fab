// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions over a dma-buf.
 *
 * There is no device that could attach to the buffer: the processor copies. So the exporter maps
 * it into the kernel (dma_buf_vmap()), and the region lies over that mapping.
 *
 * A mapping alone does not keep a buffer where it is: drivers of GPUs pin theirs for those that
 * attach, and move them under a mapping. So only exporters are taken whose memory never moves.
 * That rules out those, too, whose mapping fails, of which the core warns.
 *
 * The processor's access begins with the registration and ends with the region, for both
 * directions: between an exporter's device that is not coherent and this region, programs have
 * to synchronize as they do for their own mapping (DMA_BUF_IOCTL_SYNC).
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

/* In this form it is the same for every kernel. */
MODULE_INFO(import_ns, "DMA_BUF");

/* kwarp_mr.offset has to hold an offset in a piece. */
#define DMABUF_SHIFT	30

/**
 * struct kwarp_dmabuf - what a region holds of a buffer
 * @buf: the buffer, with a reference
 * @map: where the exporter has mapped it
 */
struct kwarp_dmabuf {
	struct dma_buf *buf;
	struct iosys_map map;
};

/* drivers/dma-buf/udmabuf.c, heaps/system_heap.c: their pages are theirs, or pinned, to the end. */
static const char *const unmoving[] = { "udmabuf", "system" };

static bool buffer_never_moves(const struct dma_buf *buf)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(unmoving); i++)
		if (!strcmp(buf->exp_name, unmoving[i]))
			return true;
	return false;
}

static bool begins_large_folio(struct page *page)
{
	const struct folio *folio = page_folio(page);

	return folio_test_large(folio) && &folio->page == page;
}

/*
 * The udmabuf of Linux 6.12 maps the first page of a large folio in the place of each of its pages:
 * that would be other memory than the process sees.  So behind a first page has to come the second
 * one, or it may stand for another.  A buffer that ends with a first page is refused for that, too.
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

static bool buffer_is_writable(const struct dma_buf *buf)
{
	return buf->file->f_mode & FMODE_WRITE;
}

/* No octet outside of the buffer, and nothing is written that was opened for reading only. */
static int check_buffer(const struct dma_buf *buf, u64 offset, u64 length, int access)
{
	u64 end;

	if (check_add_overflow(offset, length, &end) || end > buf->size)
		return -EINVAL;
	if (access & (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !buffer_is_writable(buf))
		return -EACCES;
	return 0;
}

static bool mapping_is_usable(const struct kwarp_dmabuf *d)
{
	return !d->map.is_iomem && mapping_is_correct(d->buf, d->map.vaddr);
}

/* Before Linux 6.2 udmabuf does not map. */
static int map_buffer(struct kwarp_dmabuf *d)
{
	int ret;

	if (!buffer_never_moves(d->buf) || !d->buf->ops->vmap)
		return -EOPNOTSUPP;
	ret = dma_buf_begin_cpu_access(d->buf, DMA_BIDIRECTIONAL);
	if (ret)
		return ret;
	ret = kwarp_dma_buf_vmap(d->buf, &d->map);
	if (!ret && !mapping_is_usable(d)) {
		kwarp_dma_buf_vunmap(d->buf, &d->map);
		ret = -EOPNOTSUPP;
	}
	if (ret)
		dma_buf_end_cpu_access(d->buf, DMA_BIDIRECTIONAL);
	return ret;
}

/**
 * kwarp_dmabuf_get - have a buffer mapped
 * @fd: of the calling process
 * @offset: of the first octet that is wanted
 * @length: octets that are wanted
 * @access: IB_ACCESS_*
 *
 * Context: process, may sleep.
 * Return: the buffer, or an ERR_PTR: -EBADF or -EINVAL, it is none or not so long; -EACCES, it is
 * for reading only; -EOPNOTSUPP, of an exporter that is not known, or does not map it; -ENOMEM.
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
	ret = check_buffer(d->buf, offset, length, access);
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

/* No region lies over it any more. Context: process, may sleep. */
void kwarp_dmabuf_put(struct kwarp_dmabuf *d)
{
	kwarp_dma_buf_vunmap(d->buf, &d->map);
	dma_buf_end_cpu_access(d->buf, DMA_BIDIRECTIONAL);
	dma_buf_put(d->buf);
	kfree(d);
}

/* May a region over it be written to? */
bool kwarp_dmabuf_is_writable(const struct kwarp_dmabuf *d)
{
	return buffer_is_writable(d->buf);
}

/**
 * kwarp_dmabuf_pieces - where a part of a buffer lies
 * @d: the buffer
 * @offset: of the first octet
 * @mr: region with room for kwarp_dmabuf_count() pieces
 */
void kwarp_dmabuf_pieces(const struct kwarp_dmabuf *d, u64 offset, struct kwarp_mr *mr)
{
	u32 i;

	mr->shift = DMABUF_SHIFT;
	mr->nchunks = mr->max_chunks;
	for (i = 0; i < mr->nchunks; i++)
		mr->chunk[i] = (u8 *)d->map.vaddr + offset + ((u64)i << DMABUF_SHIFT);
}

/* Pieces for @length octets, which are not 0. */
u64 kwarp_dmabuf_count(u64 length)
{
	return ((length - 1) >> DMABUF_SHIFT) + 1;
}
