/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwverbs: wrong calls of verbs, and the errno that each must return.
 */
#ifndef KWVERBS_H
#define KWVERBS_H

#include "kwcm.h"
#include "kwtest.h"

/**
 * struct kv_env - what the calls work on
 * @id: connected to a kwconn server
 * @attr: limits of its device
 * @pd, @cq, @qp: good objects
 * @cap: what was granted to @qp
 * @mr: of @buf
 */
struct kv_env {
	struct rdma_cm_id *id;
	struct ibv_context *verbs;
	struct ibv_device_attr attr;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_cap cap;
	struct ibv_mr *mr;
	uint8_t *buf;
};

#define KV_BUF_LEN	65536
#define KV_CQ_LEN	4096

/* A call that cannot be tried on this device. */
#define KV_SKIP		-1
/* Refused with the right errno, but something else about it is wrong (said already). */
#define KV_WRONG	-2

/**
 * struct kv_case - one call that is wrong, or looks so
 * @name: of the case
 * @call: makes it; 0 if it was accepted, else errno, KV_SKIP or KV_WRONG
 * @must: errno values that are right, ends with 0; none: it has to be accepted
 */
struct kv_case {
	const char *name;
	int (*call)(struct kv_env *e);
	int must[4];
};

/* Lists end with a NULL name. */
extern const struct kv_case kv_context_cases[], kv_queue_cases[], kv_memory_cases[];
extern const struct kv_case kv_srq_cases[], kv_limit_cases[], kv_post_cases[];

/* Attributes of a small queue pair on @e's completion queue. */
struct ibv_qp_init_attr kv_good_qp(struct kv_env *e);
/* Made with these attributes, and destroyed: 0, errno, or KV_WRONG: it is smaller. */
int kv_cq_of(struct kv_env *e, int cqe, int vector);
int kv_srq_of(struct kv_env *e, uint32_t wrs, uint32_t sges);
/* The next completion, within two seconds: false if none comes. */
bool kv_completion(struct kv_env *e, struct ibv_wc *wc);
/* What posts after the end of the connection give: number of failures. */
unsigned int kv_after_the_end(struct kv_env *e);

#endif /* KWVERBS_H */
