// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connection management of a device: set-up, the end of its listeners and endpoints, and their
 * state for `rdma resource show`.
 */
#include "cm.h"

#include <rdma/ib_verbs.h>

#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/ratelimit.h>
#include <linux/spinlock.h>

#include "../qp/stream.h"
#include "cm_listen.h"
#include "cm_upcall.h"
#include "ep.h"

/**
 * kwarp_cm_init_device - initialize what connection management keeps of a device
 * @kdev: device, not registered yet
 */
void kwarp_cm_init_device(struct kwarp_dev *kdev)
{
	int i;

	spin_lock_init(&kdev->cm.lock);
	INIT_LIST_HEAD(&kdev->cm.eps);
	hash_init(kdev->cm.ep_ids);
	hash_init(kdev->cm.listener_ids);
	init_waitqueue_head(&kdev->cm.idle);
	kdev->cm.stopping = false;
	for (i = 0; i < ARRAY_SIZE(kdev->cm.notices); i++) {
		ratelimit_state_init(&kdev->cm.notices[i], DEFAULT_RATELIMIT_INTERVAL,
				     DEFAULT_RATELIMIT_BURST);
		ratelimit_set_flags(&kdev->cm.notices[i], RATELIMIT_MSG_ON_RELEASE);
	}
	xa_init_flags(&kdev->cm.wires, XA_FLAGS_ACCOUNT);
	mutex_init(&kdev->cm.port_mutex);
	kwarp_cm_init_stand_ins(kdev);
}

static void mark_no_qp(struct list_head *node)
{
	/*
	 * The endpoint cannot be freed here: an endpoint is removed from the QP's list, under the
	 * list's lock, before it is freed.
	 */
	kwarp_ep_mark(container_of(node, struct kwarp_ep, qp_node), KWARP_EP_NO_QP);
}

/**
 * kwarp_cm_drop_qp - let the connections that are being set up for a queue pair fail
 * @qp: queue pair that is being destroyed
 *
 * They soon drop their references to the QP; otherwise destroy_qp() would wait for the peer or for
 * a timer. A stream that is attached already is ended by kwarp_qp_abort().
 *
 * Context: process; destroy_qp(), before it waits for the QP's last reference.
 */
void kwarp_cm_drop_qp(struct kwarp_qp *qp)
{
	kwarp_qp_each_user(qp, mark_no_qp);
}

static void stop_with(struct kwarp_dev *kdev, int bit)
{
	spin_lock(&kdev->cm.lock);
	kdev->cm.stopping = true;
	spin_unlock(&kdev->cm.lock);
	kwarp_ep_mark_all(kdev, bit);
}

/**
 * kwarp_cm_retire - begin no new connections on a device
 * @kdev: device
 *
 * To be called before the RDMA core asks the device's users to leave. Listeners are closed.
 * Connections that are being set up fail: a user that waits for one of them could not leave.
 * Established connections stay: a user may need them in order to leave.
 *
 * Context: process; waits for no peer.
 */
void kwarp_cm_retire(struct kwarp_dev *kdev)
{
	might_sleep();
	stop_with(kdev, KWARP_EP_RETIRE);
	/*
	 * Close the listening sockets: otherwise TCP would still complete handshakes, and the peers
	 * would get no answer to their Requests.
	 */
	kwarp_listener_shut_all(kdev);
}

/**
 * kwarp_cm_begin_stop - end all connections of a device, and begin no new ones
 * @kdev: device
 *
 * If the network below the device goes away, to be called before the RDMA core asks the device's
 * users to leave: the users would wait for peers that cannot be reached any more.
 *
 * Context: process; does not wait.
 */
void kwarp_cm_begin_stop(struct kwarp_dev *kdev)
{
	stop_with(kdev, KWARP_EP_ABORT);
}

/**
 * kwarp_cm_stop_device - end connection management of a device
 * @kdev: device
 *
 * No connection can start afterwards, and no listener gets a socket. Listeners remain without
 * sockets until iw_cm destroys them. To be called while the driver has its reference to
 * kdev->netdev and QPs still work: before or after ib_unregister_device() has removed the device's
 * clients.
 *
 * Context: process. Returns when no endpoint refers to the device any more, which takes as long as
 * its QPs need to go down after kwarp_qp_abort().
 */
