/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: work queues shared with the kernel (SQ, RQ, SRQ), user space's side.
 *
 * User space produces, the kernel consumes.  Indices run freely and wrap at
 * 2^32; entry i is in slot i modulo the size, which is a power of two.  The
 * callers hold the queue's lock, unless a comment says otherwise.  Completion queues, where the
 * kernel produces, are in cq.c and poll.c.
 */
#ifndef KWARP_QUEUE_H
#define KWARP_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/kwarp-abi.h>

/**
 * struct kwarp_ring - a work queue as its producer sees it
 * @hdr: header of the mapped ring; NULL if the queue does not exist
 * @entries: first slot
 * @stride: octets per slot
 * @mask: slots - 1
 * @max: entries that may be outstanding at once, at most the number of slots
 * @prod: next entry to write; larger than hdr->prod until kwarp_ring_publish()
 * @cons: the kernel's index hdr->cons when it was last read.  The index only moves towards
 *	@prod, so with an old value the ring seems fuller than it is, never emptier.
 */
struct kwarp_ring {
	struct kwarp_ring_hdr *hdr;
	uint8_t *entries;
	uint32_t stride;
	uint32_t mask;
	uint32_t max;
	uint32_t prod;
	uint32_t cons;
};

static inline bool kwarp_is_pow2(uint32_t n)
{
	return n && !(n & (n - 1));
}

static inline void *kwarp_ring_next(const struct kwarp_ring *ring)
{
	return ring->entries + (size_t)(ring->prod & ring->mask) * ring->stride;
}

static inline bool kwarp_ring_full(struct kwarp_ring *ring)
{
	if (ring->prod - ring->cons < ring->max)
		return false;
	if (!ring->hdr)
		return true;

	/*
	 * Acquire: pairs with the kernel's release store to cons, before which the kernel
	 * has read the slot for the last time.  After this load user space may reuse the slot.
	 */
	ring->cons = __atomic_load_n(&ring->hdr->cons, __ATOMIC_ACQUIRE);
	return ring->prod - ring->cons >= ring->max;
}

/**
 * kwarp_ring_publish() - hand every entry before ring->prod to the kernel
 * @ring: work queue, its lock held
 */
static inline void kwarp_ring_publish(struct kwarp_ring *ring)
{
	/*
	 * Release: pairs with the kernel's acquire load of prod, after which the kernel
	 * reads the entries.
	 */
	__atomic_store_n(&ring->hdr->prod, ring->prod, __ATOMIC_RELEASE);
}

/**
 * kwarp_ring_flags() - flags (KWARP_RING_*) by which the kernel says whether to ring the doorbell
 * @ring: work queue of a queue pair after kwarp_ring_publish(); the lock is
 *	not needed, because the ring of a queue pair is never replaced
 */
static inline uint32_t kwarp_ring_flags(const struct kwarp_ring *ring)
{
	/*
	 * Full barrier between the store to prod and the load of flags.  It pairs
	 * with the kernel's full barrier between setting a flag and reading prod for
	 * the last time.  So at least one side sees the other's store.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&ring->hdr->flags, __ATOMIC_RELAXED);
}

/**
 * struct kwarp_wq - send, receive or shared receive queue
 * @lock: protects @ring and @changing; the lock of a send queue also protects kwarp_qp.wr
 * @change: held over a command that changes the ring; taken before @lock
 * @changing: such a command is going on: whoever takes @lock waits for its end, asleep
 * @single_threaded: the queue was made in a thread domain, so that only one thread at a time
 *	uses it: no locking
 * @ring: the ring
 * @max_sge: elements that an entry may have
 * @qpn: number of the queue pair, for the doorbell
 * @doorbell: command of the doorbell, KWARP_IOC_POSTED_*.  A shared receive queue has none.
 */
struct kwarp_wq {
	pthread_spinlock_t lock;
	bool single_threaded;
	bool changing;
	struct kwarp_ring ring;
	uint32_t max_sge;
	uint32_t qpn;
	unsigned int doorbell;
	pthread_mutex_t change;
};

static inline void kwarp_wq_lock(struct kwarp_wq *wq)
{
	if (wq->single_threaded)
		return;
	pthread_spin_lock(&wq->lock);
	while (wq->changing) {
		pthread_spin_unlock(&wq->lock);
		pthread_mutex_lock(&wq->change);
		pthread_mutex_unlock(&wq->change);
		pthread_spin_lock(&wq->lock);
	}
}

static inline void kwarp_wq_unlock(struct kwarp_wq *wq)
{
	if (!wq->single_threaded)
		pthread_spin_unlock(&wq->lock);
}

#endif /* KWARP_QUEUE_H */
