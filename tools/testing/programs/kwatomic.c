// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwatomic is a test program: many queue pairs do atomic operations on the same words, and Writes
 * with immediate data.
 *
 *	kwatomic -s -a addr -p port [-q queue pairs] [-n rounds]
 *	kwatomic -c -a addr -p port [-q queue pairs] [-n rounds]
 *
 * The words are in the server's memory, and the server adds to one of them all the time. Each queue
 * pair of the client has a thread, which does three things, one after the other, with -n (rounds)
 * additions, a tenth as many uses of the lock, and -n Writes with immediate data. Each thread
 *
 *	adds 1 to a counter that all threads share: no two FetchAdds may return the same value,
 *	and no addition may be missing in the end, the server's own included;
 *	takes a lock by CmpSwap, reads a number, writes the next number, and releases the lock:
 *	no number may be missing in the end;
 *	writes with immediate data, the number of the Write, each time to another slot (SLOT octets
 *	of the server's memory): when the number reaches the server, the slot of this Write must
 *	have what was written.
 */
#include "kwcm.h"
#include "kwtest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define MAX_QPS		16
#define MAX_ROUNDS	20000
#define DEPTH		8
#define SLOT		64
#define EVENT_MS	60000

enum word { COUNTER, LOCK, NUMBER, WORDS = 8 };

/**
 * struct offer - what the server tells each queue pair
 * @words: address of the words
 * @slots: address of the first slot of this queue pair; there is one for each Write
 * @rkey: STag of the memory of words and slots
 * @index: number of the queue pair
 */
struct offer {
	uint64_t words, slots;
	uint32_t rkey, index;
};

struct conn {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct offer peer;
	uint64_t *buf;		/* client: DEPTH results, slot data; server: number of this conn */
	pthread_t thread;
};

static const char *addr, *port = "7306";
static unsigned int qps = 4, rounds = 500;
static bool server, client;

static uint64_t *words;
static uint8_t *slots;
static uint64_t *seen;		/* client: bit map of values that FetchAdds returned */
static bool stop;
static uint64_t own;		/* server: number of its own additions */

static void must(bool ok, const char *what)
{
	if (!ok)
		kw_die(KW_MISMATCH, "FAILED: %s (%s)", what, strerror(errno));
}

/* -------------------------------------------------------------------- both */

static struct ibv_wc next_wc(struct conn *c)
{
	int64_t until = kw_now_ms() + EVENT_MS;
	struct ibv_wc wc;
	int n;

	while (kw_now_ms() < until) {
		n = ibv_poll_cq(c->cq, 1, &wc);
		if (!n)
			sched_yield();
		if (n <= 0)
			continue;
		if (wc.status != IBV_WC_SUCCESS)
			kw_die(KW_LOST, "FAILED: completion '%s', %#x",
			       ibv_wc_status_str(wc.status), wc.vendor_err);
		return wc;
	}
	kw_die(KW_STALL, "no completion");
}

static void make_conn(struct conn *c, struct rdma_cm_id *id, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr a;

	c->id = id;
	c->cq = ibv_create_cq(id->verbs, 2 * DEPTH + (server ? rounds : 1), NULL, NULL, 0);
	must(c->cq, "create a completion queue");
	a = kw_qp_attr(c->cq, 2 * DEPTH, server ? rounds : 1, 1);
	if (rdma_create_qp(id, pd, &a))
		kw_die(KW_SETUP, "cannot create a queue pair: %s", strerror(errno));
}

static struct rdma_conn_param conn_param(const struct offer *offer)
{
	return (struct rdma_conn_param) {
		.private_data = offer, .private_data_len = offer ? sizeof(*offer) : 0,
		.responder_resources = DEPTH, .initiator_depth = DEPTH,
	};
}

/* ------------------------------------------------------------------ client */

static void post(struct conn *c, enum ibv_wr_opcode opcode, struct ibv_send_wr *wr, void *local,
		 uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)local, len, c->mr->lkey };
	struct ibv_send_wr *bad;
	int rv;

	wr->opcode = opcode;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	rv = ibv_post_send(c->id->qp, wr, &bad);
	if (rv)
		kw_die(KW_MISMATCH, "FAILED: opcode %d: %s", opcode, strerror(rv));
}

