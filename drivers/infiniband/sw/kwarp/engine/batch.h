/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A batch: many FPDUs that go to TCP in one socket call.
 *
 * Two ways to carry payload.  Copied by TCP (no CRC, no markers, regions that only
 * deregistration revokes, which waits for references): headers sit in an arena,
 * payload is described where it lies, and one sendmsg() copies both into TCP's own
 * pages; the consumer's buffer is free when the call returns.  By reference (CRC,
 * markers, or regions and windows that can be invalidated at any moment and are
 * therefore read under their lock: all of a kernel consumer, and of a user one from its
 * first bind on): everything is copied once into fresh page
 * fragments, where the CRC is folded in while the cache is warm, and those pages are
 * handed to TCP.  Either way nothing that a consumer can write to is ever referenced
 * after the step, and the CRC is that of the octets sent (design: zero copy must be
 * safe).
 */
#ifndef KWARP_ENGINE_BATCH_H
#define KWARP_ENGINE_BATCH_H

#include <linux/bvec.h>
#include <linux/mm_types.h>
#include <linux/types.h>

#include "../limits.h"

struct kwarp_dev;
struct kwarp_mr;
struct socket;

#define KWARP_BATCH_BVECS	256
#define KWARP_BATCH_ARENA	(16 * 1024)
#define KWARP_BATCH_LEN		(64 * 1024)
/* What kwarp_batch_prefill() can be asked for: an FPDU of half of it always fits. */
#define KWARP_BATCH_FRAG_SURE	2048
/* An empty batch has a place for every element of the longest list. */
#define KWARP_BATCH_MRS		32
static_assert(KWARP_BATCH_MRS >= KWARP_MAX_SGE);

/**
 * struct kwarp_batch - octets on their way to TCP; owned by the transmit runner
 * @bv: pieces
 * @n: pieces in use
 * @nmr: regions in use
 * @by_ref: pieces are pages of ours that TCP may keep
 * @len: octets
 * @sent: of those, taken by TCP
 * @arena: headers and small payloads (not @by_ref)
 * @used: octets of it in use
 * @frag: current page fragment (@by_ref)
 * @mr: regions referenced while the batch is built and sent
 * @tail: rest of a batch that TCP took only in part, copied so that no region stays
 *	referenced while the peer makes us wait
 */
struct kwarp_batch {
	struct bio_vec *bv;
	u16 n;
	u8 nmr;
	bool by_ref;
	u32 len;
	u32 sent;
	u8 *arena;
	u32 used;
	struct page_frag frag;
	struct kwarp_mr *mr[KWARP_BATCH_MRS];
	u8 *tail;
};

/* Where an FPDU began, to take it back. */
struct kwarp_batch_mark {
	u16 n;
	u32 len;
	u32 used;
	u32 last_len;
};

int kwarp_batch_init(struct kwarp_batch *b, bool by_ref);
void kwarp_batch_fini(struct kwarp_batch *b);
void kwarp_batch_reset(struct kwarp_batch *b);

static inline bool kwarp_batch_pending(const struct kwarp_batch *b)
{
	return b->sent != b->len;
}

bool kwarp_batch_room(const struct kwarp_batch *b, u32 bvecs, u32 octets);
void kwarp_batch_mark(const struct kwarp_batch *b, struct kwarp_batch_mark *m);
void kwarp_batch_rollback(struct kwarp_batch *b, const struct kwarp_batch_mark *m);
u8 *kwarp_batch_arena(struct kwarp_batch *b, u32 len);
void kwarp_batch_ref(struct kwarp_batch *b, void *addr, u32 len);
void kwarp_batch_prefill(struct kwarp_batch *b, bool much);
u8 *kwarp_batch_frag(struct kwarp_batch *b, u32 want, u32 *got);
struct kwarp_mr *kwarp_batch_mr(struct kwarp_batch *b, struct kwarp_dev *kdev, u32 stag);
int kwarp_batch_send(struct kwarp_batch *b, struct socket *sock);

#endif /* KWARP_ENGINE_BATCH_H */
