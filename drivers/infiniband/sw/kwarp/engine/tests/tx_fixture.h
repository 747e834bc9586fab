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

#include "../fail.h"
#include "../tx/batch.h"
#include "../tx/tx.h"

#include "../../kwarp.h"
#include "queues.h"

#define ENTRIES		64
#define DEPTH		2
#define MAX_SEGS	(2 * KWARP_BATCH_EFFORT)

struct segment {
	struct kwarp_ddp_hdr hdr;
	u32 payload;
};

/*
 * @packet: limit of a batch, in octets; 0: as many whole TCP segments as fit into KWARP_BATCH_LEN
 * @error: result of the next calls that send; 0: all is accepted
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
void tx_make_room(struct kunit *test);
void tx_post(struct tx_test *t, u8 opcode, u16 flags, u32 len);
void tx_run(struct kunit *test);

#endif /* KWARP_ENGINE_TESTS_TX_FIXTURE_H */
