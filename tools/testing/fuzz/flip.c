// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A test that runs the FPDU parser on input that changes while the parser reads it. A program on
 * the same host can do that, if it has given its pages to TCP by vmsplice() or splice().
 *
 * Part 1: the parser is built with a memcpy() that changes one octet of the input just before
 * it copies. If the parser reads an octet twice, it always gets two different values. Each octet
 * of the first half of the input is changed, in several ways, with and without markers and CRC,
 * for many cuts of the input into two pieces. For all code except that memcpy() the input is
 * poisoned memory, so AddressSanitizer reports a parser that reads the input in place.
 *
 * Part 2: a second thread changes octets at the start of the first two FPDUs, as fast as it can,
 * while the parser runs.
 */
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <time.h>

#include "fuzz.h"

#include "fpdu_rx.h"
#include "tests/emit.h"

#define ULPDU_LEN	100
#define FPDUS		3
#define STREAM_MAX	4096
#define GUARD		0x5a
#define THREAD_SECONDS	1

/* The parser's state, and octets after it, which change if the parser writes beyond its buffer. */
struct guarded {
	struct kwarp_fpdu_rx rx;
	u8 guard[STREAM_MAX];
};

void *flip_memcpy(void *to, const void *from, size_t len);

static u8 stream[STREAM_MAX] __attribute__((__aligned__(8)));
static u32 stream_len, flip_at;
static u8 flip_by;
static struct guarded g;
static unsigned long runs;

static const u8 flips[] = { KWARP_DDP_T, 0x40, 0x01, 0xff };

/* The only function that may read the input. AddressSanitizer does not check it. */
__attribute__((__no_sanitize__("address")))
static void copy(u8 *to, const u8 *from, size_t len)
{
	volatile u8 *dst = to;
	size_t i;

	for (i = 0; i < len; i++)
		dst[i] = ((const volatile u8 *)from)[i];
}

__attribute__((__no_sanitize__("address")))
void *flip_memcpy(void *to, const void *from, size_t len)
{
	stream[flip_at] ^= flip_by;
	copy(to, from, len);
	return to;
}

/*
 * Parse a piece of the input. Check that pieces of payload are within the input, and that lengths
 * agree with the copied header. Return: false after an error.
 */
static bool feed(const u8 *at, size_t len)
{
	const u8 *end = at + len, *piece = at;
	enum kwarp_fpdu_event ev;
	u32 n = 0;

	do {
		ev = kwarp_fpdu_rx_next(&g.rx, &at, &len, &piece, &n);
		CHECK(at + len == end);
		if (ev == KWARP_FPDU_HDR) {
			CHECK(g.rx.hdr.tagged == !!(*kwarp_fpdu_rx_raw(&g.rx) & KWARP_DDP_T));
			CHECK(g.rx.payload_len + kwarp_ddp_hdr_len(*kwarp_fpdu_rx_raw(&g.rx)) ==
			      g.rx.ulpdu_len);
			CHECK(g.rx.payload_left == g.rx.payload_len);
		}
		if (ev == KWARP_FPDU_DATA || ev == KWARP_FPDU_DATA_END) {
			CHECK(piece + n <= end);
			CHECK(g.rx.payload_left <= g.rx.payload_len);
		}
	} while (ev != KWARP_FPDU_MORE && ev != KWARP_FPDU_ERROR);
	return ev == KWARP_FPDU_MORE;
}

static void feed_cut(u32 from, u32 to, u32 cut)
{
	if (cut <= from || cut >= to)
		feed(stream + from, to - from);
	else if (feed(stream + from, cut - from))
		feed(stream + cut, to - cut);
}

/*
 * Parse with CRCs, in the same way as the driver: the head of each FPDU is copied once, and the
 * parser gets this copy; the trailer is copied, too. The parser then gets as many octets as the
 * copied head says, and must use exactly these for the FPDU.
 */
