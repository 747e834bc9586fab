// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwmw: memory windows, from allocation to every way in which they end.
 *
 *	kwmw -s -a addr -p port [-x]
 *	kwmw -c -a addr -p port
 *
 * The memory is the server's, and the server tells the client what to do with it, one command per
 * message. The client always has a connection ready, each in a process of its own, so that the
 * server can let one break and use the next. The server looks into its memory for what the client
 * wrote, or was kept from writing. With -x the server ends while windows are bound, and the kernel
 * has to clean up.
 */
#include "kwcm.h"
#include "kwtest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUF_LEN		(512 * 1024)
#define WIN_OFF		5000
#define WIN_LEN		200001
#define EVENT_MS	30000
#define BEFORE		1	/* keys of contents */
#define RW		(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

enum what { WRITE, READ, SEND_INV };

/**
 * struct command - what the client is to do
 * @what: enum what
 * @refused: it has to end the connection
 * @key: of the contents to write, or to find
 */
struct command {
	uint32_t what, refused;
	uint64_t addr, key;
	uint32_t rkey, len;
};

/*
 * A connection. Requests and receives have separate completion queues, because their order
 * relative to each other is not defined.
 */
struct conn {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_cq *recv_cq;
	struct ibv_mr *mr;
	struct command *msg;	/* to send, and received */
};

static const char *addr, *port = "7175";
static struct rdma_cm_id *listener;

static void must(bool ok, const char *what)
{
	if (!ok)
		kw_die(KW_MISMATCH, "FAILED: %s (%s)", what, strerror(errno));
}

/* -------------------------------------------------------------- connections */

static struct ibv_wc next_wc(struct ibv_cq *cq)
{
	int64_t until = kw_now_ms() + EVENT_MS;
	struct ibv_wc wc;

	while (kw_now_ms() < until)
		if (ibv_poll_cq(cq, 1, &wc) > 0)
			return wc;
	kw_die(KW_STALL, "no completion");
}

static void expect_wc(struct conn *c, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = next_wc(opcode == IBV_WC_RECV ? c->recv_cq : c->cq);

	if (wc.status != IBV_WC_SUCCESS || wc.opcode != opcode)
		kw_die(KW_MISMATCH, "FAILED: completion '%s', opcode %d instead of %d",
		       ibv_wc_status_str(wc.status), wc.opcode, opcode);
}

static void post_recv(struct conn *c)
{
	struct ibv_sge sge = { (uintptr_t)&c->msg[1], sizeof(*c->msg), c->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	must(!ibv_post_recv(c->id->qp, &wr, &bad), "post a receive");
}

static void post(struct conn *c, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int rv;

	wr->send_flags |= IBV_SEND_SIGNALED;
	rv = ibv_post_send(c->id->qp, wr, &bad);
	if (rv)
		kw_die(KW_MISMATCH, "FAILED: opcode %d: %s", wr->opcode, strerror(rv));
}

static void post_msg(struct conn *c, enum ibv_wr_opcode opcode, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)&c->msg[0], sizeof(*c->msg), c->mr->lkey };
	struct ibv_send_wr wr = { .opcode = opcode, .sg_list = &sge, .num_sge = 1 };

	wr.invalidate_rkey = rkey;
	post(c, &wr);
}

static void make_conn(struct conn *c, struct rdma_cm_id *id, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr a = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 8, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	c->id = id;
	c->cq = ibv_create_cq(id->verbs, 32, NULL, NULL, 0);
	c->recv_cq = ibv_create_cq(id->verbs, 32, NULL, NULL, 0);
	a.send_cq = c->cq;
	a.recv_cq = c->recv_cq;
	if (!c->cq || !c->recv_cq || rdma_create_qp(id, pd, &a))
		kw_die(KW_SETUP, "cannot create the queues: %s", strerror(errno));
	c->msg = kw_zalloc(2 * sizeof(*c->msg));
	c->mr = ibv_reg_mr(id->qp->pd, c->msg, 2 * sizeof(*c->msg), IBV_ACCESS_LOCAL_WRITE);
	must(c->mr, "register messages");
	post_recv(c);
}

static void drop_conn(struct conn *c)
{
	rdma_destroy_qp(c->id);
	must(!ibv_destroy_cq(c->cq) && !ibv_destroy_cq(c->recv_cq) && !ibv_dereg_mr(c->mr),
	     "destroy a connection's objects");
	free(c->msg);
	kwcm_destroy(c->id);
}

/* ------------------------------------------------------------------- client */

