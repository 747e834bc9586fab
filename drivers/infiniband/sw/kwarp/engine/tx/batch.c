// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Collects octets in a batch, hands the batch to TCP in one call, and drops all references to
 * regions before any wait. Context of all functions: the runner.
 */
#include "batch.h"

#include <linux/mm.h>
#include <linux/net.h>
#include <linux/uio.h>
#include <net/sock.h>

#include "../../door.h"
#include "../../fault.h"
#include "../../kwarp.h"
#include "../../mem/mr.h"
#include "../tcp.h"
#include "pages.h"

/* Octets that do not fit into the rest of a page are split if the rest is at least this large. */
#define FRAG_MIN	64
static_assert(KWARP_BATCH_FRAG_SURE <= PAGE_SIZE);

void kwarp_batch_init(struct kwarp_batch *b, struct kwarp_dev *kdev)
{
	memset(b, 0, sizeof(*b));
	b->kdev = kdev;
}

static void batch_put_pages_from(struct kwarp_batch *b, u16 first)
{
	u16 i;

	for (i = first; i < b->n; i++)
		put_page(b->bv[i].bv_page);
}

static void batch_put_mrs(struct kwarp_batch *b)
{
	while (b->nmr)
		kwarp_mr_put(b->mr[--b->nmr]);
}

void kwarp_batch_reset(struct kwarp_batch *b)
{
	KWARP_DOOR(kwarp_batch_reset, b);
	batch_put_pages_from(b, 0);
	batch_put_mrs(b);
	if (b->len)
		b->large = b->len > PAGE_SIZE;
	b->n = 0;
	b->len = 0;
	b->sent = 0;
}

/* Nothing to send for now: return a large page to the cache, for other streams. */
void kwarp_batch_idle(struct kwarp_batch *b)
{
	if (b->frag.page && b->frag.size > PAGE_SIZE)
		kwarp_pages_put(&b->frag);
}

void kwarp_batch_fini(struct kwarp_batch *b)
{
	KWARP_DOOR(kwarp_batch_fini, b);
	kwarp_batch_reset(b);
	kwarp_pages_put(&b->frag);
}

void kwarp_batch_mark(const struct kwarp_batch *b, struct kwarp_batch_mark *m)
{
	KWARP_DOOR(kwarp_batch_mark, b, m);
	m->n = b->n;
	m->len = b->len;
	m->last_len = b->n ? b->bv[b->n - 1].bv_len : 0;
}

void kwarp_batch_rollback(struct kwarp_batch *b, const struct kwarp_batch_mark *m)
{
	KWARP_DOOR(kwarp_batch_rollback, b, m);
	batch_put_pages_from(b, m->n);
	b->n = m->n;
	b->len = m->len;
	if (b->n)
		b->bv[b->n - 1].bv_len = m->last_len;
}

static bool batch_refill(struct kwarp_batch *b, u32 want, gfp_t gfp)
{
	if (kwarp_batch_room(b) >= want)
		return true;
	return kwarp_pages_refill(&b->frag, b->large || b->len > PAGE_SIZE / 2, gfp);
}

/*
 * Before a wait for memory, this function drops the batch's references to the regions of a request
 * that has been checked. The regions are looked up again when the request's FPDUs are built.
 */
void kwarp_batch_prefill(struct kwarp_batch *b, u32 want, bool may_sleep)
{
	KWARP_DOOR(kwarp_batch_prefill, b, want, may_sleep);
	if (kwarp_batch_room(b) >= want)
		return;
	if (may_sleep)
		batch_put_mrs(b);
	batch_refill(b, want, may_sleep ? GFP_KERNEL : GFP_NOWAIT | __GFP_NOWARN);
}

/* NULL if no entry of @bv is free. */
static u8 *batch_append_frag(struct kwarp_batch *b, u32 len)
{
	struct bio_vec *last = b->n ? &b->bv[b->n - 1] : NULL;
	struct page_frag *f = &b->frag;
	u8 *p = page_address(f->page) + f->offset;

	if (last && last->bv_page == f->page &&
	    last->bv_offset + last->bv_len == f->offset) {
		last->bv_len += len;
	} else {
		if (b->n == KWARP_BATCH_BVECS)
			return NULL;
		get_page(f->page);
		bvec_set_page(&b->bv[b->n++], f->page, len, f->offset);
	}
	b->len += len;
	f->offset += len;
	return p;
}

