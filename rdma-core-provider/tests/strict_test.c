// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: tests of strict mode: a test for each rule.
 */
#define _GNU_SOURCE
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ccan/array_size.h>

#include "fake_kernel.h"
#include "strict.h"

#define BIG	4096

/* Sizes that the program asks for; the queues have room for more (MAX_WR, MAX_SGE). */
static const struct ibv_qp_cap asked = {
	.max_send_wr = 3, .max_recv_wr = 3, .max_send_sge = 2, .max_recv_sge = 1,
	.max_inline_data = 32,
};

static enum ibv_qp_state state;
static uint8_t *memory;
static struct kwarp_mr region = {
	.vmr.ibv_mr = { .lkey = 7, .length = BIG }, .access = IBV_ACCESS_LOCAL_WRITE,
};

int __wrap_ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			    struct ibv_qp_init_attr *init, struct ibv_query_qp *cmd,
			    size_t cmd_size)
{
	attr->qp_state = state;
	return 0;
}

static bool filtered;

typeof(process_vm_readv) __real_process_vm_readv, __wrap_process_vm_readv;

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals,
				const struct iovec *remote, unsigned long remotes,
				unsigned long flags)
{
	if (!filtered)
		return __real_process_vm_readv(pid, local, locals, remote, remotes, flags);
	errno = EPERM;
	return -1;
}

static char *said;
static size_t said_len;
static FILE *real;

static void begin_listening(void)
{
	real = stderr;
	stderr = open_memstream(&said, &said_len);
}

/* Return: the number of lines that were said.  The first one must have @text. */
static int end_listening(const char *text)
{
	int lines = 0;
	char *c;

	fclose(stderr);
	stderr = real;
	for (c = said; *c; c++)
		lines += *c == '\n';
	if (text && !strstr(said, text)) {
		printf("# said: %s# not: %s\n", said, text);
		failures++;
	}
	if (!text && lines)
		printf("# said: %s", said);
	free(said);
	return lines;
}

static struct kwarp_qp *begin_qp(struct kwarp_qp *qp, uint32_t rules)
{
	struct kwarp_strict *s;

	begin_listening();
	kwarp_strict_set = (struct kwarp_strict_set){ .given = true, .rules = rules, .seed = 1 };
	s = kwarp_strict_open(&ctx);
	kwarp_strict_add_cq(s, to_kcq(qp->vqp.qp.send_cq), SLOTS, false);
	if (qp->vqp.qp.recv_cq != qp->vqp.qp.send_cq)
		kwarp_strict_add_cq(s, to_kcq(qp->vqp.qp.recv_cq), SLOTS, false);
	kwarp_strict_add_qp(s, qp, &asked);
	kwarp_strict_qp_init_ex(qp->strict);
	qp->strict->access = true;
	state = IBV_QPS_RTS;
	memory = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	region.iova = (uintptr_t)memory;
	region.access = IBV_ACCESS_LOCAL_WRITE;
	kwarp_strict_add_mr(s, &region, memory, BIG);
	return qp;
}

/* A connected queue pair in strict mode with these rules. */
static struct kwarp_qp *begin(uint32_t rules)
{
	return begin_qp(qp_make(0), rules);
}

static struct kwarp_qp *begin_one_cq(uint32_t rules)
{
	struct kwarp_qp *qp = qp_make(0);

	cq_drop(to_kcq(qp->vqp.qp.recv_cq));
	qp->vqp.qp.recv_cq = qp->vqp.qp.send_cq;
	return begin_qp(qp, rules);
}

/* Return: as end_listening() */
static int end(struct kwarp_qp *qp, const char *text)
{
	struct kwarp_strict_cq *scq = to_kcq(qp->vqp.qp.send_cq)->strict;
	struct kwarp_strict_cq *rcq = to_kcq(qp->vqp.qp.recv_cq)->strict;
	int lines;

	kwarp_strict_unlink_qp(qp->strict);
	kwarp_strict_drop_qp(qp->strict);
	lines = end_listening(text);
	free(kwarp_strict_take_mr(ctx.strict, &region));
	kwarp_strict_drop_cq(scq);
	if (rcq != scq)
		kwarp_strict_drop_cq(rcq);
	qp_drop(qp);
	kwarp_strict_close(&ctx);
	munmap(memory, BIG);
	return lines;
}

static int post(struct kwarp_qp *qp, enum ibv_wr_opcode opcode, unsigned int flags,
		uint64_t wr_id, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)memory, len, 7 };
	struct ibv_send_wr wr = { .wr_id = wr_id, .opcode = opcode, .send_flags = flags,
				  .sg_list = &sge, .num_sge = 1 }, *bad = NULL;
	int ret = kwarp_strict_post_send(&qp->vqp.qp, &wr, &bad);

	CHECK(bad == (ret ? &wr : NULL));
	return ret;
}

static int post_recv(struct kwarp_qp *qp, uint64_t wr_id, uint32_t offset, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)memory + offset, len, 7 };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	return kwarp_strict_post_recv(&qp->vqp.qp, &wr, &bad);
}