static void post_atomic(struct conn *c, enum ibv_wr_opcode opcode, enum word word,
			uint64_t compare_add, uint64_t swap, uint64_t *result)
{
	struct ibv_send_wr wr = { .wr_id = (uintptr_t)result };

	wr.wr.atomic.remote_addr = c->peer.words + word * sizeof(*words);
	wr.wr.atomic.rkey = c->peer.rkey;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	post(c, opcode, &wr, result, sizeof(*result));
}

static void post_rdma(struct conn *c, enum ibv_wr_opcode opcode, uint64_t to, void *local,
		      uint32_t len, uint32_t imm)
{
	struct ibv_send_wr wr = { .imm_data = htonl(imm) };

	wr.wr.rdma.remote_addr = to;
	wr.wr.rdma.rkey = c->peer.rkey;
	post(c, opcode, &wr, local, len);
}

static void expect_wc(struct conn *c, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = next_wc(c);

	if (wc.opcode != opcode)
		kw_die(KW_MISMATCH, "FAILED: opcode %d instead of %d", wc.opcode, opcode);
}

/* Remember a value that a FetchAdd returned. No other may have returned the same value. */
static void note_value(uint64_t value)
{
	uint64_t bit = 1ULL << (value & 63), was;

	if (value >= 64ULL * MAX_QPS * MAX_ROUNDS)
		return;		/* beyond the bit map, because of the server's additions */
	was = __atomic_fetch_or(&seen[value / 64], bit, __ATOMIC_RELAXED);
	if (was & bit)
		kw_die(KW_MISMATCH, "FAILED: %llu came back twice", (unsigned long long)value);
}

static void take_value(struct conn *c)
{
	struct ibv_wc wc = next_wc(c);

	if (wc.opcode != IBV_WC_FETCH_ADD || wc.byte_len != sizeof(uint64_t))
		kw_die(KW_MISMATCH, "FAILED: opcode %d, %u octets", wc.opcode, wc.byte_len);
	note_value(*(uint64_t *)(uintptr_t)wc.wr_id);
}

static void add_all(struct conn *c)
{
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		if (i >= DEPTH)
			take_value(c);
		post_atomic(c, IBV_WR_ATOMIC_FETCH_AND_ADD, COUNTER, 1, 0, &c->buf[i % DEPTH]);
	}
	for (i = 0; i < DEPTH && i < rounds; i++)
		take_value(c);
}

static bool swap(struct conn *c, uint64_t from, uint64_t to)
{
	post_atomic(c, IBV_WR_ATOMIC_CMP_AND_SWP, LOCK, from, to, &c->buf[0]);
	expect_wc(c, IBV_WC_COMP_SWAP);
	return c->buf[0] == from;
}

/*
 * Take the lock, read the number, write the next number, and release the lock. The Write is placed
 * before the CmpSwap that releases the lock is carried out, so the next owner reads the new number.
 */
static void next_number(struct conn *c)
{
	uint64_t to = c->peer.words + NUMBER * sizeof(*words), id = c->peer.index + 1;

	while (!swap(c, 0, id))
		sched_yield();
	post_rdma(c, IBV_WR_RDMA_READ, to, &c->buf[1], sizeof(uint64_t), 0);
	expect_wc(c, IBV_WC_RDMA_READ);
	c->buf[1]++;
	post_rdma(c, IBV_WR_RDMA_WRITE, to, &c->buf[1], sizeof(uint64_t), 0);
	expect_wc(c, IBV_WC_RDMA_WRITE);
	must(swap(c, id, 0), "let the lock go");
}

