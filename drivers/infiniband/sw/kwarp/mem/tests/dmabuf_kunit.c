// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of regions over a dma-buf: which buffers are refused, that a failed call gives back what it
 * took, and where the pieces of the region lie. dmabuf.c is included below. The exporter of the
 * buffer, and the functions of the dma-buf core, are fakes.
 */
#include <kunit/test.h>
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/sizes.h>

#define VADDR	((u8 *)0x100000)
#define SIZE	(3ULL * SZ_1G)

/*
 * @iomem: the mapping is of device memory
 * @layout: pages of the mapping, see fake_to_page(); NULL: no vmalloc mapping
 * @refs: references taken and not dropped
 * @accesses: CPU accesses begun and not ended
 * @maps: mappings made and not removed
 */
static struct exporter {
	struct dma_buf buf;
	struct file file;
	struct dma_buf_ops ops;
	int get, begin, vmap;
	bool iomem;
	const char *layout;
	int refs, accesses, maps;
} ex;

/* Pages of the mapping: a large folio of four pages, and two pages that are folios of their own. */
static struct page *large, *small[2];

static struct dma_buf *fake_get(int fd)
{
	if (ex.get)
		return ERR_PTR(ex.get);
	ex.refs++;
	return &ex.buf;
}

static void fake_put(struct dma_buf *buf)
{
	ex.refs--;
}

static int fake_begin(struct dma_buf *buf, enum dma_data_direction dir)
{
	if (ex.begin)
		return ex.begin;
	ex.accesses++;
	return 0;
}

static int fake_end(struct dma_buf *buf, enum dma_data_direction dir)
{
	ex.accesses--;
	return 0;
}

static int fake_vmap(struct dma_buf *buf, struct iosys_map *map)
{
	if (ex.vmap)
		return ex.vmap;
	if (ex.iomem)
		iosys_map_set_vaddr_iomem(map, (void __iomem *)VADDR);
	else
		iosys_map_set_vaddr(map, VADDR);
	ex.maps++;
	return 0;
}

static void fake_vunmap(struct dma_buf *buf, struct iosys_map *map)
{
	ex.maps--;
}

/* This is never called: the code under test only checks that the exporter has the operation. */
static int ops_vmap(struct dma_buf *buf, struct iosys_map *map)
{
	return -EIO;
}

static bool fake_is_vmalloc_addr(const void *addr)
{
	return ex.layout;
}

/*
 * Return: the page at @addr of the mapping. Each page of the mapping has a character in ex.layout:
 * a digit selects a page of the large folio, 'a' and 'b' select the small pages.
 */
static struct page *fake_to_page(const void *addr)
{
	char c = ex.layout[((const u8 *)addr - VADDR) / PAGE_SIZE];

	return c < 'a' ? large + (c - '0') : small[c - 'a'];
}

#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "../../compat.h"
#define is_vmalloc_addr			fake_is_vmalloc_addr
#define vmalloc_to_page			fake_to_page
#undef dma_buf_vmap_unlocked
#undef dma_buf_vunmap_unlocked
#define dma_buf_vmap_unlocked		fake_vmap
#define dma_buf_vunmap_unlocked		fake_vunmap
#define dma_buf_get			fake_get
#define dma_buf_put			fake_put
#define dma_buf_begin_cpu_access	fake_begin
#define dma_buf_end_cpu_access		fake_end
#include "../dmabuf.c"

#define BUF_WRITE	IB_ACCESS_LOCAL_WRITE
#define BUF_READ	IB_ACCESS_REMOTE_READ

static const struct dmabuf_case {
	const char *desc;
	u64 offset, length;
	int access;
	int ret;
	int get, begin, vmap;
	bool iomem, no_vmap, read_only;
	const char *exporter;
} dmabuf_cases[] = {
	{ "all of it", 0, SIZE, BUF_WRITE },
	{ "its last octet", SIZE - 1, 1, BUF_WRITE },
	{ "for reading", 0, SIZE, BUF_READ, .read_only = true },
	{ "no right at all", 0, 1, 0, .read_only = true },
	{ "one octet after it", SIZE, 1, BUF_WRITE, -EINVAL },
	{ "one octet too many", 0, SIZE + 1, BUF_WRITE, -EINVAL },
	{ "its end wraps", U64_MAX, 2, BUF_WRITE, -EINVAL },
	{ "no such file", 0, 1, BUF_WRITE, -EBADF, .get = -EBADF },
	{ "no buffer", 0, 1, BUF_WRITE, -EINVAL, .get = -EINVAL },
	{ "to be written, but read only", 0, 1, BUF_WRITE, -EACCES, .read_only = true },
	{ "of a DMA heap", 0, SIZE, BUF_WRITE, .exporter = "system" },
	{ "of a GPU", 0, SIZE, BUF_WRITE, -EOPNOTSUPP, .exporter = "drm" },
	{ "of one with a longer name", 0, 1, BUF_WRITE, -EOPNOTSUPP, .exporter = "system2" },
	{ "not to be mapped", 0, 1, BUF_WRITE, -EOPNOTSUPP, .no_vmap = true },
	{ "memory of a device", 0, 1, BUF_WRITE, -EOPNOTSUPP, .iomem = true },
	{ "the processor may not", 0, 1, BUF_WRITE, -EINTR, .begin = -EINTR },
	{ "no memory", 0, 1, BUF_WRITE, -ENOMEM, .vmap = -ENOMEM },
};

KUNIT_ARRAY_PARAM_DESC(dmabuf, dmabuf_cases, desc);

