// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwwrong is a test program that makes one mistake, as a beginner would, so that the suite can see
 * what the author of the program is told.
 *
 *	kwwrong -s -a addr -p port [-m mistake]		serves one connection, until it ends
 *	kwwrong -c -a addr -p port -m mistake		makes the mistake over a connection
 *	kwwrong -c -a addr -m mistake			makes a mistake that needs no peer
 *
 * Mistakes of the client about the server's memory: write-key, write-bounds, write-right,
 * write-gone, read-key, read-bounds, read-right, atomic-right, atomic-align. About messages:
 * no-receive, long; none (a Send) and none-read are no mistakes. About its own memory: lkey,
 * beyond, domain, sink-right. Others: ord, cq-full.
 * Of the server: recv-right (its receive has no local write), late-receive (it posts it too late).
 * Without a peer: sge, read-sge, inline, send-imm, atomic-len, full, recv-sge, qp-type, qp-deep,
 * qp-wide, mr-right, mr-odp, mr-empty, rts, cq-deep, srq-deep.
 * Only in strict mode (KWARP_STRICT=1) they are told: unsignaled, unpolled, early, inline-asked,
 * init-bare, read-sink, changed, gone, peek, room.
 *
 * The program prints the status and vendor_err of each failed completion, and each event.
 */
#include "kwcm.h"
#include "kwtest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEN		4096
#define SMALL		256
#define DEPTH		8
#define EVENT_MS	30000

/* What the server tells of its memory: two regions of LEN octets, one without remote rights. */
struct offer {
	uint64_t addr, bare_addr;
	uint32_t rkey, bare_rkey, gone_rkey;
};

static const char *addr, *port = "7411", *mistake = "";
static bool server, client;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr, *bare;
static struct rdma_cm_id *id;
static struct offer peer;

static void must(bool ok, const char *what)
{
	if (!ok)
		kw_die(KW_SETUP, "%s: %s", what, strerror(errno));
}

static bool is(const char *name)
{
	return !strcmp(mistake, name);
}

/* -------------------------------------------------------------------- set up */

#define REMOTE	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

static struct ibv_mr *region(int access)
{
	struct ibv_mr *found = ibv_reg_mr(pd, kw_zalloc(LEN), LEN, access);

	must(found, "register");
	return found;
}

static void make_queues(void)
{
	struct ibv_qp_init_attr a;

	pd = ibv_alloc_pd(id->verbs);
	must(pd, "protection domain");
	cq = ibv_create_cq(id->verbs, is("cq-full") ? 1 : is("room") ? 4 : 4 * DEPTH, NULL, NULL,
			   0);
	must(cq, "completion queue");
	a = kw_qp_attr(cq, DEPTH, DEPTH, 1);
	a.cap.max_send_sge = 2;
	a.cap.max_inline_data = 64;
	must(!rdma_create_qp(id, pd, &a), "queue pair");
	mr = region(IBV_ACCESS_LOCAL_WRITE | REMOTE);
	bare = region(0);
}

static void post_recv(struct ibv_mr *to, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)to->addr, len, to->lkey };
	struct ibv_recv_wr wr = { .wr_id = 100, .sg_list = &sge, .num_sge = 1 }, *bad;

	must(!ibv_post_recv(id->qp, &wr, &bad), "post a receive");
}

/* ------------------------------------------------------------------ what comes */

static void poll_all(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0)
		kw_say("wr_id %llu: %s, vendor_err %#x", (unsigned long long)wc.wr_id,
		       ibv_wc_status_str(wc.status), wc.vendor_err);
}

/* Until the connection has ended. */
static void watch(void)
{
	struct kwcm_event ev;

	while (!kwcm_next(id->channel, EVENT_MS, &ev)) {
		kw_say("event %s", rdma_event_str(ev.type));
		if (ev.type == RDMA_CM_EVENT_DISCONNECTED)
			break;
	}
	poll_all();
}

/* -------------------------------------------------------------------- mistakes */

struct wrong {
	const char *name;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	uint32_t len;
	int num_sge;
};

