// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: tests of commands that change a ring which other threads are using: resizing a CQ or an
 * SRQ, resetting a queue pair.  The kernel takes its time in these commands.
 */
#define _GNU_SOURCE
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fake_kernel.h"

#define MS		1000000L
#define NEW_SLOTS	16
#define NEW_OCTETS	4096

/* A command waits in the kernel from @entered to @leave. */
static sem_t entered, leave;
static int cmd_ret;

static struct kwarp_cq *cq;
static struct kwarp_qp *qp;
static struct kwarp_srq *srq;
static struct kwarp_ring_hdr *new_hdr;	/* the kernel's mapping of the new ring */
static bool late;	/* the kernel uses the new ring before the command waits, not after it */

static void stay_in_kernel(void)
{
	sem_post(&entered);
	sem_wait(&leave);
}

/* What the kernel does in a resize: copy what was not polled; indices stay the same. */
static void move_entries(void)
{
	struct kwarp_cqe *to = (void *)((uint8_t *)new_hdr + KWARP_RING_ENTRIES_OFFSET);
	struct kwarp_ring_hdr *old = cq->hdr;
	uint32_t i;

	__atomic_store_n(&old->flags, KWARP_RING_MOVED, __ATOMIC_SEQ_CST);
	new_hdr->cons = __atomic_load_n(&old->cons, __ATOMIC_SEQ_CST);
	new_hdr->arm = __atomic_load_n(&old->arm, __ATOMIC_SEQ_CST);
	new_hdr->prod = old->prod;
	for (i = new_hdr->cons; i != old->prod; i++)
		cqe_put(to, NEW_SLOTS, i, &cq->entries[i & cq->mask]);
}

int __wrap_ibv_cmd_resize_cq(struct ibv_cq *ibcq, int cqe, struct ibv_resize_cq *cmd,
			     size_t cmd_size, struct ib_uverbs_resize_cq_resp *resp,
			     size_t resp_size);
int __wrap_ibv_cmd_resize_cq(struct ibv_cq *ibcq, int cqe, struct ibv_resize_cq *cmd,
			     size_t cmd_size, struct ib_uverbs_resize_cq_resp *resp,
			     size_t resp_size)
{
	struct kwarp_cmd_resize_cq_resp *r = (void *)resp;

	if (late)
		move_entries();
	stay_in_kernel();
	if (cmd_ret)
		return cmd_ret;
	if (!late)
		move_entries();
	r->mmap_len = NEW_OCTETS;
	r->size = NEW_SLOTS;
	return 0;
}

int __wrap_ibv_cmd_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
			     struct ibv_modify_qp *cmd, size_t cmd_size);
int __wrap_ibv_cmd_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
			     struct ibv_modify_qp *cmd, size_t cmd_size)
{
	if (!(mask & IBV_QP_STATE) || attr->qp_state != IBV_QPS_RESET)
		return 0;
	if (kernel.reset) {
		kernel.reset();
		return 0;
	}
	stay_in_kernel();
	return cmd_ret;
}

int __wrap_ibv_cmd_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask,
			      struct ibv_modify_srq *cmd, size_t cmd_size);
int __wrap_ibv_cmd_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask,
			      struct ibv_modify_srq *cmd, size_t cmd_size)
{
	stay_in_kernel();
	return cmd_ret;
}

/* ------------------------------------------------------------ threads */

static void *resizer(void *arg)
{
	return (void *)(intptr_t)kwarp_resize_cq(&cq->vcq.cq, NEW_SLOTS);
}

static void *qp_resetter(void *arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	return (void *)(intptr_t)kwarp_modify_qp(&qp->vqp.qp, &attr, IBV_QP_STATE);
}

static void *srq_resizer(void *arg)
{
	struct ibv_srq_attr attr = { .max_wr = 100 };

	return (void *)(intptr_t)kwarp_modify_srq(&srq->ibv_srq, &attr, IBV_SRQ_MAX_WR);
}

/* Another thread, which does @what once. */
struct user {
	void (*what)(void);
	pthread_t thread;
	bool done;
	long cpu_ns;
};

