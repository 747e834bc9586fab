// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: tests of a held send queue, without a kernel.
 *
 * Held: the kernel has set KWARP_RING_HELD, so a post does not ring the doorbell.  The provider
 * rings once for all requests posted until then, when the program has nothing else to do: when a
 * poll of a CQ of the queue pair finds nothing, or the program asks for an event.  kernel.rings
 * counts doorbells.
 */
#include <config.h>

#include <ccan/array_size.h>

#include "fake_kernel.h"

static void idle_poll(struct kwarp_cq *cq)
{
	struct ibv_wc wc;

	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 0);
}

static void idle_start_poll(struct kwarp_cq *cq)
{
	struct ibv_poll_cq_attr attr = {};

	CHECK(ibv_start_poll(&cq->vcq.cq_ex, &attr) == ENOENT);
}

static void idle_arm(struct kwarp_cq *cq)
{
	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 0));
}

static void idle_arm_solicited(struct kwarp_cq *cq)
{
	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 1));
}

static const struct {
	const char *name;
	void (*idle)(struct kwarp_cq *cq);
} idlers[] = {
#define IDLER(_name) { #_name, idle_##_name }
	IDLER(poll),
	IDLER(start_poll),
	IDLER(arm),
	IDLER(arm_solicited),
#undef IDLER
};

/*
 * Each call by which the program shows that it has nothing else to do (idlers[]) rings the doorbell
 * once, whether the call is for the send CQ or for the receive CQ.
 */
static void test_held(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	size_t i;
	int way;

	for (i = 0; i < ARRAY_SIZE(idlers) * 2; i++) {
		struct kwarp_qp *qp = qp_make(0);
		struct kwarp_cq *cq = to_kcq(i % 2 ? qp->vqp.qp.recv_cq : qp->vqp.qp.send_cq);
		int before = failures;

		way = i / 2;
		qp->sq.ring.hdr->flags = KWARP_RING_HELD;
		CHECK(!send_one(qp, &wr) && !send_one(qp, &wr));
		CHECK(kernel.rings == 0 && qp->sq.ring.hdr->prod == 2);
		idlers[way].idle(cq);
		CHECK(kernel.rings == 1);
		CHECK(kernel.last_cmd == KWARP_IOC_POSTED_SEND && kernel.last_arg == QPN);
		idlers[way].idle(cq);
		idle_poll(to_kcq(qp->vqp.qp.send_cq));
		idle_poll(to_kcq(qp->vqp.qp.recv_cq));
		CHECK(kernel.rings == 1);
		if (failures != before)
			printf("# in case '%s', CQ %zu\n", idlers[way].name, i % 2);
		qp_drop(qp);
	}
}

/* A poll that finds a completion does not ring the doorbell: the program may post more. */
static void test_held_busy(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_cq *cq = to_kcq(qp->vqp.qp.send_cq);
	uint32_t polls = cq->hdr->polls;
	struct ibv_wc wc;

	qp->sq.ring.hdr->flags = KWARP_RING_HELD;
	cq_add(cq, 1, QPN);
	cq_add(cq, 2, QPN);
	CHECK(!send_one(qp, &wr));
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1 && wc.wr_id == 1);
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1 && wc.wr_id == 2);
	CHECK(kernel.rings == 0 && cq->hdr->polls == polls + 2);
	/* The poll finds nothing, rings, and finds the completion that the doorbell causes. */
	kernel.completes = cq;
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1);
	CHECK(kernel.rings == 1);
	qp_drop(qp);
}

/*
 * When the program asks for an event, the provider rings only for requests that were posted before
 * that.  The doorbell for later requests is rung by the next poll that finds nothing.
 */
static void test_held_armed(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_cq *cq = to_kcq(qp->vqp.qp.recv_cq);

	qp->sq.ring.hdr->flags = KWARP_RING_HELD;
	idle_arm(cq);
	CHECK(!send_one(qp, &wr) && !send_one(qp, &wr));
	CHECK(kernel.rings == 0);
	idle_poll(cq);
	CHECK(kernel.rings == 1);
	qp_drop(qp);
}

/*
 * The doorbell for requests posted during an extended poll is rung by ibv_end_poll(), if the poll
 * has found that the CQ has no more entries.
 */