/* The kernel takes the next request of a queue. */
static void complete(struct kwarp_qp *qp, bool recv, bool tell, const struct kwarp_cqe *as)
{
	struct kwarp_ring_hdr *hdr = recv ? qp->rq.ring.hdr : qp->sq.ring.hdr;
	struct kwarp_cq *cq = to_kcq(recv ? qp->vqp.qp.recv_cq : qp->vqp.qp.send_cq);
	struct kwarp_cqe cqe = *as;

	cqe.qpn = 5;
	cqe.id = recv ? rq_slot(&qp->rq, hdr->cons)->id : sq_slot(qp, hdr->cons)->id;
	if (recv && !cqe.opcode)
		cqe.opcode = KWARP_WC_RECV;
	hdr->cons++;
	if (tell)
		cqe_put(cq->entries, cq->mask + 1, cq->hdr->prod++, &cqe);
}

static const struct kwarp_cqe good;

/* Poll until all is there: rule "shake" may give nothing some times. */
static int poll_all(struct ibv_cq *cq, struct ibv_wc *wc, int most)
{
	int n = 0, i, ret;

	for (i = 0; i < 50 && n < most; i++) {
		ret = kwarp_strict_poll_cq(cq, most - n, wc + n);
		if (ret < 0)
			return ret;
		n += ret;
	}
	return n;
}

/* ------------------------------------------------------------------------ rules */

static void test_parse(void)
{
	static const struct {
		const char *text;
		bool given;
		uint32_t rules;
		uint64_t seed;
		bool abort;
	} cases[] = {
		{ NULL, false, 0, 1, false },
		{ "", false, 0, 1, false },
		{ "0", true, 0, 1, false },
		{ "1", true, STRICT_ALL, 1, false },
		{ "all,seed=7", true, STRICT_ALL, 7, false },
		{ "seed=0x10", true, STRICT_ALL, 16, false },
		{ "abort", true, STRICT_ALL, 1, true },
		{ "poison", true, 1U << STRICT_POISON, 1, false },
		{ "shake,sq-credit", true, 1U << STRICT_SHAKE | 1U << STRICT_SQ_CREDIT, 1, false },
		{ "-poison", true, STRICT_ALL & ~(1U << STRICT_POISON), 1, false },
		{ "all,-poison,-shake", true,
		  STRICT_ALL & ~(1U << STRICT_POISON | 1U << STRICT_SHAKE), 1, false },
	};
	struct kwarp_strict_set set;
	size_t i;

	begin_listening();
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		kwarp_strict_parse(&set, cases[i].text);
		CHECK(set.given == cases[i].given && set.rules == cases[i].rules &&
		      set.seed == cases[i].seed && set.abort == cases[i].abort);
	}
	CHECK(!end_listening(NULL));
	begin_listening();
	kwarp_strict_parse(&set, "poision,shake,seed=x");
	CHECK(set.rules == 1U << STRICT_SHAKE);
	CHECK(end_listening("'poision' is unknown; possible are: 1, all, off, seed=NUMBER, abort, or with or without '-' sq-credit,") == 2);
}

/* 1. Unsignaled requests never give a slot back, though the kernel has taken them. */
static void test_unsignaled(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_SQ_CREDIT);
	int i;

	for (i = 0; i < 3; i++) {
		CHECK(!post(qp, IBV_WR_SEND, 0, i, 0));
		complete(qp, false, false, &good);
	}
	CHECK(post(qp, IBV_WR_SEND, 0, 3, 0) == ENOMEM);
	CHECK(end(qp, "kwarp: kw0: strict sq-credit: ibv_post_send: queue pair 5: 3 requests are outstanding, max_send_wr is 3, and none of them is signaled") == 1);
}

/* 2. Slots come back with a poll only.  Who polls after ENOMEM does right. */
static void test_credit(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_SQ_CREDIT);
	struct ibv_wc wc;
	int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 3; i++) {
			CHECK(!post(qp, IBV_WR_SEND, i == 2 ? IBV_SEND_SIGNALED : 0, i, 0));
			complete(qp, false, i == 2, &good);
		}
		CHECK(post(qp, IBV_WR_SEND, 0, 3, 0) == ENOMEM);
		CHECK(kwarp_strict_poll_cq(qp->vqp.qp.send_cq, 1, &wc) == 1 && wc.wr_id == 2);
	}
	CHECK(!end(qp, NULL));
}

/* 3. Signaled, but never polled: that is known at the end. */
static void test_never_polled(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_SQ_CREDIT);
	int i;

	for (i = 0; i < 40; i++) {
		CHECK(post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0) == (i < 3 ? 0 : ENOMEM));
		if (i < 3)
			complete(qp, false, true, &good);
	}
	CHECK(end(qp, "strict sq-credit: ibv_destroy_qp: queue pair 5: 37 posts were refused") == 1);
}

