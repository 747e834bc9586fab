// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: connections with mutated streams. On each connection one thing is changed: octets of
 * the startup frame; or, in the stream of FPDUs after it, fields of a segment, any octets, the
 * order, or the end (enum rp_change). After any change, the device sends only well-formed FPDUs,
 * the connection ends, each request completes once, and memory that no peer may write is unchanged.
 */
#include "runner/control.h"
#include "runner/start.h"
#include "runner/stream.h"

#include <stdio.h>
#include <string.h>

static struct kw_rng rng;
static struct rp_stream stream = { .rng = &rng };

/* How many: startups that failed, Terminates of the device by layer, resets by the raw peer. */
static struct {
	unsigned int refused, terminated[3], reset;
} outcome;

/* Does the frame announce more octets than it has? Then the device waits for the rest. */
static bool is_short(const uint8_t *frame, size_t len)
{
	size_t pd = frame[18] << 8 | frame[19];

	return len < KWRAW_MPA_HDR + pd;
}

/* Time, in milliseconds, to wait for a reaction to a startup frame. */
static int patience(bool spoiled, const uint8_t *frame, size_t len)
{
	if (!spoiled)
		return rp_soon();
	return is_short(frame, len) ? 0 : rp_soon() / 4;
}

/*
 * Let the consumer accept the connection, and receive the Reply. Return false if the device has
 * refused the connection, or if neither has happened after @wait_ms: the frame may be incomplete.
 */
static bool accepted(struct rp *r, int wait_ms, struct kwraw_mpa *reply)
{
	int64_t until = kw_now_ms() + wait_ms;
	uint8_t octet;

	do {
		if (rp_ctl("accept 5"))
			return kwraw_mpa_recv(&r->c, kwraw_rep_key, reply, rp_soon());
		if (kwraw_ended(&r->c))
			return false;
	} while (kw_now_ms() < until);
	kwraw_fin(&r->c);
	kwraw_recv(&r->c, &octet, 1, rp_soon());
	return false;
}

static bool start(struct rp *r, bool spoiled)
{
	struct kwraw_mpa ours, theirs;
	uint8_t buf[KWRAW_MPA_MAX];
	size_t len;

	kwraw_mpa_init(&ours, kwraw_req_key, rp_where.want_crc ? KWRAW_MPA_C : 0, 1);
	if (kw_one_in(&rng, 2)) {
		ours.rev = 2;
		ours.flags |= KWRAW_MPA_S;
		ours.pd[1] = 4;
		ours.pd[3] = 4;
		ours.pd_len = 4;
	}
	ours.pd_len += kw_one_in(&rng, 2) ? kw_below(&rng, 100) : 0;
	len = kwraw_mpa_encode(&ours, buf);
	if (spoiled)
		rp_scribble(&rng, buf + (kw_one_in(&rng, 4) ? 0 : 16), len - 16);
	kwraw_send(&r->c, buf, len);
	if (!accepted(r, patience(spoiled, buf, len), &theirs))
		return false;
	kwraw_full_operation(&r->c, &ours, &theirs);
	/* The device uses the flags that were sent (octet 16), not those before the change. */
	r->c.rx.markers = buf[16] & KWRAW_MPA_M;
	r->c.crc = (theirs.flags | buf[16]) & KWRAW_MPA_C;
	return true;
}

/* Startup as Responder: the consumer connects, and gets a Reply. */
static bool start_responder(struct rp *r, bool spoiled)
{
	struct kwraw_mpa ours, theirs;
	uint8_t buf[KWRAW_MPA_MAX];
	const char *verdict;
	bool p2p;
	size_t len;

	if (!kwraw_mpa_recv(&r->c, kwraw_req_key, &theirs, rp_soon()))
		return false;
	p2p = theirs.flags & KWRAW_MPA_S && theirs.pd[0] & 0x80;
	kwraw_mpa_init(&ours, kwraw_rep_key, rp_where.want_crc ? KWRAW_MPA_C : 0, theirs.rev);
	if (theirs.flags & KWRAW_MPA_S)
		rp_depths(&ours, 4 | (p2p ? RP_A : 0), 4 | (p2p ? RP_C : 0));
	ours.pd_len += kw_one_in(&rng, 2) ? kw_below(&rng, 100) : 0;
	len = kwraw_mpa_encode(&ours, buf);
	if (spoiled)
		rp_scribble(&rng, buf + (kw_one_in(&rng, 4) ? 0 : 16), len - 16);
	kwraw_send(&r->c, buf, len);
	verdict = rp_ctl("cm %d", patience(spoiled, buf, len));
	if (!verdict) {
		kwraw_fin(&r->c);
		return false;
	}
	kwraw_full_operation(&r->c, &ours, &theirs);
	/* The device uses the flags that were sent (octet 16), not those before the change. */
	r->c.rx.markers = buf[16] & KWRAW_MPA_M;
	r->c.crc = (theirs.flags | buf[16]) & KWRAW_MPA_C;
	return !strncmp(verdict, "ESTABLISHED", 11);
}

static void take_terminate(struct rp *r, const uint8_t *ulpdu, size_t len)
{
	struct kwraw_term t;

	if (!kwraw_term_decode(ulpdu, len, &t) || t.layer >= ARRAY_SIZE(outcome.terminated)) {
		rp_fail(r, "the device's Terminate is malformed");
		return;
	}
	outcome.terminated[t.layer]++;
	if (!r->c.crc && t.layer == 2 && t.code == 2)
		rp_fail(r, "a Terminate about a CRC, which is not in use");
}

