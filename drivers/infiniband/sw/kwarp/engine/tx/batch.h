/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A batch: many FPDUs that go to TCP in one socket call.
 *
 * After the socket call nothing references memory that a consumer can write to, and a request may
 * complete before the peer acknowledges (5040-5.5-11).
 */
#ifndef KWARP_ENGINE_TX_BATCH_H
#define KWARP_ENGINE_TX_BATCH_H

#include <linux/bvec.h>
#include <linux/mm_types.h>
#include <linux/types.h>

#include "../../limits.h"

struct kwarp_dev;
struct kwarp_mr;
struct socket;

/* Limit of a batch, in octets. A single FPDU may be longer. */
#define KWARP_BATCH_LEN		(64 * 1024)
/*
 * Limit of requests and scatter/gather elements examined for one batch, because a batch may be
 * built in softirq.
 */
#define KWARP_BATCH_EFFORT	512
/*
 * Limit of pieces of memory in a batch: the pages of a full batch, and four more. In the worst
 * case all pages are single ones, the first is nearly used up, and a long FPDU has markers.
 */
#define KWARP_BATCH_BVECS	(KWARP_BATCH_LEN / 4096 + 4)
/*
 * Limit of the octets that kwarp_batch_prefill() may be asked for. An FPDU whose ULPDU has at most
 * half as many octets always fits into them.
 */
#define KWARP_BATCH_FRAG_SURE	2048
/*
 * Limit of regions that a batch can reference. An empty batch has room for every element of the
 * longest scatter/gather list. A request's regions are added when the request is checked. A region
 * that finds no room is looked up again when its payload is copied into the next batch.
 */
#define KWARP_BATCH_MRS		32
static_assert(KWARP_BATCH_MRS >= KWARP_MAX_SGE);

/*
 * struct kwarp_batch - owned by the runner
 * @large: the last batch was longer than a page, so this one may be, too: use large pages
 * @goal: length limit: octets that TCP, with segmentation offload, passes to the network device as
 *	one packet
 * @cut: segment size to which FPDUs are aligned; 0: no alignment
 * @least: an FPDU may be longer than a TCP segment, and is made shorter to fit into the batch; for
 *	that reason it has no ULPDU shorter than this; 0: FPDUs fit into a segment
 * @bv: pieces of memory; each holds a reference on its page
 * @mr: regions referenced while the batch is built
 */
struct kwarp_batch {
	struct kwarp_dev *kdev;
	u16 n;
	u8 nmr;
	bool large;
	u32 len;
	u32 sent;
	u32 goal;
	u32 cut;
	u32 least;
	struct page_frag frag;
	struct bio_vec bv[KWARP_BATCH_BVECS];
	struct kwarp_mr *mr[KWARP_BATCH_MRS];
};

struct kwarp_batch_mark {
	u16 n;
	u32 len;
	u32 last_len;
};

void kwarp_batch_init(struct kwarp_batch *b, struct kwarp_dev *kdev);
void kwarp_batch_fini(struct kwarp_batch *b);
void kwarp_batch_reset(struct kwarp_batch *b);
void kwarp_batch_idle(struct kwarp_batch *b);

static inline bool kwarp_batch_pending(const struct kwarp_batch *b)
{
	return b->sent != b->len;
}

/*
 * Return: true if so, always for an empty batch. False if the batch would get longer than @b->goal,
 * if the FPDU would cross a boundary of TCP segments where that is to be avoided (5044-5.1-4), or
 * if the batch can reference no more regions. The FPDU then begins the next batch.
 */
static inline bool kwarp_batch_fits(const struct kwarp_batch *b, u32 len)
{
	/* Octets in the last, incomplete TCP segment: an aligned batch begins a new segment. */
	u32 tail = b->cut ? b->len % b->cut : 0;

	return !b->len || (b->nmr < KWARP_BATCH_MRS && b->len + len <= b->goal &&
			   (!tail || tail + len <= b->cut));
}

/* Octets that the batch still takes of an FPDU that may be made shorter. */
static inline u32 kwarp_batch_left(const struct kwarp_batch *b)
{
	return b->len < b->goal ? b->goal - b->len : 0;
}

static inline u32 kwarp_batch_room(const struct kwarp_batch *b)
{
	return b->frag.page ? b->frag.size - b->frag.offset : 0;
}

void kwarp_batch_mark(const struct kwarp_batch *b, struct kwarp_batch_mark *m);
void kwarp_batch_rollback(struct kwarp_batch *b, const struct kwarp_batch_mark *m);
void kwarp_batch_prefill(struct kwarp_batch *b, u32 want, bool may_sleep);
u8 *kwarp_batch_frag(struct kwarp_batch *b, u32 want, u32 *got);
u8 *kwarp_batch_whole(struct kwarp_batch *b, u32 len);
struct kwarp_mr *kwarp_batch_mr(struct kwarp_batch *b, u32 stag);
int kwarp_batch_send(struct kwarp_batch *b, struct socket *sock, bool locked);

#endif /* KWARP_ENGINE_TX_BATCH_H */