static void test_wr_credit(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_SQ_CREDIT);
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;
	struct ibv_wc wc;
	int i;

	ibv_wr_start(qpx);
	qpx->wr_flags = 0;
	for (i = 0; i < 3; i++) {
		qpx->wr_id = 10 + i;
		qpx->wr_flags = i == 1 ? IBV_SEND_SIGNALED : 0;
		ibv_wr_send(qpx);
		CHECK(qpx->wr_id == 10 + i);
	}
	CHECK(!ibv_wr_complete(qpx));
	for (i = 0; i < 3; i++)
		complete(qp, false, i == 1, &good);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.send_cq, 1, &wc) == 1 && wc.wr_id == 11);
	CHECK(qp->strict->sq.n == 1);
	ibv_wr_start(qpx);
	qpx->wr_flags = 0;
	for (i = 0; i < 3; i++)
		ibv_wr_send(qpx);
	CHECK(ibv_wr_complete(qpx) == ENOMEM);
	CHECK(qp->strict->sq.n == 1 && qp->sq.ring.hdr->prod == 3);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_abort(qpx);
	CHECK(qp->strict->sq.n == 1);
	CHECK(end(qp, "ibv_wr_send: queue pair 5: 3 requests are outstanding") == 1);
}

static void test_early(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_EARLY_POST);

	state = IBV_QPS_INIT;
	CHECK(post(qp, IBV_WR_SEND, 0, 1, 0) == EINVAL);
	ibv_wr_start(&qp->vqp.qp_ex);
	ibv_wr_send(&qp->vqp.qp_ex);
	CHECK(ibv_wr_complete(&qp->vqp.qp_ex) == EINVAL);
	state = IBV_QPS_RTS;
	CHECK(!post(qp, IBV_WR_SEND, 0, 1, 0));
	CHECK(qp->sq.ring.hdr->prod == 1);
	CHECK(end(qp, "strict early-post: ibv_post_send: queue pair 5 is in state INIT") == 2);
}

/* A post that comes too early does not hide what else is wrong with it. */
static void test_early_and_more(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_EARLY_POST | 1U << STRICT_CAPS_ASKED);
	struct ibv_data_buf buf;

	state = IBV_QPS_INIT;
	CHECK(post(qp, IBV_WR_SEND, IBV_SEND_INLINE, 1, 33) == EINVAL);
	CHECK(end(qp, "strict caps-asked: ibv_post_send: queue pair 5: 33 octets inline") == 2);

	qp = begin(1U << STRICT_EARLY_POST | 1U << STRICT_CAPS_ASKED);
	buf = (struct ibv_data_buf){ memory, 33 };
	state = IBV_QPS_INIT;
	ibv_wr_start(&qp->vqp.qp_ex);
	ibv_wr_send(&qp->vqp.qp_ex);
	ibv_wr_set_inline_data_list(&qp->vqp.qp_ex, 1, &buf);
	CHECK(ibv_wr_complete(&qp->vqp.qp_ex) == EINVAL);
	CHECK(!qp->sq.ring.hdr->prod && !qp->strict->sq.n);
	CHECK(end(qp, "strict caps-asked: ibv_wr_set_inline_data: queue pair 5: 33 octets inline") == 2);
}

static void test_caps(void)
{
	struct ibv_sge sges[3] = { { .length = 1 }, { .length = 1 }, { .length = 1 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sges, .num_sge = 3 }, *bad;
	struct ibv_recv_wr rwr = { .sg_list = sges, .num_sge = 2 }, *rbad;
	struct kwarp_qp *qp = begin(1U << STRICT_CAPS_ASKED);
	struct ibv_data_buf buf = { memory, 33 };
	struct ibv_qp_init_attr init = {};
	struct ibv_qp_attr attr = {};
	int i;

	CHECK(kwarp_strict_post_send(&qp->vqp.qp, &wr, &bad) == EINVAL);
	CHECK(kwarp_strict_post_recv(&qp->vqp.qp, &rwr, &rbad) == EINVAL);
	CHECK(post(qp, IBV_WR_SEND, IBV_SEND_INLINE, 1, 33) == EINVAL);
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_INLINE, 1, 32));
	ibv_wr_start(&qp->vqp.qp_ex);
	ibv_wr_send(&qp->vqp.qp_ex);
	ibv_wr_set_inline_data_list(&qp->vqp.qp_ex, 1, &buf);
	CHECK(ibv_wr_complete(&qp->vqp.qp_ex) == EINVAL);
	ibv_wr_start(&qp->vqp.qp_ex);
	ibv_wr_send(&qp->vqp.qp_ex);
	ibv_wr_set_sge_list(&qp->vqp.qp_ex, 3, sges);
	CHECK(ibv_wr_complete(&qp->vqp.qp_ex) == EINVAL);
	CHECK(qp->sq.ring.hdr->prod == 1);
	CHECK(!kwarp_strict_ops.query_qp(&qp->vqp.qp, &attr, 0, &init));
	CHECK(attr.cap.max_send_wr == 3 && init.cap.max_inline_data == 32);
	for (i = 0; i < 4; i++)
		CHECK(post_recv(qp, i, 0, 8) == (i < 3 ? 0 : ENOMEM));
	/* Five lines: the count of inline data is told for the 1st, 2nd, 4th time. */
	CHECK(end(qp, "strict caps-asked: ibv_post_send: num_sge is 3, and max_send_sge was asked to be 2") == 5);
}