/* Read what the device sends, until a Terminate, the end of the connection, or a time limit. */
static void listen_to(struct rp *r)
{
	static uint8_t ulpdu[KWRAW_ULPDU_MAX];
	int64_t until = kw_now_ms() + rp_soon();
	enum kwraw_got got;
	struct kwraw_seg s;
	size_t len;

	do {
		got = kwraw_recv_fpdu(&r->c, ulpdu, &len, until - kw_now_ms());
		if (got == KWRAW_GOT_NOTHING)
			return;
		/* If the device has reset the connection, its last FPDU may be incomplete. */
		if (got == KWRAW_GOT_PART && kwraw_ended(&r->c))
			return;
		if (got != KWRAW_GOT_FPDU || !kwraw_seg_decode(ulpdu, len, &s) ||
		    s.ddp_version != 1 || s.rdmap_version != 1 || s.reserved) {
			rp_fail(r, "the device says %s of %zu octets", kwraw_got_name(got), len);
			return;
		}
		if (s.opcode == KWRAW_TERMINATE) {
			take_terminate(r, ulpdu, len);
			return;
		}
	} while (kw_now_ms() < until);
}

static void finish(struct rp *r)
{
	static const enum kwt_region may_change[] = {
		KWT_RW, KWT_WO, KWT_IOVA, KWT_ONE, KWT_SINK, KWT_WIN,
	};
	char parts[200];
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(may_change); i++)
		n += sprintf(parts + n, " %u %u", kwt_places[may_change[i]].off,
			     kwt_places[may_change[i]].len);
	for (i = 0; i < 4; i++)
		n += sprintf(parts + n, " %zu 512", KWT_RECV_OFF + i * KWT_RECV_STEP);
	rp_ctl("ignore%s", parts);
	if (r->up && kwraw_wait_end(&r->c, rp_soon(), NULL) == KWRAW_OPEN)
		rp_fail(r, "the connection does not end");
	if (r->up)
		kwraw_close(&r->c);
	r->up = false;
	rp_ctl("cm 10");
	if (!rp_ctl("end %d any", rp_soon()))
		rp_fail(r, "the consumer: %s", rp_ctl_no());
	if (!rp_ctl("verify"))
		rp_fail(r, "the consumer's memory: %s", rp_ctl_no());
}

static void talk(struct rp *r, enum rp_change how)
{
	/*
	 * In one connection of three, bind the consumer's window first, but not after a changed
	 * startup frame: nobody knows then which answers to the steps would be right.
	 */
	stream.windowed = how != RP_CHANGE_REQUEST && kw_one_in(&rng, 3);
	if (stream.windowed)
		rp_steps(r, rp_window);
	if (r->failed)
		return;
	rp_stream_make(&stream, r, how);
	kwraw_send(&r->c, stream.octets, stream.len);
	if (kw_one_in(&rng, 8)) {
		kwraw_reset(&r->c);
		r->up = false;
		outcome.reset++;
	} else {
		kwraw_fin(&r->c);
		listen_to(r);
	}
}

static void one_connection(struct rp *r)
{
	enum rp_change how = kw_below(&rng, RP_CHANGES);
	bool spoiled = how == RP_CHANGE_REQUEST, up;

	rp_begin(r);
	if (!rp_tcp(r))
		return;
	r->c.piece = kw_one_in(&rng, 3) ? 1 + kw_below(&rng, 60) : 0;
	up = r->role == RP_INIT ? start(r, spoiled) : start_responder(r, spoiled);
	if (up)
		talk(r, how);
	else if (spoiled)
		outcome.refused++;
	else
		rp_fail(r, "a good startup frame came to nothing");
	finish(r);
}

/* Check that a correct connection still works after all mutated streams. */
static bool still_good(struct rp *r)
{
	if (rp_open(r))
		rp_one_step(r, &(struct rp_step){ RP_SEND, .len = 300 });
	rp_finish(r);
	return !r->failed;
}

static void say_outcome(unsigned int n)
{
	const unsigned int *t = outcome.terminated;
	unsigned int sum = t[0] + t[1] + t[2];

	kw_say("mutate: Terminates of RDMAP %u, DDP %u, MPA %u", t[0], t[1], t[2]);
	kw_say("mutate: %u not begun, %u terminated, %u reset by us, %u closed", outcome.refused,
	       sum, outcome.reset, n - outcome.refused - sum - outcome.reset);
}

int rp_mutate(unsigned int count, uint64_t seed)
{
	static const struct rp_case any = { .name = "mutate", .role = RP_INIT };
	static struct rp_region regions[KWT_REGIONS];
	uint8_t *out = kw_zalloc(4 * KWRAW_FPDU_MAX);
	unsigned int i, failed = 0;
	static struct rp r;

	for (i = 0; i < count && failed < 5; i++) {
		rng.state = kw_mix(seed, i);
		r = (struct rp){ .k = &any, .role = kw_one_in(&rng, 4) ? RP_RESP : RP_INIT,
				 .out = out };
		memcpy(r.region, regions, sizeof(r.region));
		one_connection(&r);
		memcpy(regions, r.region, sizeof(r.region));
		if (r.failed)
			kw_say("  (connection %u of seed %llu)", i, (unsigned long long)seed);
		failed += r.failed;
	}
	say_outcome(i);
	kw_say("mutate: %u connections, %u failed, seed %llu", i, failed,
	       (unsigned long long)seed);
	r = (struct rp){ .k = &any, .role = RP_INIT, .out = out };
	failed += !still_good(&r);
	return failed || !i ? KW_MISMATCH : KW_OK;
}
