// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwedge is a test program: what does the device do when a resource runs out or is taken away?
 * This case: memory is deregistered while a peer writes into it at full speed.
 *
 * The case is repeated in rounds (option -n). In each round the client has several connections,
 * each of which writes into its own part of one region of the server, again and again with other
 * data. The server deregisters the region at a random moment. After ibv_dereg_mr() has returned,
 * the memory of the region must not change, though the client still writes. Each connection ends
 * because of such a Write.
 */
#include "kwedge.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CONNS		4
#define WRITE_LEN	8192
#define PLACES		8
#define PART_LEN	(PLACES * WRITE_LEN)
/*
 * Write n takes source n % SOURCES and goes to place n % PLACES. The two numbers have no common
 * divisor, so no place gets the same data twice in a row.
 */
#define SOURCES		9
#define WINDOW		32
#define MAX_DELAY_US	3000

/**
 * struct where - private data of the server's accept: where the connection has to write
 * @addr: address of the part of the region
 */
struct where {
	uint64_t addr;
	uint32_t rkey;
	uint32_t pad;
};

/* ------------------------------------------------------------------- server */

/**
 * struct target - the server
 * @waiting: connect requests that are not accepted yet; those of the next round may arrive before
 *	the last events of this round
 * @established, @ended: connections of this round
 * @mem: the region
 * @then: what @mem contained right after ibv_dereg_mr() had returned
 */
struct target {
	struct rdma_cm_id *listener, *ids[CONNS], *waiting[CONNS];
	unsigned int n_waiting, established, ended;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *mem, *then;
};

static void next_event(struct target *t)
{
	struct kwcm_event ev;

	if (kwcm_next(t->listener->channel, KWE_WAIT_MS, &ev))
		kw_die(KW_STALL, "no event: %u connections are up, %u have ended", t->established,
		       t->ended);
	switch (ev.type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (t->n_waiting == CONNS)
			kw_die(KW_SETUP, "too many requests");
		t->waiting[t->n_waiting++] = ev.id;
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		t->established++;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		t->ended++;
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		kw_die(KW_LOST, "event %s (status %d)", rdma_event_str(ev.type), ev.status);
	}
}

static struct rdma_cm_id *next_request(struct target *t)
{
	while (!t->n_waiting)
		next_event(t);
	return t->waiting[--t->n_waiting];
}