static uint8_t *data;
static struct ibv_mr *data_mr;

static enum ibv_wr_opcode wr_opcode(uint32_t what)
{
	return what == WRITE ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
}

/* The request may complete or not, but the connection has to end. */
static void expect_refused(struct conn *c, uint32_t what)
{
	struct kwcm_event ev;
	struct ibv_wc wc;

	if (what == READ) {
		wc = next_wc(c->cq);
		if (wc.status != IBV_WC_REM_ACCESS_ERR)
			kw_die(KW_MISMATCH, "FAILED: the Read ended with '%s'",
			       ibv_wc_status_str(wc.status));
	}
	if (kwcm_expect(c->id->channel, RDMA_CM_EVENT_DISCONNECTED, EVENT_MS, &ev))
		kw_die(KW_MISMATCH, "FAILED: operation %u was not refused", what);
}

/* False: the connection has ended. */
static bool obey(struct conn *c)
{
	struct command cmd = c->msg[1];
	struct ibv_sge sge = { (uintptr_t)data, cmd.len, data_mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = wr_opcode(cmd.what) };

	post_recv(c);
	if (cmd.what == SEND_INV) {
		post_msg(c, IBV_WR_SEND_WITH_INV, cmd.rkey);
		expect_wc(c, IBV_WC_SEND);
		return true;
	}
	memset(data, 0, BUF_LEN);
	if (cmd.what == WRITE)
		kw_fill(data, cmd.len, cmd.key, 0);
	wr.wr.rdma.remote_addr = cmd.addr;
	wr.wr.rdma.rkey = cmd.rkey;
	post(c, &wr);
	if (cmd.refused) {
		expect_refused(c, cmd.what);
		return false;
	}
	expect_wc(c, cmd.what == WRITE ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ);
	if (cmd.what == READ && kw_check(data, cmd.len, cmd.key, 0) != cmd.len)
		kw_die(KW_MISMATCH, "FAILED: a Read brought wrong data");
	/* Posted after a Write: when this message has arrived, so have the Write's data. */
	post_msg(c, IBV_WR_SEND, 0);
	expect_wc(c, IBV_WC_SEND);
	return true;
}

/* False: there is no server any more. */
static bool connect_one(struct conn *c)
{
	struct rdma_conn_param param = { .initiator_depth = 4, .responder_resources = 4 };
	struct rdma_cm_id *id = kwcm_resolve(addr, port);
	struct kwcm_event ev;

	make_conn(c, id, NULL);
	data = kw_zalloc(BUF_LEN);
	data_mr = ibv_reg_mr(id->qp->pd, data, BUF_LEN,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	must(data_mr, "register data");
	if (rdma_connect(id, &param))
		return false;
	/* Wait long: the server uses the connection only when it needs a new one. */
	return !kwcm_next(id->channel, 90000, &ev) && ev.type == RDMA_CM_EVENT_ESTABLISHED;
}

static void serve_commands(struct conn *c)
{
	struct ibv_wc wc;

	do
		wc = next_wc(c->recv_cq);
	while (wc.status == IBV_WC_SUCCESS && obey(c));
}

static void child(int up)
{
	struct conn c;
	bool ok = connect_one(&c);

	if (write(up, ok ? "y" : "n", 1) != 1)
		kw_die(KW_SETUP, "cannot tell the parent");
	if (ok)
		serve_commands(&c);
	must(!ibv_dereg_mr(data_mr), "deregister data");
	drop_conn(&c);
	exit(KW_OK);
}

static int client(void)
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

/* ------------------------------------------------------------------- server */

static uint8_t *buf;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_mw *mw;
static uint32_t named;	/* STag that the client is to use; 0: the window's */

static void fill(void)
{
	kw_fill(buf, BUF_LEN, BEFORE, 0);
}

/* The window has these contents (0: as before), and around it nothing has changed. */
static void expect_memory(uint64_t key)
{
	must(kw_check(buf, WIN_OFF, BEFORE, 0) == WIN_OFF, "octets before the window");
	must(kw_check(buf + WIN_OFF + WIN_LEN, BUF_LEN - WIN_OFF - WIN_LEN, BEFORE,
		      WIN_OFF + WIN_LEN) == BUF_LEN - WIN_OFF - WIN_LEN,
	     "octets after the window");
	must(kw_check(buf + WIN_OFF, WIN_LEN, key ? key : BEFORE, key ? 0 : WIN_OFF) == WIN_LEN,
	     "contents of the window");
}

static struct conn accept_one(void)
{
	struct rdma_conn_param param = { .initiator_depth = 4, .responder_resources = 4 };
	struct kwcm_event ev;
	struct conn c;

	if (kwcm_expect(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST, EVENT_MS, &ev))
		kw_die(KW_SETUP, "no connection");
	if (!pd)
		pd = ibv_alloc_pd(ev.id->verbs);
	must(pd, "allocate a protection domain");
	if (rdma_migrate_id(ev.id, rdma_create_event_channel()))
		kw_die(KW_SETUP, "cannot migrate the id");
	make_conn(&c, ev.id, pd);
	if (rdma_accept(c.id, &param) ||
	    kwcm_expect(c.id->channel, RDMA_CM_EVENT_ESTABLISHED, EVENT_MS, &ev))
		kw_die(KW_SETUP, "cannot accept");
	return c;
}

static void make_memory(int access)
{
	mr = ibv_reg_mr(pd, buf, BUF_LEN, access);
	must(mr, "register memory");
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	must(mw, "allocate a window");
}

static void drop_memory(void)
{
	must(!ibv_dealloc_mw(mw), "deallocate the window");
	must(!ibv_dereg_mr(mr), "deregister the memory");
}

/* With the next key; the window's place, if not said otherwise. */
static void post_bind(struct conn *c, uint64_t off, uint64_t len, unsigned int access)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };

	mw->rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = mw->rkey;
	wr.bind_mw.bind_info.mr = mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)buf + off;
	wr.bind_mw.bind_info.length = len;
	wr.bind_mw.bind_info.mw_access_flags = access;
	post(c, &wr);
}