static void test_access(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_ACCESS_UNSET);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };

	qp->strict->access = false;
	CHECK(kwarp_strict_modify_qp(&qp->vqp.qp, &attr, IBV_QP_STATE) == EINVAL);
	CHECK(!qp->strict->access);
	CHECK(!post(qp, IBV_WR_SEND, 0, 1, 0));
	CHECK(end(qp, "strict access-unset: ibv_modify_qp: queue pair 5: to INIT without IBV_QP_ACCESS_FLAGS") == 2);

	qp = begin(1U << STRICT_ACCESS_UNSET);
	qp->strict->access = false;
	CHECK(!kwarp_strict_modify_qp(&qp->vqp.qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS));
	CHECK(!post(qp, IBV_WR_SEND, 0, 1, 0));
	CHECK(!end(qp, NULL));
}

/* The peer has no receive. */
static const struct kwarp_cqe no_receive = { .status = KWARP_WC_FLUSH_ERR, .vendor_err = 0x1202 };

/* Flush a request.  Has the poll of so many completions told this once? */
static bool flush_tells(struct kwarp_qp *qp, int polls, const char *text)
{
	struct ibv_wc wc[2];

	complete(qp, false, true, &no_receive);
	return kwarp_strict_poll_cq(qp->vqp.qp.send_cq, polls, wc) == polls && end(qp, text) == 1;
}

static void test_recv_posted(void)
{
	static const struct kwarp_cqe received = { .opcode = KWARP_WC_RECV, .byte_len = 8 };
	struct kwarp_qp *qp = begin(1U << STRICT_RECV_POSTED);
	struct ibv_wc wc[2];

	/* A message waits, so the kernel wants to hear of the next receive. */
	CHECK(!post_recv(qp, 1, 0, 8));
	qp->rq.ring.hdr->flags = KWARP_RING_NEED_KICK;
	CHECK(!post_recv(qp, 1, 0, 8));
	qp->rq.ring.hdr->flags = KWARP_RING_NEED_KICK | KWARP_RING_ERROR;
	CHECK(!post_recv(qp, 1, 0, 8));
	CHECK(end(qp, "strict recv-posted: ibv_post_recv: queue pair 5: a message was there before this receive") == 1);

	qp = begin(1U << STRICT_RECV_POSTED);
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0));
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0));
	complete(qp, false, true, &no_receive);
	complete(qp, false, true, &no_receive);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.send_cq, 2, wc) == 2);
	CHECK(end(qp, "strict recv-posted: ibv_poll_cq: queue pair 5: a message found no receive at one of the two ends") == 1);

	/* An end that has sent nothing is the one that lacked it, whatever it posts later. */
	qp = begin(1U << STRICT_RECV_POSTED | 1U << STRICT_SHAKE);
	qp->rq.ring.hdr->flags = KWARP_RING_NEED_KICK | KWARP_RING_ERROR;
	CHECK(!post_recv(qp, 1, 0, 8));
	complete(qp, true, true, &no_receive);
	/* The line comes at the first poll, though this poll may give nothing. */
	kwarp_strict_poll_cq(qp->vqp.qp.recv_cq, 1, wc);
	CHECK(qp->strict->sq.told[STRICT_RECV_POSTED] == 1);
	CHECK(end(qp, "a message found no receive at this end, which ended the connection") == 1);

	qp = begin_one_cq(1U << STRICT_RECV_POSTED);
	CHECK(!post_recv(qp, 1, 0, 8));
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0));
	CHECK(flush_tells(qp, 1, "a message found no receive at the peer"));

	/* A message may have taken the receive: its completion would be in the other CQ. */
	qp = begin(1U << STRICT_RECV_POSTED);
	CHECK(!post_recv(qp, 1, 0, 8));
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0));
	CHECK(flush_tells(qp, 1, "a message found no receive at one of the two ends"));

	/* A message has taken the receive, though the program has not polled that yet. */
	qp = begin_one_cq(1U << STRICT_RECV_POSTED);
	CHECK(!post_recv(qp, 1, 0, 8));
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0));
	complete(qp, true, true, &received);
	CHECK(flush_tells(qp, 2, "a message found no receive at one of the two ends"));

	/* Immediate data takes a receive of the peer, too. */
	qp = begin(1U << STRICT_RECV_POSTED);
	qp->features = KWARP_FEATURE_RFC7306;
	CHECK(!post(qp, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SIGNALED, 1, 0));
	CHECK(flush_tells(qp, 1, "a message found no receive at one of the two ends"));
}

/* One breach is not called "1 times". */
static void test_sum(void)
{
	struct kwarp_qp *qp;
	pid_t child;
	int status;

	child = fork();
	if (!child) {
		qp = begin(1U << STRICT_EARLY_POST);
		state = IBV_QPS_INIT;
		post(qp, IBV_WR_SEND, 0, 1, 0);
		kwarp_strict_say_sum();
		_exit(end(qp, "kwarp: strict: rules were broken once: early-post 1\n") != 2);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
}

static void test_read_sink(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_READ_SINK);

	CHECK(post(qp, IBV_WR_RDMA_READ, 0, 1, 8) == EINVAL);
	/* The kernel will refuse it, by a completion. */
	ctx.features |= KWARP_FEATURE_STRICT;
	CHECK(!post(qp, IBV_WR_RDMA_READ, 0, 1, 8));
	ctx.features = 0;
	region.access |= IBV_ACCESS_REMOTE_WRITE;
	CHECK(!post(qp, IBV_WR_RDMA_READ, 0, 1, 8));
	CHECK(end(qp, "strict read-sink: ibv_post_send: queue pair 5: the Read's sink, lkey 0x7, was registered without IBV_ACCESS_REMOTE_WRITE") == 2);
}

