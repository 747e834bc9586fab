// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fixture of the tests of region.c and fast.c: fakes for the functions that these files call.
 * The code under test is included.
 */
#include "region_fixture.h"

#include <linux/slab.h>

unsigned long region_chosen_size;
u32 region_released, region_buffers_put;
size_t region_paid, region_unpaid;
bool region_no_stag, region_no_charge;
u64 region_charged;

static unsigned long chosen_best_pgsz(struct ib_umem *umem, unsigned long sizes, u64 virt)
{
	/*
	 * Find no size unless the code under test asks for pieces that are aligned in the address
	 * space of the process, and accepts region_chosen_size.
	 */
	if (virt != umem->address || !(sizes & region_chosen_size))
		return 0;
	return region_chosen_size;
}

static void release_umem(struct ib_umem *umem)
{
	region_released++;
}

static int no_list(struct ib_mr *mr, struct scatterlist *sg, int nents, unsigned int *offset,
		   int (*set_page)(struct ib_mr *mr, u64 addr))
{
	return -EOPNOTSUPP;
}

static void note_memory(size_t len, gfp_t gfp)
{
	if (gfp & __GFP_ACCOUNT)
		region_paid += len;
	else
		region_unpaid += len;
}

static void *note_object(size_t size, gfp_t gfp)
{
	note_memory(size, gfp);
	return kzalloc(size, gfp);
}

static void *note_array(size_t n, size_t size, gfp_t gfp)
{
	note_memory(n * size, gfp);
	return kvcalloc(n, size, gfp);
}

static int charge_user(struct kwarp_charge *charge, u64 octets)
{
	if (!charge->account)
		return 0;
	if (region_no_charge)
		return -ENOMEM;
	charge->octets += octets;
	region_charged += octets;
	return 0;
}

static void uncharge_user(struct kwarp_charge *charge)
{
	region_charged -= charge->octets;
	charge->octets = 0;
}

#define kwarp_charge(c, octets)	charge_user(c, octets)
#define kwarp_uncharge		uncharge_user
#define ib_umem_find_best_pgsz	chosen_best_pgsz
#define ib_umem_release		release_umem
#define ib_sg_to_pages		no_list
#pragma push_macro("kzalloc")
#pragma push_macro("kvcalloc")
#undef kzalloc
#undef kvcalloc
#define kzalloc			note_object
#define kvcalloc		note_array
#include "../region.c"
#include "../fast.c"
#pragma pop_macro("kvcalloc")
#pragma pop_macro("kzalloc")

const size_t region_backing_octets = sizeof(struct kwarp_backing);

int kwarp_stag_alloc(struct kwarp_dev *kdev, struct kwarp_mr *mr, u8 key)
{
	mr->stag = key;
	return region_no_stag ? -ENOMEM : 0;
}

void kwarp_dmabuf_put(struct kwarp_dmabuf *d)
{
	region_buffers_put++;
}

bool kwarp_dmabuf_is_writable(const struct kwarp_dmabuf *d)
{
	return region_buffers_put;
}

u64 kwarp_dmabuf_count(u64 length)
{
	return length / PIECE;
}

void kwarp_dmabuf_pieces(const struct kwarp_dmabuf *d, u64 offset, struct kwarp_mr *mr)
{
	mr->nchunks = mr->max_chunks;
	mr->chunk[0] = (u8 *)d + offset;
}

void kwarp_stag_publish(struct kwarp_dev *kdev, struct kwarp_mr *mr)
{
}

void kwarp_stag_free(struct kwarp_dev *kdev, struct kwarp_mr *mr)
{
}

void kwarp_mr_put(struct kwarp_mr *mr)
{
	complete(&mr->idle);
}

u8 *region_process_octet(const struct region_test *t, u64 at)
{
	return (u8 *)page_address(t->pages[at / PIECE]) + at % PIECE;
}

/* Pin whole pages, one scatterlist element for each piece. */
void region_pin_memory(struct kunit *test, u64 from, u64 length)
{
	struct region_test *t = test->priv;
	u64 at = round_down(from, PAGE_SIZE), end = round_up(from + length, PAGE_SIZE), n;
	struct sg_table *sgt = &t->umem.sgt_append.sgt;
	struct scatterlist *sg;
	u32 i;

	t->umem.address = BASE + from;
	t->umem.length = length;
	n = (end - 1) / PIECE - at / PIECE + 1;
	KUNIT_ASSERT_EQ(test, sg_alloc_table(sgt, n, GFP_KERNEL), 0);
	for_each_sgtable_sg(sgt, sg, i) {
		n = min(end, round_down(at, PIECE) + PIECE) - at;
		sg_set_page(sg, virt_to_page(region_process_octet(t, at)), n, 0);
		at += n;
	}
}

int region_test_init(struct kunit *test)
{
	struct region_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->pd.ibpd.uobject = &t->uobject;
	test->priv = t;
	for (i = 0; i < PIECES; i++) {
		t->pages[i] = alloc_pages(GFP_KERNEL | __GFP_COMP, ORDER);
		KUNIT_ASSERT_NOT_NULL(test, t->pages[i]);
	}
	return 0;
}

void region_test_exit(struct kunit *test)
{
	struct region_test *t = test->priv;
	u32 i;

	for (i = 0; t && i < PIECES; i++)
		if (t->pages[i])
			__free_pages(t->pages[i], ORDER);
}