static void bind_window(struct conn *c, unsigned int access)
{
	post_bind(c, WIN_OFF, WIN_LEN, access);
	expect_wc(c, IBV_WC_BIND_MW);
}

static void post_local_inv(struct conn *c, uint32_t rkey)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV };

	wr.invalidate_rkey = rkey;
	post(c, &wr);
}

static void local_inv(struct conn *c)
{
	post_local_inv(c, mw->rkey);
	expect_wc(c, IBV_WC_LOCAL_INV);
}

static void tell(struct conn *c, enum what op, uint64_t at, uint64_t key, bool is_refused)
{
	c->msg[0] = (struct command){
		.what = op,
		.refused = is_refused,
		.addr = at,
		.key = key,
		.rkey = named ? named : mw->rkey,
		.len = WIN_LEN,
	};
	post_msg(c, IBV_WR_SEND, 0);
}

/* Make the client do an operation through the window; it has to succeed. */
static void done(struct conn *c, enum what op, uint64_t at, uint64_t key)
{
	tell(c, op, at, key, false);
	expect_wc(c, IBV_WC_SEND);
	expect_wc(c, IBV_WC_RECV);
	post_recv(c);
}

/* Make the client try an operation. The connection has to end, and memory is unchanged. */
static void tried(struct conn *c, enum what op, uint64_t at)
{
	struct ibv_wc wc;
	struct kwcm_event ev;

	tell(c, op, at, 99, true);
	expect_wc(c, IBV_WC_SEND);
	wc = next_wc(c->recv_cq);
	must(wc.status == IBV_WC_WR_FLUSH_ERR, "the receive is flushed");
	if (kwcm_expect(c->id->channel, RDMA_CM_EVENT_DISCONNECTED, EVENT_MS, &ev))
		kw_die(KW_MISMATCH, "FAILED: nothing was refused");
}

/* Make the client invalidate the window. */
static void peer_inv(struct conn *c)
{
	struct ibv_wc wc;

	tell(c, SEND_INV, 0, 0, false);
	expect_wc(c, IBV_WC_SEND);
	wc = next_wc(c->recv_cq);
	must(wc.status == IBV_WC_SUCCESS && wc.wc_flags & IBV_WC_WITH_INV &&
	     wc.invalidated_rkey == mw->rkey, "the receive names the rkey");
	post_recv(c);
}

static uint64_t win(void)
{
	return (uintptr_t)buf + WIN_OFF;
}