static void test_changed(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_MEMORY_CHANGED);
	struct ibv_wc wc;

	CHECK(!post(qp, IBV_WR_RDMA_WRITE, 0, 1, 64));
	CHECK(!post(qp, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 2, 32));
	memory[40] = 1;		/* of the first one only */
	complete(qp, false, false, &good);
	complete(qp, false, true, &good);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.send_cq, 1, &wc) == 1);
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED | IBV_SEND_INLINE, 3, 8));
	memory[0] = 1;		/* was copied */
	complete(qp, false, true, &good);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.send_cq, 1, &wc) == 1);
	memory[0] = 2;		/* is complete */
	CHECK(end(qp, "strict memory-changed: ibv_poll_cq: queue pair 5: the data of RDMA_WRITE wr_id 0x1 were changed") == 1);

	/* An answer of the peer says that the data have arrived. */
	qp = begin(1U << STRICT_MEMORY_CHANGED);
	CHECK(!post_recv(qp, 1, 128, 8));
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 32));
	complete(qp, true, true, &good);
	complete(qp, false, true, &good);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.recv_cq, 1, &wc) == 1);
	memory[0] = 1;
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.send_cq, 1, &wc) == 1);
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 5, 32));
	CHECK(!post_recv(qp, 1, 128, 8));
	memory[0] = 2;
	complete(qp, true, true, &good);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.recv_cq, 1, &wc) == 1);
	CHECK(end(qp, "the data of SEND wr_id 0x5 were changed") == 1);

	/* A receive may come into memory that is sent, if the peer answers after that. */
	qp = begin(1U << STRICT_MEMORY_CHANGED);
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 32));
	CHECK(!post_recv(qp, 1, 0, 32));
	memory[0] = 3;
	complete(qp, true, true, &good);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.recv_cq, 1, &wc) == 1);
	CHECK(!end(qp, NULL));

	/* After the end of the connection the program may give up the memory. */
	qp = begin(1U << STRICT_MEMORY_CHANGED);
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 32));
	complete(qp, false, true, &good);
	state = IBV_QPS_ERR;
	kwarp_strict_leave_mr(ctx.strict, &region);
	memory[0] = 4;
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.send_cq, 1, &wc) == 1);
	CHECK(!end(qp, NULL));

	/* What the peer may write it may change; and what is unmapped has changed. */
	qp = begin(1U << STRICT_MEMORY_CHANGED);
	region.access |= IBV_ACCESS_REMOTE_WRITE;
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 32));
	memory[0] = 1;
	complete(qp, false, true, &good);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.send_cq, 1, &wc) == 1);
	region.access = 0;
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 3, 32));
	munmap(memory, BIG);
	complete(qp, false, true, &good);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.send_cq, 1, &wc) == 1);
	CHECK(end(qp, "the data of SEND wr_id 0x3 were changed or unmapped") == 1);
}

static void test_dereg(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_MEMORY_CHANGED);
	struct ibv_wc wc;

	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 9, 32));
	kwarp_strict_check_mr(ctx.strict, &region, "ibv_dereg_mr");
	state = IBV_QPS_ERR;
	kwarp_strict_check_mr(ctx.strict, &region, "ibv_dereg_mr");
	state = IBV_QPS_RTS;
	complete(qp, false, true, &good);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.send_cq, 1, &wc) == 1);
	kwarp_strict_check_mr(ctx.strict, &region, "ibv_dereg_mr");
	CHECK(end(qp, "strict memory-changed: ibv_dereg_mr: queue pair 5: SEND wr_id 0x9 names the region with lkey 0x7, and is not complete") == 1);
}

static bool all_are(const uint8_t *at, uint8_t value, size_t len)
{
	while (len && *at == value)
		at++, len--;
	return !len;
}

