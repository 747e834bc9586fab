/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Pages that payload is copied into on its way to TCP, and that are used again.
 *
 * A fresh page is dear where the kernel clears it (init_on_alloc), dearer than the copy.
 * So what a stream has filled goes into a ring of its device, and is filled again by
 * whoever needs a page when TCP, the wire and a receiver on this machine have all let
 * go of it: then the ring's reference is the only one.  What an idle stream has not used
 * of a page goes there, too, and the next one goes on behind it; an octet that has been
 * handed to TCP is never written again before that.
 *
 * The ring grows while all that is in it is in flight, up to KWARP_PAGES, and lives as
 * long as the device.  Small traffic does not get that far: it fills single pages of its
 * own, so that an idle connection keeps one page at most.
 */
#ifndef KWARP_ENGINE_TX_PAGES_H
#define KWARP_ENGINE_TX_PAGES_H

#include <linux/mm_types.h>
#include <linux/types.h>

struct kwarp_dev;

void kwarp_pages_init(struct kwarp_dev *kdev);
void kwarp_pages_fini(struct kwarp_dev *kdev);
bool kwarp_pages_refill(struct kwarp_dev *kdev, struct page_frag *frag, bool large,
			gfp_t gfp);
void kwarp_pages_leave(struct kwarp_dev *kdev, struct page_frag *frag);

#endif /* KWARP_ENGINE_TX_PAGES_H */
