// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Modify of queue pairs that are wired: their consumer gives the peer's address, number and PSN, as
 * with InfiniBand, and connects without rdma_cm. See cm/wire.c.
 */
#include "verbs.h"

#include <linux/nsproxy.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>
#include <rdma/kwarp-abi.h>

#include "../cm/cm.h"
#include "../qp/qp.h"

/* Attributes that wire a queue pair, all of them in modify to RTR. */
#define WIRE_MASK	(IB_QP_AV | IB_QP_DEST_QPN | IB_QP_RQ_PSN)

/* The RNR timer of the verbs, microseconds (InfiniBand, table 45). */
static const u32 rnr_us[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840,
	5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680,
	491520,
};

bool kwarp_wire_asks(const struct ib_qp_attr *attr, int mask)
{
	return (mask & WIRE_MASK) == WIRE_MASK &&
	       rdma_ah_get_ah_flags(&attr->ah_attr) & IB_AH_GRH;
}

/* Are the values possible that RoCE and InfiniBand know, and iWARP does not? */
bool kwarp_wire_attr_ok(const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PATH_MTU && (attr->path_mtu < IB_MTU_256 || attr->path_mtu > IB_MTU_4096))
		return false;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer >= ARRAY_SIZE(rnr_us))
		return false;
	return !(mask & IB_QP_TIMEOUT && attr->timeout > 31) &&
	       !(mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7) &&
	       !(mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7) &&
	       !(mask & IB_QP_DEST_QPN && attr->dest_qp_num >> 24);
}

static bool is_unicast(const union ib_gid *gid)
{
	const struct in6_addr *addr = (const void *)gid->raw;

	if (ipv6_addr_v4mapped(addr))
		return !ipv4_is_multicast(addr->s6_addr32[3]) && addr->s6_addr32[3] &&
		       !ipv4_is_lbcast(addr->s6_addr32[3]);
	return !ipv6_addr_any(addr) && !ipv6_addr_is_multicast(addr);
}

/* Both GIDs have to be IP addresses of one family. */
static int fill_addresses(const struct ib_global_route *grh, struct kwarp_pair *pair)
{
	const struct ib_gid_attr *own = grh->sgid_attr;

	if (!own || own->index < KWARP_GID_ADDRESS || !is_unicast(&own->gid) ||
	    !is_unicast(&grh->dgid) ||
	    ipv6_addr_v4mapped((const void *)own->gid.raw) !=
	    ipv6_addr_v4mapped((const void *)grh->dgid.raw))
		return -EINVAL;
	memcpy(pair->addr, own->gid.raw, sizeof(pair->addr));
	memcpy(pair->peer_addr, grh->dgid.raw, sizeof(pair->peer_addr));
	return 0;
}

static u32 features_of(const struct kwarp_qp *qp)
{
	const struct kwarp_ucontext *uc = container_of(qp->ibuc, struct kwarp_ucontext, ibuc);

	return qp->ibuc && uc->features & KWARP_FEATURE_SEND_IMM ? KWARP_PAIR_SEND_IMM : 0;
}

/* What query_qp reports until the next reset. */
static void note_rtr(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct ib_qp_attr *own = &qp->attr;

	own->ah_attr = attr->ah_attr;
	/* The core keeps the reference. */
	own->ah_attr.grh.sgid_attr = NULL;
	own->dest_qp_num = attr->dest_qp_num;
	own->rq_psn = attr->rq_psn;
	if (mask & IB_QP_PATH_MTU)
		own->path_mtu = attr->path_mtu;
	if (mask & IB_QP_MIN_RNR_TIMER)
		own->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		own->max_dest_rd_atomic = attr->max_dest_rd_atomic;
}

static void note_rts(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct ib_qp_attr *own = &qp->attr;

	if (mask & IB_QP_SQ_PSN)
		own->sq_psn = attr->sq_psn;
	if (mask & IB_QP_TIMEOUT)
		own->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		own->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		own->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		own->max_rd_atomic = attr->max_rd_atomic;
}

