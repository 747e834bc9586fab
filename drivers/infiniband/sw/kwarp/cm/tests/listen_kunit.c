// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of listeners: their sockets and their half-open endpoints (connections that the ULP has not
 * accepted). Sockets, interfaces and ids are fakes.
 */
#include "fixture.h"

#include "../cm_iface.h"
#include "../cm_listen.h"

#include "../../tests/doors.h"

#define LISTENERS	3

/*
 * @looks: how often a listener has looked for connections to accept
 * @ep: an endpoint of the listener; only the fields that are used are set
 * @closed: something has closed the sockets
 * @retire_late: the device is being removed (kwarp_cm_retire()) while a listener is being made
 */
struct listen_test {
	struct kwarp_dev *kdev;
	struct net_device *netdev;
	struct iw_cm_id id[LISTENERS];
	int refs[LISTENERS];
	int socks;
	int opened;
	int listen_err;
	int looks;
	struct kwarp_ep *ep;
	bool closed;
	bool retire_late;
};

static struct listen_test *lt;

static int listen_iface(const struct kwarp_dev *kdev, const struct iw_cm_id *id)
{
	if (lt->retire_late) {
		lt->kdev->cm.stopping = true;
		kwarp_listener_shut_all(lt->kdev);
	}
	return 1;
}

bool kwarp_cm_addr_loopback(const struct sockaddr_storage *ss)
{
	return false;
}

int kwarp_cm_sock_listen(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
			 int backlog, struct kwarp_cm_sock *cs)
{
	if (lt->listen_err)
		return lt->listen_err;
	lt->opened++;
	lt->socks++;
	cs->sock = (void *)lt;
	return 0;
}

static void listen_sock_kill(struct kwarp_cm_sock *cs)
{
	if (cs->sock)
		lt->socks--;
	cs->sock = NULL;
}

static u32 listen_sock_queued(const struct socket *sock)
{
	lt->looks++;
	return 0;
}

static bool listen_sock_closed(const struct socket *sock)
{
	return lt->closed;
}

int kwarp_cm_sock_accept(struct kwarp_dev *kdev, struct kwarp_cm_sock *listener,
			 struct socket **res)
{
	return -EAGAIN;
}

static void listen_ep_mark(struct kwarp_ep *ep, int bit)
{
	set_bit(bit, &ep->events);
}

static void add_ref(struct iw_cm_id *id)
{
	lt->refs[id - lt->id]++;
}

static void rem_ref(struct iw_cm_id *id)
{
	lt->refs[id - lt->id]--;
}

static int listen_test_init(struct kunit *test)
{
	int i;

	lt = kunit_kzalloc(test, sizeof(*lt), GFP_KERNEL);
	if (!lt)
		return -ENOMEM;
	lt->kdev = kunit_kzalloc(test, sizeof(*lt->kdev), GFP_KERNEL);
	lt->netdev = kunit_kzalloc(test, sizeof(*lt->netdev), GFP_KERNEL);
	if (!lt->kdev || !lt->netdev)
		return -ENOMEM;
	strscpy(lt->netdev->name, "eth7");
	lt->kdev->netdev = lt->netdev;
	lt->kdev->knobs.half_open_max = 20;
	kwarp_stub(test, kwarp_cm_iface, listen_iface);
	kwarp_stub(test, kwarp_cm_sock_kill, listen_sock_kill);
	kwarp_stub(test, kwarp_cm_sock_queued, listen_sock_queued);
	kwarp_stub(test, kwarp_cm_sock_closed, listen_sock_closed);
	kwarp_stub(test, kwarp_ep_mark, listen_ep_mark);
	kwarp_cm_init_device(lt->kdev);
	for (i = 0; i < LISTENERS; i++) {
		lt->id[i].device = &lt->kdev->ibdev;
		lt->id[i].add_ref = add_ref;
		lt->id[i].rem_ref = rem_ref;
	}
	return 0;
}

static void listen_test_exit(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_EQ(test, lt->socks, 0);
	KUNIT_EXPECT_TRUE(test, hash_empty(lt->kdev->cm.listener_ids));
	for (i = 0; i < LISTENERS; i++)
		KUNIT_EXPECT_EQ(test, lt->refs[i], 0);
}

static int listen_on(int i)
{
	return kwarp_listener_create(&lt->id[i], 5, NULL);
}

static void destroy_listener(int i)
{
	kwarp_listener_destroy(lt->id[i].provider_data);
}

static void test_listen(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, listen_on(0), 0);
	KUNIT_EXPECT_EQ(test, lt->opened, 1);
	KUNIT_EXPECT_EQ(test, lt->refs[0], 1);
	KUNIT_EXPECT_FALSE(test, hash_empty(lt->kdev->cm.listener_ids));
	destroy_listener(0);
	KUNIT_EXPECT_TRUE(test, hash_empty(lt->kdev->cm.listener_ids));
}

/*
 * If there is no socket for a listener, its creation fails, except while the device is being added:
 * after an error rdma_cm would not use the device.
 */
