// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwagain is a test program that uses one queue pair for many connections, one after the other.
 *
 *	kwagain [-s] -a addr [-p port] [-n cycles] [-v]
 *
 * In each cycle the two ends (-s: the one that listens) post receives, connect, exchange messages
 * whose contents are checked, and disconnect, which flushes unused receives.  Then the queue pair
 * goes to state RESET, and the next cycle begins.  A receive that is posted after a connection has
 * ended must not get a message of the next connection.
 *
 * In the first cycle the end that connects makes two children by fork(). One posts a Send, which
 * must crash it and must not disturb the connection; the other one closes the device.
 *
 * Status 0: each request completed once, and all objects could be destroyed.
 */
#include "kwcm.h"
#include "kwtest.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT_MS	30000
#define DEPTH		5	/* not a power of two: cycles begin at different places of a ring */
#define LEN		200
#define SEND		1000	/* wr_id of Sends; those of receives are smaller */
#define CRASHED		42	/* status of a child that has got SIGSEGV */
#define STALE		2000	/* wr_id of the receive that is posted after a connection's end */

static struct {
	bool server;
	const char *addr, *port;
	unsigned int cycles;
} opt = { .port = "4422", .cycles = 20 };

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static uint8_t mem[DEPTH + 2][LEN];	/* DEPTH receives, a Send, and the receive STALE */

static void make(struct ibv_context *verbs)
{
	struct ibv_qp_init_attr attr;

	pd = ibv_alloc_pd(verbs);
	cq = ibv_create_cq(verbs, 4 * DEPTH, NULL, NULL, 0);
	attr = kw_qp_attr(cq, DEPTH, DEPTH + 1, 1);
	attr.sq_sig_all = 1;
	qp = pd && cq ? ibv_create_qp(pd, &attr) : NULL;
	mr = pd ? ibv_reg_mr(pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (!qp || !mr)
		kw_die(KW_SETUP, "cannot create the queue pair: %s", strerror(errno));
}

static struct ibv_sge place(unsigned int i)
{
	return (struct ibv_sge){ (uintptr_t)mem[i], LEN, mr->lkey };
}

static void post_recv(uint64_t id, unsigned int i)
{
	struct ibv_sge sge = place(i);
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	memset(mem[i], 0, LEN);
	if (ibv_post_recv(qp, &wr, &bad))
		kw_die(KW_MISMATCH, "cannot post receive %u", i);
}

static void post_send(uint64_t key)
{
	struct ibv_sge sge = place(DEPTH);
	struct ibv_send_wr wr = {
		.wr_id = SEND, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *bad;

	kw_fill(mem[DEPTH], LEN, key, 0);
	if (ibv_post_send(qp, &wr, &bad))
		kw_die(KW_MISMATCH, "cannot post a Send");
}

/*
 * Completions that were polled while the program waited for one of the other queue (send or
 * receive). The order of completions of the two queues is not defined.
 */
static struct {
	struct ibv_wc wc[2 * DEPTH];
	unsigned int n;
} early;

static bool is_same_queue(uint64_t a, uint64_t b)
{
	return (a == SEND) == (b == SEND);
}

static bool take_early(uint64_t id, struct ibv_wc *wc)
{
	unsigned int i;

	for (i = 0; i < early.n; i++)
		if (is_same_queue(early.wc[i].wr_id, id)) {
			*wc = early.wc[i];
			early.n--;
			memmove(&early.wc[i], &early.wc[i + 1], (early.n - i) * sizeof(*wc));
			return true;
		}
	return false;
}

static void keep_early(const struct ibv_wc *wc)
{
	if (early.n == 2 * DEPTH)
		kw_die(KW_MISMATCH, "more completions than requests");
	early.wc[early.n++] = *wc;
}

/* Wait for the next completion of the queue (send or receive) that request @id is in. */
static void next_completion(uint64_t id, struct ibv_wc *wc)
{
	const int64_t end = kw_now_ms() + EVENT_MS;

	if (take_early(id, wc))
		return;
	for (;;) {
		if (!ibv_poll_cq(cq, 1, wc)) {
			if (kw_now_ms() > end)
				kw_die(KW_STALL, "request %u does not complete", (unsigned int)id);
			continue;
		}
		if (is_same_queue(wc->wr_id, id))
			return;
		keep_early(wc);
	}
}

static void expect(uint64_t id, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	next_completion(id, &wc);
	if (wc.wr_id != id || wc.status != status)
		kw_die(KW_MISMATCH, "request %u completed (%s), not %u (%s)",
		       (unsigned int)wc.wr_id, ibv_wc_status_str(wc.status), (unsigned int)id,
		       ibv_wc_status_str(status));
}

static void expect_nothing(const char *when)
{
	struct ibv_wc wc;

	if (take_early(0, &wc) || take_early(SEND, &wc) || ibv_poll_cq(cq, 1, &wc))
		kw_die(KW_MISMATCH, "%s request %u completed (%s)", when, (unsigned int)wc.wr_id,
		       ibv_wc_status_str(wc.status));
}

static uint64_t key_of(unsigned int cycle, unsigned int message)
{
	return kw_mix(cycle, message);
}

static void send_one(unsigned int cycle, unsigned int message)
{
	post_send(key_of(cycle, message));
	expect(SEND, IBV_WC_SUCCESS);
}

static void receive_one(unsigned int cycle, unsigned int message, unsigned int i)
{
	expect(i, IBV_WC_SUCCESS);
	if (kw_check(mem[i], LEN, key_of(cycle, message), 0) != LEN)
		kw_die(KW_MISMATCH, "message %u of cycle %u is not what was sent", message, cycle);
}

/* Two messages go to the server, and one comes back. Return: number of receives this end used. */
static unsigned int exchange(unsigned int cycle)
{
	if (opt.server) {
		receive_one(cycle, 0, 0);
		receive_one(cycle, 1, 1);
		send_one(cycle, 2);
		return 2;
	}
	send_one(cycle, 0);
	send_one(cycle, 1);
	receive_one(cycle, 2, 0);
	return 1;
}

static void to_state(enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int rv = ibv_modify_qp(qp, &attr, IBV_QP_STATE);

	if (rv)
		kw_die(KW_MISMATCH, "cannot bring the queue pair into state %d: %s", state,
		       strerror(rv));
}

/*
 * Move the queue pair to the error state, which must flush the unused receives @from to @to - 1. A
 * Send that is posted afterwards must be flushed, too.
 */
static void end_stream(unsigned int from, unsigned int to)
{
	to_state(IBV_QPS_ERR);
	for (; from < to; from++)
		expect(from, IBV_WC_WR_FLUSH_ERR);
	post_send(0);
	expect(SEND, IBV_WC_WR_FLUSH_ERR);
	expect_nothing("after the flush");
}

/*
 * Post a receive, and reset the queue pair. If the provider rings a doorbell for receives, the
 * receive is flushed before the reset; otherwise the reset drops it.
 */
static void start_over(void)
{
	struct ibv_wc wc;

	post_recv(STALE, DEPTH + 1);
	to_state(IBV_QPS_RESET);
	while (ibv_poll_cq(cq, 1, &wc))
		if (wc.wr_id != STALE || wc.status != IBV_WC_WR_FLUSH_ERR)
			kw_die(KW_MISMATCH, "at the reset request %u completed (%s)",
			       (unsigned int)wc.wr_id, ibv_wc_status_str(wc.status));
}

static void want_event(struct rdma_event_channel *ch, enum rdma_cm_event_type type,
		       struct kwcm_event *ev)
{
	if (kwcm_expect(ch, type, EVENT_MS, ev))
		kw_die(KW_LOST, "%s did not come", rdma_event_str(type));
}

/* Make an id for the next connection. At the server: wait for the next connect request. */
static struct rdma_cm_id *next_id(struct rdma_cm_id *listener)
{
	struct kwcm_event ev;

	if (!listener)
		return kwcm_resolve(opt.addr, opt.port);
	want_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST, &ev);
	return ev.id;
}

static void connect_it(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .qp_num = qp->qp_num };
	struct kwcm_event ev;

	if (opt.server ? rdma_accept(id, &param) : rdma_connect(id, &param))
		kw_die(KW_MISMATCH, "cannot %s: %s", opt.server ? "accept" : "connect",
		       strerror(errno));
	want_event(id->channel, RDMA_CM_EVENT_ESTABLISHED, &ev);
}

