/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connection endpoints and listeners, their fields grouped by owner. References and locks are
 * explained at the top of cm.c.
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
#include "../proto/mpa_neg.h"
#include "../queue/readq.h"
#include "../serial.h"
#include "cm_sock.h"

struct iw_cm_id;
struct kwarp_qp;

/**
 * struct kwarp_startup - what an endpoint needs until the stream begins
 * @params: our wishes, a snapshot of the knobs (5044-4.4-9)
 * @req: Request, sent or received
 * @rep: Reply, sent or received
 * @res: what was agreed on
 * @readqs: for the stream, with the depths of @res; see kwarp_ep_prepare()
 * @give_up: initiator: end of all attempts, jiffies
 * @retried: initiator: the second attempt is under way
 * @pd: the peer's private data inside @rx, rep.pd_len or req.pd_len octets
 * @own_pd_len: octets of @own_pd
 * @rx_len: octets of @rx received
 * @tx_len: octets of @tx to be sent
 * @tx_off: octets of @tx that TCP has taken
 * @own_pd: the ULP's private data, kept for a second attempt
 * @rx: startup frame from the peer
 * @tx: startup frame, or Terminate, to the peer
 */
struct kwarp_startup {
	struct kwarp_mpa_params params;
	struct kwarp_mpa_frame req;
	struct kwarp_mpa_frame rep;
	struct kwarp_mpa_result res;
	struct kwarp_readqs readqs;
	unsigned long give_up;
	bool retried;
	const u8 *pd;
	u16 own_pd_len;
	u32 rx_len;
	u32 tx_len;
	u32 tx_off;
	u8 own_pd[KWARP_MPA_MAX_PD];
	u8 rx[KWARP_MPA_FRAME_LEN + KWARP_MPA_MAX_PD];
	u8 tx[KWARP_MPA_FRAME_LEN + KWARP_MPA_MAX_PD];
};

/* Bits of kwarp_ep.events: reasons to look at the endpoint, level triggered. */
enum {
	KWARP_EP_SOCK,		/* the socket may have something new */
	KWARP_EP_TIMER,		/* the timer has run */
	KWARP_EP_QP_FPDU,	/* upcalls of the QP, in the order they are handled */
	KWARP_EP_QP_FIN,
	KWARP_EP_QP_DOWN_FIN,
	KWARP_EP_QP_DOWN_ERR,
	KWARP_EP_NO_QP,		/* the QP is being destroyed */
	KWARP_EP_ORPHAN,	/* the listener is gone */
	KWARP_EP_EVICT,		/* others want its place */
	KWARP_EP_RETIRE,	/* the device's users are told to leave: no startup goes on */
	KWARP_EP_ABORT,		/* the device is going away */
};

/**
 * struct kwarp_ep - one connection
 * @kref: references, see cm.c
 * @kdev: device
 * @listener: responder: where it was born, a reference; else NULL
 * @look: deals with @events
 * @node: in kdev->cm.eps
 * @qp_node: in the list of @qp's users
 * @half_open: in the listener's list
 * @turn: in the line of those whose Request waits, see turn.c
 * @asked: the ULP has been told of its Request, and has not answered
 * @events: KWARP_EP_*, reasons to look at the endpoint
 * @run: who looks at them, see serial.h; active from kwarp_ep_lock() to kwarp_ep_unlock()
 * @work: does so if nobody else does
 * @timer: marks KWARP_EP_TIMER
 * @mutex: outer lock of the endpoint
 * @state: see proto/cm_fsm.h
 * @since: when it came into that state, jiffies
 * @status: errno for the next failing upcall
 * @due: what @timer is for
 * @due.kind: which timer it is
 * @due.deadline: jiffies, if @due.kind is not KWARP_CMT_NONE
 * @linger: progress of the peer in state LINGER
 * @linger.extended: times the timer was restarted
 * @linger.stalled: of those, in a row, without a sign of it
 * @linger.acked: snd_una then
 * @aborting: the device is going away
 * @discard: lingering: drop inbound octets
 * @cm_id: a reference, until the last upcall; NULL also if the ULP has misused it, and
 *	then nothing is said any more
 * @id_node: in kdev->cm.ep_ids, while there is @cm_id
 * @told: iw_cm has been told what makes the id ESTABLISHED
 * @handle: of a Request given to iw_cm, or 0
 * @accepting: inside accept(), which has not failed
 * @cs: socket
 * @ifindex: initiator: interface that rdma_cm has chosen, see cm_iface.c
 * @su: startup, until the stream begins
 * @qp: a reference
 */
struct kwarp_ep {
	/* immutable */
	struct kref kref;
	struct kwarp_dev *kdev;
	struct kwarp_listener *listener;
	void (*look)(struct kwarp_ep *ep);

	/* each under the lock of its list: kdev->cm.lock, qp's users_lock */
	struct list_head node;
	struct list_head qp_node;

	/* under kdev->cm.lock */
	struct hlist_node id_node;

	/* under listener->lock */
	struct list_head half_open;
	struct list_head turn;
	bool asked;

	/* any context */
	unsigned long events;
	atomic_t run;
	struct work_struct work;
	struct delayed_work timer;

	/*
	 * under mutex from here on; cm_id changes under kdev->cm.lock, too; state and since are
	 * also read under listener->lock, told without a lock
	 */
	struct mutex mutex;

	/* the run's, and the timer's */
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

	/* of iw_cm's calls, and of upcalls */
	struct iw_cm_id *cm_id;
	bool told;
	u32 handle;
	bool accepting;

	/* the startup's */
	struct kwarp_cm_sock cs;
	int ifindex;
	struct kwarp_startup *su;

	/* the stream's */
	struct kwarp_qp *qp;
};

/**
 * struct kwarp_listener - one listening iw_cm_id
 * @kref: references, see cm.c
 * @kdev: device
 * @backlog: as asked for
 * @node: in kdev->cm.listeners
 * @id_node: in kdev->cm.listener_ids, while there is @cm_id
 * @work: accepts connections
 * @mutex: protects @cs
 * @cs: listening socket; none if nothing can come in for the id on this device
 * @lock: protects the rest
 * @cm_id: a reference; NULL: no requests any more
 * @half_open: its endpoints that have not finished startup, or were refused, the oldest
 *	first
 * @num_half_open: their number, against the knob half_open_max
 * @waiting: those whose Request waits for its turn, see turn.c, the first to come first
 * @asked: Requests that the ULP has been told of and has not answered
 * @asked_at: when the last one was told, jiffies
 */
struct kwarp_listener {
	/* immutable */
	struct kref kref;
	struct kwarp_dev *kdev;
	int backlog;

	/* under kdev->cm.lock */
	struct list_head node;
	struct hlist_node id_node;

	/* any context */
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
