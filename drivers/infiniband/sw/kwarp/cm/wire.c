// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Wired queue pairs: a consumer has exchanged address, queue pair number and PSN with its peer on
 * its own, as with InfiniBand, and moves the queue pair to RTR with these. Then connection
 * management makes the connection, without rdma_cm.
 *
 * A wire is what such a queue pair has instead of an id of iw_cm, and its endpoints take it for
 * one: it contains a struct iw_cm_id, whose context is NULL. Each device has a listener for each
 * family of addresses on the port of the knob wire_port. The queue pair with the smaller address
 * and number connects to the other's, from RTR on, and tries again as long as the other refuses:
 * its consumer may not be ready. All mismatches are refused in the same way, so that a stranger
 * learns nothing from a refusal. The peer is what proto/pairing.c says.
 *
 * From the time when the consumer has posted a send request in RTS, both ends wait as long as an
 * InfiniBand queue pair would retransmit; then the queue pair fails.
 *
 * All attempts use one socket, which is made in the consumer's call: it belongs to the consumer's
 * control groups and user, whose rules it obeys. A kernel thread could not make such a one.
 *
 * References to a wire: the queue pair's until kwarp_cm_unwire(), the endpoint's while it has the
 * wire as its id, a caller's of find_wire(). The work item needs none: it is not queued when the
 * wire is dead, and kwarp_cm_unwire() cancels it. The wire uses the queue pair until it is dead.
 *
 * Locks: wire->lock is taken under the endpoint's mutex, and before kdev->cm.lock.
 */
#include "cm.h"

#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include <linux/inet.h>
#include <linux/memcontrol.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "../proto/pairing.h"
#include "../qp/stream.h"
#include "../wq.h"
#include "cm_iface.h"
#include "cm_listen.h"
#include "cm_mpa.h"
#include "cm_sock.h"
#include "ep.h"
#include "ep_run.h"
#include "ep_stream.h"
#include "sock_knobs.h"
#include "startup.h"

/* While the queue pair may fail because its peer does not come: interval between looks. */
#define LOOK_MS		100

enum wire_state {
	WIRE_WAITS,		/* no endpoint */
	WIRE_BUSY,		/* an endpoint makes the connection */
	WIRE_UP,		/* the queue pair has a stream */
	WIRE_OVER,		/* had one, or has given up */
};

/*
 * struct kwarp_wire - what a queue pair is wired to
 * @id: what the endpoint takes for iw_cm's id: addresses and type of service. provider_data is the
 *	process that pays for the sockets, a reference to its struct pid; NULL: a kernel consumer
 * @ird: Reads and atomic operations that the queue pair serves at a time
 * @rnr_us: RNR timer, microseconds
 * @work: connects, and looks at the time
 * @lock: protects all that follows; process context
 * @dead: the queue pair is not wired any more
 * @ord: Reads and atomic operations that the queue pair may have outstanding
 * @limit_ms: how long posted requests wait for the connection
 * @pause_ms: until the next attempt
 * @counting: requests are posted, so the time is limited
 * @give_up: when the queue pair fails, jiffies; if @counting
 * @say_est: the consumer is to be told that the connection is made
 * @sock: between attempts, the socket that the next one uses
 * @heard: a peer has been accepted
 * @expected: the PSN that it expects first
 */
struct kwarp_wire {
	struct iw_cm_id id;
	struct kref kref;
	struct kwarp_dev *kdev;
	struct kwarp_qp *qp;
	u8 ird;
	u32 rnr_us;
	struct delayed_work work;

	spinlock_t lock;		/* all that follows */
	enum wire_state state;
	bool dead;
	struct kwarp_pair pair;
	u8 ord;
	u32 limit_ms;
	u32 pause_ms;
	bool counting;
	unsigned long give_up;
	bool say_est;
	struct socket *sock;
	bool heard;
	u32 expected;
};

static struct kwarp_wire *to_wire(struct iw_cm_id *id)
{
	return container_of(id, struct kwarp_wire, id);
}

