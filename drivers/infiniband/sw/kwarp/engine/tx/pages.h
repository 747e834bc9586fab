/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Pages into which payload is copied for TCP. They are used again.
 *
 * If the kernel clears new pages (init_on_alloc), a new page costs more than the copy. So a page
 * that a stream has filled goes into a cache of the processor, and any stream may fill it again
 * when TCP, the network device's transmit queue and a receiver on this machine have all dropped
 * their references: then the cache's reference is the only one. A stream that becomes idle also
 * puts its partly used page into the cache. The next stream continues after the used part; octets
 * that TCP has got are never overwritten while a reference is left.
 *
 * A page_pool would not do: it gives up a page that is returned while others have references to it,
 * and TCP does not return the pages that it has sent to a pool.
 */
#ifndef KWARP_ENGINE_TX_PAGES_H
#define KWARP_ENGINE_TX_PAGES_H

#include <linux/mm_types.h>
#include <linux/types.h>

int kwarp_engine_init_module(void);
void kwarp_engine_exit_module(void);
bool kwarp_pages_refill(struct page_frag *frag, bool large, gfp_t gfp);
void kwarp_pages_put(struct page_frag *frag);

#endif /* KWARP_ENGINE_TX_PAGES_H */
