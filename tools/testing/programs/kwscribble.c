// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwscribble: a program that writes nonsense into the queues that it shares with the kernel, while
 * it posts requests and polls completions.
 *
 *	kwscribble -a addr -p port [-n rounds] [-t milliseconds] [-S seed]
 *
 * Each round is a child process with a connection of its own to a kwconn server. The child finds
 * its mappings of the uverbs device and overwrites indices, flags and entries of send, receive,
 * shared receive and completion queues: single words, runs of words, and now and then a whole
 * mapping. The child may fail or crash, but it must end when it gets the signal to end, and the
 * suite checks that no other program was disturbed.
 */
#include "kwcm.h"
#include "kwtest.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_MAPS	32
#define HEAD_LEN	128	/* octets at the start of a mapping: indices and flags, if any */
#define CHILD_END_MS	20000
#define CONNECT_MS	20000

static const char *addr, *port = "7175";
static unsigned int rounds = 20, scribble_ms = 300;
static uint64_t seed = 1;

static struct kw_ring maps[MAX_MAPS];
static unsigned int n_maps;

/* ------------------------------------------------------------------ scribbling */

static void find_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");

	if (!f)
		kw_die(KW_SETUP, "cannot read the list of mappings");
	while (n_maps < MAX_MAPS && kw_next_ring(f, &maps[n_maps]))
		n_maps += maps[n_maps].writable;
	fclose(f);
	if (!n_maps)
		kw_die(KW_SETUP, "the device's library shares no memory with the kernel");
}

static uint32_t evil(struct kw_rng *rng)
{
	static const uint32_t values[] = {
		0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0xffff, 3, 64, 0x10000
	};

	if (kw_one_in(rng, 2))
		return values[kw_below(rng, ARRAY_SIZE(values))];
	return kw_rand(rng);
}

static void scribble_once(struct kw_rng *rng)
{
	unsigned int m = kw_below(rng, n_maps);
	size_t len = maps[m].len, off, i, run = 4;

	switch (kw_one_in(rng, 200) ? 4 : kw_below(rng, 4)) {
	case 0:		/* an index or a flag */
		off = kw_below(rng, HEAD_LEN / 4) * 4;
		break;
	case 1:		/* an index moves a little, past entries that were never written */
		off = kw_below(rng, HEAD_LEN / 4) * 4;
		*(volatile uint32_t *)(maps[m].at + off) += kw_below(rng, 40);
		return;
	case 4:		/* the whole mapping */
		run = len - len % 4 - 4;
		off = 0;
		break;
	case 2:		/* a run of words */
		run = 4 + kw_below(rng, 40) * 4;
		__attribute__((fallthrough));
	default:	/* a word anywhere */
		off = kw_below(rng, (len - run) / 4) * 4;
	}
	for (i = 0; i < run; i += 4)
		*(volatile uint32_t *)(maps[m].at + off + i) = evil(rng);
}

static void *scribbler(void *arg)
{
	struct kw_rng rng = { .state = *(uint64_t *)arg };

	for (;;) {
		scribble_once(&rng);
		if (kw_one_in(&rng, 64))
			usleep(kw_below(&rng, 200));
	}
	return NULL;
}

/* -------------------------------------------------------------------- a child */

static struct ibv_srq *make_srq(struct ibv_pd *pd)
{
	struct ibv_srq_init_attr a = { .attr = { .max_wr = 32, .max_sge = 2 } };
	struct ibv_srq *srq = pd ? ibv_create_srq(pd, &a) : NULL;

	if (!srq)
		kw_die(KW_SETUP, "cannot create shared receives: %s", strerror(errno));
	return srq;
}

