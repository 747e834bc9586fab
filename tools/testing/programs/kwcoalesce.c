// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwcoalesce: requests that are posted one by one are held back for a moment; what sends them?
 *
 *	kwcoalesce -a addr [-p port] [-n rounds] [-o] [-v] CASE
 *
 * Both ends of a connection are in this process, over the device with that address.  The device
 * holds requests of a send queue until the program polls and finds no completion, or asks for an
 * event.  If the program does neither, a timer sends the requests.  The device counts that
 * (coalesce_timeouts), and after KWARP_COALESCE_MISSES such times it holds no requests for a while.
 *
 * poll		a few Writes, again and again, and a poll after them, which sends what was held
 * arm		the same, but an event is asked for
 * sleep	Sends to and fro, of a program that posts and then sleeps until the other end hears
 * leave	Writes one after the other, and no poll between them: the timer sends them
 * spin		a poll, a Write, and looks at its sink until it is there
 * realtime	the same of a program with SCHED_FIFO, for which no timer may get the processor
 *
 * -o	holding is switched off: the timer has nothing to send
 */
#define _GNU_SOURCE
#include "kwcm.h"
#include "kwtest.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEN		64
#define SLOTS		16
#define WRS		16
#define WAIT_MS		20000
/* Ten thousand times what the timer waits. */
#define ARRIVAL_MS	1000

/**
 * struct end - one end of the connection
 * @cq: of requests, and of receives
 * @posted: requests
 * @done: requests that have completed
 * @heard: messages that have come
 */
struct end {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq[2];
	struct ibv_mr *mr;
	uint8_t *buf;
	unsigned int posted, done, heard;
};

/**
 * struct pair - both
 * @a: it writes
 * @b: to this one
 * @held: rounds in which a Write has not left when it was posted
 * @missed: those of them in which it did not leave right after that, either
 * @late: milliseconds that one has taken, at most
 */
struct pair {
	struct rdma_cm_id *listener;
	struct end a, b;
	unsigned int held, missed;
	int64_t late;
};

static const char *addr, *port = "7175";
static unsigned int rounds;
static bool off;

/* ---------------------------------------------------------------- connection */

static void open_end(struct end *e, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = WRS, .max_recv_wr = WRS, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	int i;

	e->id = id;
	e->buf = kw_zalloc(SLOTS * LEN);
	e->pd = ibv_alloc_pd(id->verbs);
	e->channel = ibv_create_comp_channel(id->verbs);
	for (i = 0; i < 2; i++)
		e->cq[i] = ibv_create_cq(id->verbs, WRS, NULL, e->channel, 0);
	e->mr = e->pd ? ibv_reg_mr(e->pd, e->buf, SLOTS * LEN,
				   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE) : NULL;
	attr.send_cq = e->cq[0];
	attr.recv_cq = e->cq[1];
	if (!e->channel || !e->cq[0] || !e->cq[1] || !e->mr || rdma_create_qp(id, e->pd, &attr))
		kw_die(KW_SETUP, "cannot create a queue pair: %s", strerror(errno));
}

static void close_end(struct end *e)
{
	rdma_destroy_qp(e->id);
	if (ibv_destroy_cq(e->cq[0]) || ibv_destroy_cq(e->cq[1]) ||
	    ibv_destroy_comp_channel(e->channel) || ibv_dereg_mr(e->mr) || ibv_dealloc_pd(e->pd))
		kw_die(KW_MISMATCH, "cannot destroy the objects: %s", strerror(errno));
	free(e->buf);
}

static void expect(struct rdma_cm_id *id, enum rdma_cm_event_type type, struct kwcm_event *ev)
{
	if (kwcm_expect(id->channel, type, WAIT_MS, ev))
		kw_die(KW_SETUP, "cannot connect");
}

static void connect_pair(struct pair *p)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct kwcm_event ev;

	p->listener = kwcm_listen(addr, port, 1);
	open_end(&p->a, kwcm_resolve(addr, port));
	if (rdma_connect(p->a.id, &param))
		kw_die(KW_SETUP, "cannot connect: %s", strerror(errno));
	expect(p->listener, RDMA_CM_EVENT_CONNECT_REQUEST, &ev);
	open_end(&p->b, ev.id);
	if (rdma_accept(p->b.id, &param))
		kw_die(KW_SETUP, "cannot accept: %s", strerror(errno));
	expect(p->a.id, RDMA_CM_EVENT_ESTABLISHED, &ev);
	expect(p->listener, RDMA_CM_EVENT_ESTABLISHED, &ev);
}

static void disconnect_pair(struct pair *p)
{
	rdma_disconnect(p->a.id);
	close_end(&p->a);
	close_end(&p->b);
	kwcm_destroy(p->a.id);
	rdma_destroy_id(p->b.id);
	kwcm_destroy(p->listener);
}

