/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of the transmit step, kwarp_tx_step(), which sends one batch (FPDUs
 * collected for one socket call): a stream. The send queue and the Read queues are the real ones; a
 * function of the fixture accepts DDP segments as TCP would accept their FPDUs.
 */
#ifndef KWARP_ENGINE_TESTS_TX_FIXTURE_H
#define KWARP_ENGINE_TESTS_TX_FIXTURE_H

#include <kunit/test.h>

#include "../../queue/sq.h"

#define kwarp_tx_build		note_segment
#define kwarp_tx_build_series	note_no_series
#define kwarp_tx_message_built	tx_message_built
#define kwarp_engine_fail	latch_failure
#define kwarp_mr_lookup		find_region
#define kwarp_mr_put		leave_region
#include "../tx/batch.h"
/*
 * Requests that one step may examine: fewer than fit into the send queue, so that a test can reach
 * the limit.
 */
#undef KWARP_BATCH_EFFORT
#define KWARP_BATCH_EFFORT	8
#include "../fail.h"
#include "../tx/pick.h"
#include "../tx/step.h"

#include "../../kwarp.h"
#include "queues.h"

#define ENTRIES		16
#define DEPTH		2
#define MAX_SEGS	256

struct segment {
	struct kwarp_ddp_hdr hdr;
	u32 payload;
};

/**
 * struct tcp - state of the functions that replace FPDU building, batch and TCP
 * @emss: octets in a TCP segment
 * @window: the peer's window, octets
 * @packet: limit of a batch, in octets; 0: as many whole TCP segments as fit into KWARP_BATCH_LEN
 * @error: result of the next calls that send; 0: all is accepted
 * @seg: the DDP segments that were built
 * @built: number of segments in @seg
 * @sent: number of segments in @seg that the function in place of TCP has accepted
 */
struct tcp {
	u32 emss;
	u32 window;
	u32 packet;
	int error;
	struct segment seg[MAX_SEGS];
	u32 built;
	u32 sent;
};

struct tx_test {
	struct kwarp_engine e;
	struct kwarp_sq sq;
	struct ib_qp qp;
	struct test_cq *cq;
	struct socket *sock;
	struct tcp tcp;
	void (*on_look)(struct tx_test *t);
	struct kwarp_mr *mr;
	int access;
	enum kwarp_qp_event event;
	bool kicked;
	bool may_sleep;
	bool locked;
};

int tx_test_init(struct kunit *test);
void tx_post(struct tx_test *t, u8 opcode, u16 flags, u32 len);
void tx_run(struct kunit *test);

#endif /* KWARP_ENGINE_TESTS_TX_FIXTURE_H */
