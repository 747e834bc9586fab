// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwmw is a test program for memory windows, which are in the server's memory.
 * This file: the client, which does the operations that the server sends as commands, with one
 * process per connection.
 */
#include "kwmw.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint8_t *data;
static struct ibv_mr *data_mr;

static enum ibv_wr_opcode wr_opcode(uint32_t what)
{
	return what == KM_WRITE ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
}

/* A Read has to fail. A Write may complete with any status, but the connection has to end. */
static void expect_refused(struct km_conn *c, uint32_t what)
{
	struct kwcm_event ev;
	struct ibv_wc wc;

	if (what == KM_READ) {
		wc = km_next_wc(c->cq);
		if (wc.status != IBV_WC_REM_ACCESS_ERR)
			kw_die(KW_MISMATCH, "FAILED: the Read ended with '%s'",
			       ibv_wc_status_str(wc.status));
	}
	if (kwcm_expect(c->id->channel, RDMA_CM_EVENT_DISCONNECTED, KM_EVENT_MS, &ev))
		kw_die(KW_MISMATCH, "FAILED: operation %u was not refused", what);
}

/* Do what the received command says. Return: false if the connection has ended. */
static bool obey(struct km_conn *c)
{
	struct km_command cmd = c->msg[1];
	struct ibv_sge sge = { (uintptr_t)data, cmd.len, data_mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = wr_opcode(cmd.what) };

	km_post_recv(c);
	if (cmd.what == KM_SEND_INV) {
		km_post_msg(c, IBV_WR_SEND_WITH_INV, cmd.rkey);
		km_expect_wc(c, IBV_WC_SEND);
		return true;
	}
	memset(data, 0, KM_BUF_LEN);
	if (cmd.what == KM_WRITE)
		kw_fill(data, cmd.len, cmd.key, 0);
	wr.wr.rdma.remote_addr = cmd.addr;
	wr.wr.rdma.rkey = cmd.rkey;
	km_post(c, &wr);
	if (cmd.refused) {
		expect_refused(c, cmd.what);
		return false;
	}
	km_expect_wc(c, cmd.what == KM_WRITE ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ);
	if (cmd.what == KM_READ && kw_check(data, cmd.len, cmd.key, 0) != cmd.len)
		kw_die(KW_MISMATCH, "FAILED: a Read brought wrong data");
	/* When this message has arrived, the data of the Write before it has arrived, too. */
	km_post_msg(c, IBV_WR_SEND, 0);
	km_expect_wc(c, IBV_WC_SEND);
	return true;
}

/* Return: false if there is no server any more. */
static bool connect_one(struct km_conn *c)
{
	struct rdma_conn_param param = { .initiator_depth = 4, .responder_resources = 4 };
	struct rdma_cm_id *id = kwcm_resolve(km_addr, km_port);
	struct kwcm_event ev;

	km_make_conn(c, id, NULL);
	data = kw_zalloc(KM_BUF_LEN);
	data_mr = ibv_reg_mr(id->qp->pd, data, KM_BUF_LEN,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	km_must(data_mr, "register data");
	if (rdma_connect(id, &param))
		return false;
	/* Wait long: the server uses the connection only when it needs a new one. */
	return !kwcm_next(id->channel, 90000, &ev) && ev.type == RDMA_CM_EVENT_ESTABLISHED;
}

static void serve_commands(struct km_conn *c)
{
	struct ibv_wc wc;

	do
		wc = km_next_wc(c->recv_cq);
	while (wc.status == IBV_WC_SUCCESS && obey(c));
}

static void child(int up)
{
	struct km_conn c;
	bool ok = connect_one(&c);

	if (write(up, ok ? "y" : "n", 1) != 1)
		kw_die(KW_SETUP, "cannot tell the parent");
	if (ok)
		serve_commands(&c);
	km_must(!ibv_dereg_mr(data_mr), "deregister data");
	km_drop_conn(&c);
	exit(KW_OK);
}

int km_client(void)
{
	int fd[2], status, rv = KW_OK;
	unsigned int n = 0;
	char up;

	if (pipe(fd))
		kw_die(KW_SETUP, "no pipe");
	do {
		switch (fork()) {
		case -1:
			kw_die(KW_SETUP, "cannot fork");
		case 0:
			child(fd[1]);
		}
		if (read(fd[0], &up, 1) != 1)
			kw_die(KW_SETUP, "lost a child");
		n += up == 'y';
	} while (up == 'y');
	while (wait(&status) > 0)
		if (status)
			rv = KW_MISMATCH;
	kw_say("%u connections, %s", n, rv ? "FAILED" : "all as told");
	return rv;
}
