// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of MPA startup over a socket: frames that come in pieces, are too long, end too early or
 * reject, and the negotiation of CRC and markers.
 */
#include "states.h"

/* The longest frame, and one octet after it. */
#define ROOM	(KWARP_MPA_FRAME_LEN + KWARP_MPA_MAX_PDATA + 1)

static u32 make_frame(u8 *buf, const struct kwarp_mpa_frame *frame)
{
	u32 len = kwarp_mpa_frame_encode(buf, frame);
	u32 i;

	for (i = 0; i < frame->pdata_len; i++)
		buf[len + i] = i;
	return len + frame->pdata_len;
}

static void peer_says(const u8 *octets, u32 n)
{
	memcpy(fake.sock->rx + fake.sock->rx_len, octets, n);
	fake.sock->rx_len += n;
	ct_sock_event();
	ct_settle();
}

static enum kwarp_cm_state wait_for(struct kunit *test, bool reply, u8 rev)
{
	fake.kdev->knobs.mpa_rev = rev;
	(reply ? ct_to_wait_rep : ct_to_wait_req)(test);
	return reply ? KWARP_CMS_WAIT_REP : KWARP_CMS_WAIT_REQ;
}

/* Startup has failed: check that a ULP that connects got one upcall, a ULP that listens none. */
static void expect_failed(struct kunit *test, bool reply, int status)
{
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_DEAD);
	KUNIT_EXPECT_EQ(test, fake.requests, 0);
	KUNIT_EXPECT_EQ(test, fake.id.replies, reply);
	KUNIT_EXPECT_EQ(test, fake.connects, reply);
	if (reply)
		KUNIT_EXPECT_EQ(test, fake.id.status, status);
}

/* ------------------------------------------------------------------- in pieces */

static const struct whole {
	const char *desc;
	struct kwarp_mpa_frame frame;
} wholes[] = {
	{ "Request of revision 1", { .rev = 1 } },
	{ "Request with 512 octets", { .rev = 1, .pdata_len = 512 } },
	{ "enhanced Request", { .rev = 2, .enhanced = true } },
	{ "enhanced Request with 508 octets", { .rev = 2, .enhanced = true, .pdata_len = 508 } },
	{ "Reply of revision 1", { .reply = true, .rev = 1 } },
	{ "Reply with 512 octets", { .reply = true, .rev = 1, .pdata_len = 512 } },
	{ "enhanced Reply", { .reply = true, .rev = 2, .enhanced = true } },
	{ "enhanced Reply with 508 octets",
	  { .reply = true, .rev = 2, .enhanced = true, .pdata_len = 508 } },
};

KUNIT_ARRAY_PARAM_DESC(whole, wholes, desc);

/* Check that the ULP has the Request, with at most 255 octets of private data: iw_cm's limit. */
static void expect_request(struct kunit *test, const u8 *pdata, u32 pdata_len)
{
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_WAIT_ULP);
	KUNIT_EXPECT_EQ(test, fake.requests, 1);
	KUNIT_EXPECT_EQ(test, fake.pdata_len, min(pdata_len, 255));
	KUNIT_EXPECT_MEMEQ(test, fake.pdata, pdata, fake.pdata_len);
}

/* The octet after the Reply belongs to the stream, so it is still in the socket. */
static void expect_stream(struct kunit *test, const u8 *pdata, u32 pdata_len)
{
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_STREAM);
	KUNIT_EXPECT_EQ(test, fake.id.replies, 1);
	KUNIT_EXPECT_EQ(test, fake.id.status, 0);
	KUNIT_EXPECT_EQ(test, fake.id.pdata_len, min(pdata_len, 255));
	KUNIT_EXPECT_MEMEQ(test, fake.id.pdata, pdata, fake.id.pdata_len);
	KUNIT_EXPECT_EQ(test, fake.sock->rx_len, 1);
}

static void test_octets(struct kunit *test)
{
	const struct kwarp_mpa_frame *frame = &((const struct whole *)test->param_value)->frame;
	enum kwarp_cm_state waits = wait_for(test, frame->reply, frame->rev);
	u8 *buf = kunit_kzalloc(test, ROOM, GFP_KERNEL);
	u32 i, len;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	len = make_frame(buf, frame);
	for (i = 0; i < len - 1; i++) {
		peer_says(buf + i, 1);
		KUNIT_ASSERT_EQ_MSG(test, ct_state(), waits, "octet %u", i);
		KUNIT_ASSERT_EQ(test, fake.sock->rx_len, 0);
		KUNIT_ASSERT_EQ(test, fake.requests + fake.id.replies, 0);
	}
	peer_says(buf + i, frame->reply ? 2 : 1);
	if (frame->reply)
		expect_stream(test, buf + len - frame->pdata_len, frame->pdata_len);
	else
		expect_request(test, buf + len - frame->pdata_len, frame->pdata_len);
}

