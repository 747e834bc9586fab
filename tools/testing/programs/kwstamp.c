// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwstamp is a test program: completions have timestamps, of the clock that the program has chosen.
 *
 *	kwstamp -a addr -p port [-w] [-n rounds]
 *
 * The server is kwconn, which echoes messages. The timestamps of each Send and of its echo lie
 * between a look at the clock before the post and one after the poll, and never go back. The clock
 * is CLOCK_MONOTONIC_RAW, which ibv_query_rt_values_ex() shows, too; with -w CLOCK_REALTIME.
 */
#include "kwcm.h"
#include "kwtest.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define WAIT_MS	20000
#define MSG	64
#define NSEC	1000000000ULL

static const char *addr, *port = "7175";
static unsigned int rounds = 200;
static bool wall;

static struct rdma_cm_id *id;
static struct ibv_cq_ex *cq;
static struct ibv_mr *mr;

static uint64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * NSEC + t->tv_nsec;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(wall ? CLOCK_REALTIME : CLOCK_MONOTONIC_RAW, &t);
	return ns_of(&t);
}

/* Expect @begin <= @ns <= now. */
static void check_time(uint64_t begin, uint64_t ns, const char *what)
{
	const uint64_t end = now();

	if (ns < begin || ns > end)
		kw_die(KW_MISMATCH, "FAILED: %s is %lld ns after its begin, %lld ns before its end",
		       what, (long long)(ns - begin), (long long)(end - ns));
}

static void check_device(void)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct ibv_device_attr_ex attr;
	uint64_t begin = now();

	if (ibv_query_rt_values_ex(id->verbs, &values) ||
	    values.comp_mask != IBV_VALUES_MASK_RAW_CLOCK)
		kw_die(KW_MISMATCH, "FAILED: the device has no clock");
	if (!wall)
		check_time(begin, ns_of(&values.raw_clock), "the device's time");
	if (ibv_query_device_ex(id->verbs, NULL, &attr))
		kw_die(KW_SETUP, "cannot query the device");
	if (attr.completion_timestamp_mask != UINT64_MAX || attr.hca_core_clock != NSEC / 1000)
		kw_die(KW_MISMATCH, "FAILED: timestamp mask %#llx, clock %llu kHz",
		       (unsigned long long)attr.completion_timestamp_mask,
		       (unsigned long long)attr.hca_core_clock);
}

static struct ibv_cq_ex *make_cq(uint64_t flags)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 4, .wc_flags = flags };

	return ibv_create_cq_ex(id->verbs, &attr);
}

static void connect_peer(void)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct ibv_qp_init_attr a;
	struct kwcm_event ev;

	a = kw_qp_attr(ibv_cq_ex_to_cq(cq), 1, 1, 1);
	a.sq_sig_all = 1;
	mr = ibv_reg_mr(id->pd, kw_zalloc(2 * MSG), 2 * MSG, IBV_ACCESS_LOCAL_WRITE);
	if (!mr || rdma_create_qp(id, id->pd, &a) || rdma_connect(id, &param) ||
	    kwcm_expect(id->channel, RDMA_CM_EVENT_ESTABLISHED, WAIT_MS, &ev))
		kw_die(KW_SETUP, "cannot connect");
}

static void post_both(void)
{
	struct ibv_sge to = { (uintptr_t)mr->addr, MSG, mr->lkey };
	struct ibv_sge from = { (uintptr_t)mr->addr + MSG, MSG, mr->lkey };
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = &to, .num_sge = 1 };
	struct ibv_send_wr *bad, send = {
		.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
	};

	if (ibv_post_recv(id->qp, &recv, &bad_recv) || ibv_post_send(id->qp, &send, &bad))
		kw_die(KW_LOST, "cannot post: %s", strerror(errno));
}

static uint64_t next_stamp(void)
{
	const int64_t until = kw_now_ms() + WAIT_MS;
	struct ibv_poll_cq_attr attr = { 0 };
	uint64_t ns;
	int rv;

	do
		rv = ibv_start_poll(cq, &attr);
	while (rv == ENOENT && kw_now_ms() < until);
	if (rv)
		kw_die(KW_STALL, "no completion: %s", strerror(rv));
	if (cq->status != IBV_WC_SUCCESS)
		kw_die(KW_LOST, "completion with status '%s'", ibv_wc_status_str(cq->status));
	ns = wall ? ibv_wc_read_completion_wallclock_ns(cq) : ibv_wc_read_completion_ts(cq);
	ibv_end_poll(cq);
	return ns;
}

int main(int argc, char **argv)
{
	static const char usage[] = "kwstamp -a addr [-p port] [-w] [-n rounds]";
	const struct kw_option table[] = {
		KW_TEXT('a', addr),
		KW_TEXT('p', port),
		KW_FLAG('w', wall),
		KW_NUMBER('n', rounds, 1, 1000000),
		{ 0 }
	};
	const uint64_t raw = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	const uint64_t real = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	uint64_t begin, first, second, last = 0;
	unsigned int i;

	if (kw_options(argc, argv, table, usage) != argc || !addr)
		kw_usage(usage);
	id = kwcm_resolve(addr, port);
	check_device();
	if (make_cq(raw | real) || errno != EOPNOTSUPP)
		kw_die(KW_MISMATCH, "FAILED: timestamps of two clocks are not refused");
	cq = make_cq(wall ? real : raw);
	if (!cq)
		kw_die(KW_MISMATCH, "FAILED: no queue with timestamps: %s", strerror(errno));
	connect_peer();
	for (i = 0; i < rounds; i++) {
		begin = now();
		post_both();
		first = next_stamp();
		check_time(begin, first, "the first completion");
		second = next_stamp();
		check_time(first, second, "the second completion");
		if (first < last)
			kw_die(KW_MISMATCH, "FAILED: round %u: time goes back", i);
		last = second;
	}
	kw_say("ok: %u rounds", rounds);
	/* The end of the process ends the connection. */
	return KW_OK;
}
