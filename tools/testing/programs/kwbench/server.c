// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbench is a benchmark: the rate or latency of one kind of traffic between two processes. This
 * file: the server does what the client's connect requests say, one run after the other. Run: what
 * one client process does, on one or more connections. The end of a client never ends the server. A
 * note is a message with the number of operations that an end has counted; a credit says that the
 * peer may send more messages.
 */
#include "kwbench.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLL_BATCH	16
#define LOOK_EVERY	4096	/* idle polls between two looks for connection events */

/**
 * struct server - the run that is served
 * @closed: connections that have ended
 * @turn: in a latency run of Writes: last octet of the next Write
 */
struct server {
	struct rdma_event_channel *ch;
	struct kb_run run;
	unsigned int closed;
	uint8_t turn;
};

static void end_run(struct server *s)
{
	struct kb_run *run = &s->run;
	unsigned int i;

	for (i = 0; i < run->qps; i++) {
		rdma_destroy_qp(run->qp[i].id);
		rdma_destroy_id(run->qp[i].id);
	}
	kb_close(run);
	s->closed = 0;
}

static bool acceptable(const struct server *s, const struct kwcm_event *ev, struct kb_config *cfg)
{
	if (ev->priv_len < sizeof(*cfg))
		return false;
	memcpy(cfg, ev->priv, sizeof(*cfg));
	return cfg->magic == KB_MAGIC && cfg->qps <= KB_MAX_QPS && cfg->qps && cfg->size &&
	       !kb_lacks(cfg, ev->id->verbs) && (!s->run.pd || s->run.qps < s->run.cfg.qps);
}

static int accept_one(struct kb_run *run, struct kb_qp *qp, const struct kwcm_event *ev)
{
	struct kb_window mine = { .addr = (uintptr_t)kb_sink(run), .rkey = run->mr->rkey };
	struct rdma_conn_param param = {
		.private_data = &mine,
		.private_data_len = sizeof(mine),
		.initiator_depth = ev->depth,
		.responder_resources = ev->resources,
		.rnr_retry_count = 7,
	};
	int rv = kb_create_qp(run, qp);

	if (rv)
		return rv;
	if (kb_is_atomic(&run->cfg))
		mine.addr = (uintptr_t)kb_word(run, qp, kb_sink(run));
	return rdma_accept(qp->id, &param) ? -errno : 0;
}

static void request(struct server *s, const struct kwcm_event *ev)
{
	struct kb_run *run = &s->run;
	struct kb_config cfg;
	struct kb_qp *qp;
	int rv;

	/*
	 * If all connections so far have ended, and the client has not made the others, it was
	 * killed: free its objects, to make room for the next client.
	 */
	if (run->pd && s->closed && s->closed == run->qps)
		end_run(s);
	if (!acceptable(s, ev, &cfg)) {
		rdma_reject(ev->id, NULL, 0);
		rdma_destroy_id(ev->id);
		return;
	}
	if (!run->pd)
		run->cfg = cfg;
	kb_open(run, ev->id->verbs);
	qp = &run->qp[run->qps];
	qp->id = ev->id;
	ev->id->context = qp;
	qp->peer = (struct kb_window){ .addr = cfg.addr, .rkey = cfg.rkey };
	rv = accept_one(run, qp, ev);
	if (rv)
		kw_die(KW_SETUP, "cannot accept connection %u: %s", run->qps, strerror(-rv));
	run->qps++;
	s->turn = 1;
}

static void cm_event(struct server *s, const struct kwcm_event *ev)
{
	switch (ev->type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		request(s, ev);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		/* An InfiniBand client sees the end at once only if the server disconnects, too. */
		rdma_disconnect(ev->id);
		if (++s->closed == s->run.qps)
			end_run(s);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		kw_die(KW_LOST, "event %s (status %d)", rdma_event_str(ev->type), ev->status);
	}
}

/*
 * Has the server more to do than to wait for the client's end? In a latency run the server always
 * polls: a user-mode kernel may be twice as slow if one of its processors sleeps.
 */
static bool has_work(const struct kb_run *run)
{
	return run->pd && (run->cfg.op == KB_SEND || kb_is_counted(&run->cfg) ||
			   run->cfg.flags & KB_LATENCY);
}

/*
 * May the server sleep until an event, instead of polling? Yes, if the client asks for that, or if
 * a run measures the rate of atomic operations: then the server only waits for the client's note.
 */
