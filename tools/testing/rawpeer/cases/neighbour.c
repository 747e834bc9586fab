// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. A peer that uses its socket as none should: urgent data, segments of TCP of one
 * octet, a receive window that never opens, and pages that it gives to TCP by reference and changes
 * while the device reads them.
 *
 * Such connections may end, but the device must still serve other connections.
 */
#define _GNU_SOURCE
#include "runner/control.h"
#include "runner/start.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Reset the connection if it is open, and prepare for the next connection of the case. */
static void any_end(struct rp *r)
{
	if (r->up)
		kwraw_reset(&r->c);
	r->up = false;
	if (r->failed)
		return;
	if (!rp_ctl("end %d any", 5 * rp_soon()))
		rp_fail(r, "the consumer's end: %s", rp_ctl_no());
	r->c.piece = 0;
	rp_renew(r);
	r->out_len = 0;
}

/* Check that after the unusual connection an ordinary one works. */
static void still_good(struct rp *r)
{
	if (!r->failed && rp_open(r))
		rp_one_step(r, &(struct rp_step){ RP_SEND, .len = 300 });
}

/* ---------------------------------------------------------------- urgent data */

static void send_urgent(struct rp *r, size_t len)
{
	if (send(r->c.fd, r->out, len, MSG_OOB | MSG_NOSIGNAL) != (ssize_t)len)
		rp_fail(r, "urgent data is not taken: %s", strerror(errno));
	r->out_len = 0;
}

/* The connection has to end: the device does not get the urgent octet, so the stream has a gap. */
static void expect_lost(struct rp *r)
{
	if (r->failed)
		return;
	rp_expect(r, &(struct rp_step){ RP_EVENT, .event = IBV_EVENT_QP_FATAL });
	rp_ended(r, RP_ANY_END);
}

/* Send a part of an FPDU as urgent data: the urgent octet is in the middle of the FPDU. */
static void urgent_part(struct rp *r)
{
	static const struct rp_step send_one = {
		RP_SEG, .op = KWRAW_SEND, .len = 100, .hold = true, .loose = true,
	};

	if (!rp_open(r))
		return;
	rp_seg(r, &send_one);
	send_urgent(r, 20);
	expect_lost(r);
}

/* Send a whole FPDU as urgent data: the urgent octet is the last one of the FPDU. */
static void urgent_last(struct rp *r)
{
	static const struct rp_step send_one = {
		RP_SEG, .op = KWRAW_SEND, .len = 100, .hold = true, .maybe = true,
	};

	if (!rp_open(r))
		return;
	rp_seg(r, &send_one);
	send_urgent(r, r->out_len);
	expect_lost(r);
}

/* Send one urgent octet after a message that has been delivered. */
static void urgent_behind(struct rp *r)
{
	if (!rp_open(r))
		return;
	rp_one_step(r, &(struct rp_step){ RP_SEND, .len = 16 });
	r->out[0] = 0;
	if (!r->failed)
		send_urgent(r, 1);
	expect_lost(r);
}

/* ----------------------------------------------------------------- tiny segments */

/* Send all octets one by one, each in a segment of TCP. */
static void octets(struct rp *r)
{
	r->c.piece = 1;
	if (rp_open(r))
		rp_steps(r, r->k->steps);
}

/* Send FPDUs that are much larger than a segment of TCP: the MSS is 100 octets. */
static void small_mss(struct rp *r)
{
	bool up;

	kwraw_mss = 100;
	up = rp_open(r);
	kwraw_mss = 0;
	if (up)
		rp_steps(r, r->k->steps);
}

/* -------------------------------------------------------------------- zero window */

#define STUCK_POSTS	24

/* Let the consumer post more Writes than TCP takes while the raw peer reads nothing. */
static bool stuck(struct rp *r)
{
	static const struct rp_step first = { RP_SEG, .op = KWRAW_WRITE };
	static const struct rp_step post = {
		RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 9000,
	};
	int i;

	if (!rp_open_narrow(r, 2048))
		return false;
	rp_seg(r, &first);
	for (i = 0; i < STUCK_POSTS; i++)
		rp_one_step(r, &post);
	return !r->failed;
}

