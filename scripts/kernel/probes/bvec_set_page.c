// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* 6.3: bvec_set_page() and bvec_set_virt() */
#include <linux/bvec.h>

void probe(struct bio_vec *bv, struct page *page);
void probe(struct bio_vec *bv, struct page *page)
{
	bvec_set_page(bv, page, 4096, 0);
}
