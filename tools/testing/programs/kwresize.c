// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwresize is a test program that resizes a completion queue again and again.
 *
 *	kwresize -d device [-n resizes]
 *
 * First it measures how long a resize takes, and compares that with the creation and destruction of
 * a completion queue: both allocate a ring.  Then a thread posts to a queue pair in the error
 * state, which flushes each request at once, and polls, while the queue is resized: each request
 * completes once and in order, though the queue has not one entry more than it needs, and no poll
 * takes long.
 */
#include "kwib.h"
#include "kwtest.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define DEPTH		64	/* requests that may be outstanding; a power of two */
#define LARGE		(8 * DEPTH)
#define RATIO		4
#define SLACK_MS	2	/* for each resize */
#define POLL_MS		1000

static struct ibv_context *verbs;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static unsigned int resizes = 200;
static bool end;

static struct {
	uint64_t completed;
	int64_t longest_ms;
} seen;

static void make_dead_qp(void)
{
	struct ibv_qp_init_attr attr = kw_qp_attr(cq, DEPTH, 1, 1);
	struct ibv_qp_attr state = { .qp_state = IBV_QPS_ERR };
	struct ibv_pd *pd = ibv_alloc_pd(verbs);

	attr.sq_sig_all = 1;
	qp = pd ? ibv_create_qp(pd, &attr) : NULL;
	if (!qp || ibv_modify_qp(qp, &state, IBV_QP_STATE))
		kw_die(KW_SETUP, "cannot make a queue pair: %s", strerror(errno));
}

static void resize_nth(unsigned int i)
{
	int rv = ibv_resize_cq(cq, i % 2 ? DEPTH : LARGE);

	if (rv)
		kw_die(KW_MISMATCH, "FAILED: resize %u: %s", i, strerror(rv));
}

static void compare_times(void)
{
	int64_t begin = kw_now_ms(), made, resized;
	unsigned int i;

	for (i = 0; i < resizes; i++) {
		cq = ibv_create_cq(verbs, i % 2 ? DEPTH : LARGE, NULL, NULL, 0);
		if (!cq || ibv_destroy_cq(cq))
			kw_die(KW_SETUP, "no completion queue: %s", strerror(errno));
	}
	made = kw_now_ms() - begin;
	cq = ibv_create_cq(verbs, DEPTH, NULL, NULL, 0);
	if (!cq)
		kw_die(KW_SETUP, "no completion queue: %s", strerror(errno));
	begin = kw_now_ms();
	for (i = 0; i < resizes; i++)
		resize_nth(i);
	resized = kw_now_ms() - begin;
	kw_say("%u queues made in %d ms, resized in %d ms", resizes, (int)made, (int)resized);
	if (resized > RATIO * made + SLACK_MS * resizes)
		kw_die(KW_MISMATCH, "FAILED: resizing takes too long");
}

static void post(uint64_t id)
{
	struct ibv_send_wr wr = { .wr_id = id, .opcode = IBV_WR_SEND }, *bad;
	int rv = ibv_post_send(qp, &wr, &bad);

	if (rv)
		kw_die(KW_MISMATCH, "FAILED: request %d: %s", (int)id, strerror(rv));
}

static int timed_poll(struct ibv_wc *wc)
{
	const int64_t begin = kw_now_ms();
	int n = ibv_poll_cq(cq, DEPTH / 4, wc);

	if (kw_now_ms() - begin > seen.longest_ms)
		seen.longest_ms = kw_now_ms() - begin;
	return n;
}

/* Keep DEPTH requests outstanding. */
static void *poller(void *arg)
{
	struct ibv_wc wc[DEPTH / 4];
	uint64_t posted = 0;
	int i, n;

	while (!__atomic_load_n(&end, __ATOMIC_ACQUIRE) || posted != seen.completed) {
		while (posted - seen.completed < DEPTH && !__atomic_load_n(&end, __ATOMIC_ACQUIRE))
			post(posted++);
		n = timed_poll(wc);
		if (n < 0)
			kw_die(KW_MISMATCH, "FAILED: a poll after %d completions: %s",
			       (int)seen.completed, strerror(-n));
		for (i = 0; i < n; i++)
			if (wc[i].wr_id != seen.completed++)
				kw_die(KW_MISMATCH, "FAILED: request %d completed instead of %d",
				       (int)wc[i].wr_id, (int)seen.completed - 1);
	}
	return NULL;
}

static void resize_under_polls(void)
{
	pthread_t thread;
	unsigned int i;

	if (pthread_create(&thread, NULL, poller, NULL))
		kw_die(KW_SETUP, "no thread");
	for (i = 0; i < resizes; i++)
		resize_nth(i);
	__atomic_store_n(&end, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	kw_say("%u resizes, %d completions, longest poll %d ms", resizes, (int)seen.completed,
	       (int)seen.longest_ms);
	if (seen.longest_ms > POLL_MS)
		kw_die(KW_MISMATCH, "FAILED: a poll took too long");
}

int main(int argc, char **argv)
{
	const char *name = NULL;
	const struct kw_option table[] = {
		KW_NEED('d', name),
		KW_NUMBER('n', resizes, 1, 1000000),
		{ 0 }
	};

	kw_options(argc, argv, table, "kwresize -d device [-n resizes] [-v]");
	verbs = ibv_open_device(kw_device(name));
	if (!verbs)
		kw_die(KW_SETUP, "cannot open device %s", name);
	compare_times();
	make_dead_qp();
	resize_under_polls();
	return KW_OK;
}
