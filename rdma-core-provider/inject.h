/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: lets posts fail on request, to test programs.  A program's posts do not enter the kernel,
 * where "kwarpctl fault" injects the other faults, so this is the provider's part:
 *
 *	KWARP_FAULT=post=ERRNO[,skip=N][,times=N][,probability=PERCENT][,seed=N]
 */
#ifndef KWARP_INJECT_H
#define KWARP_INJECT_H

#include <pthread.h>
#include <stdbool.h>

#include <infiniband/driver.h>

struct kwarp_context;

/**
 * struct kwarp_inject - what KWARP_FAULT asks for, and the calls that are replaced
 * @lock: protects the members from @err to @times
 * @err: errno with which posts fail
 * @percent: probability of a failure
 * @seed: state of the random numbers
 * @skip: posts that succeed before the first failure
 * @times: failures that are left; 0: no limit
 * @post_send: the call that is replaced, likewise those below
 */
struct kwarp_inject {
	pthread_mutex_t lock;
	int err;
	uint32_t percent;
	uint32_t seed;
	uint32_t skip;
	uint32_t times;
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
	int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr);
	int (*wr_complete)(struct ibv_qp_ex *qpx);
};

bool kwarp_inject_parse(struct kwarp_inject *inject, const char *text);
int kwarp_inject_next(struct kwarp_inject *inject);
void kwarp_inject_init(struct kwarp_context *ctx);

#endif /* KWARP_INJECT_H */
