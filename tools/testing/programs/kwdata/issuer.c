// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwdata is a test program: random Writes, Reads and Sends, whose contents both ends check.
 * This file: the issuer, which posts the operations of this end's plan, a list of operations that
 * both ends know.
 */
#include "kwdata.h"

#include <string.h>

bool kd_issuing(const struct kd_conn *c)
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
	/* Some devices use an old length for a Read without elements: add one of no octets. */
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

bool kd_issue(struct kd_conn *c)
{
	unsigned int slot = c->next % c->cfg.window;
	struct kd_slot *s = &c->slots[slot];
	struct kd_posted what[2] = { { .slot = slot, .restore = true }, { .slot = slot } };
	struct ibv_sge sge[KD_MAX_SGE + 1];
	struct ibv_send_wr wr[2];
	int n;

	if (!c->remote_known || c->lost || !kd_issuing(c) || s->wait || kd_sq_room(c) < 2)
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
	char what[KD_LABEL];

	if (--s->wait)
		return;
	if (c->quirks)
		kd_restore(&s->arena, &s->pieces, UINT32_MAX,
			   kd_label(c, true, s->n, &s->op, what));
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

void kd_sent(struct kd_conn *c, uint64_t last)
{
	const struct kd_posted *p;
	struct kd_slot *s;
	char what[KD_LABEL];

	if (last < c->sq.head || last >= c->sq.tail)
		kw_die(KW_MISMATCH, "completion of request %llu, but %llu to %llu are outstanding",
		       (unsigned long long)last, (unsigned long long)c->sq.head,
		       (unsigned long long)c->sq.tail - 1);
	for (; c->sq.head <= last; c->sq.head++) {
		p = &c->sq.ring[c->sq.head % c->sq.depth];
		if (p->slot < 0)
			continue;
		s = &c->slots[p->slot];
		kd_label(c, true, s->n, &s->op, what);
		if (p->restore && s->op.type == KD_READ)
			check_sink(c, s, what);
		/*
		 * Overwrite the source or sink at once. If the device still reads a source, the
		 * peer gets wrong octets and finds them.
		 */
		if (p->restore && !c->quirks)
			kd_restore(&s->arena, &s->pieces, UINT32_MAX, what);
		one_less(c, s);
	}
}

void kd_acked(struct kd_conn *c, uint64_t n)
{
	struct kd_slot *s = &c->slots[n % c->cfg.window];

	if (!s->wait || s->n != n)
		kw_die(KW_MISMATCH, "acknowledgment of operation %llu, which is not outstanding",
		       (unsigned long long)n);
	one_less(c, s);
}
