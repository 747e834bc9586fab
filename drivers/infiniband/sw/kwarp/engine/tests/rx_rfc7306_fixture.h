/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of inbound messages of RFC 7306: a stream, and what its peer sends. The
 * region belongs to this fixture, the queues are the real ones.
 */
#ifndef KWARP_ENGINE_TESTS_RX_RFC7306_FIXTURE_H
#define KWARP_ENGINE_TESTS_RX_RFC7306_FIXTURE_H

#include <kunit/test.h>

/* Rename this suite's functions: other suites of this module define the same names. */
#define kwarp_rx_init		ext_rx_init
#define kwarp_rx_feed		ext_rx_feed
#define kwarp_rx_feed_skb	ext_rx_feed_skb
#define kwarp_rx_end_run	ext_rx_end_run
#define kwarp_rx_eof		ext_rx_eof
#define kwarp_rx_hear		ext_rx_hear
#define kwarp_rx_accept_series	ext_rx_accept_series
#define kwarp_rx_place		ext_rx_place
#define kwarp_rx_place_skb	ext_rx_place_skb
#define kwarp_rx_put		ext_rx_put
#define kwarp_rx_mr		ext_rx_mr
#define kwarp_rx_check_target	ext_rx_check_target
#define kwarp_rx_open		ext_rx_open
#define kwarp_rx_complete	ext_rx_complete
#define kwarp_rx_flush		ext_rx_flush
#define kwarp_rx_answered	ext_rx_answered
#define kwarp_rx_begin_atomic	ext_rx_begin_atomic
#define kwarp_rx_end_atomic	ext_rx_end_atomic
#define kwarp_rx_blame		ext_rx_blame
#define kwarp_engine_fail	ext_engine_fail
#define kwarp_engine_lost	ext_engine_lost
#define kwarp_mr_lookup		ext_mr_lookup
#define kwarp_mr_put		ext_mr_put
#include "../rx/receive.h"
#include "../rx/segment.h"
#include "../rx/series.h"
#include "../rx/stream.h"

#include "queues.h"

#define STAG		0x12345678U
#define VA		0x7f0000000000ULL
#define DEPTH		3
#define ENTRIES		8
#define WORDS		8

/**
 * struct ext_test - one stream
 * @e: engine
 * @qp: its QP
 * @sq: its send queue
 * @rq: its receive queue
 * @cq: completion queue of both
 * @mr: the region, which covers @words
 * @pd: protection domain
 * @other_pd: another protection domain
 * @chunk: the region's only piece of memory
 * @words: the region's memory, and one more octet at each end
 * @msn: next MSN that the peer sends, for each queue
 * @rreq: the error of the stream was reported with a Read Request header
 */
struct ext_test {
	struct kwarp_engine e;
	struct ib_qp qp;
	struct kwarp_sq sq;
	struct kwarp_rq rq;
	struct test_cq *cq;
	struct kwarp_mr mr;
	struct ib_pd pd;
	struct ib_pd other_pd;
	u8 *chunk;
	u64 words[WORDS];
	u32 msn[KWARP_QN_COUNT];
	bool rreq;
};

int ext_rx_test_init(struct kunit *test);
void ext_rx_ask(struct ext_test *t, bool atomic, u64 to);
void ext_rx_feed_untagged(struct ext_test *t, u8 ctrl, u8 opcode, u32 qn, const void *payload,
			  u32 len);
void ext_rx_feed_tagged(struct ext_test *t, u8 opcode, bool last, u64 to, u32 len);

#endif /* KWARP_ENGINE_TESTS_RX_RFC7306_FIXTURE_H */
