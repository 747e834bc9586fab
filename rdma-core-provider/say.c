// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: says why a call is refused.
 *
 * The kernel refuses with an errno only.  So after a refusal these functions compare what the
 * program has asked for with the limits and the rules.  All of this is on paths that fail.
 */
#define _GNU_SOURCE
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "say.h"

bool kwarp_debug;

void kwarp_debug_init(void)
{
	const char *value = secure_getenv("KWARP_DEBUG");

	kwarp_debug = value && *value && *value != '0';
}

/*
 * Print a line on stderr, if @times is a power of two: a program that posts until its queue is full
 * gets the same refusal again and again.  @rule: of strict mode, or NULL
 */
void kwarp_print(const struct ibv_context *ctx, unsigned int times, const char *rule,
		 const char *format, va_list args)
{
	char text[400], count[24] = "";

	if (!kwarp_is_pow2(times))
		return;
	vsnprintf(text, sizeof(text), format, args);
	if (times > 1)
		snprintf(count, sizeof(count), " (%u times)", times);
	/* One call, so that lines of several threads do not mix. */
	fprintf(stderr, "kwarp: %s: %s%s%s%s%s\n", ctx->device->name, rule ? "strict " : "",
		rule ? rule : "", rule ? ": " : "", text, count);
}

/* Threads may count wrong, which does no harm. */
void kwarp_debug_print(const struct ibv_context *ctx, const char *format, ...)
{
	static const char *last;
	static unsigned int times;
	const int err = errno;
	va_list args;

	if (__atomic_exchange_n(&last, format, __ATOMIC_RELAXED) != format)
		__atomic_store_n(&times, 0, __ATOMIC_RELAXED);
	va_start(args, format);
	kwarp_print(ctx, __atomic_add_fetch(&times, 1, __ATOMIC_RELAXED), NULL, format, args);
	va_end(args);
	errno = err;
}

/* Return: ENOMEM */
int kwarp_refuse_full(const struct kwarp_qp *qp)
{
	return kwarp_refuse(qp->vqp.qp.context, ENOMEM,
			    "ibv_post_send: the queue is full: max_send_wr is %u; poll the CQ for completions of signaled requests",
			    qp->sq.ring.max);
}

/* Say that a value exceeds a limit, if it does.  Return: it does. */
static bool too_many(struct ibv_context *ctx, const char *call, const char *what, uint64_t value,
		     const char *limit, uint64_t most)
{
	if (value <= most)
		return false;
	kwarp_refuse(ctx, 0, "%s: %s %" PRIu64 " > %s %" PRIu64, call, what, value, limit, most);
	return true;
}

static void say_memory(struct ibv_context *ctx, const char *call)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		kwarp_refuse(ctx, 0, "%s: no memory, or too many objects of this user or device",
			     call);
	else
		kwarp_refuse(ctx, 0,
			     "%s: more memory than this user may lock: RLIMIT_MEMLOCK is %" PRIu64 " octets (ulimit -l); queues may use 64 MiB in addition",
			     call, (uint64_t)limit.rlim_cur);
}

/* Then the kernel answers EPERM, not ENOMEM. */
static bool may_lock_nothing(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_MEMLOCK, &limit) && !limit.rlim_cur;
}

static void say_errno(struct ibv_context *ctx, const char *call, int err)
{
	if (err == ENOMEM || (err == EPERM && may_lock_nothing()))
		say_memory(ctx, call);
	else if (err == EIO || err == ENODEV)
		kwarp_refuse(ctx, 0, "%s: the link is gone", call);
	else
		kwarp_refuse(ctx, 0, "%s: the kernel refuses it (errno %d)", call, err);
}