static int post(const struct wrong *w)
{
	struct ibv_sge sge[3] = { { (uintptr_t)mr->addr, w->len, mr->lkey } };
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = w->opcode, .sg_list = sge, .num_sge = w->num_sge,
		.send_flags = IBV_SEND_SIGNALED | w->flags,
	}, *bad;
	const bool atomic = w->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	uint64_t to = peer.addr;
	uint32_t rkey = peer.rkey;
	int i;

	for (i = 1; i < 3; i++)
		sge[i] = sge[0];
	if (is("write-key") || is("read-key"))
		rkey ^= 0x55555500;
	if (is("write-right") || is("read-right") || is("atomic-right")) {
		rkey = peer.bare_rkey;
		to = peer.bare_addr;
	}
	if (is("write-gone"))
		rkey = peer.gone_rkey;
	if (is("write-bounds") || is("read-bounds"))
		to += LEN - w->len / 2;
	if (is("atomic-align"))
		to += 4;
	if (is("lkey"))
		sge[0].lkey ^= 0x55555500;
	if (is("beyond"))
		sge[0].addr += LEN - w->len / 2;
	if (is("sink-right")) {
		sge[0].lkey = bare->lkey;
		sge[0].addr = (uintptr_t)bare->addr;
	}
	if (is("domain")) {
		pd = ibv_alloc_pd(id->verbs);
		must(pd, "another protection domain");
		bare = region(IBV_ACCESS_LOCAL_WRITE);
		sge[0].lkey = bare->lkey;
		sge[0].addr = (uintptr_t)bare->addr;
	}
	if (atomic) {
		wr.wr.atomic.remote_addr = to;
		wr.wr.atomic.rkey = rkey;
	} else {
		wr.wr.rdma.remote_addr = to;
		wr.wr.rdma.rkey = rkey;
	}
	return ibv_post_send(id->qp, &wr, &bad);
}

/* Requests that are posted over a connection */
static const struct wrong posted[] = {
	{ "write-key", IBV_WR_RDMA_WRITE, 0, 64, 1 },
	{ "write-bounds", IBV_WR_RDMA_WRITE, 0, 64, 1 },
	{ "write-right", IBV_WR_RDMA_WRITE, 0, 64, 1 },
	{ "write-gone", IBV_WR_RDMA_WRITE, 0, 64, 1 },
	{ "read-key", IBV_WR_RDMA_READ, 0, 64, 1 },
	{ "read-bounds", IBV_WR_RDMA_READ, 0, 64, 1 },
	{ "read-right", IBV_WR_RDMA_READ, 0, 64, 1 },
	{ "atomic-right", IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, 1 },
	{ "atomic-align", IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, 1 },
	{ "no-receive", IBV_WR_SEND, 0, 64, 1 },
	{ "long", IBV_WR_SEND, 0, 2 * SMALL, 1 },
	{ "none", IBV_WR_SEND, 0, 64, 1 },
	{ "none-read", IBV_WR_RDMA_READ, 0, 64, 1 },
	{ "recv-right", IBV_WR_SEND, 0, 64, 1 },
	{ "lkey", IBV_WR_RDMA_WRITE, 0, 64, 1 },
	{ "beyond", IBV_WR_RDMA_WRITE, 0, 64, 1 },
	{ "domain", IBV_WR_RDMA_WRITE, 0, 64, 1 },
	{ "sink-right", IBV_WR_RDMA_READ, 0, 64, 1 },
	{ "ord", IBV_WR_RDMA_READ, 0, 64, 1 },
	{ "cq-full", IBV_WR_RDMA_WRITE, 0, 64, 1 },
};

/* Requests that the provider refuses */
static const struct wrong refused[] = {
	{ "early", IBV_WR_SEND, 0, 8, 1 },
	{ "inline-asked", IBV_WR_SEND, IBV_SEND_INLINE, 65, 1 },
	{ "sge", IBV_WR_SEND, 0, 64, 3 },
	{ "read-sge", IBV_WR_RDMA_READ, 0, 64, 2 },
	{ "inline", IBV_WR_SEND, IBV_SEND_INLINE, 2048, 1 },
	{ "send-imm", IBV_WR_SEND_WITH_IMM, 0, 64, 1 },
	{ "atomic-len", IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 64, 1 },
};

static const struct wrong *find(const struct wrong *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (is(list[i].name))
			return &list[i];
	return NULL;
}

static void refusal(bool done, int err)
{
	if (done)
		kw_die(KW_MISMATCH, "FAILED: %s was accepted", mistake);
	kw_say("refused: %s", strerror(err));
}

/* The object is made before errno is read. */
static void created(const void *object)
{
	refusal(object, errno);
}

/* Mistakes of calls that create something */
static void wrong_qp(enum ibv_qp_type type, uint32_t deep, uint32_t wide)
{
	struct ibv_qp_init_attr a = {
		.qp_type = type, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = deep, .max_recv_wr = 1, .max_send_sge = wide,
			 .max_recv_sge = 1 },
	};

	created(ibv_create_qp(pd, &a));
}

