// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwpost is a test program for the uverbs command "post send", on a device whose provider is
 * libsiw.
 *
 *	kwpost -d rdma-device [-n times] [-v]
 *	kwpost -d rdma-device -g [-v]
 *
 * libsiw uses this command, without any request in it, as its doorbell.  A program may use the
 * command with requests, of any number and size.  Each such call must be refused, with the number
 * of the first request that was not accepted, and post nothing.  All objects can be destroyed
 * afterwards, so no call has kept a reference.
 *
 * With -g the program uses the command as a doorbell until the device is gone, and reports that.
 * Then the program posts and polls for a while, in queues that the kernel no longer reads, and
 * waits for SIGTERM with the device open.
 */
#include "kwib.h"
#include "kwtest.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

static const char *dev;
static unsigned int times = 100;
static bool until_gone;
static unsigned int n_ok, n_failed;

static struct ibv_context *verbs;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;

static void make_objects(void)
{
	struct ibv_qp_init_attr attr;

	verbs = ibv_open_device(kw_device(dev));
	pd = verbs ? ibv_alloc_pd(verbs) : NULL;
	cq = verbs ? ibv_create_cq(verbs, 16, NULL, NULL, 0) : NULL;
	attr = kw_qp_attr(cq, 4, 4, 1);
	qp = pd && cq ? ibv_create_qp(pd, &attr) : NULL;
	if (!qp)
		kw_die(KW_SETUP, "cannot make a queue pair on %s: %s", dev, strerror(errno));
}

/**
 * struct call - a command
 * @what: name for messages
 * @wrs: number of requests in it
 * @sges: number of scatter/gather elements of all requests
 * @opcode: opcode of each request; IB_UVERBS_WR_*
 * @wr_size: size of a request according to the command; 0: the true size
 * @missing: how many octets the command is too short
 * @no_qp: the command names a queue pair that does not exist
 * @err: errno that is right, or 0
 * @other_err: errno that is right on other releases of the kernel
 * @bad: number of the first request that was not accepted, if there is an answer
 */
static const struct call {
	const char *what;
	unsigned int wrs, sges;
	uint32_t opcode;
	uint32_t wr_size;
	unsigned int missing;
	bool no_qp;
	int err, other_err;
	uint32_t bad;
} calls[] = {
	{ .what = "a doorbell" },
	{ "one Send", .wrs = 1, .opcode = IB_UVERBS_WR_SEND, .err = EOPNOTSUPP, .bad = 1 },
	{ "one with an element", .wrs = 1, .sges = 1, .opcode = IB_UVERBS_WR_SEND,
	  .err = EOPNOTSUPP, .bad = 1 },
	{ "one with many elements", .wrs = 1, .sges = 200, .opcode = IB_UVERBS_WR_SEND,
	  .err = EOPNOTSUPP, .bad = 1 },
	{ "four Writes", .wrs = 4, .opcode = IB_UVERBS_WR_RDMA_WRITE, .err = EOPNOTSUPP, .bad = 1 },
	{ "one Read", .wrs = 1, .opcode = IB_UVERBS_WR_RDMA_READ, .err = EOPNOTSUPP, .bad = 1 },
	{ "one atomic operation", .wrs = 1, .opcode = IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	  .err = EOPNOTSUPP, .bad = 1 },
	{ "Immediate Data", .wrs = 1, .opcode = IB_UVERBS_WR_SEND_WITH_IMM, .err = EOPNOTSUPP,
	  .bad = 1 },
	/* The RDMA core itself refuses the calls below, before it calls the driver. */
	{ "no such operation", .wrs = 1, .opcode = 99, .err = EINVAL },
	{ "more than is there", .wrs = 4, .missing = sizeof(struct ib_uverbs_send_wr),
	  .opcode = IB_UVERBS_WR_SEND, .err = ENOSPC },
	{ "requests that are too small", .wrs = 1, .wr_size = 8, .opcode = IB_UVERBS_WR_SEND,
	  .err = EINVAL },
	{ "no such queue pair", .wrs = 1, .no_qp = true, .opcode = IB_UVERBS_WR_SEND,
	  .err = EINVAL, .other_err = ENOENT },
	{ "a doorbell of no queue pair", .no_qp = true, .err = EINVAL, .other_err = ENOENT },
};

