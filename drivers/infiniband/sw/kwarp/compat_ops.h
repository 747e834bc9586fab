/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Operations of older kernels whose arguments differ from those of Linux 7.2, see compat.h.  Each
 * calls the function of verbs/, and takes its place in the tables of device.c.
 */
#ifndef KWARP_COMPAT_OPS_H
#define KWARP_COMPAT_OPS_H

#include <rdma/uverbs_ioctl.h>

#include "compat.h"
#include "verbs/verbs.h"

/* 7.1: resize_cq() became resize_user_cq(), with an unsigned number of entries */
#ifdef KWARP_LACKS_RESIZE_USER_CQ
static int resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	return kwarp_resize_cq(ibcq, cqe, udata);
}

#define kwarp_resize_cq			resize_cq
#endif

/* 7.0: the core passes a port number when a queue pair is bound to a counter */
#ifdef KWARP_LACKS_COUNTER_PORT
static int counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	return kwarp_counter_bind_qp(counter, ibqp, 1);
}

static int counter_unbind_qp(struct ib_qp *ibqp)
{
	return kwarp_counter_unbind_qp(ibqp, 1);
}

#define kwarp_counter_bind_qp		counter_bind_qp
#define kwarp_counter_unbind_qp		counter_unbind_qp
#endif

/* 6.17: a DMA handle; 6.12: reg_user_mr_dmabuf() gets all attributes of the verb */
#ifdef KWARP_LACKS_REG_USER_MR_DMAH
static struct ib_mr *reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
				 struct ib_udata *udata)
{
	return kwarp_reg_user_mr(ibpd, start, length, iova, access, NULL, udata);
}

#ifdef KWARP_LACKS_REG_DMABUF_ATTRS
static struct ib_mr *reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova,
					int fd, int access, struct ib_udata *udata)
{
	return kwarp_reg_user_mr_dmabuf(ibpd, offset, length, iova, fd, access, NULL, NULL);
}
#else
static struct ib_mr *reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova,
					int fd, int access, struct uverbs_attr_bundle *attrs)
{
	return kwarp_reg_user_mr_dmabuf(ibpd, offset, length, iova, fd, access, NULL, attrs);
}
#endif

#define kwarp_reg_user_mr		reg_user_mr
#define kwarp_reg_user_mr_dmabuf	reg_user_mr_dmabuf
#endif

/* 6.11: create_cq() gets all attributes of the verb; older kernels pass only the driver data */
#ifdef KWARP_LACKS_CREATE_CQ_ATTRS
static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct ib_udata *udata)
{
	return kwarp_create_cq(ibcq, attr,
			       udata ? rdma_udata_to_uverbs_attr_bundle(udata) : NULL);
}

#define kwarp_create_cq			create_cq
#endif

#endif /* KWARP_COMPAT_OPS_H */