/*
 * A region may be locked, so this does not sleep. NULL: there is no memory, or no entry of @b->bv
 * is free.
 */
u8 *kwarp_batch_frag(struct kwarp_batch *b, u32 want, u32 *got)
{
	KWARP_DOOR(kwarp_batch_frag, b, want, got);
	if (!batch_refill(b, min_t(u32, want, FRAG_MIN), GFP_NOWAIT | __GFP_NOWARN))
		return NULL;
	*got = min(want, b->frag.size - b->frag.offset);
	return batch_append_frag(b, *got);
}

/* NULL if the current page has too little room, or no entry of @b->bv is free. */
u8 *kwarp_batch_whole(struct kwarp_batch *b, u32 len)
{
	KWARP_DOOR(kwarp_batch_whole, b, len);
	if (kwarp_batch_room(b) < max(len, FRAG_MIN))
		return NULL;
	return batch_append_frag(b, len);
}

/*
 * The region stays referenced until the batch is sent. The key of @stag is not compared. NULL: the
 * STag is unknown, or the batch can reference no more regions.
 */
struct kwarp_mr *kwarp_batch_mr(struct kwarp_batch *b, u32 stag)
{
	KWARP_DOOR(kwarp_batch_mr, b, stag);
	struct kwarp_mr *mr;
	u8 i;

	for (i = b->nmr; i; i--)
		if (READ_ONCE(b->mr[i - 1]->stag) >> 8 == stag >> 8)
			return b->mr[i - 1];
	if (b->nmr == KWARP_BATCH_MRS)
		return NULL;
	mr = kwarp_mr_lookup(b->kdev, stag);
	if (mr)
		b->mr[b->nmr++] = mr;
	return mr;
}

/*
 * Faults: TCP is to take only half of a batch, or nothing, as if its send buffer were full then,
 * and to call write_space at the next ACK. An ACK that comes before makes the runner send again.
 * Return: nothing.
 */
static noinline __cold bool takes_nothing(struct kwarp_batch *b, struct socket *sock,
					  struct msghdr *msg)
{
	const bool none = kwarp_fault(KWARP_FAULT_FULL_SEND, &b->kdev->ibdev, 0, NULL);

	if (!none && !kwarp_fault(KWARP_FAULT_SHORT_SEND, &b->kdev->ibdev, 0, NULL))
		return false;
	set_bit(SOCK_NOSPACE, &sock->flags);
	/* Pairs with TCP's barrier before it reads the flag; the caller reads TCP's queue next. */
	smp_mb__after_atomic();
	iov_iter_truncate(&msg->msg_iter, DIV_ROUND_UP(msg_data_left(msg), 2));
	return none;
}

/*
 * Context: any but hard interrupt if @locked, else process; takes the socket lock. Return: 0 if TCP
 * has accepted all of it; -EAGAIN if TCP is full and will call write_space; -ENOBUFS if TCP has no
 * memory and will not call write_space; another negative errno if the connection is gone.
 */
int kwarp_batch_send(struct kwarp_batch *b, struct socket *sock, bool locked)
{
	KWARP_DOOR(kwarp_batch_send, b, sock, locked);
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_SPLICE_PAGES };
	int ret;

	batch_put_mrs(b);
	/*
	 * Aligned FPDUs: make the next batch begin a segment. A batch that ends with a full segment
	 * does this anyway, unless TCP had to split a segment before.
	 */
	if (b->cut)
		msg.msg_flags |= MSG_EOR;
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, b->bv, b->n, b->len);
	iov_iter_advance(&msg.msg_iter, b->sent);
	if (kwarp_faults_on() && takes_nothing(b, sock, &msg))
		/* If nothing is in flight, no ACK comes. */
		ret = READ_ONCE(sock->sk->sk_wmem_queued) ? -EAGAIN : -ENOBUFS;
	else
		ret = kwarp_tcp_send(sock, &msg, locked);
	if (ret > 0)
		b->sent += ret;
	if (!kwarp_batch_pending(b)) {
		kwarp_batch_reset(b);
		return 0;
	}
	return ret < 0 ? ret : -EAGAIN;
}