static void test_poison(void)
{
	static const struct kwarp_cqe short_one = { .byte_len = 10 };
	static const struct kwarp_cqe imm = { .byte_len = 1000, .opcode = KWARP_WC_RECV_IMM };
	struct kwarp_qp *qp = begin(1U << STRICT_POISON);
	struct ibv_wc wc;

	/* Received octets stay, others are as before. */
	memset(memory, 'a', 64);
	CHECK(!post_recv(qp, 1, 0, 32));
	CHECK(!memcmp(memory, "kwpoisonkwpoison", 16) && all_are(memory + 32, 'a', 32));
	memset(memory, 'b', 10);
	complete(qp, true, true, &short_one);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.recv_cq, 1, &wc) == 1 && wc.byte_len == 10);
	CHECK(all_are(memory, 'b', 10) && all_are(memory + 10, 'a', 54));
	/* Immediate data place nothing. */
	CHECK(!post_recv(qp, 1, 16, 32));
	complete(qp, true, true, &imm);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.recv_cq, 1, &wc) == 1);
	CHECK(all_are(memory + 10, 'a', 54));
	/* A Write of the peer may be there; and what is sent as well. */
	region.access |= IBV_ACCESS_REMOTE_WRITE;
	CHECK(!post_recv(qp, 1, 16, 32));
	CHECK(all_are(memory + 10, 'a', 54));
	CHECK(end(qp, NULL) == 0);

	qp = begin(1U << STRICT_POISON);
	memset(memory, 'a', 64);
	CHECK(!post_recv(qp, 1, 0, 64));
	CHECK(!memcmp(memory, "kwpoisonkwpoison", 16));
	memset(memory, 'c', 20);
	CHECK(!post(qp, IBV_WR_SEND, 0, 1, 40));
	/* One pattern has been broken by the program's writing. */
	CHECK(all_are(memory, 'c', 20) && all_are(memory + 24, 'a', 40));
	/* Overlapping receives are left alone. */
	CHECK(!post_recv(qp, 2, 32, 64));
	CHECK(all_are(memory + 32, 'a', 32));
	CHECK(end(qp, NULL) == 0);
}

/* A request was flushed: its memory may have another use already. */
static void test_poison_flushed(void)
{
	static const struct kwarp_cqe flushed = { .status = KWARP_WC_FLUSH_ERR };
	struct kwarp_qp *qp = begin(1U << STRICT_POISON);
	struct ibv_wc wc;

	memset(memory, 'a', 64);
	CHECK(!post_recv(qp, 1, 0, 64));
	CHECK(!memcmp(memory, "kwpoisonkwpoison", 16));
	/* Parts of the pattern are the program's own octets. */
	memset(memory, 'o', 32);
	complete(qp, true, true, &flushed);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.recv_cq, 1, &wc) == 1);
	CHECK(all_are(memory, 'o', 32) && all_are(memory + 32, 'a', 32));
	/* After the region is gone, nothing is written any more. */
	CHECK(!post_recv(qp, 1, 0, 64));
	CHECK(!memcmp(memory, "kwpoisonkwpoison", 16));
	kwarp_strict_leave_mr(ctx.strict, &region);
	CHECK(all_are(memory, 'o', 32) && all_are(memory + 32, 'a', 32));
	memcpy(memory, "kwpoison", 8);
	complete(qp, true, true, &flushed);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.recv_cq, 1, &wc) == 1);
	CHECK(!memcmp(memory, "kwpoisonoo", 10));
	CHECK(!end(qp, NULL));
}

static void test_poison_most(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_POISON);
	struct ibv_wc wc;

	memset(memory, 'a', 96);
	ctx.strict->poison_left = 40;
	CHECK(!post_recv(qp, 1, 0, 32));
	CHECK(!post_recv(qp, 2, 32, 32));
	CHECK(!memcmp(memory, "kwpoison", 8) && all_are(memory + 32, 'a', 64));
	complete(qp, true, true, &good);
	CHECK(kwarp_strict_poll_cq(qp->vqp.qp.recv_cq, 1, &wc) == 1);
	CHECK(!post_recv(qp, 1, 64, 32));
	CHECK(!memcmp(memory + 64, "kwpoison", 8));
	CHECK(!end(qp, NULL));
}

static void test_room(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_CQ_ROOM);

	to_kcq(qp->vqp.qp.send_cq)->strict->cqe = 2;
	to_kcq(qp->vqp.qp.recv_cq)->strict->cqe = 0;
	to_kcq(qp->vqp.qp.recv_cq)->strict->may_overrun = true;
	CHECK(!post_recv(qp, 1, 0, 8));
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0));
	CHECK(!post(qp, IBV_WR_SEND, 0, 1, 0));
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0));
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0));
	CHECK(end(qp, "strict cq-room: ibv_post_send: queue pair 5: 3 completions may come at a CQ for which ibv_create_cq was asked for 2 entries") == 1);
}

/* ------------------------------------------------------------------------ shake */

/* Sends and receives on one CQ: each queue's order stays; the order of both does not. */
static bool shaken(uint64_t seed, bool channel, int *nothing)
{
	struct kwarp_qp *qp = begin(1U << STRICT_SHAKE);
	struct kwarp_strict_cq *cq = to_kcq(qp->vqp.qp.send_cq)->strict;
	struct ibv_cq *recv_cq = qp->vqp.qp.recv_cq;
	uint64_t sent = 0, received = 100;
	struct ibv_wc wc[6];
	bool mixed = false;
	int i, n = 0, ret;

	qp->vqp.qp.recv_cq = qp->vqp.qp.send_cq;
	cq->random = seed * 12345 | 1;
	cq->channel = channel;
	for (i = 0; i < 3; i++) {
		CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0));
		CHECK(!post_recv(qp, 100 + i, 64 * i, 8));
	}
	for (i = 0; i < 3; i++)
		complete(qp, false, true, &good);
	for (i = 0; i < 3; i++)
		complete(qp, true, true, &good);
	*nothing = 0;
	while (n < 6) {
		ret = kwarp_strict_poll_cq(qp->vqp.qp.send_cq, 6 - n, wc + n);
		CHECK(ret >= 0);
		*nothing = ret ? 0 : *nothing + 1;
		CHECK(*nothing <= 3 && !(channel && ret != 6));
		if (*nothing > 3 || (channel && ret != 6))
			break;
		n += ret;
	}
	for (i = 0; i < n; i++) {
		CHECK(wc[i].wr_id == (wc[i].wr_id < 100 ? sent++ : received++));
		mixed |= (wc[i].wr_id < 100) != (i < 3);
	}
	qp->vqp.qp.recv_cq = recv_cq;
	CHECK(!end(qp, NULL));
	return mixed;
}

