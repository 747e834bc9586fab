// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The environment of a case. The code under test is included: endpoints, their queue pairs, startup
 * frames, upcalls and calls of iw_cm; without cm_listen.c.
 */
#include "fixture.h"

static int fake_readqs_init(struct kwarp_readqs *qs, u32 ord, u32 ird);

/* Keep the log line of a connection, without the addresses. */
#undef ibdev_notice_ratelimited
#define ibdev_notice_ratelimited(ibdev, fmt, local, remote, text, state) \
	((void)(ibdev), (void)(fmt), (void)(local), (void)(state), \
	 fake.notice_peer = *(remote), fake.notice = (text))

#include "../listener.c"
#include "../turn.c"
#include "../ep.c"
#include "../cm_info.c"
#define kwarp_readqs_init	fake_readqs_init
#include "../ep_stream.c"
#undef kwarp_readqs_init
#include "../ep_run.c"
#include "../startup.c"
#include "../cm_mpa.c"
#include "../cm_upcall.c"

/* Stand-ins that iw_cm has returned are freed when the test calls ct_grace_period(). */
static void fake_call_rcu_tasks(struct rcu_head *rcu, rcu_callback_t func);
static void *fake_zalloc(size_t size, gfp_t gfp);

#undef call_rcu_tasks
#define call_rcu_tasks		fake_call_rcu_tasks
#pragma push_macro("kzalloc")
#undef kzalloc
#define kzalloc			fake_zalloc
#include "../cm_qp.c"
#pragma pop_macro("kzalloc")
#include "../cm.c"
#include "../cm_device.c"

struct fake fake;
struct workqueue_struct *fake_wq, *fake_cm_wq;

/* ---------------------------------------------------------- memory of cm_qp.c */

static struct rcu_head *returned;

static void fake_call_rcu_tasks(struct rcu_head *rcu, rcu_callback_t func)
{
	rcu->func = func;
	rcu->next = returned;
	returned = rcu;
}

/* End a grace period of Tasks RCU. Return: number of stand-ins freed. */
u32 ct_grace_period(void)
{
	struct rcu_head *rcu;
	u32 n = 0;

	while (returned) {
		rcu = returned;
		returned = rcu->next;
		rcu->func(rcu);
		n++;
	}
	return n;
}

static void *fake_zalloc(size_t size, gfp_t gfp)
{
	return fake.no_memory ? NULL : kzalloc(size, gfp);
}

static int fake_readqs_init(struct kwarp_readqs *qs, u32 ord, u32 ird)
{
	return fake.no_readqs ? -ENOMEM : kwarp_readqs_init(qs, ord, ird);
}

int ct_returned(void)
{
	return atomic_read(&num_returned);
}

void ct_set_returned(int n)
{
	atomic_set(&num_returned, n);
}

/* -------------------------------------------- interfaces, queue pairs, listeners */

const struct rdma_cm_id *kwarp_cm_rdma_id(const struct iw_cm_id *id)
{
	return id->context;
}

int kwarp_cm_iface(const struct kwarp_dev *kdev, const struct iw_cm_id *id)
{
	return FAKE_IFINDEX;
}

struct kwarp_qp *kwarp_qp_lookup(struct kwarp_dev *kdev, u32 qpn)
{
	struct kwarp_qp *qp = &fake.qp[qpn - FAKE_QPN];

	if (qpn < FAKE_QPN || qpn >= FAKE_QPN + FAKE_QPS)
		return NULL;
	qp->refs++;
	return qp;
}

void kwarp_qp_get(struct kwarp_qp *qp)
{
	qp->refs++;
}

void kwarp_qp_put(struct kwarp_qp *qp)
{
	qp->refs--;
}

bool kwarp_qp_may_connect(const struct kwarp_qp *qp)
{
	return qp->may_connect;
}

struct ib_qp *kwarp_qp_ib(struct kwarp_qp *qp)
{
	return &qp->ib;
}

enum kwarp_qp_state kwarp_qp_state(struct kwarp_qp *qp)
{
	return qp->state;
}

void kwarp_qp_join(struct kwarp_qp *qp, struct list_head *node)
{
	list_add_tail(node, &qp->users);
}

