// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: test of posting, polling and doorbells without a kernel.
 *
 * post.c, recv.c, doorbell.c, wr.c and poll.c run on rings in ordinary memory; the tests consume
 * work requests and produce completions as the kernel would.  Output is TAP.
 * Tests of immediate data and atomic operations are in ext_test.c and ext_object_test.c.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ccan/array_size.h>

#include "fake_kernel.h"

/* ---------------------------------------------------------- receive queues */

static void test_recv(void)
{
	struct ibv_recv_wr wr = { .wr_id = 3, .sg_list = test_sges,
				  .num_sge = MAX_SGE };
	struct ibv_recv_wr many = { .num_sge = MAX_SGE + 1, .sg_list = test_sges };
	struct ibv_recv_wr negative = { .num_sge = -1, .sg_list = test_sges };
	struct kwarp_qp *qp = qp_make(0xffffffff);
	struct ibv_recv_wr *bad = NULL;
	int i;

	for (i = 0; i < MAX_WR; i++)
		CHECK(!kwarp_post_recv(&qp->vqp.qp, &wr, &bad));
	CHECK(kwarp_post_recv(&qp->vqp.qp, &wr, &bad) == ENOMEM);
	CHECK(bad == &wr && kernel.rings == 0);
	CHECK(rq_slot(&qp->rq, 0xffffffff)->id == 3);
	CHECK(rq_slot(&qp->rq, 0)->num_sge == MAX_SGE);
	CHECK(!memcmp(rq_slot(&qp->rq, 0) + 1, test_sges, MAX_SGE * sizeof(*test_sges)));

	CHECK(kwarp_post_recv(&qp->vqp.qp, &many, &bad) == EINVAL);
	CHECK(kwarp_post_recv(&qp->vqp.qp, &negative, &bad) == EINVAL);

	/* If the queue pair is in error, the kernel asks for a doorbell, to flush the receives. */
	qp->rq.ring.hdr->cons = qp->rq.ring.hdr->prod;
	qp->rq.ring.hdr->flags = KWARP_RING_NEED_KICK | KWARP_RING_ERROR;
	CHECK(!kwarp_post_recv(&qp->vqp.qp, &wr, &bad));
	CHECK(kernel.rings == 1);
	CHECK(kernel.last_cmd == KWARP_IOC_POSTED_RECV && kernel.last_arg == QPN);
	qp_drop(qp);
}

static void test_srq(void)
{
	struct ibv_recv_wr wr = { .wr_id = 8, .sg_list = test_sges, .num_sge = 1 };
	struct ibv_recv_wr *bad = NULL;
	struct kwarp_qp *qp = qp_make(0);
	struct kwarp_srq srq = {
		.ibv_srq.context = &ctx.ibv_ctx.context,
	};

	wq_make(&srq.wq, RQ_STRIDE, 0, 0);
	CHECK(!kwarp_post_srq_recv(&srq.ibv_srq, &wr, &bad));
	CHECK(srq.wq.ring.hdr->prod == 1 && rq_slot(&srq.wq, 0)->id == 8);

	/* A QP on an SRQ has no receive queue to post to. */
	free(qp->rq.ring.hdr);
	qp->rq.ring = (struct kwarp_ring){};
	qp->rq.max_sge = 0;
	qp->vqp.qp.srq = &srq.ibv_srq;
	CHECK(kwarp_post_recv(&qp->vqp.qp, &wr, &bad) == EINVAL && bad == &wr);
	free(srq.wq.ring.hdr);
	qp_drop(qp);
}

/* -------------------------------------------------------------- ibv_wr_*() */

