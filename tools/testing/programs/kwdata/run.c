// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwdata: the issuer, which works through our plan, and the checker, which follows
 * the peer's. One thread per connection runs both from one completion queue.
 */
#include "kwdata.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define POLL_BATCH	16
#define YIELD_EVERY	64	/* idle polls */
#define LOOK_EVERY	4096	/* idle polls between two looks at the other channels */
#define EVENT_WAIT_MS	200
#define SPARE_START_US	300000

#define LABEL		128

volatile bool kd_stop;

static const char *label(const struct kd_conn *c, bool ours, uint64_t n, const struct kd_op *op,
			 char *buf)
{
	snprintf(buf, LABEL, "connection %u, operation %llu of the %s (%s of %u octets%s)",
		 c->cfg.index, (unsigned long long)n, ours == c->client ? "client" : "server",
		 kd_type_name[op->type], op->len, ours ? ", here the issuer" : "");
	return buf;
}

/* ---------------------------------------------------------------- issuer */

static bool issuing(const struct kd_conn *c)
{
	bool forever = c->cfg.count == UINT64_MAX;

	return c->next < c->count && !(forever && (kd_stop || c->peer_bye));
}

static bool spoils(struct kd_conn *c, enum kd_spoil kind, const struct kd_op *op)
{
	if (c->spoil != kind || !op->len || c->done < 10)
		return false;
	if (kind == KD_SPOIL_GUARD && op->roff + op->len >= c->plan.span)
		return false;
	c->spoil = KD_SPOIL_NONE;
	return true;
}

static void flip_octet(struct kd_conn *c, struct kd_slot *s)
{
	uint32_t i = kw_below(&c->rng, s->pieces.n);

	s->arena.mem[s->pieces.at[i].off + kw_below(&c->rng, s->pieces.at[i].len)] ^= 0x10;
}

static void fill_source(struct kd_conn *c, struct kd_slot *s)
{
	enum kd_spoil octet = s->op.type == KD_WRITE ? KD_SPOIL_WRITE : KD_SPOIL_SEND;

	kd_scatter(&s->arena, s->op.len, c->send_sge, &c->rng, &s->pieces);
	kd_fill_pieces(&s->arena, &s->pieces, s->op.key, 0);
	if (spoils(c, octet, &s->op))
		flip_octet(c, s);
	if (s->op.type == KD_WRITE && spoils(c, KD_SPOIL_GUARD, &s->op))
		s->pieces.at[s->pieces.n - 1].len++;
}

static void data_wr(struct kd_conn *c, struct kd_slot *s, struct ibv_send_wr *wr,
		    struct ibv_sge *sge)
{
	memset(wr, 0, sizeof(*wr));
	wr->sg_list = sge;
	wr->num_sge = kd_sges(&s->arena, &s->pieces, sge);
	if (s->op.type != KD_READ && s->op.len <= c->sq.max_inline && kw_one_in(&c->rng, 2))
		wr->send_flags |= IBV_SEND_INLINE;
	if (kw_one_in(&c->rng, 16))
		wr->send_flags |= IBV_SEND_FENCE;
}

static int build_write(struct kd_conn *c, struct kd_slot *s, unsigned int slot,
		       struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	fill_source(c, s);
	data_wr(c, s, &wr[0], sge);
	wr[0].opcode = IBV_WR_RDMA_WRITE;
	wr[0].wr.rdma.remote_addr = c->remote[slot].target + s->op.roff;
	wr[0].wr.rdma.rkey = c->remote[slot].target_key;
	if (kw_one_in(&c->rng, 2))
		wr[0].send_flags |= IBV_SEND_SIGNALED;
	kd_ctl_wr(c, 1, KD_CTL_WRITTEN, s->n, &wr[1], &sge[KD_MAX_SGE]);
	wr[1].send_flags |= IBV_SEND_SIGNALED;
	s->wait = 3;
	return 2;
}

static int build_send(struct kd_conn *c, struct kd_slot *s, struct ibv_send_wr *wr,
		      struct ibv_sge *sge)
{
	fill_source(c, s);
	data_wr(c, s, &wr[0], sge);
	wr[0].opcode = IBV_WR_SEND;
	wr[0].send_flags |= IBV_SEND_SIGNALED;
	s->wait = 2;
	return 1;
}

static int build_read(struct kd_conn *c, struct kd_slot *s, unsigned int slot,
		      struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	kd_scatter(&s->arena, s->op.len, c->read_sge, &c->rng, &s->pieces);
	/* Some devices take the length of a Read without elements from old data. */
	if (c->quirks && !s->pieces.n)
		kd_one_piece(0, 0, &s->pieces);
	data_wr(c, s, &wr[0], sge);
	wr[0].opcode = IBV_WR_RDMA_READ;
	wr[0].wr.rdma.remote_addr = c->remote[slot].source + s->op.roff;
	wr[0].wr.rdma.rkey = c->remote[slot].source_key;
	wr[0].send_flags |= IBV_SEND_SIGNALED;
	s->wait = 1;
	if (!s->op.refill)
		return 1;
	kd_ctl_wr(c, 1, KD_CTL_READ, s->n, &wr[1], &sge[KD_MAX_SGE]);
	wr[1].send_flags |= IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	s->wait += 2;
	return 2;
}

