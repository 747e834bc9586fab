// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Collecting pieces, handing them to TCP in one call, and letting go of everything
 * they referenced before anybody waits.  Context: the transmit runner (process).
 */
#include "batch.h"

#include <linux/mm.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <net/sock.h>

#include "../mem/mr.h"

/* Smallest useful rest of a page fragment. */
#define FRAG_MIN	64
static_assert(KWARP_BATCH_FRAG_SURE <= PAGE_SIZE);

int kwarp_batch_init(struct kwarp_batch *b, bool by_ref)
{
	memset(b, 0, sizeof(*b));
	b->by_ref = by_ref;
	b->bv = kmalloc_array(KWARP_BATCH_BVECS, sizeof(*b->bv), GFP_KERNEL);
	if (!b->bv)
		return -ENOMEM;
	if (by_ref)
		return 0;
	b->arena = kmalloc(KWARP_BATCH_ARENA, GFP_KERNEL);
	if (b->arena)
		return 0;
	kfree(b->bv);
	b->bv = NULL;
	return -ENOMEM;
}

static void put_pages_from(struct kwarp_batch *b, u16 first)
{
	u16 i;

	if (b->by_ref)
		for (i = first; i < b->n; i++)
			put_page(b->bv[i].bv_page);
}

static void put_mrs(struct kwarp_batch *b)
{
	while (b->nmr)
		kwarp_mr_put(b->mr[--b->nmr]);
}

/* Forget the contents; ready for the next batch. */
void kwarp_batch_reset(struct kwarp_batch *b)
{
	put_pages_from(b, 0);
	put_mrs(b);
	if (b->tail) {
		kvfree(b->tail);
		b->tail = NULL;
	}
	b->n = 0;
	b->len = 0;
	b->sent = 0;
	b->used = 0;
}

void kwarp_batch_fini(struct kwarp_batch *b)
{
	if (!b->bv)
		return;
	kwarp_batch_reset(b);
	if (b->frag.page)
		put_page(b->frag.page);
	kfree(b->arena);
	kfree(b->bv);
	memset(b, 0, sizeof(*b));
}

/* Is there room for @bvecs more pieces and @octets more of arena? */
bool kwarp_batch_room(const struct kwarp_batch *b, u32 bvecs, u32 octets)
{
	if (b->n + bvecs > KWARP_BATCH_BVECS)
		return false;
	return b->by_ref || b->used + octets <= KWARP_BATCH_ARENA;
}

void kwarp_batch_mark(const struct kwarp_batch *b, struct kwarp_batch_mark *m)
{
	m->n = b->n;
	m->len = b->len;
	m->used = b->used;
	m->last_len = b->n ? b->bv[b->n - 1].bv_len : 0;
}

/* Take back everything since the mark. */
void kwarp_batch_rollback(struct kwarp_batch *b, const struct kwarp_batch_mark *m)
{
	put_pages_from(b, m->n);
	b->n = m->n;
	b->len = m->len;
	b->used = m->used;
	if (b->n)
		b->bv[b->n - 1].bv_len = m->last_len;
}

/* Append a piece; true if it became a new entry rather than growing the last one. */
static bool add_piece(struct kwarp_batch *b, void *addr, u32 len)
{
	struct bio_vec *last = b->n ? &b->bv[b->n - 1] : NULL;

	b->len += len;
	if (last && page_address(last->bv_page) + last->bv_offset + last->bv_len == addr) {
		last->bv_len += len;
		return false;
	}
	bvec_set_page(&b->bv[b->n++], virt_to_page(addr), len, offset_in_page(addr));
	return true;
}

/* @len octets of arena, appended; the caller has asked kwarp_batch_room(). */
u8 *kwarp_batch_arena(struct kwarp_batch *b, u32 len)
{
	u8 *p = b->arena + b->used;

	b->used += len;
	add_piece(b, p, len);
	return p;
}

/* Append octets where they lie; a referenced region keeps them there. */
void kwarp_batch_ref(struct kwarp_batch *b, void *addr, u32 len)
{
	add_piece(b, addr, len);
}

/**
 * kwarp_batch_prefill - make sure that kwarp_batch_frag() has memory
 * @b: batch
 * @much: for KWARP_BATCH_FRAG_SURE octets, else for some
 *
 * Context: process, may sleep; also in NOIO scope.
 */
