/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An skb whose octets are in many pieces of memory, for the suites of mem and of engine. */
#ifndef KWARP_MEM_TESTS_SKB_FIXTURE_H
#define KWARP_MEM_TESTS_SKB_FIXTURE_H

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/skbuff.h>

/* Number of pieces in which the octets of test_skb_new() are. */
#define TEST_SKB_PIECES	8

static inline void test_skb_free(void *skb)
{
	kfree_skb(skb);
}

static inline struct sk_buff *test_skb_part(struct kunit *test, const u8 *data, u32 each,
					    bool linear, u32 frags)
{
	struct sk_buff *skb = alloc_skb(each, GFP_KERNEL);
	u32 i, order;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	if (linear)
		skb_put_data(skb, data, each);
	for (i = 0; i < frags; i++) {
		struct page *page;

		/* At offset i of its pages, so that copies also begin at odd addresses. */
		order = get_order(i + each);
		page = alloc_pages(GFP_KERNEL | __GFP_COMP, order);
		KUNIT_ASSERT_NOT_NULL(test, page);
		memcpy(page_address(page) + i, data + (linear + i) * each, each);
		skb_add_rx_frag(skb, i, page, i, each, PAGE_SIZE << order);
	}
	return skb;
}

/*
 * Make an skb of @data, in TEST_SKB_PIECES pieces of @each octets: the linear part, three frags,
 * and a frag_list of two skbs, the first of which has a linear part and a frag, the second only
 * frags. It is freed at the end of the test.
 */
static inline struct sk_buff *test_skb_new(struct kunit *test, const u8 *data, u32 each)
{
	struct sk_buff *skb = test_skb_part(test, data, each, true, 3);
	struct sk_buff *list = test_skb_part(test, data + 4 * each, each, true, 1), *s;

	skb_shinfo(skb)->frag_list = list;
	list->next = test_skb_part(test, data + 6 * each, each, false, 2);
	skb_walk_frags(skb, s) {
		skb->len += s->len;
		skb->data_len += s->len;
		skb->truesize += s->truesize;
	}
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, test_skb_free, skb), 0);
	KUNIT_ASSERT_EQ(test, skb->len, TEST_SKB_PIECES * each);
	return skb;
}

#endif /* KWARP_MEM_TESTS_SKB_FIXTURE_H */