/* Without the knob the attributes are only recorded. Context: qp->wiring held. */
int kwarp_wire_rtr(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);
	struct kwarp_wiring to = {
		.tos = grh->traffic_class & ~INET_ECN_MASK,
		.pair.own = {
			.qpn = qp->ibqp.qp_num,
			.peer_qpn = attr->dest_qp_num,
			.rq_psn = attr->rq_psn,
			.features = features_of(qp),
		},
	};
	int ret;

	lockdep_assert_held(&qp->wiring);
	if (qp->attr.qp_state == IB_QPS_RTR)
		return -EINVAL;
	if (!READ_ONCE(qp->kdev->knobs.wire_port)) {
		note_rtr(qp, attr, mask);
		return 0;
	}
	/* As with rdma_cm: who is in another namespace does not use the link's addresses. */
	if (qp->sq.user && !net_eq(current->nsproxy->net_ns, qp->kdev->net)) {
		ibdev_dbg_ratelimited(&qp->kdev->ibdev,
				      "only programs in the link's network namespace wire queue pairs\n");
		return -EINVAL;
	}
	ret = fill_addresses(grh, &to.pair);
	if (ret) {
		ibdev_dbg_ratelimited(&qp->kdev->ibdev,
				      "GIDs of wired queue pairs are IP addresses: use index %d or a later one\n",
				      KWARP_GID_ADDRESS);
		return ret;
	}
	note_rtr(qp, attr, mask);
	to.ird = qp->attr.max_dest_rd_atomic;
	to.rnr_us = rnr_us[qp->attr.min_rnr_timer];
	/* The rights are those that the consumer has given, no others. */
	kwarp_qp_set_access(qp, mask & IB_QP_ACCESS_FLAGS ? attr->qp_access_flags :
							    qp->asked_access, false);
	WRITE_ONCE(qp->wired, true);
	ret = kwarp_cm_wire(qp, &to, &qp->wire);
	if (ret) {
		WRITE_ONCE(qp->wired, false);
		/* Back to the rights of INIT, which rdma_cm may change. */
		kwarp_qp_forget_access(qp);
		kwarp_qp_set_access(qp, qp->asked_access, true);
	}
	return ret;
}

/* 4.096 us * 2^timeout, retry_cnt times more, 4 times longer: the peer's program may be slow. */
static u32 limit_ms(const struct ib_qp_attr *attr)
{
	u64 us = attr->timeout ? (4096ULL << attr->timeout) / 1000 : U32_MAX;

	return min_t(u64, 4 * us * (attr->retry_cnt + 1) / 1000, U32_MAX);
}

int kwarp_wire_rts(struct kwarp_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct kwarp_wire_sends s;
	int ret;

	lockdep_assert_held(&qp->wiring);
	if (kwarp_qp_state(qp) > KWARP_QPS_RTS)
		return -EINVAL;
	if (qp->attr.qp_state == IB_QPS_RTS)
		return 0;
	note_rts(qp, attr, mask);
	s = (struct kwarp_wire_sends) {
		.sq_psn = qp->attr.sq_psn,
		.rnr_retry = qp->attr.rnr_retry,
		.ord = qp->attr.max_rd_atomic,
		.limit_ms = limit_ms(&qp->attr),
	};
	ret = kwarp_cm_wire_sends(qp->wire, &s);
	if (!ret)
		WRITE_ONCE(qp->attr.qp_state, IB_QPS_RTS);
	return ret;
}

/* Before a reset, a modify to ERR and the end. Context: qp->wiring held. */
void kwarp_wire_end(struct kwarp_qp *qp)
{
	lockdep_assert_held(&qp->wiring);
	if (!qp->wire)
		return;
	kwarp_cm_unwire(qp->wire);
	qp->wire = NULL;
}

/* The queue pair has been reset: it may be wired to another, or connected by rdma_cm. */
void kwarp_wire_forget(struct kwarp_qp *qp)
{
	struct ib_qp_attr *own = &qp->attr;

	lockdep_assert_held(&qp->wiring);
	WRITE_ONCE(qp->wired, false);
	memset(&own->ah_attr, 0, sizeof(own->ah_attr));
	own->dest_qp_num = 0;
	own->rq_psn = 0;
	own->sq_psn = 0;
	own->path_mtu = 0;
	own->min_rnr_timer = 0;
	own->timeout = 0;
	own->retry_cnt = 0;
	own->rnr_retry = 0;
	qp->asked_access = 0;
}