/* ------------------------------------------------------- what a program does */

static void poll_cq(struct end *e, int which)
{
	struct ibv_wc wc[WRS];
	int i, n = ibv_poll_cq(e->cq[which], WRS, wc);

	if (n < 0)
		kw_die(KW_LOST, "cannot poll");
	for (i = 0; i < n; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			kw_die(KW_LOST, "completion with status '%s'",
			       ibv_wc_status_str(wc[i].status));
	*(which ? &e->heard : &e->done) += n;
}

static void arm(struct end *e, int which)
{
	if (ibv_req_notify_cq(e->cq[which], 0))
		kw_die(KW_LOST, "cannot ask for an event");
}

/* Until all has completed; one poll at least. */
static void poll_all(struct end *e)
{
	int64_t until = kw_now_ms() + WAIT_MS;

	do {
		poll_cq(e, 0);
		if (kw_now_ms() > until)
			kw_die(KW_STALL, "no completion");
	} while (e->done != e->posted);
}

static uint8_t *slot(struct end *e, unsigned int i)
{
	return e->buf + i % SLOTS * LEN;
}

static void post_request(struct end *e, struct ibv_send_wr *wr, unsigned int i)
{
	struct ibv_sge sge = { (uintptr_t)slot(e, i), LEN, e->mr->lkey };
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	if (ibv_post_send(e->id->qp, wr, &bad))
		kw_die(KW_LOST, "cannot post: %s", strerror(errno));
}

/* The number of a Write is the key of its contents. */
static void post_write(struct pair *p)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED };
	unsigned int i = ++p->a.posted;

	kw_fill(slot(&p->a, i), LEN, i, 0);
	wr.wr.rdma.remote_addr = (uintptr_t)slot(&p->b, i);
	wr.wr.rdma.rkey = p->b.mr->rkey;
	post_request(&p->a, &wr, i);
}

/* True if the last Write has arrived, and so all Writes before it. */
static bool arrived(struct pair *p)
{
	unsigned int i = p->a.posted;

	/* The device writes to this memory. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return kw_check(slot(&p->b, i), LEN, i, 0) == LEN;
}

/* Spin without a system call: a program with SCHED_FIFO never gives up its processor. */
static void spin_until_arrived(struct pair *p)
{
	int64_t begin = kw_now_ms(), took = 0;

	while (!arrived(p) && took <= ARRIVAL_MS)
		took = kw_now_ms() - begin;
	if (took > ARRIVAL_MS)
		kw_die(KW_STALL, "FAILED: Write %u has not arrived within %u ms", p->a.posted,
		       ARRIVAL_MS);
	if (took > p->late)
		p->late = took;
}

/* --------------------------------------------------------------------- cases */

/*
 * Post a few Writes. If they are held, call @idle, which shows that the program has nothing else
 * to do.
 */
static void write_and(struct pair *p, void (*idle)(struct end *e, int which), int which)
{
	int i;

	for (i = 0; i < 3; i++)
		post_write(p);
	if (!arrived(p)) {
		p->held++;
		idle(&p->a, which);
		p->missed += !arrived(p);
	}
	spin_until_arrived(p);
	poll_all(&p->a);
}

/* Polling either of the two completion queues has to send the requests. */
static void run_poll(struct pair *p)
{
	write_and(p, poll_cq, p->held % 2);
}

/*
 * The event is not read. It is raised when the Write completes, so the next round asks for a new
 * one.
 */
static void run_arm(struct pair *p)
{
	write_and(p, arm, 0);
}

static void post_recv(struct end *e)
{
	struct ibv_sge sge = { (uintptr_t)slot(e, 0), LEN, e->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	if (ibv_post_recv(e->id->qp, &wr, &bad))
		kw_die(KW_LOST, "cannot post a receive");
}

/*
 * One Send in eight is signaled. Its completion frees its slot, and those of the Sends before it.
 */
static void send_to(struct end *from, struct end *to)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	if (++from->posted % 8 == 0)
		wr.send_flags = IBV_SEND_SIGNALED;
	post_recv(to);
	post_request(from, &wr, 1);
}

static void sleep_until_event(struct end *e)
{
	struct pollfd fd = { .fd = e->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, WAIT_MS) != 1)
		kw_die(KW_STALL, "FAILED: no event");
	if (ibv_get_cq_event(e->channel, &cq, &context))
		kw_die(KW_LOST, "cannot get an event");
	ibv_ack_cq_events(cq, 1);
}

/* Sleep until a message comes.  When this returns the next event has been asked for. */
static void hear(struct end *e)
{
	unsigned int before = e->heard;

	for (;;) {
		arm(e, 1);
		poll_cq(e, 0);
		poll_cq(e, 1);
		if (e->heard != before)
			return;
		sleep_until_event(e);
	}
}

