// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: tests of polling and arming completion queues, without a kernel.
 */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "fake_kernel.h"

static void test_poll(void)
{
	struct kwarp_cq *cq = cq_make(0xfffffffe);
	struct ibv_wc wc[SLOTS];
	uint64_t next = 0, id = 0;
	int round, i, n;

	CHECK(kwarp_poll_cq(&cq->vcq.cq, SLOTS, wc) == 0);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < SLOTS; i++)
			cq_add(cq, id++, 5);
		while ((n = kwarp_poll_cq(&cq->vcq.cq, 3, wc)) > 0) {
			CHECK(n <= 3);
			for (i = 0; i < n; i++, next++) {
				CHECK(wc[i].wr_id == next);
				CHECK(wc[i].byte_len == next * 10);
				CHECK(wc[i].qp_num == 5);
				CHECK(wc[i].opcode == IBV_WC_RECV);
			}
		}
		CHECK(n == 0 && cq->hdr->cons == cq->hdr->prod);
	}
	CHECK(next == id);

	/* A CQ overrun (a lost completion) is reported after all entries have been polled. */
	cq_add(cq, 1, 5);
	cq->hdr->flags = KWARP_RING_ERROR;
	CHECK(kwarp_poll_cq(&cq->vcq.cq, SLOTS, wc) == 1);
	CHECK(kwarp_poll_cq(&cq->vcq.cq, SLOTS, wc) < 0);
	cq_drop(cq);
}

/* An entry is polled when the flag of its pass over the ring is there, whatever prod says. */
static void test_phase(void)
{
	static const uint16_t flags[] = { KWARP_CQE_EVEN, KWARP_CQE_ODD };
	struct ibv_wc wc[SLOTS];
	uint32_t pass;

	for (pass = 0; pass < 4; pass++) {
		struct kwarp_cq *cq = cq_make(pass * SLOTS);

		cq->hdr->prod += SLOTS;
		CHECK(kwarp_poll_cq(&cq->vcq.cq, SLOTS, wc) == 0);
		cq->entries[0].flags = flags[!(pass % 2)];
		CHECK(kwarp_poll_cq(&cq->vcq.cq, SLOTS, wc) == 0);
		cq->entries[0].flags = flags[pass % 2] | KWARP_CQE_SOLICITED;
		CHECK(kwarp_poll_cq(&cq->vcq.cq, SLOTS, wc) == 1);
		cq_drop(cq);
	}
}

static void test_poll_translation(void)
{
	struct kwarp_cq *cq = cq_make(0);
	struct ibv_wc wc;
	struct kwarp_cqe *e = &cq->entries[0];

	cq_add(cq, 1, 5);
	e->opcode = KWARP_WC_RECV_INV;
	e->inv_stag = 0xfeed;
	e->flags |= KWARP_CQE_SOLICITED;
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1);
	CHECK(wc.opcode == IBV_WC_RECV && wc.wc_flags == IBV_WC_WITH_INV);
	CHECK(wc.invalidated_rkey == 0xfeed && wc.status == IBV_WC_SUCCESS && !wc.vendor_err);

	cq_add(cq, 2, 5);
	e = &cq->entries[1];
	e->opcode = KWARP_WR_READ;
	e->status = KWARP_WC_REM_ACCESS_ERR;
	e->vendor_err = 0x1234;
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1);
	CHECK(wc.opcode == IBV_WC_RDMA_READ && !wc.wc_flags);
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR && wc.vendor_err == 0x1234);

	cq_add(cq, 3, 5);
	cq->entries[2].status = 0xff;
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 1, &wc) == 1);
	CHECK(wc.status == IBV_WC_GENERAL_ERR);
	cq_drop(cq);
}

static void test_forget_qp(void)
{
	struct kwarp_cq *cq = cq_make(0);
	struct ibv_poll_cq_attr attr = {};
	struct ibv_wc wc[SLOTS];
	int i;

	for (i = 0; i < SLOTS; i++)
		cq_add(cq, i, i % 2 ? 5 : 6);
	kwarp_cq_forget_qp(cq, 5);
	CHECK(kwarp_poll_cq(&cq->vcq.cq, 2, wc) == 2);
	CHECK(wc[0].wr_id == 0 && wc[1].wr_id == 2);

	CHECK(!ibv_start_poll(&cq->vcq.cq_ex, &attr));
	CHECK(cq->vcq.cq_ex.wr_id == 4);
	CHECK(!ibv_next_poll(&cq->vcq.cq_ex));
	CHECK(cq->vcq.cq_ex.wr_id == 6);
	CHECK(ibv_next_poll(&cq->vcq.cq_ex) == ENOENT);
	ibv_end_poll(&cq->vcq.cq_ex);
	CHECK(cq->hdr->cons == SLOTS);

	/*
	 * Entries of the destroyed QP are hidden.  A new entry that the kernel writes to the slot
	 * of a hidden entry is not hidden.
	 */
	cq_add(cq, 42, 5);
	CHECK(kwarp_poll_cq(&cq->vcq.cq, SLOTS, wc) == 1 && wc[0].wr_id == 42);

	/* If all entries are hidden, the poll finds nothing, and releases these entries. */
	cq_add(cq, 43, 5);
	kwarp_cq_forget_qp(cq, 5);
	CHECK(ibv_start_poll(&cq->vcq.cq_ex, &attr) == ENOENT);
	CHECK(cq->hdr->cons == cq->hdr->prod);
	cq_drop(cq);
}