/* Post the next operation if its slot is free and there is room: true if it was. */
static bool issue(struct kd_conn *c)
{
	unsigned int slot = c->next % c->cfg.window;
	struct kd_slot *s = &c->slots[slot];
	struct kd_posted what[2] = { { .slot = slot, .restore = true }, { .slot = slot } };
	struct ibv_sge sge[KD_MAX_SGE + 1];
	struct ibv_send_wr wr[2];
	int n;

	if (!c->remote_known || c->lost || !issuing(c) || s->wait || kd_sq_room(c) < 2)
		return false;
	s->n = c->next++;
	kd_plan_op(&c->plan, s->n, &s->op);
	if (s->op.type == KD_WRITE)
		n = build_write(c, s, slot, wr, sge);
	else if (s->op.type == KD_READ)
		n = build_read(c, s, slot, wr, sge);
	else
		n = build_send(c, s, wr, sge);
	kd_post(c, wr, what, n);
	return true;
}

static void one_less(struct kd_conn *c, struct kd_slot *s)
{
	char what[LABEL];

	if (--s->wait)
		return;
	if (c->quirks)
		kd_restore(&s->arena, &s->pieces, UINT32_MAX, label(c, true, s->n, &s->op, what));
	if (s->op.refill)
		s->source_gen++;
	c->done++;
	c->ops[s->op.type]++;
	c->octets += s->op.len;
}

static void check_sink(struct kd_conn *c, struct kd_slot *s, const char *what)
{
	unsigned int slot = s - c->slots;

	if (spoils(c, KD_SPOIL_READ, &s->op))
		flip_octet(c, s);
	kd_check_pieces(&s->arena, &s->pieces, s->op.len,
			kd_source_key(&c->plan, slot, s->source_gen), s->op.roff, what);
}

/* A completion covers all requests before it. */
static void sent(struct kd_conn *c, uint64_t last)
{
	const struct kd_posted *p;
	struct kd_slot *s;
	char what[LABEL];

	if (last < c->sq.head || last >= c->sq.tail)
		kw_die(KW_MISMATCH, "completion of request %llu, but %llu to %llu are outstanding",
		       (unsigned long long)last, (unsigned long long)c->sq.head,
		       (unsigned long long)c->sq.tail - 1);
	for (; c->sq.head <= last; c->sq.head++) {
		p = &c->sq.ring[c->sq.head % c->sq.depth];
		if (p->slot < 0)
			continue;
		s = &c->slots[p->slot];
		label(c, true, s->n, &s->op, what);
		if (p->restore && s->op.type == KD_READ)
			check_sink(c, s, what);
		/* Immediately: a device that still reads the source then sends wrong octets. */
		if (p->restore && !c->quirks)
			kd_restore(&s->arena, &s->pieces, UINT32_MAX, what);
		one_less(c, s);
	}
}

static void acked(struct kd_conn *c, uint64_t n)
{
	struct kd_slot *s = &c->slots[n % c->cfg.window];

	if (!s->wait || s->n != n)
		kw_die(KW_MISMATCH, "acknowledgment of operation %llu, which is not outstanding",
		       (unsigned long long)n);
	one_less(c, s);
}

/* --------------------------------------------------------------- checker */

/* The next operation of the peer that has a message must be of this type. */
static uint64_t expect(struct kd_conn *c, enum kd_type type, struct kd_op *op)
{
	do
		kd_plan_op(&c->peer_plan, c->peer_next++, op);
	while (!kd_op_has_message(op));
	if (op->type != type)
		kw_die(KW_MISMATCH, "a message of a %s where the plan has a %s", kd_type_name[type],
		       kd_type_name[op->type]);
	return c->peer_next - 1;
}

static void acknowledge(struct kd_conn *c, uint64_t n)
{
	if (c->acks.count == c->cfg.window)
		kw_die(KW_MISMATCH, "the peer has more than %u operations outstanding",
		       c->cfg.window);
	c->acks.n[c->acks.count++] = n;
	c->checked++;
}

static bool post_acks(struct kd_conn *c)
{
	unsigned int i;

	for (i = 0; i < c->acks.count && kd_sq_room(c); i++)
		kd_post_ctl(c, KD_CTL_ACK, c->acks.n[i]);
	c->acks.count -= i;
	memmove(c->acks.n, c->acks.n + i, c->acks.count * sizeof(c->acks.n[0]));
	return i;
}