/* Fail if more than @limit ms, times the run's factor for time limits, have passed since @since. */
static void within(struct rp *r, int64_t since, int64_t limit, const char *what)
{
	int64_t took = kw_now_ms() - since;

	if (took > limit * rp_where.slow)
		rp_fail(r, "%s takes %lld ms after the window closed", what, (long long)took);
}

static void stuck_destroy(struct rp *r)
{
	int64_t since;

	if (!stuck(r))
		return;
	since = kw_now_ms();
	rp_ctl("destroy");
	within(r, since, 2000, "destroying the queue pair");
	any_end(r);
	still_good(r);
}

/*
 * Disconnect while posted requests cannot be sent. The device's drain timer, which limits the time
 * for requests that were posted before a disconnect, ends the connection.
 */
static void stuck_disconnect(struct rp *r)
{
	int64_t since;
	const char *got;

	if (!stuck(r))
		return;
	since = kw_now_ms();
	rp_ctl("disconnect");
	within(r, since, 2000, "asking for the end");
	got = rp_ctl("cm %d", 20000 * rp_where.slow);
	if (!got || strncmp(got, "DISCONNECTED", 12))
		rp_fail(r, "the consumer has event '%s', must have DISCONNECTED",
			got ? got : "none");
	any_end(r);
	still_good(r);
}

/* ------------------------------------------------------- pages that change meanwhile */

#define PAGES_LEN	(16 * 4096)
#define CHANGE_MS	1500

/**
 * struct changer - a thread that changes pages while they are being sent
 * @page: the pages
 * @heads: offsets at which FPDUs begin; @n: their number
 * @stop: set by the main thread: the thread has to end
 */
struct changer {
	uint8_t *page;
	uint32_t heads[256];
	unsigned int n;
	volatile bool stop;
};

/*
 * Thread that changes octets of FPDUs which decide what the device does: length, control octets,
 * tagged offset, and (at -1) the CRC of the FPDU before.
 */
static void *change(void *arg)
{
	static const int where[] = { 2, 0, 1, 2, 3, 14, 15, -1, 2 };
	struct changer *ch = arg;
	unsigned int i = 0;

	while (!ch->stop) {
		volatile uint8_t *p = ch->page + ch->heads[i / 7 % ch->n];
		int at = where[i % ARRAY_SIZE(where)];

		if (at >= 0 || i / 7 % ch->n)
			p[at] ^= at == 2 ? 0x80 : 1 << i / 9 % 8;
		i++;
	}
	return NULL;
}

/* Fill the pages with FPDUs of Writes into region KWT_RW. Return the number of octets. */
static size_t fill_pages(struct rp *r, struct changer *ch)
{
	struct rp_step s = { RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .hold = true };
	size_t len;

	r->out_len = 0;
	for (ch->n = 0; ch->n < ARRAY_SIZE(ch->heads); ch->n++) {
		s.len = 1 + kw_below(&r->rng, kw_one_in(&r->rng, 8) ? 9000 : 300);
		s.off = kw_below(&r->rng, 1000);
		if (r->out_len + s.len + 64 > PAGES_LEN)
			break;
		ch->heads[ch->n] = r->out_len;
		rp_seg(r, &s);
	}
	len = r->out_len;
	memcpy(ch->page, r->out, len);
	r->out_len = 0;
	return len;
}

/*
 * Send octets by reference, with splice() through a pipe, as many at once as the pipe takes. False
 * if the connection has ended.
 */
static bool splice_out(struct rp *r, int pipe_fd[2], uint8_t *at, size_t len)
{
	while (len) {
		struct iovec v = { .iov_base = at, .iov_len = len };
		ssize_t n = vmsplice(pipe_fd[1], &v, 1, SPLICE_F_NONBLOCK), out, done;

		if (n <= 0)
			return false;
		for (done = 0; done < n; done += out) {
			out = splice(pipe_fd[0], NULL, r->c.fd, NULL, n - done, SPLICE_F_MORE);
			if (out <= 0)
				return false;
		}
		at += n;
		len -= n;
	}
	return true;
}