static bool say_qp_limit(struct ibv_context *ctx, const struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_qp_cap *cap = &attr->cap;
	const uint32_t max_inline = to_kctx(ctx)->max_inline;
	struct ibv_device_attr dev;

	if (max_inline && too_many(ctx, "ibv_create_qp", "max_inline_data", cap->max_inline_data,
				   "the largest possible", max_inline))
		return true;
	if (ibv_query_device(ctx, &dev))
		return false;
	return too_many(ctx, "ibv_create_qp", "max_send_wr", cap->max_send_wr, "max_qp_wr",
			dev.max_qp_wr) ||
	       too_many(ctx, "ibv_create_qp", "max_recv_wr", cap->max_recv_wr, "max_qp_wr",
			dev.max_qp_wr) ||
	       too_many(ctx, "ibv_create_qp", "max_send_sge", cap->max_send_sge, "max_sge",
			dev.max_sge) ||
	       too_many(ctx, "ibv_create_qp", "max_recv_sge", cap->max_recv_sge, "max_sge",
			dev.max_sge);
}

/* Return: @err, as all functions below */
int kwarp_refused_qp(struct ibv_context *ctx, const struct ibv_qp_init_attr_ex *attr, int err)
{
	if (attr->qp_type != IBV_QPT_RC)
		return kwarp_refuse(ctx, err,
				    "ibv_create_qp: qp_type %d: iWARP has reliable connections (IBV_QPT_RC) only",
				    attr->qp_type);
	if (err == EINVAL && (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd))
		return kwarp_refuse(ctx, err, "ibv_create_qp: no protection domain");
	if (err == EINVAL && (!attr->send_cq || !attr->recv_cq))
		return kwarp_refuse(ctx, err, "ibv_create_qp: send_cq or recv_cq is NULL");
	if (err == EOPNOTSUPP)
		return kwarp_refuse(ctx, err,
				    "ibv_create_qp: comp_mask %#x or send_ops_flags %#" PRIx64 " has what kwarp has not (knob rfc7306 off: no atomic operations, no immediate data)",
				    attr->comp_mask,
				    attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ?
				    (uint64_t)attr->send_ops_flags : 0);
	if (err != EINVAL || !say_qp_limit(ctx, attr))
		say_errno(ctx, "ibv_create_qp", err);
	return err;
}

int kwarp_refused_modify_qp(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask, int err)
{
	struct ibv_context *ctx = qp->context;

	if (err == ENOMEM) {
		say_memory(ctx, "ibv_modify_qp");
		return err;
	}
	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTS)
		return kwarp_refuse(ctx, err,
				    "ibv_modify_qp: to RTS: the queue pair has no connection: connect with librdmacm (perftest: option -R), or set the knob wire_port at both ends");
	if (mask & IBV_QP_CAP)
		return kwarp_refuse(ctx, err,
				    "ibv_modify_qp: IBV_QP_CAP: queues cannot be resized");
	if (mask & IBV_QP_PORT && attr->port_num != 1)
		return kwarp_refuse(ctx, err, "ibv_modify_qp: port_num %u: there is port 1 only",
				    attr->port_num);
	if (mask & IBV_QP_CUR_STATE)
		return kwarp_refuse(ctx, err,
				    "ibv_modify_qp: cur_qp_state %d is not the queue pair's state",
				    attr->cur_qp_state);
	if (mask & IBV_QP_STATE)
		return kwarp_refuse(ctx, err,
				    "ibv_modify_qp: to state %d: not possible in the queue pair's present state (ibv_query_qp tells it)",
				    attr->qp_state);
	return kwarp_refuse(ctx, err, "ibv_modify_qp: attr_mask %#x has what iWARP has not", mask);
}

int kwarp_refused_cq(struct ibv_context *ctx, const struct ibv_cq_init_attr_ex *attr, int err)
{
	struct ibv_device_attr dev;

	if (err == EOPNOTSUPP)
		return kwarp_refuse(ctx, err,
				    "ibv_create_cq: comp_mask %#x, flags %#x or wc_flags %#" PRIx64 " has what kwarp has not (one of two timestamps at a time)",
				    attr->comp_mask, attr->flags, (uint64_t)attr->wc_flags);
	if (err == EINVAL && !attr->cqe)
		return kwarp_refuse(ctx, err, "ibv_create_cq: cqe is 0");
	if (err == EINVAL && !ibv_query_device(ctx, &dev) &&
	    too_many(ctx, "ibv_create_cq", "cqe", attr->cqe, "max_cqe", dev.max_cqe))
		return err;
	if (err == EINVAL && attr->comp_vector >= (uint32_t)ctx->num_comp_vectors)
		return kwarp_refuse(ctx, err,
				    "ibv_create_cq: comp_vector %u: the device has %d (num_comp_vectors)",
				    attr->comp_vector, ctx->num_comp_vectors);
	say_errno(ctx, "ibv_create_cq", err);
	return err;
}