static void feed_verified(u32 cut)
{
	u8 head[KWARP_FPDU_HEAD], trailer[KWARP_MPA_CRC_LEN];
	u32 at = 0, have, len, head_len, off;

	while (g.rx.step != KWARP_FPDU_S_ERROR) {
		have = min_t(u32, stream_len - at, sizeof(head));
		flip_memcpy(head, stream + at, have);
		len = kwarp_fpdu_rx_wire_len(&g.rx, head, have);
		if (!len || len > stream_len - at)
			return;
		head_len = kwarp_fpdu_rx_head_len(&g.rx, head);
		CHECK(head_len <= min_t(u32, len, sizeof(head)));
		flip_memcpy(trailer, stream + at + len - sizeof(trailer), sizeof(trailer));
		/* Pretend that the CRC is right: a malicious sender can always achieve that. */
		kwarp_fpdu_rx_verify(&g.rx, ~get_unaligned_le32(trailer), trailer);
		off = g.rx.off;
		feed(head, head_len);
		feed_cut(at + head_len, at + len, cut);
		if (g.rx.step == KWARP_FPDU_S_ERROR)
			return;
		CHECK(g.rx.off == off + len);
		CHECK(kwarp_fpdu_rx_idle(&g.rx) || g.rx.markers);
		CHECK(g.rx.step == KWARP_FPDU_S_HEAD && !g.rx.have);
		at += len;
	}
}

static void make_stream(bool markers, bool tagged)
{
	struct kwarp_emit e = {
		.buf = stream, .size = sizeof(stream), .markers = markers, .off = 512 - 12,
	};
	u8 ulpdu[ULPDU_LEN] = { tagged ? 0xc1 : 0x41, 0x43 };
	u32 i;

	for (i = 0; i < FPDUS; i++)
		kwarp_emit_fpdu(&e, ulpdu, sizeof(ulpdu), 0);
	stream_len = e.len;
}

static void run(u32 cut, bool crc, bool markers)
{
	u32 i;

	memset(g.guard, GUARD, sizeof(g.guard));
	kwarp_fpdu_rx_init(&g.rx, crc, markers);
	g.rx.off = 512 - 12;
	ASAN_POISON_MEMORY_REGION(stream, sizeof(stream));
	if (crc)
		feed_verified(cut);
	else
		feed_cut(0, stream_len, cut);
	ASAN_UNPOISON_MEMORY_REGION(stream, sizeof(stream));
	for (i = 0; i < sizeof(g.guard); i++)
		CHECK(g.guard[i] == GUARD);
	runs++;
}

/* Part 1: change an octet of the first half of the stream before each memcpy() of the parser. */
static void flip_all(void)
{
	u32 cut, i, how, at;

	for (how = 0; how < 8; how++) {
		make_stream(how & 2, how & 4);
		for (at = 0; at < stream_len / 2; at++) {
			for (i = 0; i < ARRAY_SIZE(flips); i++) {
				/* Cut at each octet up to 32, and near the octet that changes. */
				for (cut = 0; cut <= stream_len / 2; cut++) {
					if (cut > 32 && cut + 4 < at)
						continue;
					if (cut > 32 && cut > at + 4)
						break;
					make_stream(how & 2, how & 4);
					flip_at = at;
					flip_by = flips[i];
					run(cut, how & 1, how & 2);
				}
			}
		}
	}
}

static volatile bool stop;

__attribute__((__no_sanitize__("address")))
static void *neighbour(void *arg)
{
	volatile u8 *p = stream;
	u32 at = 0;

	while (!stop) {
		p[at % 32] ^= flips[at % ARRAY_SIZE(flips)];
		p[stream_len / FPDUS + at % 32] ^= flips[at / 3 % ARRAY_SIZE(flips)];
		at++;
	}
	return arg;
}

static void flip_meanwhile(void)
{
	time_t end = time(NULL) + THREAD_SECONDS;
	pthread_t thread;
	u32 how, cut;

	flip_by = 0;
	CHECK(!pthread_create(&thread, NULL, neighbour, NULL));
	for (how = 0; time(NULL) <= end; how++)
		for (cut = 0; cut < 64; cut++) {
			if (!(cut & 15))
				make_stream(how & 2, how & 4);
			run(cut, how & 1, how & 2);
		}
	stop = true;
	CHECK(!pthread_join(thread, NULL));
}

int main(void)
{
	flip_all();
	flip_meanwhile();
	printf("fuzz flip: %lu inputs, no finding\n", runs);
	return 0;
}
