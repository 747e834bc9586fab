// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fixture of the tests of batches, see batch_fixture.h */
#include "batch_fixture.h"

#include "../../tests/doors.h"

#define SEED		7

struct batch_pages batch_pages;

static void leave_page(struct page_frag *frag)
{
	if (frag->page)
		put_page(frag->page);
	frag->page = NULL;
}

static bool refill_page(struct page_frag *frag, bool large, gfp_t gfp)
{
	leave_page(frag);
	batch_pages.large = large;
	if (batch_pages.fail)
		return false;
	frag->page = alloc_page(GFP_KERNEL);
	frag->offset = 0;
	frag->size = PAGE_SIZE;
	batch_pages.out++;
	return frag->page;
}

struct kwarp_mr *batch_regions;
u32 batch_lookups;
int batch_references[REGIONS];

/* Region 0 does not exist, because no STag has the index 0. */
static struct kwarp_mr *find_region(struct kwarp_dev *kdev, u32 stag)
{
	batch_lookups++;
	if (!(stag >> 8) || stag >> 8 >= REGIONS)
		return NULL;
	batch_references[stag >> 8]++;
	return &batch_regions[stag >> 8];
}

static void leave_region(struct kwarp_mr *mr)
{
	batch_references[mr - batch_regions]--;
}

/* Check: one reference on each region from @from to @to - 1, none on the others. */
void batch_expect_references(struct kunit *test, u32 from, u32 to)
{
	u32 i;

	for (i = 0; i < REGIONS; i++)
		KUNIT_EXPECT_EQ_MSG(test, batch_references[i], i >= from && i < to, "region %u", i);
}

u32 batch_window;
struct msghdr batch_sent;

static int take_some(struct socket *sock, struct msghdr *msg, bool locked)
{
	batch_sent = *msg;
	return batch_window ? min_t(u32, batch_window, msg_data_left(msg)) : -EAGAIN;
}

int batch_test_init(struct kunit *test)
{
	struct kwarp_batch *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, b);
	batch_regions = kunit_kcalloc(test, REGIONS, sizeof(*batch_regions), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, batch_regions);
	for (i = 0; i < REGIONS; i++)
		batch_regions[i].stag = i << 8 | 0x33;
	batch_lookups = 0;
	memset(batch_references, 0, sizeof(batch_references));
	memset(&batch_pages, 0, sizeof(batch_pages));
	prandom_seed_state(&batch_pages.rnd, SEED);
	kwarp_stub(test, kwarp_pages_put, leave_page);
	kwarp_stub(test, kwarp_pages_refill, refill_page);
	kwarp_stub(test, kwarp_mr_lookup, find_region);
	kwarp_stub(test, kwarp_mr_put, leave_region);
	kwarp_stub(test, kwarp_tcp_send, take_some);
	kwarp_batch_init(b, NULL);
	test->priv = b;
	return 0;
}

/* Check that kwarp_batch_fini() drops all references to regions. */
void batch_test_exit(struct kunit *test)
{
	if (!test->priv)
		return;
	kwarp_batch_fini(test->priv);
	batch_expect_references(test, 0, 0);
}

u32 batch_rnd_below(u32 n)
{
	return prandom_u32_state(&batch_pages.rnd) % n;
}

u8 batch_octet(u32 at)
{
	return at * 7 + at / 251;
}

static void write_octets(u8 *p, u32 at, u32 len)
{
	while (len--)
		*p++ = batch_octet(at++);
}

/* Append in one piece (kwarp_batch_whole()) or in several, by chance. */
bool batch_put_octets(struct kunit *test, struct kwarp_batch *b, u32 len)
{
	u32 at = b->len, got;
	u8 *p;

	p = batch_rnd_below(2) ? kwarp_batch_whole(b, len) : NULL;
	if (p) {
		write_octets(p, at, len);
		KUNIT_EXPECT_EQ(test, b->len, at + len);
		return true;
	}
	while (len) {
		p = kwarp_batch_frag(b, len, &got);
		if (!p)
			return false;
		KUNIT_EXPECT_GT(test, got, 0);
		KUNIT_ASSERT_LE(test, got, len);
		write_octets(p, at, got);
		at += got;
		len -= got;
	}
	return true;
}

void batch_expect_contents(struct kunit *test, const struct kwarp_batch *b)
{
	u32 at = 0, i, k;

	KUNIT_ASSERT_LE(test, b->n, KWARP_BATCH_BVECS);
	for (i = 0; i < b->n; i++) {
		const u8 *p = page_address(b->bv[i].bv_page) + b->bv[i].bv_offset;

		KUNIT_ASSERT_LE(test, b->bv[i].bv_offset + b->bv[i].bv_len, PAGE_SIZE);
		for (k = 0; k < b->bv[i].bv_len; k++, at++)
			KUNIT_ASSERT_EQ(test, p[k], batch_octet(at));
	}
	KUNIT_EXPECT_EQ(test, at, b->len);
}