static void release_wire(struct kref *kref)
{
	struct kwarp_wire *w = container_of(kref, struct kwarp_wire, kref);

	put_pid(w->id.provider_data);
	kfree(w);
}

static void put_wire(struct kwarp_wire *w)
{
	kref_put(&w->kref, release_wire);
}

static void add_id_ref(struct iw_cm_id *id)
{
	kref_get(&to_wire(id)->kref);
}

static void put_id_ref(struct iw_cm_id *id)
{
	put_wire(to_wire(id));
}

static struct kwarp_wire *find_wire(struct kwarp_dev *kdev, u32 qpn)
{
	struct kwarp_wire *w;

	xa_lock(&kdev->cm.wires);
	w = xa_load(&kdev->cm.wires, qpn);
	if (w)
		kref_get(&w->kref);
	xa_unlock(&kdev->cm.wires);
	return w;
}

/* --------------------------------------------------------------- addresses */

/* IPv4 and IPv6 addresses have the port at the same offset. */
static void set_port(struct sockaddr_storage *ss, u32 port)
{
	((struct sockaddr_in *)ss)->sin_port = htons(port);
}

static void set_addr(struct sockaddr_storage *ss, const u8 *addr, u32 port)
{
	union ib_gid gid;

	memcpy(&gid, addr, sizeof(gid));
	rdma_gid2ip((struct sockaddr *)ss, &gid);
	set_port(ss, port);
}

static bool has_addr(struct sockaddr_storage *ss, const u8 *addr)
{
	union ib_gid gid;

	return !rdma_ip2gid((struct sockaddr *)ss, &gid) && !memcmp(&gid, addr, sizeof(gid));
}

/*
 * Does the endpoint's connection come from the peer's address, to that of this end? A peer on
 * another interface of this host connects from the address to which it connects: see own_end() of
 * cm_sock.c.
 */
static bool addrs_match(const struct kwarp_wire *w, struct kwarp_ep *ep)
{
	struct sockaddr_storage local = {}, remote = {};

	kwarp_cm_sock_names(ep->cs.sock, &local, &remote);
	if (!has_addr(&local, w->pair.addr))
		return false;
	return has_addr(&remote, w->pair.peer_addr) ||
	       (has_addr(&remote, w->pair.addr) &&
		kwarp_cm_local_iface(w->kdev->net, w->kdev->netdev->ifindex, &w->id.remote_addr));
}

/* ---------------------------------------------------------------- agreeing */

/*
 * The peer has been found right: what its message says for the stream. A peer in RTR has not said
 * how often it will retry: as often as this end, which is in RTS then.
 */
static void agree(struct kwarp_wire *w, struct kwarp_startup *su, const struct kwarp_pair_msg *msg)
{
	const u32 retries = msg->sends ? msg->rnr_retry : w->pair.own.rnr_retry;

	lockdep_assert_held(&w->lock);
	su->send_imm = w->pair.own.features & msg->features & KWARP_PAIR_SEND_IMM;
	/* 7: for ever, in the verbs of InfiniBand. */
	su->receive_wait = retries >= 7 ? U32_MAX : DIV_ROUND_UP(w->rnr_us * retries, 1000);
	w->heard = true;
	w->expected = msg->rq_psn;
}

/* Initiator: is the Reply of the right peer? Context: ep->mutex held. */
static bool vet_reply(struct kwarp_ep *ep)
{
	struct kwarp_wire *w = to_wire(ep->cm_id);
	struct kwarp_startup *su = ep->su;
	struct kwarp_pair_msg msg;
	bool ok;

	if (!kwarp_pair_decode(su->pdata, su->rep.pdata_len, &msg))
		return false;
	spin_lock(&w->lock);
	ok = kwarp_pair_match(&w->pair, &msg);
	if (ok)
		agree(w, su, &msg);
	spin_unlock(&w->lock);
	return ok;
}

