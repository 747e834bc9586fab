// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwdata is a test program: random Writes, Reads and Sends, whose contents both ends check.
 * This file: one thread per connection, which polls one completion queue and runs the issuer (posts
 * operations) and the checker (checks those of the peer). A bye says that an end posts no more.
 */
#include "kwdata.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define POLL_BATCH	16
#define YIELD_EVERY	64	/* idle polls between two calls of sched_yield() */
#define LOOK_EVERY	4096	/* idle polls between two looks for connection events */
#define EVENT_WAIT_MS	200
#define SPARE_START_US	300000	/* until siw is in full operation */

volatile bool kd_stop;

/*
 * True if both ends have said bye, and no acknowledgment waits to be posted: the send queue can
 * have only acknowledgments and the bye.
 */
static bool agreed(const struct kd_conn *c)
{
	return c->peer_bye && c->bye_posted && !c->acks.count;
}

static bool finished(const struct kd_conn *c)
{
	return agreed(c) && c->sq.head == c->sq.tail;
}

static void completion(struct kd_conn *c, const struct ibv_wc *wc)
{
	/*
	 * Flushed requests are expected at the end: receives that were not used, or the bye, if
	 * the peer has received it and disconnected before its completion came.
	 */
	if (wc->status == IBV_WC_WR_FLUSH_ERR && agreed(c))
		c->sq.head = c->sq.tail;
	else if (wc->status != IBV_WC_SUCCESS)
		kd_lost(c, "a request completed with '%s' (vendor error 0x%x)",
			ibv_wc_status_str(wc->status), wc->vendor_err);
	else if (wc->opcode & IBV_WC_RECV)
		kd_received(c, wc->wr_id, wc->byte_len);
	/* The bye may complete after a flushed receive: there is no order between them. */
	else if (!finished(c))
		kd_sent(c, wc->wr_id);
}

static bool poll_queue(struct kd_conn *c)
{
	struct ibv_wc wc[POLL_BATCH];
	int i, n = ibv_poll_cq(c->cq, POLL_BATCH, wc);

	if (n < 0)
		kw_die(KW_MISMATCH, "polling the completion queue failed: %d", n);
	for (i = 0; i < n && !c->lost; i++)
		completion(c, &wc[i]);
	return n > 0;
}

static bool say_bye(struct kd_conn *c)
{
	if (c->bye_posted || !c->remote_known || kd_issuing(c) || c->done < c->next ||
	    !kd_sq_room(c))
		return false;
	/*
	 * An end without operations sends its bye second, because a bye ends the peer's work if
	 * the number of operations is unlimited.
	 */
	if (!c->count && !c->peer_bye)
		return false;
	kd_post_ctl(c, KD_CTL_BYE, c->done);
	c->bye_posted = true;
	return true;
}

static void look_at_cm(struct kd_conn *c)
{
	struct kwcm_event ev;

	if (kwcm_next(c->id->channel, 0, &ev))
		return;
	c->disconnected = ev.type == RDMA_CM_EVENT_DISCONNECTED;
	/* Messages that arrived before the end of the connection count. */
	while (!c->lost && poll_queue(c))
		;
	if (!finished(c))
		kd_lost(c, "event %s (status %d)", rdma_event_str(ev.type), ev.status);
}

static void stalled(const struct kd_conn *c)
{
	const struct kd_slot *s;
	char what[KD_LABEL];

	for (s = c->slots; s < c->slots + c->cfg.window; s++)
		if (s->wait)
			kw_say("%s waits for %u events", kd_label(c, true, s->n, &s->op, what),
			       s->wait);
	kw_die(KW_STALL,
	       "connection %u: no progress for %d ms; %llu of %llu issued operations done, %llu checked, requests %llu to %llu not completed",
	       c->cfg.index, c->stall_ms, (unsigned long long)c->done, (unsigned long long)c->next,
	       (unsigned long long)c->checked, (unsigned long long)c->sq.head,
	       (unsigned long long)c->sq.tail - 1);
}

static void look_around(struct kd_conn *c)
{
	look_at_cm(c);
	if (kw_now_ms() - c->last_progress > c->stall_ms)
		stalled(c);
}

static void sleep_until_event(struct kd_conn *c)
{
	struct pollfd fds[] = { { .fd = c->channel->fd, .events = POLLIN },
				{ .fd = c->id->channel->fd, .events = POLLIN } };
	struct ibv_cq *cq;
	void *ctx;

	if (ibv_req_notify_cq(c->cq, 0))
		kw_die(KW_MISMATCH, "cannot ask for a completion event: %s", strerror(errno));
	/* Completions that came before the request for an event raise no event, so poll again. */
	if (poll_queue(c))
		return;
	if (poll(fds, 2, EVENT_WAIT_MS) > 0 && (fds[0].revents & POLLIN)) {
		if (ibv_get_cq_event(c->channel, &cq, &ctx))
			kw_die(KW_MISMATCH, "cannot get the completion event: %s", strerror(errno));
		ibv_ack_cq_events(cq, 1);
	} else {
		look_around(c);
	}
}

static void idle(struct kd_conn *c, unsigned int rounds)
{
	if (c->channel)
		sleep_until_event(c);
	else if (rounds % LOOK_EVERY == 0)
		look_around(c);
	else if (rounds % YIELD_EVERY == 0)
		sched_yield();
}

static bool step(struct kd_conn *c)
{
	bool progress = poll_queue(c);

	while (kd_issue(c))
		progress = true;
	progress |= kd_post_acks(c);
	progress |= say_bye(c);
	return progress;
}

static void check_rest(struct kd_conn *c)
{
	struct kd_pieces all;
	unsigned int i;

	kd_one_piece(0, c->peer_plan.span, &all);
	for (i = 0; i < c->cfg.window; i++) {
		kd_check_guard(&c->slots[i].arena, "at the end, a local buffer");
		kd_check_guard(&c->windows[i].target, "at the end, a target window");
		kd_check_pieces(&c->windows[i].source, &all, c->peer_plan.span,
				kd_source_key(&c->peer_plan, i, c->windows[i].source_gen), 0,
				"at the end, a source window");
	}
	for (i = 0; i < c->recv_depth; i++)
		kd_check_guard(&c->recvs[i].buf, "at the end, a receive buffer");
}

enum kw_exit kd_run(struct kd_conn *c)
{
	unsigned int rounds = 0;

	c->last_progress = kw_now_ms();
	/* siw may lose a message that arrives before siw is in full operation, so wait. */
	if (c->cfg.flags & KD_SPARE)
		usleep(SPARE_START_US);
	if (c->client)
		kd_post_hello(c);
	while (!c->lost && !finished(c)) {
		if (step(c)) {
			c->last_progress = kw_now_ms();
			rounds = 0;
		} else {
			idle(c, ++rounds);
		}
	}
	if (c->lost)
		return KW_LOST;
	check_rest(c);
	return KW_OK;
}
