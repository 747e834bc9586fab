/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Driver data that a verb carries between the provider and this driver: a request (provider to
 * driver) and an answer (driver to provider), by the RDMA core's rules.
 *
 * A request may be longer than the structure that the driver knows if all other octets are zero.
 * If it is shorter, the missing octets count as zero.  An answer is cut to the length of the
 * provider's buffer, or filled up with zeroes.  So either side may be older than the other.
 *
 * The RDMA core has helpers for this since Linux 7.1; these here work on every kernel.  A kernel
 * consumer passes NULL as udata.  Context: process, may sleep.
 */
#ifndef KWARP_VERBS_UDATA_H
#define KWARP_VERBS_UDATA_H

#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "../fault.h"

static inline int kwarp_udata_rest(struct ib_udata *udata, size_t from)
{
	int ret;

	if (!udata || udata->inlen <= from)
		return 0;
	ret = check_zeroed_user(udata->inbuf + from, udata->inlen - from);
	if (ret < 0)
		return ret;
	return ret ? 0 : -EOPNOTSUPP;
}

static inline int kwarp_udata_request(struct ib_udata *udata, void *req, size_t len)
{
	size_t given = udata ? udata->inlen : 0;
	int ret;

	memset(req, 0, len);
	if (!given)
		return 0;
	ret = ib_copy_from_udata(req, udata, min(given, len));
	return ret ? ret : kwarp_udata_rest(udata, len);
}

/* Check the request of a verb for which the driver has no structure: all octets must be zero. */
static inline int kwarp_udata_no_request(struct ib_udata *udata)
{
	return kwarp_udata_rest(udata, 0);
}

/* @resp: every octet of it is set. */
static inline int kwarp_udata_answer(struct ib_udata *udata, void *resp, size_t len)
{
	size_t room = udata->outlen;
	int ret;

	if (!room)
		return 0;
	ret = ib_copy_to_udata(udata, resp, min(room, len));
	if (ret || room <= len)
		return ret;
	return clear_user(udata->outbuf + len, room - len) ? -EFAULT : 0;
}

/*
 * First step of a verb for which the driver has neither request nor answer structure: check the
 * request, and fill the buffer for the answer with zeroes.
 */
static inline int kwarp_udata_none(struct ib_udata *udata)
{
	int ret = kwarp_udata_no_request(udata);

	if (ret || !udata || !udata->outlen)
		return ret;
	return clear_user(udata->outbuf, udata->outlen) ? -EFAULT : 0;
}

static inline int kwarp_udata_fault(enum kwarp_fault kind, struct ib_device *ibdev, bool user)
{
	return -kwarp_fault(kind, ibdev, 0, user ? task_tgid(current) : NULL);
}

static inline int kwarp_udata_refuse(struct ib_udata *udata, const u16 *attrs, size_t n)
{
	if (!udata)
		return 0;
	while (n--)
		if (uverbs_attr_is_valid(rdma_udata_to_uverbs_attr_bundle(udata), attrs[n]))
			return -EOPNOTSUPP;
	return 0;
}

#endif /* KWARP_VERBS_UDATA_H */
