// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfault is a test program that makes operations of the kernel fail. This file: it injects one
 * fault that is for kwarp's own developers, and checks the effect. The rule is added after the
 * connection exists, because connecting sends FPDUs, too.
 */
#include "kwcm.h"
#include "kwfault.h"
#include "kwtest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_MS	60000
#define MSG_LEN		64
/* Code of a Terminate message for a CRC error (RFC 5044, section 8): layer 2, type 0, code 2. */
#define TERM_CRC	0x2002
/* A Send whose doorbell is lost must not complete within this time, in milliseconds. */
#define DEAF_MS		300

static void once(const char *kind)
{
	char command[100];

	snprintf(command, sizeof(command), "kwarpctl fault add %s --times 1 --pid %d", kind,
		 (int)getpid());
	if (system(command))
		kw_die(KW_SETUP, "'%s' fails", command);
}

struct link {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t buf[2 * MSG_LEN];
};

static void set_up(struct link *l, const char *addr, const char *port)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct ibv_qp_init_attr a;
	struct ibv_sge sge = { .length = MSG_LEN };
	struct ibv_recv_wr *bad, wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 };
	struct kwcm_event ev;

	l->id = kwcm_resolve(addr, port);
	l->pd = ibv_alloc_pd(l->id->verbs);
	l->cq = ibv_create_cq(l->id->verbs, 16, NULL, NULL, 0);
	l->mr = l->pd ? ibv_reg_mr(l->pd, l->buf, sizeof(l->buf), IBV_ACCESS_LOCAL_WRITE) : NULL;
	a = kw_qp_attr(l->cq, 8, 8, 1);
	if (!l->cq || !l->mr || rdma_create_qp(l->id, l->pd, &a))
		kw_die(KW_SETUP, "cannot set up: %s", strerror(errno));
	sge.addr = (uintptr_t)l->buf + MSG_LEN;
	sge.lkey = l->mr->lkey;
	if (ibv_post_recv(l->id->qp, &wr, &bad) || rdma_connect(l->id, &param) ||
	    kwcm_expect(l->id->channel, RDMA_CM_EVENT_ESTABLISHED, CONNECT_MS, &ev))
		kw_die(KW_LOST, "cannot connect");
}

static void tear_down(struct link *l)
{
	struct kwcm_event ev;

	/* Ignore an error: if the connection has failed, it is disconnected already. */
	rdma_disconnect(l->id);
	if (kwcm_expect(l->id->channel, RDMA_CM_EVENT_DISCONNECTED, CONNECT_MS, &ev))
		kw_die(KW_STALL, "FAILED: the connection does not end");
	rdma_destroy_qp(l->id);
	if (ibv_destroy_cq(l->cq) || ibv_dereg_mr(l->mr) || ibv_dealloc_pd(l->pd))
		kw_die(KW_MISMATCH, "FAILED: cannot destroy: %s", strerror(errno));
	kwcm_destroy(l->id);
}

static void post_one(struct link *l, enum ibv_wr_opcode opcode, uint64_t id)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)l->buf, .length = MSG_LEN, .lkey = l->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = id, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = opcode == IBV_WR_SEND,
	};

	if (ibv_post_send(l->id->qp, &wr, &bad))
		kw_die(KW_LOST, "cannot post: %s", strerror(errno));
}

static bool next(struct link *l, int ms, struct ibv_wc *wc)
{
	int64_t until = kw_now_ms() + ms;

	while (ibv_poll_cq(l->cq, 1, wc) <= 0)
		if (kw_now_ms() > until)
			return false;
	return true;
}

/*
 * The fault "lost-kick" makes one doorbell have no effect. No timer sends the request later,
 * because without the fault a doorbell cannot get lost: it is a system call. The next
 * doorbell has to send both requests, in their order.
 */
unsigned int kf_lost_kick(const char *addr, const char *port)
{
	static const uint64_t order[] = { 2, 3 };
	unsigned int i, sent = 0, wrong = 0;
	struct link l = { 0 };
	struct ibv_wc wc;

	set_up(&l, addr, port);
	kw_fill(l.buf, MSG_LEN, 7, 0);
	once("lost-kick");
	post_one(&l, IBV_WR_SEND, 2);
	if (next(&l, DEAF_MS, &wc))
		kw_die(KW_MISMATCH, "FAILED: the doorbell was heard");
	post_one(&l, IBV_WR_RDMA_WRITE, 3);
	for (i = 0; i < 3; i++) {
		if (!next(&l, CONNECT_MS, &wc))
			kw_die(KW_STALL, "FAILED: the next doorbell did not make up for it");
		if (wc.status != IBV_WC_SUCCESS)
			kw_die(KW_LOST, "FAILED: %s", ibv_wc_status_str(wc.status));
		if (wc.wr_id != 1)
			wrong += wc.wr_id != order[sent++];
	}
	wrong += kw_check(l.buf + MSG_LEN, MSG_LEN, 7, 0) != MSG_LEN;
	tear_down(&l);
	return wrong;
}

/*
 * The fault "bad-crc" makes the device send a wrong CRC. The peer has to answer with a
 * Terminate message, whose code is in the completions of flushed requests.
 */
unsigned int kf_bad_crc(const char *addr, const char *port)
{
	unsigned int wrong = 0;
	struct link l = { 0 };
	struct ibv_wc wc;

	set_up(&l, addr, port);
	once("bad-crc");
	post_one(&l, IBV_WR_SEND, 2);
	do {
		if (!next(&l, CONNECT_MS, &wc))
			kw_die(KW_STALL, "FAILED: no answer to a wrong CRC");
	} while (wc.wr_id != 1);
	if (wc.status != IBV_WC_WR_FLUSH_ERR || wc.vendor_err != TERM_CRC) {
		kw_say("FAILED: the receive ended with %s, Terminate %04x, not %04x",
		       ibv_wc_status_str(wc.status), wc.vendor_err, TERM_CRC);
		wrong++;
	}
	tear_down(&l);
	return wrong;
}
