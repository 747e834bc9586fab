// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pages for payload, from a ring of the RDMA device; see pages.h. Context of all functions: any but
 * hard interrupt, perhaps with a region locked: nothing sleeps unless @gfp allows.
 */
#include "pages.h"

#include <linux/mm.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "../../kwarp.h"
#include "../../wq.h"

/* Size of a large (compound) page, as skb_page_frag_refill() allocates it if it can. */
#define LARGE		max_t(size_t, SZ_32K, PAGE_SIZE)
/* A page with less room than this is not used further. */
#define ROOM_MIN	SZ_4K
/* Number of entries examined at each end of the ring. */
#define TRIES		4
/* A ring that nobody has used for this time is emptied; for twice this time at most. */
#define UNUSED		(5 * HZ)

/*
 * Is the page a large one? A smaller one belongs to small traffic, or was allocated when no large
 * one was free.
 */
static bool page_is_large(const struct page_frag *frag)
{
	return frag->size >= LARGE;
}

/* Is our reference to the page the only one? */
static bool page_is_free(const struct page_frag *frag)
{
	/* Other users drop their reference with a full barrier after their last access. */
	return page_ref_count(frag->page) == 1;
}

/* May the page go into the ring? If it is large, of this NUMA node, and no emergency reserve. */
static bool page_is_worth_keeping(const struct page_frag *frag)
{
	return page_is_large(frag) && !page_is_pfmemalloc(frag->page) &&
	       page_to_nid(frag->page) == numa_mem_id();
}

static struct page_frag pages_pop(struct kwarp_dev *kdev)
{
	struct page_frag frag = kdev->pages.ring[kdev->pages.first];

	kdev->pages.first = (kdev->pages.first + 1) % KWARP_PAGES;
	kdev->pages.n--;
	return frag;
}

static void pages_push(struct kwarp_dev *kdev, const struct page_frag *frag)
{
	kdev->pages.ring[(kdev->pages.first + kdev->pages.n++) % KWARP_PAGES] = *frag;
}

/* Take the oldest page out of the ring. Return: NULL: the ring was used since the last call. */
static struct page *pages_take_unused(struct kwarp_dev *kdev)
{
	struct page *page = NULL;

	spin_lock_bh(&kdev->pages.lock);
	if (!kdev->pages.used && kdev->pages.n)
		page = pages_pop(kdev).page;
	spin_unlock_bh(&kdev->pages.lock);
	return page;
}

/* Empty the ring if it was not used since the previous call, else look again later. */
static void pages_work(struct work_struct *work)
{
	struct kwarp_dev *kdev = container_of(work, struct kwarp_dev, pages.work.work);
	struct page *page;

	while ((page = pages_take_unused(kdev)))
		put_page(page);
	spin_lock_bh(&kdev->pages.lock);
	kdev->pages.used = false;
	if (kdev->pages.n)
		queue_delayed_work(kwarp_wq, &kdev->pages.work, UNUSED);
	spin_unlock_bh(&kdev->pages.lock);
}

void kwarp_pages_init(struct kwarp_dev *kdev)
{
	spin_lock_init(&kdev->pages.lock);
	INIT_DELAYED_WORK(&kdev->pages.work, pages_work);
}

/* Free the ring. The device has no streams any more. */
void kwarp_pages_fini(struct kwarp_dev *kdev)
{
	cancel_delayed_work_sync(&kdev->pages.work);
	while (kdev->pages.n)
		put_page(pages_pop(kdev).page);
}

/* Is there enough room in the page: all of it if it is free, else from @frag->offset on? */
static bool page_is_usable(struct page_frag *frag)
{
	if (page_is_free(frag))
		frag->offset = 0;
	return frag->size - frag->offset >= ROOM_MIN;
}

static struct page_frag *pages_at(struct kwarp_dev *kdev, u32 i)
{
	return &kdev->pages.ring[(kdev->pages.first + i) % KWARP_PAGES];
}

/*
 * Get one of the pages that were returned last: it may still be in the processor's cache, if its
 * octets were acknowledged quickly.
 */
