// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: the functions of wire/ against byte-exact examples, without any device. Examples A to
 * G2 are FPDUs: those of RFC 5044 figures 5 and 6, and others made in the same way. RFC 7306 has no
 * examples, so this file has a whole FPDU for each of its messages.
 */
#include "scenarios.h"
#include "kwtest.h"
#include "wire/ddp.h"
#include "wire/mpa.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Make the ULPDU of a Send in one segment, with 24 zero octets, as in the figures of RFC 5044. */
static size_t rfc_send(uint32_t msn, uint8_t *ulpdu)
{
	struct kwraw_seg s;

	memset(ulpdu, 0, 42);
	kwraw_seg_init(&s, KWRAW_SEND);
	s.msn = msn;
	kwraw_seg_encode(&s, ulpdu);
	return 42;
}

/**
 * struct fpdu_vector - an FPDU of which some octets are known
 * @markers: there are markers in the stream
 * @pos: stream position at which the FPDU begins
 * @msn: MSN of the Send in it; 0: the ULPDU is 00 01 .. 0f instead
 * @len: octets of the FPDU
 * @marker_at: position of a marker in the FPDU, or -1; @marker: the marker's pointer
 * @crc: the last four octets, as they are sent
 */
struct fpdu_vector {
	const char *name;
	bool markers;
	uint32_t pos, msn;
	size_t len;
	int marker_at;
	uint16_t marker;
	uint8_t crc[4];
};

static const struct fpdu_vector vectors[] = {
	{ "A: first FPDU with a marker", true, 0, 1, 52, 0, 0, { 0x52, 0x23, 0x99, 0x83 } },
	{ "B: no markers", false, 0, 1, 48, -1, 0, { 0xb7, 0x24, 0x3e, 0xc3 } },
	{ "D: marker inside", true, 0x1ec, 2, 52, 0x14, 0x14, { 0x84, 0x92, 0x58, 0x98 } },
	{ "E: marker in the payload, pad", true, 0x1f4, 0, 28, 0x0c, 0x0c,
	  { 0x10, 0x5b, 0x1c, 0x88 } },
	{ "F1: marker before the CRC", true, 0x1d4, 1, 52, 0x2c, 0x2c, { 0xbd, 0xd4, 0xaa, 0x4b } },
	{ "F2: marker between pad and CRC", true, 0x1ec, 0, 28, 0x14, 0x14,
	  { 0xaf, 0xae, 0x0d, 0x07 } },
	{ "G2: marker between two FPDUs", true, 0x200, 2, 52, 0, 0, { 0xcc, 0x08, 0x19, 0x9e } },
};

static size_t vector_ulpdu(const struct fpdu_vector *v, uint8_t *ulpdu)
{
	int i;

	if (v->msn)
		return rfc_send(v->msn, ulpdu);
	for (i = 0; i < 16; i++)
		ulpdu[i] = i;
	return 16;
}

static void check_vector(const struct fpdu_vector *v)
{
	struct kwraw c = { .crc = true, .tx = { .markers = v->markers, .pos = v->pos } };
	static uint8_t wire[KWRAW_FPDU_MAX];
	uint8_t ulpdu[64];
	size_t ulpdu_len = vector_ulpdu(v, ulpdu);
	size_t len = kwraw_fpdu_encode(&c, ulpdu, ulpdu_len, 0, wire);
	uint8_t ptr[4] = { 0, 0, v->marker >> 8, v->marker & 0xff };

	if (len != v->len)
		kwraw_fail(v->name, "another length", "wrong length");
	if (v->marker_at >= 0 && memcmp(wire + v->marker_at, ptr, 4))
		kwraw_fail(v->name, "the right marker", "another");
	if (memcmp(wire + len - 4, v->crc, 4))
		kwraw_fail(v->name, "the CRC of the example", "another");
}

