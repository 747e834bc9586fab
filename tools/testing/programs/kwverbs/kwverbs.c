// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwverbs: every wrong call has to fail with the right errno, and change nothing; a few calls that
 * only look wrong have to succeed.
 *
 *	kwverbs -a addr -p port [-k CASE]... [-o] [-v]
 *
 * The program connects to a kwconn server. -k names a case that the device is known to get wrong:
 * the case is tried and reported, but does not count. With -o no wrong work requests are posted,
 * because libsiw does not check work requests, so each wrong one would end the connection.
 */
#include "kwverbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_KNOWN	32
#define CONNECT_MS	20000

static const char *known[MAX_KNOWN];
static unsigned int n_known, n_ok, n_failed, n_skipped;

static bool is_known(const char *name)
{
	unsigned int i;

	for (i = 0; i < n_known; i++)
		if (!strcmp(known[i], name))
			return true;
	return false;
}

static void judge(const struct kv_case *c, int got)
{
	int i;

	if (got == KV_SKIP) {
		n_skipped++;
		kw_say("skipped %s", c->name);
		return;
	}
	for (i = 0; !i || (i < 4 && c->must[i]); i++)
		if (got == c->must[i]) {
			n_ok++;
			kw_say("ok %s: %s", c->name, got ? strerror(got) : "accepted");
			return;
		}
	if (is_known(c->name)) {
		kw_say("known %s: %s", c->name, got > 0 ? strerror(got) : "accepted or wrong");
		return;
	}
	n_failed++;
	kw_say("FAILED %s: %s, must be %s", c->name,
	       !got ? "accepted" : got > 0 ? strerror(got) : "wrong (above)",
	       c->must[0] ? strerror(c->must[0]) : "accepted");
}

static void run_list(struct kv_env *e, const struct kv_case *list)
{
	for (; list->name; list++) {
		e->arg = list->arg;
		judge(list, list->call(e));
	}
}

static void set_up(struct kv_env *e, const char *addr, const char *port)
{
	struct ibv_qp_init_attr a;
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct kwcm_event ev;

	e->id = kwcm_resolve(addr, port);
	e->verbs = e->id->verbs;
	e->buf = kw_zalloc(KV_BUF_LEN);
	e->pd = ibv_alloc_pd(e->verbs);
	e->cq = ibv_create_cq(e->verbs, KV_CQ_LEN, NULL, NULL, 0);
	if (!e->pd || !e->cq || ibv_query_device(e->verbs, &e->attr))
		kw_die(KW_SETUP, "cannot set up: %s", strerror(errno));
	e->mr = ibv_reg_mr(e->pd, e->buf, KV_BUF_LEN,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	a = kw_qp_attr(e->cq, 16, 16, 2);
	a.cap.max_inline_data = 32;
	if (!e->mr || rdma_create_qp(e->id, e->pd, &a))
		kw_die(KW_SETUP, "cannot set up: %s", strerror(errno));
	e->qp = e->id->qp;
	e->cap = a.cap;
	if (rdma_connect(e->id, &param) ||
	    kwcm_expect(e->id->channel, RDMA_CM_EVENT_ESTABLISHED, CONNECT_MS, &ev))
		kw_die(KW_SETUP, "cannot connect");
}

/* After all wrong calls the connection still has to work: try a Write. */
static void still_works(struct kv_env *e)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr_id = 99,
	};
	struct ibv_wc wc;

	if (ibv_post_send(e->qp, &wr, &bad) || !kv_completion(e, &wc) ||
	    wc.status != IBV_WC_SUCCESS || wc.wr_id != 99)
		kw_die(KW_MISMATCH, "FAILED: the connection does not work any more");
}

static void tear_down(struct kv_env *e)
{
	rdma_destroy_qp(e->id);
	if (ibv_destroy_cq(e->cq) || ibv_dereg_mr(e->mr) || ibv_dealloc_pd(e->pd))
		kw_die(KW_MISMATCH, "FAILED: cannot destroy the good objects: %s", strerror(errno));
	kwcm_destroy(e->id);
	free(e->buf);
}

static void run(struct kv_env *e, bool objects_only)
{
	char before[512], after[512];
	struct kwcm_event ev;

	kw_count_objects(ibv_get_device_name(e->verbs->device), before, sizeof(before));
	run_list(e, kv_context_cases);
	run_list(e, kv_queue_cases);
	run_list(e, kv_memory_cases);
	run_list(e, kv_srq_cases);
	run_list(e, kv_limit_cases);
	still_works(e);
	if (!objects_only) {
		run_list(e, kv_post_cases);
		still_works(e);
	}
	kw_count_objects(ibv_get_device_name(e->verbs->device), after, sizeof(after));
	if (strcmp(before, after)) {
		kw_say("FAILED: objects were left:\n  before %s  after  %s", before, after);
		n_failed++;
	}
	rdma_disconnect(e->id);
	if (kwcm_expect(e->id->channel, RDMA_CM_EVENT_DISCONNECTED, CONNECT_MS, &ev))
		n_failed++;
	if (!is_known("flushed-send"))
		n_failed += kv_after_the_end(e);
}

static void add_known(const char *name)
{
	if (n_known == MAX_KNOWN)
		kw_die(KW_SETUP, "too many -k");
	known[n_known++] = name;
}

int main(int argc, char **argv)
{
	const char *addr = NULL, *port = "7175";
	bool objects_only = false;
	const struct kw_option table[] = {
		KW_NEED('a', addr),
		KW_TEXT('p', port),
		KW_CALL('k', add_known),
		KW_FLAG('o', objects_only),
		{ 0 }
	};
	struct kv_env e = { 0 };

	kw_options(argc, argv, table, "kwverbs -a addr [-p port] [-k case]... [-o] [-v]");
	set_up(&e, addr, port);
	run(&e, objects_only);
	tear_down(&e);
	kw_say("%u ok, %u failed, %u skipped", n_ok, n_failed, n_skipped);
	return n_failed ? KW_MISMATCH : KW_OK;
}
