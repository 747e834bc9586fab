// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of listeners: their sockets and their half-open endpoints (connections that the ULP has not
 * accepted). The code under test is included; sockets, interfaces and ids are fakes.
 */
#include <kunit/test.h>

#include "../types.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>

#include "../cm.h"
#include "../cm_iface.h"
#include "../cm_listen.h"
#include "../cm_sock.h"
#include "../listener.h"
#include "../sock_io.h"
#include "../sock_memcg.h"

/* Rename what the included code defines and calls: the module has functions of these names. */
#define kwarp_listener_get	tested_listener_get
#define kwarp_listener_put	tested_listener_put
#define kwarp_listener_kick	tested_listener_kick
#define kwarp_listener_enter	tested_listener_enter
#define kwarp_listener_leave	tested_listener_leave
#define kwarp_listener_may_evict tested_listener_may_evict
#define kwarp_ep_mark		listen_ep_mark
#define kwarp_listener_create	tested_listener_create
#define kwarp_listener_destroy	tested_listener_destroy
#define kwarp_listener_shut_all	tested_listener_shut_all
#define kwarp_cm_iface		listen_iface
#define kwarp_cm_rdma_id	listen_rdma_id
#define kwarp_cm_addr_loopback	listen_addr_loopback
#define kwarp_cm_sock_listen	listen_sock_listen
#define kwarp_cm_sock_kill	listen_sock_kill
#define kwarp_cm_sock_memcg	listen_sock_memcg
#define kwarp_cm_sock_queued	listen_sock_queued
#define kwarp_cm_sock_accept	listen_sock_accept
#define kwarp_cm_sock_closed	listen_sock_closed
#define kwarp_wq		system_unbound_wq
/* The fake device is not registered with the RDMA core, so it has no name to log. */
#undef ibdev_warn_ratelimited
#define ibdev_warn_ratelimited(ibdev, ...)	((void)(ibdev))

static void tested_listener_get(struct kwarp_listener *l);
static void tested_listener_put(struct kwarp_listener *l);
static void tested_listener_kick(struct kwarp_listener *l);
static void tested_listener_enter(struct kwarp_ep *ep);
static void tested_listener_leave(struct kwarp_ep *ep);
static bool tested_listener_may_evict(const struct kwarp_ep *ep);
static void listen_ep_mark(struct kwarp_ep *ep, int bit);
static int tested_listener_create(struct iw_cm_id *id, int backlog);
static void tested_listener_destroy(struct kwarp_listener *l);
static void tested_listener_shut_all(struct kwarp_dev *kdev);

#define LISTENERS	3

/**
 * struct listen_test - the environment of a test
 * @kdev: device
 * @netdev: the device's interface
 * @id: ids on which the ULP listens
 * @refs: references to @id
 * @socks: number of sockets that exist
 * @opened: number of sockets that have been opened so far
 * @listen_err: error that opening the next socket returns
 * @looks: how often a listener has looked for connections to accept
 * @ep: an endpoint of the listener; only the fields that listener.c uses are set
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
		tested_listener_shut_all(lt->kdev);
	}
	return 1;
}

static const struct rdma_cm_id *listen_rdma_id(const struct iw_cm_id *id)
{
	return NULL;
}

static bool listen_addr_loopback(const struct sockaddr_storage *ss)
{
	return false;
}

static int listen_sock_listen(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
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

static struct mem_cgroup *listen_sock_memcg(const struct kwarp_cm_sock *cs)
{
	return NULL;
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

static int listen_sock_accept(struct kwarp_dev *kdev, struct kwarp_cm_sock *listener,
			      struct socket **res)
{
	return -EAGAIN;
}

#include "../listener.c"
#include "../cm_listen.c"

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
	kwarp_cm_init_device(lt->kdev);
	for (i = 0; i < LISTENERS; i++) {
		lt->id[i].device = &lt->kdev->ibdev;
		lt->id[i].add_ref = add_ref;
		lt->id[i].rem_ref = rem_ref;
	}
	return 0;
}

/* Check that no socket and no reference to an id is left. */
static void listen_test_exit(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_EQ(test, lt->socks, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&lt->kdev->cm.listeners));
	for (i = 0; i < LISTENERS; i++)
		KUNIT_EXPECT_EQ(test, lt->refs[i], 0);
}

static int listen_on(int i)
{
	return tested_listener_create(&lt->id[i], 5);
}

static void destroy_listener(int i)
{
	tested_listener_destroy(lt->id[i].provider_data);
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

/*
 * kwarp_listener_shut_all() closes each listener once: the second call, and destroying the listener
 * later, find nothing to close.
 */
static void test_shut_all(struct kunit *test)
{
	int i;

	for (i = 0; i < LISTENERS; i++)
		KUNIT_ASSERT_EQ(test, listen_on(i), 0);
	KUNIT_EXPECT_EQ(test, lt->socks, LISTENERS);
	tested_listener_shut_all(lt->kdev);
	KUNIT_EXPECT_TRUE(test, hash_empty(lt->kdev->cm.listener_ids));
	KUNIT_EXPECT_EQ(test, lt->socks, 0);
	for (i = 0; i < LISTENERS; i++)
		KUNIT_EXPECT_EQ(test, lt->refs[i], 0);
	tested_listener_shut_all(lt->kdev);
	for (i = 0; i < LISTENERS; i++)
		destroy_listener(i);
}

/* Make a listener, and an endpoint that is half-open. Return: the listener. */
static struct kwarp_listener *enter_half_open(struct kunit *test)
{
	struct kwarp_ep *ep = kunit_kzalloc(test, sizeof(*ep), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ep);
	KUNIT_ASSERT_EQ(test, listen_on(0), 0);
	mutex_init(&ep->mutex);
	INIT_LIST_HEAD(&ep->half_open);
	ep->listener = lt->id[0].provider_data;
	mutex_lock(&ep->mutex);
	tested_listener_enter(ep);
	mutex_unlock(&ep->mutex);
	lt->ep = ep;
	return ep->listener;
}

/* Let the endpoint leave the listener's half-open list, and wait for the listener's work item. */
static void leave_half_open(struct kwarp_listener *l)
{
	mutex_lock(&lt->ep->mutex);
	tested_listener_leave(lt->ep);
	mutex_unlock(&lt->ep->mutex);
	flush_delayed_work(&l->work);
}

/*
 * An endpoint that leaves the half-open list loses the bit KWARP_EP_EVICT, by which it would be
 * ended.
 */
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
	/* A second call finds the endpoint in no list. */
	leave_half_open(l);
	KUNIT_EXPECT_EQ(test, l->num_half_open, 0);
	destroy_listener(0);
}

/*
 * An endpoint leaves a half-open list that was full (20, half_open_max): the listener looks again
 * for connections to accept.
 */
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
	tested_listener_kick(l);
	flush_delayed_work(&l->work);
	KUNIT_EXPECT_EQ(test, lt->socks, 0);
	tested_listener_kick(l);
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
	.init = listen_test_init,
	.exit = listen_test_exit,
	.test_cases = listen_cases,
};

kunit_test_suite(listen_suite);
