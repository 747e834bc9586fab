// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "happen.h"

/* ----------------------------------------------------- what happens in each state */

static void mark_ep(int bit)
{
	if (ct_the_ep())
		kwarp_ep_mark(ct_the_ep(), bit);
}

void ct_on_abort(void)
{
	mark_ep(KWARP_EP_ABORT);
}

void ct_on_no_qp(void)
{
	kwarp_cm_drop_qp(&fake.qp[0]);
}

void ct_on_orphan(void)
{
	mark_ep(KWARP_EP_ORPHAN);
}

/* The endpoint has been in its state for so long that it may be evicted. */
void ct_on_evict(void)
{
	if (ct_the_ep())
		WRITE_ONCE(ct_the_ep()->since, jiffies - 2 * HZ * KWARP_EVICT_ULP_AGE_MS / 1000);
	mark_ep(KWARP_EP_EVICT);
}

void ct_on_fin(void)
{
	if (fake.sock && !ct_attached())
		ct_peer_ends(0);
}

void ct_on_reset(void)
{
	if (fake.sock && !ct_attached())
		ct_peer_ends(-ECONNRESET);
}

static void connect_ends(int err)
{
	fake.sock->connect_err = err;
	ct_sock_event();
}

void ct_on_refused(void)
{
	connect_ends(-ECONNREFUSED);
}

void ct_on_unreachable(void)
{
	connect_ends(-EHOSTUNREACH);
}

void ct_on_connect_reset(void)
{
	connect_ends(-ECONNRESET);
}

void ct_on_tx_error(void)
{
	if (!fake.sock || ct_attached())
		return;
	fake.sock->tx_err = -EPIPE;
	ct_sock_event();
}

void ct_on_garbage(void)
{
	if (!fake.sock || ct_attached())
		return;
	memset(fake.sock->rx, 'x', 40);
	fake.sock->rx_len = 40;
	ct_sock_event();
}

/* As kwarpctl doctor asks */
void ct_on_probe(void)
{
	memcpy(fake.sock->rx, "MPA ID??", 8);
	fake.sock->rx_len = 8;
	ct_sock_event();
}

void ct_on_down(void)
{
	if (fake.qp[0].state == KWARP_QPS_RTS)
		ct_stream_says(&fake.qp[0], KWARP_STREAM_DOWN, false);
}

void ct_on_down_fin(void)
{
	if (fake.qp[0].state == KWARP_QPS_RTS)
		ct_stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
}

void ct_on_peer_closed(void)
{
	if (fake.qp[0].state == KWARP_QPS_RTS)
		ct_stream_says(&fake.qp[0], KWARP_STREAM_PEER_CLOSED, true);
}

void ct_on_device_end(void)
{
	kwarp_cm_begin_stop(fake.kdev);
}

void ct_on_device_retires(void)
{
	kwarp_cm_retire(fake.kdev);
}

void ct_on_nothing(void)
{
	ct_sock_event();
}

/*
 * A test queues ct_gate_work, which occupies the ordered workqueue until the test completes
 * ct_gate. Until then no endpoint's work item runs, so two events can be handled together.
 */
DECLARE_COMPLETION(ct_gate);

static void gate_fn(struct work_struct *work)
{
	wait_for_completion(&ct_gate);
}

DECLARE_WORK(ct_gate_work, gate_fn);
