/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_ENGINE_SMALL_H
#define KWARP_ENGINE_SMALL_H

#include <linux/build_bug.h>

#include "../proto/atomic.h"
#include "../proto/term.h"

/*
 * Octets of the longest payload that needs no buffer of a consumer, which is that of a Terminate.
 * Others are those of Read Requests, Immediate Data, and Atomic Requests and Responses.
 */
#define KWARP_SMALL_LEN		KWARP_TERM_MAX_LEN
static_assert(KWARP_SMALL_LEN >= KWARP_ATOMIC_REQ_LEN);

#endif /* KWARP_ENGINE_SMALL_H */