static void test_held_in_poll(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_cq *cq = to_kcq(qp->vqp.qp.recv_cq);
	struct ibv_poll_cq_attr attr = {};

	cq_add(cq, 1, QPN);
	CHECK(!ibv_start_poll(&cq->vcq.cq_ex, &attr));
	qp->sq.ring.hdr->flags = KWARP_RING_NEED_KICK;
	CHECK(!send_one(qp, &wr));
	qp->sq.ring.hdr->flags = KWARP_RING_HELD;
	CHECK(!send_one(qp, &wr));
	CHECK(kernel.rings == 1);
	/* Without ibv_next_poll() the program has not seen that the CQ is empty: no doorbell. */
	ibv_end_poll(&cq->vcq.cq_ex);
	CHECK(kernel.rings == 1);
	cq_add(cq, 1, QPN);
	CHECK(!ibv_start_poll(&cq->vcq.cq_ex, &attr));
	CHECK(ibv_next_poll(&cq->vcq.cq_ex) == ENOENT);
	ibv_end_poll(&cq->vcq.cq_ex);
	CHECK(kernel.rings == 2);
	qp_drop(qp);
}

/*
 * If all polls find something, the doorbell is rung after 64 of them (BUSY_POLLS): otherwise the
 * request would wait for ever.
 */
static void test_held_always_busy(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_cq *cq = to_kcq(qp->vqp.qp.send_cq);
	struct ibv_poll_cq_attr attr = {};
	struct ibv_wc wc;
	int i;

	qp->sq.ring.hdr->flags = KWARP_RING_HELD;
	CHECK(!send_one(qp, &wr));
	for (i = 0; i < 64; i++) {
		CHECK(kernel.rings == 0);
		cq_add(cq, 1, QPN);
		if (i % 2) {
			CHECK(!ibv_start_poll(&cq->vcq.cq_ex, &attr));
			ibv_end_poll(&cq->vcq.cq_ex);
		} else {
			CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1);
		}
	}
	CHECK(kernel.rings == 1);
	qp_drop(qp);
}

/* A poll rings no doorbell for requests that the kernel has sent without a doorbell. */
static void test_held_sent(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_cq *cq = to_kcq(qp->vqp.qp.send_cq);

	qp->sq.ring.hdr->flags = KWARP_RING_HELD;
	CHECK(!send_one(qp, &wr));
	qp->sq.ring.hdr->cons = qp->sq.ring.hdr->prod;
	idle_poll(cq);
	CHECK(kernel.rings == 0);
	CHECK(!send_one(qp, &wr));
	idle_poll(cq);
	CHECK(kernel.rings == 1);
	qp_drop(qp);
}

/*
 * Many queue pairs with requests: a poll rings for up to 16 of them, and rings for no more if it
 * then finds a completion.  Polls that find nothing ring for all.
 */
static void test_held_many(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp[40];
	struct kwarp_cq *cq = NULL;
	struct ibv_wc wc;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(qp); i++) {
		qp[i] = qp_make(0);
		if (cq) {
			cq_drop(to_kcq(qp[i]->vqp.qp.send_cq));
			qp[i]->vqp.qp.send_cq = &cq->vcq.cq;
		}
		cq = to_kcq(qp[0]->vqp.qp.send_cq);
		qp[i]->sq.ring.hdr->flags = KWARP_RING_HELD;
		CHECK(!send_one(qp[i], &wr));
	}
	kernel.rings = 0;
	kernel.lists = 0;
	kernel.completes = cq;
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1);
	CHECK(kernel.rings > 0 && kernel.rings < (int)ARRAY_SIZE(qp));
	kernel.completes = NULL;
	while (kwarp_poll_cq(&cq->vcq.cq, 1, &wc))
		;
	CHECK(kernel.rings == ARRAY_SIZE(qp));
	/* One ioctl() names at most 16 queue pairs: for 40 it takes three (16, 16 and 8). */
	CHECK(kernel.lists == 3);
	for (i = 0; i < ARRAY_SIZE(qp); i++)
		kwarp_forget_left(qp[i]);
	for (i = ARRAY_SIZE(qp) - 1; i; i--) {
		qp[i]->vqp.qp.send_cq = qp[i]->vqp.qp.recv_cq;
		qp_drop(qp[i]);
	}
	qp_drop(qp[0]);
}

/* A poll rings no doorbell for a queue pair that was destroyed, even if it had requests. */
static void test_held_destroyed(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_qp *qp = qp_make(0);

	qp->sq.ring.hdr->flags = KWARP_RING_HELD;
	CHECK(!send_one(qp, &wr));
	kwarp_forget_left(qp);
	idle_poll(to_kcq(qp->vqp.qp.send_cq));
	idle_poll(to_kcq(qp->vqp.qp.recv_cq));
	CHECK(kernel.rings == 0);
	qp_drop(qp);
}

const struct test held_tests[] = {
	{ "held: rung for when the program is idle", test_held },
	{ "held: not while it polls completions", test_held_busy },
	{ "held: by who has asked for an event, too", test_held_armed },
	{ "held: posted while polling", test_held_in_poll },
	{ "held: not for ever", test_held_always_busy },
	{ "held: sent by the kernel", test_held_sent },
	{ "held: many queue pairs", test_held_many },
	{ "held: destroyed", test_held_destroyed },
	{}
};