static struct ibv_mr *connect_child(struct rdma_cm_id **idp, uint8_t *buf, size_t len, bool shared)
{
	struct ibv_qp_init_attr a;
	struct rdma_conn_param param = { .initiator_depth = 4, .responder_resources = 4 };
	struct rdma_cm_id *id = kwcm_resolve(addr, port);
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 64, NULL, NULL, 0);
	struct ibv_mr *mr;
	struct kwcm_event ev;

	a = kw_qp_attr(cq, 32, 32, 2);
	if (shared)
		a.srq = make_srq(id->pd);
	if (!cq || rdma_create_qp(id, id->pd, &a))
		kw_die(KW_SETUP, "cannot create the queues: %s", strerror(errno));
	mr = ibv_reg_mr(id->pd, buf, len, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ);
	if (!mr || rdma_connect(id, &param) ||
	    kwcm_expect(id->channel, RDMA_CM_EVENT_ESTABLISHED, CONNECT_MS, &ev))
		kw_die(KW_SETUP, "cannot connect");
	*idp = id;
	return mr;
}

/* Post and poll until the time is over, and ignore errors. */
static void post_and_poll(struct rdma_cm_id *id, struct ibv_cq *cq, struct ibv_mr *mr, uint8_t *buf)
{
	int64_t until = kw_now_ms() + scribble_ms;
	struct ibv_sge sge = { .addr = (uintptr_t)buf, .length = 64, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_recv_wr *rbad, rwr = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_wc wc;

	while (kw_now_ms() < until) {
		wr.opcode = wr.wr_id++ % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE;
		wr.num_sge = wr.opcode == IBV_WR_SEND;
		ibv_post_send(id->qp, &wr, &bad);
		if (id->qp->srq)
			ibv_post_srq_recv(id->qp->srq, &rwr, &rbad);
		else
			ibv_post_recv(id->qp, &rwr, &rbad);
		ibv_req_notify_cq(cq, wr.wr_id % 3 == 0);
		ibv_poll_cq(cq, 1, &wc);
	}
}

static void child(uint64_t child_seed)
{
	uint8_t *buf = kw_zalloc(4096);
	struct rdma_cm_id *id;
	struct ibv_mr *mr = connect_child(&id, buf, 4096, child_seed & 1);
	pthread_t t;

	find_maps();
	/*
	 * With nonsense in the queues libibverbs may loop for ever, so the process is killed
	 * after 5 s.
	 */
	alarm(5);
	if (pthread_create(&t, NULL, scribbler, &child_seed))
		kw_die(KW_SETUP, "no thread");
	post_and_poll(id, id->qp->send_cq, mr, buf);
	_exit(KW_OK);
}

/* ------------------------------------------------------------------- the parent */

static unsigned int survived, crashed;

static void wait_for(pid_t pid)
{
	int64_t until = kw_now_ms() + CHILD_END_MS;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (kw_now_ms() > until)
			kw_die(KW_STALL, "FAILED: process %d does not end", pid);
		usleep(20000);
	}
	if (WIFSIGNALED(status))
		crashed++;
	else if (WEXITSTATUS(status) == KW_SETUP)
		kw_die(KW_SETUP, "a child could not begin");
	else
		survived++;
}

int main(int argc, char **argv)
{
	static const struct kw_option table[] = {
		KW_NEED('a', addr),
		KW_TEXT('p', port),
		KW_NUMBER('n', rounds, 1, 100000),
		KW_NUMBER('t', scribble_ms, 1, 60000),
		KW_BIG('S', seed, 0, UINT64_MAX),
		{ 0 }
	};
	unsigned int i;
	pid_t pid;

	kw_options(argc, argv, table,
		   "kwscribble -a addr [-p port] [-n rounds] [-t milliseconds] [-S seed] [-v]");
	for (i = 0; i < rounds; i++) {
		pid = fork();
		if (pid < 0)
			kw_die(KW_SETUP, "cannot fork: %s", strerror(errno));
		if (!pid)
			child(kw_mix(seed, i));
		wait_for(pid);
	}
	kw_say("%u rounds: %u ended by themselves, %u crashed", rounds, survived, crashed);
	return KW_OK;
}
