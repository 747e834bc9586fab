// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Begin and end of a case, and fakes of interfaces and of the memory of cm_qp.c, which is included
 * with other files in which this one reads variables.
 */
#include "fixture.h"

/* Do not print a connection's log line: keep its text, and the peer's address, for the test. */
#undef ibdev_notice
#define ibdev_notice(ibdev, fmt, local, remote, text, state) \
	((void)(ibdev), (void)(fmt), (void)(local), (void)(state), \
	 fake.notice_peer = *(remote), fake.notice = (text))

#include "../ep_run.c"
#include "../ep_trouble.c"
#include "../cm_upcall.c"

/* Keep stand-ins that wait for a grace period of Tasks RCU until a test calls ct_grace_period(). */
static void fake_call_rcu_tasks(struct rcu_head *rcu, rcu_callback_t func);
static void *fake_zalloc(size_t size, gfp_t gfp);

#undef call_rcu_tasks
#define call_rcu_tasks		fake_call_rcu_tasks
#pragma push_macro("kzalloc")
#undef kzalloc
#define kzalloc			fake_zalloc
#include "../cm_qp.c"
#pragma pop_macro("kzalloc")

#include "../../tests/doors.h"
#include "../cm_iface.h"
#include "../cm_listen.h"

/* Of the RDMA core, which is not built. */
void ibdev_warn(const struct ib_device *ibdev, const char *format, ...)
{
}

struct fake fake;

/* ---------------------------------------------------------- memory of cm_qp.c */

static struct rcu_head *returned;

static void fake_call_rcu_tasks(struct rcu_head *rcu, rcu_callback_t func)
{
	rcu->func = func;
	rcu->next = returned;
	returned = rcu;
}

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

static int fake_prepare(struct kwarp_ep *ep)
{
	return fake.no_readqs ? -ENOMEM : kwarp_real(kwarp_ep_prepare, ep);
}

int ct_returned(void)
{
	return atomic_read(&num_returned);
}

void ct_set_returned(int n)
{
	atomic_set(&num_returned, n);
}

static int fake_iface(const struct kwarp_dev *kdev, const struct iw_cm_id *id)
{
	return FAKE_IFINDEX;
}

static bool fake_caller_ends(struct pid *pid)
{
	return fake.caller_ends;
}

/* A listener of wire.c, which has the hook @answer; others cannot be made here. */
static int fake_listen(struct iw_cm_id *id, int backlog,
		       enum kwarp_cm_event (*answer)(struct kwarp_ep *ep))
{
	int ret = once(&fake.listen_err);

	if (!answer)
		return -EINVAL;
	if (ret)
		return ret;
	fake.listens++;
	fake.listen_port = ntohs(((struct sockaddr_in *)&id->local_addr)->sin_port);
	fake.listener.answer = answer;
	id->provider_data = &fake.listener;
	return 0;
}

static void fake_listen_ends(struct kwarp_listener *l)
{
	fake.listens--;
}

static int fake_local_iface(struct net *net, int ifindex, const struct sockaddr_storage *addr)
{
	return fake.here ? FAKE_IFINDEX + 1 : 0;
}

/* ------------------------------------------------------------------ fixture */

/* The listener has nothing to accept here: only put the reference that the queued work has. */
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
	fake.kdev->netdev = kunit_kzalloc(test, sizeof(*fake.kdev->netdev), GFP_KERNEL);
	if (!fake.kdev->netdev)
		return -ENOMEM;
	fake.kdev->netdev->ifindex = FAKE_IFINDEX;
	kwarp_stub(test, kwarp_cm_iface, fake_iface);
	kwarp_stub(test, kwarp_cm_local_iface, fake_local_iface);
	kwarp_stub(test, kwarp_listener_create, fake_listen);
	kwarp_stub(test, kwarp_listener_destroy, fake_listen_ends);
	kwarp_stub(test, kwarp_caller_ends, fake_caller_ends);
	kwarp_stub(test, kwarp_ep_prepare, fake_prepare);
	kwarp_cm_init_device(fake.kdev);
	fake.kdev->knobs.mpa_rev = 2;
	fake.kdev->knobs.half_open_max = KWARP_HALF_OPEN;
	fake.kdev->knobs.startup_timeout = KWARP_STARTUP_TIMEOUT;
	fake.kdev->knobs.connect_timeout = KWARP_CONNECT_TIMEOUT;
	fake.kdev->knobs.linger_timeout = KWARP_LINGER_TIMEOUT;
	for (i = 0; i < FAKE_QPS; i++) {
		fake.qp[i].refs = 1;
		fake.qp[i].ib.device = &fake.kdev->ibdev;
		fake.qp[i].ib.qp_num = FAKE_QPN + i;
		fake.qp[i].may_connect = true;
		fake.qp[i].ib.uobject = (void *)&fake.uobject;
		INIT_LIST_HEAD(&fake.qp[i].users);
		INIT_WORK(&fake.qp[i].work, ct_qp_work);
	}
	kref_init(&fake.listener.kref);
	/* Take an additional reference, because fake.listener is not from kzalloc(). */
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

static void check_end(struct kunit *test)
{
	int i;

	kwarp_cm_stop_device(fake.kdev);
	ct_settle();
	flush_workqueue(kwarp_wq);
	KUNIT_EXPECT_STREQ(test, fake.bug ?: "", "");
	KUNIT_EXPECT_TRUE(test, list_empty(&fake.kdev->cm.eps));
	KUNIT_EXPECT_TRUE(test, hash_empty(fake.kdev->cm.ep_ids));
	KUNIT_EXPECT_EQ(test, fake.socks, 0);
	KUNIT_EXPECT_EQ(test, fake.listener.num_half_open, 0);
	KUNIT_EXPECT_EQ(test, fake.listener.asked, fake.owed);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake.listener.waiting));
	KUNIT_EXPECT_EQ(test, fake.id.refs, 1);
	KUNIT_EXPECT_TRUE(test, xa_empty(&handles));
	KUNIT_EXPECT_TRUE(test, xa_empty(&fake.kdev->cm.wires));
	KUNIT_EXPECT_EQ(test, fake.listens, 0);
	/* iw_cm has no references to the queue pairs, only to its stand-in. */
	for (i = 0; i < FAKE_QPS; i++) {
		KUNIT_EXPECT_EQ_MSG(test, fake.qp[i].refs, 1, "queue pair %d", i);
		KUNIT_EXPECT_TRUE(test, list_empty(&fake.qp[i].users));
	}
	/* iw_cm returns its stand-in when the id is destroyed. */
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
	kwarp_wq = alloc_workqueue("kwarp_cm_test", WQ_UNBOUND, 0);
	kwarp_cm_wq = alloc_ordered_workqueue("kwarp_cm_test", 0);
	return kwarp_wq && kwarp_cm_wq ? 0 : -ENOMEM;
}

void ct_suite_exit(struct kunit_suite *suite)
{
	if (kwarp_wq)
		destroy_workqueue(kwarp_wq);
	if (kwarp_cm_wq)
		destroy_workqueue(kwarp_cm_wq);
}

void ct_again(struct kunit *test)
{
	ct_exit(test);
	KUNIT_ASSERT_EQ(test, ct_init(test), 0);
}

void ct_settle(void)
{
	flush_workqueue(kwarp_cm_wq);
	flush_workqueue(kwarp_wq);
	flush_workqueue(kwarp_cm_wq);
	ct_iw_process_all();
	flush_workqueue(kwarp_wq);
	flush_workqueue(kwarp_cm_wq);
}

unsigned int ct_actions_without_function(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < KWARP_CMA_COUNT; i++)
		n += !actions[i];
	return n;
}
