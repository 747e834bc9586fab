// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: strict mode: memory of requests: registered, unchanged, poisoned.
 *
 * The program may have unmapped the memory of a request, against the rules: it is read and written
 * through the kernel, which fails where an access would kill the process.
 */
#define _GNU_SOURCE
#include <config.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "strict.h"

/* Of a longer request only so many octets are looked at. */
#define MOST		(1U << 20)
#define PIECE		(16U << 10)

/* A program that reads its buffer too early finds this. */
static const uint8_t poison[8] = { 'k', 'w', 'p', 'o', 'i', 's', 'o', 'n' };

/* --------------------------------------------------------------------- regions */

/* Without the memory for a record, requests that name the region are not looked at. */
void kwarp_strict_add_mr(struct kwarp_strict *s, const struct kwarp_mr *mr, void *addr,
			 size_t length)
{
	struct kwarp_strict_region *region = calloc(1, sizeof(*region));

	if (!region)
		return;
	region->mr = mr;
	region->addr = mr->access & IBV_ACCESS_ZERO_BASED ? NULL : addr;
	region->length = length;
	kwarp_strict_return_mr(s, region);
}

static struct kwarp_strict_region *find_region(const struct kwarp_strict *s,
					       const struct kwarp_mr *mr)
{
	struct kwarp_strict_region *region;

	list_for_each(&s->regions, region, node) {
		if (region->mr == mr)
			return region;
	}
	return NULL;
}

/* Take the record of a region out of the list; NULL: there is none. */
struct kwarp_strict_region *kwarp_strict_take_mr(struct kwarp_strict *s, const struct kwarp_mr *mr)
{
	struct kwarp_strict_region *region;

	pthread_mutex_lock(&s->lock);
	region = find_region(s, mr);
	if (region)
		list_del_from(&s->regions, &region->node);
	pthread_mutex_unlock(&s->lock);
	return region;
}

void kwarp_strict_return_mr(struct kwarp_strict *s, struct kwarp_strict_region *region)
{
	pthread_mutex_lock(&s->lock);
	list_add_tail(&s->regions, &region->node);
	pthread_mutex_unlock(&s->lock);
}

static struct kwarp_strict_region *find_lkey(const struct kwarp_strict *s, uint32_t lkey)
{
	struct kwarp_strict_region *region;

	list_for_each(&s->regions, region, node) {
		if (region->mr->vmr.ibv_mr.lkey == lkey)
			return region;
	}
	return NULL;
}

const struct kwarp_mr *kwarp_strict_find_mr(const struct kwarp_strict *s, uint32_t lkey)
{
	const struct kwarp_strict_region *region = find_lkey(s, lkey);

	return region ? region->mr : NULL;
}

/* ---------------------------------------------------------------- reach memory */

static bool copy(bool write, void *own, void *at, size_t len)
{
	const struct iovec local = { own, len }, remote = { at, len };
	ssize_t n;

	if (write)
		n = process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
	else
		n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	return n == (ssize_t)len;
}

/* Kernels without CONFIG_CROSS_MEMORY_ATTACH refuse this, and so do filters of containers. */
bool kwarp_strict_reaches_memory(void)
{
	uint8_t from = 0, to;

	return copy(false, &to, &from, 1);
}

/* Where in this process is the element?  NULL: it cannot be known. */
static void *place_of(const struct kwarp_strict *s, const struct ibv_sge *sge)
{
	const struct kwarp_strict_region *region = find_lkey(s, sge->lkey);
	uint64_t offset;

	if (!region || !region->addr)
		return NULL;
	offset = sge->addr - region->mr->iova;
	if (offset > region->length || sge->length > region->length - offset)
		return NULL;
	return region->addr + offset;
}

/* Find the memory of all elements, but not more than MOST octets. */
static void find_places(struct kwarp_strict_request *r)
{
	unsigned int i, n = 0;
	size_t left = MOST, len;

	r->n_places = 0;
	for (i = 0; i < r->num_sge && left; i++) {
		len = r->sge[i].length;
		if (!len)
			continue;
		if (len > left)
			len = left;
		r->places[n].iov_base = place_of(r->q->s, &r->sge[i]);
		if (!r->places[n].iov_base)
			return;
		r->places[n++].iov_len = len;
		left -= len;
	}
	r->n_places = n;
}

static size_t places_size(const struct kwarp_strict_request *r)
{
	size_t sum = 0;
	unsigned int i;

	for (i = 0; i < r->n_places; i++)
		sum += r->places[i].iov_len;
	return sum;
}

/* -------------------------------------------------------------------- checksum */

