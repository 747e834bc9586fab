// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfault is a test program that lets the n-th allocation of a call fail, for n = 1, 2, ...
 * This file: rdma_connect() and rdma_accept().
 *
 * Either the call fails, or an event reports the result for the connection, in time, and no object
 * is left.  Only allocations of the calling thread are counted, not those of a worker or a softirq.
 * The test suite makes the others fail at random while it runs "kwfault connect -n".
 */
#include "kwcm.h"
#include "kwfault.h"
#include "kwtest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DECIDED_MS	60000
#define MOST_POINTS	500

/* Make a queue pair with a completion queue of its own, so that each end frees all its objects. */
static int make_qp(struct rdma_cm_id *id, struct ibv_cq **cq)
{
	struct ibv_qp_init_attr a;

	*cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
	if (!*cq)
		return errno;
	a = kw_qp_attr(*cq, 4, 4, 1);
	if (!rdma_create_qp(id, NULL, &a))
		return 0;
	ibv_destroy_cq(*cq);
	*cq = NULL;
	return errno;
}

static void drop_qp(struct rdma_cm_id *id, struct ibv_cq *cq)
{
	if (!cq)
		return;
	rdma_destroy_qp(id);
	if (ibv_destroy_cq(cq))
		kw_die(KW_MISMATCH, "FAILED: cannot destroy the queue: %s", strerror(errno));
}

/*
 * Connect once, and let the @n-th allocation of rdma_connect() fail (0: none).  *ret gets 0 or
 * errno.  Return: has an allocation failed?
 */
static bool connect_once(const char *addr, const char *port, unsigned int n, int *ret)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct rdma_cm_id *id = kwcm_resolve(addr, port);
	struct ibv_cq *cq = NULL;
	struct kwcm_event ev;
	bool hit = false;

	*ret = make_qp(id, &cq);
	if (*ret)
		goto out;
	if (n)
		kf_arm(n);
	*ret = rdma_connect(id, &param) ? errno : 0;
	if (n)
		hit = kf_disarm();
	if (*ret)
		goto out;
	if (kwcm_next(id->channel, DECIDED_MS, &ev))
		kw_die(KW_STALL, "FAILED connect, point %u: not decided", n);
	if (ev.type != RDMA_CM_EVENT_ESTABLISHED) {
		kw_debug("%s, status %d", rdma_event_str(ev.type), ev.status);
		*ret = ECONNREFUSED;
		goto out;
	}
	rdma_disconnect(id);
	if (kwcm_next(id->channel, DECIDED_MS, &ev))
		kw_die(KW_STALL, "FAILED connect, point %u: it does not end", n);
out:
	drop_qp(id, cq);
	kwcm_destroy(id);
	return hit;
}

unsigned int kf_connect(const char *addr, const char *port, unsigned int cycles, bool faults)
{
	unsigned int i, ok = 0, wrong = 0, n = 1;
	struct kf_count c = { 0 };
	int ret;

	if (!faults) {
		for (i = 0; i < cycles; i++) {
			connect_once(addr, port, 0, &ret);
			ok += !ret;
		}
		kw_say("%u of %u connected", ok, cycles);
		return 0;
	}
	while (connect_once(addr, port, n, &ret)) {
		c.points++;
		c.refused += !!ret;
		c.survived += !ret;
		if (++n > MOST_POINTS)
			kw_die(KW_STALL, "FAILED connect: no end");
	}
	if (ret) {
		kw_say("FAILED connect without a fault: %s", strerror(ret));
		wrong++;
	}
	kf_report("connect", &c);
	return wrong;
}

/*
 * Accept once, and let the @n-th allocation of rdma_accept() fail.  Return: was there an @n-th
 * allocation?
 */
static bool accept_once(struct rdma_cm_id *id, unsigned int n, struct kf_count *c,
			unsigned int *wrong)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct ibv_cq *cq = NULL;
	struct kwcm_event ev;
	bool hit;
	int ret = make_qp(id, &cq);

	if (ret)
		kw_die(KW_SETUP, "cannot make a queue pair: %s", strerror(ret));
	kf_arm(n);
	ret = rdma_accept(id, &param) ? errno : 0;
	hit = kf_disarm();
	c->points += hit;
	c->refused += hit && ret;
	c->survived += hit && !ret;
	if (ret && !hit) {
		kw_say("FAILED accept without a fault: %s", strerror(ret));
		++*wrong;
	}
	/* Wait for the end: "established" and then "disconnected", or one event with an error. */
	while (!ret) {
		if (kwcm_next(id->channel, DECIDED_MS, &ev))
			kw_die(KW_STALL, "FAILED accept, point %u: it does not end", n);
		if (ev.type != RDMA_CM_EVENT_ESTABLISHED)
			break;
	}
	drop_qp(id, cq);
	rdma_destroy_id(id);
	return hit;
}

unsigned int kf_accept(const char *addr, const char *port)
{
	struct rdma_cm_id *listener = kwcm_listen(addr, port, 16);
	struct kf_count c = { 0 };
	unsigned int wrong = 0, n = 1;
	struct kwcm_event ev;
	bool more = true;

	while (more) {
		if (kwcm_expect(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST, DECIDED_MS, &ev))
			kw_die(KW_STALL, "FAILED accept: nobody comes for point %u", n);
		/*
		 * Each connection gets an event channel of its own, so that its events do not mix
		 * with those of the next connection.
		 */
		if (rdma_migrate_id(ev.id, rdma_create_event_channel()))
			kw_die(KW_SETUP, "cannot move an id: %s", strerror(errno));
		more = accept_once(ev.id, n, &c, &wrong);
		if (++n > MOST_POINTS)
			kw_die(KW_STALL, "FAILED accept: no end");
	}
	kf_report("accept", &c);
	kwcm_destroy(listener);
	return wrong;
}