static bool pages_get_newest(struct kwarp_dev *kdev, struct page_frag *frag)
{
	u32 i, last = kdev->pages.n - 1, n = min_t(u32, kdev->pages.n, TRIES);

	for (i = 0; i < n; i++) {
		if (!page_is_usable(pages_at(kdev, last - i)))
			continue;
		*frag = *pages_at(kdev, last - i);
		*pages_at(kdev, last - i) = *pages_at(kdev, last);
		kdev->pages.n--;
		return true;
	}
	return false;
}

/*
 * Get one of the oldest pages. Pages that are still referenced move to the other end, so that a
 * stream with a distant peer does not hide the free pages of others.
 */
static bool pages_get_oldest(struct kwarp_dev *kdev, struct page_frag *frag)
{
	u32 i, n = min_t(u32, kdev->pages.n, TRIES);

	for (i = 0; i < n; i++) {
		*frag = pages_pop(kdev);
		if (page_is_usable(frag))
			return true;
		pages_push(kdev, frag);
	}
	return false;
}

/* Get a page with room from the ring, if one is found quickly. */
static bool pages_get(struct kwarp_dev *kdev, struct page_frag *frag)
{
	bool found;

	/*
	 * Bottom halves off: softirqs take this lock, too, perhaps while they hold a region's
	 * lock.
	 */
	spin_lock_bh(&kdev->pages.lock);
	found = pages_get_newest(kdev, frag) || pages_get_oldest(kdev, frag);
	spin_unlock_bh(&kdev->pages.lock);
	if (!found)
		frag->page = NULL;
	return found;
}

/* Add a page to the ring. If the ring is full, drop its oldest page. */
static void pages_keep(struct kwarp_dev *kdev, const struct page_frag *frag)
{
	struct page_frag old = { };

	spin_lock_bh(&kdev->pages.lock);
	kdev->pages.used = true;
	if (kdev->pages.n == KWARP_PAGES)
		old = pages_pop(kdev);
	else if (!kdev->pages.n)
		queue_delayed_work(kwarp_wq, &kdev->pages.work, UNUSED);
	pages_push(kdev, frag);
	spin_unlock_bh(&kdev->pages.lock);
	if (old.page)
		put_page(old.page);
}

/**
 * kwarp_pages_put - return the page of a fragment to the ring, or free it
 * @kdev: device
 * @frag: fragment; empty afterwards
 *
 * TCP may still reference octets before the fragment's offset.
 */
void kwarp_pages_put(struct kwarp_dev *kdev, struct page_frag *frag)
{
	if (!frag->page)
		return;
	if (page_is_worth_keeping(frag))
		pages_keep(kdev, frag);
	else
		put_page(frag->page);
	frag->page = NULL;
}

static bool pages_refill_small(struct page_frag *frag, gfp_t gfp)
{
	frag->page = alloc_page(gfp);
	frag->offset = 0;
	frag->size = PAGE_SIZE;
	return frag->page;
}

static bool pages_refill_large(struct kwarp_dev *kdev, struct page_frag *frag, gfp_t gfp)
{
	if (pages_get(kdev, frag))
		return true;
	frag->offset = 0;
	return skb_page_frag_refill(PAGE_SIZE, frag, gfp);
}

/**
 * kwarp_pages_refill - replace a fragment that is used up
 * @kdev: device
 * @frag: fragment, or empty
 * @large: more than a page of octets is expected: get a large page
 * @gfp: flags for the allocation
 *
 * Return: true if the fragment now has 4 KiB of room or more.
 */
bool kwarp_pages_refill(struct kwarp_dev *kdev, struct page_frag *frag, bool large,
			gfp_t gfp)
{
	if (frag->page && page_is_free(frag) && (page_is_large(frag) || !large)) {
		frag->offset = 0;
		return true;
	}
	kwarp_pages_put(kdev, frag);
	return large ? pages_refill_large(kdev, frag, gfp) : pages_refill_small(frag, gfp);
}
