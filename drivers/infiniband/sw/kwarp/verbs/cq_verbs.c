// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: create, resize, destroy.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/slab.h>

#include "../engine/engine.h"
#include "../kwarp.h"
#include "../queue/cq.h"
#include "../queue/siw_ring.h"
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
		/* The entry owned the memory and has freed it. */
		ring->hdr = NULL;
	}
	return ret;
}

/* Work may be put there: a program's only where it may run itself when it asks for it. */
static bool cpu_may_be_home(int cpu, bool user)
{
	return housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN) &&
	       (!user || cpumask_test_cpu(cpu, current->cpus_ptr));
}

/*
 * The processor that a completion vector stands for: of those that there can be, the one of that
 * number.  Programs that do not choose say 0, and have none.
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

int kwarp_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct kwarp_cq_attrs *attrs)
{
	struct ib_udata *udata = kwarp_cq_udata(attrs);
	struct kwarp_dev *kdev = to_kdev(ibcq->device);
	struct kwarp_cq *cq = to_kcq(ibcq);
	bool siw;
	int ret;

	ret = kwarp_udata_no_request(udata);
	if (ret)
		return ret;
	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > KWARP_MAX_CQE)
		return -EINVAL;
	if (atomic_inc_return(&kdev->num_cq) > KWARP_MAX_CQ) {
		ret = -ENOMEM;
		goto out_count;
	}
	kwarp_cq_init(cq);
	cq->home = home_of_vector(attr->comp_vector, udata);
	kwarp_engine_init_cq(cq);
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
	atomic_dec(&kdev->num_cq);
	return ret;
}

int kwarp_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct kwarp_cq *cq = to_kcq(ibcq);

	kwarp_engine_fini_cq(cq);
	kwarp_cq_settle(cq);
	kwarp_siw_release_cq(cq);
	kwarp_ring_release_map(&cq->ring, cq->map);
	kvfree(cq->qp);
	cq->qp = NULL;
	atomic_dec(&to_kdev(ibcq->device)->num_cq);
	return 0;
}

static int replace_cq_ring(struct kwarp_cq *cq, struct kwarp_ring *ring, struct ib_udata *udata)
{
	struct rdma_user_mmap_entry *map;
	int ret;

	lockdep_assert_held(&cq->resize);
	ret = give_cq_ring(cq, ring, &map, udata, 0);
	if (ret)
		return ret;
	ret = kwarp_cq_replace(cq, ring);
	if (!ret) {
		swap(cq->map, map);
		/* kwarp_cq_polls() */
		synchronize_rcu();
	}
	/* The ring that is not in use, old or new, goes with its mapping. */
	kwarp_ring_release_map(ring, map);
	return ret;
}

/* User space only: the RDMA core offers it to nobody else. */
int kwarp_resize_cq(struct ib_cq *ibcq, kwarp_cqe_count cqe, struct ib_udata *udata)
{
	struct kwarp_cq *cq = to_kcq(ibcq);
	struct kwarp_ring ring = {};
	int ret;

	ret = kwarp_udata_no_request(udata);
	if (ret)
		return ret;
	if (!cq->map || cqe < 1 || cqe > KWARP_MAX_CQE)
		return -EINVAL;
	ret = kwarp_ring_init(&ring, cqe, sizeof(struct kwarp_cqe), true);
	if (ret)
		return ret;
	/* The core holds the CQ for reading only: two threads may get here. */
	mutex_lock(&cq->resize);
	ret = replace_cq_ring(cq, &ring, udata);
	if (!ret)
		ibcq->cqe = kwarp_ring_size(&cq->ring);
	mutex_unlock(&cq->resize);
	if (ret)
		kwarp_ring_fini(&ring);
	return ret;
}