static void test_poll_ex(void)
{
	struct kwarp_cq *cq = cq_make(0);
	struct ibv_cq_ex *cqx = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};
	uint64_t id = 1, seen = 1;

	CHECK(ibv_start_poll(cqx, &attr) == ENOENT);
	attr.comp_mask = 1;
	CHECK(ibv_start_poll(cqx, &attr) == EINVAL);
	attr.comp_mask = 0;

	/*
	 * The CQ is full, and each completion that the poll takes makes room for another: the
	 * program may post a request at once, and the kernel may complete it during the poll.
	 */
	while (id <= SLOTS)
		cq_add(cq, id++, 5);
	CHECK(!ibv_start_poll(cqx, &attr));
	while (seen < 4 * SLOTS) {
		CHECK(cqx->wr_id == seen && cqx->status == IBV_WC_SUCCESS);
		CHECK(ibv_wc_read_opcode(cqx) == IBV_WC_RECV);
		CHECK(ibv_wc_read_byte_len(cqx) == seen * 10);
		CHECK(ibv_wc_read_qp_num(cqx) == 5);
		CHECK(ibv_wc_read_src_qp(cqx) == 0 && ibv_wc_read_sl(cqx) == 0);
		CHECK(cq->hdr->prod - cq->hdr->cons < SLOTS);
		cq_add(cq, id++, 5);
		seen++;
		CHECK(!ibv_next_poll(cqx));
	}
	/* The poll has the lock, and the program may arm the CQ. */
	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 0));
	CHECK(cq->hdr->arm == KWARP_CQ_ARM_NEXT);
	cq->resizing = true;
	CHECK(kwarp_req_notify_cq(&cq->vcq.cq, 0) == EBUSY);
	cq->resizing = false;
	ibv_end_poll(cqx);
	CHECK(cq->hdr->cons == seen);
	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 1));
	cq_drop(cq);
}

/* A CQ has the timestamps of one clock, and refuses to have two. */
static void test_timestamps(void)
{
	static const uint64_t raw = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	static const uint64_t real = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	struct ibv_cq_init_attr_ex attr = { .cqe = SLOTS, .wc_flags = raw | real };
	struct kwarp_cq *cq = cq_make(0);
	struct ibv_cq_ex *cqx = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr poll = {};

	CHECK(!kwarp_create_cq_ex(&ctx.ibv_ctx.context, &attr) && errno == EOPNOTSUPP);
	kwarp_cq_init_ex(cq, raw);
	CHECK(!cqx->read_completion_wallclock_ns);
	cq_add(cq, 7, 5);
	CHECK(!ibv_start_poll(cqx, &poll) && ibv_wc_read_completion_ts(cqx) == 700);
	ibv_end_poll(cqx);
	kwarp_cq_init_ex(cq, real);
	cq_add(cq, 8, 5);
	CHECK(!ibv_start_poll(cqx, &poll) && ibv_wc_read_completion_wallclock_ns(cqx) == 800);
	ibv_end_poll(cqx);
	cq_drop(cq);
}

static void test_arm(void)
{
	struct kwarp_cq *cq = cq_make(0);

	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 1));
	CHECK(cq->hdr->arm == KWARP_CQ_ARM_SOLICITED);
	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 0));
	CHECK(cq->hdr->arm & KWARP_CQ_ARM_NEXT);
	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 1));
	CHECK(cq->hdr->arm & KWARP_CQ_ARM_NEXT);
	cq_drop(cq);
}

const struct test cq_tests[] = {
	{ "poll: order, wrap, overrun", test_poll },
	{ "poll: phase", test_phase },
	{ "poll: translation", test_poll_translation },
	{ "poll: entries of a destroyed QP", test_forget_qp },
	{ "poll: extended", test_poll_ex },
	{ "timestamps", test_timestamps },
	{ "arm", test_arm },
	{}
};
