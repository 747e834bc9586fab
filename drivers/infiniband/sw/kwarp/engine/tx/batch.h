/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A batch: many FPDUs that go to TCP in one socket call.
 *
 * Everything is copied once, under the lock of its region, into pages of ours; the CRC is
 * folded in while the cache is warm; and those pages are handed to TCP, which refers to
 * them until the peer has acknowledged.  So nothing that a consumer can write to is ever
 * referenced after the step (5040-5.5-11: it may complete before the peer acknowledges), the
 * CRC is that of the octets sent, and no region stays in use while the peer makes us wait.
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

/* No more octets, but for a single FPDU that is longer. */
#define KWARP_BATCH_LEN		(64 * 1024)
/* Requests and elements looked at for one batch: it may be built in softirq. */
#define KWARP_BATCH_EFFORT	512
/* Pieces: at worst single pages, of which the first may be nearly used up; with markers. */
#define KWARP_BATCH_BVECS	(KWARP_BATCH_LEN / 4096 + 4)
/* What kwarp_batch_prefill() can be asked for: an FPDU of half of it always fits. */
#define KWARP_BATCH_FRAG_SURE	2048
/*
 * An empty batch has a place for every element of the longest list.  Those of a request are
 * taken when it is checked; if they fill the batch, some may have found none.
 */
#define KWARP_BATCH_MRS		32
static_assert(KWARP_BATCH_MRS >= KWARP_MAX_SGE);

/**
 * struct kwarp_batch - octets on their way to TCP; owned by the transmit runner
 * @kdev: device
 * @n: pieces in use
 * @nmr: regions in use
 * @much: the last batch was long, so this one may become so, too
 * @len: octets
 * @sent: of those, taken by TCP
 * @goal: end before this is passed: what TCP sends as one packet, before it is segmented
 * @cut: keep FPDUs aligned to segments of so many octets; 0: let them run on
 * @frag: where the next octets go
 * @bv: pieces; each holds a reference on its page
 * @mr: regions referenced while the batch is built
 */
struct kwarp_batch {
	struct kwarp_dev *kdev;
	u16 n;
	u8 nmr;
	bool much;
	u32 len;
	u32 sent;
	u32 goal;
	u32 cut;
	struct page_frag frag;
	struct bio_vec bv[KWARP_BATCH_BVECS];
	struct kwarp_mr *mr[KWARP_BATCH_MRS];
};

/* Where an FPDU began, to take it back. */
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

/**
 * kwarp_batch_takes - may an FPDU be appended?
 * @b: batch
 * @len: its octets
 *
 * Context: the runner.
 * Return: false if the batch would get longer than one packet, the FPDU would begin in one segment
 * and end in another where that is to be avoided (5044-5.1-4), or a region that it needs may have
 * found no place; it then begins the next batch.
 */
static inline bool kwarp_batch_takes(const struct kwarp_batch *b, u32 len)
{
	/* Behind the last place where TCP will cut: an aligned batch begins at one. */
	u32 tail = b->cut ? b->len % b->cut : 0;

	return !b->len || (b->nmr < KWARP_BATCH_MRS && b->len + len <= b->goal &&
			   (!tail || tail + len <= b->cut));
}

/* Octets left of the fragment. */
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
