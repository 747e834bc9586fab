/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sink: a receiver for the tests of the FPDU parser. It checks each event of the parser.
 *
 * Each piece of input is copied directly before a guard page, so a read beyond the piece faults.
 */
#ifndef KWARP_PROTO_TESTS_SINK_H
#define KWARP_PROTO_TESTS_SINK_H

#include <kunit/test.h>

#include "../fpdu_rx.h"
#include "vectors.h"

#define STREAM_MAX	(160 * 1024)

/*
 * @queue: with CRCs: octets received, which wait until their FPDU is complete
 * @cut: for each octet of @queue: true if it was the first octet of a piece of input
 * @head_end: with CRCs: stream offset where the header of the FPDU ends
 */
struct sink {
	struct kunit *test;
	struct kwarp_fpdu_rx rx;
	u8 *end;
	u8 *queue;
	bool *cut;
	u32 queued;
	u32 from;
	u32 head_end;
	u8 *out;
	u32 out_len;
	u32 seg_len;
	u32 hdrs;
	u32 ends;
	enum kwarp_perr err;
};

struct sink *sink_new(struct kunit *test);
void sink_start(struct sink *s, bool check_crc, bool markers, u32 off);
void sink_event(struct sink *s, enum kwarp_fpdu_event ev, const u8 *data,
		u32 dlen, const u8 *from);
void sink_piece(struct sink *s, const u8 *wire, size_t len);
void sink_verify(struct sink *s, const u8 *wire, u32 len);
void sink_feed(struct sink *s, const u8 *wire, size_t len);
bool sink_idle(const struct sink *s);

#endif /* KWARP_PROTO_TESTS_SINK_H */
