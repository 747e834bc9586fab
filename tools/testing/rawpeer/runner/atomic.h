/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* kwrawpeer: macros that the cases of atomic operations (RFC 7306) share. */
#ifndef RAWPEER_ATOMIC_H
#define RAWPEER_ATOMIC_H

#include "runner/step.h"

/*
 * Offset, in a region that begins at offset @place of the consumer's memory (the arena), of the
 * first octet whose address is a multiple of 8. The arena begins at a page.
 */
#define ALIGNED(place)	((8 - ((place) & 7)) & 7)

/* Offsets of the first aligned words of these regions, whose places are in target/places.c. */
#define RW_OFF		ALIGNED(0x2003)
#define IOVA_OFF	ALIGNED(0xf007)
#define WIN_OFF		ALIGNED(0x21c03)

/*
 * Members of struct rp_step. ADD and SWAP are Atomic Requests, of the raw peer (RP_SEG) or of the
 * device (RP_GET). POST_ADD and POST_SWAP are requests of the consumer (RP_POST). RESP is an Atomic
 * Response.
 */
#define ADD(n)		.op = KWRAW_ATOMIC_REQ, .data = (n), .compare_mask = ~0ULL
#define SWAP(c, s)	.op = KWRAW_ATOMIC_REQ, .aop = KWRAW_CMP_SWAP, .compare = (c), \
			.data = (s), .mask = ~0ULL, .compare_mask = ~0ULL
#define POST_ADD(n)	.verb = IBV_WR_ATOMIC_FETCH_AND_ADD, .data = (n)
#define POST_SWAP(c, s)	.verb = IBV_WR_ATOMIC_CMP_AND_SWP, .compare = (c), .data = (s)
#define RESP		.op = KWRAW_ATOMIC_RESP

#endif /* RAWPEER_ATOMIC_H */
