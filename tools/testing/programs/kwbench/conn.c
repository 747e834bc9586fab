// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbench is a benchmark: the rate or latency of one kind of traffic between two processes. This
 * file: verbs resources, posting, connecting. A note is a message with the number of operations
 * that an end has counted; a credit says that the peer may send more messages.
 */
#include "kwbench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_READS	255	/* the largest number in struct rdma_conn_param */
#define CREDIT_RECVS	4	/* receives of a client for credits; at most 2 come at once */
#define PONG_RECVS	8

uint8_t *kb_sink(const struct kb_run *run)
{
	return run->mem + run->half;
}

/* Number of receives of a queue pair, for Sends (server), credits (client) and notes (both). */
static unsigned int recv_depth(const struct kb_run *run)
{
	if (!kb_takes_receives(&run->cfg))
		return 1;
	if (run->cfg.flags & KB_LATENCY)
		return PONG_RECVS;
	return run->client ? CREDIT_RECVS : 2 * run->cfg.depth;
}

/*
 * Length of the send queue: room for the operations under way; for the requests since the last
 * signaled one, whose places become free only when a later signaled request completes (the Read
 * after the last operation of a measurement uses one of these places); and for the Sends that
 * return credits.
 */
static unsigned int send_depth(const struct kb_run *run)
{
	return run->cfg.depth + run->signal + CREDIT_RECVS;
}

/* Allocate source, sink and notes. Return: their length together. */
static size_t alloc_memory(struct kb_run *run)
{
	size_t notes, len;

	run->half = kb_is_atomic(&run->cfg) ? (size_t)run->cfg.qps * KB_WORD : run->cfg.size;
	notes = (2 * run->half + KB_WORD - 1) / KB_WORD * KB_WORD;
	len = notes + KB_NOTES * sizeof(*run->notes);
	run->mem = aligned_alloc(4096, (len + 4095) & ~4095UL);
	if (!run->mem)
		kw_die(KW_SETUP, "no memory for messages of %u octets", run->cfg.size);
	memset(run->mem, 0, len);
	run->notes = (struct kb_note *)(run->mem + notes);
	return len;
}

static void set_signal(struct kb_run *run)
{
	run->signal = run->cfg.depth >= 16 ? run->cfg.depth / 8 : 1;
}

const char *kb_lacks(const struct kb_config *cfg, struct ibv_context *verbs)
{
	struct ibv_device_attr_ex attr;

	/*
	 * Not ibv_query_device(), which returns the values that the device had when it was created:
	 * a setting may have changed atomic_cap since.
	 */
	if (ibv_query_device_ex(verbs, NULL, &attr))
		kw_die(KW_SETUP, "cannot query the device");
	if (kb_is_atomic(cfg) && attr.orig_attr.atomic_cap == IBV_ATOMIC_NONE)
		return "atomic operations";
	return NULL;
}

void kb_open(struct kb_run *run, struct ibv_context *verbs)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	size_t len;
	int cqes;

	if (run->pd)
		return;
	if (kb_is_atomic(&run->cfg))
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	set_signal(run);
	cqes = run->cfg.qps * (send_depth(run) + recv_depth(run));
	run->qp = kw_zalloc(run->cfg.qps * sizeof(*run->qp));
	len = alloc_memory(run);
	run->pd = ibv_alloc_pd(verbs);
	run->mr = run->pd ? ibv_reg_mr(run->pd, run->mem, len, access) : NULL;
	run->comp = ibv_create_comp_channel(verbs);
	run->cq = run->comp ? ibv_create_cq(verbs, cqes, NULL, run->comp, 0) : NULL;
	if (!run->mr || !run->cq)
		kw_die(KW_SETUP, "cannot create the run's resources: %s", strerror(errno));
}

