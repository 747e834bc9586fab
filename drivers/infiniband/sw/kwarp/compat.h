/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Differences between supported kernels.  The only file that looks at
 * KWARP_HAVE_* (written by scripts/kernel-probe.sh from compile tests).
 */
#ifndef KWARP_COMPAT_H
#define KWARP_COMPAT_H

#include <rdma/uverbs_ioctl.h>

#include "kwarp_config.h"

/* 6.19: kernel_bind() and kernel_connect() take struct sockaddr_unsized */
#ifdef KWARP_HAVE_SOCKADDR_UNSIZED
#define kwarp_sockaddr	sockaddr_unsized
#else
#define kwarp_sockaddr	sockaddr
#endif

/* 6.2: sk_use_task_frag; before that sk_allocation without __GFP_FS says the same */
#ifdef KWARP_HAVE_SK_USE_TASK_FRAG
#define kwarp_sk_no_task_frag(sk)	((void)((sk)->sk_use_task_frag = false))
#else
#define kwarp_sk_no_task_frag(sk)	((void)(sk))
#endif

/* 6.11: create_cq() gets all attributes of the call, before that the driver's data */
#ifdef KWARP_HAVE_CREATE_CQ_ATTRS
#define kwarp_cq_attrs		uverbs_attr_bundle
static inline struct ib_udata *kwarp_cq_udata(struct uverbs_attr_bundle *attrs)
{
	return attrs ? &attrs->driver_udata : NULL;
}
#else
#define kwarp_cq_attrs		ib_udata
static inline struct ib_udata *kwarp_cq_udata(struct ib_udata *udata)
{
	return udata;
}
#endif

#endif /* KWARP_COMPAT_H */
