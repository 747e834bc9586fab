// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Performance management: each octet of the answers that the RDMA core gets, and what is refused.
 * Offsets are those of the InfiniBand specification (volume 1, sections 13.4.2 and 16.1.3), counted
 * from the beginning of the MAD: 24 octets of header, 40 that are reserved, then the attribute.
 */
#include <rdma/ib_mad.h>

#include "../../proto/perr.h"
#include "fixture.h"

#define MAD_LEN		256
#define CLASS_PORT_INFO	0x0001
#define COUNTERS	0x0012
#define COUNTERS_EXT	0x001d

struct mads {
	struct kwarp_stream_stats total;
	u8 in[MAD_LEN];
	u8 out[MAD_LEN];
	u8 want[MAD_LEN];
};

static struct mads *mads;

static int mad_init(struct kunit *test)
{
	int ret = vt_init(test);

	if (ret)
		return ret;
	/* A page, so that the counters are aligned to a cache line. */
	BUILD_BUG_ON(sizeof(*mads) > PAGE_SIZE);
	mads = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mads);
	vt->total = &mads->total;
	return 0;
}

static void make_get(u16 attr, u8 port)
{
	static const u8 head[] = { 1, 4, 1, 1 };	/* version, class, its version, Get */

	memset(mads->in, 0, MAD_LEN);
	memcpy(mads->in, head, sizeof(head));
	put_unaligned_be64(0x1122334455667788, mads->in + 8);	/* transaction */
	put_unaligned_be16(attr, mads->in + 16);
	mads->in[65] = port;
}

static int ask(u32 port)
{
	size_t size = MAD_LEN;
	u16 pkey = 0;

	memset(mads->out, 0xaa, MAD_LEN);
	return kwarp_process_mad(&vt->kdev->ibdev, 1, port, NULL, NULL, (void *)mads->in,
				 (void *)mads->out, &size, &pkey);
}

/* The answer has the request's header, but GetResp, and @len octets at @at. */
static void expect_answer(struct kunit *test, u32 at, const void *octets, u32 len)
{
	KUNIT_ASSERT_EQ(test, ask(1), IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY);
	memset(mads->want, 0, MAD_LEN);
	memcpy(mads->want, mads->in, 24);
	mads->want[3] = 0x81;
	memcpy(mads->want + at, octets, len);
	KUNIT_EXPECT_MEMEQ(test, mads->out, mads->want, MAD_LEN);
}

static void test_class_port_info(struct kunit *test)
{
	/* Version, class version, CapabilityMask: bit 9, CounterSelect2 of extended width. */
	static const u8 octets[] = { 1, 1, 0x02, 0x00 };

	make_get(CLASS_PORT_INFO, 0);
	expect_answer(test, 64, octets, sizeof(octets));
}

static void count(u64 tx_octets, u64 rx_octets, u64 tx_fpdus, u64 rx_fpdus)
{
	mads->total.tx.octets = tx_octets;
	mads->total.rx.octets = rx_octets;
	mads->total.tx.fpdus = tx_fpdus;
	mads->total.rx.fpdus = rx_fpdus;
}

static void test_counters(struct kunit *test)
{
	u8 octets[40] = { 0, 1 };

	make_get(COUNTERS, 1);
	expect_answer(test, 64, octets, sizeof(octets));
	count(4 * 0x11223344, 4 * 0x01020304 + 3, 0x55667788, 0x99aabbcc);
	atomic_long_set(&vt->kdev->stats.errors[KWARP_PERR_MPA_CRC], 0x1200);
	atomic_long_set(&vt->kdev->stats.errors[KWARP_PERR_MPA_MARKER], 0x34);
	/* The peer has broken no frame of which the counters speak. */
	atomic_long_set(&vt->kdev->stats.errors[KWARP_PERR_DDP_U_NOBUF], 0x10000);
	put_unaligned_be16(0x1234, octets + 8);
	put_unaligned_be32(0x11223344, octets + 24);
	put_unaligned_be32(0x01020304, octets + 28);
	put_unaligned_be32(0x55667788, octets + 32);
	put_unaligned_be32(0x99aabbcc, octets + 36);
	expect_answer(test, 64, octets, sizeof(octets));
}

