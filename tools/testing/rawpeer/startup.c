// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: scenarios of wrong startups: frames with wrong fields, and frames that end after each
 * of their octets, with silence, a FIN or a reset. Scenario: a test that runs against any RDMA
 * program on the device under test, and may make many connections at a time.
 */
#include "scenarios.h"
#include "kwtest.h"
#include "wire/ddp.h"
#include "wire/mpa.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_CONNS	64

/* How the raw peer stops sending: it leaves the connection open, closes it, or resets it. */
enum way { SILENCE, FIN, RST };

static const char *const way_name[] = { "silence", "FIN", "RST" };

/**
 * struct attempt - a connection of a scenario
 * @c: the connection
 * @what: what is tried on it, for messages
 */
struct attempt {
	struct kwraw c;
	char what[96];
};

static struct attempt attempts[MAX_CONNS];
static unsigned int n_attempts;

static struct attempt *begin(const char *what, int number)
{
	struct attempt *a = &attempts[n_attempts++];

	if (n_attempts > MAX_CONNS)
		kw_die(KW_SETUP, "too many connections at once");
	snprintf(a->what, sizeof(a->what), "%s %d", what, number);
	return a;
}

static struct attempt *begin_connected(const char *what, int number)
{
	struct attempt *a = begin(what, number);

	if (kwraw_connect(&a->c, kwraw_env.addr, kwraw_env.port))
		kw_die(KW_SETUP, "cannot connect: %s", strerror(errno));
	return a;
}

/* Send the first @len octets of @buf, then stop in this way. */
static void send_part(struct attempt *a, const uint8_t *buf, size_t len, enum way way)
{
	if (kwraw_send(&a->c, buf, len))
		kw_debug("%s: the peer does not take more: %s", a->what, strerror(errno));
	if (way == FIN)
		kwraw_fin(&a->c);
	if (way == RST)
		kwraw_reset(&a->c);
}

/* Wait until all connections have ended, at most @within_ms from now. Return their number. */
static unsigned int expect_ends(int within_ms)
{
	int64_t until = kw_now_ms() + within_ms, left;
	unsigned int i, n = n_attempts;
	enum kwraw_end end;
	struct attempt *a;
	size_t got;

	for (i = 0; i < n; i++) {
		a = &attempts[i];
		if (a->c.fd < 0)
			continue;
		left = until - kw_now_ms();
		end = kwraw_wait_end(&a->c, left > 0 ? left : 0, &got);
		kw_debug("%s: %s after %lld ms, %zu octets came", a->what, kwraw_end_name(end),
			 (long long)(kw_now_ms() - until + within_ms), got);
		if (end == KWRAW_OPEN)
			kwraw_fail(a->what, "ended", kwraw_end_name(end));
		kwraw_close(&a->c);
	}
	n_attempts = 0;
	return n;
}

/* Make a Request as most peers send it: CRC, revision 1, five octets of private data. */
static size_t good_request(struct kwraw_mpa *m, uint8_t *buf)
{
	kwraw_mpa_init(m, kwraw_req_key, KWRAW_MPA_C, 1);
	m->pd_len = 5;
	memcpy(m->pd, "hello", 5);
	return kwraw_mpa_encode(m, buf);
}

/* -------------------------------------- the raw peer connects, and sends Requests */

static unsigned int req_garbage(int arg)
{
	static const int lens[] = { 20, 21, 532, 533, 4096, 70000 };
	static uint8_t buf[70000];
	size_t i;

	kw_fill(buf, sizeof(buf), 0xbad, 0);
	for (i = 0; i < ARRAY_SIZE(lens); i++)
		send_part(begin_connected("garbage, octets:", lens[i]), buf, lens[i], SILENCE);
	return expect_ends(kwraw_env.prompt_ms);
}

/*
 * Send Requests with one error each: a wrong octet of the key, the key of a Reply, or a PD_Length
 * above its limit of 512.
 */
