// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbench is a benchmark: the rate or latency of one kind of traffic between two processes.
 * This file: the client, which measures. A note is a message with the number of operations that an
 * end has counted; a credit says that the client may send more messages.
 */
#include "kwbench.h"
#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_BATCH	16
#define SETTLE_US	300000	/* time until a new connection is idle */

/* --------------------------------------------------------------- rates */

static const enum ibv_wr_opcode opcodes[] = {
	[KB_WRITE] = IBV_WR_RDMA_WRITE,
	[KB_READ] = IBV_WR_RDMA_READ,
	[KB_SEND] = IBV_WR_SEND,
	[KB_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
	[KB_FETCH_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	[KB_CMP_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
};

static bool may_post(const struct kb_run *run, const struct kb_qp *qp)
{
	if (kb_takes_receives(&run->cfg) && !qp->credits)
		return false;
	return run->ops < run->goal && qp->queued < run->cfg.depth;
}

static void fill_queue(struct kb_run *run, struct kb_qp *qp)
{
	while (may_post(run, qp)) {
		kb_post(run, qp, opcodes[run->cfg.op], KB_DATA, run->cfg.size,
			qp->unsignaled + 1 >= run->signal);
		if (kb_takes_receives(&run->cfg))
			qp->credits--;
		run->ops++;
	}
}

static void must_succeed(const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		kw_die(KW_LOST, "completion with error: %s, %#x", ibv_wc_status_str(wc->status),
		       wc->vendor_err);
}

static void handle_recv(struct kb_run *run, struct kb_qp *qp, const struct ibv_wc *wc)
{
	kb_post_recv(run, qp);
	if (kb_is_counted(&run->cfg) && wc->byte_len)
		qp->answered = true;
	else
		qp->credits += run->cfg.depth;
}

static void handle(struct kb_run *run, const struct ibv_wc *wc)
{
	struct kb_qp *qp = &run->qp[KB_WR_INDEX(wc->wr_id)];

	must_succeed(wc);
	qp->queued -= KB_WR_COUNT(wc->wr_id);
	if (KB_WR_WHAT(wc->wr_id) == KB_DRAIN)
		qp->drained = true;
	else if (KB_WR_WHAT(wc->wr_id) == KB_RECV)
		handle_recv(run, qp, wc);
	fill_queue(run, qp);
}

static void sleep_for_event(struct kb_run *run)
{
	struct ibv_cq *cq;
	void *ctx;

	if (ibv_get_cq_event(run->comp, &cq, &ctx))
		kw_die(KW_LOST, "no event: %s", strerror(errno));
	ibv_ack_cq_events(cq, 1);
	ibv_req_notify_cq(cq, 0);
}

static void handle_some(struct kb_run *run)
{
	struct ibv_wc wc[POLL_BATCH];
	int i, n = ibv_poll_cq(run->cq, POLL_BATCH, wc);

	for (i = 0; i < n; i++)
		handle(run, &wc[i]);
	if (!n && run->cfg.flags & KB_EVENTS)
		sleep_for_event(run);
}

static bool all_drained(const struct kb_run *run)
{
	unsigned int i;

	for (i = 0; i < run->qps; i++)
		if (!run->qp[i].drained)
			return false;
	return true;
}

static void drain(struct kb_run *run)
{
	uint32_t len = run->cfg.size < 8 ? run->cfg.size : 8;
	unsigned int i;

	for (i = 0; i < run->qps; i++) {
		run->qp[i].drained = false;
		kb_post(run, &run->qp[i], IBV_WR_RDMA_READ, KB_DRAIN, len, true);
	}
	while (!all_drained(run))
		handle_some(run);
}

static void phase(void *ctx, uint64_t count)
{
	struct kb_run *run = ctx;
	unsigned int i;

	run->ops = 0;
	run->goal = count;
	for (i = 0; i < run->qps; i++)
		fill_queue(run, &run->qp[i]);
	while (run->ops < count)
		handle_some(run);
	drain(run);
	if (kb_is_atomic(&run->cfg))
		kb_check_values(run);
}

void kb_client_rate(struct kb_run *run, double warm, double seconds)
{
	struct kb_work work = {
		.run = phase,
		.ctx = run,
		.least = run->qps * run->cfg.depth,
	};

	ibv_req_notify_cq(run->cq, 0);
	kb_measure_rate(&work, warm, seconds);
}

/* ------------------------------------------------------------- latency */

static void wait_completion(struct kb_run *run, enum kb_what what)
{
	struct ibv_wc wc;

	for (;;) {
		if (!ibv_poll_cq(run->cq, 1, &wc)) {
			if (run->cfg.flags & KB_EVENTS)
				sleep_for_event(run);
			continue;
		}
		must_succeed(&wc);
		run->qp->queued -= KB_WR_COUNT(wc.wr_id);
		if (KB_WR_WHAT(wc.wr_id) != what)
			continue;
		if (run->cfg.op == KB_WRITE_IMM)
			kb_hear(run, run->qp, &wc);
		return;
	}
}

static void write_to_and_fro(struct kb_run *run, uint8_t n)
{
	const volatile uint8_t *last = kb_sink(run) + run->cfg.size - 1;

	run->mem[run->cfg.size - 1] = n;
	kb_post(run, run->qp, IBV_WR_RDMA_WRITE, KB_DATA, run->cfg.size, true);
	while (*last != n)
		;
	wait_completion(run, KB_DATA);
}

/* Send a message, and wait until the server has sent one back by the same operation. */
static void send_to_and_fro(struct kb_run *run)
{
	kb_post(run, run->qp, opcodes[run->cfg.op], KB_DATA, run->cfg.size, true);
	wait_completion(run, KB_RECV);
	kb_post_recv(run, run->qp);
}

static void once(struct kb_run *run)
{
	if (run->cfg.op == KB_WRITE) {
		write_to_and_fro(run, ++run->turn);
	} else if (kb_takes_receives(&run->cfg)) {
		send_to_and_fro(run);
	} else {
		kb_post(run, run->qp, opcodes[run->cfg.op], KB_DATA, run->cfg.size, true);
		wait_completion(run, KB_DATA);
		if (kb_is_atomic(&run->cfg))
			kb_check_values(run);
	}
}

static void one_by_one(void *ctx, uint64_t count)
{
	while (count--)
		once(ctx);
}

void kb_client_latency(struct kb_run *run, double warm, double seconds)
{
	struct kb_work work = { .run = one_by_one, .ctx = run, .least = 1 };
	bool answered = run->cfg.op == KB_WRITE || kb_takes_receives(&run->cfg);

	ibv_req_notify_cq(run->cq, 0);
	/* If each operation is answered, half of a round trip is reported. */
	kb_measure_latency(&work, warm, seconds, answered ? 0.5 : 1);
}

/* ---------------------------------------------------------------- counts */

static void compare_one(struct kb_run *run, struct kb_qp *qp)
{
	/* A note needs a receive at the peer, so wait for a credit, as for any other message. */
	while (kb_takes_receives(&run->cfg) && !qp->credits)
		handle_some(run);
	qp->answered = false;
	run->notes[KB_OUT].count = qp->posted;
	kb_post(run, qp, IBV_WR_SEND, KB_NOTE, sizeof(run->notes[KB_OUT]), true);
	while (!qp->answered)
		handle_some(run);
	kb_check_note(run, qp);
}

/*
 * Compare the client's and the server's counts, one queue pair after the other, because there is
 * memory for only one note to send and one received note.
 */
void kb_client_compare(struct kb_run *run)
{
	unsigned int i;

	for (i = 0; kb_is_counted(&run->cfg) && i < run->qps; i++)
		compare_one(run, &run->qp[i]);
}

/* -------------------------------------------------------------- memory */

static long free_kib(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemFree: %ld", &kib) == 1)
			break;
	if (kib < 0)
		kw_die(KW_SETUP, "cannot read /proc/meminfo");
	fclose(f);
	return kib;
}

/*
 * Make connections, and print how much less memory is free for each of them. The first connection
 * is made before the measurement, so that memory which all connections share does not count.
 */
void kb_client_memory(struct kb_run *run, const char *addr, const char *port)
{
	unsigned int qps = run->cfg.qps;
	long before;

	if (qps < 2)
		kw_die(KW_SETUP, "memory is measured with two connections or more");
	kb_connect(run, 1, addr, port);
	usleep(SETTLE_US);
	before = free_kib();
	kb_connect(run, qps, addr, port);
	usleep(SETTLE_US);
	printf("{\"connections\": %u, \"kib_each\": %.2f}\n", qps - 1,
	       (double)(before - free_kib()) / (qps - 1));
}
