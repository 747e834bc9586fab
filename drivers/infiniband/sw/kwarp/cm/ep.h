/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connection endpoints and listeners: what the files of cm/ know of each other.
 * References and locks are explained at the top of cm.c.
 */
#ifndef KWARP_CM_EP_H
#define KWARP_CM_EP_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "../kwarp.h"
#include "../proto/cm_fsm.h"
#include "../proto/mpa_neg.h"
#include "../queue/readq.h"

struct ib_qp;
struct iw_cm_conn_param;
struct iw_cm_id;
struct kwarp_qp;
struct mem_cgroup;
struct rdma_cm_id;

/**
 * struct kwarp_cm_sock - a socket of ours and where its callbacks lead
 * @sock: the socket, or NULL
 * @notify: something about the socket has changed; called in softirq or process
 *	context under sk_callback_lock, may only set bits and queue work
 * @hooked: the callbacks are ours at the moment
 * @data_ready: callbacks as TCP had set them, valid while @hooked
 * @state_change: likewise
 * @write_space: likewise
 * @error_report: likewise
 */
struct kwarp_cm_sock {
	struct socket *sock;
	void (*notify)(struct kwarp_cm_sock *cs);
	bool hooked;
	void (*data_ready)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*error_report)(struct sock *sk);
};

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
 * @node: in kdev->cm.eps
 * @qp_node: in the list of @qp's users
 * @half_open: in the listener's list
 * @events: KWARP_EP_*, reasons to run @work
 * @work: looks at what has happened
 * @timer: marks KWARP_EP_TIMER
 * @mutex: outer lock of the endpoint
 * @state: see proto/cm_fsm.h
 * @since: when it came into that state, jiffies
 * @status: errno for the next failing upcall
 * @cs: socket
 * @cm_id: a reference, until the last upcall; NULL also if the ULP has misused it, and
 *	then nothing is said any more
 * @qp: a reference
 * @told: iw_cm has been told what makes the id ESTABLISHED
 * @ifindex: initiator: interface that rdma_cm has chosen, see cm_iface.c
 * @su: startup, until the stream begins
 * @due: what @timer is for
 * @due.kind: which timer it is
 * @due.deadline: jiffies, if @due.kind is not KWARP_CMT_NONE
 * @linger: progress of the peer in state LINGER
 * @linger.extended: times the timer was restarted
 * @linger.stalled: of those, in a row, without a sign of it
 * @linger.acked: snd_una then
 * @handle: of a Request given to iw_cm, or 0
 * @accepting: inside accept(), which has not failed
 * @aborting: the device is going away
 * @discard: lingering: drop inbound octets
 */
struct kwarp_ep {
	/* immutable */
	struct kref kref;
	struct kwarp_dev *kdev;
	struct kwarp_listener *listener;

	/* under kdev->cm.lock */
	struct list_head node;

	/* under qp's users_lock */
	struct list_head qp_node;

	/* under listener->lock */
	struct list_head half_open;

	/* any context */
	unsigned long events;
	struct work_struct work;
	struct delayed_work timer;

	/*
	 * under mutex; cm_id is also read under kdev->cm.lock, to compare it, state and
	 * since under listener->lock, told without a lock
	 */
	struct mutex mutex;
	enum kwarp_cm_state state;
	unsigned long since;
	int status;
	struct kwarp_cm_sock cs;
	struct iw_cm_id *cm_id;
	struct kwarp_qp *qp;
	bool told;
	int ifindex;
	struct kwarp_startup *su;
	struct {
		enum kwarp_cm_timer kind;
		unsigned long deadline;
	} due;
	struct {
		u8 extended;
		u8 stalled;
		u32 acked;
	} linger;
	u32 handle;
	bool accepting;
	bool aborting;
	bool discard;
};

/**
 * struct kwarp_listener - one listening iw_cm_id
 * @kref: references, see cm.c
 * @kdev: device
 * @backlog: as asked for
 * @node: in kdev->cm.listeners
 * @work: accepts connections
 * @mutex: protects @cs
 * @cs: listening socket; none if nothing can come in for the id on this device
 * @lock: protects the rest
 * @cm_id: a reference; NULL: no requests any more
 * @half_open: its endpoints that have not finished startup, or were refused, the oldest
 *	first
 * @num_half_open: their number, against KWARP_MAX_HALF_OPEN
 */
struct kwarp_listener {
	/* immutable */
	struct kref kref;
	struct kwarp_dev *kdev;
	int backlog;

	/* under kdev->cm.lock */
	struct list_head node;

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
};

/* ep.c */
struct kwarp_ep *kwarp_ep_alloc(struct kwarp_dev *kdev, struct kwarp_listener *l,
				work_func_t run);
int kwarp_ep_enlist(struct kwarp_ep *ep);
void kwarp_ep_delist(struct kwarp_ep *ep);
void kwarp_ep_get(struct kwarp_ep *ep);
void kwarp_ep_put(struct kwarp_ep *ep);
void kwarp_ep_end_startup(struct kwarp_ep *ep);
void kwarp_ep_mark(struct kwarp_ep *ep, int bit);
void kwarp_ep_mark_all(struct kwarp_dev *kdev, int bit);
void kwarp_ep_set_timer(struct kwarp_ep *ep);
void kwarp_ep_arm_deadline(struct kwarp_ep *ep);
void kwarp_ep_retry_in(struct kwarp_ep *ep, u32 ms);
struct kwarp_ep *kwarp_ep_find(struct kwarp_dev *kdev, const struct iw_cm_id *id);