static void test_shake(void)
{
	int mixed = 0, nothing;
	uint64_t seed;

	for (seed = 0; seed < 40; seed++)
		mixed += shaken(seed, seed % 2, &nothing);
	CHECK(mixed > 20);
}

static void test_shake_ex(void)
{
	struct kwarp_qp *qp = begin(STRICT_ALL & ~(1U << STRICT_POISON));
	struct kwarp_cq *cq = to_kcq(qp->vqp.qp.send_cq);
	struct ibv_cq_ex *cqx = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};
	int i, ret, n = 0;

	kwarp_strict_cq_init_ex(cq->strict);
	for (i = 0; i < 3; i++) {
		CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0));
		complete(qp, false, true, &good);
	}
	for (i = 0; i < 50 && n < 3; i++) {
		ret = ibv_start_poll(cqx, &attr);
		CHECK(!ret || ret == ENOENT);
		if (ret)
			continue;
		do {
			CHECK(cqx->wr_id == n++ && cqx->status == IBV_WC_SUCCESS);
			CHECK(ibv_wc_read_qp_num(cqx) == 5);
			CHECK(ibv_wc_read_opcode(cqx) == IBV_WC_RDMA_WRITE);
			ret = ibv_next_poll(cqx);
		} while (!ret);
		CHECK(ret == ENOENT);
		ibv_end_poll(cqx);
	}
	CHECK(n == 3);
	CHECK(!end(qp, NULL));
}

/* A queue pair is destroyed: its completions go, too. */
static void test_forget(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_SHAKE);
	struct ibv_wc wc;

	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0));
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0));
	complete(qp, false, true, &good);
	kwarp_strict_forget(to_kcq(qp->vqp.qp.send_cq)->strict, 5);
	CHECK(!poll_all(qp->vqp.qp.send_cq, &wc, 1));
	CHECK(qp->strict->sq.n == 1);
	CHECK(!end(qp, NULL));
}

static struct kwarp_qp *resets;
static struct kwarp_strict_request *taken;

/* The reset completes a receive of an SRQ. */
static void reset_completes(void)
{
	struct kwarp_cq *cq = to_kcq(resets->vqp.qp.recv_cq);
	const struct kwarp_cqe cqe = {
		.id = (uintptr_t)taken, .qpn = 5, .opcode = KWARP_WC_RECV,
		.status = KWARP_WC_FLUSH_ERR,
	};

	cqe_put(cq->entries, cq->mask + 1, cq->hdr->prod++, &cqe);
}

