/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stand-ins for what connection management stands on: sockets, queue pairs, listeners and
 * iw_cm. To be included after the code under test.
 *
 * A socket has what the peer has said and keeps what it is told. A queue pair counts its
 * references. iw_cm is a model of the real one: it puts events into a queue, and each that
 * the real one would answer with BUG() sets fake.bug.
 */
#ifndef KWARP_CM_TESTS_FAKE_H
#define KWARP_CM_TESTS_FAKE_H

#define FAKE_QPS	2
#define FAKE_EVENTS	8
#define FAKE_QPN	10
#define FAKE_IFINDEX	7

struct fake_sock {
	struct kwarp_cm_sock *cs;
	int connect_err;
	u8 rx[1024];
	u32 rx_len;
	int rx_end;
	u8 tx[1024];
	u32 tx_len;
	u32 tx_room;
	int tx_err;
	bool fin;
	bool closed;
};

struct kwarp_qp {
	struct ib_qp ib;
	int refs;
	enum kwarp_qp_state state;
	bool may_connect;
	struct list_head users;
	int attach_err;
	const struct kwarp_stream_ops *ops;
	void *ep;
	bool say_first;
	bool aborted;
	bool closed;
};

enum fake_iw_state { FAKE_IDLE, FAKE_SENT, FAKE_RECV, FAKE_ESTABLISHED, FAKE_CLOSING };

/**
 * struct fake_id - an iw_cm_id and what iw_cm knows of it
 * @id: what the driver sees
 * @rdma: what is above
 * @refs: references; the test has one
 * @state: as in iwcm.c
 * @qp: it has a reference to it
 * @queue: events not handled yet
 * @queued: their number
 * @replies: CONNECT_REPLY events handled
 * @ests: ESTABLISHED events
 * @closes: CLOSE events
 * @status: of the last of them
 * @ird: of the last of them
 * @ord: of the last of them
 * @pd_len: of the last of them, octets
 */
struct fake_id {
	struct iw_cm_id id;
	struct rdma_cm_id rdma;
	int refs;
	enum fake_iw_state state;
	struct ib_qp *qp;
	struct iw_cm_event queue[FAKE_EVENTS];
	int queued;
	int replies;
	int ests;
	int closes;
	int status;
	u8 ird;
	u8 ord;
	u8 pd_len;
};

/**
 * struct fake - the world of a test
 * @kdev: device
 * @qp: queue pairs, of numbers from FAKE_QPN on
 * @uobject: what marks them as those of a program
 * @id: of the connection
 * @listener: where responders come from
 * @sock: the socket made last; NULL after its end
 * @socks: sockets there are
 * @dials: sockets dialled
 * @requests: CONNECT_REQUEST events
 * @provider_data: of the last of them
 * @bug: what the real iw_cm would have stopped the kernel for
 * @dial_err: answers of the stand-ins, once
 * @reply_nomem: likewise: iw_cm has no memory for private data
 * @request_err: likewise
 */
static struct fake {
	struct kwarp_dev *kdev;
	struct kwarp_qp qp[FAKE_QPS];
	int uobject;
	struct fake_id id;
	struct kwarp_listener listener;
	struct fake_sock *sock;
	int socks;
	int dials;
	int requests;
	void *provider_data;
	const char *bug;
	int dial_err;
	bool reply_nomem;
	int request_err;
} fake;

struct workqueue_struct *fake_wq, *fake_cm_wq;

static int once(int *err)
{
	int ret = *err;

	*err = 0;
	return ret;
}

/* --------------------------------------------------------------- sockets */

static struct fake_sock *to_fake(const struct socket *sock)
{
	return (struct fake_sock *)sock;
}

static struct socket *fake_socket(void)
{
	struct fake_sock *s = kzalloc(sizeof(*s), GFP_KERNEL);

	s->tx_room = sizeof(s->tx);
	fake.sock = s;
	fake.socks++;
	return (struct socket *)s;
}

const struct rdma_cm_id *kwarp_cm_rdma_id(const struct iw_cm_id *id)
{
	return id->context;
}

int kwarp_cm_iface(const struct kwarp_dev *kdev, const struct iw_cm_id *id)
{
	return FAKE_IFINDEX;
}

int kwarp_cm_sock_dial(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
		       struct kwarp_cm_sock *cs)
{
	int ret = once(&fake.dial_err);

	if (ret)
		return ret;
	if (ifindex != FAKE_IFINDEX)
		fake.bug = "another interface";
	fake.dials++;
	cs->sock = fake_socket();
	fake.sock->connect_err = -EINPROGRESS;
	return kwarp_cm_sock_hook(cs);
}