static bool claim_wire(struct kwarp_wire *w, struct kwarp_ep *ep, const struct kwarp_pair_msg *msg)
{
	struct kwarp_startup *su = ep->su;
	bool ok = addrs_match(w, ep);

	spin_lock(&w->lock);
	ok = ok && !w->dead && w->state == WIRE_WAITS && kwarp_pair_order(&w->pair) > 0 &&
	     kwarp_qp_state(w->qp) == KWARP_QPS_IDLE && kwarp_pair_match(&w->pair, msg);
	if (ok) {
		w->state = WIRE_BUSY;
		agree(w, su, msg);
		su->own_pdata_len = kwarp_pair_encode(su->own_pdata, &w->pair.own);
		su->params.max_ird = w->ird;
		su->params.ord = w->pair.own.sends ? w->ord : KWARP_MAX_ORD;
		kwarp_qp_get(w->qp);
		/* kwarp_cm_unwire() finds the endpoint by its id from now on. */
		kwarp_ep_set_id(ep, &w->id);
	}
	spin_unlock(&w->lock);
	if (ok)
		kwarp_ep_take_qp(ep, w->qp);
	return ok;
}

static bool accept_wire(struct kwarp_wire *w, struct kwarp_ep *ep)
{
	struct kwarp_startup *su = ep->su;
	const struct iw_cm_conn_param param = {
		.private_data = su->own_pdata,
		.private_data_len = su->own_pdata_len,
		.ird = w->ird,
		.ord = su->params.ord,
	};

	kwarp_cm_sock_charge_to(ep->cs.sock, w->id.provider_data);
	if (w->id.tos_set)
		kwarp_sock_set_tos(ep->cs.sock, w->id.tos);
	return kwarp_cm_mpa_accept(ep, &param) == KWARP_CME_ACCEPT && !kwarp_ep_prepare_in_work(ep);
}

static void unclaim_wire(struct kwarp_wire *w, struct kwarp_ep *ep)
{
	kwarp_ep_unbind_qp(ep);
	kwarp_ep_drop_id(ep);
	spin_lock(&w->lock);
	if (w->state == WIRE_BUSY)
		w->state = WIRE_WAITS;
	spin_unlock(&w->lock);
}

/* struct kwarp_listener.answer. Context: process, ep->mutex held. */
static enum kwarp_cm_event answer(struct kwarp_ep *ep)
{
	struct kwarp_startup *su = ep->su;
	struct kwarp_wire *w = NULL;
	struct kwarp_pair_msg msg;
	bool ok = false;

	if (su->req.enhanced && su->req.p2p &&
	    kwarp_pair_decode(su->pdata, su->req.pdata_len, &msg))
		w = find_wire(ep->kdev, msg.peer_qpn);
	if (w && claim_wire(w, ep, &msg)) {
		ok = accept_wire(w, ep);
		if (!ok)
			unclaim_wire(w, ep);
	}
	if (w)
		put_wire(w);
	if (ok)
		return KWARP_CME_ACCEPT;
	ep->status = -ECONNREFUSED;
	kwarp_cm_mpa_reject(ep, NULL, 0);
	return KWARP_CME_REJECT;
}

/* -------------------------------------------------------------- connecting */

static bool connects(const struct kwarp_wire *w)
{
	return kwarp_pair_order(&w->pair) < 0;
}

static u32 next_pause(struct kwarp_wire *w)
{
	lockdep_assert_held(&w->lock);
	w->pause_ms = clamp(2 * w->pause_ms, KWARP_WIRE_RETRY_MS, KWARP_WIRE_RETRY_MAX_MS);
	return w->pause_ms;
}

static void schedule_wire(struct kwarp_wire *w)
{
	u32 ms = LOOK_MS;

	lockdep_assert_held(&w->lock);
	if (w->dead || w->state > WIRE_BUSY)
		return;
	if (w->state == WIRE_WAITS && connects(w))
		ms = w->pair.own.sends ? min(next_pause(w), LOOK_MS) : next_pause(w);
	else if (!w->pair.own.sends)
		return;
	mod_delayed_work(kwarp_wq, &w->work, msecs_to_jiffies(ms));
}

