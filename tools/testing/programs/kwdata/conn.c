// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwdata is a test program: random Writes, Reads and Sends, whose contents both ends check.
 * This file: verbs resources of a connection, posting, connecting and ending. The first message of
 * an end is its hello (addresses of its memory), the last one its bye.
 */
#include "conn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CM_MS		20000	/* a connect or disconnect must not take longer, but see -T */
#define MIN_RECV	4096U	/* octets, so that a hello fits in any receive */
#define SIGNAL_EVERY	4	/* after depth / 4 unsignaled requests one is signaled */
#define CTL_ACCESS	IBV_ACCESS_LOCAL_WRITE

void kd_lost(struct kd_conn *c, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	if (c->lost)
		return;
	c->lost = true;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	kw_say("connection %u lost after %llu operations: %s", c->cfg.index,
	       (unsigned long long)c->done, line);
}

const char *kd_label(const struct kd_conn *c, bool ours, uint64_t n, const struct kd_op *op,
		     char *buf)
{
	snprintf(buf, KD_LABEL, "connection %u, operation %llu of the %s (%s of %u octets%s)",
		 c->cfg.index, (unsigned long long)n, ours == c->client ? "client" : "server",
		 kd_type_name[op->type], op->len, ours ? ", here the issuer" : "");
	return buf;
}

/* ---------------------------------------------------------------- set-up */

static int min_int(int a, int b)
{
	return a < b ? a : b;
}

static void query_limits(struct kd_conn *c)
{
	struct ibv_device_attr attr;
	int want = min_int(c->cfg.max_sge, KD_MAX_SGE);

	if (ibv_query_device(c->id->verbs, &attr))
		kw_die(KW_SETUP, "cannot query the device: %s", strerror(errno));
	c->send_sge = min_int(want, attr.max_sge);
	c->recv_sge = c->send_sge;
	c->read_sge = min_int(want, attr.max_sge_rd ? attr.max_sge_rd : 1);
	c->cfg.depth = min_int(c->cfg.depth, attr.max_qp_init_rd_atom);
}

static void create_queues(struct kd_conn *c, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };

	/*
	 * Room for two requests per outstanding operation of this end, an acknowledgment per
	 * operation of the peer, hello and bye; and for unsignaled requests, at most a quarter,
	 * which are complete but not known to be.
	 */
	c->sq.depth = 4 * c->cfg.window + 4;
	/* Room for a message and an acknowledgment per outstanding operation, hello and bye. */
	c->recv_depth = 2 * c->cfg.window + 2;
	if (c->cfg.flags & KD_EVENT)
		c->channel = ibv_create_comp_channel(c->id->verbs);
	c->cq = ibv_create_cq(c->id->verbs, c->sq.depth + c->recv_depth, NULL, c->channel, 0);
	if (!c->cq)
		kw_die(KW_SETUP, "cannot create a completion queue: %s", strerror(errno));
	attr.send_cq = c->cq;
	attr.recv_cq = c->cq;
	attr.cap.max_send_wr = c->sq.depth;
	attr.cap.max_recv_wr = c->recv_depth;
	attr.cap.max_send_sge = c->send_sge;
	attr.cap.max_recv_sge = c->recv_sge;
	attr.cap.max_inline_data = sizeof(struct kd_ctl);
	if (rdma_create_qp(c->id, pd, &attr))
		kw_die(KW_SETUP, "cannot create a queue pair: %s", strerror(errno));
	c->sq.max_inline = attr.cap.max_inline_data;
}

static void init_window(struct kd_conn *c, struct ibv_pd *pd, unsigned int slot)
{
	struct kd_window *w = &c->windows[slot];
	struct kd_pieces all;

	kd_region_init(&w->target, pd, c->peer_plan.span,
		       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, 1);
	kd_region_init(&w->source, pd, c->peer_plan.span,
		       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ, 1);
	kd_one_piece(0, c->peer_plan.span, &all);
	kd_fill_pieces(&w->source, &all, kd_source_key(&c->peer_plan, slot, 0), 0);
}

static void init_memory(struct kd_conn *c, struct ibv_pd *pd)
{
	uint32_t recv_len = c->cfg.max_len < MIN_RECV ? MIN_RECV : c->cfg.max_len;
	unsigned int i;

	c->slots = kw_zalloc(c->cfg.window * sizeof(*c->slots));
	c->windows = kw_zalloc(c->cfg.window * sizeof(*c->windows));
	c->recvs = kw_zalloc(c->recv_depth * sizeof(*c->recvs));
	c->sq.ring = kw_zalloc(c->sq.depth * sizeof(*c->sq.ring));
	kd_region_init(&c->sq.ctl, pd, c->sq.depth * sizeof(struct kd_ctl) + sizeof(c->remote),
		       CTL_ACCESS, 1);
	for (i = 0; i < c->cfg.window; i++) {
		kd_region_init(&c->slots[i].arena, pd, kd_scatter_room(c->cfg.max_len),
			       IBV_ACCESS_LOCAL_WRITE, 2);
		c->slots[i].arena.align = c->quirks ? KD_SPARE_ALIGN : 1;
		init_window(c, pd, i);
	}
	for (i = 0; i < c->recv_depth; i++) {
		kd_region_init(&c->recvs[i].buf, pd, kd_scatter_room(recv_len),
			       IBV_ACCESS_LOCAL_WRITE, 2);
		kd_post_recv(c, i);
	}
}