int kwarp_cm_sock_redial(struct kwarp_cm_sock *cs, const struct iw_cm_id *id, int ifindex)
{
	struct fake_sock *s = to_fake(cs->sock);
	int ret = once(&fake.dial_err);

	if (ret)
		return ret;
	if (ifindex != FAKE_IFINDEX)
		fake.bug = "another interface";
	fake.dials++;
	*s = (struct fake_sock) {
		.cs = s->cs,
		.tx_room = sizeof(s->tx),
		.connect_err = -EINPROGRESS,
	};
	return 0;
}

void kwarp_cm_sock_charge(struct socket *sock)
{
}

int kwarp_cm_sock_dialled(struct socket *sock, const struct iw_cm_id *id)
{
	return to_fake(sock)->connect_err;
}

int kwarp_cm_sock_hook(struct kwarp_cm_sock *cs)
{
	to_fake(cs->sock)->cs = cs;
	cs->hooked = true;
	return 0;
}

void kwarp_cm_sock_unhook(struct kwarp_cm_sock *cs)
{
	if (cs->hooked)
		to_fake(cs->sock)->cs = NULL;
	cs->hooked = false;
}

void kwarp_cm_sock_kill(struct kwarp_cm_sock *cs)
{
	struct fake_sock *s = to_fake(cs->sock);

	if (!s)
		return;
	kwarp_cm_sock_unhook(cs);
	cs->sock = NULL;
	if (fake.sock == s)
		fake.sock = NULL;
	fake.socks--;
	kfree(s);
}

void kwarp_cm_sock_fin(struct socket *sock)
{
	to_fake(sock)->fin = true;
}

int kwarp_cm_sock_recv(struct socket *sock, void *buf, u32 len, bool peek)
{
	struct fake_sock *s = to_fake(sock);
	u32 n = min(len, s->rx_len);

	if (!n)
		return s->rx_end > 0 ? 0 : s->rx_end ? s->rx_end : -EAGAIN;
	memcpy(buf, s->rx, n);
	if (!peek) {
		memmove(s->rx, s->rx + n, s->rx_len - n);
		s->rx_len -= n;
	}
	return n;
}

int kwarp_cm_sock_send(struct socket *sock, const void *buf, u32 len)
{
	struct fake_sock *s = to_fake(sock);
	u32 n = min3(len, s->tx_room, (u32)sizeof(s->tx) - s->tx_len);

	if (s->tx_err)
		return s->tx_err;
	if (!n)
		return -EAGAIN;
	memcpy(s->tx + s->tx_len, buf, n);
	s->tx_len += n;
	s->tx_room -= n;
	return n;
}

int kwarp_cm_sock_discard(struct socket *sock)
{
	int n = to_fake(sock)->rx_len;

	to_fake(sock)->rx_len = 0;
	return n;
}

bool kwarp_cm_sock_closed(const struct socket *sock)
{
	return to_fake(sock)->closed;
}

u32 kwarp_cm_sock_acked(const struct socket *sock)
{
	return 0;
}

bool kwarp_cm_sock_unacked(const struct socket *sock)
{
	return false;
}

void kwarp_cm_sock_names(struct socket *sock, struct sockaddr_storage *local,
			 struct sockaddr_storage *remote)
{
}

/* The peer, or TCP, has done something. */
static void sock_event(void)
{
	if (fake.sock && fake.sock->cs)
		fake.sock->cs->notify(fake.sock->cs);
}

/* ----------------------------------------------------------- queue pairs */

struct kwarp_qp *kwarp_qp_lookup(struct kwarp_dev *kdev, u32 qpn)
{
	struct kwarp_qp *qp = &fake.qp[qpn - FAKE_QPN];

	if (qpn < FAKE_QPN || qpn >= FAKE_QPN + FAKE_QPS)
		return NULL;
	qp->refs++;
	return qp;
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
	kwarp_readqs_fini(params->readqs);	/* taken over */
	qp->state = KWARP_QPS_RTS;
	qp->ops = ops;
	qp->ep = ep;
	qp->say_first = params->say_first;
	return 0;
}

/* The stream of a queue pair says something. */
static void stream_says(struct kwarp_qp *qp, enum kwarp_stream_event event, bool graceful)
{
	if (event == KWARP_STREAM_DOWN)
		qp->state = KWARP_QPS_ERROR;
	qp->ops->event(qp->ep, event, graceful);
}

void kwarp_qp_close(struct kwarp_qp *qp, bool graceful)
{
	if (qp->state != KWARP_QPS_RTS)
		return;
	qp->aborted = !graceful;
	qp->closed = true;
	stream_says(qp, KWARP_STREAM_DOWN, false);
}

/* ------------------------------------------------------------- listeners */

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

/* ----------------------------------------------------------------- iw_cm */

static struct fake_id *to_fake_id(struct iw_cm_id *id)
{
	return container_of(id, struct fake_id, id);
}

static void iw_add_ref(struct iw_cm_id *id)
{
	to_fake_id(id)->refs++;
}

static void iw_rem_ref(struct iw_cm_id *id)
{
	to_fake_id(id)->refs--;
}

