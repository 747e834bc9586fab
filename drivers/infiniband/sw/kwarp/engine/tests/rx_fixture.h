/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of the receive side: two streams that share a receive queue and a region.
 * Receive run: in the driver one call of tcp_read_sock(), here one call of rx_feed().
 */
#ifndef KWARP_ENGINE_TESTS_RX_FIXTURE_H
#define KWARP_ENGINE_TESTS_RX_FIXTURE_H

#include <kunit/test.h>

#include "../rx/rx.h"

#include "../../proto/tests/emit.h"
#include "queues.h"

#define STAG		0x12345678U
#define VA		0x7f0000000000ULL
#define MEM_LEN		4096
#define RECVS		8
#define DEPTH		3
#define OCTETS		5

/*
 * @msn: next MSN that its peer sends, for each queue
 * @kick: kwarp_rx_end_run() has returned true for the last receive run: something is to be sent
 * @raw: DDP header that was reported with the error of the stream
 * @seg_len: segment length that was reported with that error
 * @rreq: a Read Request header was reported with that error
 */
struct stream {
	struct kwarp_engine e;
	struct ib_qp qp;
	u32 msn[KWARP_QN_COUNT];
	u32 limits;
	enum kwarp_qp_event event;
	bool kick;
	u8 raw[14];
	u16 seg_len;
	bool rreq;
	u8 rest[16];	/* octets that the suite keeps */
};

/* @sq, @words: for tests of RFC 7306; @words has one more octet than the region at each end */
struct rx_test {
	struct stream a;
	struct stream b;
	struct kwarp_rq rq;
	struct test_cq *cq;
	struct kwarp_mr mr;
	struct ib_pd pd;
	struct ib_pd other_pd;
	u8 *chunk;
	u8 mem[MEM_LEN];
	struct kwarp_sq sq;
	u64 words[8];
};

#define WRITE_LEN	(14 + OCTETS)

extern struct kwarp_mr *rx_the_mr;
extern u32 rx_lookups, rx_references;

void rx_make_region(struct rx_test *t);
void rx_post(struct rx_test *t, u64 id, u32 n);
int rx_test_init(struct kunit *test);
int rx_rfc7306_test_init(struct kunit *test);
void rx_ask(struct rx_test *t, bool atomic, u64 to);
void rx_test_exit(struct kunit *test);
void rx_feed(struct stream *s, const u8 *ulpdu, u32 len);
void rx_feed_untagged(struct stream *s, u8 ctrl, u8 opcode, u32 stag, u32 qn,
		      const u8 *payload, u32 len);
void rx_feed_tagged(struct stream *s, u8 opcode, bool last, u64 to, u32 len);
void rx_feed_send(struct stream *s, u8 opcode, u32 stag);
void rx_make_write(u8 u[WRITE_LEN]);
void rx_feed_write(struct stream *s);
void rx_expect_done(struct kunit *test, u64 id);
void rx_expect_write(struct kunit *test, struct stream *s, enum kwarp_perr perr);

#endif /* KWARP_ENGINE_TESTS_RX_FIXTURE_H */