void kwarp_batch_prefill(struct kwarp_batch *b, bool much)
{
	if (b->by_ref)
		skb_page_frag_refill(much ? KWARP_BATCH_FRAG_SURE : FRAG_MIN, &b->frag,
				     GFP_KERNEL);
}

/**
 * kwarp_batch_frag - append up to @want octets of fresh page fragment
 * @b: batch that is sent by reference
 * @want: octets wanted
 * @got: result: octets granted, at least 1
 *
 * Context: any; a region may be locked.
 * Return: where to write them, or NULL without memory or room.
 */
u8 *kwarp_batch_frag(struct kwarp_batch *b, u32 want, u32 *got)
{
	struct page_frag *f = &b->frag;
	struct bio_vec *last = b->n ? &b->bv[b->n - 1] : NULL;
	u8 *p;

	if (!skb_page_frag_refill(FRAG_MIN, f, GFP_NOWAIT | __GFP_NOWARN))
		return NULL;
	*got = min(want, f->size - f->offset);
	p = page_address(f->page) + f->offset;
	if (last && last->bv_page == f->page &&
	    last->bv_offset + last->bv_len == f->offset) {
		last->bv_len += *got;
	} else {
		if (b->n == KWARP_BATCH_BVECS)
			return NULL;
		get_page(f->page);
		bvec_set_page(&b->bv[b->n++], f->page, *got, f->offset);
	}
	b->len += *got;
	f->offset += *got;
	return p;
}

/**
 * kwarp_batch_mr - region of an STag, referenced until the batch is done
 * @b: batch
 * @kdev: device
 * @stag: STag; its key is not compared
 *
 * Return: the region, or NULL: unknown, or no room to remember another one.
 */
struct kwarp_mr *kwarp_batch_mr(struct kwarp_batch *b, struct kwarp_dev *kdev, u32 stag)
{
	struct kwarp_mr *mr;
	u8 i;

	for (i = b->nmr; i; i--)
		if (READ_ONCE(b->mr[i - 1]->stag) >> 8 == stag >> 8)
			return b->mr[i - 1];
	if (b->nmr == KWARP_BATCH_MRS)
		return NULL;
	mr = kwarp_mr_lookup(kdev, stag);
	if (mr)
		b->mr[b->nmr++] = mr;
	return mr;
}

static void batch_iter(const struct kwarp_batch *b, struct kvec *kv, struct iov_iter *it)
{
	if (b->tail) {
		kv->iov_base = b->tail;
		kv->iov_len = b->len;
		iov_iter_kvec(it, ITER_SOURCE, kv, 1, b->len);
	} else {
		iov_iter_bvec(it, ITER_SOURCE, b->bv, b->n, b->len);
	}
	iov_iter_advance(it, b->sent);
}

/* Copy what TCP did not take, so that the regions can be let go. */
static int save_tail(struct kwarp_batch *b)
{
	u32 left = b->len - b->sent;
	struct iov_iter it;
	struct kvec kv;
	u8 *tail;

	if (b->by_ref || b->tail)
		return 0;
	tail = kvmalloc(left, GFP_KERNEL);
	if (!tail)
		return -ENOMEM;
	batch_iter(b, &kv, &it);
	if (!copy_from_iter_full(tail, left, &it)) {
		kvfree(tail);
		return -EFAULT;
	}
	kwarp_batch_reset(b);
	b->tail = tail;
	b->len = left;
	return 0;
}

/**
 * kwarp_batch_send - give the batch to TCP
 * @b: batch
 * @sock: connected socket
 *
 * Context: process; takes the socket lock.
 * Return: 0 when all of it is with TCP; -EAGAIN if TCP is full and write_space will
 * be called; another negative errno if the connection is gone.
 */
int kwarp_batch_send(struct kwarp_batch *b, struct socket *sock)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec kv;
	int ret;

	if (b->by_ref) {
		/* Everything has been copied into pages of ours. */
		put_mrs(b);
		msg.msg_flags |= MSG_SPLICE_PAGES;
	}
	batch_iter(b, &kv, &msg.msg_iter);
	ret = sock_sendmsg(sock, &msg);
	if (ret > 0)
		b->sent += ret;
	if (!kwarp_batch_pending(b)) {
		kwarp_batch_reset(b);
		return 0;
	}
	if (ret < 0 && ret != -EAGAIN)
		return ret;
	ret = save_tail(b);
	return ret ?: -EAGAIN;
}