static uint64_t add_sum(uint64_t sum, const uint8_t *at, size_t len)
{
	uint64_t word;

	for (; len >= sizeof(word); at += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum = (sum ^ word) * 0x9e3779b97f4a7c15ULL;
		sum ^= sum >> 29;
	}
	for (; len; len--)
		sum = (sum ^ *at++) * 0x100000001b3ULL;
	return sum;
}

/* Return: false: the memory cannot be read. */
static bool sum_place(const struct iovec *place, uint64_t *sum)
{
	uint8_t piece[PIECE];
	size_t at, len;

	for (at = 0; at < place->iov_len; at += len) {
		len = place->iov_len - at;
		if (len > sizeof(piece))
			len = sizeof(piece);
		if (!copy(false, piece, (uint8_t *)place->iov_base + at, len))
			return false;
		*sum = add_sum(*sum, piece, len);
	}
	return true;
}

static bool sum_source(const struct kwarp_strict_request *r, uint64_t *sum)
{
	unsigned int i;

	*sum = 1;
	for (i = 0; i < r->n_places; i++) {
		if (!sum_place(&r->places[i], sum))
			return false;
	}
	return true;
}

bool kwarp_strict_source_changed(const struct kwarp_strict_request *r)
{
	uint64_t sum;

	return r->source && r->n_places && (!sum_source(r, &sum) || sum != r->sum);
}

/* --------------------------------------------------------------------- overlaps */

static bool overlap(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
	return a < b + b_len && b < a + a_len;
}

static bool requests_overlap(const struct kwarp_strict_request *a,
			     const struct kwarp_strict_request *b)
{
	unsigned int i, j;

	for (i = 0; i < a->n_places; i++) {
		for (j = 0; j < b->n_places; j++) {
			if (overlap(a->places[i].iov_base, a->places[i].iov_len,
				    b->places[j].iov_base, b->places[j].iov_len))
				return true;
		}
	}
	return false;
}

/*
 * Call @f for each outstanding request whose memory overlaps that of @r, until it returns true.
 * Return: it did.
 */
static bool any_overlap(struct kwarp_strict_request *r,
			bool (*f)(struct kwarp_strict_request *other))
{
	struct kwarp_strict_request *other;
	struct kwarp_strict_queue *q;

	list_for_each(&r->q->s->queues, q, node) {
		list_for_each(&q->requests, other, node) {
			if (other != r && requests_overlap(r, other) && f(other))
				return true;
		}
	}
	return false;
}

#define PEER_WRITES	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

/* May a peer write into this memory, through whatever region? */
static bool peer_may_write(const struct kwarp_strict_request *r)
{
	const struct kwarp_strict_region *region;
	unsigned int i;

	list_for_each(&r->q->s->regions, region, node) {
		if (!(region->mr->access & (PEER_WRITES | IBV_ACCESS_MW_BIND)))
			continue;
		for (i = 0; i < r->n_places; i++) {
			if (overlap(region->addr, region->length, r->places[i].iov_base,
				    r->places[i].iov_len))
				return true;
		}
	}
	return false;
}

/* ---------------------------------------------------------------------- poison */

/* Write the pattern into @n octets at @at, which are number @index and following of the request. */
static bool poison_octets(uint8_t *at, size_t index, size_t n)
{
	uint8_t piece[PIECE];
	size_t i, done, len;

	for (done = 0; done < n; done += len) {
		len = n - done < sizeof(piece) ? n - done : sizeof(piece);
		for (i = 0; i < len; i++)
			piece[i] = poison[(index + done + i) % sizeof(poison)];
		if (!copy(true, piece, at + done, len))
			return false;
	}
	return true;
}

void kwarp_strict_forget_saved(struct kwarp_strict_request *r)
{
	if (!r->saved)
		return;
	r->q->s->poison_left += places_size(r);
	free(r->saved);
	r->saved = NULL;
}

static void begin_poison(struct kwarp_strict_request *r)
{
	size_t at = 0, size = places_size(r);
	unsigned int i;

	if (size > r->q->s->poison_left)
		return;
	r->saved = malloc(size);
	if (!r->saved)
		return;
	r->q->s->poison_left -= size;
	for (i = 0; i < r->n_places; at += r->places[i++].iov_len) {
		if (!copy(false, r->saved + at, r->places[i].iov_base, r->places[i].iov_len)) {
			kwarp_strict_forget_saved(r);
			return;
		}
	}
	at = 0;
	for (i = 0; i < r->n_places; at += r->places[i++].iov_len)
		poison_octets(r->places[i].iov_base, at, r->places[i].iov_len);
}

/* Number of octets of the pattern at the start of @cur, which is octet @index of the request. */
static size_t run(const uint8_t *cur, size_t len, size_t index)
{
	size_t n = 0;

	while (n < len && cur[n] == poison[(index + n) % sizeof(poison)])
		n++;
	return n;
}

