// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: create, resize, destroy.
 *
 * The home of a CQ is the processor that its consumer has chosen by a completion vector: work items
 * that send for the CQ's queue pairs run there.  libsiw is the libibverbs provider of the siw
 * driver, which programs use on links of type kwarp-siw.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/slab.h>

#include "../engine/engine.h"
#include "../kwarp.h"
#include "../queue/cq.h"
#include "../queue/siw_ring.h"
#include "../wq.h"
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
	u64 key;
	int ret;

	*map = kwarp_mmap_ring(kwarp_udata_context(udata), ring, &key);
	if (!*map)
		return -ENOMEM;
	resp.mmap_key = key;
	ret = kwarp_udata_answer(udata, &resp, sizeof(resp));
	if (ret) {
		rdma_user_mmap_entry_remove(*map);
		*map = NULL;
		/* The memory of the ring belonged to the mmap entry, and was freed with it. */
		ring->hdr = NULL;
	}
	return ret;
}

/*
 * May this processor be the home of a CQ?  An isolated processor may not.  If the CQ belongs to a
 * program (@user), the calling thread must be allowed to run on the processor.
 */
static bool cpu_may_be_home(int cpu, bool user)
{
	return housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN) &&
	       (!user || cpumask_test_cpu(cpu, current->cpus_ptr));
}

/*
 * Find the home that a completion vector stands for: vector n is the n-th possible processor, from
 * 0 on.
 *
 * Return: number of the processor; -1: no home.  Vector 0 of a program gives no home, because
 * programs that choose no vector pass 0.
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
static const u16 cq_buffer_attrs[] = KWARP_CQ_BUFFER_ATTRS;

int kwarp_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct kwarp_cq_attrs *attrs)
{
	struct ib_udata *udata = kwarp_cq_udata(attrs);
	struct kwarp_dev *kdev = to_kdev(ibcq->device);
	struct kwarp_cq *cq = to_kcq(ibcq);
	bool siw;
	int ret;

	ret = kwarp_udata_no_request(udata);
	if (!ret)
		ret = kwarp_udata_refuse(udata, cq_buffer_attrs, ARRAY_SIZE(cq_buffer_attrs));
	if (ret)
		return ret;
	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > KWARP_MAX_CQE)
		return -EINVAL;
	if (atomic_inc_return(&kdev->num_cq) > KWARP_MAX_CQ) {
		ret = -ENOMEM;
		goto out_count;
	}
	ret = kwarp_charge_object(&cq->charge, udata, sizeof(*cq));
	if (ret)
		goto out_count;
	cq->ring.charge.account = cq->charge.account;
	kwarp_cq_init(cq);
	cq->ignore_overrun = attr->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	cq->home = home_of_vector(attr->comp_vector, udata);
	kwarp_engine_init_cq(cq, kwarp_account_timers(cq->charge.account));
	siw = udata && kdev->siw;
	ret = kwarp_ring_init(&cq->ring, siw ? 1 : attr->cqe, sizeof(struct kwarp_cqe), udata);
	if (ret)
		goto out_count;
	if (siw) {
		ret = kwarp_siw_give_cq(cq, attr->cqe, udata, atomic_inc_return(&kdev->next_cqn));
	} else if (udata) {
		ret = give_cq_ring(cq, &cq->ring, &cq->map, udata,
				   atomic_inc_return(&kdev->next_cqn));
	} else {
		cq->qp = kvcalloc(kwarp_ring_size(&cq->ring), sizeof(*cq->qp), GFP_KERNEL);
		ret = cq->qp ? 0 : -ENOMEM;
	}
	if (ret)
		goto out_ring;
	ibcq->cqe = siw ? kwarp_siw_cq_size(cq->siw) : kwarp_ring_size(&cq->ring);
	return 0;

out_ring:
	kwarp_siw_release_cq(cq);
	kwarp_ring_fini(&cq->ring);
out_count:
	kwarp_uncharge(&cq->charge);
	atomic_dec(&kdev->num_cq);
	return ret;
}

int kwarp_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct kwarp_cq *cq = to_kcq(ibcq);

	kwarp_engine_fini_cq(cq);
	kwarp_cq_settle(cq);
	kwarp_siw_release_cq(cq);
	kwarp_ring_free(&cq->ring, cq->map);
	kvfree(cq->qp);
	cq->qp = NULL;
	kwarp_uncharge(&cq->charge);
	atomic_dec(&to_kdev(ibcq->device)->num_cq);
	return 0;
}

static int replace_cq_ring(struct kwarp_cq *cq, struct kwarp_ring *ring, bool polled,
			   struct ib_udata *udata)
{
	struct rdma_user_mmap_entry *map;
	int ret;

	lockdep_assert_held(&cq->resize);
	ret = give_cq_ring(cq, ring, &map, udata, 0);
	if (ret)
		return ret;
	ret = kwarp_cq_replace(cq, ring, polled);
	if (ret) {
		kwarp_ring_free(ring, map);
		return ret;
	}
	swap(cq->map, map);
	kwarp_ring_free_late(map);
	return 0;
}

/* The RDMA core offers this verb only to programs. */
int kwarp_resize_cq(struct ib_cq *ibcq, kwarp_cqe_count cqe, struct ib_udata *udata)
{
	struct kwarp_cq *cq = to_kcq(ibcq);
	struct kwarp_resize_cq_req req;
	struct kwarp_ring ring = { .charge.account = cq->charge.account };
	int ret;

	ret = kwarp_udata_request(udata, &req, sizeof(req));
	if (ret)
		return ret;
	if (req.flags & ~KWARP_RESIZE_POLLED || req.rsvd)
		return -EOPNOTSUPP;
	if (!cq->map || cqe < 1 || cqe > KWARP_MAX_CQE)
		return -EINVAL;
	ret = kwarp_ring_init(&ring, cqe, sizeof(struct kwarp_cqe), true);
	if (ret == -ENOMEM) {
		/* The user may still pay for rings of earlier resizes, which are freed late. */
		rcu_barrier();
		flush_workqueue(kwarp_wq);
		ret = kwarp_ring_init(&ring, cqe, sizeof(struct kwarp_cqe), true);
	}
	if (ret)
		return ret;
	/* The core holds only a read lock on the CQ, so two threads may resize it at once. */
	mutex_lock(&cq->resize);
	ret = replace_cq_ring(cq, &ring, req.flags & KWARP_RESIZE_POLLED, udata);
	if (!ret)
		ibcq->cqe = kwarp_ring_size(&cq->ring);
	mutex_unlock(&cq->resize);
	if (ret)
		kwarp_ring_fini(&ring);
	return ret;
}