static void wrong_mr(size_t len, int access)
{
	created(ibv_reg_mr(pd, kw_zalloc(LEN), len, access));
}

static void wrong_rts(void)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_RTS };
	int err = ibv_modify_qp(id->qp, &a, IBV_QP_STATE);

	refusal(!err, err);
}

static void wrong_recv(void)
{
	struct ibv_sge sge[2] = { { (uintptr_t)mr->addr, 8, mr->lkey } };
	struct ibv_recv_wr wr = { .sg_list = sge, .num_sge = 2 }, *bad;
	int err = ibv_post_recv(id->qp, &wr, &bad);

	refusal(!err, err);
}

static void wrong_srq(void)
{
	struct ibv_srq_init_attr a = { .attr = { .max_wr = 1 << 30, .max_sge = 1 } };

	created(ibv_create_srq(pd, &a));
}

static void fill_queue(void)
{
	static const struct wrong w = { "full", IBV_WR_SEND, 0, 8, 1 };
	int i, err = 0;

	for (i = 0; i <= 2 * DEPTH && !err; i++)
		err = post(&w);
	refusal(!err, err);
}

/* To INIT, without qp_access_flags */
static void bare_init(void)
{
	struct ibv_qp_init_attr init = kw_qp_attr(cq, 1, 1, 1);
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	int err;

	must(qp, "queue pair");
	err = ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX);
	refusal(!err, err);
}

static void alone(void)
{
	const struct wrong *w = find(refused, ARRAY_SIZE(refused));
	int err;

	if (w) {
		err = post(w);
		refusal(!err, err);
	} else if (is("full")) {
		fill_queue();
	} else if (is("recv-sge")) {
		wrong_recv();
	} else if (is("qp-type")) {
		wrong_qp(IBV_QPT_UD, 1, 1);
	} else if (is("qp-deep")) {
		wrong_qp(IBV_QPT_RC, 1 << 20, 1);
	} else if (is("qp-wide")) {
		wrong_qp(IBV_QPT_RC, 1, 1000);
	} else if (is("mr-right")) {
		wrong_mr(LEN, IBV_ACCESS_REMOTE_WRITE);
	} else if (is("mr-odp")) {
		wrong_mr(LEN, IBV_ACCESS_ON_DEMAND);
	} else if (is("mr-empty")) {
		wrong_mr(0, 0);
	} else if (is("rts")) {
		wrong_rts();
	} else if (is("cq-deep")) {
		created(ibv_create_cq(id->verbs, 1 << 30, NULL, NULL, 0));
	} else if (is("srq-deep")) {
		wrong_srq();
	} else if (is("init-bare")) {
		bare_init();
	} else {
		kw_die(KW_SETUP, "there is no mistake '%s'", mistake);
	}
}

/* ------------------------------------------------------------------------ ends */

static struct rdma_conn_param params(const struct offer *offer)
{
	const uint8_t reads = is("ord") ? 0 : 4;

	return (struct rdma_conn_param) {
		.private_data = offer, .private_data_len = offer ? sizeof(*offer) : 0,
		.responder_resources = reads, .initiator_depth = reads,
	};
}

/* ------------------------------------- mistakes that only strict mode finds */

/* Post Writes until one is refused, and never poll. */
static void post_many(int n, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)bare->addr, 64, bare->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1,
				  .send_flags = flags }, *bad;
	int i, err = 0;

	wr.wr.rdma.remote_addr = peer.addr;
	wr.wr.rdma.rkey = peer.rkey;
	for (i = 0; i < n && !err; i++)
		err = ibv_post_send(id->qp, &wr, &bad);
	if (err)
		kw_say("post %d was refused: %s", i, strerror(err));
	else
		kw_say("all %d posts were accepted", n);
}

