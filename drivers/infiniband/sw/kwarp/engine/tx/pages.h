/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Pages into which payload is copied for TCP. They are used again.
 *
 * If the kernel clears new pages (init_on_alloc), a new page costs more than the copy. So a page
 * that a stream has filled goes into a ring of the RDMA device, and any stream may fill it again
 * when TCP, the network device's transmit queue and a receiver on this machine have all dropped
 * their references: then the ring's reference is the only one. A stream that becomes idle also puts
 * its partly used page into the ring. The next stream continues after the used part; octets that
 * TCP has got are never overwritten while a reference is left.
 *
 * The ring grows, up to KWARP_PAGES, while all of its pages are referenced elsewhere. The pages are
 * freed when the ring has not been used for some seconds. A stream with little traffic does not use
 * the ring: it allocates single pages, so that an idle connection keeps one page at most.
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
void kwarp_pages_put(struct kwarp_dev *kdev, struct page_frag *frag);

#endif /* KWARP_ENGINE_TX_PAGES_H */