/* The attempt has failed. */
static void keep_socket(struct kwarp_wire *w, struct kwarp_ep *ep)
{
	lockdep_assert_held(&ep->mutex);
	kwarp_cm_sock_reset(&ep->cs);
	spin_lock(&w->lock);
	if (!w->dead)
		swap(w->sock, ep->cs.sock);
	spin_unlock(&w->lock);
}

static void keep_socket_of(struct kwarp_wire *w)
{
	struct kwarp_ep *ep = kwarp_ep_find(w->kdev, &w->id);

	if (!ep)
		return;
	keep_socket(w, ep);
	kwarp_ep_put(ep);
}

/*
 * What the endpoint tells iw_cm. Context: ep->mutex held. Only the endpoint's last event lets
 * another endpoint have the queue pair; CLOSE also follows a failed ESTABLISHED.
 */
static int wire_event(struct iw_cm_id *id, struct iw_cm_event *event)
{
	struct kwarp_wire *w = to_wire(id);

	if (event->event == IW_CM_EVENT_CONNECT_REPLY && event->status)
		keep_socket_of(w);
	spin_lock(&w->lock);
	if (w->dead || (event->event == IW_CM_EVENT_ESTABLISHED && event->status))
		goto out;
	if (!event->status && event->event != IW_CM_EVENT_CLOSE) {
		w->state = WIRE_UP;
		w->say_est = !w->pair.own.sends;
		mod_delayed_work(kwarp_wq, &w->work, 0);
	} else if (w->state == WIRE_UP || kwarp_qp_state(w->qp) != KWARP_QPS_IDLE) {
		w->state = WIRE_OVER;
	} else if (w->state == WIRE_BUSY) {
		w->state = WIRE_WAITS;
		schedule_wire(w);
	}
out:
	spin_unlock(&w->lock);
	return 0;
}

static int connect_start(struct kwarp_wire *w, struct kwarp_ep *ep)
{
	u32 port = READ_ONCE(w->kdev->knobs.wire_port);
	struct kwarp_startup *su = ep->su;
	int ret;

	if (!port)
		return -ENODEV;
	kwarp_qp_get(w->qp);
	kwarp_ep_take_qp(ep, w->qp);
	if (kwarp_qp_state(w->qp) != KWARP_QPS_IDLE)
		return -EINVAL;
	ep->vet = vet_reply;
	ep->ifindex = w->kdev->netdev->ifindex;
	su->params.rev = 2;
	su->params.p2p = true;
	su->params.rtr = KWARP_RTR_WRITE;
	su->params.ird = w->ird;
	su->give_up = jiffies + READ_ONCE(w->kdev->knobs.connect_timeout) * HZ;
	set_addr(&w->id.m_remote_addr, w->pair.peer_addr, port);
	spin_lock(&w->lock);
	swap(w->sock, ep->cs.sock);
	spin_unlock(&w->lock);
	/* TCP has refused to give up a connection, so the socket is gone. */
	if (!ep->cs.sock)
		return -ENOTSOCK;
	ret = kwarp_cm_sock_connect(w->kdev, &w->id, ep->ifindex, &ep->cs);
	if (ret) {
		keep_socket(w, ep);
		return ret;
	}
	spin_lock(&w->lock);
	su->params.ord = w->pair.own.sends ? w->ord : KWARP_MAX_ORD;
	su->own_pdata_len = kwarp_pair_encode(su->own_pdata, &w->pair.own);
	if (w->dead)
		ret = -ECANCELED;
	else
		kwarp_ep_set_id(ep, &w->id);
	spin_unlock(&w->lock);
	return ret;
}

static int make_endpoint(struct kwarp_wire *w)
{
	/* This may be a work item: do not wait for the program's memory, see sock_io.c. */
	unsigned int noreclaim = memalloc_noreclaim_save();
	struct kwarp_ep *ep = kwarp_ep_create(w->kdev, NULL);
	int ret = PTR_ERR_OR_ZERO(ep);

	if (!ret) {
		kwarp_ep_lock(ep);
		ret = connect_start(w, ep);
	}
	memalloc_noreclaim_restore(noreclaim);
	if (IS_ERR(ep))
		return ret;
	kwarp_ep_apply(ep, ret ? KWARP_CME_LOCAL : KWARP_CME_CONNECT);
	kwarp_ep_unlock_put(ep);
	return ret;
}