/* One end decodes what the other end has encoded and sent in pieces of random lengths. */
static void check_round_trips(bool markers)
{
	struct kwraw tx = { .crc = true, .tx = { .markers = markers }, .piece = 700 };
	struct kwraw rx = { .crc = true, .rx = { .markers = markers } };
	static uint8_t sent[KWRAW_ULPDU_MAX], got[KWRAW_ULPDU_MAX];
	const char *name = markers ? "round trip with markers" : "round trip";
	struct kw_rng rng = { .state = 7 };
	size_t len, n;
	int fds[2], i;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		kw_die(KW_SETUP, "no socket pair");
	tx.fd = fds[0];
	rx.fd = fds[1];
	for (i = 0; i < 500; i++) {
		len = 1 + kw_below(&rng, kw_one_in(&rng, 4) ? 20000 : 1500);
		kw_fill(sent, len, i, 0);
		kwraw_send_fpdu(&tx, sent, len, 0);
		if (kwraw_recv_fpdu(&rx, got, &n, 1000) != KWRAW_GOT_FPDU || n != len ||
		    memcmp(sent, got, n))
			kwraw_fail(name, "equal", "different");
	}
	kwraw_send_fpdu(&tx, sent, 100, KWRAW_BAD_CRC);
	if (kwraw_recv_fpdu(&rx, got, &n, 1000) != KWRAW_GOT_BAD_CRC)
		kwraw_fail(name, "a wrong CRC", "not noticed");
	kwraw_send_fpdu(&tx, sent, 101, KWRAW_BAD_PAD);
	if (kwraw_recv_fpdu(&rx, got, &n, 1000) != KWRAW_GOT_BAD_PAD)
		kwraw_fail(name, "a wrong pad", "not noticed");
	close(fds[0]);
	close(fds[1]);
}

static void check_crc(void)
{
	if (kwraw_crc(0, "123456789", 9) != 0xe3069283)
		kwraw_fail("CRC32c", "e3069283", "another");
}

/* Decode a Terminate with error 0x1/0x2/0x02 about a Send of 22 octets, whole and cut short. */
static void check_terminate(void)
{
	static const uint8_t ulpdu[] = {
		0x41, 0x47, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0,
		0x12, 0x02, 0xc0, 0x00, 0x00, 0x16,
		0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
	};
	struct kwraw_term t;
	size_t len;

	if (!kwraw_term_decode(ulpdu, sizeof(ulpdu), &t) || t.layer != 1 || t.etype != 2 ||
	    t.code != 2 || !t.has_len || !t.has_ddp || t.has_rdma || t.seg_len != 22 ||
	    t.ddp_len != 18)
		kwraw_fail("Terminate", "decoded", "not");
	for (len = 0; len < sizeof(ulpdu); len++)
		if (kwraw_term_decode(ulpdu, len, &t))
			kwraw_fail("Terminate", "refused when cut short", "taken");
}

/**
 * struct golden - a whole FPDU with a message of RFC 7306
 * @op: opcode of its segment, which has MSN 1
 * @a: fields of an Atomic Request
 * @id, @value: fields of an Atomic Response
 * @imm: Immediate Data
 * @wire: all octets of the FPDU
 */
struct golden {
	const char *name;
	enum kwraw_op op;
	struct kwraw_atomic a;
	uint32_t id;
	uint64_t value;
	uint32_t imm;
	uint8_t wire[76];
};

