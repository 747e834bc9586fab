// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwtarget is an RDMA program on the device under test; the raw peer (kwrawpeer) attacks it. This
 * file: its queue pair, requests, completions and events.
 */
#include "target/verbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CQ_LEN		256

/* ----------------------------------------------------------------- objects */

void kwt_open(struct kwt *t, struct ibv_context *verbs)
{
	if (!verbs)
		kw_die(KW_SETUP, "no device has this address");
	t->verbs = verbs;
	t->pd = ibv_alloc_pd(verbs);
	t->pd2 = ibv_alloc_pd(verbs);
	/* NULL if the device has no windows: then kwt_bind() fails. */
	t->mw = ibv_alloc_mw(t->pd, IBV_MW_TYPE_2);
	t->conns[0] = (struct kwt_conn){ .slot = 0, .slots = KWT_RECV_MAX };
	t->conns[1] = (struct kwt_conn){ .slot = KWT_RECV_MAX, .slots = KWT_RECV_OTHER };
	t->notes = ibv_create_comp_channel(verbs);
	t->conns[0].cq = ibv_create_cq(verbs, CQ_LEN, NULL, t->notes, 0);
	t->conns[1].cq = ibv_create_cq(verbs, CQ_LEN, NULL, t->notes, 0);
	if (!t->pd || !t->notes || !t->pd2 || !t->conns[0].cq || !t->conns[1].cq)
		kw_die(KW_SETUP, "cannot create objects: %s", strerror(errno));
	kwt_memory_open(t);
	fcntl(verbs->async_fd, F_SETFL, fcntl(verbs->async_fd, F_GETFL) | O_NONBLOCK);
}

void kwt_close(struct kwt *t)
{
	if (t->mw && ibv_dealloc_mw(t->mw))
		kw_die(KW_SETUP, "cannot deallocate the window: %s", strerror(errno));
	kwt_memory_close(t);
	if (ibv_destroy_cq(t->conns[0].cq) || ibv_destroy_cq(t->conns[1].cq) ||
	    ibv_destroy_comp_channel(t->notes) || ibv_dealloc_pd(t->pd2) || ibv_dealloc_pd(t->pd))
		kw_die(KW_SETUP, "cannot destroy objects: %s", strerror(errno));
}

/* -------------------------------------------------- queue pair and requests */

static int post_recv(struct kwt *t, uint32_t size)
{
	unsigned int n = t->conn->recvs;
	struct ibv_sge sge = {
		.addr = (uintptr_t)t->arena + KWT_RECV_OFF +
			(t->conn->slot + n) * KWT_RECV_STEP,
		.length = size,
		.lkey = t->mr[KWT_RECV]->lkey,
	};
	struct ibv_recv_wr *bad, wr = { .wr_id = n, .sg_list = &sge, .num_sge = 1 };
	int rv;

	if (n >= t->conn->slots || size > KWT_RECV_LEN)
		kw_die(KW_SETUP, "too many receives, or too long");
	rv = ibv_post_recv(t->conn->id->qp, &wr, &bad);
	t->conn->recvs += !rv;
	return rv;
}

void kwt_conn_forget(struct kwt_conn *c)
{
	*c = (struct kwt_conn){ .cq = c->cq, .slot = c->slot, .slots = c->slots };
}

/* Take rights from the peer, if commands no-rights or no-atomics ask for that. */
static bool take_rights(const struct kwt_conn *c)
{
	struct ibv_qp_attr attr = { .qp_access_flags = c->no_rights ? 0 : KWT_RW_REMOTE };

	if (!c->no_rights && !c->no_atomics)
		return true;
	return !ibv_modify_qp(c->id->qp, &attr, IBV_QP_ACCESS_FLAGS);
}