static unsigned int req_wrong(int arg)
{
	uint8_t buf[KWRAW_MPA_MAX];
	struct kwraw_mpa m;
	size_t len;
	int i;

	for (i = 0; i < 16; i++) {
		len = good_request(&m, buf);
		buf[i] ^= 0x20;
		send_part(begin_connected("wrong key octet", i), buf, len, SILENCE);
	}
	kwraw_mpa_init(&m, kwraw_rep_key, KWRAW_MPA_C, 1);
	len = kwraw_mpa_encode(&m, buf);
	send_part(begin_connected("a Reply for a Request", 0), buf, len, SILENCE);
	for (i = 513; i <= 65535; i = i * 5 + 90) {
		good_request(&m, buf);
		m.pd_len = i;
		len = kwraw_mpa_encode(&m, buf);
		send_part(begin_connected("private data, octets:", i), buf, len, SILENCE);
	}
	return expect_ends(kwraw_env.prompt_ms);
}

/*
 * Stop at each octet of a Request. All silent connections wait for the device's startup timer at
 * the same time, so that this scenario takes the time of one timer.
 */
static unsigned int req_stop(int way)
{
	uint8_t buf[KWRAW_MPA_MAX];
	struct kwraw_mpa m;
	size_t len = good_request(&m, buf), k;
	char what[64];

	snprintf(what, sizeof(what), "%s after Request octet", way_name[way]);
	for (k = 0; k < len; k++)
		send_part(begin_connected(what, k), buf, k, way);
	return expect_ends(way == SILENCE ? kwraw_env.timer_ms : kwraw_env.prompt_ms);
}

/* Send a whole Request, and stop without waiting for the Reply. */
static unsigned int req_whole(int way)
{
	uint8_t buf[KWRAW_MPA_MAX];
	struct kwraw_mpa m;
	size_t len = good_request(&m, buf);
	int i;

	for (i = 0; i < 20; i++)
		send_part(begin_connected("whole Request and end", i), buf, len, way);
	return expect_ends(kwraw_env.prompt_ms);
}

/* Send a Request octet by octet: the device has to answer, because a slow peer is not an error. */
static unsigned int req_octets(int arg)
{
	uint8_t buf[KWRAW_MPA_MAX];
	struct kwraw_mpa m, reply;
	struct attempt *a = begin_connected("a Request in single octets", 0);
	size_t len = good_request(&m, buf);

	a->c.piece = 1;
	kwraw_send(&a->c, buf, len);
	if (!kwraw_mpa_recv(&a->c, kwraw_rep_key, &reply, kwraw_env.prompt_ms))
		kwraw_fail(a->what, "answered", "no Reply");
	else if (reply.flags & KWRAW_MPA_R)
		kwraw_fail(a->what, "accepted", "rejected");
	kwraw_fin(&a->c);
	return expect_ends(kwraw_env.prompt_ms);
}

/* ------------------------------ the raw peer connects, and stops in the first FPDU */

static bool start_up(struct attempt *a)
{
	uint8_t buf[KWRAW_MPA_MAX];
	struct kwraw_mpa ours, theirs;

	kwraw_send(&a->c, buf, good_request(&ours, buf));
	if (!kwraw_mpa_recv(&a->c, kwraw_rep_key, &theirs, kwraw_env.prompt_ms)) {
		kwraw_fail(a->what, "answered", "no Reply");
		return false;
	}
	kwraw_full_operation(&a->c, &ours, &theirs);
	return true;
}

static size_t first_send(struct kwraw *c, uint8_t *fpdu)
{
	uint8_t ulpdu[KWRAW_UNTAGGED_HDR + 8] = { 0 };
	struct kwraw_seg s;

	kwraw_seg_init(&s, KWRAW_SEND);
	kwraw_seg_encode(&s, ulpdu);
	return kwraw_fpdu_encode(c, ulpdu, sizeof(ulpdu), 0, fpdu);
}

static unsigned int rdma_stop(int way)
{
	static uint8_t fpdu[KWRAW_FPDU_MAX];
	size_t len = KWRAW_UNTAGGED_HDR, k;
	struct attempt *a;

	for (k = 0; k < len; k++) {
		a = begin_connected(way_name[way], k);
		if (start_up(a))
			len = first_send(&a->c, fpdu);
		send_part(a, fpdu, k, way);
	}
	return expect_ends(kwraw_env.prompt_ms);
}

/* ---------------------------------- the raw peer listens, and sends wrong Replies */

