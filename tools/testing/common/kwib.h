/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Helpers of the test programs: libibverbs.
 */
#ifndef KWIB_H
#define KWIB_H

#include <infiniband/verbs.h>

/* Return: the device of this name. If there is none, the program ends. */
struct ibv_device *kw_device(const char *name);
/*
 * Return: attributes of a reliable queue pair, whose completions are in @cq, with room for so many
 * requests to send and receives, and for as many elements (SGEs) in each.
 */
struct ibv_qp_init_attr kw_qp_attr(struct ibv_cq *cq, uint32_t sends, uint32_t recvs,
				   uint32_t sges);

#endif /* KWIB_H */
