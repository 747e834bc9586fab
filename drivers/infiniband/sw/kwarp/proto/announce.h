/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The announcement: a zero-length RDMA Write by which an end says what it accepts beyond the RFCs.
 * Of such a Write only the control fields are valid (RFC 5041 section 5.2), so a peer that does not
 * know the announcement ignores STag and TO, and its consumer notices nothing.
 */
#ifndef KWARP_PROTO_ANNOUNCE_H
#define KWARP_PROTO_ANNOUNCE_H

#include "ddp.h"

/* The STag is not 0, because some hardware treats 0 specially. */
#define KWARP_ANNOUNCE_STAG	1
/* TO: a word that nobody else sends, and bits for what this end accepts. */
#define KWARP_ANNOUNCE_TO	0x6b77617270000000ULL
#define KWARP_ANNOUNCE_BITS	0xffffffULL
/* FPDUs longer than a TCP segment. */
#define KWARP_ANNOUNCE_LONG	1ULL

/* Return: KWARP_ANNOUNCE_* bits of a zero-length Write; 0: it is no announcement, or has none. */
static inline u64 kwarp_announced(const struct kwarp_ddp_hdr *h)
{
	if (h->stag != KWARP_ANNOUNCE_STAG || (h->to & ~KWARP_ANNOUNCE_BITS) != KWARP_ANNOUNCE_TO)
		return 0;
	return h->to & KWARP_ANNOUNCE_BITS;
}

#endif /* KWARP_PROTO_ANNOUNCE_H */