/* Write header, command, requests and elements to @buf.  Return: their length. */
static size_t fill(uint8_t *buf, const struct call *c, struct ib_uverbs_post_send_resp *resp)
{
	const uint32_t wr_size = c->wr_size ?: sizeof(struct ib_uverbs_send_wr);
	struct ib_uverbs_cmd_hdr *hdr = (void *)buf;
	struct ib_uverbs_post_send *cmd = (void *)(hdr + 1);
	struct ib_uverbs_send_wr *wr = (void *)(cmd + 1);
	size_t len = sizeof(*hdr) + sizeof(*cmd) + c->wrs * wr_size +
		     c->sges * sizeof(struct ib_uverbs_sge) - c->missing;
	unsigned int i;

	*cmd = (struct ib_uverbs_post_send){
		.response = (uintptr_t)resp,
		.qp_handle = c->no_qp ? UINT32_MAX : qp->handle,
		.wr_count = c->wrs,
		.sge_count = c->sges,
		.wqe_size = wr_size,
	};
	for (i = 0; i < c->wrs; i++) {
		wr[i].wr_id = 4711 + i;
		wr[i].opcode = c->opcode;
		wr[i].send_flags = IBV_SEND_SIGNALED;
	}
	if (c->wrs)
		wr[0].num_sge = c->sges;
	*hdr = (struct ib_uverbs_cmd_hdr){
		.command = IB_USER_VERBS_CMD_POST_SEND,
		.in_words = len / 4,
		.out_words = sizeof(*resp) / 4,
	};
	return len;
}

/* Was nothing posted? In the error state any posted request would complete. */
static bool nothing_completes(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc;

	return !ibv_modify_qp(qp, &attr, IBV_QP_STATE) && !ibv_poll_cq(cq, 1, &wc);
}

static void make_call(const struct call *c, bool loud)
{
	static uint8_t buf[1 << 14] __attribute__((aligned(8)));
	struct ib_uverbs_post_send_resp resp = { .bad_wr = 77 };
	uint32_t bad = c->err == EOPNOTSUPP || !c->err ? c->bad : 77;
	size_t len;
	int err;

	memset(buf, 0, sizeof(buf));
	len = fill(buf, c, &resp);
	err = write(verbs->cmd_fd, buf, len) == (ssize_t)len ? 0 : errno;
	if ((err == c->err || (err && err == c->other_err)) && resp.bad_wr == bad) {
		n_ok++;
		if (loud)
			kw_debug("ok %s: %s", c->what, strerror(err));
		return;
	}
	n_failed++;
	kw_say("FAILED %s: %s, and request %u", c->what, strerror(err), resp.bad_wr);
}

/* Use the command as a doorbell. Return: 0 or errno. */
static int ring(void)
{
	static const struct call doorbell = { .what = "a doorbell" };
	static uint8_t buf[256] __attribute__((aligned(8)));
	struct ib_uverbs_post_send_resp resp;
	size_t len;

	memset(buf, 0, sizeof(buf));
	len = fill(buf, &doorbell, &resp);
	return write(verbs->cmd_fd, buf, len) == (ssize_t)len ? 0 : errno;
}

/* Post and poll through libibverbs, with the rings that it has mapped. */
static void use_queues(void)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_sge sge = { 0 };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 100; i++) {
		ibv_post_recv(qp, &recv, &bad_recv);
		ibv_post_send(qp, &send, &bad_send);
		ibv_poll_cq(cq, 1, &wc);
		ibv_req_notify_cq(cq, 0);
	}
}

static void stay_until_gone(void)
{
	sigset_t set;
	int err, sig;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kw_say("ringing");
	while (!(err = ring()))
		usleep(1000);
	if (err != EIO)
		kw_die(KW_MISMATCH, "FAILED: a doorbell gave %s", strerror(err));
	kw_say("the device is gone");
	use_queues();
	kw_say("waiting");
	sigwait(&set, &sig);
}

static void destroy(void)
{
	if (ibv_destroy_qp(qp) || ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) ||
	    ibv_close_device(verbs))
		kw_die(KW_MISMATCH, "FAILED: something cannot be destroyed: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	const struct kw_option table[] = {
		KW_NEED('d', dev),
		KW_NUMBER('n', times, 1, 1000000),
		KW_FLAG('g', until_gone),
		{ 0 }
	};
	unsigned int i, k;

	kw_options(argc, argv, table, "kwpost -d rdma-device [-n times] [-g] [-v]");
	make_objects();
	if (until_gone) {
		stay_until_gone();
		return KW_OK;
	}
	for (i = 0; i < times; i++)
		for (k = 0; k < ARRAY_SIZE(calls); k++)
			make_call(&calls[k], !i);
	if (!nothing_completes()) {
		n_failed++;
		kw_say("FAILED: something was posted");
	}
	destroy();
	kw_say("%u ok, %u failed", n_ok, n_failed);
	return n_failed ? KW_MISMATCH : KW_OK;
}
