/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of building FPDUs: a stream. The batch is one flat piece of memory. The
 * fixture grants random amounts of memory, and sometimes none.
 */
#ifndef KWARP_ENGINE_TESTS_TX_BUILD_FIXTURE_H
#define KWARP_ENGINE_TESTS_TX_BUILD_FIXTURE_H

#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../kwarp.h"
#include "../tx/tx.h"

#define WIRE_MAX	(1024 * 1024)
#define MEM_LEN		(128 * 1024)
#define STAG		0x12345678U
#define VA		0x7f0000000123ULL
#define MAX_SGES	3

/*
 * @wire: octets of the present batch
 * @first: octets of the first batch; those of later batches follow
 * @short_every: one in this number of requests for memory fails; 0: none fails
 * @series: number of times that kwarp_tx_build_series() has built several FPDUs
 */
struct lower {
	u8 *wire;
	u8 *first;
	struct rnd_state rnd;
	u32 short_every;
	u32 asked;
	struct kwarp_mr *mr;
	u32 series;
	u32 built;
	enum kwarp_wc_status status;
	enum kwarp_perr perr;
	u16 seg_len;
	u8 rreq[KWARP_RDMAP_RREQ_LEN];
	bool has_rreq;
};

extern struct lower build_lower;

struct build_test {
	struct kwarp_engine e;
	struct kwarp_iread iread;
	struct kwarp_mr mr;
	struct ib_pd pd;
	u8 *chunk;
	u8 *mem;
	u8 *want;
	u8 ulpdu[65536];
};

/* --------------------------------------------------------------------- streams */

/*
 * @off: stream offset of its first octet
 * @cut: keep FPDUs aligned to TCP segments of this many octets; 0: no alignment
 */
struct plan {
	const char *desc;
	bool crc;
	bool markers;
	u32 mulpdu;
	u32 off;
	u32 most;
	u32 short_every;
	u32 cut;
};

static const struct plan build_plans[] = {
	{ "neither", false, false, 1442, 0, 6000, 0 },
	{ "CRC", true, false, 1442, 0, 6000, 0 },
	{ "CRC, small", true, false, 1442, 0, 100, 0 },
	{ "CRC, least MULPDU", true, false, 128, 0, 1000, 0 },
	{ "CRC, MULPDU with pad", true, false, 1443, 0, 6000, 0 },
	{ "CRC, most MULPDU", true, false, 64768, 0, 100000, 0 },
	{ "CRC, short of memory", true, false, 1442, 0, 6000, 97 },
	{ "markers", false, true, 1430, 0, 6000, 0 },
	{ "markers, CRC", true, true, 1430, 0, 6000, 0 },
	{ "markers, CRC, small", true, true, 1430, 0, 100, 0 },
	{ "markers, CRC, offset wraps", true, true, 1430, 0 - 5120, 3000, 0 },
	{ "markers, CRC, most MULPDU", true, true, 64768, 0, 100000, 0 },
	{ "markers, CRC, short of memory", true, true, 1430, 0, 6000, 97 },
	{ "aligned", true, false, 1442, 0, 6000, 0, 1448 },
	{ "aligned, small", true, false, 1442, 0, 100, 0, 1448 },
	{ "aligned, longer than a segment", true, false, 128, 0, 1000, 0, 88 },
	{ "aligned, segments with a rest", true, false, 1441, 0, 6000, 0, 1449 },
	{ "aligned, short of memory", true, false, 1442, 0, 6000, 97, 1448 },
	{ "aligned, markers", true, true, 1430, 0, 6000, 0, 1448 },
	{ "aligned, markers, small", true, true, 1430, 0, 100, 0, 1448 },
};

int build_test_init(struct kunit *test);
void build_make_region(struct build_test *t);
void build_from_sgl(struct build_test *t, u32 off, u32 len);
void build_from_region(struct build_test *t, u32 off, u32 len);
void build_start(struct build_test *t, const struct plan *c);

#endif /* KWARP_ENGINE_TESTS_TX_BUILD_FIXTURE_H */
