// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: creation, resizing and destruction of completion queues.  Polling is in poll.c.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kwarp.h"
#include "say.h"

/* Map the ring that the kernel has made.  Return: the mapping, or NULL with errno set. */
static void *cq_map(struct ibv_context *ctx, const struct kwarp_create_cq_resp *resp)
{
	return kwarp_map_ring(ctx, resp->mmap_key, resp->mmap_len, resp->size,
			      sizeof(struct kwarp_cqe));
}

static void cq_use(struct kwarp_cq *cq, void *map, const struct kwarp_create_cq_resp *resp)
{
	cq->hdr = map;
	cq->entries = map + KWARP_RING_ENTRIES_OFFSET;
	cq->len = resp->mmap_len;
	cq->mask = resp->size - 1;
}

static void cq_free(struct kwarp_cq *cq)
{
	pthread_spin_destroy(&cq->left_lock);
	pthread_cond_destroy(&cq->switched);
	pthread_mutex_destroy(&cq->resize);
	pthread_spin_destroy(&cq->lock);
	free(cq);
}

#define STAMPS (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static uint32_t stamp_flag(uint64_t wc_flags)
{
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		return KWARP_CQ_STAMP_RAW;
	return wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK ? KWARP_CQ_STAMP_REAL : 0;
}

static struct kwarp_cq *create_cq(struct ibv_context *ctx,
				  const struct ibv_cq_init_attr_ex *attr,
				  bool single_threaded)
{
	struct kwarp_cmd_create_cq_resp resp = {};
	struct kwarp_cmd_create_cq cmd = { .flags = stamp_flag(attr->wc_flags) };
	struct kwarp_cq *cq;
	void *map;
	int ret;

	cq = calloc(1, sizeof(*cq));
	if (!cq) {
		errno = ENOMEM;
		return NULL;
	}
	cq->single_threaded = single_threaded;
	pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_init(&cq->resize, NULL);
	pthread_cond_init(&cq->switched, NULL);
	pthread_spin_init(&cq->left_lock, PTHREAD_PROCESS_PRIVATE);
	list_head_init(&cq->left);

#ifdef KWARP_HAVE_CREATE_CQ_PROV_ATTR
	ret = ibv_cmd_create_cq_ex(ctx, attr, NULL, &cq->vcq, &cmd.ibv_cmd, sizeof(cmd),
				   &resp.ibv_resp, sizeof(resp), 0);
#else
	ret = ibv_cmd_create_cq_ex(ctx, attr, &cq->vcq, &cmd.ibv_cmd, sizeof(cmd),
				   &resp.ibv_resp, sizeof(resp), 0);
#endif
	if (ret) {
		kwarp_refused_cq(ctx, attr, ret);
		goto err_free;
	}

	map = cq_map(ctx, &resp.drv_payload);
	if (!map)
		goto err_destroy;
	cq_use(cq, map, &resp.drv_payload);
	return cq;

err_destroy:
	ret = errno;
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free:
	cq_free(cq);
	errno = ret;
	return NULL;
}

struct ibv_cq *kwarp_create_cq(struct ibv_context *ctx, int cqe,
			       struct ibv_comp_channel *channel,
			       int comp_vector)
{
	const struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = channel,
		.comp_vector = comp_vector,
	};
	struct kwarp_cq *cq = create_cq(ctx, &attr, false);

	return cq ? &cq->vcq.cq : NULL;
}

struct ibv_cq_ex *kwarp_create_cq_ex(struct ibv_context *ctx,
				     struct ibv_cq_init_attr_ex *attr)
{
	struct kwarp_cq *cq;
	uint32_t flags = 0;

	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		flags = attr->flags;

	/* A parent domain is accepted, but its thread domain has no effect on CQs. */
	if (!check_comp_mask(attr->comp_mask, IBV_CQ_INIT_ATTR_MASK_FLAGS |
					      IBV_CQ_INIT_ATTR_MASK_PD) ||
	    !check_comp_mask(flags, IBV_CREATE_CQ_ATTR_SINGLE_THREADED |
				    IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) ||
	    !check_comp_mask(attr->wc_flags, IBV_WC_STANDARD_FLAGS | STAMPS) ||
	    /* An entry has one timestamp, and neither clock can be computed from the other. */
	    (attr->wc_flags & STAMPS) == STAMPS) {
		errno = kwarp_refused_cq(ctx, attr, EOPNOTSUPP);
		return NULL;
	}
	if (attr->cqe > INT32_MAX || attr->comp_vector > INT32_MAX) {
		errno = kwarp_refused_cq(ctx, attr, EINVAL);
		return NULL;
	}

	cq = create_cq(ctx, attr, flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	if (!cq)
		return NULL;
	kwarp_cq_init_ex(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

/* Begin a resize: one at a time. */
static void begin_resize(struct kwarp_cq *cq)
{
	pthread_mutex_lock(&cq->resize);
	while (cq->resizing)
		pthread_cond_wait(&cq->switched, &cq->resize);
	kwarp_cq_lock(cq);
	cq->resizing = true;
	kwarp_cq_unlock(cq);
	pthread_mutex_unlock(&cq->resize);
}

/* End a resize; return with both locks of the CQ held. */
static void lock_to_end_resize(struct kwarp_cq *cq)
{
	pthread_mutex_lock(&cq->resize);
	kwarp_cq_lock(cq);
	cq->resizing = false;
}

static void unlock_after_resize(struct kwarp_cq *cq)
{
	kwarp_cq_unlock(cq);
	pthread_cond_broadcast(&cq->switched);
	pthread_mutex_unlock(&cq->resize);
}

/*
 * The kernel uses another ring already: use it, too.  If it could not be mapped (@map is NULL),
 * polls have to fail.
 */
static void cq_switch(struct kwarp_cq *cq, void *map, const struct kwarp_create_cq_resp *resp)
{
	struct kwarp_ring_hdr *old = cq->hdr;
	size_t old_len = cq->len;

	lock_to_end_resize(cq);
	cq->switches++;
	cq->lost = !map;
	if (map) {
		cq_use(cq, map, resp);
		/* Threads may have polled the old ring since the kernel left it. */
		__atomic_store_n(&cq->hdr->cons, cq->cons, __ATOMIC_RELEASE);
	}
	unlock_after_resize(cq);
	if (map)
		munmap(old, old_len);
}

/**
 * kwarp_resize_cq() - replace the ring by one of another size
 * @ibcq: completion queue
 * @cqe: entries wanted
 *
 * The kernel moves entries that user space has not released (polled), and a pending
 * request for an event, from the old ring to the new one.  Meanwhile other threads poll and arm the
 * old ring, see cq_moved().
 */
int kwarp_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct kwarp_cmd_resize_cq_resp resp = {};
	struct kwarp_cq *cq = to_kcq(ibcq);
	struct ibv_resize_cq cmd = {};
	void *map;
	int ret;

	begin_resize(cq);
	ret = ibv_cmd_resize_cq(ibcq, cqe, &cmd, sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (ret) {
		lock_to_end_resize(cq);
		unlock_after_resize(cq);
		return kwarp_refused_resize_cq(ibcq, cqe, ret);
	}
	map = cq_map(ibcq->context, &resp.drv_payload);
	ret = map ? 0 : errno;
	cq_switch(cq, map, &resp.drv_payload);
	return ret;
}

int kwarp_destroy_cq(struct ibv_cq *ibcq)
{
	struct kwarp_cq *cq = to_kcq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;

	munmap(cq->hdr, cq->len);
	cq_free(cq);
	return 0;
}
