// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Details of objects for the RDMA core (rdma resource show -dd).
 *
 * On some kernels the core may call these functions while the object is being destroyed.  So
 * memory that the destruction frees is read only under a lock, and not at all after the destruction
 * has begun.
 */
#include "verbs.h"

#include <linux/capability.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/user_namespace.h>
#include <net/netlink.h>
#include <rdma/rdma_cm.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "../cm/cm.h"
#include "../ended.h"
#include "../mem/mr.h"
#include "../proto/qp_fsm.h"
#include "../qp/qp.h"

static int put_address(struct sk_buff *msg, const char *name, const struct sockaddr_storage *addr)
{
	char text[64];

	if (!addr->ss_family)
		return 0;
	snprintf(text, sizeof(text), "%pISpc", addr);
	return rdma_nl_put_driver_string(msg, name, text);
}

static bool put_tcp(struct sk_buff *msg, const struct kwarp_engine_info *info)
{
	const struct tcp_info *tcp = &info->tcp;

	return put_address(msg, "local", &info->local) ||
	       put_address(msg, "remote", &info->remote) ||
	       rdma_nl_put_driver_u32(msg, "tcp_rtt_us", tcp->tcpi_rtt) ||
	       rdma_nl_put_driver_u32(msg, "tcp_cwnd", tcp->tcpi_snd_cwnd) ||
	       rdma_nl_put_driver_u32(msg, "tcp_mss", tcp->tcpi_snd_mss) ||
	       rdma_nl_put_driver_u32(msg, "tcp_retrans", tcp->tcpi_total_retrans) ||
	       rdma_nl_put_driver_u32(msg, "tcp_unacked", tcp->tcpi_unacked);
}

/*
 * Details of TCP and MPA are shown only to callers in the network namespace of the device, who can
 * see its connections by other means (such as ss), too.
 */
static bool sees_connections(const struct kwarp_dev *kdev)
{
	return net_eq(current->nsproxy->net_ns, kdev->net);
}

static bool put_stream(struct sk_buff *msg, const struct kwarp_engine_info *info, bool tcp)
{
	return rdma_nl_put_driver_u32(msg, "crc", info->crc) ||
	       rdma_nl_put_driver_u32(msg, "tx_markers", info->tx_markers) ||
	       rdma_nl_put_driver_u32(msg, "rx_markers", info->rx_markers) ||
	       rdma_nl_put_driver_u32(msg, "align", info->align) ||
	       rdma_nl_put_driver_u32(msg, "ord", info->ord) ||
	       rdma_nl_put_driver_u32(msg, "ird", info->ird) ||
	       rdma_nl_put_driver_u32(msg, "reads_out", info->out_reads) ||
	       rdma_nl_put_driver_u32(msg, "reads_in", info->in_reads) ||
	       (tcp && put_tcp(msg, info));
}

static bool put_queues(struct sk_buff *msg, const struct kwarp_qp *qp,
		       const struct kwarp_engine_info *info)
{
	if (rdma_nl_put_driver_u32(msg, "sq_size", qp->cap.max_send_wr) ||
	    rdma_nl_put_driver_u32(msg, "sq_used", info->sq_used) ||
	    rdma_nl_put_driver_u32(msg, "sq_held", info->held) ||
	    rdma_nl_put_driver_string(msg, "sender", info->sender))
		return true;
	return !qp->srq && (rdma_nl_put_driver_u32(msg, "rq_size", qp->cap.max_recv_wr) ||
			    rdma_nl_put_driver_u32(msg, "rq_used", info->rq_used));
}

static bool put_qp(struct sk_buff *msg, struct kwarp_qp *qp)
{
	struct kwarp_engine_info info = {};

	if (rdma_nl_put_driver_string(msg, "stream", kwarp_qp_state_name(kwarp_qp_state(qp))))
		return true;
	if (!kwarp_qp_describe(qp, &info))
		return false;
	return put_queues(msg, qp, &info) ||
	       rdma_nl_put_driver_string(msg, "error", info.error) ||
	       (info.has_peer_term &&
		rdma_nl_put_driver_u32_hex(msg, "peer_term", info.peer_term)) ||
	       (info.attached && put_stream(msg, &info, sees_connections(qp->kdev)));
}

static bool put_cq(struct sk_buff *msg, const struct kwarp_cq *cq)
{
	const u32 obey = READ_ONCE(cq->coalesce.obey), sent = READ_ONCE(cq->coalesce.sent);

	return rdma_nl_put_driver_u32(msg, "completions", READ_ONCE(cq->prod)) ||
	       rdma_nl_put_driver_u32(msg, "overflow", READ_ONCE(cq->overflow)) ||
	       rdma_nl_put_driver_u32(msg, "doorbells_to_obey", obey > sent ? obey - sent : 0) ||
	       (cq->home >= 0 && rdma_nl_put_driver_u32(msg, "processor", cq->home));
}