static bool may_sleep(const struct kb_config *cfg)
{
	return cfg->flags & KB_EVENTS || (kb_is_atomic(cfg) && !(cfg->flags & KB_LATENCY));
}

/*
 * Answer a message: in a latency run by a message of the same kind; otherwise by a credit, after
 * each cfg.depth messages.
 */
static void answer(struct kb_run *run, struct kb_qp *qp)
{
	bool imm = run->cfg.op == KB_WRITE_IMM;

	if (run->cfg.flags & KB_LATENCY) {
		kb_post(run, qp, imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND, KB_DATA,
			run->cfg.size, true);
	} else if (++qp->owed == run->cfg.depth) {
		qp->owed = 0;
		/* If both ends count, a Send with data is a note, so a credit has no data. */
		kb_post(run, qp, IBV_WR_SEND, KB_CREDIT, imm ? 0 : 1, true);
	}
}

/*
 * Handle a message. Its receive is posted again before the message is answered: after the answer
 * the client may send the next message.
 */
static void received(struct kb_run *run, struct kb_qp *qp, const struct ibv_wc *wc)
{
	kb_post_recv(run, qp);
	if (kb_is_counted(&run->cfg) && wc->opcode == IBV_WC_RECV) {
		kb_answer_note(run, qp);
		return;
	}
	if (run->cfg.op == KB_WRITE_IMM)
		kb_hear(run, qp, wc);
	answer(run, qp);
}

static bool completions(struct kb_run *run)
{
	struct ibv_wc wc[POLL_BATCH];
	int i, n = ibv_poll_cq(run->cq, POLL_BATCH, wc);

	for (i = 0; i < n; i++) {
		struct kb_qp *qp = &run->qp[KB_WR_INDEX(wc[i].wr_id)];

		/* An error ends the connection, and an event will report that. */
		if (wc[i].status != IBV_WC_SUCCESS)
			continue;
		qp->queued -= KB_WR_COUNT(wc[i].wr_id);
		if (KB_WR_WHAT(wc[i].wr_id) == KB_RECV)
			received(run, qp, &wc[i]);
	}
	return n > 0;
}

static bool answer_write(struct server *s)
{
	struct kb_run *run = &s->run;
	const volatile uint8_t *last = kb_sink(run) + run->cfg.size - 1;

	completions(run);
	if (*last != s->turn || !run->qps)
		return false;
	run->mem[run->cfg.size - 1] = s->turn++;
	kb_post(run, run->qp, IBV_WR_RDMA_WRITE, KB_DATA, run->cfg.size, true);
	return true;
}

static bool work(struct server *s)
{
	return s->run.cfg.op == KB_WRITE ? answer_write(s) : completions(&s->run);
}

/*
 * Poll once more, then sleep until there is a completion event or a connection event. Return: is
 * there a connection event?
 */
static bool sleep_for_either(struct server *s)
{
	struct pollfd fds[2] = {
		{ .fd = s->ch->fd, .events = POLLIN },
		{ .fd = s->run.comp->fd, .events = POLLIN },
	};
	struct ibv_cq *cq;
	void *ctx;

	ibv_req_notify_cq(s->run.cq, 0);
	if (work(s))
		return false;
	poll(fds, 2, -1);
	if (fds[1].revents & POLLIN && !ibv_get_cq_event(s->run.comp, &cq, &ctx))
		ibv_ack_cq_events(cq, 1);
	return fds[0].revents & POLLIN;
}

/*
 * Handle completions until an event comes, or LOOK_EVERY polls have found none. Return: true if it
 * is time to look for connection events.
 */
static bool serve_some(struct server *s)
{
	unsigned int idle;

	for (idle = 0; idle < LOOK_EVERY; idle++) {
		if (work(s))
			idle = 0;
		else if (may_sleep(&s->run.cfg))
			return sleep_for_either(s);
	}
	return true;
}

void kb_serve(struct rdma_cm_id *listener)
{
	struct server s = { .ch = listener->channel };
	struct kwcm_event ev;

	for (;;) {
		if (has_work(&s.run) && !serve_some(&s))
			continue;
		if (!kwcm_next(s.ch, has_work(&s.run) ? 0 : -1, &ev))
			cm_event(&s, &ev);
	}
}