/* Receives of an SRQ are not outstanding any more when the queue pair that has taken them goes. */
static void test_forget_shared(void)
{
	struct kwarp_qp *qp = begin(STRICT_ALL & ~(1U << STRICT_SHAKE));
	const struct ibv_srq_attr attr_of_srq = { .max_wr = 3, .max_sge = 1 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_recv_wr wr = {}, *bad;
	struct kwarp_srq srq = {};
	struct ibv_wc wc;

	srq.ibv_srq.context = qp->vqp.qp.context;
	wq_make(&srq.wq, RQ_STRIDE, 0, 0);
	CHECK(!kwarp_strict_add_srq(ctx.strict, &srq, &attr_of_srq));
	CHECK(!kwarp_strict_post_srq_recv(&srq.ibv_srq, &wr, &bad));
	taken = list_top(&srq.strict->requests, struct kwarp_strict_request, node);
	resets = qp;
	kernel.reset = reset_completes;
	CHECK(!kwarp_strict_modify_qp(&qp->vqp.qp, &attr, IBV_QP_STATE));
	kernel.reset = NULL;
	CHECK(srq.strict->n == 0);
	CHECK(!poll_all(qp->vqp.qp.recv_cq, &wc, 1));
	kwarp_strict_drop_srq(srq.strict);
	free(srq.wq.ring.hdr);
	CHECK(!end(qp, NULL));
}

static void reset_excludes_posts(void)
{
	CHECK(pthread_mutex_trylock(&resets->strict->sq.post) == EBUSY);
	CHECK(pthread_mutex_trylock(&resets->strict->rq.post) == EBUSY);
}

static void *reset_it(void *arg)
{
	struct kwarp_qp *qp = arg;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	CHECK(!kwarp_strict_modify_qp(&qp->vqp.qp, &attr, IBV_QP_STATE));
	return NULL;
}

static bool was_reset;

static void note_reset(void)
{
	__atomic_store_n(&was_reset, true, __ATOMIC_RELEASE);
}

/* A thread may post during its extended poll, while another resets the queue pair. */
static void test_reset_beside_poll(void)
{
	struct kwarp_qp *qp = begin(STRICT_ALL & ~(1U << STRICT_SHAKE));
	pthread_mutex_t *poll = &to_kcq(qp->vqp.qp.send_cq)->strict->lock;
	pthread_t thread;
	int i;

	kernel.reset = note_reset;
	pthread_mutex_lock(poll);
	CHECK(!pthread_create(&thread, NULL, reset_it, qp));
	while (!__atomic_load_n(&was_reset, __ATOMIC_ACQUIRE))
		usleep(1000);
	for (i = 0; i < 5000 && pthread_mutex_trylock(&qp->strict->sq.post); i++)
		usleep(1000);
	CHECK(i < 5000);
	pthread_mutex_unlock(&qp->strict->sq.post);
	pthread_mutex_unlock(poll);
	CHECK(!pthread_join(thread, NULL));
	kernel.reset = NULL;
	CHECK(!end(qp, NULL));
}

/*
 * A thread that has made the record of a request, and not its entry in the ring: a reset must not
 * free the record before the entry names it.
 */
static void test_reset_excludes_posts(void)
{
	struct kwarp_qp *qp = begin(STRICT_ALL & ~(1U << STRICT_SHAKE));
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	resets = qp;
	kernel.reset = reset_excludes_posts;
	CHECK(!kwarp_strict_modify_qp(&qp->vqp.qp, &attr, IBV_QP_STATE));
	kernel.reset = NULL;
	CHECK(!pthread_mutex_trylock(&qp->strict->rq.post));
	pthread_mutex_unlock(&qp->strict->rq.post);
	CHECK(!end(qp, NULL));
}

/* What a process tells at its end is not told by its children. */
static void test_fork(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_EARLY_POST);
	int ends[2], status;
	char text[100];
	pid_t pid;

	state = IBV_QPS_RTR;
	CHECK(post(qp, IBV_WR_SEND, 0, 1, 0) == EINVAL);
	CHECK(!pipe(ends));
	fflush(NULL);
	pid = fork();
	if (!pid) {
		stderr = fdopen(ends[1], "w");
		exit(0);
	}
	close(ends[1]);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	CHECK(read(ends[0], text, sizeof(text)) == 0);
	close(ends[0]);
	CHECK(end(qp, "is in state RTR") == 1);
}

/* The kernel, or a filter of a container, refuses to read memory: that is told. */
static void test_filtered(void)
{
	struct kwarp_qp *qp;

	filtered = true;
	qp = begin(1U << STRICT_MEMORY_CHANGED | 1U << STRICT_POISON);
	CHECK(!post_recv(qp, 1, 128, 8));
	CHECK(all_are(memory + 128, 0, 8));
	CHECK(!post(qp, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 32));
	kwarp_strict_check_mr(ctx.strict, &region, "ibv_dereg_mr");
	CHECK(end(qp, "strict mode cannot read memory (process_vm_readv: Operation not permitted)") == 3);
	filtered = false;
}

/* Each rule is told for the 1st, 2nd, 4th... time. */
static void test_telling(void)
{
	struct kwarp_qp *qp = begin(1U << STRICT_EARLY_POST);
	int i;

	state = IBV_QPS_RTR;
	for (i = 0; i < 5; i++)
		CHECK(post(qp, IBV_WR_SEND, 0, 1, 0) == EINVAL);
	CHECK(end(qp, "to RTS by ibv_modify_qp (2 times)") == 3);
}

const struct test strict_tests[] = {
	{ "strict: KWARP_STRICT", test_parse },
	{ "strict: unsignaled requests only", test_unsignaled },
	{ "strict: slots come back with a poll", test_credit },
	{ "strict: completions are never polled", test_never_polled },
	{ "strict: slots with ibv_wr_*()", test_wr_credit },
	{ "strict: the sum of one", test_sum },
	{ "strict: post before RTS", test_early },
	{ "strict: post before RTS, and another rule", test_early_and_more },
	{ "strict: sizes as asked for", test_caps },
	{ "strict: rights unset", test_access },
	{ "strict: no receive", test_recv_posted },
	{ "strict: sink of a Read", test_read_sink },
	{ "strict: data changed", test_changed },
	{ "strict: region deregistered", test_dereg },
	{ "strict: poison", test_poison },
	{ "strict: poison in a flushed request", test_poison_flushed },
	{ "strict: poison needs memory", test_poison_most },
	{ "strict: room in the CQ", test_room },
	{ "strict: completions shaken", test_shake },
	{ "strict: completions shaken, extended", test_shake_ex },
	{ "strict: queue pair destroyed", test_forget },
	{ "strict: receives of an SRQ go with the queue pair", test_forget_shared },
	{ "strict: no thread posts during a reset", test_reset_excludes_posts },
	{ "strict: a reset does not keep polls from posting", test_reset_beside_poll },
	{ "strict: a child ends", test_fork },
	{ "strict: memory cannot be read", test_filtered },
	{ "strict: how it is told", test_telling },
	{}
};
