// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Context of kwarp_pages_put() and kwarp_pages_refill(): any but hard interrupt, perhaps with a
 * region locked: nothing sleeps unless @gfp allows.
 */
#include "pages.h"

#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "../../compat.h"
#include "../../door.h"
#include "../../limits.h"
#include "../../wq.h"

/* Size of a large (compound) page, as skb_page_frag_refill() allocates it if it can. */
#define LARGE		max_t(size_t, SZ_32K, PAGE_SIZE)
/* A page with less room than this is not used further. */
#define ROOM_MIN	SZ_4K
/* Number of pages examined at each end of a cache. */
#define TRIES		4
/* A full cache lets about one in this number of pages in. */
#define ADMIT		8
/* Pages stay in a cache for this time at most, so that no page stays there unused. */
#define LIFETIME	(10 * HZ)

struct page_cache {
	spinlock_t lock;		/* protects the rest of the structure */
	u32 n;
	u32 hand;			/* where cache_take() and cache_add() go on */
	struct page_frag frag[KWARP_PAGES];
};

static DEFINE_PER_CPU(struct page_cache, kwarp_page_caches);
static struct shrinker *shrinker;

static void drop_old(struct work_struct *work);
/* Pending while a cache has pages. */
static DECLARE_DELAYED_WORK(drop_work, drop_old);

static bool page_is_free(const struct page_frag *frag)
{
	/* Other users drop their reference with a full barrier after their last access. */
	return page_ref_count(frag->page) == 1;
}

static bool page_is_usable(struct page_frag *frag)
{
	if (page_is_free(frag))
		frag->offset = 0;
	return frag->size - frag->offset >= ROOM_MIN;
}

static bool page_is_worth_keeping(const struct page_frag *frag)
{
	return frag->size >= LARGE && !page_is_pfmemalloc(frag->page) &&
	       page_to_nid(frag->page) == numa_mem_id();
}

/*
 * The newest ones may still be in the processor's cache, if their octets were acknowledged quickly.
 * If they are in flight, perhaps to a distant peer, look at some of the others, each time at
 * different ones.
 */
static bool cache_take(struct page_cache *c, struct page_frag *frag)
{
	u32 i, n = c->n;

	for (i = 0; i < min_t(u32, n, 2 * TRIES); i++) {
		struct page_frag *at = &c->frag[i < TRIES ? n - 1 - i : c->hand++ % n];

		if (page_is_usable(at)) {
			*frag = *at;
			*at = c->frag[--c->n];
			return true;
		}
	}
	return false;
}

/*
 * Return: a page that is not kept, or NULL. A full cache refuses most pages: a stream that has more
 * in flight than the cache holds finds those again that were put first. But now and then a page is
 * let in, or a stream whose peer does not acknowledge would keep the others out.
 */
static struct page *cache_add(struct page_cache *c, const struct page_frag *frag)
{
	struct page_frag *at, *last = &c->frag[KWARP_PAGES - 1];
	struct page *old;

	if (c->n < KWARP_PAGES) {
		c->frag[c->n++] = *frag;
		return NULL;
	}
	if (c->hand++ % ADMIT)
		return frag->page;
	at = &c->frag[c->hand / ADMIT % KWARP_PAGES];
	old = at->page;
	*at = *last;
	*last = *frag;
	return old;
}

static unsigned long drop_pages(unsigned long most)
{
	unsigned long n = 0;
	struct page_cache *c;
	int cpu;

	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(&kwarp_page_caches, cpu);
		spin_lock_bh(&c->lock);
		for (; n < most && c->n; n++)
			put_page(c->frag[--c->n].page);
		spin_unlock_bh(&c->lock);
		if (n == most)
			break;
	}
	return n;
}

/* Caches in use fill again, which costs nothing compared with the traffic. */
static void drop_old(struct work_struct *work)
{
	drop_pages(ULONG_MAX);
}

static unsigned long count_pages(struct shrinker *s, struct shrink_control *sc)
{
	unsigned long n = 0;
	int cpu;

	if (!delayed_work_pending(&drop_work))
		return 0;
	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu_ptr(&kwarp_page_caches, cpu)->n);
	return n;
}

static unsigned long scan_pages(struct shrinker *s, struct shrink_control *sc)
{
	return drop_pages(sc->nr_to_scan);
}

int kwarp_engine_init_module(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		spin_lock_init(&per_cpu_ptr(&kwarp_page_caches, cpu)->lock);
	shrinker = shrinker_alloc(0, "kwarp");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = count_pages;
	shrinker->scan_objects = scan_pages;
	shrinker->seeks = DEFAULT_SEEKS;
	shrinker_register(shrinker);
	return 0;
}

/* There are no streams any more. */
void kwarp_engine_exit_module(void)
{
	shrinker_free(shrinker);
	cancel_delayed_work_sync(&drop_work);
	drop_pages(ULONG_MAX);
}

/* TCP may still reference octets before the fragment's offset. */
void kwarp_pages_put(struct page_frag *frag)
{
	KWARP_DOOR(kwarp_pages_put, frag);
	/* If the task moves to another processor meanwhile, this does no harm. */
	struct page_cache *c = raw_cpu_ptr(&kwarp_page_caches);
	struct page *unwanted = frag->page;

	if (!frag->page)
		return;
	if (page_is_worth_keeping(frag)) {
		/* Bottom halves off: softirqs take this lock, too. */
		spin_lock_bh(&c->lock);
		unwanted = cache_add(c, frag);
		spin_unlock_bh(&c->lock);
		if (!delayed_work_pending(&drop_work))
			queue_delayed_work(kwarp_wq, &drop_work, LIFETIME);
	}
	if (unwanted)
		put_page(unwanted);
	frag->page = NULL;
}

/*
 * @large: more than a page of octets is expected. Return: true if the fragment now has 4 KiB of
 * room or more.
 */
bool kwarp_pages_refill(struct page_frag *frag, bool large, gfp_t gfp)
{
	KWARP_DOOR(kwarp_pages_refill, frag, large, gfp);
	struct page_cache *c = raw_cpu_ptr(&kwarp_page_caches);
	bool found;

	if (frag->page && page_is_free(frag) && (frag->size >= LARGE || !large)) {
		frag->offset = 0;
		return true;
	}
	kwarp_pages_put(frag);
	if (!large) {
		frag->page = alloc_page(gfp);
		frag->offset = 0;
		frag->size = PAGE_SIZE;
		return frag->page;
	}
	spin_lock_bh(&c->lock);
	found = cache_take(c, frag);
	spin_unlock_bh(&c->lock);
	return found || skb_page_frag_refill(PAGE_SIZE, frag, gfp);
}
