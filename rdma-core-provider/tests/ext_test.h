/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: what the tests of RFC 7306 share: immediate data, and queue pairs with or without
 * KWARP_FEATURE_RFC7306.
 */
#ifndef KWARP_EXT_TEST_H
#define KWARP_EXT_TEST_H

#include <stdint.h>
#include <string.h>

#include "fake_kernel.h"

static const uint8_t imm_octets[4] = { 1, 2, 3, 4 };

static inline __be32 imm_data(void)
{
	__be32 imm;

	memcpy(&imm, imm_octets, sizeof(imm));
	return imm;
}

/*
 * Make a queue pair with these features.  Its slots are filled with 0xff, so that a check of a slot
 * fails if a post has not set all members of the entry.
 */
static inline struct kwarp_qp *qp_with(uint64_t features)
{
	struct kwarp_qp *qp = qp_make(0);

	qp->features = features;
	memset(qp->sq.ring.entries, 0xff, SLOTS * SQ_STRIDE);
	return qp;
}

#endif /* KWARP_EXT_TEST_H */