static const struct golden golden[] = {
	{ "FetchAdd", KWRAW_ATOMIC_REQ,
	  .a = { KWRAW_FETCH_ADD, 0x11223344, 0x00abcd00, 0x1000, 5, 0, 0, ~0ULL },
	  .wire = {
		0x00, 0x46, 0x41, 0x4a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
		0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x11, 0x22, 0x33, 0x44, 0x00, 0xab, 0xcd, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0x48, 0x20, 0xa8, 0x3d } },
	{ "CmpSwap", KWRAW_ATOMIC_REQ,
	  .a = { KWRAW_CMP_SWAP, 0x11223345, 0x00abcd00, 0x1000, 5, ~0ULL, 41, ~0ULL },
	  .wire = {
		0x00, 0x46, 0x41, 0x4a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
		0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
		0x11, 0x22, 0x33, 0x45, 0x00, 0xab, 0xcd, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x29, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xbd, 0xb7, 0xbd, 0x47 } },
	{ "Atomic Response", KWRAW_ATOMIC_RESP, .id = 0x11223344, .value = 41,
	  .wire = {
		0x00, 0x1e, 0x41, 0x4b, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
		0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x11, 0x22, 0x33, 0x44,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x29, 0x54, 0xc7, 0x90, 0x53 } },
	{ "Immediate Data", KWRAW_IMM, .imm = 0xdeadbeef,
	  .wire = {
		0x00, 0x1a, 0x41, 0x48, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0xde, 0xad, 0xbe, 0xef,
		0x00, 0x00, 0x00, 0x00, 0xab, 0xcf, 0x9e, 0xa0 } },
	{ "Immediate Data with Solicited Event", KWRAW_IMM_SE, .imm = 0xdeadbeef,
	  .wire = {
		0x00, 0x1a, 0x41, 0x49, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0xde, 0xad, 0xbe, 0xef,
		0x00, 0x00, 0x00, 0x00, 0x36, 0x04, 0xaa, 0x8e } },
};

static size_t golden_ulpdu(const struct golden *g, uint8_t *ulpdu)
{
	struct kwraw_seg s;
	size_t len;

	kwraw_seg_init(&s, g->op);
	len = kwraw_seg_encode(&s, ulpdu);
	if (g->op == KWRAW_ATOMIC_REQ) {
		kwraw_atomic_encode(&g->a, ulpdu + len);
		return len + KWRAW_ATOMIC_REQ_LEN;
	}
	if (g->op == KWRAW_ATOMIC_RESP) {
		kwraw_value_encode(g->id, g->value, ulpdu + len);
		return len + KWRAW_ATOMIC_RESP_LEN;
	}
	kwraw_imm_encode(g->imm, 0, ulpdu + len);
	return len + KWRAW_IMM_LEN;
}

static void check_golden(const struct golden *g)
{
	struct kwraw c = { .crc = true };
	static uint8_t wire[KWRAW_FPDU_MAX];
	struct kwraw_atomic a = { 0 };
	struct kwraw_seg s;
	uint8_t ulpdu[128];
	size_t len = golden_ulpdu(g, ulpdu);

	if (kwraw_fpdu_encode(&c, ulpdu, len, 0, wire) != len + 6)
		kwraw_fail(g->name, "no pad", "padded");
	if (memcmp(wire, g->wire, len + 6))
		kwraw_fail(g->name, "the octets of the example", "others");
	if (kwraw_seg_decode(ulpdu, len, &s) != KWRAW_UNTAGGED_HDR || s.opcode != g->op ||
	    s.qn != kwraw_queue_of(g->op))
		kwraw_fail(g->name, "decoded", "not");
	if (g->op == KWRAW_ATOMIC_REQ) {
		kwraw_atomic_decode(ulpdu + KWRAW_UNTAGGED_HDR, &a);
		if (memcmp(&a, &g->a, sizeof(a)))
			kwraw_fail(g->name, "the request", "another");
	}
}

static unsigned int selftest(int arg)
{
	size_t i, n;

	check_crc();
	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		check_vector(&vectors[i]);
	check_round_trips(false);
	check_round_trips(true);
	check_terminate();
	for (n = 0; n < ARRAY_SIZE(golden); n++)
		check_golden(&golden[n]);
	return i + 4 + n;
}

const struct kwraw_scenario kwraw_selftests[] = {
	{ "selftest", "the building blocks against examples of the RFCs", selftest, 0 },
	{ 0 }
};
