// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Connection management of a device: set-up, and the end of its listeners and endpoints. */
#include "cm.h"

#include <rdma/ib_verbs.h>

#include "cm_listen.h"
#include "cm_upcall.h"
#include "ep.h"
#include "ep_stream.h"
#include "stand_in.h"

/**
 * kwarp_cm_init_device - set up kdev->cm
 * @kdev: device, not registered yet
 */
void kwarp_cm_init_device(struct kwarp_dev *kdev)
{
	spin_lock_init(&kdev->cm.lock);
	INIT_LIST_HEAD(&kdev->cm.eps);
	INIT_LIST_HEAD(&kdev->cm.listeners);
	hash_init(kdev->cm.ep_ids);
	hash_init(kdev->cm.listener_ids);
	init_waitqueue_head(&kdev->cm.idle);
	kdev->cm.stopping = false;
	kwarp_cm_init_stand_ins(kdev);
}

/**
 * kwarp_cm_drop_qp - end the connections that are being set up for a QP
 * @qp: QP that is being destroyed
 *
 * These connections fail, and soon drop their references to the QP; otherwise destroy_qp() would
 * wait for the peer or for a timer. destroy_qp() calls this before it waits for the QP's last
 * reference. A stream that is attached already is ended by kwarp_qp_close().
 *
 * Context: process; does not wait.
 */
void kwarp_cm_drop_qp(struct kwarp_qp *qp)
{
	kwarp_ep_mark_qp(qp);
}

/* Refuse new endpoints (connections), and set @bit (KWARP_EP_*) in all existing endpoints. */
static void stop_with(struct kwarp_dev *kdev, int bit)
{
	spin_lock(&kdev->cm.lock);
	kdev->cm.stopping = true;
	spin_unlock(&kdev->cm.lock);
	kwarp_ep_mark_all(kdev, bit);
}

/**
 * kwarp_cm_retire - close listeners, and end connections in MPA startup
 * @kdev: device
 *
 * To be called before the RDMA core asks the device's users to leave. No new connection begins, and
 * listeners are closed. Connections that are being set up fail: a user that waits for one of them
 * could not leave. Established connections stay: a user may need them in order to leave. For
 * example, an NVMe host shuts its controller down through them.
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
 * kwarp_cm_begin_stop - begin to end every connection of a device
 * @kdev: device
 *
 * Established connections end, connections that are being set up fail, and no new one begins. If
 * the network below the device goes away, to be called before the RDMA core asks the device's users
 * to leave: the users would wait for peers that cannot be reached any more.
 *
 * Context: process; does not wait.
 */
void kwarp_cm_begin_stop(struct kwarp_dev *kdev)
{
	/* Each connection ends now, or as soon as its QP is down. */
	stop_with(kdev, KWARP_EP_ABORT);
}

/**
 * kwarp_cm_stop_device - end every listener and every connection of a device
 * @kdev: device
 *
 * No connection can start afterwards, and no listener gets a socket. Listeners remain without
 * sockets until iw_cm destroys them. To be called while the driver has its reference to
 * kdev->netdev and QPs still work: before or after ib_unregister_device() has removed the device's
 * clients.
 *
 * Context: process. Returns when no endpoint refers to the device any more, which
 * takes as long as its QPs need to go down after kwarp_qp_close(qp, false).
 */
void kwarp_cm_stop_device(struct kwarp_dev *kdev)
{
	might_sleep();
	kwarp_cm_begin_stop(kdev);
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
 * kwarp_cm_exit - wait, at module exit, until the last stand-ins have been freed
 *
 * A stand-in is the object that iw_cm gets instead of a queue pair (cm_qp.c). RCU frees a stand-in,
 * perhaps later than the stand-in's device.
 *
 * Context: process; after kwarp_wq has been destroyed.
 */
void kwarp_cm_exit(void)
{
	might_sleep();
	kwarp_ep_check_idle();
	kwarp_cm_exit_stand_ins();
}