/*
 * Send by MSG_ZEROCOPY. The notifications that pages may be changed again are not read, because the
 * pages are changed at any time. False if the connection has ended.
 */
static bool zerocopy_out(struct rp *r, const uint8_t *at, size_t len)
{
	ssize_t n;

	for (; len; at += n, len -= n) {
		n = send(r->c.fd, at, len, MSG_ZEROCOPY | MSG_NOSIGNAL);
		if (n < 0 && errno == ENOBUFS)
			n = send(r->c.fd, at, len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
	}
	return true;
}

static void one_changing(struct rp *r, struct changer *ch, bool zerocopy)
{
	struct timeval limit = { .tv_sec = 1 };
	int pipe_fd[2], one = 1, i;
	pthread_t thread;
	size_t len;

	if (!rp_open(r) || pipe(pipe_fd))
		return;
	rp_ctl("ignore %u %u", kwt_places[KWT_RW].off, kwt_places[KWT_RW].len);
	setsockopt(r->c.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (zerocopy)
		setsockopt(r->c.fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one));
	len = fill_pages(r, ch);
	ch->stop = false;
	if (pthread_create(&thread, NULL, change, ch))
		kw_die(KW_SETUP, "no thread");
	for (i = 0; i < 64; i++)
		if (!(zerocopy ? zerocopy_out(r, ch->page, len) :
				 splice_out(r, pipe_fd, ch->page, len)))
			break;
	ch->stop = true;
	pthread_join(thread, NULL);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

static void changing(struct rp *r, bool zerocopy)
{
	int64_t until = kw_now_ms() + CHANGE_MS;
	struct changer *ch = kw_zalloc(sizeof(*ch));
	unsigned int n = 0;

	ch->page = mmap(NULL, PAGES_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	if (ch->page == MAP_FAILED)
		kw_die(KW_SETUP, "no pages");
	do {
		one_changing(r, ch, zerocopy);
		any_end(r);
		n++;
	} while (!r->failed && kw_now_ms() < until);
	kw_debug("%u streams", n);
	munmap(ch->page, PAGES_LEN);
	free(ch);
	still_good(r);
}

static void changing_spliced(struct rp *r)
{
	changing(r, false);
}

static void changing_zerocopy(struct rp *r)
{
	changing(r, true);
}

/* ------------------------------------------------------------------------- table */

const struct rp_case rp_cases_neighbour[] = {
	{
		.name = "urgent-part", .ids = "5044-8-3",
		.plain = true, .run = urgent_part,
	},
	{
		.name = "urgent-last", .ids = "5044-8-3",
		.plain = true, .run = urgent_last,
	},
	{
		.name = "urgent-behind", .ids = "5044-8-3",
		.plain = true, .run = urgent_behind,
	},
	{
		.name = "octets", .ids = "5044-6-6 5044-1.2-4",
		.plain = true, .run = octets,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 1500, .hit = true },
			{ RP_SEND, .len = 300 },
		},
	},
	{
		.name = "small-mss", .ids = "5044-6-6 5044-1.2-4",
		.role = RP_INIT, .plain = true, .run = small_mss,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 19000, .hit = true,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 20000, .hit = true,
			  .hold = true },
			{ RP_SEND, .len = 300 },
		},
	},
	{
		.name = "stuck-destroy", .ids = "5041-2.3-2",
		.role = RP_INIT, .plain = true, .run = stuck_destroy,
	},
	{
		.name = "stuck-disconnect", .ids = "5041-6.2.1-2",
		.role = RP_INIT, .plain = true, .run = stuck_disconnect,
	},
	{
		.name = "changing-spliced", .ids = "5044-9.1-1",
		.plain = true, .run = changing_spliced,
	},
	{
		.name = "changing-zerocopy", .ids = "5044-9.1-1",
		.plain = true, .run = changing_zerocopy,
	},
	{ .name = NULL }
};
