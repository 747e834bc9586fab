/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_ATOMIC_H
#define KWARP_ENGINE_ATOMIC_H

#include "types.h"

enum kwarp_perr __cold kwarp_refuse_atomic(struct kwarp_engine *e, const struct kwarp_mr *mr,
					   const struct kwarp_atomic_req *req,
					   enum kwarp_why why, enum kwarp_perr perr);
enum kwarp_perr kwarp_engine_atomic(struct kwarp_engine *e, struct kwarp_mr *mr,
				    const struct kwarp_atomic_req *req, u64 *old);

#endif /* KWARP_ENGINE_ATOMIC_H */
