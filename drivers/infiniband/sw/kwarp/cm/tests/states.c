// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "states.h"

/* ---------------------------------------------------------------- the peer */

void ct_peer_frame(bool reply, u8 rev, bool reject, bool p2p)
{
	const struct kwarp_mpa_frame frame = {
		.reply = reply, .rev = rev, .enhanced = rev == 2, .reject = reject, .p2p = p2p,
		.rtr = p2p ? KWARP_RTR_WRITE : 0, .ird = 1, .ord = 1,
	};

	fake.sock->rx_len += kwarp_mpa_frame_encode(fake.sock->rx + fake.sock->rx_len, &frame);
	ct_sock_event();
}

void ct_peer_ends(int err)
{
	fake.sock->rx_end = err ?: 1;
	ct_sock_event();
}

struct kwarp_ep *ct_the_ep(void)
{
	return list_first_entry_or_null(&fake.kdev->cm.eps, struct kwarp_ep, node);
}

enum kwarp_cm_state ct_state(void)
{
	struct kwarp_ep *ep = ct_the_ep();

	return ep ? ep->state : KWARP_CMS_DEAD;
}

static void make_inbound(struct kunit *test)
{
	struct kwarp_ep *ep = kwarp_ep_create(fake.kdev, &fake.listener);

	KUNIT_ASSERT_FALSE(test, IS_ERR(ep));
	mutex_lock(&ep->mutex);
	kwarp_listener_enter(ep);
	ep->cs.sock = ct_fake_socket();
	kwarp_cm_sock_hook(&ep->cs);
	kwarp_ep_apply(ep, KWARP_CME_INBOUND);
	mutex_unlock(&ep->mutex);
	kwarp_ep_mark(ep, KWARP_EP_SOCK);
	kwarp_ep_put(ep);
}

/* Has the newest socket sent a Reply with bit R (reject)? */
bool ct_has_rejected(void)
{
	return fake.sock && fake.sock->tx_len >= 20 && fake.sock->tx[16] & 0x20;
}

void ct_take_request(struct kunit *test)
{
	ct_settle();
	KUNIT_ASSERT_EQ(test, fake.requests, 1);
	fake.id.state = FAKE_RECV;
	fake.id.id.provider_data = fake.provider_data;
}

void ct_timer_runs(void)
{
	struct kwarp_ep *ep = ct_the_ep();

	if (!ep)
		return;
	mutex_lock(&ep->mutex);
	ep->due.deadline = jiffies - 1;
	mutex_unlock(&ep->mutex);
	kwarp_ep_mark(ep, KWARP_EP_TIMER);
}

/* ------------------------------------------------------- ways into each state */

void ct_to_connect(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, ct_iw_connect(FAKE_QPN), 0);
	ct_settle();
}

void ct_to_send_req(struct kunit *test)
{
	ct_to_connect(test);
	fake.sock->tx_room = 5;
	fake.sock->connect_err = 0;
	ct_sock_event();
	ct_settle();
}

void ct_to_wait_rep(struct kunit *test)
{
	ct_to_send_req(test);
	fake.sock->tx_room = sizeof(fake.sock->tx);
	ct_sock_event();
	ct_settle();
}

void ct_to_stream(struct kunit *test)
{
	ct_to_wait_rep(test);
	ct_peer_frame(true, 2, false, false);
	ct_settle();
}

void ct_to_closed(struct kunit *test)
{
	ct_to_stream(test);
	ct_stream_says(&fake.qp[0], KWARP_STREAM_PEER_CLOSED, true);
	ct_settle();
}

void ct_to_linger(struct kunit *test)
{
	ct_to_closed(test);
	ct_stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
	ct_settle();
}

void ct_to_send_term(struct kunit *test)
{
	ct_to_wait_rep(test);
	fake.sock->tx_room = 3;
	fake.qp[0].attach_err = -EINVAL;
	ct_peer_frame(true, 2, false, false);
	ct_settle();
}

void ct_to_wait_req(struct kunit *test)
{
	make_inbound(test);
	ct_settle();
}

/* The ULP has as many unanswered Requests as its backlog allows. */
void ct_to_wait_backlog(struct kunit *test)
{
	ct_to_wait_req(test);
	fake.owed = fake.listener.backlog;
	fake.listener.asked = fake.owed;
	fake.listener.asked_at = jiffies;
	ct_peer_frame(false, 2, false, true);
	ct_settle();
}

void ct_to_wait_ulp(struct kunit *test)
{
	ct_to_wait_req(test);
	ct_peer_frame(false, 2, false, true);
	ct_take_request(test);
}

void ct_to_send_rep(struct kunit *test)
{
	ct_to_wait_ulp(test);
	fake.sock->tx_room = 5;
	KUNIT_ASSERT_EQ(test, ct_iw_accept(FAKE_QPN), 0);
	ct_settle();
}

void ct_to_wait_fpdu(struct kunit *test)
{
	ct_to_wait_ulp(test);
	KUNIT_ASSERT_EQ(test, ct_iw_accept(FAKE_QPN), 0);
	ct_settle();
}

void ct_to_send_rej(struct kunit *test)
{
	ct_to_wait_ulp(test);
	fake.sock->tx_room = 5;
	KUNIT_ASSERT_EQ(test, ct_iw_reject(), 0);
	ct_settle();
}

void ct_to_stream_resp(struct kunit *test)
{
	ct_to_wait_fpdu(test);
	ct_stream_says(&fake.qp[0], KWARP_STREAM_ESTABLISHED, true);
	ct_settle();
}