static void test_saturation(struct kunit *test)
{
	u8 octets[40] = { 0, 1 };

	make_get(COUNTERS, 1);
	count(4ULL << 32, U64_MAX, 1ULL << 32, U64_MAX);
	atomic_long_set(&vt->kdev->stats.errors[KWARP_PERR_MPA_CRC], 0xffff);
	atomic_long_set(&vt->kdev->stats.errors[KWARP_PERR_MPA_MARKER], 1);
	memset(octets + 8, 0xff, 2);
	memset(octets + 24, 0xff, 16);
	expect_answer(test, 64, octets, sizeof(octets));
	count(4 * 0xffffffffULL, 4 * 0xfffffffeULL, 0xffffffff, 0xfffffffe);
	octets[31] = 0xfe;
	octets[39] = 0xfe;
	expect_answer(test, 64, octets, sizeof(octets));
}

static void test_counters_ext(struct kunit *test)
{
	u8 octets[72] = { 0, 1 };

	make_get(COUNTERS_EXT, 1);
	count(4 * 0x1122334455667788, U64_MAX, 0x0102030405060708, U64_MAX - 1);
	put_unaligned_be64(0x1122334455667788, octets + 8);
	put_unaligned_be64(U64_MAX / 4, octets + 16);
	put_unaligned_be64(0x0102030405060708, octets + 24);
	put_unaligned_be64(U64_MAX - 1, octets + 32);
	/* All packets are unicast; the last two counters, of multicast, stay 0. */
	put_unaligned_be64(0x0102030405060708, octets + 40);
	put_unaligned_be64(U64_MAX - 1, octets + 48);
	expect_answer(test, 64, octets, sizeof(octets));
}

/* A request that is not answered: octet @at of a Get of @attr has the value @octet. */
static const struct refusal {
	const char *desc;
	u16 attr;
	u8 at;
	u8 octet;
} refusals[] = {
	{ "base version", COUNTERS, 0, 2 },
	{ "class: subnet management", CLASS_PORT_INFO, 1, 0x01 },
	{ "class: subnet administration", CLASS_PORT_INFO, 1, 0x03 },
	{ "class: vendor", COUNTERS_EXT, 1, 0x0a },
	{ "class version", COUNTERS, 2, 2 },
	{ "Set of PortCounters, which would clear them", COUNTERS, 3, 2 },
	{ "Set of PortCountersExtended", COUNTERS_EXT, 3, 2 },
	{ "Set of ClassPortInfo", CLASS_PORT_INFO, 3, 2 },
	{ "method: an answer", COUNTERS, 3, 0x81 },
	{ "attribute 0", COUNTERS, 17, 0 },
	{ "PortSamplesControl", COUNTERS, 17, 0x10 },
	{ "PortXmitDataSL", COUNTERS, 17, 0x36 },
	{ "attribute with a high octet", COUNTERS, 16, 1 },
	{ "port 0", COUNTERS, 65, 0 },
	{ "port 2", COUNTERS_EXT, 65, 2 },
	{ "all ports", COUNTERS, 65, 0xff },
};

KUNIT_ARRAY_PARAM_DESC(refusal, refusals, desc);

static void test_refused(struct kunit *test)
{
	const struct refusal *c = test->param_value;

	make_get(c->attr, 1);
	mads->in[c->at] = c->octet;
	KUNIT_EXPECT_EQ(test, ask(1), IB_MAD_RESULT_FAILURE);
	memset(mads->want, 0xaa, MAD_LEN);
	KUNIT_EXPECT_MEMEQ(test, mads->out, mads->want, MAD_LEN);
	make_get(c->attr, 1);
	KUNIT_EXPECT_EQ(test, ask(2), IB_MAD_RESULT_FAILURE);
	KUNIT_EXPECT_NE(test, ask(1), IB_MAD_RESULT_FAILURE);
}

static struct kunit_case mad_verbs_cases[] = {
	KUNIT_CASE(test_class_port_info),
	KUNIT_CASE(test_counters),
	KUNIT_CASE(test_saturation),
	KUNIT_CASE(test_counters_ext),
	KUNIT_CASE_PARAM(test_refused, refusal_gen_params),
	{}
};

static struct kunit_suite mad_verbs_suite = {
	.name = "kwarp_verbs_mad",
	.init = mad_init,
	.exit = vt_exit,
	.test_cases = mad_verbs_cases,
};

kunit_test_suite(mad_verbs_suite);