/* w->state is BUSY. */
static void connect_wire(struct kwarp_wire *w)
{
	struct mem_cgroup *payer = kwarp_cm_process_memcg(w->id.provider_data), *old;
	int ret;

	/* This may be a kernel thread: charge the program. */
	old = set_active_memcg(payer);
	ret = make_endpoint(w);
	set_active_memcg(old);
	mem_cgroup_put(payer);
	if (!ret)
		return;
	ibdev_dbg_ratelimited(&w->kdev->ibdev, "wired queue pair %u cannot connect: %d\n",
			      w->pair.own.qpn, ret);
	spin_lock(&w->lock);
	if (w->state == WIRE_BUSY)
		w->state = WIRE_WAITS;
	spin_unlock(&w->lock);
}

/* End the endpoint in startup; with @event ABORT also in later states. */
static void end_endpoint(struct kwarp_wire *w, enum kwarp_cm_event event)
{
	struct kwarp_ep *ep = kwarp_ep_find(w->kdev, &w->id);

	if (!ep)
		return;
	kwarp_ep_lock(ep);
	if (ep->cm_id == &w->id) {
		ep->status = -ECONNABORTED;
		kwarp_ep_apply(ep, event);
	}
	kwarp_ep_unlock_put(ep);
}

static bool is_late(struct kwarp_wire *w)
{
	lockdep_assert_held(&w->lock);
	if (w->dead || w->state > WIRE_BUSY || !w->pair.own.sends)
		return false;
	if (!kwarp_qp_has_sends(w->qp)) {
		w->counting = false;
		return false;
	}
	if (!w->counting) {
		w->counting = true;
		w->give_up = jiffies + msecs_to_jiffies(w->limit_ms);
	}
	return time_after_eq(jiffies, w->give_up);
}

/* Do what is due now. Context: process. */
static void run_wire(struct kwarp_wire *w)
{
	bool late, connect;

	spin_lock(&w->lock);
	late = is_late(w);
	if (late)
		w->state = WIRE_OVER;
	connect = !w->dead && w->state == WIRE_WAITS && connects(w);
	if (connect)
		w->state = WIRE_BUSY;
	spin_unlock(&w->lock);
	if (late) {
		end_endpoint(w, KWARP_CME_NO_QP);
		kwarp_qp_give_up(w->qp);
	}
	if (connect)
		connect_wire(w);
	spin_lock(&w->lock);
	schedule_wire(w);
	spin_unlock(&w->lock);
}

/* Calls the consumer's handler, so the consumer must not be in a call of a verb. */
static void tell_consumer(struct kwarp_wire *w)
{
	bool est;

	spin_lock(&w->lock);
	est = w->say_est;
	w->say_est = false;
	spin_unlock(&w->lock);
	if (est)
		kwarp_qp_say_established(w->qp);
}

static void wire_work(struct work_struct *work)
{
	struct kwarp_wire *w = container_of(to_delayed_work(work), struct kwarp_wire, work);
	/* A storage protocol may wait for the connection, to write out memory: no I/O here. */
	unsigned int noio = memalloc_noio_save();

	tell_consumer(w);
	run_wire(w);
	memalloc_noio_restore(noio);
}

/* ------------------------------------------------------- called by the verbs */

static void kill_socket(struct kwarp_wire *w)
{
	struct kwarp_cm_sock last = { .sock = w->sock };

	kwarp_cm_sock_kill(&last);
}

/**
 * kwarp_cm_wire - wire a queue pair (modify to RTR)
 * @qp: queue pair without a stream; the caller keeps it until kwarp_cm_unwire()
 * @to: what it is wired to
 * @wire: result
 *
 * Context: process; does not wait for the peer.
 * Return: 0; -EINVAL: to itself; -ENOMEM; another errno of a new TCP socket.
 */