static const struct sent {
	const char *desc;
	void (*go)(struct kunit *test);
	enum kwarp_cm_state next;
	u32 len;
} sents[] = {
	{ "Request", ct_to_send_req, KWARP_CMS_WAIT_REP, 24 },
	{ "Reply", ct_to_send_rep, KWARP_CMS_WAIT_FPDU, 24 },
	{ "rejecting Reply", ct_to_send_rej, KWARP_CMS_LINGER, 24 },
	/* fake.sock->tx has the Request (24 octets), and after it the Terminate (28 octets) */
	{ "Terminate", ct_to_send_term, KWARP_CMS_LINGER, 24 + 28 },
};

KUNIT_ARRAY_PARAM_DESC(sent, sents, desc);

/* TCP has room for one octet at a time: the octets sent are the same as with enough room. */
static void test_sent_octets(struct kunit *test)
{
	const struct sent *c = test->param_value;
	u8 *whole = kunit_kzalloc(test, sizeof(fake.sock->tx), GFP_KERNEL);
	enum kwarp_cm_state state;

	KUNIT_ASSERT_NOT_NULL(test, whole);
	c->go(test);
	fake.sock->tx_room = c->len;
	ct_sock_event();
	ct_settle();
	KUNIT_ASSERT_EQ(test, fake.sock->tx_len, c->len);
	memcpy(whole, fake.sock->tx, c->len);
	ct_again(test);
	c->go(test);
	state = ct_state();
	while (fake.sock->tx_len < c->len) {
		KUNIT_ASSERT_EQ_MSG(test, ct_state(), state, "octet %u", fake.sock->tx_len);
		fake.sock->tx_room = 1;
		ct_sock_event();
		ct_settle();
		KUNIT_ASSERT_EQ(test, fake.sock->tx_room, 0);
	}
	KUNIT_EXPECT_EQ(test, ct_state(), c->next);
	KUNIT_EXPECT_EQ(test, fake.sock->tx_len, c->len);
	KUNIT_EXPECT_MEMEQ(test, fake.sock->tx, whole, c->len);
}

/* ---------------------------------------------------------- too long, too short */

static const struct length {
	const char *desc;
	bool reply;
	u8 rev;
	u16 pdata_len;
	bool ok;
} lengths[] = {
	{ "Request, 512", false, 1, 512, true },
	{ "Request, 513", false, 1, 513 },
	{ "Request, 65535", false, 1, 65535 },
	{ "enhanced Request, 512", false, 2, 512, true },
	{ "enhanced Request, 513", false, 2, 513 },
	{ "enhanced Request, 4", false, 2, 4, true },
	{ "enhanced Request, 3", false, 2, 3 },
	{ "enhanced Request, 0", false, 2, 0 },
	{ "Reply, 512", true, 1, 512, true },
	{ "Reply, 513", true, 1, 513 },
	{ "enhanced Reply, 513", true, 2, 513 },
	{ "enhanced Reply, 4", true, 2, 4, true },
	{ "enhanced Reply, 3", true, 2, 3 },
	{ "enhanced Reply, 0", true, 2, 0 },
};

KUNIT_ARRAY_PARAM_DESC(length, lengths, desc);

/* A wrong PD_Length is refused before the rest of the frame comes: 5044-7.1.1-23, 6581-6-11. */
static void test_length(struct kunit *test)
{
	const struct length *c = test->param_value;
	enum kwarp_cm_state waits = wait_for(test, c->reply, c->rev);
	const struct kwarp_mpa_frame frame = {
		.reply = c->reply, .rev = c->rev, .enhanced = c->rev == 2,
	};
	u8 buf[KWARP_MPA_MAX_HDR];

	kwarp_mpa_frame_encode(buf, &frame);
	put_unaligned_be16(c->pdata_len, buf + KWARP_MPA_FRAME_LEN - sizeof(u16));
	peer_says(buf, KWARP_MPA_FRAME_LEN - 1);
	KUNIT_ASSERT_EQ(test, ct_state(), waits);
	peer_says(buf + KWARP_MPA_FRAME_LEN - 1, 1);
	if (c->ok)
		KUNIT_EXPECT_EQ(test, ct_state(), waits);
	else
		expect_failed(test, c->reply, -EPROTO);
}