/*
 * Write back what was in a place, but only where the pattern is still there, in at least @least
 * octets in a row; @index: its first octet's number in the request.  The peer may be writing the
 * other octets now.
 */
static void unpoison_place(const struct kwarp_strict_request *r, const struct iovec *place,
			   size_t index, size_t from, size_t least)
{
	uint8_t *cur = malloc(place->iov_len);
	size_t at = from > index ? from - index : 0, n;

	if (cur && copy(false, cur, place->iov_base, place->iov_len)) {
		for (; at < place->iov_len; at += n ? n : 1) {
			n = run(cur + at, place->iov_len - at, index + at);
			if (n && (n >= least || n == place->iov_len))
				copy(true, r->saved + index + at,
				     (uint8_t *)place->iov_base + at, n);
		}
	}
	free(cur);
}

static void unpoison(struct kwarp_strict_request *r, size_t from, size_t least)
{
	size_t index = 0;
	unsigned int i;

	if (!r->saved)
		return;
	for (i = 0; i < r->n_places; index += r->places[i++].iov_len) {
		if (index + r->places[i].iov_len > from)
			unpoison_place(r, &r->places[i], index, from, least);
	}
	kwarp_strict_forget_saved(r);
}

/**
 * kwarp_strict_unpoison() - a request is complete: write back what nothing was written over
 * @r: request
 * @from: number of the first octet that was not written, as the completion says
 */
void kwarp_strict_unpoison(struct kwarp_strict_request *r, size_t from)
{
	unpoison(r, from, 1);
}

/*
 * The program sends from a buffer that it has posted as a sink, too.  That works on hardware if
 * the peer sends nothing before it has got the data.  The program itself may have written there, so
 * only whole patterns are taken for poison.
 */
static bool source_of_other(struct kwarp_strict_request *other)
{
	unpoison(other, 0, sizeof(poison));
	return false;
}

/*
 * The program receives into memory that is being sent.  That works on hardware if the peer sends
 * nothing before it has got the data; then the data change rightly.
 */
static bool sink_of_other(struct kwarp_strict_request *other)
{
	other->source = false;
	return false;
}

static bool yes(struct kwarp_strict_request *other)
{
	return true;
}

static bool is_sink(struct kwarp_strict_request *other)
{
	return other->sink;
}

/**
 * kwarp_strict_begin_memory() - a request is about to be posted
 * @r: request, in the list of its queue
 *
 * A source is summed up, unless somebody else may rightly change it: the peer by a Write, or
 * another request.  A receive buffer to which the peer may write is not poisoned, because a Write
 * may be there already.  The sink of a Read is: whatever is there, the Read replaces it.
 */
void kwarp_strict_begin_memory(struct kwarp_strict_request *r)
{
	const struct kwarp_strict *s = r->q->s;

	find_places(r);
	if (!r->n_places)
		return;
	if (r->source) {
		any_overlap(r, source_of_other);
		if (!kwarp_strict_on(s, STRICT_MEMORY_CHANGED) || peer_may_write(r) ||
		    any_overlap(r, is_sink) || !sum_source(r, &r->sum))
			r->source = false;
	} else if (r->sink) {
		any_overlap(r, sink_of_other);
		if (kwarp_strict_on(s, STRICT_POISON) && !(r->q->recv && peer_may_write(r)) &&
		    !any_overlap(r, yes))
			begin_poison(r);
	}
}

/**
 * kwarp_strict_end_memory() - the completion of a request is given to the program
 * @r: request
 *
 * If the completion does not say what was written, only whole patterns are taken for poison: the
 * program may have given the memory another use at the end of the connection.
 */
void kwarp_strict_end_memory(struct kwarp_strict_request *r)
{
	const struct kwarp_cqe *cqe = &r->cqe;
	const bool filled = cqe->status == KWARP_WC_SUCCESS && cqe->opcode != KWARP_WC_RECV_IMM;

	if (!r->sink)
		return;
	/* Immediate data of a Write place nothing in the receive. */
	if (r->is_held && !filled)
		unpoison(r, 0, sizeof(poison));
	else
		kwarp_strict_unpoison(r, r->is_held && r->q->recv ? cqe->byte_len : SIZE_MAX);
}

/**
 * kwarp_strict_leave_memory() - the memory of a request goes, perhaps before its completion
 * @r: request
 */
void kwarp_strict_leave_memory(struct kwarp_strict_request *r)
{
	if (r->is_held)
		kwarp_strict_end_memory(r);
	else
		unpoison(r, 0, sizeof(poison));
	r->n_places = 0;
}