int kwarp_refused_resize_cq(struct ibv_cq *cq, int cqe, int err)
{
	struct ibv_device_attr dev;

	if (err == EINVAL && cqe < 1)
		return kwarp_refuse(cq->context, err, "ibv_resize_cq: cqe %d < 1", cqe);
	if (err == EINVAL && !ibv_query_device(cq->context, &dev) &&
	    too_many(cq->context, "ibv_resize_cq", "cqe", cqe, "max_cqe", dev.max_cqe))
		return err;
	if (err == EINVAL)
		return kwarp_refuse(cq->context, err,
				    "ibv_resize_cq: cqe %d: more completions than that wait to be polled",
				    cqe);
	say_errno(cq->context, "ibv_resize_cq", err);
	return err;
}

int kwarp_refused_srq(struct ibv_context *ctx, const struct ibv_srq_init_attr *attr, int err)
{
	struct ibv_device_attr dev;

	if (err == EINVAL && !attr->attr.max_wr)
		return kwarp_refuse(ctx, err, "ibv_create_srq: max_wr is 0");
	if (err == EINVAL && !ibv_query_device(ctx, &dev) &&
	    (too_many(ctx, "ibv_create_srq", "max_wr", attr->attr.max_wr, "max_srq_wr",
		      dev.max_srq_wr) ||
	     too_many(ctx, "ibv_create_srq", "max_sge", attr->attr.max_sge, "max_srq_sge",
		      dev.max_srq_sge)))
		return err;
	say_errno(ctx, "ibv_create_srq", err);
	return err;
}

int kwarp_refused_modify_srq(struct ibv_srq *srq, const struct ibv_srq_attr *attr, int mask,
			     int err)
{
	if (err == EINVAL && mask & IBV_SRQ_LIMIT)
		return kwarp_refuse(srq->context, err,
				    "ibv_modify_srq: srq_limit %u: more than the queue has entries",
				    attr->srq_limit);
	if (err == EINVAL)
		return kwarp_refuse(srq->context, err,
				    "ibv_modify_srq: max_wr %u: 0, too many, or fewer than are posted",
				    attr->max_wr);
	say_errno(srq->context, "ibv_modify_srq", err);
	return err;
}

#define REMOTE_CHANGES	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

int kwarp_refused_mr(struct ibv_context *ctx, const char *call, size_t length, int access, int err)
{
	struct ibv_device_attr dev;

	if (err == EINVAL && access & REMOTE_CHANGES && !(access & IBV_ACCESS_LOCAL_WRITE))
		return kwarp_refuse(ctx, err,
				    "%s: access %#x: remote write and remote atomic need IBV_ACCESS_LOCAL_WRITE",
				    call, access);
	if (err == EOPNOTSUPP && access & IBV_ACCESS_ON_DEMAND)
		return kwarp_refuse(ctx, err,
				    "%s: access %#x: there is no on-demand paging (IBV_ACCESS_ON_DEMAND)",
				    call, access);
	if (err == EOPNOTSUPP)
		return kwarp_refuse(ctx, err, "%s: access %#x has a flag that kwarp has not", call,
				    access);
	if (err == EINVAL && !length)
		return kwarp_refuse(ctx, err, "%s: length is 0", call);
	if (err == EINVAL && !ibv_query_device(ctx, &dev) &&
	    too_many(ctx, call, "length", length, "max_mr_size", dev.max_mr_size))
		return err;
	if (err == EFAULT)
		return kwarp_refuse(ctx, err,
				    "%s: the memory is not mapped, or not writable and access %#x writes",
				    call, access);
	if (err == EBUSY)
		return kwarp_refuse(ctx, err, "%s: a memory window is bound to the region", call);
	say_errno(ctx, call, err);
	return err;
}