int kwarp_cm_wire(struct kwarp_qp *qp, const struct kwarp_wiring *to, struct kwarp_wire **wire)
{
	const struct ib_qp *ibqp = kwarp_qp_ib(qp);
	struct kwarp_wire *w;
	int ret = 0;

	might_sleep();
	if (!kwarp_pair_order(&to->pair))
		return -EINVAL;
	w = kzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);
	if (!w)
		return -ENOMEM;
	kref_init(&w->kref);
	spin_lock_init(&w->lock);
	INIT_DELAYED_WORK(&w->work, wire_work);
	w->kdev = to_kdev(ibqp->device);
	w->qp = qp;
	w->pair = to->pair;
	w->ird = to->ird;
	w->rnr_us = to->rnr_us;
	w->id.device = ibqp->device;
	w->id.event_handler = wire_event;
	w->id.add_ref = add_id_ref;
	w->id.rem_ref = put_id_ref;
	w->id.tos = to->tos;
	w->id.tos_set = to->tos;
	set_addr(&w->id.local_addr, to->pair.addr, 0);
	w->id.m_local_addr = w->id.local_addr;
	set_addr(&w->id.remote_addr, to->pair.peer_addr, 0);
	w->id.provider_data = kwarp_caller_get(qp);
	if (connects(w))
		ret = kwarp_cm_sock_create(w->kdev, w->id.local_addr.ss_family, &w->sock);
	if (!ret)
		ret = xa_insert(&w->kdev->cm.wires, ibqp->qp_num, w, GFP_KERNEL);
	if (ret) {
		kill_socket(w);
		put_wire(w);
		/* What a new socket fails with if there is no memory for it. */
		return ret == -ENOBUFS || ret == -ENFILE ? -ENOMEM : ret;
	}
	*wire = w;
	run_wire(w);
	return 0;
}

/**
 * kwarp_cm_wire_sends - the consumer of a wired queue pair may send (modify to RTS)
 * @w: wire
 * @s: what has become known with that
 *
 * Context: process; does not wait for the peer.
 * Return: 0; -EINVAL: the peer, which has connected, expects another PSN.
 */
int kwarp_cm_wire_sends(struct kwarp_wire *w, const struct kwarp_wire_sends *s)
{
	int ret = 0;

	spin_lock(&w->lock);
	if (w->heard && w->state != WIRE_WAITS && w->expected != s->sq_psn) {
		ret = -EINVAL;
	} else {
		w->pair.own.sends = true;
		w->pair.own.sq_psn = s->sq_psn;
		w->pair.own.rnr_retry = s->rnr_retry;
		w->ord = s->ord;
		w->limit_ms = clamp(s->limit_ms, KWARP_WIRE_MIN_MS, KWARP_WIRE_MAX_MS);
		w->pause_ms = 0;
	}
	spin_unlock(&w->lock);
	if (!ret)
		run_wire(w);
	return ret;
}

/*
 * The queue pair is not wired any more; if it has a stream, the stream ends. No stream is attached
 * by this wire after the call. Context: process, no lock of the queue pair's held but @wiring.
 */
void kwarp_cm_unwire(struct kwarp_wire *w)
{
	might_sleep();
	spin_lock(&w->lock);
	w->dead = true;
	spin_unlock(&w->lock);
	xa_erase(&w->kdev->cm.wires, w->pair.own.qpn);
	cancel_delayed_work_sync(&w->work);
	/* In the states of startup NO_QP ends the endpoint at once; ABORT ends a stream. */
	end_endpoint(w, KWARP_CME_NO_QP);
	end_endpoint(w, KWARP_CME_ABORT);
	/* No endpoint gives it back any more. */
	kill_socket(w);
	put_wire(w);
}

/* --------------------------------------------------------------- listening */

struct kwarp_wire_port {
	struct iw_cm_id id;
	struct kref kref;
};

static void release_port(struct kref *kref)
{
	kfree(container_of(kref, struct kwarp_wire_port, kref));
}

static void add_port_ref(struct iw_cm_id *id)
{
	kref_get(&container_of(id, struct kwarp_wire_port, id)->kref);
}

static void put_port_ref(struct iw_cm_id *id)
{
	kref_put(&container_of(id, struct kwarp_wire_port, id)->kref, release_port);
}