static void init_plans(struct kd_conn *c)
{
	uint64_t seed = kw_mix(c->cfg.seed, c->cfg.index);
	uint64_t none = c->cfg.flags & KD_DUPLEX ? c->cfg.count : 0;
	struct kd_plan plan = {
		.max_len = c->cfg.max_len,
		.span = c->cfg.max_len + 8192,
		.types = c->cfg.types,
		.spare = c->cfg.flags & KD_SPARE,
	};

	c->plan = plan;
	c->peer_plan = plan;
	c->plan.seed = kw_mix(seed, c->client);
	c->peer_plan.seed = kw_mix(seed, !c->client);
	c->count = c->client ? c->cfg.count : none;
	c->rng.state = kw_mix(c->plan.seed, 0x10ca1);
}

void kd_conn_setup(struct kd_conn *c)
{
	struct ibv_pd *pd = ibv_alloc_pd(c->id->verbs);

	if (!pd)
		kw_die(KW_SETUP, "cannot allocate a protection domain: %s", strerror(errno));
	query_limits(c);
	init_plans(c);
	create_queues(c, pd);
	init_memory(c, pd);
	kw_debug("connection %u: %d/%d/%d SGEs, inline %u, depth %u, window %u", c->cfg.index,
		 c->send_sge, c->recv_sge, c->read_sge, c->sq.max_inline, c->cfg.depth,
		 c->cfg.window);
}

static void must(int rv, const char *what)
{
	if (rv)
		kw_die(KW_SETUP, "cannot destroy %s: %s", what, strerror(rv < 0 ? errno : rv));
}

void kd_conn_teardown(struct kd_conn *c)
{
	struct ibv_pd *pd = c->id->qp->pd;
	unsigned int i;

	rdma_destroy_qp(c->id);
	for (i = 0; i < c->cfg.window; i++) {
		kd_region_fini(&c->slots[i].arena);
		kd_region_fini(&c->windows[i].target);
		kd_region_fini(&c->windows[i].source);
	}
	for (i = 0; i < c->recv_depth; i++)
		kd_region_fini(&c->recvs[i].buf);
	kd_region_fini(&c->sq.ctl);
	must(ibv_destroy_cq(c->cq), "the completion queue");
	if (c->channel)
		must(ibv_destroy_comp_channel(c->channel), "the completion channel");
	must(ibv_dealloc_pd(pd), "the protection domain");
	kwcm_destroy(c->id);
	free(c->slots);
	free(c->windows);
	free(c->recvs);
	free(c->sq.ring);
}

/* ------------------------------------------------------------ connecting */

/* Time limit for connecting, ms. Option -T may raise it: hundreds may connect at the same time. */
static int cm_ms(const struct kd_conn *c)
{
	return c->stall_ms > CM_MS ? c->stall_ms : CM_MS;
}

static void conn_param(struct kd_conn *c, struct rdma_conn_param *p)
{
	memset(p, 0, sizeof(*p));
	p->responder_resources = c->cfg.depth;
	p->initiator_depth = c->cfg.depth;
}

int kd_conn_connect(struct kd_conn *c)
{
	struct rdma_conn_param p;
	struct kwcm_event ev;

	conn_param(c, &p);
	p.private_data = &c->cfg;
	p.private_data_len = sizeof(c->cfg);
	if (rdma_connect(c->id, &p)) {
		kw_say("cannot connect: %s", strerror(errno));
		return -errno;
	}
	return kwcm_expect(c->id->channel, RDMA_CM_EVENT_ESTABLISHED, cm_ms(c), &ev);
}

int kd_conn_accept(struct kd_conn *c)
{
	struct rdma_conn_param p;
	struct kwcm_event ev;

	conn_param(c, &p);
	if (rdma_accept(c->id, &p)) {
		kw_say("cannot accept: %s", strerror(errno));
		return -errno;
	}
	return kwcm_expect(c->id->channel, RDMA_CM_EVENT_ESTABLISHED, cm_ms(c), &ev);
}

int kd_conn_finish(struct kd_conn *c)
{
	struct kwcm_event ev;

	if (c->client && !c->disconnected && rdma_disconnect(c->id)) {
		kw_say("cannot disconnect: %s", strerror(errno));
		return -errno;
	}
	return c->disconnected ? 0 : kwcm_expect(c->id->channel, RDMA_CM_EVENT_DISCONNECTED,
						 cm_ms(c), &ev);
}

/* --------------------------------------------------------------- posting */

unsigned int kd_sq_room(const struct kd_conn *c)
{
	return c->sq.depth - (c->sq.tail - c->sq.head);
}