/* Accept the next connection of the device, and read and check its Request. */
static struct attempt *begin_accepted(int listener, const char *what, int number)
{
	struct attempt *a = begin(what, number);
	struct kwraw_mpa req;

	if (kwraw_accept(listener, &a->c, kwraw_env.timer_ms))
		kw_die(KW_SETUP, "%s: nobody connects", a->what);
	if (!kwraw_mpa_recv(&a->c, kwraw_req_key, &req, kwraw_env.prompt_ms))
		kwraw_fail(a->what, "a whole MPA Request", "something else");
	else if (req.rev < 1 || req.rev > 2)
		kwraw_fail(a->what, "revision 1 or 2", "another");
	return a;
}

static size_t good_reply(struct kwraw_mpa *m, uint8_t *buf)
{
	kwraw_mpa_init(m, kwraw_rep_key, KWRAW_MPA_C, 1);
	return kwraw_mpa_encode(m, buf);
}

static unsigned int rep_stop(int way)
{
	int listener = kwraw_listen(kwraw_env.addr, kwraw_env.port);
	uint8_t buf[KWRAW_MPA_MAX];
	struct kwraw_mpa m;
	size_t len = good_reply(&m, buf), k;
	char what[64];

	snprintf(what, sizeof(what), "%s after Reply octet", way_name[way]);
	for (k = 0; k < len; k++)
		send_part(begin_accepted(listener, what, k), buf, k, way);
	return expect_ends(way == SILENCE ? kwraw_env.timer_ms : kwraw_env.prompt_ms);
}

static unsigned int rep_wrong(int arg)
{
	int listener = kwraw_listen(kwraw_env.addr, kwraw_env.port);
	uint8_t buf[KWRAW_MPA_MAX];
	struct kwraw_mpa m;
	size_t len;
	int i;

	for (i = 0; i < 16; i++) {
		len = good_reply(&m, buf);
		buf[i] ^= 0x20;
		send_part(begin_accepted(listener, "wrong key octet", i), buf, len, SILENCE);
	}
	good_reply(&m, buf);
	m.pd_len = 513;
	len = kwraw_mpa_encode(&m, buf);
	send_part(begin_accepted(listener, "private data, octets:", 513), buf, len, SILENCE);
	len = good_request(&m, buf);
	send_part(begin_accepted(listener, "a Request for a Reply", 0), buf, len, SILENCE);
	kw_fill(buf, sizeof(buf), 0xbad, 0);
	send_part(begin_accepted(listener, "garbage", 0), buf, sizeof(buf), SILENCE);
	good_reply(&m, buf);
	m.flags |= KWRAW_MPA_R;
	len = kwraw_mpa_encode(&m, buf);
	send_part(begin_accepted(listener, "a rejecting Reply", 0), buf, len, SILENCE);
	return expect_ends(kwraw_env.prompt_ms);
}

const struct kwraw_scenario kwraw_startup_scenarios[] = {
	{ "req-garbage", "20 to 70000 random octets for a Request", req_garbage, 0 },
	{ "req-wrong", "Requests with one wrong field", req_wrong, 0 },
	{ "req-silence", "silence after each octet of a Request", req_stop, SILENCE },
	{ "req-fin", "FIN after each octet of a Request", req_stop, FIN },
	{ "req-rst", "RST after each octet of a Request", req_stop, RST },
	{ "req-whole-fin", "a whole Request and FIN", req_whole, FIN },
	{ "req-whole-rst", "a whole Request and RST", req_whole, RST },
	{ "req-octets", "a good Request in single octets", req_octets, 0 },
	{ "rdma-fin", "FIN after each octet of the first FPDU", rdma_stop, FIN },
	{ "rdma-rst", "RST after each octet of the first FPDU", rdma_stop, RST },
	{ "rep-silence", "silence after each octet of a Reply (20 connections)", rep_stop,
	  SILENCE },
	{ "rep-fin", "FIN after each octet of a Reply (20 connections)", rep_stop, FIN },
	{ "rep-rst", "RST after each octet of a Reply (20 connections)", rep_stop, RST },
	{ "rep-wrong", "Replies with one wrong field (20 connections)", rep_wrong, 0 },
	{ 0 }
};