static void set_exporter(const struct dmabuf_case *c)
{
	memset(&ex, 0, sizeof(ex));
	ex.get = c->get;
	ex.begin = c->begin;
	ex.vmap = c->vmap;
	ex.iomem = c->iomem;
	ex.buf.exp_name = c->exporter ?: "udmabuf";
	ex.ops.vmap = c->no_vmap ? NULL : ops_vmap;
	ex.file.f_mode = c->read_only ? FMODE_READ : FMODE_READ | FMODE_WRITE;
	ex.buf.size = SIZE;
	ex.buf.file = &ex.file;
	ex.buf.ops = &ex.ops;
}

static void test_dmabuf_get(struct kunit *test)
{
	const struct dmabuf_case *c = test->param_value;
	int held = c->ret ? 0 : 1;
	struct kwarp_dmabuf *d;

	set_exporter(c);
	d = kwarp_dmabuf_get(5, c->offset, c->length, c->access);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(d), c->ret);
	KUNIT_EXPECT_EQ(test, ex.refs, held);
	KUNIT_EXPECT_EQ(test, ex.accesses, held);
	KUNIT_EXPECT_EQ(test, ex.maps, held);
	if (IS_ERR(d))
		return;
	KUNIT_EXPECT_EQ(test, kwarp_dmabuf_is_writable(d), !c->read_only);
	kwarp_dmabuf_put(d);
	KUNIT_EXPECT_EQ(test, ex.refs, 0);
	KUNIT_EXPECT_EQ(test, ex.accesses, 0);
	KUNIT_EXPECT_EQ(test, ex.maps, 0);
}

static const struct layout_case {
	const char *desc;
	const char *layout;
	int ret;
} layout_cases[] = {
	{ "small pages", "ab", 0 },
	{ "a small page twice", "aa", 0 },
	{ "a large folio", "0123", 0 },
	{ "its first two pages", "01", 0 },
	{ "its end", "123", 0 },
	{ "its end, and then its begin", "2301", 0 },
	{ "between small pages", "a012b", 0 },
	{ "its first page twice", "00", -EOPNOTSUPP },
	{ "its first page for each", "0000", -EOPNOTSUPP },
	{ "its first page alone", "0", -EOPNOTSUPP },
	{ "its first page, and a small one", "0a", -EOPNOTSUPP },
	{ "its first page at the end", "a0", -EOPNOTSUPP },
	{ "its first page, and the third", "02", -EOPNOTSUPP },
	{ "its first page again later", "010a", -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(layout, layout_cases, desc);

/* The mapping may have other pages than the buffer. */
static void test_dmabuf_layout(struct kunit *test)
{
	const struct layout_case *c = test->param_value;
	struct kwarp_dmabuf *d;

	large = alloc_pages(GFP_KERNEL | __GFP_COMP, 2);
	small[0] = alloc_page(GFP_KERNEL);
	small[1] = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, large && small[0] && small[1]);
	set_exporter(&dmabuf_cases[0]);
	ex.layout = c->layout;
	ex.buf.size = strlen(c->layout) * PAGE_SIZE;
	d = kwarp_dmabuf_get(5, 0, 1, BUF_WRITE);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(d), c->ret);
	if (!IS_ERR(d))
		kwarp_dmabuf_put(d);
	KUNIT_EXPECT_EQ(test, ex.refs, 0);
	KUNIT_EXPECT_EQ(test, ex.accesses, 0);
	KUNIT_EXPECT_EQ(test, ex.maps, 0);
	__free_page(small[1]);
	__free_page(small[0]);
	__free_pages(large, 2);
}

static void test_dmabuf_pieces(struct kunit *test)
{
	static const u64 at[] = { 0, 1, SZ_1G - 1, SZ_1G, 2ULL * SZ_1G + 5 };
	const u64 offset = 0x3007;
	struct kwarp_dmabuf *d;
	u8 *chunk[3];
	struct kwarp_mr mr = { .kind = KWARP_MR_USER, .chunk = chunk, .length = SIZE - offset };
	u32 i, n;

	set_exporter(&dmabuf_cases[0]);
	d = kwarp_dmabuf_get(5, offset, mr.length, BUF_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(d));
	mr.max_chunks = kwarp_dmabuf_count(mr.length);
	KUNIT_ASSERT_EQ(test, mr.max_chunks, 3);
	kwarp_dmabuf_pieces(d, offset, &mr);
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		KUNIT_EXPECT_PTR_EQ(test, kwarp_mr_span(&mr, at[i], U32_MAX, &n),
				    (void *)(VADDR + offset + at[i]));
		KUNIT_EXPECT_EQ(test, n, min(SIZE - at[i], (u64)U32_MAX));
	}
	KUNIT_EXPECT_EQ(test, kwarp_dmabuf_count(1), 1);
	KUNIT_EXPECT_EQ(test, kwarp_dmabuf_count(SZ_1G), 1);
	KUNIT_EXPECT_EQ(test, kwarp_dmabuf_count(SZ_1G + 1ULL), 2);
	kwarp_dmabuf_put(d);
}

static struct kunit_case dmabuf_suite_cases[] = {
	KUNIT_CASE_PARAM(test_dmabuf_get, dmabuf_gen_params),
	KUNIT_CASE_PARAM(test_dmabuf_layout, layout_gen_params),
	KUNIT_CASE(test_dmabuf_pieces),
	{}
};

static struct kunit_suite dmabuf_suite = {
	.name = "kwarp_dmabuf",
	.test_cases = dmabuf_suite_cases,
};

kunit_test_suite(dmabuf_suite);