static void test_wr_batch(void)
{
	struct kwarp_qp *qp = qp_make(0);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(&qp->vqp.qp);
	char abc[] = "abc", de[] = "de";
	struct ibv_data_buf bufs[2] = { { abc, 3 }, { de, 2 } };
	struct kwarp_sqe *e = sq_slot(qp, 0);

	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qpx, 7, 0x77);
	ibv_wr_set_sge_list(qpx, MAX_SGE, test_sges);
	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_FENCE;
	ibv_wr_send_inv(qpx, 0x99);
	ibv_wr_set_inline_data_list(qpx, 2, bufs);
	CHECK(qp->sq.ring.hdr->prod == 0);	/* not published before ibv_wr_complete() */
	qp->sq.ring.hdr->flags = KWARP_RING_NEED_KICK;
	CHECK(!ibv_wr_complete(qpx));
	CHECK(qp->sq.ring.hdr->prod == 2 && kernel.rings == 1);

	CHECK(e->id == 1 && e->opcode == KWARP_WR_WRITE);
	CHECK(e->flags == KWARP_WR_SIGNALED && e->num_sge == MAX_SGE);
	CHECK(e->rkey == 7 && e->raddr == 0x77);
	e = sq_slot(qp, 1);
	CHECK(e->id == 2 && e->opcode == KWARP_WR_SEND_INV);
	CHECK(e->flags == (KWARP_WR_FENCE | KWARP_WR_INLINE));
	CHECK(e->inline_len == 5 && !memcmp(e + 1, "abcde", 5));
	CHECK(e->inv_stag == 0x99);

	ibv_wr_start(qpx);			/* no request, so no doorbell */
	CHECK(!ibv_wr_complete(qpx) && kernel.rings == 1);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_abort(qpx);
	CHECK(qp->sq.ring.hdr->prod == 2 && qp->sq.ring.prod == 2);
	qp_drop(qp);
}

static void test_wr_errors(void)
{
	struct kwarp_qp *qp = qp_make(0);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(&qp->vqp.qp);
	char big[MAX_INLINE + 1] = {};
	int i;

	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_rdma_read(qpx, 1, 2);
	ibv_wr_set_sge_list(qpx, 2, test_sges);	/* an error: a Read has one sink */
	ibv_wr_send(qpx);			/* ignored, because of that error */
	ibv_wr_set_sge(qpx, 1, 2, 3);
	CHECK(ibv_wr_complete(qpx) == EINVAL);

	ibv_wr_start(qpx);
	ibv_wr_rdma_read(qpx, 1, 2);
	ibv_wr_set_inline_data(qpx, big, 1);
	CHECK(ibv_wr_complete(qpx) == EINVAL);

	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, big, MAX_INLINE + 1);
	CHECK(ibv_wr_complete(qpx) == EINVAL);

	ibv_wr_start(qpx);
	for (i = 0; i <= MAX_WR; i++)
		ibv_wr_send(qpx);
	CHECK(ibv_wr_complete(qpx) == ENOMEM);
	CHECK(qp->sq.ring.hdr->prod == 0 && qp->sq.ring.prod == 0);

	ibv_wr_start(qpx);
	ibv_wr_local_inv(qpx, 4);
	CHECK(!ibv_wr_complete(qpx) && qp->sq.ring.hdr->prod == 1);
	CHECK(sq_slot(qp, 0)->opcode == KWARP_WR_LOCAL_INV &&
	      sq_slot(qp, 0)->inv_stag == 4);
	qp_drop(qp);
}

/* ----------------------------------------------- doorbell with two threads */

#define RACE_POSTS	300000
/*
 * Between two requests each of the two threads spins.  The number of its loops grows by 1 with each
 * request, and starts again from 0 when it reaches the thread's number below.  The two numbers are
 * coprime, so that the steps of the threads meet in every order.
 */
#define RACE_KERNEL_SPIN	211
#define RACE_POSTER_SPIN	97

struct race {
	struct kwarp_qp *qp;
	sem_t wake;
	uint32_t sleeps;
	bool in_order;
	bool lost;
};

/*
 * The kernel's side of the doorbell protocol: take requests; if there are none, ask for a doorbell,
 * read prod again, and sleep if there still are none.
 */