static const struct missing {
	const char *desc;
	struct kwarp_mpa_frame frame;
} missings[] = {
	{ "Request, private data", { .rev = 1, .pdata_len = 100 } },
	{ "Request, enhanced data", { .rev = 2, .enhanced = true } },
	{ "Reply, private data", { .reply = true, .rev = 1, .pdata_len = 100 } },
	{ "Reply, enhanced data", { .reply = true, .rev = 2, .enhanced = true } },
};

KUNIT_ARRAY_PARAM_DESC(missing, missings, desc);

static void peer_closes(void)
{
	ct_peer_ends(0);
}

static void peer_resets(void)
{
	ct_peer_ends(-ECONNRESET);
}

static const struct {
	void (*happens)(void);
	int status;
} ends[] = {
	{ ct_timer_runs, -ETIMEDOUT },
	{ peer_closes, -ECONNRESET },
	{ peer_resets, -ECONNRESET },
};

/* After a part of a Reply there is no second attempt with revision 1. */
static void test_missing(struct kunit *test)
{
	const struct kwarp_mpa_frame *frame = &((const struct missing *)test->param_value)->frame;
	enum kwarp_cm_state waits;
	u8 buf[128];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		waits = wait_for(test, frame->reply, frame->rev);
		peer_says(buf, make_frame(buf, frame) - 1);
		KUNIT_ASSERT_EQ(test, ct_state(), waits);
		ends[i].happens();
		ct_settle();
		expect_failed(test, frame->reply, ends[i].status);
		ct_again(test);
	}
}

/* 5044-7.1.1-23: octets after the Request end the connection, before or after the ULP gets it. */
static void test_behind_request(struct kunit *test)
{
	static const struct kwarp_mpa_frame frame = { .rev = 2, .enhanced = true };
	u8 buf[KWARP_MPA_MAX_HDR + 1] = {};

	wait_for(test, false, 2);
	make_frame(buf, &frame);
	peer_says(buf, sizeof(buf));
	expect_failed(test, false, 0);
	ct_again(test);
	ct_to_wait_ulp(test);
	peer_says(buf, 1);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_DEAD);
	KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN), -ECONNRESET);
}

/* -------------------------------------------------------------------- refusals */

static const struct refusal {
	const char *desc;
	u8 our_rev;
	struct kwarp_mpa_frame frame;
	u32 crc;
	enum kwarp_cm_state state;
	int status;
} refusals[] = {
	{ "revision 2, not enhanced", 2, { .rev = 2 }, KWARP_CRC_OFF, KWARP_CMS_LINGER,
	  -ECONNREFUSED },
	{ "revision 1 to revision 1", 1, { .rev = 1 }, KWARP_CRC_OFF, KWARP_CMS_LINGER,
	  -ECONNREFUSED },
	/* The peer may have rejected the revision: the initiator tries revision 1. */
	{ "revision 1 to revision 2", 2, { .rev = 1 }, KWARP_CRC_OFF, KWARP_CMS_CONNECT },
	/* The CRC flag of a rejecting Reply is ignored. */
	{ "no CRC", 2, { .rev = 2, .enhanced = true }, KWARP_CRC_REQUIRED, KWARP_CMS_LINGER,
	  -ECONNREFUSED },
	/* The depths (IRD, ORD) of a rejecting Reply are ignored, even wrong ones. */
	{ "depths", 2, { .rev = 2, .enhanced = true, .ird = 1, .ord = KWARP_DEPTH_NV - 1 },
	  KWARP_CRC_OFF, KWARP_CMS_LINGER, -ECONNREFUSED },
};

KUNIT_ARRAY_PARAM_DESC(refusal, refusals, desc);

static void test_refusal(struct kunit *test)
{
	const struct refusal *c = test->param_value;
	struct kwarp_mpa_frame frame = c->frame;
	u8 buf[KWARP_MPA_MAX_HDR];

	fake.kdev->knobs.crc = c->crc;
	wait_for(test, true, c->our_rev);
	frame.reply = true;
	frame.reject = true;
	peer_says(buf, make_frame(buf, &frame));
	KUNIT_EXPECT_EQ(test, ct_state(), c->state);
	KUNIT_EXPECT_EQ(test, fake.id.replies, c->status != 0);
	KUNIT_EXPECT_EQ(test, fake.id.status, c->status);
	KUNIT_EXPECT_EQ(test, fake.qp[0].state, KWARP_QPS_IDLE);
	KUNIT_ASSERT_NOT_NULL(test, fake.sock);
	KUNIT_EXPECT_EQ(test, fake.sock->fin, c->status != 0);
}

/* ---------------------------------------------------------------- CRC, markers */

#define M	0x80
#define C	0x40
#define R	0x20