/* ep_stream.c */
int kwarp_ep_bind_qp(struct kwarp_ep *ep, const struct iw_cm_id *id, u32 qpn);
void kwarp_ep_unbind_qp(struct kwarp_ep *ep);
int kwarp_ep_prepare(struct kwarp_ep *ep);
int kwarp_ep_attach(struct kwarp_ep *ep, bool initiator);
void kwarp_ep_mark_qp(struct kwarp_qp *qp);

/* ep_run.c */
struct kwarp_ep *kwarp_ep_create(struct kwarp_dev *kdev, struct kwarp_listener *l);
void kwarp_ep_apply(struct kwarp_ep *ep, enum kwarp_cm_event event);
void kwarp_ep_run(struct kwarp_ep *ep);

/* cm_mpa.c */
void kwarp_cm_mpa_init(struct kwarp_ep *ep);
enum kwarp_cm_event kwarp_cm_mpa_accept(struct kwarp_ep *ep,
					const struct iw_cm_conn_param *param);
void kwarp_cm_mpa_reject(struct kwarp_ep *ep, const void *pd, u16 pd_len);
enum kwarp_cm_event kwarp_cm_mpa_poll(struct kwarp_ep *ep);

/* cm_upcall.c */
void kwarp_cm_upcall_reply(struct kwarp_ep *ep, int status);
int kwarp_ep_publish(struct kwarp_ep *ep);
struct kwarp_ep *kwarp_ep_claim(const struct iw_cm_id *id);
void kwarp_ep_unpublish(struct kwarp_ep *ep);
void kwarp_ep_check_idle(void);
void kwarp_cm_upcall_established(struct kwarp_ep *ep, int status);
void kwarp_cm_upcall_close(struct kwarp_ep *ep);
void kwarp_cm_drop_id(struct kwarp_ep *ep);

/* cm_qp.c */
void kwarp_cm_init_stand_ins(struct kwarp_dev *kdev);
void kwarp_cm_exit_stand_ins(void);
struct ib_qp *kwarp_cm_claim_stand_in(struct kwarp_dev *kdev);
void kwarp_cm_expose_stand_in(struct ib_qp *ibqp);
void kwarp_cm_bind_stand_in(struct ib_qp *ibqp, struct kwarp_ep *ep);

/* cm_listen.c */
int kwarp_listener_create(struct iw_cm_id *id, int backlog);
void kwarp_listener_shut(struct kwarp_listener *l);
void kwarp_listener_destroy(struct kwarp_listener *l);
void kwarp_listener_shut_all(struct kwarp_dev *kdev);

/* listener.c */
void kwarp_listener_get(struct kwarp_listener *l);
void kwarp_listener_put(struct kwarp_listener *l);
void kwarp_listener_kick(struct kwarp_listener *l);
void kwarp_listener_enter(struct kwarp_ep *ep);
void kwarp_listener_leave(struct kwarp_ep *ep);

/* cm_iface.c */
const struct rdma_cm_id *kwarp_cm_rdma_id(const struct iw_cm_id *id);
int kwarp_cm_iface(const struct kwarp_dev *kdev, const struct iw_cm_id *id);

/* cm_sock.c */
int kwarp_cm_sock_dial(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
		       struct kwarp_cm_sock *cs);
int kwarp_cm_sock_redial(struct kwarp_cm_sock *cs, const struct iw_cm_id *id, int ifindex);
int kwarp_cm_sock_dialled(struct socket *sock, const struct iw_cm_id *id);
int kwarp_cm_sock_listen(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
			 int backlog, struct kwarp_cm_sock *cs);
struct mem_cgroup *kwarp_cm_sock_memcg(const struct kwarp_cm_sock *cs);
void kwarp_cm_sock_charge(struct socket *sock);
u32 kwarp_cm_sock_queued(const struct socket *sock);
int kwarp_cm_sock_accept(const struct kwarp_dev *kdev, struct kwarp_cm_sock *listener,
			 struct socket **res);
int kwarp_cm_sock_hook(struct kwarp_cm_sock *cs);
void kwarp_cm_sock_unhook(struct kwarp_cm_sock *cs);
void kwarp_cm_sock_kill(struct kwarp_cm_sock *cs);
void kwarp_cm_sock_fin(struct socket *sock);
int kwarp_cm_sock_recv(struct socket *sock, void *buf, u32 len, bool peek);
int kwarp_cm_sock_send(struct socket *sock, const void *buf, u32 len);
int kwarp_cm_sock_discard(struct socket *sock);
bool kwarp_cm_sock_closed(const struct socket *sock);
u32 kwarp_cm_sock_acked(const struct socket *sock);
bool kwarp_cm_sock_unacked(const struct socket *sock);
void kwarp_cm_sock_names(struct socket *sock, struct sockaddr_storage *local,
			 struct sockaddr_storage *remote);
bool kwarp_cm_addr_loopback(const struct sockaddr_storage *ss);

#endif /* KWARP_CM_EP_H */
