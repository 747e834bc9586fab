// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pages for payload, from a ring of the device.  Context of all functions: process, but
 * a region may be locked, so nothing sleeps unless @gfp allows it.
 */
#include "pages.h"

#include <linux/mm.h>
#include <net/sock.h>

#include "../kwarp.h"

/* What is larger than one page goes through the ring. */
static bool is_large(const struct page *page)
{
	return page_size((struct page *)page) > PAGE_SIZE;
}

/* Nobody else can see it any more. */
static bool is_free(const struct page *page)
{
	/* Whoever drops a reference does so with a full barrier behind its last access. */
	return page_ref_count(page) == 1;
}

/* From the emergency reserve, or far from here: not to be kept. */
static bool is_worth_keeping(const struct page *page)
{
	return is_large(page) && !page_is_pfmemalloc(page) &&
	       page_to_nid(page) == numa_mem_id();
}

void kwarp_pages_init(struct kwarp_dev *kdev)
{
	spin_lock_init(&kdev->pages.lock);
}

static struct page *pop(struct kwarp_dev *kdev)
{
	struct page *page = kdev->pages.ring[kdev->pages.first];

	kdev->pages.first = (kdev->pages.first + 1) % KWARP_PAGES;
	kdev->pages.n--;
	return page;
}

/* No stream is left. */
void kwarp_pages_fini(struct kwarp_dev *kdev)
{
	while (kdev->pages.n)
		put_page(pop(kdev));
}

/* The oldest page of the ring if it is free, else NULL. */
static struct page *take(struct kwarp_dev *kdev)
{
	struct page *page = NULL;

	spin_lock(&kdev->pages.lock);
	if (kdev->pages.n && is_free(kdev->pages.ring[kdev->pages.first]))
		page = pop(kdev);
	spin_unlock(&kdev->pages.lock);
	return page;
}

/* Put a page behind the others; if there are too many, the oldest has to go. */
static void keep(struct kwarp_dev *kdev, struct page *page)
{
	struct page *old = NULL;

	spin_lock(&kdev->pages.lock);
	if (kdev->pages.n == KWARP_PAGES)
		old = pop(kdev);
	kdev->pages.ring[(kdev->pages.first + kdev->pages.n++) % KWARP_PAGES] = page;
	spin_unlock(&kdev->pages.lock);
	if (old)
		put_page(old);
}

/**
 * kwarp_pages_leave - give the page of a fragment back
 * @kdev: device
 * @frag: fragment; empty afterwards
 *
 * Octets of it may still be on their way.
 */
void kwarp_pages_leave(struct kwarp_dev *kdev, struct page_frag *frag)
{
	struct page *page = frag->page;

	frag->page = NULL;
	if (!page)
		return;
	if (is_worth_keeping(page))
		keep(kdev, page);
	else
		put_page(page);
}

static bool refill_small(struct page_frag *frag, gfp_t gfp)
{
	frag->page = alloc_page(gfp);
	frag->offset = 0;
	frag->size = PAGE_SIZE;
	return frag->page;
}

static bool refill_large(struct kwarp_dev *kdev, struct page_frag *frag, gfp_t gfp)
{
	frag->page = take(kdev);
	frag->offset = 0;
	if (!frag->page)
		return skb_page_frag_refill(PAGE_SIZE, frag, gfp);
	frag->size = page_size(frag->page);
	return true;
}

/**
 * kwarp_pages_refill - replace a fragment that is used up
 * @kdev: device
 * @frag: fragment, or empty
 * @large: much is going to be sent
 * @gfp: whether allocation may sleep
 *
 * Return: true if the fragment now has a whole page or more.
 */
bool kwarp_pages_refill(struct kwarp_dev *kdev, struct page_frag *frag, bool large,
			gfp_t gfp)
{
	if (frag->page && is_free(frag->page) && is_large(frag->page) == large) {
		frag->offset = 0;
		return true;
	}
	kwarp_pages_leave(kdev, frag);
	return large ? refill_large(kdev, frag, gfp) : refill_small(frag, gfp);
}