void kwarp_cm_stop_device(struct kwarp_dev *kdev)
{
	might_sleep();
	kwarp_cm_begin_stop(kdev);
	kwarp_cm_wire_listen(kdev, 0);
	kwarp_listener_shut_all(kdev);
	wait_event(kdev->cm.idle, list_empty(&kdev->cm.eps));
	/*
	 * kwarp_ep_delist() wakes this task while it holds cm.lock. Wait until the lock is
	 * released: the caller may free @kdev next.
	 */
	spin_lock(&kdev->cm.lock);
	spin_unlock(&kdev->cm.lock);
}

/**
 * kwarp_cm_exit - wait for stand-ins, which RCU may free later than their device
 *
 * Context: process; after kwarp_wq has been destroyed.
 */
void kwarp_cm_exit(void)
{
	might_sleep();
	kwarp_ep_check_idle();
	kwarp_cm_exit_stand_ins();
}

/* ------------------------------------------------- what operators are told */

/* 64 bits, because a storage connection may last for months. */
static u64 ms_between(unsigned long from, unsigned long to)
{
	return time_after(to, from) ? jiffies64_to_msecs(to - from) : 0;
}

static void describe_ep(struct kwarp_ep *ep, struct kwarp_cm_info *info)
{
	const unsigned long now = jiffies;

	lockdep_assert_held(&ep->mutex);
	*info = (struct kwarp_cm_info) {
		.role = ep->listener ? "responder" : "initiator",
		.state = kwarp_cm_state_name(ep->state),
		.state_ms = ms_between(ep->since, now),
		.timed = ep->due.kind != KWARP_CMT_NONE,
	};
	if (info->timed)
		info->ends_ms = ms_between(now, ep->due.deadline);
}

/* False: the listener has no socket, and takes no connections. */
static bool describe_listener(struct kwarp_listener *l, struct kwarp_cm_info *info)
{
	lockdep_assert_held(&l->mutex);
	if (!l->cs.sock)
		return false;
	*info = (struct kwarp_cm_info) {
		.role = "listener",
		.backlog = l->backlog,
		.queued = kwarp_cm_sock_queued(l->cs.sock),
		/* Read without l->lock: the two values may be from different moments. */
		.half_open = READ_ONCE(l->num_half_open),
		.asked = READ_ONCE(l->asked),
	};
	return true;
}

static struct kwarp_listener *find_listener(struct kwarp_dev *kdev, const struct iw_cm_id *id)
{
	struct kwarp_listener *l, *found = NULL;

	spin_lock(&kdev->cm.lock);
	hash_for_each_possible(kdev->cm.listener_ids, l, id_node, (unsigned long)id) {
		/* Read without l->lock: the listener may be dropping the id at this moment. */
		if (READ_ONCE(l->cm_id) == id) {
			/*
			 * @l cannot be freed here: a listener is removed from the table, under
			 * cm.lock, before it is freed.
			 */
			kwarp_listener_get(l);
			found = l;
			break;
		}
	}
	spin_unlock(&kdev->cm.lock);
	return found;
}

static bool describe_listener_of(struct kwarp_dev *kdev, const struct iw_cm_id *id,
				 struct kwarp_cm_info *info)
{
	struct kwarp_listener *l = find_listener(kdev, id);
	bool ok;

	if (!l)
		return false;
	mutex_lock(&l->mutex);
	ok = describe_listener(l, info);
	mutex_unlock(&l->mutex);
	kwarp_listener_put(l);
	return ok;
}

/**
 * kwarp_cm_describe - get the state of a connection or a listener, for an operator
 * @kdev: device, which the caller keeps from going away
 * @id: only compared, so it may be freed during the call
 * @info: result
 *
 * Context: process, may sleep.
 * Return: false: the id has neither, or a listener without a socket.
 */
bool kwarp_cm_describe(struct kwarp_dev *kdev, const struct iw_cm_id *id,
		       struct kwarp_cm_info *info)
{
	struct kwarp_ep *ep;

	might_sleep();
	ep = kwarp_ep_find(kdev, id);
	if (!ep)
		return describe_listener_of(kdev, id, info);
	mutex_lock(&ep->mutex);
	describe_ep(ep, info);
	mutex_unlock(&ep->mutex);
	kwarp_ep_put(ep);
	return true;
}