static bool put_rights(struct sk_buff *msg, int access)
{
	char text[KWARP_RIGHTS_LEN];

	kwarp_rights_text(access, text);
	return rdma_nl_put_driver_string(msg, "rights", text);
}

/*
 * The address of a region is shown to those to whom the core shows its keys. That of a region of
 * the kernel is a pointer of the kernel, and is never shown.
 */
static bool sees_address(const struct kwarp_mr *mr)
{
	return mr->kind == KWARP_MR_USER && ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}

static bool put_mr(struct sk_buff *msg, const struct kwarp_mr *mr)
{
	static const char *const kinds[] = {
		[KWARP_MR_USER] = "user",
		[KWARP_MR_DMA] = "dma",
		[KWARP_MR_FAST] = "fast",
		[KWARP_MR_WINDOW] = "window",
	};

	return rdma_nl_put_driver_string(msg, "kind", kinds[mr->kind]) ||
	       rdma_nl_put_driver_u32(msg, "valid", READ_ONCE(mr->valid)) ||
	       (sees_address(mr) &&
		rdma_nl_put_driver_u64_hex(msg, "address", READ_ONCE(mr->va))) ||
	       put_rights(msg, READ_ONCE(mr->access)) ||
	       rdma_nl_put_driver_u32(msg, "pieces", READ_ONCE(mr->nchunks)) ||
	       rdma_nl_put_driver_u32(msg, "piece_shift", READ_ONCE(mr->shift));
}

static bool put_listener(struct sk_buff *msg, const struct kwarp_cm_info *info)
{
	return rdma_nl_put_driver_u32(msg, "backlog", info->backlog) ||
	       rdma_nl_put_driver_u32(msg, "queued", info->queued) ||
	       rdma_nl_put_driver_u32(msg, "half_open", info->half_open) ||
	       rdma_nl_put_driver_u32(msg, "asked", info->asked);
}

static bool put_endpoint(struct sk_buff *msg, const struct kwarp_cm_info *info)
{
	return rdma_nl_put_driver_string(msg, "state", info->state) ||
	       rdma_nl_put_driver_u64(msg, "state_ms", info->state_ms) ||
	       (info->timed && rdma_nl_put_driver_u64(msg, "ends_ms", info->ends_ms));
}

static bool put_cm_id(struct sk_buff *msg, const struct kwarp_cm_info *info, bool all)
{
	if (rdma_nl_put_driver_string(msg, "role", info->role))
		return true;
	if (!all)
		return false;
	return info->state ? put_endpoint(msg, info) : put_listener(msg, info);
}

static int end_details(struct sk_buff *msg, struct nlattr *details, bool no_room)
{
	if (no_room) {
		nla_nest_cancel(msg, details);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, details);
	return 0;
}

int kwarp_fill_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct nlattr *details = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	return details ? end_details(msg, details, put_qp(msg, to_kqp(ibqp))) : -EMSGSIZE;
}

int kwarp_fill_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct nlattr *details = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	return details ? end_details(msg, details, put_cq(msg, to_kcq(ibcq))) : -EMSGSIZE;
}

int kwarp_fill_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct nlattr *details = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	return details ? end_details(msg, details, put_mr(msg, to_kmr(ibmr))) : -EMSGSIZE;
}

int kwarp_fill_cm_id(struct sk_buff *msg, struct rdma_cm_id *id)
{
	/*
	 * The core keeps @id and its device during this call.  iw_cm's id may be freed meanwhile,
	 * but kwarp_cm_describe() only compares the pointer to it.
	 */
	struct kwarp_dev *kdev = to_kdev(id->device);
	struct kwarp_cm_info info;
	struct nlattr *details;

	if (!kwarp_cm_describe(kdev, rdma_iw_cm_id(id), &info))
		return 0;
	details = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	return details ? end_details(msg, details,
				     put_cm_id(msg, &info, sees_connections(kdev))) : -EMSGSIZE;
}

static bool put_srq(struct sk_buff *msg, const struct kwarp_srq *srq)
{
	return rdma_nl_put_driver_u32(msg, "size", kwarp_rq_size(&srq->rq)) ||
	       rdma_nl_put_driver_u32(msg, "max_sge", srq->rq.max_sge) ||
	       rdma_nl_put_driver_u32(msg, "limit", READ_ONCE(srq->rq.limit)) ||
	       rdma_nl_put_driver_u32(msg, "taken", READ_ONCE(srq->rq.next));
}

/* Kernels before 6.12 have no such operation. */
int kwarp_fill_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct nlattr *details = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	return details ? end_details(msg, details, put_srq(msg, to_ksrq(ibsrq))) : -EMSGSIZE;
}
