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

#include "../../ended.h"
#include "../../qp/stream.h"
#include "../../wq.h"

#include "../cm.h"
#include "../cm_sock.h"
#include "../ep.h"
#include "../sock_io.h"
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
	bool sends;
	int given_up;
	int established;
};

enum fake_iw_state { FAKE_IDLE, FAKE_SENT, FAKE_RECV, FAKE_ESTABLISHED, FAKE_CLOSING };

/*
 * @refs: references; the test has one
 * @state: state of the id, as in iwcm.c
 * @pdata: private data of the last queued event that had private data
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
	u32 more_ird;
	u32 more_ord;
	u8 pdata_len;
	u8 pdata[U8_MAX];
};

/*
 * @sock: the socket made last; NULL after its end
 * @owed: number of Requests that the listener counts as not answered, though they have no endpoint
 * @bug: the last thing that the code under test did wrong; NULL: nothing
 * @told: the last record of a startup that has failed
 * @start_err: error that the next start of a TCP connect returns
 * @reply_nomem: iw_cm has no memory for the next event with private data
 * @connected: TCP connects are complete at once
 * @here: every address is one of this host
 * @listens: number of listeners that wire.c has
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
	struct kwarp_ended told;
	struct fake_sock *sock;
	int socks;
	int connects;
	int requests;
	int owed;
	void *provider_data;
	u8 pdata[U8_MAX];
	u8 pdata_len;
	const char *bug;
	int start_err;
	bool reply_nomem;
	int request_err;
	bool no_memory;
	bool no_readqs;
	bool no_sock;
	bool connected;
	bool caller_ends;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	bool here;
	int listens;
	int listen_err;
	u16 listen_port;
	int tos;
};

extern struct fake fake;

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
