// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwdata is a test program: random Writes, Reads and Sends, whose contents both ends check.
 * This file: the checker. The two ends derive the same list of operations ("plan") for each
 * direction, and the checker looks whether each operation of the peer had the right effect here.
 */
#include "kwdata.h"

#include <string.h>

/*
 * A message has arrived. The next operation of the peer's plan that has a message must be of this
 * type. Return: number of the operation.
 */
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

bool kd_post_acks(struct kd_conn *c)
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
	char what[KD_LABEL];
	struct kd_op op;
	uint64_t n = expect(c, KD_WRITE, &op);

	if (n != told)
		kw_die(KW_MISMATCH, "message of operation %llu instead of %llu",
		       (unsigned long long)told, (unsigned long long)n);
	kd_label(c, false, n, &op, what);
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
	char what[KD_LABEL];
	struct kd_op op;
	uint64_t n = expect(c, KD_SEND, &op);

	kd_label(c, false, n, &op, what);
	if (len != op.len)
		kw_die(KW_MISMATCH, "%s: mismatch: %u octets arrived", what, len);
	kd_check_pieces(&r->buf, &r->pieces, len, op.key, 0, what);
	acknowledge(c, n);
}

/* Copy the first @len octets of a received message, which may lie in several pieces. */
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
		kd_acked(c, ctl.n);
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

void kd_received(struct kd_conn *c, unsigned int index, uint32_t len)
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
