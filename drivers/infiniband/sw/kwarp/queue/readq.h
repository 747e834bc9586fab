/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Read queues. Outbound: Reads and atomic operations of this end that wait for the peer's response.
 * Inbound: Reads and atomic operations of the peer that wait for this end's response. The depth of
 * a queue limits the number of its Reads and atomic operations together (7306-5.2-3).
 *
 * Each queue is a ring with one producer and one consumer in different contexts. The ring has at
 * least as many entries as the negotiated depth. It needs no lock: the producer stores @tail with
 * release, the consumer stores @head with release. Transmit runner: the context that sends for a
 * stream at the moment.
 *
 *   outbound: the transmit runner adds, the receive path (socket lock) removes
 *   inbound:  the receive path adds, the transmit runner removes
 *
 * Numbers such as 7306-5.2-3 name requirements of RFCs, see Documentation/conformance.
 */
#ifndef KWARP_QUEUE_READQ_H
#define KWARP_QUEUE_READQ_H

#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/types.h>

#include "../proto/atomic.h"

/**
 * struct kwarp_oread - outbound request
 * @sq_index: index of the request's entry in the send queue
 * @msn: sequence number of the request's message; also an atomic operation's Request Identifier
 * @rtr: the Read is this end's "ready to receive" message, and has no entry in the send queue
 * @atomic: the request is an atomic operation; the value in its response is stored at @to
 * @invalidate: invalidate @stag after the data has been placed (Read with Invalidate)
 * @stag: sink STag
 * @to: sink address of the next octet expected
 * @left: octets still expected
 */
struct kwarp_oread {
	u32 sq_index;
	u32 msn;
	bool rtr;
	bool atomic;
	bool invalidate;
	u32 stag;
	u64 to;
	u32 left;
};

/**
 * struct kwarp_iread - inbound request
 * @atomic: true: an Atomic Request, in @req; false: a Read Request, in the fields after @req
 * @req: the atomic operation
 * @sink_stag: STag of the peer's buffer, repeated in the response
 * @sink_to: offset in the peer's buffer, repeated in the response
 * @src_stag: STag of this end's buffer
 * @src_to: offset in this end's buffer
 * @size: octets to read
 * @raw_ddp: DDP header as received; a Terminate message repeats it if the request fails
 */
struct kwarp_iread {
	bool atomic;
	u8 raw_ddp[KWARP_DDP_UNTAGGED_LEN];
	union {
		struct kwarp_atomic_req req;
		struct {
			u32 sink_stag;
			u64 sink_to;
			u32 src_stag;
			u64 src_to;
			u32 size;
		};
	};
};

/**
 * struct kwarp_readq - ring of outbound or of inbound requests
 * @head: index of the first entry in use; written by the consumer
 * @tail: index of the first free entry; written by the producer
 * @depth: negotiated limit for the entries in use, at most @mask + 1
 * @mask: number of entries allocated - 1
 * @o: entries of an outbound queue
 * @i: entries of an inbound queue
 */
struct kwarp_readq {
	u32 head;
	u32 tail;
	u32 depth;
	u32 mask;
	union {
		struct kwarp_oread *o;
		struct kwarp_iread *i;
	};
};

static inline bool kwarp_readq_empty(const struct kwarp_readq *q)
{
	/* Pairs with kwarp_readq_push(): the caller sees the contents of the entry. */
	return smp_load_acquire(&q->tail) == READ_ONCE(q->head);
}

static inline bool kwarp_readq_full(const struct kwarp_readq *q)
{
	/* Pairs with kwarp_readq_pop(): the consumer does not use the entry any more. */
	return READ_ONCE(q->tail) - smp_load_acquire(&q->head) >= q->depth;
}

static inline void kwarp_readq_push(struct kwarp_readq *q)
{
	/* Release: the entry is complete. Pairs with kwarp_readq_empty(). */
	smp_store_release(&q->tail, q->tail + 1);
}

static inline void kwarp_readq_pop(struct kwarp_readq *q)
{
	/* Release: the entry is not used any more. Pairs with kwarp_readq_full(). */
	smp_store_release(&q->head, q->head + 1);
}

static inline struct kwarp_oread *kwarp_oread_head(struct kwarp_readq *q)
{
	return &q->o[q->head & q->mask];
}

static inline struct kwarp_oread *kwarp_oread_tail(struct kwarp_readq *q)
{
	return &q->o[q->tail & q->mask];
}

static inline struct kwarp_iread *kwarp_iread_head(struct kwarp_readq *q)
{
	return &q->i[q->head & q->mask];
}

static inline struct kwarp_iread *kwarp_iread_tail(struct kwarp_readq *q)
{
	return &q->i[q->tail & q->mask];
}

/*
 * Return: the unanswered outbound request with this sequence number, or NULL. Context: the queue's
 * consumer.
 */
static inline struct kwarp_oread *kwarp_oread_find(struct kwarp_readq *q, u32 msn)
{
	/* Pairs with kwarp_readq_push(): the entries before tail are complete. */
	u32 tail = smp_load_acquire(&q->tail), i;

	for (i = q->head; i != tail; i++)
		if (q->o[i & q->mask].msn == msn)
			return &q->o[i & q->mask];
	return NULL;
}

/* Allocate a queue before the stream starts; a depth of 0 is allowed. Context: process. */
static inline int kwarp_readq_init(struct kwarp_readq *q, u32 depth, size_t entry)
{
	u32 n = roundup_pow_of_two(max(depth, 1U));

	q->head = 0;
	q->tail = 0;
	q->depth = depth;
	q->mask = n - 1;
	q->o = kcalloc(n, entry, GFP_KERNEL);
	return q->o ? 0 : -ENOMEM;
}

static inline void kwarp_readq_fini(struct kwarp_readq *q)
{
	kfree(q->o);
	q->o = NULL;
}

/**
 * struct kwarp_readqs - both Read queues of a stream, allocated before it begins
 * @out: requests of this end that wait for the peer's response
 * @in: requests of the peer that wait for this end's response
 */
struct kwarp_readqs {
	struct kwarp_readq out;
	struct kwarp_readq in;
};

static inline void kwarp_readqs_fini(struct kwarp_readqs *qs)
{
	kwarp_readq_fini(&qs->in);
	kwarp_readq_fini(&qs->out);
}

static inline int kwarp_readqs_init(struct kwarp_readqs *qs, u32 ord, u32 ird)
{
	int ret = kwarp_readq_init(&qs->out, ord, sizeof(*qs->out.o));

	if (ret)
		return ret;
	ret = kwarp_readq_init(&qs->in, ird, sizeof(*qs->in.i));
	if (ret)
		kwarp_readq_fini(&qs->out);
	return ret;
}

#endif /* KWARP_QUEUE_READQ_H */