static void choose_signal(struct kd_conn *c, struct ibv_send_wr *wr)
{
	bool quiet = !(wr->send_flags & IBV_SEND_SIGNALED) &&
		     c->sq.unsignaled < c->sq.depth / SIGNAL_EVERY;

	if (!quiet)
		wr->send_flags |= IBV_SEND_SIGNALED;
	c->sq.unsignaled = quiet ? c->sq.unsignaled + 1 : 0;
}

/*
 * Some devices complete a request before an earlier Read is complete, and refuse to fence a Read.
 * Fencing all other requests avoids both.
 */
static void spare_quirks(struct ibv_send_wr *wr)
{
	if (wr->opcode == IBV_WR_RDMA_READ)
		wr->send_flags &= ~IBV_SEND_FENCE;
	else
		wr->send_flags |= IBV_SEND_FENCE;
}

void kd_post(struct kd_conn *c, struct ibv_send_wr *wr, const struct kd_posted *what, int n)
{
	struct ibv_send_wr *bad = NULL;
	bool chain = kw_one_in(&c->rng, 2);
	int i, rv = 0;

	for (i = 0; i < n; i++) {
		choose_signal(c, &wr[i]);
		if (c->quirks)
			spare_quirks(&wr[i]);
		c->sq.ring[c->sq.tail % c->sq.depth] = what[i];
		wr[i].wr_id = c->sq.tail++;
		wr[i].next = chain && i + 1 < n ? &wr[i + 1] : NULL;
	}
	for (i = 0; i < n && !rv; i += chain ? n : 1)
		rv = ibv_post_send(c->id->qp, &wr[i], &bad);
	if (rv)
		kd_lost(c, "post of request %llu: %s",
			(unsigned long long)(bad ? bad->wr_id : 0), strerror(rv));
}

void kd_ctl_wr(struct kd_conn *c, unsigned int ahead, enum kd_ctl_kind kind, uint64_t n,
	       struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	struct kd_ctl ctl = { .magic = KD_MAGIC, .kind = kind, .n = n };
	uint8_t *mem = c->sq.ctl.mem + (c->sq.tail + ahead) % c->sq.depth * sizeof(ctl);

	kw_fill((uint8_t *)ctl.fill, sizeof(ctl.fill), kw_mix(n, kind), 0);
	memcpy(mem, &ctl, sizeof(ctl));
	sge->addr = (uintptr_t)mem;
	sge->length = sizeof(ctl);
	sge->lkey = c->sq.ctl.mr[0]->lkey;
	memset(wr, 0, sizeof(*wr));
	wr->opcode = IBV_WR_SEND;
	wr->sg_list = sge;
	wr->num_sge = 1;
	if (c->sq.max_inline >= sizeof(ctl) && kw_one_in(&c->rng, 2))
		wr->send_flags |= IBV_SEND_INLINE;
	if (kw_one_in(&c->rng, 4))
		wr->send_flags |= IBV_SEND_SOLICITED;
}

void kd_post_ctl(struct kd_conn *c, enum kd_ctl_kind kind, uint64_t n)
{
	static const struct kd_posted nothing = { .slot = -1 };
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	kd_ctl_wr(c, 0, kind, n, &wr, &sge);
	/* Signal this request: there may be no later one whose completion covers this one. */
	if (kind == KD_CTL_BYE || c->bye_posted)
		wr.send_flags |= IBV_SEND_SIGNALED;
	kd_post(c, &wr, &nothing, 1);
}

/* The hello is a table of addresses. It lies in memory after that of the control messages. */
void kd_post_hello(struct kd_conn *c)
{
	static const struct kd_posted nothing = { .slot = -1 };
	uint8_t *mem = c->sq.ctl.mem + c->sq.depth * sizeof(struct kd_ctl);
	struct kd_remote *table = (struct kd_remote *)mem;
	struct ibv_sge sge = { .addr = (uintptr_t)mem, .lkey = c->sq.ctl.mr[0]->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 };
	unsigned int i;

	for (i = 0; i < c->cfg.window; i++) {
		table[i].target = (uintptr_t)c->windows[i].target.mem;
		table[i].target_key = c->windows[i].target.mr[0]->rkey;
		table[i].source = (uintptr_t)c->windows[i].source.mem;
		table[i].source_key = c->windows[i].source.mr[0]->rkey;
	}
	sge.length = i * sizeof(*table);
	kd_post(c, &wr, &nothing, 1);
}

void kd_post_recv(struct kd_conn *c, unsigned int index)
{
	struct kd_recv *r = &c->recvs[index];
	struct ibv_sge sge[KD_MAX_SGE];
	struct ibv_recv_wr *bad, wr = { .wr_id = index, .sg_list = sge };
	uint32_t len = c->cfg.max_len < MIN_RECV ? MIN_RECV : c->cfg.max_len;
	int rv;

	kd_scatter(&r->buf, len, c->recv_sge, &c->rng, &r->pieces);
	wr.num_sge = kd_sges(&r->buf, &r->pieces, sge);
	rv = ibv_post_recv(c->id->qp, &wr, &bad);
	if (rv)
		kd_lost(c, "post of a receive: %s", strerror(rv));
}