static void run_sleep(struct pair *p)
{
	if (!p->a.posted)
		arm(&p->a, 1);
	send_to(&p->a, &p->b);
	hear(&p->b);
	send_to(&p->b, &p->a);
	hear(&p->a);
}

/* The program has polled, so its next doorbell makes the device hold the send queue. */
static void run_leave(struct pair *p)
{
	int i;

	poll_all(&p->a);
	for (i = 0; i < 4; i++) {
		post_write(p);
		spin_until_arrived(p);
	}
}

static void run_spin(struct pair *p)
{
	poll_all(&p->a);
	post_write(p);
	spin_until_arrived(p);
}

static void be(int policy, int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, policy, &param))
		kw_die(KW_SETUP, "cannot change the policy: %s", strerror(errno));
}

static void stay_on_processor(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		kw_die(KW_SETUP, "cannot stay on a processor: %s", strerror(errno));
}

static void run_realtime(struct pair *p)
{
	if (!p->a.posted) {
		stay_on_processor();
		be(SCHED_FIFO, 50);
	}
	run_spin(p);
	/* Give up real-time priority before the connection ends: other tasks take part in that. */
	if (p->a.posted == rounds)
		be(SCHED_OTHER, 0);
}

/**
 * struct test - a case
 * @round: what is done again and again
 * @rounds: so often, if -n does not say otherwise
 * @least: times that the timer has to have sent something
 * @most: times, for each thousand rounds, that it may
 * @shows: Writes have to be held, and to leave at once after that
 *
 * A program may lose its processor just when it is about to poll.
 */
static const struct test {
	const char *name;
	void (*round)(struct pair *p);
	unsigned int rounds, least, most;
	bool shows;
} tests[] = {
	{ "poll", run_poll, 1000, 0, 10, true },
	{ "arm", run_arm, 1000, 0, 10, true },
	/*
	 * Of both ends, until they are obeyed: KWARP_COALESCE_MISSES looks that find one
	 * forgotten, of which up to KWARP_COALESCE_IDLE count as one.
	 */
	{ "sleep", run_sleep, 500, 2, 128, false },
	{ "leave", run_leave, 20, 1, 4000, false },
	/* Then the next ones go at once, see KWARP_COALESCE_OBEY. */
	{ "spin", run_spin, 300, 0, 20, false },
	{ "realtime", run_realtime, 300, 0, 0, false },
};

static const struct test *find_test(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (!strcmp(tests[i].name, name))
			return &tests[i];
	kw_die(KW_SETUP, "no case %s", name);
}

static unsigned long timeouts(struct pair *p)
{
	const char *dev = ibv_get_device_name(p->a.id->verbs->device);
	unsigned long n;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/kwarp/coalesce_timeouts", dev);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lu", &n) != 1)
		kw_die(KW_SETUP, "cannot read %s", path);
	fclose(f);
	return n;
}

static void judge(const struct test *t, const struct pair *p, unsigned long sent)
{
	unsigned int least = off ? 0 : t->least, most = off ? 0 : rounds * t->most / 1000;

	kw_say("%s: %u rounds, %lu with the timer, %u held, %u of them for longer, %lld ms at most",
	       t->name, rounds, sent, p->held, p->missed, (long long)p->late);
	if (sent < least || sent > most)
		kw_die(KW_MISMATCH, "FAILED: %s: the timer must send in %u to %u rounds", t->name,
		       least, most);
	if (off || !t->shows)
		return;
	if (!p->held)
		kw_die(KW_MISMATCH, "FAILED: %s: nothing was held", t->name);
	if (2 * p->missed > p->held)
		kw_die(KW_MISMATCH, "FAILED: %s: it did not send what was held", t->name);
}

static void run(const struct test *t)
{
	struct pair p = { 0 };
	unsigned long before;
	unsigned int i;

	connect_pair(&p);
	before = timeouts(&p);
	for (i = 0; i < rounds; i++)
		t->round(&p);
	judge(t, &p, timeouts(&p) - before);
	disconnect_pair(&p);
}

int main(int argc, char **argv)
{
	static const char usage[] = "kwcoalesce -a addr [-p port] [-n rounds] [-o] [-v] CASE";
	const struct kw_option table[] = {
		KW_TEXT('a', addr),
		KW_TEXT('p', port),
		KW_NUMBER('n', rounds, 1, 1000000),
		KW_FLAG('o', off),
		{ 0 }
	};
	const struct test *t;
	int at;

	kw_prog = "kwcoalesce";
	at = kw_options(argc, argv, table, usage);
	if (!addr || at != argc - 1)
		kw_usage(usage);
	t = find_test(argv[at]);
	if (!rounds)
		rounds = t->rounds;
	run(t);
	return KW_OK;
}