static void write_slot(struct conn *c, unsigned int i)
{
	uint8_t *slot = (uint8_t *)&c->buf[DEPTH];

	kw_fill(slot, SLOT, c->peer.index, (uint64_t)i * SLOT);
	post_rdma(c, IBV_WR_RDMA_WRITE_WITH_IMM, c->peer.slots + i * SLOT, slot, SLOT, i);
	expect_wc(c, IBV_WC_RDMA_WRITE);
}

static void *client_thread(void *arg)
{
	struct conn *c = arg;
	unsigned int i;

	add_all(c);
	for (i = 0; i < rounds / 10; i++)
		next_number(c);
	for (i = 0; i < rounds; i++)
		write_slot(c, i);
	return NULL;
}

static void connect_one(struct conn *c)
{
	struct rdma_conn_param p = conn_param(NULL);
	struct kwcm_event ev;

	make_conn(c, kwcm_resolve(addr, port), NULL);
	c->buf = kw_zalloc(DEPTH * sizeof(*c->buf) + SLOT);
	c->mr = ibv_reg_mr(c->id->qp->pd, c->buf, DEPTH * sizeof(*c->buf) + SLOT,
			   IBV_ACCESS_LOCAL_WRITE);
	must(c->mr, "register results");
	if (rdma_connect(c->id, &p) ||
	    kwcm_expect(c->id->channel, RDMA_CM_EVENT_ESTABLISHED, EVENT_MS, &ev))
		kw_die(KW_SETUP, "cannot connect");
	if (ev.priv_len < sizeof(c->peer))
		kw_die(KW_SETUP, "no offer");
	memcpy(&c->peer, ev.priv, sizeof(c->peer));
}

static void run_client(struct conn *conns)
{
	struct kwcm_event ev;
	unsigned int i;

	seen = kw_zalloc(8 * MAX_QPS * MAX_ROUNDS);
	for (i = 0; i < qps; i++)
		connect_one(&conns[i]);
	for (i = 0; i < qps; i++)
		must(!pthread_create(&conns[i].thread, NULL, client_thread, &conns[i]), "thread");
	for (i = 0; i < qps; i++)
		pthread_join(conns[i].thread, NULL);
	/* The server ends the connections after it has got all messages. */
	for (i = 0; i < qps; i++)
		if (kwcm_expect(conns[i].id->channel, RDMA_CM_EVENT_DISCONNECTED, EVENT_MS, &ev))
			kw_die(KW_LOST, "the server does not end");
	kw_say("ok: %u queue pairs, %u rounds", qps, rounds);
}

/* ------------------------------------------------------------------ server */

static void *adder(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(&words[COUNTER], 1, __ATOMIC_RELAXED);
		own++;
		if (!(own % 64))
			sched_yield();
	}
	return NULL;
}

static void accept_one(struct rdma_cm_id *id, struct conn *c, unsigned int index,
		       struct ibv_pd **pd)
{
	struct ibv_recv_wr *bad, wr = {};
	struct rdma_conn_param p;
	struct offer offer;
	unsigned int i;