bool kwt_qp_create(struct kwt *t)
{
	struct ibv_qp_init_attr attr = kw_qp_attr(t->conn->cq, 64, 16, 2);
	unsigned int i;

	if (rdma_create_qp(t->conn->id, t->pd, &attr) || !take_rights(t->conn))
		return false;
	for (i = 0; i < t->conn->n_first; i++)
		if (post_recv(t, t->conn->first[i]))
			return false;
	return true;
}

void kwt_qp_destroy(struct kwt *t)
{
	struct ibv_async_event ev;
	struct ibv_wc wc;

	if (t->conn->id && t->conn->id->qp)
		rdma_destroy_qp(t->conn->id);
	while (ibv_poll_cq(t->conn->cq, 1, &wc) > 0)
		;
	while (!ibv_get_async_event(t->verbs, &ev))
		ibv_ack_async_event(&ev);
}

void kwt_qp_stop(struct kwt *t)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (ibv_modify_qp(t->conn->id->qp, &attr, IBV_QP_STATE))
		kw_die(KW_MISMATCH, "a queue pair does not go to the error state");
}

void kwt_recv(struct kwt *t, char *args, char *answer)
{
	int rv = post_recv(t, atoi(args));

	if (rv)
		sprintf(answer, "no %d", rv);
	else
		sprintf(answer, "ok %u", t->conn->recvs - 1);
}

void kwt_post(struct kwt *t, char *args, char *answer)
{
	unsigned long long addr, to, a, b;
	unsigned int verb, lkey, len, rkey, flags, imm;
	struct ibv_sge sge;
	struct ibv_send_wr *bad, wr = { .sg_list = &sge };
	int rv;

	if (sscanf(args, "%u %u %llu %u %u %llu %u %u %llu %llu", &verb, &lkey, &addr, &len, &rkey,
		   &to, &flags, &imm, &a, &b) != 10)
		kw_die(KW_SETUP, "'%s' cannot be posted", args);
	sge = (struct ibv_sge){ .addr = addr, .length = len, .lkey = lkey };
	wr.wr_id = KWT_WR_SEND + t->conn->sends;
	wr.num_sge = !!len;
	wr.opcode = verb;
	wr.send_flags = IBV_SEND_SIGNALED | flags;
	if (verb == IBV_WR_SEND_WITH_INV) {
		wr.invalidate_rkey = rkey;
	} else if (verb == IBV_WR_ATOMIC_FETCH_AND_ADD || verb == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = to;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = a;
		wr.wr.atomic.swap = b;
	} else {
		wr.imm_data = htonl(imm);
		wr.wr.rdma.remote_addr = to;
		wr.wr.rdma.rkey = rkey;
	}
	rv = ibv_post_send(t->conn->id->qp, &wr, &bad);
	if (rv) {
		sprintf(answer, "no %d", rv);
		return;
	}
	sprintf(answer, "ok %u", KWT_WR_SEND + t->conn->sends++);
}

/*
 * Post a bind of the window. Each bind changes the last octet (key) of the window's STag, so that
 * the STag of an earlier bind is not valid any more.
 */
void kwt_bind(struct kwt *t, char *args, char *answer)
{
	const struct kwt_place *p = &kwt_places[KWT_WIN];
	struct ibv_send_wr *bad, wr = { .wr_id = KWT_WR_SEND + t->conn->sends };
	int rv;

	if (!t->mw) {
		kwt_say(answer, "no: the device has no memory windows");
		return;
	}
	wr.opcode = IBV_WR_BIND_MW;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.bind_mw.mw = t->mw;
	wr.bind_mw.rkey = ibv_inc_rkey(t->mw->rkey);
	wr.bind_mw.bind_info.mr = t->mr[KWT_BELOW];
	wr.bind_mw.bind_info.addr = (uintptr_t)t->arena + p->off;
	wr.bind_mw.bind_info.length = p->len;
	wr.bind_mw.bind_info.mw_access_flags =
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | atoi(args);
	rv = ibv_post_send(t->conn->id->qp, &wr, &bad);
	if (rv) {
		sprintf(answer, "no %d", rv);
		return;
	}
	t->mw->rkey = wr.bind_mw.rkey;
	sprintf(answer, "ok %u %u", KWT_WR_SEND + t->conn->sends++, t->mw->rkey);
}