void kb_close(struct kb_run *run)
{
	if (!run->pd)
		return;
	if (ibv_dereg_mr(run->mr) || ibv_destroy_cq(run->cq) ||
	    ibv_destroy_comp_channel(run->comp) || ibv_dealloc_pd(run->pd))
		kw_die(KW_SETUP, "cannot destroy the run's resources: %s", strerror(errno));
	free(run->mem);
	free(run->qp);
	memset(run, 0, sizeof(*run));
}

void kb_post_recv(struct kb_run *run, struct kb_qp *qp)
{
	bool counted = kb_is_counted(&run->cfg);
	struct ibv_sge sge = {
		.addr = counted ? (uintptr_t)&run->notes[KB_IN] : (uintptr_t)kb_sink(run),
		.length = counted ? sizeof(run->notes[KB_IN]) : run->cfg.size,
		.lkey = run->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = KB_WR_ID(qp - run->qp, 0, KB_RECV),
		.sg_list = &sge,
		.num_sge = 1,
	};

	if (ibv_post_recv(qp->id->qp, &wr, &bad))
		kw_die(KW_LOST, "cannot post a receive");
}

uint64_t *kb_word(const struct kb_run *run, const struct kb_qp *qp, uint8_t *half)
{
	return (uint64_t *)half + (qp - run->qp);
}

/* Local address of the data of a request. */
static const void *local(const struct kb_run *run, const struct kb_qp *qp, enum kb_what what)
{
	if (kb_is_counted(&run->cfg) && what != KB_DATA)
		return &run->notes[KB_OUT];
	return kb_is_atomic(&run->cfg) ? (uint8_t *)kb_word(run, qp, run->mem) : run->mem;
}

static bool may_be_inline(const struct kb_run *run, enum ibv_wr_opcode opcode, uint32_t len)
{
	return opcode != IBV_WR_RDMA_READ && !kb_is_atomic(&run->cfg) && len <= run->max_inline;
}

static void cannot_post(const struct kb_qp *qp, enum ibv_wr_opcode opcode, int rv)
{
	/* Some providers return the kernel's negative errno. */
	rv = abs(rv);
	if (opcode == IBV_WR_RDMA_WRITE_WITH_IMM && (rv == EINVAL || rv == EOPNOTSUPP))
		kw_die(KW_LOST, "the queue pair has no Writes with immediate data: %s",
		       strerror(rv));
	kw_die(KW_LOST, "cannot post, %u requests queued: %s", qp->queued, strerror(rv));
}

/* Set the immediate data, or the operands, of the next operation. */
static void number(struct kb_run *run, struct kb_qp *qp, struct ibv_send_wr *wr)
{
	if (wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		wr->imm_data = htonl(qp->posted);
	} else {
		wr->wr.atomic.remote_addr = qp->peer.addr;
		wr->wr.atomic.rkey = qp->peer.rkey;
		wr->wr.atomic.compare_add = run->cfg.op == KB_FETCH_ADD ? 1 : qp->posted;
		wr->wr.atomic.swap = qp->posted + 1;
	}
	qp->posted++;
}

void kb_post(struct kb_run *run, struct kb_qp *qp, enum ibv_wr_opcode opcode,
	     enum kb_what what, uint32_t len, bool signaled)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)local(run, qp, what),
		.length = len,
		.lkey = run->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = KB_WR_ID(qp - run->qp, ++qp->unsignaled, what),
		.sg_list = &sge,
		.num_sge = !!len,
		.opcode = opcode,
		.send_flags = signaled ? IBV_SEND_SIGNALED : 0,
		.wr.rdma.remote_addr = qp->peer.addr,
		.wr.rdma.rkey = qp->peer.rkey,
	};
	int rv;

	if (what == KB_DATA && kb_is_counted(&run->cfg))
		number(run, qp, &wr);
	if (may_be_inline(run, opcode, len))
		wr.send_flags |= IBV_SEND_INLINE;
	qp->queued++;
	if (signaled)
		qp->unsignaled = 0;
	rv = ibv_post_send(qp->id->qp, &wr, &bad);
	if (rv)
		cannot_post(qp, opcode, rv);
}

