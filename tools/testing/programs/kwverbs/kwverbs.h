/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwverbs makes wrong calls of verbs, and checks the errno that each of them returns.
 */
#ifndef KWVERBS_H
#define KWVERBS_H

#include "kwcm.h"
#include "kwtest.h"

/**
 * struct kv_env - objects for the calls
 * @id: connected to a kwconn server
 * @attr: limits of the device of @id
 * @pd, @cq, @qp: working objects; @qp is the queue pair of @id
 * @cap: capabilities that were granted to @qp
 * @mr: region of @buf, of KV_BUF_LEN octets
 * @arg: argument of the current case
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
	int arg;
};

#define KV_BUF_LEN	65536
#define KV_CQ_LEN	4096

/* The call cannot be tried on this device. */
#define KV_SKIP		-1
/* Something other than the errno is wrong; a message may have been printed. */
#define KV_WRONG	-2

/**
 * struct kv_case - a call that is wrong, or only looks wrong
 * @name: name of the case
 * @call: makes the call; returns 0 if the call was accepted, else errno, KV_SKIP or KV_WRONG
 * @must: errno values that are right, up to a 0; if the first is 0, the call has to be accepted
 * @arg: argument of the call, which it finds in @arg of struct kv_env
 */
struct kv_case {
	const char *name;
	int (*call)(struct kv_env *e);
	int must[4], arg;
};

/* Lists end with a NULL name. */
extern const struct kv_case kv_context_cases[], kv_queue_cases[], kv_memory_cases[];
extern const struct kv_case kv_srq_cases[], kv_limit_cases[], kv_post_cases[];

/* Return valid attributes of a small queue pair with completion queue e->cq. */
struct ibv_qp_init_attr kv_good_qp(struct kv_env *e);
/*
 * Create a queue of this size, and destroy it. Return: 0, errno, or KV_WRONG if the queue was
 * smaller than requested.
 */
int kv_cq_of(struct kv_env *e, int cqe, int vector);
int kv_srq_of(struct kv_env *e, uint32_t wrs, uint32_t sges);
/* Wait for the next completion. Return: false if none comes within two seconds. */
bool kv_completion(struct kv_env *e, struct ibv_wc *wc);
/* Check posts after the end of the connection. Return: number of failures. */
unsigned int kv_after_the_end(struct kv_env *e);

#endif /* KWVERBS_H */
