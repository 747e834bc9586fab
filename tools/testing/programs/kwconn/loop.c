// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwconn is a test program that makes many connections, one after the other and at the same time.
 * This file: the loop of client and server, which waits for completions and connection events.
 */
#include "kwconn.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

static void completions(const struct kn_side *side)
{
	struct ibv_cq *which;
	struct ibv_wc wc;
	struct kn_conn *c;
	void *ctx;

	if (ibv_get_cq_event(kn_comp, &which, &ctx))
		kw_die(KW_MISMATCH, "cannot get a completion event: %s", strerror(errno));
	ibv_ack_cq_events(kn_cq, 1);
	if (ibv_req_notify_cq(kn_cq, 0))
		kw_die(KW_MISMATCH, "cannot ask for completion events: %s", strerror(errno));
	while (ibv_poll_cq(kn_cq, 1, &wc) > 0) {
		c = &kn_conns[wc.wr_id % kn_slots];
		if (wc.status != IBV_WC_SUCCESS || !(wc.opcode & IBV_WC_RECV) || !c->id)
			continue;
		side->received(c);
	}
}

/*
 * End the program if a connection has taken too long. The check looks at all elements of kn_conns,
 * used or free, which may be many, so it is done at most every 100 ms.
 */
static void check_limits(void)
{
	static int64_t next;
	int64_t now = kw_now_ms();
	struct kn_conn *c;

	if (kn_opt.server || now < next)
		return;
	next = now + 100;
	for (c = kn_conns; c < kn_conns + kn_slots; c++)
		if (c->id && !(kn_opt.hold && c->echoed && !kn_released) &&
		    now - c->since > 1000LL * kn_opt.limit)
			kw_die(KW_STALL, "a connection is %s after %u s, %u of %u are done",
			       c->established ? "still up" : "still not decided", kn_opt.limit,
			       kn_count.established + kn_count.refused, kn_opt.cycles);
}

void kn_one_round(struct rdma_event_channel *ch, const struct kn_side *side)
{
	struct pollfd fds[2] = {
		{ .fd = ch->fd, .events = POLLIN },
		{ .fd = kn_comp ? kn_comp->fd : -1, .events = POLLIN },
	};
	struct kwcm_event ev;

	poll(fds, 2, 200);
	/* Messages first: a disconnect event frees the connection they belong to. */
	if (fds[1].revents & POLLIN)
		completions(side);
	if ((fds[0].revents & POLLIN) && !kwcm_next(ch, 0, &ev))
		side->event(&ev);
	check_limits();
}
