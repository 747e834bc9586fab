// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: create, resize, destroy. The home of a CQ is the processor that its consumer
 * has chosen by a completion vector: work items that send for the CQ's queue pairs run there.
 */
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/slab.h>
#include <linux/time_namespace.h>

#include "../engine/engine.h"
#include "../kwarp.h"
#include "../queue/cq.h"
#include "../wq.h"
#include "personality.h"
#include "udata.h"
#include "verbs.h"

static int give_cq_ring(struct kwarp_cq *cq, struct kwarp_ring *ring,
			struct rdma_user_mmap_entry **map, struct ib_udata *udata, u32 id)
{
	struct kwarp_create_cq_resp resp = {
		.mmap_len = ring->len,
		.cq_id = id,
		.size = kwarp_ring_size(ring),
	};

	*map = kwarp_mmap_ring(kwarp_udata_context(udata), ring, &resp.mmap_key);
	if (!*map)
		return -ENOMEM;
	return kwarp_udata_answer(udata, &resp, sizeof(resp));
}

static bool cpu_may_be_home(int cpu, bool user)
{
	return housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN) &&
	       (!user || cpumask_test_cpu(cpu, current->cpus_ptr));
}

/*
 * Vector n is the n-th possible processor. Vector 0 of a program gives no home, because programs
 * that choose no vector pass 0.
 */
static int home_of_vector(u32 vector, bool user)
{
	int cpu;

	if (user && !vector)
		return -1;
	for_each_possible_cpu(cpu)
		if (!vector--)
			return cpu_may_be_home(cpu, user) ? cpu : -1;
	return -1;
}

/* Attributes by which a program gives the memory of the ring; kwarp's rings are the kernel's. */
static const u16 cq_buffer_attrs[] = {
	KWARP_SINCE_ROW(CQ_BUFFER_ATTRS, UVERBS_ATTR_CREATE_CQ_BUFFER_VA)
	KWARP_SINCE_ROW(CQ_BUFFER_ATTRS, UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH)
	KWARP_SINCE_ROW(CQ_BUFFER_ATTRS, UVERBS_ATTR_CREATE_CQ_BUFFER_FD)
	KWARP_SINCE_ROW(CQ_BUFFER_ATTRS, UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET)
	KWARP_SINCE_ROW(QUEUE_UMEM_ATTRS, UVERBS_ATTR_CREATE_CQ_BUF_UMEM)
};

/* @foreign: another user library sends no request, and its completions have no timestamp. */
static int cq_request(struct ib_udata *udata, bool foreign, u32 cq_flags, u32 *stamp)
{
	struct kwarp_create_cq_req req = {};
	int ret;

	ret = foreign ? kwarp_udata_no_request(udata) :
			kwarp_udata_request(udata, &req, sizeof(req));
	if (ret)
		return ret;
	if (req.rsvd || req.flags & ~(KWARP_CQ_STAMP_RAW | KWARP_CQ_STAMP_REAL) ||
	    req.flags == (KWARP_CQ_STAMP_RAW | KWARP_CQ_STAMP_REAL))
		return -EOPNOTSUPP;
	/* Timestamps, but of which clock? */
	if (cq_flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION && !req.flags)
		return -EOPNOTSUPP;
	*stamp = req.flags;
	return 0;
}

/* Return: nanoseconds that the caller's time namespace adds to CLOCK_MONOTONIC_RAW. */
static s64 time_offset(void)
{
	struct timespec64 ts = {};

	timens_add_monotonic(&ts);
	return timespec64_to_ns(&ts);
}