static void poll_one(void)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, &wc);
	} while (!n);
	must(n > 0, "poll");
	kw_say("wr_id %llu: %s", (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
}

static void unsignaled(void)
{
	post_many(1000, 0);
}

static void unpolled(void)
{
	post_many(40, IBV_SEND_SIGNALED);
}

static void changed(void)
{
	post_many(1, IBV_SEND_SIGNALED);
	memset(bare->addr, 1, LEN);
	poll_one();
}

static void gone(void)
{
	post_many(1, IBV_SEND_SIGNALED);
	must(!ibv_dereg_mr(bare), "deregister");
}

static void read_sink(void)
{
	static const struct wrong w = { "read-sink", IBV_WR_RDMA_READ, 0, 64, 1 };
	int err;

	mr = region(IBV_ACCESS_LOCAL_WRITE);
	err = post(&w);
	kw_say("the Read was %s", err ? strerror(err) : "accepted");
	if (!err)
		poll_one();
}

static void peek(void)
{
	struct ibv_mr *own = region(IBV_ACCESS_LOCAL_WRITE);

	memcpy(own->addr, "what was there", 14);
	post_recv(own, SMALL);
	kw_say("the receive buffer has '%.14s'", (char *)own->addr);
}

static void room(void)
{
	post_many(6, IBV_SEND_SIGNALED);
}

/* The server's receive comes a second later. */
static void late_receive(void)
{
	static const struct wrong w = { "late-receive", IBV_WR_SEND, 0, 64, 1 };

	errno = post(&w);
	must(!errno, "post");
	sleep(3);
}

static const struct loose {
	const char *name;
	void (*make)(void);
} loose[] = {
	{ "unsignaled", unsignaled }, { "unpolled", unpolled }, { "changed", changed },
	{ "gone", gone }, { "read-sink", read_sink }, { "peek", peek }, { "room", room },
	{ "late-receive", late_receive },
};

static const struct loose *find_loose(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(loose); i++)
		if (is(loose[i].name))
			return &loose[i];
	return NULL;
}

static void connect_and_err(const struct wrong *w, const struct loose *l)
{
	struct rdma_conn_param p = params(NULL);
	struct kwcm_event ev;
	int i, times = is("cq-full") ? 4 : 1;

	must(!rdma_connect(id, &p), "connect");
	if (kwcm_expect(id->channel, RDMA_CM_EVENT_ESTABLISHED, EVENT_MS, &ev))
		kw_die(KW_SETUP, "no connection");
	if (ev.priv_len < sizeof(peer))
		kw_die(KW_SETUP, "the server has told nothing");
	memcpy(&peer, ev.priv, sizeof(peer));
	if (l) {
		l->make();
		rdma_disconnect(id);
		if (!is("unpolled"))
			watch();
		return;
	}
	for (i = 0; i < times; i++) {
		errno = post(w);
		must(!errno, "post");
	}
	watch();
}

static void be_client(void)
{
	const struct wrong *w = find(posted, ARRAY_SIZE(posted));
	const struct loose *l = find_loose();

	id = kwcm_resolve(addr, port);
	make_queues();
	if (w || l)
		connect_and_err(w, l);
	else
		alone();
}

static void be_server(void)
{
	struct rdma_cm_id *listener = kwcm_listen(addr, port, 1);
	struct rdma_conn_param p;
	struct ibv_mr *gone;
	struct kwcm_event ev;
	struct offer offer;

	if (kwcm_expect(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST, 4 * EVENT_MS, &ev))
		kw_die(KW_SETUP, "no request");
	id = ev.id;
	make_queues();
	gone = region(IBV_ACCESS_LOCAL_WRITE | REMOTE);
	offer = (struct offer) {
		.addr = (uintptr_t)mr->addr, .bare_addr = (uintptr_t)bare->addr,
		.rkey = mr->rkey, .bare_rkey = bare->rkey, .gone_rkey = gone->rkey,
	};
	must(!ibv_dereg_mr(gone), "deregister");
	if (!is("no-receive") && !is("late-receive"))
		post_recv(is("recv-right") ? bare : mr, SMALL);
	p = params(&offer);
	must(!rdma_accept(id, &p), "accept");
	if (kwcm_expect(id->channel, RDMA_CM_EVENT_ESTABLISHED, EVENT_MS, &ev))
		kw_die(KW_SETUP, "no connection");
	if (is("late-receive")) {
		sleep(1);
		post_recv(mr, SMALL);
	}
	watch();
}

int main(int argc, char **argv)
{
	static const struct kw_option options[] = {
		KW_FLAG('s', server), KW_FLAG('c', client), KW_TEXT('a', addr),
		KW_TEXT('p', port), KW_TEXT('m', mistake), {}
	};
	static const char usage[] = "-s|-c -a addr [-p port] [-m mistake]";

	kw_options(argc, argv, options, usage);
	if (!addr || server == client)
		kw_usage(usage);
	if (server)
		be_server();
	else
		be_client();
	return KW_OK;
}