	if (!*pd) {
		*pd = ibv_alloc_pd(id->verbs);
		must(*pd, "allocate a protection domain");
	}
	make_conn(c, id, *pd);
	for (i = 0; i < rounds; i++)
		must(!ibv_post_recv(c->id->qp, &wr, &bad), "post a receive");
	c->mr = index ? (c - 1)->mr :
		ibv_reg_mr(*pd, words, 4096 + (size_t)qps * rounds * SLOT,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	must(c->mr, "register the words");
	offer = (struct offer) {
		.words = (uintptr_t)words, .rkey = c->mr->rkey, .index = index,
		.slots = (uintptr_t)slots + (size_t)index * rounds * SLOT,
	};
	p = conn_param(&offer);
	must(!rdma_accept(c->id, &p), "accept");
}

/*
 * Accept all connections. Events may come in any order: the next connect request may arrive before
 * the event "established" of the previous connection.
 */
static void accept_all(struct rdma_cm_id *listener, struct conn *conns)
{
	unsigned int asked = 0, there = 0;
	struct ibv_pd *pd = NULL;
	struct kwcm_event ev;

	while (there < qps) {
		if (kwcm_next(listener->channel, EVENT_MS, &ev))
			kw_die(KW_SETUP, "nobody connects");
		if (ev.type == RDMA_CM_EVENT_CONNECT_REQUEST && asked < qps) {
			accept_one(ev.id, &conns[asked], asked, &pd);
			asked++;
		} else if (ev.type == RDMA_CM_EVENT_ESTABLISHED) {
			there++;
		} else {
			kw_die(KW_LOST, "event %s", rdma_event_str(ev.type));
		}
	}
}

/* Check that immediate data arrive in order, each of them after the data of its Write. */
static void *server_thread(void *arg)
{
	struct conn *c = arg;
	unsigned int i, index = (unsigned int)(uintptr_t)c->buf;
	const uint8_t *slot = slots + (size_t)index * rounds * SLOT;
	struct ibv_wc wc;

	for (i = 0; i < rounds; i++, slot += SLOT) {
		wc = next_wc(c);
		if (wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM || !(wc.wc_flags & IBV_WC_WITH_IMM) ||
		    ntohl(wc.imm_data) != i || wc.byte_len != SLOT)
			kw_die(KW_MISMATCH, "FAILED: round %u: opcode %d, flags %#x, %u, %u octets",
			       i, wc.opcode, wc.wc_flags, ntohl(wc.imm_data), wc.byte_len);
		if (kw_check(slot, SLOT, index, (uint64_t)i * SLOT) != SLOT)
			kw_die(KW_MISMATCH, "FAILED: round %u came before its Write", i);
	}
	return NULL;
}

static void expect_word(enum word word, uint64_t want, const char *what)
{
	if (words[word] != want)
		kw_die(KW_MISMATCH, "FAILED: %s: %llu instead of %llu", what,
		       (unsigned long long)words[word], (unsigned long long)want);
}

static void run_server(struct conn *conns)
{
	struct rdma_cm_id *listener = kwcm_listen(addr, port, MAX_QPS);
	pthread_t adding;
	unsigned int i;

	words = aligned_alloc(4096, (4096 + (size_t)qps * rounds * SLOT + 4095) & ~4095UL);
	must(words, "allocate the words");
	memset(words, 0, 4096 + (size_t)qps * rounds * SLOT);
	slots = (uint8_t *)words + 4096;
	accept_all(listener, conns);
	must(!pthread_create(&adding, NULL, adder, NULL), "thread");
	for (i = 0; i < qps; i++) {
		conns[i].buf = (void *)(uintptr_t)i;
		must(!pthread_create(&conns[i].thread, NULL, server_thread, &conns[i]), "thread");
	}
	for (i = 0; i < qps; i++)
		pthread_join(conns[i].thread, NULL);
	stop = true;
	pthread_join(adding, NULL);
	expect_word(COUNTER, own + (uint64_t)qps * rounds, "additions");
	expect_word(LOCK, 0, "lock");
	expect_word(NUMBER, (uint64_t)qps * (rounds / 10), "numbers");
	for (i = 0; i < qps; i++)
		rdma_disconnect(conns[i].id);
	kw_say("ok: %u queue pairs, %u rounds, %llu additions of the server's own", qps, rounds,
	       (unsigned long long)own);
}

int main(int argc, char **argv)
{
	static const char usage[] = "kwatomic -s|-c -a addr [-p port] [-q queue pairs] [-n rounds]";
	const struct kw_option options[] = {
		KW_FLAG('s', server), KW_FLAG('c', client), KW_TEXT('a', addr), KW_TEXT('p', port),
		KW_NUMBER('q', qps, 1, MAX_QPS), KW_NUMBER('n', rounds, 10, MAX_ROUNDS),
		{},
	};
	struct conn *conns = kw_zalloc(MAX_QPS * sizeof(*conns));

	kw_options(argc, argv, options, usage);
	if (server == client || !addr)
		kw_usage(usage);
	if (server)
		run_server(conns);
	else
		run_client(conns);
	return KW_OK;
}