void kwarp_qp_leave(struct kwarp_qp *qp, struct list_head *node)
{
	list_del_init(node);
}

void kwarp_qp_each_user(struct kwarp_qp *qp, void (*fn)(struct list_head *node))
{
	struct list_head *node;

	list_for_each(node, &qp->users)
		fn(node);
}

int kwarp_qp_attach(struct kwarp_qp *qp, struct socket *sock,
		    const struct kwarp_stream_params *params,
		    const struct kwarp_stream_ops *ops, void *ep)
{
	int ret = once(&qp->attach_err);

	if (!ret && qp->state != KWARP_QPS_IDLE)
		ret = -EINVAL;
	if (ret)
		return ret;
	kwarp_readqs_fini(params->readqs);	/* the queue pair owns them now */
	qp->state = KWARP_QPS_RTS;
	qp->ops = ops;
	qp->ep = ep;
	qp->params = *params;
	return 0;
}

/* Make an upcall of a queue pair's stream. */
void ct_stream_says(struct kwarp_qp *qp, enum kwarp_stream_event event, bool graceful)
{
	if (event == KWARP_STREAM_DOWN)
		qp->state = KWARP_QPS_ERROR;
	qp->ops->event(qp->ep, event, graceful);
}

void kwarp_qp_begin_close(struct kwarp_qp *qp, bool graceful)
{
	if (qp->state != KWARP_QPS_RTS)
		return;
	qp->aborted = !graceful;
	qp->closed = true;
	qp->ending = true;
}

void kwarp_qp_run(struct kwarp_qp *qp)
{
	/* A test may have reported DOWN meanwhile. */
	if (xchg(&qp->ending, false) && qp->state == KWARP_QPS_RTS)
		ct_stream_says(qp, KWARP_STREAM_DOWN, false);
}

/* Report DOWN from a work item, because the caller has the endpoint locked. */
void kwarp_qp_close(struct kwarp_qp *qp, bool graceful)
{
	kwarp_qp_begin_close(qp, graceful);
	queue_work(fake_wq, &qp->work);
}

static void qp_work(struct work_struct *work)
{
	kwarp_qp_run(container_of(work, struct kwarp_qp, work));
}

int kwarp_listener_create(struct iw_cm_id *id, int backlog)
{
	return -EINVAL;
}

void kwarp_listener_destroy(struct kwarp_listener *l)
{
}

void kwarp_listener_shut_all(struct kwarp_dev *kdev)
{
}

/* ------------------------------------------------------------------ fixture */

/* The listener's work item has nothing to accept here. */
static void listener_work(struct work_struct *work)
{
	struct kwarp_listener *l = container_of(work, struct kwarp_listener, work.work);

	kwarp_listener_put(l);
}

int ct_init(struct kunit *test)
{
	int i;

	memset(&fake, 0, sizeof(fake));
	atomic_set(&num_returned, 0);
	fake.kdev = kunit_kzalloc(test, sizeof(*fake.kdev), GFP_KERNEL);
	if (!fake.kdev)
		return -ENOMEM;
	kwarp_cm_init_device(fake.kdev);
	fake.kdev->knobs.mpa_rev = 2;
	fake.kdev->knobs.half_open_max = KWARP_HALF_OPEN;
	fake.kdev->knobs.startup_timeout = KWARP_STARTUP_TIMEOUT;
	fake.kdev->knobs.connect_timeout = KWARP_CONNECT_TIMEOUT;
	fake.kdev->knobs.linger_timeout = KWARP_LINGER_TIMEOUT;
	for (i = 0; i < FAKE_QPS; i++) {
		fake.qp[i].refs = 1;
		fake.qp[i].may_connect = true;
		fake.qp[i].ib.uobject = (void *)&fake.uobject;
		INIT_LIST_HEAD(&fake.qp[i].users);
		INIT_WORK(&fake.qp[i].work, qp_work);
	}
	kref_init(&fake.listener.kref);
	/*
	 * With an additional reference, because fake.listener is not from kzalloc() and must not be
	 * freed.
	 */
	kwarp_listener_get(&fake.listener);
	mutex_init(&fake.listener.mutex);
	INIT_DELAYED_WORK(&fake.listener.work, listener_work);
	spin_lock_init(&fake.listener.lock);
	INIT_LIST_HEAD(&fake.listener.half_open);
	INIT_LIST_HEAD(&fake.listener.waiting);
	fake.listener.backlog = 5;
	fake.listener.kdev = fake.kdev;
	fake.listener.cm_id = kunit_kzalloc(test, sizeof(*fake.listener.cm_id), GFP_KERNEL);
	if (!fake.listener.cm_id)
		return -ENOMEM;
	fake.listener.cm_id->event_handler = ct_iw_request;
	ct_iw_init(&fake.id);
	return 0;
}

