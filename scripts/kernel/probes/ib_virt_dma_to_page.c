// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* 6.2: ib_virt_dma_to_ptr() and ib_virt_dma_to_page() */
#include <rdma/ib_verbs.h>

struct page *probe(u64 dma_addr);
struct page *probe(u64 dma_addr)
{
	return ib_virt_dma_to_page(dma_addr);
}
