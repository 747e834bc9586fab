/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What goes between provider and driver inside of a verb, by the RDMA core's rules: a request
 * may be longer than what is known here if the rest is zero, and shorter, which means zero;
 * an answer is cut to the room there is for it, and filled up with zeroes.  So either side may
 * be older than the other.
 *
 * The core has helpers for this since 7.1; these are the same on every kernel.  A udata of
 * NULL is a kernel consumer's.  Context: process, may sleep.
 */
#ifndef KWARP_VERBS_UDATA_H
#define KWARP_VERBS_UDATA_H

#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>

/* Nothing from octet @from of the request on: 0, -EOPNOTSUPP, -EFAULT. */
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

/**
 * kwarp_udata_request - take what user space wants of the driver
 * @udata: of the verb, or NULL
 * @req: result; octets that user space does not give are zero
 * @len: octets of @req
 *
 * Return: 0, -EOPNOTSUPP for a request that says more than is known here, -EFAULT.
 */
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

/* The same for a verb that has no request of the driver's own. */
static inline int kwarp_udata_no_request(struct ib_udata *udata)
{
	return kwarp_udata_rest(udata, 0);
}

/**
 * kwarp_udata_answer - answer to user space
 * @udata: of the verb
 * @resp: the answer, every octet of it set
 * @len: octets of @resp
 *
 * Return: 0, -EFAULT.
 */
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

/* A verb that has neither request nor answer of the driver's own: its first step. */
static inline int kwarp_udata_none(struct ib_udata *udata)
{
	int ret = kwarp_udata_no_request(udata);

	if (ret || !udata || !udata->outlen)
		return ret;
	return clear_user(udata->outbuf, udata->outlen) ? -EFAULT : 0;
}

#endif /* KWARP_VERBS_UDATA_H */