static void test_listen_fails(struct kunit *test)
{
	lt->listen_err = -EADDRINUSE;
	KUNIT_EXPECT_EQ(test, listen_on(0), -EADDRINUSE);
	KUNIT_EXPECT_EQ(test, lt->refs[0], 0);
	lt->kdev->adder = current;
	KUNIT_ASSERT_EQ(test, listen_on(0), 0);
	KUNIT_EXPECT_EQ(test, lt->opened, 0);
	destroy_listener(0);
}

/*
 * On a device that is going away, listen succeeds without a socket: after an error rdma_cm would
 * close a wildcard listener on all devices.
 */
static void test_retired(struct kunit *test)
{
	lt->kdev->cm.stopping = true;
	KUNIT_ASSERT_EQ(test, listen_on(0), 0);
	KUNIT_EXPECT_EQ(test, lt->opened, 0);
	destroy_listener(0);
}

static void test_retired_meanwhile(struct kunit *test)
{
	lt->retire_late = true;
	KUNIT_ASSERT_EQ(test, listen_on(0), 0);
	KUNIT_EXPECT_EQ(test, lt->opened, 0);
	destroy_listener(0);
}

/* The second call, and destroying the listener later, find nothing to close. */
static void test_shut_all(struct kunit *test)
{
	int i;

	for (i = 0; i < LISTENERS; i++)
		KUNIT_ASSERT_EQ(test, listen_on(i), 0);
	KUNIT_EXPECT_EQ(test, lt->socks, LISTENERS);
	kwarp_listener_shut_all(lt->kdev);
	KUNIT_EXPECT_TRUE(test, hash_empty(lt->kdev->cm.listener_ids));
	KUNIT_EXPECT_EQ(test, lt->socks, 0);
	for (i = 0; i < LISTENERS; i++)
		KUNIT_EXPECT_EQ(test, lt->refs[i], 0);
	kwarp_listener_shut_all(lt->kdev);
	for (i = 0; i < LISTENERS; i++)
		destroy_listener(i);
}

static struct kwarp_listener *enter_half_open(struct kunit *test)
{
	struct kwarp_ep *ep = kunit_kzalloc(test, sizeof(*ep), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ep);
	KUNIT_ASSERT_EQ(test, listen_on(0), 0);
	mutex_init(&ep->mutex);
	INIT_LIST_HEAD(&ep->half_open);
	ep->listener = lt->id[0].provider_data;
	mutex_lock(&ep->mutex);
	kwarp_listener_enter(ep);
	mutex_unlock(&ep->mutex);
	lt->ep = ep;
	return ep->listener;
}

static void leave_half_open(struct kwarp_listener *l)
{
	mutex_lock(&lt->ep->mutex);
	kwarp_listener_leave(lt->ep);
	mutex_unlock(&lt->ep->mutex);
	flush_delayed_work(&l->work);
}

/* An endpoint that leaves the list loses KWARP_EP_EVICT, by which it would be ended. */
static void test_leave(struct kunit *test)
{
	struct kwarp_listener *l = enter_half_open(test);

	KUNIT_EXPECT_EQ(test, l->num_half_open, 1);
	set_bit(KWARP_EP_EVICT, &lt->ep->events);
	leave_half_open(l);
	KUNIT_EXPECT_FALSE(test, test_bit(KWARP_EP_EVICT, &lt->ep->events));
	KUNIT_EXPECT_EQ(test, l->num_half_open, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&l->half_open));
	KUNIT_EXPECT_EQ(test, lt->looks, 0);
	leave_half_open(l);
	KUNIT_EXPECT_EQ(test, l->num_half_open, 0);
	destroy_listener(0);
}

/* The half-open list was full (20, half_open_max): the listener looks again for connections. */
static void test_leave_full(struct kunit *test)
{
	struct kwarp_listener *l = enter_half_open(test);

	l->num_half_open = 20;
	leave_half_open(l);
	KUNIT_EXPECT_EQ(test, l->num_half_open, 19);
	KUNIT_EXPECT_EQ(test, lt->looks, 1);
	l->num_half_open = 0;
	destroy_listener(0);
}

/* A socket that was closed from outside is released, once. The listener can still be destroyed. */
static void test_closed_outside(struct kunit *test)
{
	struct kwarp_listener *l;

	KUNIT_ASSERT_EQ(test, listen_on(0), 0);
	l = lt->id[0].provider_data;
	lt->closed = true;
	kwarp_listener_kick(l);
	flush_delayed_work(&l->work);
	KUNIT_EXPECT_EQ(test, lt->socks, 0);
	kwarp_listener_kick(l);
	flush_delayed_work(&l->work);
	destroy_listener(0);
}

static struct kunit_case listen_cases[] = {
	KUNIT_CASE(test_listen),
	KUNIT_CASE(test_listen_fails),
	KUNIT_CASE(test_retired),
	KUNIT_CASE(test_retired_meanwhile),
	KUNIT_CASE(test_shut_all),
	KUNIT_CASE(test_leave),
	KUNIT_CASE(test_leave_full),
	KUNIT_CASE(test_closed_outside),
	{}
};

static struct kunit_suite listen_suite = {
	.name = "kwarp_cm_listen",
	.suite_init = ct_suite_init,
	.suite_exit = ct_suite_exit,
	.init = listen_test_init,
	.exit = listen_test_exit,
	.test_cases = listen_cases,
};

kunit_test_suite(listen_suite);
