// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pages for payload, from a ring of the device.  Context of all functions: any but hard
 * interrupt, and a region may be locked: nothing sleeps unless @gfp allows it.
 */
#include "pages.h"

#include <linux/mm.h>
#include <net/sock.h>

#include "../../kwarp.h"

/* What networking allocates for payload, if it can. */
#define LARGE		max_t(size_t, SZ_32K, PAGE_SIZE)
/* Smallest rest of a page that is worth going on with. */
#define ROOM_MIN	SZ_4K
/* Entries of the ring that are looked at, at either end. */
#define TRIES		4

/* Smaller ones are of small traffic, or of a moment without large ones. */
static bool is_large(const struct page_frag *frag)
{
	return frag->size >= LARGE;
}

/* Nobody else can see it any more. */
static bool is_free(const struct page_frag *frag)
{
	/* A reference is dropped with a full barrier behind the last access. */
	return page_ref_count(frag->page) == 1;
}

/* From the emergency reserve, or far from here: not to be kept. */
static bool is_worth_keeping(const struct page_frag *frag)
{
	return is_large(frag) && !page_is_pfmemalloc(frag->page) &&
	       page_to_nid(frag->page) == numa_mem_id();
}

void kwarp_pages_init(struct kwarp_dev *kdev)
{
	spin_lock_init(&kdev->pages.lock);
}

static struct page_frag pop(struct kwarp_dev *kdev)
{
	struct page_frag frag = kdev->pages.ring[kdev->pages.first];

	kdev->pages.first = (kdev->pages.first + 1) % KWARP_PAGES;
	kdev->pages.n--;
	return frag;
}

static void push(struct kwarp_dev *kdev, const struct page_frag *frag)
{
	kdev->pages.ring[(kdev->pages.first + kdev->pages.n++) % KWARP_PAGES] = *frag;
}

/* No stream is left. */
void kwarp_pages_fini(struct kwarp_dev *kdev)
{
	while (kdev->pages.n)
		put_page(pop(kdev).page);
}

/* Can it be used, from @offset on? */
static bool is_usable(struct page_frag *frag)
{
	if (is_free(frag))
		frag->offset = 0;
	return frag->size - frag->offset >= ROOM_MIN;
}

static struct page_frag *at(struct kwarp_dev *kdev, u32 i)
{
	return &kdev->pages.ring[(kdev->pages.first + i) % KWARP_PAGES];
}

/* One that was given back lately: the processor's cache may have it, if its peer is near. */
static bool take_newest(struct kwarp_dev *kdev, struct page_frag *frag)
{
	u32 i, last = kdev->pages.n - 1, n = min_t(u32, kdev->pages.n, TRIES);

	for (i = 0; i < n; i++) {
		if (!is_usable(at(kdev, last - i)))
			continue;
		*frag = *at(kdev, last - i);
		*at(kdev, last - i) = *at(kdev, last);
		kdev->pages.n--;
		return true;
	}
	return false;
}

/*
 * One of the oldest; those still in flight go to the end, so that a stream whose peer is far
 * away does not hide what others have done with.
 */
static bool take_oldest(struct kwarp_dev *kdev, struct page_frag *frag)
{
	u32 i, n = min_t(u32, kdev->pages.n, TRIES);

	for (i = 0; i < n; i++) {
		*frag = pop(kdev);
		if (is_usable(frag))
			return true;
		push(kdev, frag);
	}
	return false;
}

/* A page of the ring with room, if one is found soon. */
static bool take(struct kwarp_dev *kdev, struct page_frag *frag)
{
	bool found;

	/* A region that a softirq may wait for can be locked: no softirq in between. */
	spin_lock_bh(&kdev->pages.lock);
	found = take_newest(kdev, frag) || take_oldest(kdev, frag);
	spin_unlock_bh(&kdev->pages.lock);
	if (!found)
		frag->page = NULL;
	return found;
}

/* Put a page behind the others; if there are too many, the oldest has to go. */
static void keep(struct kwarp_dev *kdev, const struct page_frag *frag)
{
	struct page_frag old = { };

	spin_lock_bh(&kdev->pages.lock);
	if (kdev->pages.n == KWARP_PAGES)
		old = pop(kdev);
	push(kdev, frag);
	spin_unlock_bh(&kdev->pages.lock);
	if (old.page)
		put_page(old.page);
}

/**
 * kwarp_pages_leave - give the page of a fragment back
 * @kdev: device
 * @frag: fragment; empty afterwards
 *
 * Octets of it before its offset may still be on their way.
 */
void kwarp_pages_leave(struct kwarp_dev *kdev, struct page_frag *frag)
{
	if (!frag->page)
		return;
	if (is_worth_keeping(frag))
		keep(kdev, frag);
	else
		put_page(frag->page);
	frag->page = NULL;
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
	if (take(kdev, frag))
		return true;
	frag->offset = 0;
	return skb_page_frag_refill(PAGE_SIZE, frag, gfp);
}

/**
 * kwarp_pages_refill - replace a fragment that is used up
 * @kdev: device
 * @frag: fragment, or empty
 * @large: much is going to be sent
 * @gfp: whether allocation may sleep
 *
 * Return: true if the fragment now has 4 KiB of room or more.
 */
bool kwarp_pages_refill(struct kwarp_dev *kdev, struct page_frag *frag, bool large,
			gfp_t gfp)
{
	if (frag->page && is_free(frag) && (is_large(frag) || !large)) {
		frag->offset = 0;
		return true;
	}
	kwarp_pages_leave(kdev, frag);
	return large ? refill_large(kdev, frag, gfp) : refill_small(frag, gfp);
}