/* ---------------------------------------------------- completions and events */

static bool next_wc(struct kwt *t, int timeout_ms, struct ibv_wc *wc)
{
	int64_t until = kw_now_ms() + timeout_ms;

	for (;;) {
		if (ibv_poll_cq(t->conn->cq, 1, wc) > 0) {
			t->conn->back++;
			return true;
		}
		if (kw_now_ms() >= until)
			return false;
		usleep(300);
	}
}

void kwt_wc(struct kwt *t, char *args, char *answer)
{
	struct ibv_wc wc;

	if (!next_wc(t, atoi(args), &wc))
		return;
	if (wc.status)		/* only these two members are valid for a failed request */
		wc = (struct ibv_wc){ .wr_id = wc.wr_id, .status = wc.status };
	sprintf(answer, "ok %llu %d %d %u %u %u %u", (unsigned long long)wc.wr_id, wc.status,
		wc.opcode, wc.byte_len, wc.wc_flags,
		wc.wc_flags & IBV_WC_WITH_INV ? wc.invalidated_rkey : 0,
		wc.wc_flags & IBV_WC_WITH_IMM ? ntohl(wc.imm_data) : 0);
}

static bool next_note(struct kwt *t, int timeout_ms)
{
	struct pollfd fd = { .fd = t->notes->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, timeout_ms) <= 0 || ibv_get_cq_event(t->notes, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return cq == t->conn->cq;
}

void kwt_arm(struct kwt *t, char *args, char *answer)
{
	/* Drop completion events that an earlier case has asked for and not read. */
	while (next_note(t, 0))
		;
	if (!ibv_req_notify_cq(t->conn->cq, 1))
		kwt_say(answer, "ok");
}

void kwt_notified(struct kwt *t, char *args, char *answer)
{
	if (next_note(t, atoi(args)))
		kwt_say(answer, "ok");
}

/* Wait for the next asynchronous event. Skip the two types that report no error. */
static bool next_async(struct kwt *t, int timeout_ms, enum ibv_event_type *type)
{
	struct pollfd fd = { .fd = t->verbs->async_fd, .events = POLLIN };
	struct ibv_async_event ev;

	while (poll(&fd, 1, timeout_ms) > 0 && !ibv_get_async_event(t->verbs, &ev)) {
		*type = ev.event_type;
		ibv_ack_async_event(&ev);
		if (*type != IBV_EVENT_COMM_EST && *type != IBV_EVENT_QP_LAST_WQE_REACHED)
			return true;
	}
	return false;
}

void kwt_event(struct kwt *t, char *args, char *answer)
{
	enum ibv_event_type type;

	if (next_async(t, atoi(args), &type))
		sprintf(answer, "ok %d", type);
}

void kwt_all_back(struct kwt *t, int timeout_ms, bool any, char *answer)
{
	unsigned int posted = t->conn->recvs + t->conn->sends;
	enum ibv_event_type type;
	struct ibv_wc wc;

	while (t->conn->back < posted) {
		if (!next_wc(t, timeout_ms, &wc)) {
			sprintf(answer, "no: %u of %u requests have not come back",
				posted - t->conn->back, posted);
			return;
		}
		if (!any && wc.status != IBV_WC_WR_FLUSH_ERR)
			sprintf(answer, "no: request %llu has come back with '%.60s'",
				(unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
	}
	if (next_wc(t, 0, &wc))
		sprintf(answer, "no: request %llu has come back twice",
			(unsigned long long)wc.wr_id);
	else if (!any && next_async(t, 0, &type))
		sprintf(answer, "no: event '%.60s'", ibv_event_type_str(type));
}