static void use_and_invalidate(void)
{
	struct conn a = accept_one(), b = accept_one();

	fill();
	make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	/* In one go: the message after the bind may carry its key. */
	post_bind(&a, WIN_OFF, WIN_LEN, RW);
	tell(&a, WRITE, win(), 2, false);
	expect_wc(&a, IBV_WC_BIND_MW);
	expect_wc(&a, IBV_WC_SEND);
	expect_wc(&a, IBV_WC_RECV);
	post_recv(&a);
	expect_memory(2);
	done(&a, READ, win(), 2);
	must(ibv_dereg_mr(mr) == EBUSY, "EBUSY for a region with a window");
	done(&a, WRITE, win(), 3);
	expect_memory(3);
	kw_say("ok bound: written, read, region busy");

	tried(&b, WRITE, win());
	drop_conn(&b);
	expect_memory(3);
	b = accept_one();
	tried(&b, READ, win());
	drop_conn(&b);
	kw_say("ok other stream refused");

	peer_inv(&a);
	tried(&a, WRITE, win());
	expect_memory(3);
	must(!ibv_dereg_mr(mr), "deregister after the peer's invalidate");
	must(!ibv_dealloc_mw(mw), "deallocate after the peer's invalidate");
	drop_conn(&a);
	kw_say("ok invalidated by the peer");
}

static void local_invalidate(void)
{
	struct conn c = accept_one();

	fill();
	make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	bind_window(&c, RW | IBV_ACCESS_ZERO_BASED);
	done(&c, WRITE, 0, 4);
	expect_memory(4);
	local_inv(&c);
	bind_window(&c, IBV_ACCESS_REMOTE_READ);
	done(&c, READ, win(), 4);
	tried(&c, WRITE, win());
	expect_memory(4);
	/* bound until the queue pair goes, though its stream has ended */
	must(ibv_dereg_mr(mr) == EBUSY, "EBUSY after the end of the stream");
	drop_conn(&c);
	must(!ibv_dereg_mr(mr), "deregister after the queue pair");
	must(!ibv_dealloc_mw(mw), "deallocate after the queue pair");
	kw_say("ok zero based, local invalidate, rights, end of the queue pair");
}

/* The owner may invalidate a window that is not valid. The window works afterwards. */
static void invalidate_invalid(void)
{
	struct conn c = accept_one();
	struct kwcm_event ev;

	fill();
	make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	local_inv(&c);
	bind_window(&c, RW);
	done(&c, WRITE, win(), 5);
	expect_memory(5);
	peer_inv(&c);
	/* the peer has invalidated the window before */
	local_inv(&c);
	local_inv(&c);
	bind_window(&c, RW);
	done(&c, READ, win(), 5);
	/* but the key has to be the window's */
	post_local_inv(&c, mw->rkey ^ 1);
	if (next_wc(c.cq).status != IBV_WC_LOC_PROT_ERR)
		kw_die(KW_MISMATCH, "FAILED: a key that is not the window's is invalidated");
	if (kwcm_expect(c.id->channel, RDMA_CM_EVENT_DISCONNECTED, EVENT_MS, &ev))
		kw_die(KW_MISMATCH, "FAILED: the connection goes on");
	must(ibv_dereg_mr(mr) == EBUSY, "EBUSY: the window is still bound");
	drop_memory();
	drop_conn(&c);
	kw_say("ok invalidated unbound, twice, by another key");
}

static void range_and_dealloc(void)
{
	struct conn c = accept_one();
	uint32_t rkey;

	fill();
	make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	bind_window(&c, RW);
	/* all of it: what lies inside would be placed before the rest is seen */
	tried(&c, WRITE, win() - 1);
	expect_memory(0);
	drop_conn(&c);
	drop_memory();

	c = accept_one();
	make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	bind_window(&c, RW);
	rkey = mw->rkey;
	drop_memory();
	make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	mw->rkey = rkey;
	tried(&c, READ, win());
	drop_conn(&c);
	drop_memory();
	kw_say("ok range, deallocated while bound");
}

/* The bind fails, and with it the connection. */
static void bind_fails(const char *why, int mr_access, uint64_t off, uint64_t len,
		       unsigned int access, bool twice)
{
	struct conn c = accept_one();
	struct kwcm_event ev;

	make_memory(mr_access);
	if (twice)
		bind_window(&c, access);
	post_bind(&c, off, len, access);
	if (next_wc(c.cq).status != IBV_WC_MW_BIND_ERR)
		kw_die(KW_MISMATCH, "FAILED: bind: %s", why);
	if (kwcm_expect(c.id->channel, RDMA_CM_EVENT_DISCONNECTED, EVENT_MS, &ev))
		kw_die(KW_MISMATCH, "FAILED: the connection goes on");
	drop_memory();
	drop_conn(&c);
	kw_say("ok bind refused: %s", why);
}