static void accept_one(struct target *t, unsigned int i)
{
	struct ibv_qp_init_attr a;
	struct where where = { .addr = (uintptr_t)t->mem + i * PART_LEN };
	struct rdma_conn_param param = {
		.private_data = &where,
		.private_data_len = sizeof(where),
		.initiator_depth = 1,
		.responder_resources = 1,
	};
	struct rdma_cm_id *id = next_request(t);

	t->ids[i] = id;
	if (!t->pd) {
		t->pd = ibv_alloc_pd(id->verbs);
		t->cq = ibv_create_cq(id->verbs, 4 * CONNS, NULL, NULL, 0);
	}
	if (!t->mr)
		t->mr = ibv_reg_mr(t->pd, t->mem, CONNS * PART_LEN,
				   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	a = kw_qp_attr(t->cq, 1, 1, 1);
	if (!t->cq || !t->mr || rdma_create_qp(id, t->pd, &a))
		kw_die(KW_SETUP, "cannot create a queue pair: %s", strerror(errno));
	where.rkey = t->mr->rkey;
	if (rdma_accept(id, &param))
		kw_die(KW_SETUP, "cannot accept: %s", strerror(errno));
}

/* Wait until data arrives in the last place of each part. */
static void wait_for_writes(struct target *t)
{
	int64_t until = kw_now_ms() + KWE_WAIT_MS;
	unsigned int i;

	for (i = 1; i <= CONNS; i++)
		while (!__atomic_load_n(&t->mem[i * PART_LEN - 1], __ATOMIC_ACQUIRE))
			if (kw_now_ms() > until)
				kw_die(KW_STALL, "nothing is written into part %u", i - 1);
}

static void unchanged(struct target *t, const char *when)
{
	size_t i;

	/* The compiler does not know that the device writes to this memory. */
	__asm__ volatile("" : : : "memory");
	for (i = 0; i < CONNS * PART_LEN; i++)
		if (t->mem[i] != t->then[i])
			kw_die(KW_MISMATCH, "mismatch: octet %zu changed after deregistration, %s",
			       i, when);
}

static void serve_round(struct target *t, const struct kwe_opt *opt, struct kw_rng *rng)
{
	unsigned int i;

	memset(t->mem, 0, CONNS * PART_LEN);
	t->established = 0;
	t->ended = 0;
	for (i = 0; i < CONNS; i++)
		accept_one(t, i);
	while (t->established < CONNS)
		next_event(t);
	wait_for_writes(t);
	usleep(kw_below(rng, MAX_DELAY_US));

	if (!opt->spoil && ibv_dereg_mr(t->mr))
		kw_die(KW_MISMATCH, "cannot deregister: %s", strerror(errno));
	t->mr = NULL;
	memcpy(t->then, t->mem, CONNS * PART_LEN);
	usleep(2000);
	unchanged(t, "at once");
	/* Each connection ends with an error, which shows that its client was still writing. */
	while (t->ended < CONNS)
		next_event(t);
	unchanged(t, "at the end");
	for (i = 0; i < CONNS; i++) {
		rdma_destroy_qp(t->ids[i]);
		rdma_destroy_id(t->ids[i]);
	}
}

void kwe_dereg_server(const struct kwe_opt *opt)
{
	struct target t = { .listener = kwcm_listen(opt->addr, opt->port, CONNS) };
	struct kw_rng rng = { .state = 6 };
	unsigned int i;

	t.mem = kw_zalloc(CONNS * PART_LEN);
	t.then = kw_zalloc(CONNS * PART_LEN);
	for (i = 0; i < opt->rounds; i++)
		serve_round(&t, opt, &rng);
	if (ibv_destroy_cq(t.cq) || ibv_dealloc_pd(t.pd))
		kw_die(KW_MISMATCH, "cannot destroy the objects: %s", strerror(errno));
	kwcm_destroy(t.listener);
}

/* ------------------------------------------------------------------- client */

struct writer {
	struct kwe_end end;
	struct where where;
	unsigned int begun, done;
	bool lost;
};

static void write_more(struct writer *w)
{
	struct ibv_sge sge = { .length = WRITE_LEN, .lkey = w->end.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};

	while (!w->lost && w->begun - w->done < WINDOW) {
		sge.addr = (uintptr_t)w->end.buf + w->begun % SOURCES * WRITE_LEN;
		wr.wr.rdma.remote_addr = w->where.addr + w->begun % PLACES * WRITE_LEN;
		wr.wr.rdma.rkey = w->where.rkey;
		w->lost = ibv_post_send(w->end.id->qp, &wr, &bad);
		w->begun++;
	}
}

static void completions(struct writer *w)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(w->end.cq, 1, &wc) > 0) {
		w->done++;
		if (wc.status != IBV_WC_SUCCESS)
			w->lost = true;
	}
}

static void open_writer(struct writer *w, const struct kwe_opt *opt)
{
	struct kwcm_event ev;
	unsigned int i;

	kwe_connect(&w->end, opt, SOURCES * WRITE_LEN, WINDOW, &ev);
	if (ev.priv_len < sizeof(w->where))
		kw_die(KW_SETUP, "the server does not say where to write");
	memcpy(&w->where, ev.priv, sizeof(w->where));
	for (i = 0; i < SOURCES; i++)
		memset(w->end.buf + i * WRITE_LEN, i + 1, WRITE_LEN);
}

static bool one_writes(struct writer *writers)
{
	unsigned int i;
	bool any = false;

	for (i = 0; i < CONNS; i++) {
		write_more(&writers[i]);
		completions(&writers[i]);
		any |= !writers[i].lost;
	}
	return any;
}

static void client_round(const struct kwe_opt *opt)
{
	struct writer writers[CONNS] = { 0 };
	int64_t until;
	unsigned int i;

	for (i = 0; i < CONNS; i++)
		open_writer(&writers[i], opt);
	until = kw_now_ms() + KWE_WAIT_MS;
	while (one_writes(writers))
		if (kw_now_ms() > until)
			kw_die(KW_STALL, "Writes go on, nobody objects");
	for (i = 0; i < CONNS; i++) {
		kw_debug("connection %u: %u Writes", i, writers[i].done);
		kwe_close(&writers[i].end);
		kwcm_destroy(writers[i].end.id);
	}
}

void kwe_dereg_client(const struct kwe_opt *opt)
{
	unsigned int i;

	for (i = 0; i < opt->rounds; i++)
		client_round(opt);
}