int kwarp_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct kwarp_dev *kdev = to_kdev(ibcq->device);
	const struct kwarp_personality *p = kwarp_personality_of(kdev, udata);
	struct kwarp_cq *cq = to_kcq(ibcq);
	int ret;

	ret = cq_request(udata, p, attr->flags, &cq->stamp);
	if (!ret)
		ret = kwarp_udata_refuse(udata, cq_buffer_attrs, ARRAY_SIZE(cq_buffer_attrs));
	if (!ret)
		ret = kwarp_udata_fault(KWARP_FAULT_CREATE, ibcq->device, udata);
	if (ret)
		return ret;
	if (attr->flags & ~(IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN |
			    IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION))
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > KWARP_MAX_CQE)
		return -EINVAL;
	ret = kwarp_charge_object(&cq->charge, udata, sizeof(*cq), &kdev->num_cq, KWARP_MAX_CQ);
	if (ret)
		return ret;
	cq->ring.charge.account = cq->charge.account;
	kwarp_cq_init(cq);
	cq->ignore_overrun = attr->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	cq->stamp_offset = time_offset();
	cq->home = home_of_vector(attr->comp_vector, udata);
	kwarp_engine_init_cq(cq, kwarp_account_timers(cq->charge.account));
	ret = kwarp_ring_init(&cq->ring, p ? 1 : attr->cqe, sizeof(struct kwarp_cqe), udata);
	if (ret)
		goto out_count;
	if (p) {
		ret = p->give_cq(cq, attr->cqe, udata, atomic_inc_return(&kdev->next_cqn));
	} else if (udata) {
		ret = give_cq_ring(cq, &cq->ring, &cq->map, udata,
				   atomic_inc_return(&kdev->next_cqn));
	} else {
		cq->qp = kvcalloc(kwarp_ring_size(&cq->ring), sizeof(*cq->qp), GFP_KERNEL);
		ret = cq->qp ? 0 : -ENOMEM;
	}
	if (ret)
		goto out_ring;
	ibcq->cqe = p ? cq->foreign->size : kwarp_ring_size(&cq->ring);
	cq->creator = udata ? get_pid(task_tgid(current)) : NULL;
	return 0;

out_ring:
	kwarp_release_foreign(kdev, &cq->foreign, &cq->map);
	kwarp_ring_free(&cq->ring, cq->map);
out_count:
	kwarp_uncharge_object(&cq->charge, &kdev->num_cq);
	return ret;
}

int kwarp_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct kwarp_cq *cq = to_kcq(ibcq);

	kwarp_engine_fini_cq(cq);
	cancel_delayed_work_sync(&cq->late);
	kwarp_cq_settle(cq);
	kwarp_release_foreign(to_kdev(ibcq->device), &cq->foreign, &cq->map);
	kwarp_ring_free(&cq->ring, cq->map);
	kvfree(cq->qp);
	put_pid(cq->creator);
	kwarp_uncharge_object(&cq->charge, &to_kdev(ibcq->device)->num_cq);
	return 0;
}

/* On failure @ring is freed. */
static int replace_cq_ring(struct kwarp_cq *cq, struct kwarp_ring *ring, struct ib_udata *udata)
{
	struct rdma_user_mmap_entry *map;
	int ret;

	lockdep_assert_held(&cq->resize);
	ret = give_cq_ring(cq, ring, &map, udata, 0);
	if (!ret)
		ret = kwarp_cq_replace(cq, ring);
	if (ret) {
		kwarp_ring_free(ring, map);
		return ret;
	}
	swap(cq->map, map);
	kwarp_ring_free_late(map);
	return 0;
}

static u64 ring_cost(u32 cqe)
{
	return kwarp_ring_cost(kwarp_ring_octets(cqe, sizeof(struct kwarp_cqe)));
}

/* Older kernels (6.12) let a kernel consumer call this, without @udata: its CQ has no mapping. */
int kwarp_resize_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata)
{
	struct kwarp_cq *cq = to_kcq(ibcq);
	struct kwarp_ring ring = { .charge.account = cq->charge.account };
	int ret;

	ret = kwarp_udata_no_request(udata);
	if (ret)
		return ret;
	if (!cq->map || cqe < 1 || cqe > KWARP_MAX_CQE)
		return -EINVAL;
	ret = kwarp_ring_init(&ring, cqe, sizeof(struct kwarp_cqe), true);
	if (ret == -ENOMEM && kwarp_charge_can_wait(&ring.charge, ring_cost(cqe))) {
		/* The user still pays for rings of earlier resizes, which are freed late. */
		rcu_barrier();
		flush_workqueue(kwarp_wq);
		ret = kwarp_ring_init(&ring, cqe, sizeof(struct kwarp_cqe), true);
	}
	if (ret)
		return ret;
	/* The core holds only a read lock on the CQ, so two threads may resize it at once. */
	mutex_lock(&cq->resize);
	ret = replace_cq_ring(cq, &ring, udata);
	if (!ret)
		ibcq->cqe = kwarp_ring_size(&cq->ring);
	mutex_unlock(&cq->resize);
	return ret;
}
