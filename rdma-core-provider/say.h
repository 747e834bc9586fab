/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: says why a call is refused: in libibverbs' log (VERBS_LOG_LEVEL, VERBS_LOG_FILE), and on
 * stderr if the environment has KWARP_DEBUG=1.
 */
#ifndef KWARP_SAY_H
#define KWARP_SAY_H

#include <stdarg.h>

#include <infiniband/driver.h>

#include "objects.h"

extern bool kwarp_debug;

void kwarp_debug_init(void);
void kwarp_print(const struct ibv_context *ctx, unsigned int times, const char *rule,
		 const char *format, va_list args) __attribute__((format(printf, 4, 0), cold));
void kwarp_debug_print(const struct ibv_context *ctx, const char *format, ...)
	__attribute__((format(printf, 2, 3), cold));

/* Return: @err */
#define kwarp_refuse(ctx, err, format, ...)                                    \
	({                                                                     \
		verbs_err(verbs_get_ctx(ctx), format "\n", ##__VA_ARGS__);     \
		if (kwarp_debug)                                               \
			kwarp_debug_print(ctx, format, ##__VA_ARGS__);         \
		(err);                                                         \
	})

int kwarp_refuse_full(const struct kwarp_qp *qp) __attribute__((cold));
int kwarp_refused_qp(struct ibv_context *ctx, const struct ibv_qp_init_attr_ex *attr, int err);
int kwarp_refused_modify_qp(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask, int err);
int kwarp_refused_cq(struct ibv_context *ctx, const struct ibv_cq_init_attr_ex *attr, int err);
int kwarp_refused_resize_cq(struct ibv_cq *cq, int cqe, int err);
int kwarp_refused_srq(struct ibv_context *ctx, const struct ibv_srq_init_attr *attr, int err);
int kwarp_refused_modify_srq(struct ibv_srq *srq, const struct ibv_srq_attr *attr, int mask,
			     int err);
int kwarp_refused_mr(struct ibv_context *ctx, const char *call, size_t length, int access, int err);

#endif /* KWARP_SAY_H */