static void close_ports(struct kwarp_wire_port *p[2])
{
	int i;

	for (i = 0; i < 2; i++) {
		if (!p[i])
			continue;
		kwarp_listener_destroy(p[i]->id.provider_data);
		put_port_ref(&p[i]->id);
		p[i] = NULL;
	}
}

static int open_port(struct kwarp_dev *kdev, int family, u32 port, struct kwarp_wire_port **res)
{
	struct kwarp_wire_port *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int ret;

	if (!p)
		return -ENOMEM;
	kref_init(&p->kref);
	p->id.device = &kdev->ibdev;
	p->id.add_ref = add_port_ref;
	p->id.rem_ref = put_port_ref;
	p->id.afonly = true;
	p->id.local_addr.ss_family = family;
	set_port(&p->id.local_addr, port);
	ret = kwarp_listener_create(&p->id, KWARP_MAX_BACKLOG, answer);
	if (ret)
		put_port_ref(&p->id);
	else
		*res = p;
	return ret;
}

static int open_ports(struct kwarp_dev *kdev, u32 port, struct kwarp_wire_port *p[2])
{
	int ret = open_port(kdev, AF_INET, port, &p[0]);

	if (ret)
		return ret;
	ret = open_port(kdev, AF_INET6, port, &p[1]);
	if (ret == -EAFNOSUPPORT)	/* a kernel without IPv6, or IPv6 is off */
		return 0;
	if (ret)
		close_ports(p);
	return ret;
}

/* "ss -K" may have closed the socket. */
static bool is_open(struct kwarp_wire_port *p)
{
	struct kwarp_listener *l = p->id.provider_data;
	bool open;

	mutex_lock(&l->mutex);
	open = l->cs.sock;
	mutex_unlock(&l->mutex);
	return open;
}

static bool listens_on(struct kwarp_dev *kdev, u32 port)
{
	struct kwarp_wire_port *v4 = kdev->cm.port[0], *v6 = kdev->cm.port[1];

	lockdep_assert_held(&kdev->cm.port_mutex);
	return port == kdev->knobs.wire_port && v4 && is_open(v4) && (!v6 || is_open(v6));
}

static int listen_on(struct kwarp_dev *kdev, u32 port)
{
	struct kwarp_wire_port *p[2] = { };
	int ret = 0;

	lockdep_assert_held(&kdev->cm.port_mutex);
	if (listens_on(kdev, port))
		return 0;
	/* One of the two may still be open: it has the port. */
	if (port == kdev->knobs.wire_port)
		close_ports(kdev->cm.port);
	if (port)
		ret = open_ports(kdev, port, p);
	if (ret)
		return ret;
	swap(p[0], kdev->cm.port[0]);
	swap(p[1], kdev->cm.port[1]);
	WRITE_ONCE(kdev->knobs.wire_port, port);
	close_ports(p);
	return 0;
}

/**
 * kwarp_cm_wire_listen - listen for peers of wired queue pairs
 * @kdev: device
 * @port: TCP port; 0: do not listen any more
 *
 * Context: process.
 * Return: 0; or an errno, -EADDRINUSE for a port in use, and nothing has changed; but a listener on
 * the same @port, of which something has closed a socket, is closed then.
 */
int kwarp_cm_wire_listen(struct kwarp_dev *kdev, u32 port)
{
	int ret;

	might_sleep();
	mutex_lock(&kdev->cm.port_mutex);
	ret = listen_on(kdev, port);
	mutex_unlock(&kdev->cm.port_mutex);
	return ret;
}

/**
 * kwarp_cm_wire_begin - listen on the port of the knob wire_port
 * @kdev: new device, whose knob may have been set already
 *
 * Context: process.
 */
void kwarp_cm_wire_begin(struct kwarp_dev *kdev)
{
	might_sleep();
	mutex_lock(&kdev->cm.port_mutex);
	listen_on(kdev, READ_ONCE(kdev->knobs.wire_port));
	mutex_unlock(&kdev->cm.port_mutex);
}