int kb_create_qp(struct kb_run *run, struct kb_qp *qp)
{
	bool small = run->cfg.flags & KB_LATENCY && run->cfg.size <= KB_INLINE;
	struct ibv_qp_init_attr attr = kw_qp_attr(run->cq, send_depth(run), recv_depth(run), 1);
	unsigned int i;

	attr.cap.max_inline_data = small ? run->cfg.size : 0;
	if (rdma_create_qp(qp->id, run->pd, &attr))
		return -errno;
	run->max_inline = small ? run->cfg.size : 0;
	for (i = 0; i < recv_depth(run); i++)
		kb_post_recv(run, qp);
	qp->credits = 2 * run->cfg.depth;
	return 0;
}

static unsigned int read_depth(const struct kb_run *run, struct ibv_context *verbs)
{
	unsigned int depth = run->cfg.depth;
	struct ibv_device_attr attr;

	if (ibv_query_device(verbs, &attr))
		kw_die(KW_SETUP, "cannot query the device");
	if (depth > (unsigned int)attr.max_qp_init_rd_atom)
		depth = attr.max_qp_init_rd_atom;
	return depth < MAX_READS ? depth : MAX_READS;
}

/*
 * Post no more atomic operations at once than the server accepts: others would only wait in the
 * send queue.
 */
static void limit_depth(struct kb_run *run, unsigned int granted)
{
	if (!granted)
		kw_die(KW_SETUP, "the server takes no atomic operations at once");
	if (run->cfg.depth > granted)
		run->cfg.depth = granted;
	set_signal(run);
}

static void connect_one(struct kb_run *run, struct kb_qp *qp)
{
	struct rdma_conn_param param = {
		.private_data = &run->cfg,
		.private_data_len = sizeof(run->cfg),
		.initiator_depth = read_depth(run, qp->id->verbs),
		.responder_resources = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct kwcm_event ev;
	int rv = kb_create_qp(run, qp);

	if (rv)
		kw_die(KW_SETUP, "cannot create a queue pair: %s", strerror(-rv));
	if (rdma_connect(qp->id, &param) ||
	    kwcm_expect(qp->id->channel, RDMA_CM_EVENT_ESTABLISHED, KB_CM_MS, &ev))
		kw_die(KW_SETUP, "connection %u of %u failed", run->qps + 1, run->cfg.qps);
	if (ev.priv_len < sizeof(qp->peer))
		kw_die(KW_SETUP, "the server's answer has %u octets", ev.priv_len);
	memcpy(&qp->peer, ev.priv, sizeof(qp->peer));
	if (kb_is_atomic(&run->cfg))
		limit_depth(run, ev.depth);
}

void kb_connect(struct kb_run *run, unsigned int qps, const char *addr, const char *port)
{
	struct rdma_cm_id *id;
	const char *lacks;

	while (run->qps < qps) {
		id = kwcm_resolve(addr, port);
		lacks = kb_lacks(&run->cfg, id->verbs);
		if (lacks)
			kw_die(KW_SETUP, "the device has no %s", lacks);
		kb_open(run, id->verbs);
		run->cfg.addr = (uintptr_t)kb_sink(run);
		run->cfg.rkey = run->mr->rkey;
		run->qp[run->qps].id = id;
		connect_one(run, &run->qp[run->qps]);
		run->qps++;
	}
}

void kb_disconnect_all(struct kb_run *run)
{
	struct kwcm_event ev;
	unsigned int i;

	for (i = 0; i < run->qps; i++)
		rdma_disconnect(run->qp[i].id);
	for (i = 0; i < run->qps; i++) {
		kwcm_expect(run->qp[i].id->channel, RDMA_CM_EVENT_DISCONNECTED, KB_CM_MS, &ev);
		rdma_destroy_qp(run->qp[i].id);
		kwcm_destroy(run->qp[i].id);
	}
}
