// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Allocates and frees the stash, a buffer for an FPDU that TCP cannot keep until it is complete.
 * skb.c explains when that is, and copies octets to it.
 */
#include "rx.h"

#include <linux/sched/mm.h>
#include <linux/vmalloc.h>

#include "../../kwarp.h"
#include "../tcp.h"

/*
 * If the limit of TCP or of the cgroup is reached, a few stashes of a device may exist without
 * being charged. TCP does the same: it keeps some octets for each connection although its limit is
 * reached. Without a stash the stream waits, and any program on this machine could cause that by
 * using up TCP's memory.
 */
static bool stash_pay(struct kwarp_engine *e)
{
	struct kwarp_rx_stash *s = &e->rx.stash;

	s->charged = kwarp_tcp_charge(e->sock, s->size);
	return s->charged ||
	       atomic_add_unless(&e->kdev->stashes_unpaid, 1, KWARP_MAX_UNPAID_STASHES);
}

/*
 * Allocate the stash, which may have a little more than 64 KiB. __vmalloc() uses single pages for
 * it; kmalloc() would need a contiguous block of up to 128 KiB.
 */
static bool stash_alloc(struct kwarp_engine *e)
{
	struct kwarp_rx_stash *s = &e->rx.stash;

	/* From KWARP_FPDU_MIN octets on the length of the FPDU is known. */
	s->size = e->rx.want > KWARP_FPDU_MIN ? e->rx.want : KWARP_FPDU_MAX;
	s->buf = __vmalloc(s->size, GFP_KERNEL | __GFP_NOWARN);
	if (!s->buf)
		return false;
	if (!stash_pay(e)) {
		vfree(s->buf);
		s->buf = NULL;
		return false;
	}
	atomic_inc(&e->kdev->stashes_now);
	atomic_long_inc(&e->kdev->stashes);
	return true;
}

/* There is no stash. Context: process, socket lock held; may sleep. */
bool kwarp_rx_make_stash(struct kwarp_engine *e)
{
	/*
	 * A block device or file system may depend on this stream, so allocations must not wait for
	 * I/O.
	 */
	unsigned int noio = memalloc_noio_save();

	e->rx.stash.use = stash_alloc(e);
	memalloc_noio_restore(noio);
	return e->rx.stash.use;
}

/*
 * The stash is not kept for later, because peers decide how many streams need one. Context: socket
 * lock held, no piece of an skb mapped.
 */
void kwarp_rx_free_stash(struct kwarp_engine *e)
{
	struct kwarp_rx_stash *s = &e->rx.stash;

	if (!s->buf || s->use)
		return;
	vfree(s->buf);
	if (s->charged)
		kwarp_tcp_uncharge(e->sock, s->size);
	else
		atomic_dec(&e->kdev->stashes_unpaid);
	*s = (struct kwarp_rx_stash) { };
	atomic_dec(&e->kdev->stashes_now);
}
