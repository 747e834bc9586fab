/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Read queues. Outbound: Reads and atomic operations of this end that wait for the peer's response.
 * Inbound: Reads and atomic operations of the peer that wait for this end's response. The depth of
 * a queue limits the number of its Reads and atomic operations together (7306-5.2-3).
 *
 * Each queue is a ring with one producer and one consumer in different contexts. The ring has at
 * least as many entries as the negotiated depth. It needs no lock: the producer stores @tail with
 * release, the consumer stores @head with release.
 *
 *   outbound: the transmit runner adds, the receive path (socket lock) removes
 *   inbound:  the receive path adds, the transmit runner removes
 */
#ifndef KWARP_QUEUE_READQ_H
#define KWARP_QUEUE_READQ_H

#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/types.h>

#include "../proto/atomic.h"
#include "../proto/ddp.h"

/*
 * @sq_index: index of the request's entry in the send queue. @msn: also an atomic operation's
 * Request Identifier. @rtr: the Read is this end's "ready to receive" message, and has no entry in
 * the send queue. @atomic: the value in the response is stored at @to. @invalidate: invalidate
 * @stag after the data has been placed (Read with Invalidate). @to: sink address of the next octet
 * expected. @left: octets still expected
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

/* Octets of an untagged DDP header before queue number, MSN and MO. */
#define KWARP_IREAD_RAW		6

/*
 * @atomic: an Atomic Request, in @req; false: a Read Request, in the fields after @req. @raw: the
 * first octets of the DDP header as received, see kwarp_iread_ddp(). A queue has up to 256 entries.
 */
struct kwarp_iread {
	union {
		struct kwarp_atomic_req req;
		struct {
			u64 sink_to;
			u64 src_to;
			u32 sink_stag;
			u32 src_stag;
			u32 size;
		};
	};
	u8 raw[KWARP_IREAD_RAW];
	bool atomic;
};

static_assert(sizeof(struct kwarp_iread) == 64);

/*
 * @head: written by the consumer. @tail: first free entry; written by the producer. @depth:
 * negotiated limit for the entries in use, at most @mask + 1.
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
 * The DDP header of the oldest inbound request as it was received: a Terminate repeats it if the
 * request fails. Each message on the queue of Read Requests has an entry, and MSNs begin with 1.
 */
static inline void kwarp_iread_ddp(const struct kwarp_readq *q, u8 ddp[KWARP_DDP_UNTAGGED_LEN])
{
	const struct kwarp_ddp_hdr hdr = { .qn = KWARP_QN_RREQ, .msn = q->head + 1 };

	kwarp_ddp_encode(ddp, &hdr);
	memcpy(ddp, q->i[q->head & q->mask].raw, KWARP_IREAD_RAW);
}

/* Context: the queue's consumer. */
static inline struct kwarp_oread *kwarp_oread_find(struct kwarp_readq *q, u32 msn)
{
	/* Pairs with kwarp_readq_push(): the entries before tail are complete. */
	u32 tail = smp_load_acquire(&q->tail), i;

	for (i = q->head; i != tail; i++)
		if (q->o[i & q->mask].msn == msn)
			return &q->o[i & q->mask];
	return NULL;
}

static inline u32 kwarp_readq_entries(u32 depth)
{
	return roundup_pow_of_two(max(depth, 1U));
}

/*
 * A depth of 0 is allowed. The memory is charged to the memory cgroup of the current task. In a
 * work item with PF_MEMALLOC, which must not open the reserve, this fails rather than waits.
 */
static inline int kwarp_readq_init(struct kwarp_readq *q, u32 depth, size_t entry)
{
	u32 n = kwarp_readq_entries(depth);

	q->head = 0;
	q->tail = 0;
	q->depth = depth;
	q->mask = n - 1;
	/* kv: for the largest depth it is several pages, which a startup must not wait for. */
	q->o = kvcalloc(n, entry, GFP_KERNEL_ACCOUNT | __GFP_NOMEMALLOC | __GFP_NOWARN);
	return q->o ? 0 : -ENOMEM;
}

static inline void kwarp_readq_fini(struct kwarp_readq *q)
{
	kvfree(q->o);
	q->o = NULL;
}

struct kwarp_readqs {
	struct kwarp_readq out;
	struct kwarp_readq in;
};

static inline void kwarp_readqs_fini(struct kwarp_readqs *qs)
{
	kwarp_readq_fini(&qs->in);
	kwarp_readq_fini(&qs->out);
}

/* Return: the most octets that queues of these depths hold. */
static inline size_t kwarp_readqs_cost(u32 ord, u32 ird)
{
	return kmalloc_size_roundup(kwarp_readq_entries(ord) * sizeof(struct kwarp_oread)) +
	       kmalloc_size_roundup(kwarp_readq_entries(ird) * sizeof(struct kwarp_iread));
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
