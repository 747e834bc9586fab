/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connection endpoints and listeners. The fields of each struct are grouped by the lock that
 * protects them. References, and the order of the locks, are explained at the top of cm.c.
 */
#ifndef KWARP_CM_TYPES_H
#define KWARP_CM_TYPES_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "../kwarp.h"
#include "../proto/cm_fsm.h"
#include "../serial.h"
#include "sock_hook.h"

struct iw_cm_id;
struct kwarp_qp;
struct kwarp_startup;

/*
 * Bits of kwarp_ep.events: reasons to look at the endpoint. A bit is cleared when it is handled;
 * EVICT is also cleared when the endpoint changes its state.
 */
enum {
	KWARP_EP_SOCK,		/* the socket's state may have changed */
	KWARP_EP_TIMER,		/* the timer has expired */
	/* The next four are the QP's reports. */
	KWARP_EP_QP_FPDU,	/* responder: the peer's first FPDU has come */
	KWARP_EP_QP_FIN,	/* the peer has sent its FIN */
	KWARP_EP_QP_DOWN_FIN,	/* the stream has ended gracefully */
	KWARP_EP_QP_DOWN_ERR,	/* the stream has ended in another way */
	KWARP_EP_NO_QP,		/* the QP is being destroyed */
	KWARP_EP_ORPHAN,	/* the endpoint's listener has been closed */
	KWARP_EP_EVICT,		/* end the endpoint: half-open for too long while others wait */
	KWARP_EP_RETIRE,	/* the device's users must leave: end the endpoint if in startup */
	KWARP_EP_ABORT,		/* the device is going away: end the endpoint */
};

/*
 * struct kwarp_ep - one connection
 * @listener: responder: the listener that accepted the connection, a reference; initiator: NULL
 * @handle_events: handles @events; called with @mutex held
 * @vet: initiator for a wired queue pair, which resets a connection that fails: is an accepting
 *	Reply the right one? With @mutex held; the Reply is in @su
 * @node: entry in kdev->cm.eps, the list of the device's endpoints
 * @qp_node: entry in the list of endpoints that have chosen @qp
 * @half_open: entry in the listener's list of half-open endpoints
 * @in_line: entry in the listener's list @waiting, while the MPA Request has to wait until the ULP
 *	has answered earlier ones
 * @asked: the ULP has received the MPA Request and has not answered it
 * @run: enum kwarp_run (serial.h): are @events being handled, or is @work queued for that? Active
 *	from kwarp_ep_lock() to kwarp_ep_unlock()
 * @since: when @state changed last, jiffies
 * @status: errno for the next upcall that reports a failure
 * @due.kind: kind of the limit; KWARP_CMT_NONE: @state has no limit
 * @due.deadline: when the limit ends, jiffies; valid if @due.kind is not KWARP_CMT_NONE
 * @linger: state LINGER (this end has sent its FIN): progress of the peer's acknowledgements
 * @linger.extended: how often the timer was restarted
 * @linger.stalled: number of restarts since the peer acknowledged something new
 * @linger.acked: TCP's snd_una when the timer was started last
 * @discard: in state LINGER: drop inbound octets
 * @cm_id: iw_cm's id, a reference, until the last upcall. Also NULL, so that no upcall follows,
 *	after an accept that failed, or a reject of an accepted id.
 * @id_node: entry in kdev->cm.ep_ids, while @cm_id is not NULL
 * @reported: an upcall has been made that makes the id ESTABLISHED
 * @handle: number by which iw_cm knows the Request, see cm_upcall.c; 0: none
 * @accepting: kwarp_cm_accept() is running and has not failed
 * @ifindex: initiator: interface that rdma_cm has chosen, see cm_iface.c
 * @su: parameters and buffers of MPA startup; freed when startup is over
 * @qp: queue pair, a reference
 */
struct kwarp_ep {
	/* immutable */
	struct kref kref;
	struct kwarp_dev *kdev;
	struct kwarp_listener *listener;
	void (*handle_events)(struct kwarp_ep *ep);

	/* each under the lock of its list: kdev->cm.lock, qp's users_lock */
	struct list_head node;
	struct list_head qp_node;

	/* under kdev->cm.lock */
	struct hlist_node id_node;

	/* under listener->lock */
	struct list_head half_open;
	struct list_head in_line;
	bool asked;

	/* in any context, without a lock */
	unsigned long events;
	atomic_t run;
	struct work_struct work;
	struct delayed_work timer;

	/*
	 * All that follows is under mutex. Exceptions: cm_id is written under kdev->cm.lock as
	 * well; state and since are also read under listener->lock, and reported is without a lock.
	 */
	struct mutex mutex;

	/* for ep_run.c and the timer */
	enum kwarp_cm_state state;
	unsigned long since;
	int status;
	struct {
		enum kwarp_cm_timer kind;
		unsigned long deadline;
	} due;
	struct {
		u8 extended;
		u8 stalled;
		u32 acked;
	} linger;
	bool aborting;
	bool discard;

	/* for calls from iw_cm and upcalls to it */
	struct iw_cm_id *cm_id;
	bool reported;
	u32 handle;
	bool accepting;

	/* for the startup */
	bool (*vet)(struct kwarp_ep *ep);
	struct kwarp_cm_sock cs;
	int ifindex;
	struct kwarp_startup *su;

	/* for the stream */
	struct kwarp_qp *qp;
};

/*
 * struct kwarp_listener - one listening iw_cm_id
 * @backlog: length of the accept queue that the ULP asked for
 * @answer: answers the Request in ep->su instead of a ULP, with the endpoint's mutex held; makes
 *	the Reply, and returns KWARP_CME_ACCEPT or KWARP_CME_REJECT. NULL: the ULP is asked
 * @id_node: entry in kdev->cm.listener_ids, while @cm_id is not NULL
 * @cs: listening socket; without a socket (@cs.sock is NULL) no connection comes in
 * @cm_id: iw_cm's id, a reference; NULL: the listener takes no more Requests
 * @half_open: half-open endpoints of this listener, the oldest first
 * @num_half_open: length of @half_open, limited by the knob (tunable) half_open_max
 * @waiting: endpoints whose Request has to wait until the ULP has answered earlier ones, the oldest
 *	first
 * @asked: number of Requests that the ULP has received and has not answered
 * @asked_at: when the ULP received the last Request, jiffies
 */
struct kwarp_listener {
	/* immutable */
	struct kref kref;
	struct kwarp_dev *kdev;
	int backlog;
	enum kwarp_cm_event (*answer)(struct kwarp_ep *ep);

	/* under kdev->cm.lock */
	struct hlist_node id_node;

	/* in any context, without a lock */
	struct delayed_work work;

	/* under mutex */
	struct mutex mutex;
	struct kwarp_cm_sock cs;

	/* under lock */
	spinlock_t lock;
	struct iw_cm_id *cm_id;
	struct list_head half_open;
	u32 num_half_open;
	struct list_head waiting;
	int asked;
	unsigned long asked_at;
};

#endif /* KWARP_CM_TYPES_H */
