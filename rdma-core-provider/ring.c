// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: mapping of the rings that the kernel has allocated, and layout of work queues in them.
 */
#include <config.h>

#include <errno.h>
#include <sys/mman.h>

#include "kwarp.h"

/*
 * Check that the entries fit the ring.  If provider and kernel module disagree about the layout,
 * the creation fails here; without the check a later store could hit other memory.
 */
static bool check_ring(struct ibv_context *ctx, uint32_t len, uint32_t size, uint32_t stride)
{
	uint64_t need = KWARP_RING_ENTRIES_OFFSET + (uint64_t)size * stride;

	if (kwarp_is_pow2(size) && stride % 8 == 0 && len >= need)
		return true;
	verbs_err(verbs_get_ctx(ctx),
		  "wrong ring layout from the module: %u entries of %u octets in %u octets\n",
		  size, stride, len);
	return false;
}

/* Map memory that the kernel shares.  Return: 0 or an errno value. */
int kwarp_map_memory(struct kwarp_map *m, struct ibv_context *ctx, uint64_t key, size_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, ctx->cmd_fd, key);

	if (at == MAP_FAILED)
		return errno;
	m->at = at;
	m->len = len;
	return 0;
}

void kwarp_unmap_memory(struct kwarp_map *m)
{
	if (m->at)
		munmap(m->at, m->len);
	m->at = NULL;
}

/**
 * kwarp_map_ring() - map a ring of any kind
 * @ctx: context
 * @key: offset for mmap(), from the kernel
 * @len: octets to map
 * @size: entries
 * @stride: octets per entry
 *
 * Return: the mapping, or NULL with errno set.
 */
void *kwarp_map_ring(struct ibv_context *ctx, uint64_t key, uint32_t len,
		     uint32_t size, uint32_t stride)
{
	struct kwarp_map m = {};

	errno = check_ring(ctx, len, size, stride) ? kwarp_map_memory(&m, ctx, key, len) : EPROTO;
	return m.at;
}

int kwarp_wq_place(struct kwarp_wq *wq, struct ibv_context *ctx,
		   const struct kwarp_wq_layout *lay)
{
	struct kwarp_ring *ring = &wq->ring;

	if (lay->stride < lay->need || lay->max_wr > lay->size) {
		verbs_err(verbs_get_ctx(ctx),
			  "wrong queue layout: %u slots of %u octets for %u entries of %u elements\n",
			  lay->size, lay->stride, lay->max_wr, lay->max_sge);
		return EPROTO;
	}
	if (!check_ring(ctx, lay->len, lay->size, lay->stride))
		return EPROTO;

	ring->hdr = lay->at;
	ring->entries = lay->at + KWARP_RING_ENTRIES_OFFSET;
	ring->stride = lay->stride;
	ring->mask = lay->size - 1;
	ring->max = lay->max_wr;
	ring->prod = ring->hdr->prod;
	ring->cons = ring->hdr->cons;
	wq->max_sge = lay->max_sge;
	return 0;
}

void kwarp_wq_init(struct kwarp_wq *wq, struct ibv_pd *pd)
{
	pthread_spin_init(&wq->lock, PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_init(&wq->change, NULL);
	wq->single_threaded = kwarp_pd_single_threaded(pd);
}

void kwarp_wq_fini(struct kwarp_wq *wq)
{
	pthread_mutex_destroy(&wq->change);
	pthread_spin_destroy(&wq->lock);
}

/**
 * kwarp_wq_begin_change() - keep other threads from posting during a command
 * @wq: queue, whose ring the command changes
 *
 * No spin lock is held meanwhile: a thread that spins would take the processor from this one.
 */
void kwarp_wq_begin_change(struct kwarp_wq *wq)
{
	pthread_mutex_lock(&wq->change);
	kwarp_wq_lock(wq);
	wq->changing = true;
	kwarp_wq_unlock(wq);
}

void kwarp_wq_end_change(struct kwarp_wq *wq)
{
	if (!wq->single_threaded)
		pthread_spin_lock(&wq->lock);
	wq->changing = false;
	kwarp_wq_unlock(wq);
	pthread_mutex_unlock(&wq->change);
}