static void bad_binds(void)
{
	const int good = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;

	bind_fails("region without the right", IBV_ACCESS_LOCAL_WRITE, 0, 8, RW, false);
	bind_fails("region is read only", IBV_ACCESS_MW_BIND, 0, 8, IBV_ACCESS_REMOTE_WRITE,
		   false);
	bind_fails("too long", good, 1, BUF_LEN, RW, false);
	bind_fails("bound already", good, WIN_OFF, 8, RW, true);
	errno = 0;
	must(!ibv_alloc_mw(pd, 3) && errno == EINVAL, "EINVAL for type 3");
}

/* Type 1; to nothing with no octets. */
static void bind_type_1(struct conn *c, uint64_t len, unsigned int access)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = len ? mr : NULL, .addr = len ? win() : 0, .length = len,
			       .mw_access_flags = access },
	};
	uint32_t before = mw->rkey;

	must(!ibv_bind_mw(c->id->qp, mw, &bind), "bind a window of type 1");
	must(mw->rkey != before, "a new key");
	expect_wc(c, IBV_WC_BIND_MW);
}

/*
 * A window of type 1 is open to all streams of the protection domain, and can be bound again
 * without an invalidate.
 */
static void type_1(void)
{
	struct conn a = accept_one(), b = accept_one();

	fill();
	mr = ibv_reg_mr(pd, buf, BUF_LEN, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	must(mr, "register memory");
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	must(mw, "allocate a window of type 1");
	bind_type_1(&a, WIN_LEN, RW);
	done(&a, WRITE, win(), 6);
	expect_memory(6);
	done(&b, READ, win(), 6);
	must(ibv_dereg_mr(mr) == EBUSY, "EBUSY for a region with a window of type 1");
	drop_conn(&a);
	done(&b, WRITE, win(), 7);
	expect_memory(7);
	bind_type_1(&b, WIN_LEN, IBV_ACCESS_REMOTE_READ);
	done(&b, READ, win(), 7);
	tried(&b, WRITE, win());
	expect_memory(7);
	drop_conn(&b);
	a = accept_one();
	bind_type_1(&a, 0, 0);
	must(!ibv_dereg_mr(mr), "deregister what no window is bound to");
	tried(&a, READ, win());
	drop_conn(&a);
	must(!ibv_dealloc_mw(mw), "deallocate a window that is free");
	kw_say("ok type 1");
}

/* A region whose rights change gets another STag, and the old STag is not valid any more. */
static void reregistered(void)
{
	struct conn c = accept_one();
	uint32_t old;

	fill();
	mr = ibv_reg_mr(pd, buf, BUF_LEN, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	must(mr, "register memory");
	old = mr->rkey;
	must(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   IBV_ACCESS_LOCAL_WRITE | RW), "register it anew");
	named = mr->rkey;
	must(named != old, "another STag");
	done(&c, WRITE, win(), 8);
	expect_memory(8);
	done(&c, READ, win(), 8);
	named = old;
	tried(&c, READ, win());
	drop_conn(&c);
	must(!ibv_dereg_mr(mr), "deregister the memory");
	named = 0;
	kw_say("ok registered anew");
}

/* Windows of both types are bound when the process ends; one is older than its region. */
static void leave_bound(void)
{
	struct conn c = accept_one();
	struct ibv_mw *first = ibv_alloc_mw(pd, IBV_MW_TYPE_1);

	must(first, "allocate a window of type 1");
	make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	bind_window(&c, RW);
	mw = first;
	bind_type_1(&c, WIN_LEN, RW);
	exit(KW_OK);
}

static int server(bool leave)
{
	listener = kwcm_listen(addr, port, 4);
	buf = kw_zalloc(BUF_LEN);
	if (leave)
		leave_bound();
	use_and_invalidate();
	local_invalidate();
	invalidate_invalid();
	range_and_dealloc();
	bad_binds();
	type_1();
	reregistered();
	must(!ibv_dealloc_pd(pd), "deallocate the protection domain");
	kwcm_destroy(listener);
	kw_say("all ok");
	return KW_OK;
}

int main(int argc, char **argv)
{
	static const char usage[] = "kwmw -s|-c -a addr [-p port] [-x] [-v]";
	bool is_server = false, is_client = false, leave = false;
	const struct kw_option table[] = {
		KW_FLAG('s', is_server),
		KW_FLAG('c', is_client),
		KW_TEXT('a', addr),
		KW_TEXT('p', port),
		KW_FLAG('x', leave),
		{ 0 }
	};

	kw_prog = "kwmw";
	kw_options(argc, argv, table, usage);
	if (is_server == is_client || !addr)
		kw_usage(usage);
	return is_server ? server(leave) : client();
}