/* Stop the device, and check that nothing is left. */
static void check_end(struct kunit *test)
{
	int i;

	kwarp_cm_stop_device(fake.kdev);
	ct_settle();
	flush_workqueue(fake_wq);
	KUNIT_EXPECT_STREQ(test, fake.bug ?: "", "");
	KUNIT_EXPECT_TRUE(test, list_empty(&fake.kdev->cm.eps));
	KUNIT_EXPECT_TRUE(test, hash_empty(fake.kdev->cm.ep_ids));
	KUNIT_EXPECT_EQ(test, fake.socks, 0);
	KUNIT_EXPECT_EQ(test, fake.listener.num_half_open, 0);
	KUNIT_EXPECT_EQ(test, fake.listener.asked, fake.owed);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake.listener.waiting));
	KUNIT_EXPECT_EQ(test, fake.id.refs, 1);
	KUNIT_EXPECT_TRUE(test, xa_empty(&handles));
	/* iw_cm has no references to the queue pairs ... */
	for (i = 0; i < FAKE_QPS; i++) {
		KUNIT_EXPECT_EQ_MSG(test, fake.qp[i].refs, 1, "queue pair %d", i);
		KUNIT_EXPECT_TRUE(test, list_empty(&fake.qp[i].users));
	}
	/* ... and returns its stand-in with the id. */
	ct_iw_drop_qp(&fake.id);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake.kdev->cm.new_qps));
	ct_grace_period();
	KUNIT_EXPECT_EQ(test, kref_read(&fake.listener.kref), 2);
}

void ct_exit(struct kunit *test)
{
	if (fake.listener.cm_id)
		check_end(test);
}

int ct_suite_init(struct kunit_suite *suite)
{
	fake_wq = alloc_workqueue("kwarp_cm_test", WQ_UNBOUND, 0);
	fake_cm_wq = alloc_ordered_workqueue("kwarp_cm_test", 0);
	return fake_wq && fake_cm_wq ? 0 : -ENOMEM;
}

void ct_suite_exit(struct kunit_suite *suite)
{
	if (fake_wq)
		destroy_workqueue(fake_wq);
	if (fake_cm_wq)
		destroy_workqueue(fake_cm_wq);
}

/* Start again with a new environment, to test many variants in one case. */
void ct_again(struct kunit *test)
{
	ct_exit(test);
	KUNIT_ASSERT_EQ(test, ct_init(test), 0);
}

/* Wait until all queued work is done and all events are handled. */
void ct_settle(void)
{
	flush_workqueue(fake_cm_wq);
	flush_workqueue(fake_wq);
	flush_workqueue(fake_cm_wq);
	ct_iw_process_all();
	flush_workqueue(fake_wq);
	flush_workqueue(fake_cm_wq);
}

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

/* Make an endpoint for an inbound connection, like cm_listen.c. */
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

/* Has a Reply been sent with bit R (reject)? */
bool ct_has_rejected(void)
{
	return fake.sock && fake.sock->tx_len >= 20 && fake.sock->tx[16] & 0x20;
}

/* Make the id that iw_cm makes for a CONNECT_REQUEST. */
void ct_take_request(struct kunit *test)
{
	ct_settle();
	KUNIT_ASSERT_EQ(test, fake.requests, 1);
	fake.id.state = FAKE_RECV;
	fake.id.id.provider_data = fake.provider_data;
}

/* Let the timer of the state expire. */
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

/* The ULP has as many unanswered Requests as its backlog allows, so this one waits. */
void ct_to_wait_turn(struct kunit *test)
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

unsigned int ct_actions_without_function(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < KWARP_CMA_COUNT; i++)
		n += !actions[i];
	return n;
}