static void *race_kernel(void *arg)
{
	struct race *r = arg;
	struct kwarp_ring_hdr *hdr = r->qp->sq.ring.hdr;
	struct timespec limit;
	volatile uint32_t spin;
	uint32_t next = 0;

	while (next < RACE_POSTS) {
		if (__atomic_load_n(&hdr->prod, __ATOMIC_ACQUIRE) != next) {
			if (sq_slot(r->qp, next)->id != next)
				r->in_order = false;
			__atomic_store_n(&hdr->cons, ++next, __ATOMIC_RELEASE);
			for (spin = 0; spin < next % RACE_KERNEL_SPIN; spin++)
				;
			continue;
		}
		__atomic_store_n(&hdr->flags, KWARP_RING_NEED_KICK,
				 __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (__atomic_load_n(&hdr->prod, __ATOMIC_ACQUIRE) == next) {
			r->sleeps++;
			clock_gettime(CLOCK_REALTIME, &limit);
			limit.tv_sec += 5;
			if (sem_timedwait(&r->wake, &limit)) {
				__atomic_store_n(&r->lost, true,
						 __ATOMIC_RELAXED);
				return NULL;
			}
		}
		__atomic_store_n(&hdr->flags, 0, __ATOMIC_RELAXED);
	}
	return r;
}

static void test_doorbell_race(void)
{
	struct race r = { .qp = qp_make(0), .in_order = true };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct kwarp_ring_hdr *hdr = r.qp->sq.ring.hdr;
	volatile uint32_t spin;
	pthread_t thread;
	void *done;
	uint32_t i;

	sem_init(&r.wake, 0, 0);
	kernel.wake = &r.wake;
	if (pthread_create(&thread, NULL, race_kernel, &r))
		abort();
	for (i = 0; i < RACE_POSTS; i++) {
		for (spin = 0; spin < i % RACE_POSTER_SPIN; spin++)
			;
		wr.wr_id = i;
		CHECK(!send_one(r.qp, &wr));
		/*
		 * Wait until the other thread has taken the request: if the doorbell for this
		 * request was lost, the next post would ring again and hide the loss.
		 */
		while (__atomic_load_n(&hdr->cons, __ATOMIC_ACQUIRE) == i)
			if (__atomic_load_n(&r.lost, __ATOMIC_RELAXED))
				break;
		if (__atomic_load_n(&r.lost, __ATOMIC_RELAXED))
			break;
	}
	pthread_join(thread, &done);
	CHECK(done == &r);
	CHECK(r.in_order);
	printf("# %u posts, %u sleeps, %d kicks\n", RACE_POSTS, r.sleeps,
	       kernel.rings);
	kernel.wake = NULL;
	sem_destroy(&r.wake);
	qp_drop(r.qp);
}

/* The provider of another release prints a message only if there is a link of kwarp. */
static void test_has_link(void)
{
	char sysfs[] = "/tmp/kwarp-test-XXXXXX", path[64];
	static const char *const dirs[] = { "", "/class", "/class/infiniband",
					    "/class/infiniband/mlx5_0",
					    "/class/infiniband/mlx5_0/kwarp" };
	int i;

	CHECK(mkdtemp(sysfs));
	for (i = 1; i < 5; i++) {
		CHECK(!kwarp_has_link(sysfs));
		snprintf(path, sizeof(path), "%s%s", sysfs, dirs[i]);
		CHECK(!mkdir(path, 0700));
	}
	CHECK(kwarp_has_link(sysfs));
	while (i-- > 0) {
		snprintf(path, sizeof(path), "%s%s", sysfs, dirs[i]);
		CHECK(!rmdir(path));
	}
}

static const struct test tests[] = {
	{ "recv: limits, full, doorbell in error", test_recv },
	{ "srq", test_srq },
	{ "wr: batch, abort", test_wr_batch },
	{ "wr: errors void the batch", test_wr_errors },
	{ "doorbell: no lost wake-up", test_doorbell_race },
	{ "links in sysfs", test_has_link },
	{}
};

static const struct test *const all_tests[] = {
	send_tests, bind_tests, held_tests, tests, cq_tests, resize_tests,
	ext_tests, ext_object_tests, inject_tests, say_tests, strict_tests,
};

static int count_tests(const struct test *list)
{
	int n = 0;

	while (list[n].name)
		n++;
	return n;
}

static void run_tests(const struct test *list, int *n)
{
	int before;

	for (; list->name; list++) {
		before = failures;
		list->run();
		printf("%s %d - %s\n", failures == before ? "ok" : "not ok",
		       ++*n, list->name);
	}
}

int main(int argc, char **argv)
{
	int n = 0, i;

	for (i = 0; i < ARRAY_SIZE(all_tests); i++)
		n += count_tests(all_tests[i]);
	printf("1..%d\n", n);
	n = 0;
	for (i = 0; i < ARRAY_SIZE(all_tests); i++)
		run_tests(all_tests[i], &n);
	return failures != 0;
}
