/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of regions: memory of a process, and fakes for what regions are made of:
 * the RDMA core's pinned memory, STags and dma-bufs.
 */
#ifndef KWARP_MEM_TESTS_REGION_FIXTURE_H
#define KWARP_MEM_TESTS_REGION_FIXTURE_H

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <rdma/ib_umem.h>

/* Rename the fakes: the layer has functions of the same names. */
#define kwarp_stag_alloc	region_stag_alloc
#define kwarp_stag_publish	region_stag_publish
#define kwarp_stag_free		region_stag_free
#define kwarp_mr_put		region_mr_put
#define kwarp_dmabuf_put	region_dmabuf_put
#define kwarp_dmabuf_is_writable region_dmabuf_is_writable
#define kwarp_dmabuf_count	region_dmabuf_count
#define kwarp_dmabuf_pieces	region_dmabuf_pieces
#include "../../kwarp.h"
#include "../mr.h"

/* A multiple of PIECE, the size of the largest pieces in the tests */
#define BASE	0x7f0000400000UL
#define IOVA	0x1234567890abULL
#define ORDER	4
#define PIECE	(PAGE_SIZE << ORDER)
#define PIECES	3

#define LISTED	5

struct region_test {
	struct kwarp_dev kdev;
	struct kwarp_pd pd;
	struct ib_uobject uobject;
	struct ib_umem umem;
	struct page *pages[PIECES];	/* first page of each piece */
};

/* Size of pieces that the fake for ib_umem_find_best_pgsz() returns. */
extern unsigned long region_chosen_size;
extern u32 region_released, region_buffers_put;
/* Octets allocated: those charged to the memory cgroup of the process (paid), and the others. */
extern size_t region_paid, region_unpaid;
/* Size of struct kwarp_backing, which only region.c knows. */
extern const size_t region_backing_octets;
/* Octets that the account of the user has been charged with, and not given back. */
extern u64 region_charged;
extern bool region_no_stag, region_no_charge;

int region_test_init(struct kunit *test);
void region_test_exit(struct kunit *test);
u8 *region_process_octet(const struct region_test *t, u64 at);
void region_pin_memory(struct kunit *test, u64 from, u64 length);

#endif /* KWARP_MEM_TESTS_REGION_FIXTURE_H */