/* 5044-7.1.1-9, -10: CRCs are used if either end asks for them. "We" is the end under test. */
static const struct flags {
	const char *desc;
	u32 policy;
	bool peer;
	bool crc;
	bool refused;
} flags[] = {
	{ "neither", KWARP_CRC_OFF, false, false },
	{ "the peer", KWARP_CRC_OFF, true, true },
	{ "we", KWARP_CRC_ON, false, true },
	{ "both", KWARP_CRC_ON, true, true },
	{ "we must, the peer does not", KWARP_CRC_REQUIRED, false, true, true },
	{ "we must, the peer does", KWARP_CRC_REQUIRED, true, true },
};

KUNIT_ARRAY_PARAM_DESC(flags, flags, desc);

/* Check CRC and markers. An end receives markers if it asks for them (5044-7.1.1-5 to -8). */
static void expect_params(struct kunit *test, bool crc, bool our_markers, bool peer_markers)
{
	const struct kwarp_stream_params *p = &fake.qp[0].params;

	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_STREAM);
	KUNIT_EXPECT_EQ(test, p->crc, crc);
	KUNIT_EXPECT_EQ(test, p->rx_markers, our_markers);
	KUNIT_EXPECT_EQ(test, p->tx_markers, peer_markers);
}

static void peer_frame(bool reply, bool crc, bool markers)
{
	const struct kwarp_mpa_frame frame = {
		.reply = reply, .rev = 2, .enhanced = true, .crc = crc, .markers = markers,
	};
	u8 buf[KWARP_MPA_MAX_HDR];

	peer_says(buf, make_frame(buf, &frame));
}

static u8 flags_sent(void)
{
	return fake.sock->tx[KWARP_MPA_KEY_LEN] & (M | C | R);
}

static void wait_with(struct kunit *test, bool reply, const struct flags *c, bool markers)
{
	fake.kdev->knobs.crc = c->policy;
	fake.kdev->knobs.markers = markers;
	wait_for(test, reply, 2);
}

static void test_flags_initiator(struct kunit *test)
{
	const struct flags *c = test->param_value;
	bool ours, peers;
	u32 i;

	for (i = 0; i < 4; i++) {
		ours = i & 1;
		peers = i & 2;
		wait_with(test, true, c, ours);
		KUNIT_EXPECT_EQ(test, flags_sent(), (ours ? M : 0) | (c->policy ? C : 0));
		peer_frame(true, c->peer, peers);
		if (c->refused)
			expect_failed(test, true, -EPROTO);
		else
			expect_params(test, c->crc, ours, peers);
		ct_again(test);
	}
}

static void expect_refusal(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fake.requests, 0);
	KUNIT_EXPECT_TRUE(test, flags_sent() & R);
	KUNIT_EXPECT_EQ(test, ct_state(), KWARP_CMS_LINGER);
}

static void test_flags_responder(struct kunit *test)
{
	const struct flags *c = test->param_value;
	bool ours, peers;
	u32 i;

	for (i = 0; i < 4; i++) {
		ours = i & 1;
		peers = i & 2;
		wait_with(test, false, c, ours);
		peer_frame(false, c->peer, peers);
		if (c->refused) {
			expect_refusal(test);
			ct_again(test);
			continue;
		}
		ct_take_request(test);
		KUNIT_ASSERT_EQ(test, ct_iw_accept(FAKE_QPN), 0);
		ct_settle();
		KUNIT_EXPECT_EQ(test, flags_sent(), (ours ? M : 0) | (c->crc ? C : 0));
		expect_params(test, c->crc, ours, peers);
		ct_again(test);
	}
}

static struct kunit_case mpa_cases[] = {
	KUNIT_CASE_PARAM(test_octets, whole_gen_params),
	KUNIT_CASE_PARAM(test_sent_octets, sent_gen_params),
	KUNIT_CASE_PARAM(test_length, length_gen_params),
	KUNIT_CASE_PARAM(test_missing, missing_gen_params),
	KUNIT_CASE(test_behind_request),
	KUNIT_CASE_PARAM(test_refusal, refusal_gen_params),
	KUNIT_CASE_PARAM(test_flags_initiator, flags_gen_params),
	KUNIT_CASE_PARAM(test_flags_responder, flags_gen_params),
	{ }
};

static struct kunit_suite mpa_suite = {
	.name = "kwarp_cm_mpa",
	.suite_init = ct_suite_init,
	.suite_exit = ct_suite_exit,
	.init = ct_init,
	.exit = ct_exit,
	.test_cases = mpa_cases,
};
kunit_test_suite(mpa_suite);