static void *use(void *arg)
{
	struct user *u = arg;
	struct timespec t;

	u->what();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	u->cpu_ns = t.tv_sec * 1000 * MS + t.tv_nsec;
	__atomic_store_n(&u->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Start a command, and return when it is in the kernel. */
static pthread_t begin(void *(*command)(void *))
{
	pthread_t t;

	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	CHECK(!pthread_create(&t, NULL, command, NULL));
	sem_wait(&entered);
	return t;
}

/* Let the command end with @ret. */
static void end(pthread_t t, int ret)
{
	void *got;

	cmd_ret = ret;
	sem_post(&leave);
	pthread_join(t, &got);
	CHECK((intptr_t)got == ret);
	cmd_ret = 0;
}

/* A thread that does @what waits for the end of the command, asleep, and then succeeds. */
static void check_waits(void *(*command)(void *), int ret, void (*what)(void))
{
	const struct timespec wait = { .tv_nsec = 200 * MS };
	struct user u = { .what = what };
	pthread_t t = begin(command);

	CHECK(!pthread_create(&u.thread, NULL, use, &u));
	nanosleep(&wait, NULL);
	CHECK(!__atomic_load_n(&u.done, __ATOMIC_ACQUIRE));
	end(t, ret);
	pthread_join(u.thread, NULL);
	CHECK(u.cpu_ns < 20 * MS);
}

/* ------------------------------------------------------------ completion queues */

static int memory = -1;

/* A CQ with four entries, and memory for its next ring. */
static void make_cq(bool kernel_is_late)
{
	uint64_t id;

	memset(&kernel, 0, sizeof(kernel));
	late = kernel_is_late;
	memory = memfd_create("ring", 0);
	CHECK(memory >= 0 && !ftruncate(memory, NEW_OCTETS));
	new_hdr = mmap(NULL, NEW_OCTETS, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	CHECK(new_hdr != MAP_FAILED);
	ctx.ibv_ctx.context.cmd_fd = memory;
	cq = cq_make(0xfffffffe);
	for (id = 0; id < 4; id++)
		cq_add(cq, id, 5);
}

static void drop_cq(void)
{
	munmap(cq->hdr, cq->len);
	free(cq);
	munmap(new_hdr, NEW_OCTETS);
	close(memory);
}

static int poll_ids(int most, uint64_t first)
{
	struct ibv_wc wc[SLOTS];
	int n = kwarp_poll_cq(&cq->vcq.cq, most, wc), i;

	for (i = 0; i < n; i++)
		CHECK(wc[i].wr_id == first + i);
	return n;
}

/* During the command other threads poll and arm the old ring, and nothing is lost or seen twice. */
static void test_poll_meanwhile(void)
{
	struct ibv_poll_cq_attr attr = {};
	struct ibv_cq_ex *cqx;
	struct kwarp_ring_hdr *old;
	pthread_t t;

	make_cq(false);
	cqx = &cq->vcq.cq_ex;
	old = cq->hdr;
	CHECK(poll_ids(1, 0) == 1);
	alarm(20);		/* a poll that waits would wait for ever */
	t = begin(resizer);
	CHECK(poll_ids(1, 1) == 1);
	CHECK(!ibv_start_poll(cqx, &attr) && cqx->wr_id == 2);
	ibv_end_poll(cqx);
	CHECK(old->cons == 1);
	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 0));
	alarm(0);
	end(t, 0);

	CHECK(cq->hdr != old && cq->mask == NEW_SLOTS - 1);
	CHECK(new_hdr->cons == 1 && new_hdr->arm == KWARP_CQ_ARM_NEXT);
	cq_add(cq, 4, 5);
	CHECK(poll_ids(SLOTS, 3) == 2);
	CHECK(poll_ids(SLOTS, 0) == 0 && new_hdr->cons == 3);

	/* A resize that fails leaves the ring as it is. */
	free(old);
	old = cq->hdr;
	t = begin(resizer);
	end(t, ENOMEM);
	cq_add(cq, 5, 5);
	CHECK(cq->hdr == old && poll_ids(SLOTS, 5) == 1);
	drop_cq();
}

static void poll_and_check(void)
{
	CHECK(poll_ids(3, 0) == 3);
	/* The kernel knows already that there is room for three completions. */
	CHECK(new_hdr->cons == 1);
}

static void poll_ex_and_check(void)
{
	struct ibv_cq_ex *cqx = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};

	CHECK(!ibv_start_poll(cqx, &attr) && cqx->wr_id == 0);
	ibv_end_poll(cqx);
	CHECK(new_hdr->cons == 0xffffffff);
}

static void arm_and_check(void)
{
	CHECK(!kwarp_req_notify_cq(&cq->vcq.cq, 1));
	CHECK(new_hdr->arm == KWARP_CQ_ARM_SOLICITED);
}

static void poll_empty_and_check(void)
{
	CHECK(poll_ids(4, 0) == 4);
	CHECK(new_hdr->cons == 2);
}

/*
 * The kernel uses the new ring already, which is not mapped yet: who polls or arms waits until it
 * is mapped.
 */
static void test_moved(void)
{
	static void (*const uses[])(void) = {
		poll_and_check, poll_ex_and_check, arm_and_check, poll_empty_and_check,
	};
	struct kwarp_ring_hdr *old;
	size_t i;

	for (i = 0; i < sizeof(uses) / sizeof(*uses); i++) {
		make_cq(true);
		old = cq->hdr;
		check_waits(resizer, 0, uses[i]);
		CHECK(cq->hdr != old);
		free(old);
		drop_cq();
	}
}

/* ------------------------------------------------------------ work queues */

static void post_send(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	CHECK(!send_one(qp, &wr));
}

static void post_recv(void)
{
	struct ibv_recv_wr wr = {}, *bad;

	CHECK(!kwarp_post_recv(&qp->vqp.qp, &wr, &bad));
}

static void post_srq(void)
{
	struct ibv_recv_wr wr = {}, *bad;

	CHECK(!kwarp_post_srq_recv(&srq->ibv_srq, &wr, &bad));
}

static void test_reset(void)
{
	static void (*const uses[])(void) = { post_send, post_recv };
	size_t i;

	for (i = 0; i < 4; i++) {
		qp = qp_make(0);
		check_waits(qp_resetter, i % 2 ? EINVAL : 0, uses[i / 2]);
		qp_drop(qp);
	}
}

static void test_srq_resize(void)
{
	struct kwarp_srq it = { .ibv_srq.context = &ctx.ibv_ctx.context };

	wq_make(&it.wq, RQ_STRIDE, 0, 0);
	srq = &it;
	check_waits(srq_resizer, EBUSY, post_srq);
	CHECK(it.wq.ring.hdr->prod == 1);
	free(it.wq.ring.hdr);
}

const struct test resize_tests[] = {
	{ "resize: polled meanwhile", test_poll_meanwhile },
	{ "resize: the kernel has moved", test_moved },
	{ "reset: posts wait asleep", test_reset },
	{ "resize of an SRQ: posts wait asleep", test_srq_resize },
	{}
};