/* kwarp_qp_rem_ref() may come as soon as iw_cm has what makes the id ESTABLISHED. */
static void iw_check_told(const struct iw_cm_event *event)
{
	const struct kwarp_ep *ep =
		list_first_entry_or_null(&fake.kdev->cm.eps, struct kwarp_ep, node);

	if (event->event != IW_CM_EVENT_ESTABLISHED &&
	    (event->event != IW_CM_EVENT_CONNECT_REPLY || event->status))
		return;
	if (!ep || !ep->told)
		fake.bug = "established, and the endpoint does not say so";
}

/* cm_event_handler() */
static int iw_event(struct iw_cm_id *id, struct iw_cm_event *event)
{
	struct fake_id *f = to_fake_id(id);

	iw_check_told(event);
	if (event->private_data_len && fake.reply_nomem) {
		fake.reply_nomem = false;
		return -ENOMEM;
	}
	if (f->queued == FAKE_EVENTS) {
		fake.bug = "too many events";
		return -ENOMEM;
	}
	f->queue[f->queued++] = *event;
	return 0;
}

static int iw_request(struct iw_cm_id *id, struct iw_cm_event *event)
{
	int ret = once(&fake.request_err);

	if (ret)
		return ret;
	fake.requests++;
	fake.provider_data = event->provider_data;
	return 0;
}

static void iw_drop_qp(struct fake_id *f)
{
	if (f->qp)
		kwarp_qp_rem_ref(f->qp);
	f->qp = NULL;
}

/* process_event() */
static void iw_process(struct fake_id *f, const struct iw_cm_event *event)
{
	f->status = event->status;
	f->ird = event->ird;
	f->ord = event->ord;
	f->pd_len = event->private_data_len;
	switch (event->event) {
	case IW_CM_EVENT_CONNECT_REPLY:
		f->replies++;
		if (f->state != FAKE_SENT)
			fake.bug = "CONNECT_REPLY without a connect";
		f->state = event->status ? FAKE_IDLE : FAKE_ESTABLISHED;
		if (event->status)
			iw_drop_qp(f);
		break;
	case IW_CM_EVENT_ESTABLISHED:
		f->ests++;
		if (f->state != FAKE_RECV)
			fake.bug = "ESTABLISHED without an accept";
		f->state = FAKE_ESTABLISHED;
		break;
	case IW_CM_EVENT_CLOSE:
		f->closes++;
		if (f->state != FAKE_ESTABLISHED && f->state != FAKE_CLOSING)
			fake.bug = "CLOSE of what is not established";
		f->state = FAKE_IDLE;
		iw_drop_qp(f);
		break;
	default:
		fake.bug = "unknown event";
	}
}

/* Everything that is queued anywhere has been done. */
static void settle(void)
{
	struct fake_id *f = &fake.id;
	int i;

	flush_workqueue(fake_cm_wq);
	for (i = 0; i < f->queued; i++)
		iw_process(f, &f->queue[i]);
	f->queued = 0;
	flush_workqueue(fake_cm_wq);
}

static struct iw_cm_conn_param iw_param(u32 qpn)
{
	return (struct iw_cm_conn_param){ .qpn = qpn, .ird = 1, .ord = 1 };
}

/* iw_cm_connect() */
static int iw_connect(u32 qpn)
{
	struct iw_cm_conn_param param = iw_param(qpn);
	struct fake_id *f = &fake.id;
	int ret;

	f->state = FAKE_SENT;
	f->qp = kwarp_get_qp(&fake.kdev->ibdev, qpn);
	ret = kwarp_cm_connect(&f->id, &param);
	if (ret) {
		f->state = FAKE_IDLE;
		iw_drop_qp(f);
	}
	return ret;
}

/* iw_cm_accept(), which forgets the queue pair of an accept before. */
static int iw_accept(u32 qpn)
{
	struct iw_cm_conn_param param = iw_param(qpn);
	struct fake_id *f = &fake.id;
	int ret;

	f->qp = kwarp_get_qp(&fake.kdev->ibdev, qpn);
	ret = kwarp_cm_accept(&f->id, &param);
	if (ret) {
		f->state = FAKE_IDLE;
		iw_drop_qp(f);
	}
	return ret;
}

/* iw_cm_reject() */
static int iw_reject(void)
{
	fake.id.state = FAKE_IDLE;
	return kwarp_cm_reject(&fake.id.id, NULL, 0);
}

/* iw_cm_disconnect() once the id is established, on the queue pair that it has then. */
static int iw_disconnect(bool abrupt)
{
	if (!kwarp_cm_is_stand_in(fake.id.qp) || fake.id.qp->real_qp != fake.id.qp)
		fake.bug = "iw_cm has a queue pair itself";
	return kwarp_cm_modify_stand_in(fake.id.qp, !abrupt);
}

#endif /* KWARP_CM_TESTS_FAKE_H */
