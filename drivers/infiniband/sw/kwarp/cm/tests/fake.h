/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fakes for tests of connection management: sockets (fake_sock.c), queue pairs (fake_qp.c) and
 * iw_cm (fake_iw.c).
 *
 * A fake socket has the octets that the peer has sent, and keeps the octets that the code under
 * test sends. A fake queue pair counts its references. The fake iw_cm queues events. The fakes set
 * fake.bug when the code under test does what it must not, such as what makes iw_cm BUG().
 */
#ifndef KWARP_CM_TESTS_FAKE_H
#define KWARP_CM_TESTS_FAKE_H

#include <kunit/test.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>

/* Rename the fakes: other suites in the same module may define functions of the same names. */
#define kwarp_wq		fake_wq
#define kwarp_cm_wq		fake_cm_wq
#define kwarp_qp_lookup		fake_qp_lookup
#define kwarp_qp_get		fake_qp_get
#define kwarp_qp_put		fake_qp_put
#define kwarp_qp_may_connect	fake_qp_may_connect
#define kwarp_qp_ib		fake_qp_ib
#define kwarp_qp_state		fake_qp_state
#define kwarp_qp_join		fake_qp_join
#define kwarp_qp_leave		fake_qp_leave
#define kwarp_qp_each_user	fake_qp_each_user
#define kwarp_qp_attach		fake_qp_attach
#define kwarp_qp_close		fake_qp_close
#define kwarp_qp_begin_close	fake_qp_begin_close
#define kwarp_qp_run		fake_qp_run
#include "../../qp/stream.h"

#include "../cm.h"
#include "../cm_sock.h"
#include "../ep.h"
#include "../sock_io.h"
#include "../sock_memcg.h"
#include "../stand_in.h"
#include "../startup.h"

#define FAKE_QPS	2
#define FAKE_EVENTS	8
#define FAKE_QPN	10
#define FAKE_IFINDEX	7
#define FAKE_QUEUED	3

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
	unsigned int tx_flags;
	bool fin, closed;
};

struct kwarp_qp {
	struct ib_qp ib;
	int refs;
	enum kwarp_qp_state state;
	bool may_connect;
	struct list_head users;
	int attach_err;
	struct kwarp_stream_params params;
	const struct kwarp_stream_ops *ops;
	void *ep;
	struct work_struct work;
	bool ending;
	bool aborted;
	bool closed;
};

enum fake_iw_state { FAKE_IDLE, FAKE_SENT, FAKE_RECV, FAKE_ESTABLISHED, FAKE_CLOSING };

/**
 * struct fake_id - an iw_cm_id and what iw_cm knows of it
 * @id: the id that the code under test gets
 * @rdma: rdma_cm's id
 * @refs: references; the test has one
 * @state: state of the id, as in iwcm.c
 * @qp: stand-in: the object that iw_cm gets instead of a queue pair; NULL: iw_cm has none
 * @queue: events not handled yet
 * @queued: number of events in @queue
 * @replies: CONNECT_REPLY events handled
 * @ests: ESTABLISHED events handled
 * @closes: CLOSE events handled
 * @status: status of the last event handled
 * @ird: IRD of the last event handled
 * @ord: ORD of the last event handled
 * @pd_len: private data of the last event handled, octets
 * @pd: private data of the last queued event that had private data
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
	u8 pd[U8_MAX];
};

/**
 * struct fake - the environment of a test
 * @kdev: device
 * @qp: queue pairs, with numbers from FAKE_QPN on
 * @uobject: marks the queue pairs as those of a program
 * @id: id of the connection
 * @listener: listener from which the responders' endpoints come
 * @notice: last log line of a connection
 * @notice_peer: peer named in that line
 * @sock: the socket made last; NULL after its end
 * @socks: number of sockets that exist
 * @dials: number of TCP connects that were started
 * @requests: CONNECT_REQUEST events
 * @owed: number of Requests that the listener counts as not answered, though they have no endpoint
 * @provider_data: provider_data of the last CONNECT_REQUEST
 * @pd: private data of the last CONNECT_REQUEST
 * @pd_len: octets of @pd
 * @bug: the last thing that the code under test did wrong; NULL: nothing
 * @dial_err: error that the next start of a TCP connect returns
 * @reply_nomem: iw_cm has no memory for the next event with private data
 * @request_err: error that iw_cm returns for the next CONNECT_REQUEST
 * @no_memory: there is no memory for stand-ins (cm_qp.c)
 * @no_readqs: there is no memory for the queues of Read requests
 * @connected: TCP connects are complete at once
 * @caller_ends: the process that connects or accepts is ending
 */
struct fake {
	struct kwarp_dev *kdev;
	struct kwarp_qp qp[FAKE_QPS];
	int uobject;
	struct fake_id id;
	struct kwarp_listener listener;
	const char *notice;
	struct sockaddr_storage notice_peer;
	struct fake_sock *sock;
	int socks;
	int dials;
	int requests;
	int owed;
	void *provider_data;
	u8 pd[U8_MAX];
	u8 pd_len;
	const char *bug;
	int dial_err;
	bool reply_nomem;
	int request_err;
	bool no_memory;
	bool no_readqs;
	bool connected;
	bool caller_ends;
};

extern struct fake fake;
extern struct workqueue_struct *fake_wq, *fake_cm_wq;

/* Return: 0, or the error that the test has set for a fake call; an error is returned once. */
static inline int once(int *err)
{
	int ret = *err;

	*err = 0;
	return ret;
}

/* functions of fake_sock.c */
struct socket *ct_fake_socket(void);
void ct_sock_event(void);

/* functions of fake_iw.c */
void ct_iw_init(struct fake_id *f);
int ct_iw_request(struct iw_cm_id *id, struct iw_cm_event *event);
void ct_iw_process_all(void);
void ct_iw_drop_qp(struct fake_id *f);
int ct_iw_connect(u32 qpn);
int ct_iw_accept(u32 qpn);
int ct_iw_reject(void);
int ct_iw_disconnect(bool abrupt);

/* functions of fake_qp.c */
void ct_qp_work(struct work_struct *work);
void ct_stream_says(struct kwarp_qp *qp, enum kwarp_stream_event event, bool graceful);

#endif /* KWARP_CM_TESTS_FAKE_H */