static void check_written(struct kd_conn *c, uint64_t told)
{
	struct kd_pieces window;
	struct kd_region *r;
	char what[LABEL];
	struct kd_op op;
	uint64_t n = expect(c, KD_WRITE, &op);

	if (n != told)
		kw_die(KW_MISMATCH, "message of operation %llu instead of %llu",
		       (unsigned long long)told, (unsigned long long)n);
	label(c, false, n, &op, what);
	r = &c->windows[n % c->cfg.window].target;
	kd_one_piece(op.roff, op.len, &window);
	kd_check_pieces(r, &window, op.len, op.key, 0, what);
	kd_restore(r, &window, op.len, what);
	acknowledge(c, n);
}

static void rewrite_source(struct kd_conn *c, uint64_t told)
{
	struct kd_window *w;
	struct kd_pieces all;
	struct kd_op op;
	uint64_t n = expect(c, KD_READ, &op), key;

	if (n != told)
		kw_die(KW_MISMATCH, "message of operation %llu instead of %llu",
		       (unsigned long long)told, (unsigned long long)n);
	w = &c->windows[n % c->cfg.window];
	kd_one_piece(0, c->peer_plan.span, &all);
	key = kd_source_key(&c->peer_plan, n % c->cfg.window, ++w->source_gen);
	kd_fill_pieces(&w->source, &all, key, 0);
	acknowledge(c, n);
}

static void check_received(struct kd_conn *c, struct kd_recv *r, uint32_t len)
{
	char what[LABEL];
	struct kd_op op;
	uint64_t n = expect(c, KD_SEND, &op);

	label(c, false, n, &op, what);
	if (len != op.len)
		kw_die(KW_MISMATCH, "%s: mismatch: %u octets arrived", what, len);
	kd_check_pieces(&r->buf, &r->pieces, len, op.key, 0, what);
	acknowledge(c, n);
}

/* The first octets of a received message, which may lie in several pieces. */
static void gather(const struct kd_recv *r, void *to, size_t len)
{
	size_t take, done = 0;
	int i;

	for (i = 0; i < r->pieces.n && done < len; i++, done += take) {
		take = r->pieces.at[i].len < len - done ? r->pieces.at[i].len : len - done;
		memcpy((uint8_t *)to + done, r->buf.mem + r->pieces.at[i].off, take);
	}
}

static void take_ctl(struct kd_conn *c, const struct kd_recv *r)
{
	struct kd_ctl ctl;

	gather(r, &ctl, sizeof(ctl));
	if (ctl.magic != KD_MAGIC ||
	    kw_check((uint8_t *)ctl.fill, sizeof(ctl.fill), kw_mix(ctl.n, ctl.kind), 0) !=
	    sizeof(ctl.fill))
		kw_die(KW_MISMATCH, "mismatch: a control message arrived damaged");
	if (ctl.kind == KD_CTL_WRITTEN)
		check_written(c, ctl.n);
	else if (ctl.kind == KD_CTL_READ)
		rewrite_source(c, ctl.n);
	else if (ctl.kind == KD_CTL_ACK)
		acked(c, ctl.n);
	else
		c->peer_bye = true;
}

static void take_hello(struct kd_conn *c, const struct kd_recv *r, uint32_t len)
{
	if (len != c->cfg.window * sizeof(c->remote[0]))
		kw_die(KW_MISMATCH, "mismatch: the first message has %u octets", len);
	gather(r, c->remote, len);
	c->remote_known = true;
	/* An iWARP responder must not send before it has received. */
	if (!c->client)
		kd_post_hello(c);
}

static void received(struct kd_conn *c, unsigned int index, uint32_t len)
{
	struct kd_recv *r = &c->recvs[index];

	if (!c->remote_known)
		take_hello(c, r, len);
	else if (len == sizeof(struct kd_ctl))
		take_ctl(c, r);
	else
		check_received(c, r, len);
	kd_restore(&r->buf, &r->pieces, len, "a receive buffer");
	kd_post_recv(c, index);
}

/* ------------------------------------------------------------------ loop */

/* True if only acknowledgements and the bye can still be in the send queue. */
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
	 * The peer has got the bye and closed before its completion came, or these are unused
	 * receives.
	 */
	if (wc->status == IBV_WC_WR_FLUSH_ERR && agreed(c))
		c->sq.head = c->sq.tail;
	else if (wc->status != IBV_WC_SUCCESS)
		kd_lost(c, "a request completed with '%s' (vendor error 0x%x)",
			ibv_wc_status_str(wc->status), wc->vendor_err);
	else if (wc->opcode & IBV_WC_RECV)
		received(c, wc->wr_id, wc->byte_len);
	else
		sent(c, wc->wr_id);
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
	if (c->bye_posted || !c->remote_known || issuing(c) || c->done < c->next || !kd_sq_room(c))
		return false;
	/*
	 * An end that issues nothing sends its bye second, because the bye would end the peer's
	 * work.
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
	char what[LABEL];

	for (s = c->slots; s < c->slots + c->cfg.window; s++)
		if (s->wait)
			kw_say("%s waits for %u events", label(c, true, s->n, &s->op, what),
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

	while (issue(c))
		progress = true;
	progress |= post_acks(c);
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
	/* siw may lose a message that arrives before siw is in full operation. */
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