static void crashed(int sig)
{
	_exit(CRASHED);
}

static void child_posts(struct rdma_cm_id *id)
{
	struct sigaction act = { .sa_handler = crashed };

	sigaction(SIGSEGV, &act, NULL);
	post_send(0);
}

static void child_closes(struct rdma_cm_id *id)
{
	ibv_close_device(id->verbs);
}

/* Let a child do @what, and expect that it ends with @status. */
static void in_child(void (*what)(struct rdma_cm_id *id), struct rdma_cm_id *id, int status)
{
	pid_t pid = fork();
	int got = -1;

	if (pid < 0)
		kw_die(KW_SETUP, "cannot fork: %s", strerror(errno));
	if (!pid) {
		what(id);
		_exit(0);
	}
	if (waitpid(pid, &got, 0) != pid || !WIFEXITED(got) || WEXITSTATUS(got) != status)
		kw_die(KW_MISMATCH, "a child ended with status %#x, not %d", got, status);
}

static void one_cycle(struct rdma_cm_id *listener, unsigned int cycle)
{
	const unsigned int receives = 3 + cycle % 3;
	struct rdma_cm_id *id = next_id(listener);
	struct kwcm_event ev;
	unsigned int i, used;

	if (!qp)
		make(id->verbs);
	expect_nothing("before it was connected");
	for (i = 0; i < receives; i++)
		post_recv(i, i);
	connect_it(id);
	if (!opt.server && !cycle) {
		in_child(child_posts, id, CRASHED);
		in_child(child_closes, id, 0);
	}
	used = exchange(cycle);
	if (!opt.server && rdma_disconnect(id))
		kw_die(KW_MISMATCH, "cannot disconnect: %s", strerror(errno));
	want_event(id->channel, RDMA_CM_EVENT_DISCONNECTED, &ev);
	end_stream(used, receives);
	start_over();
	if (listener)
		rdma_destroy_id(id);
	else
		kwcm_destroy(id);
}

static void destroy(void)
{
	if (ibv_destroy_qp(qp) || ibv_destroy_cq(cq) || ibv_dereg_mr(mr) || ibv_dealloc_pd(pd))
		kw_die(KW_MISMATCH, "something cannot be destroyed: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	const struct kw_option table[] = {
		KW_FLAG('s', opt.server),
		KW_NEED('a', opt.addr),
		KW_TEXT('p', opt.port),
		KW_NUMBER('n', opt.cycles, 1, 100000),
		{ 0 }
	};
	struct rdma_cm_id *listener;
	unsigned int i;

	kw_options(argc, argv, table, "kwagain [-s] -a addr [-p port] [-n cycles] [-v]");
	listener = opt.server ? kwcm_listen(opt.addr, opt.port, 1) : NULL;
	for (i = 0; i < opt.cycles; i++)
		one_cycle(listener, i);
	destroy();
	if (listener)
		kwcm_destroy(listener);
	kw_say("%u connections", opt.cycles);
	return 0;
}
