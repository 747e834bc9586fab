// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: lets posts fail on request (inject.h).  Without KWARP_FAULT nothing here is called after a
 * device was opened.
 */
#define _GNU_SOURCE
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ccan/array_size.h>

#include "inject.h"
#include "objects.h"
#include "say.h"

#define ERRNO_MAX	133

static const struct {
	const char *name;
	int err;
} errnos[] = {
	{ "ENOMEM", ENOMEM }, { "EINVAL", EINVAL }, { "EIO", EIO }, { "EAGAIN", EAGAIN },
	{ "EFAULT", EFAULT }, { "ENODEV", ENODEV }, { "EOPNOTSUPP", EOPNOTSUPP },
	{ "EPERM", EPERM }, { "EBUSY", EBUSY }, { "ENOSPC", ENOSPC },
};

/* Return: false: it is no number, or not in these limits. */
static bool read_number(const char *text, uint32_t least, uint32_t most, uint32_t *number)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value < least || value > most)
		return false;
	*number = value;
	return true;
}

static bool read_errno(const char *text, int *err)
{
	uint32_t number;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errnos); i++)
		if (!strcmp(text, errnos[i].name)) {
			*err = errnos[i].err;
			return true;
		}
	if (!read_number(text, 1, ERRNO_MAX, &number))
		return false;
	*err = number;
	return true;
}

static bool read_word(struct kwarp_inject *inject, const char *name, const char *value)
{
	if (!strcmp(name, "post"))
		return read_errno(value, &inject->err);
	if (!strcmp(name, "skip"))
		return read_number(value, 0, UINT32_MAX, &inject->skip);
	if (!strcmp(name, "times"))
		return read_number(value, 0, UINT32_MAX, &inject->times);
	if (!strcmp(name, "probability"))
		return read_number(value, 1, 100, &inject->percent);
	if (!strcmp(name, "seed"))
		return read_number(value, 1, UINT32_MAX, &inject->seed);
	return false;
}

/* Return: false if @text is wrong. */
bool kwarp_inject_parse(struct kwarp_inject *inject, const char *text)
{
	char copy[200], *word, *rest = NULL, *value;

	*inject = (struct kwarp_inject){ .percent = 100, .seed = time(NULL) | 1 };
	pthread_mutex_init(&inject->lock, NULL);
	if (strlen(text) >= sizeof(copy))
		return false;
	memcpy(copy, text, strlen(text) + 1);
	for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		value = strchr(word, '=');
		if (!value)
			return false;
		*value++ = 0;
		if (!read_word(inject, word, value))
			return false;
	}
	return inject->err;
}

/* xorshift32: the same seed gives the same failures.  Never 0. */
static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Return: errno with which the next post fails; 0: it does not. */
int kwarp_inject_next(struct kwarp_inject *inject)
{
	int err = 0;

	pthread_mutex_lock(&inject->lock);
	if (inject->skip) {
		inject->skip--;
	} else if (inject->err &&
		   (inject->percent == 100 || next_random(&inject->seed) % 100 < inject->percent)) {
		err = inject->err;
		/* After the last failure there is none any more. */
		if (inject->times && !--inject->times)
			inject->err = 0;
	}
	pthread_mutex_unlock(&inject->lock);
	return err;
}

static int fault_of(struct ibv_context *ctx, const char *call)
{
	int err = kwarp_inject_next(to_kctx(ctx)->inject);

	return err ? kwarp_refuse(ctx, err, "%s: failed as KWARP_FAULT says: a fault was injected", call) : 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int err = fault_of(qp->context, "ibv_post_send");

	if (!err)
		return to_kctx(qp->context)->inject->post_send(qp, wr, bad);
	*bad = wr;
	return err;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int err = fault_of(qp->context, "ibv_post_recv");

	if (!err)
		return to_kctx(qp->context)->inject->post_recv(qp, wr, bad);
	*bad = wr;
	return err;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int err = fault_of(srq->context, "ibv_post_srq_recv");

	if (!err)
		return to_kctx(srq->context)->inject->post_srq_recv(srq, wr, bad);
	*bad = wr;
	return err;
}

static int wr_complete(struct ibv_qp_ex *qpx)
{
	struct ibv_context *ctx = qpx->qp_base.context;
	int err = fault_of(ctx, "ibv_wr_complete");

	if (!err)
		return to_kctx(ctx)->inject->wr_complete(qpx);
	qpx->wr_abort(qpx);
	return err;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	struct kwarp_inject *inject = to_kctx(ctx)->inject;
	struct ibv_qp *qp = inject->create_qp_ex(ctx, attr);
	struct ibv_qp_ex *qpx = qp ? ibv_qp_to_qp_ex(qp) : NULL;

	if (qpx) {
		inject->wr_complete = qpx->wr_complete;
		qpx->wr_complete = wr_complete;
	}
	return qp;
}

static const struct verbs_context_ops ops = {
	.create_qp_ex = create_qp_ex,
	.post_recv = post_recv,
	.post_send = post_send,
	.post_srq_recv = post_srq_recv,
};

/*
 * Replace the calls that are installed at this time.  A program with more rights than its user does
 * not obey the environment.
 */
void kwarp_inject_init(struct kwarp_context *ctx)
{
	const struct ibv_context *ibctx = &ctx->ibv_ctx.context;
	const char *text = secure_getenv("KWARP_FAULT");
	struct kwarp_inject *inject;

	if (!text || !*text)
		return;
	inject = malloc(sizeof(*inject));
	if (!inject)
		return;
	if (!kwarp_inject_parse(inject, text)) {
		fprintf(stderr,
			"kwarp: KWARP_FAULT is not post=ERRNO[,skip=N][,times=N][,probability=PERCENT][,seed=N]: no post will fail\n");
		free(inject);
		return;
	}
	inject->post_send = ibctx->ops.post_send;
	inject->post_recv = ibctx->ops.post_recv;
	inject->post_srq_recv = ibctx->ops.post_srq_recv;
	inject->create_qp_ex = ctx->ibv_ctx.create_qp_ex;
	ctx->inject = inject;
	verbs_set_ops(&ctx->ibv_ctx, &ops);
}
