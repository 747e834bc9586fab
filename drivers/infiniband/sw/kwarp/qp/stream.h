/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What connection management may do with a queue pair: give it a socket on which MPA startup is
 * finished, and receive upcalls about the stream that begins then.
 */
#ifndef KWARP_QP_STREAM_H
#define KWARP_QP_STREAM_H

#include <linux/types.h>

#include "../engine/params.h"
#include "../proto/qp_fsm.h"

struct kwarp_dev;
struct kwarp_ended;
struct list_head;
struct kwarp_qp;
struct socket;

enum kwarp_stream_event {
	/*
	 * Responder, if kwarp_stream_params.say_first is set: the first FPDU has come in and is
	 * valid. At most once, before DOWN.
	 */
	KWARP_STREAM_ESTABLISHED,
	/*
	 * The peer has sent its FIN. This end may still have posted requests to send. At most once.
	 */
	KWARP_STREAM_PEER_CLOSED,
	/*
	 * The stream is over: the QP is in the error state, every request is flushed, the socket's
	 * callbacks are restored, and the QP will never touch the socket again, so it gives TCP no
	 * more octets. Exactly once per stream; the last event of the stream.
	 */
	KWARP_STREAM_DOWN,
};

/**
 * struct kwarp_stream_ops - upcalls into connection management
 * @event: process context, no locks held; events of one QP are serialised.  @graceful is for DOWN
 *	only.  True: a close, an abort of this end, or a Terminate of either end has ended the
 *	stream; wait for the peer's FIN, if it has not come.  False: the connection is lost; drop
 *	what the peer still sends, and close with FIN, not RST, because TCP may still have to
 *	deliver a Terminate.
 */
struct kwarp_stream_ops {
	void (*event)(void *ep, enum kwarp_stream_event event, bool graceful);
};

/**
 * kwarp_qp_lookup - find a queue pair by its number
 * @kdev: device
 * @qpn: number
 *
 * Context: any.
 * Return: the queue pair with a reference for kwarp_qp_put(); NULL: no queue pair has this number,
 * or it is being destroyed.
 */
struct kwarp_qp *kwarp_qp_lookup(struct kwarp_dev *kdev, u32 qpn);
void kwarp_qp_get(struct kwarp_qp *qp);
void kwarp_qp_put(struct kwarp_qp *qp);
bool kwarp_qp_may_connect(const struct kwarp_qp *qp);
struct ib_qp *kwarp_qp_ib(struct kwarp_qp *qp);
enum kwarp_qp_state kwarp_qp_state(struct kwarp_qp *qp);
bool kwarp_qp_has_sends(const struct kwarp_qp *qp);

void kwarp_qp_give_up(struct kwarp_qp *qp);
void kwarp_qp_say_established(struct kwarp_qp *qp);
void kwarp_qp_tell_no_start(struct kwarp_qp *qp, struct kwarp_ended *rec);

/**
 * kwarp_qp_join - put an endpoint into the queue pair's list
 * @qp: queue pair, referenced by the caller until kwarp_qp_leave()
 * @node: node of the endpoint, which exists until then
 *
 * With this list destroy_qp() finds the endpoints of the QP without a search through all endpoints
 * of the device.
 */
void kwarp_qp_join(struct kwarp_qp *qp, struct list_head *node);
void kwarp_qp_leave(struct kwarp_qp *qp, struct list_head *node);

/**
 * kwarp_qp_each_user - call a function for each endpoint of a queue pair
 * @qp: queue pair
 * @fn: called under a spinlock: may only set bits and queue work
 */
void kwarp_qp_each_user(struct kwarp_qp *qp, void (*fn)(struct list_head *node));

/**
 * kwarp_qp_attach - begin a stream on a socket (the RFCs' "Full Operation Phase")
 * @qp: queue pair in state IDLE; the caller keeps its reference
 * @sock: connected socket; only the startup frames have been read from it.
 *	It still belongs to the caller, who releases it after DOWN.
 * @params: result of the negotiation
 * @ops: upcalls
 * @ep: argument for the upcalls @ops; must stay valid until DOWN
 *
 * From success on, the QP owns sk_user_data and the callbacks of the socket until
 * DOWN.  Octets already queued in the socket are processed by the QP's work item.
 *
 * Context: process, may sleep; the caller has removed its own callbacks from the socket, and holds
 * no lock of the socket.
 * Return: 0; -EINVAL if the QP is not IDLE; -ENOTCONN if the connection is gone; -EBUSY if
 * sk_user_data is in use. This function allocates no memory: when a responder calls it, the MPA
 * Reply has been sent, so a lack of memory could not be reported to the peer any more. After a
 * failure no upcall is made and the socket is unchanged.
 */
int kwarp_qp_attach(struct kwarp_qp *qp, struct socket *sock,
		    const struct kwarp_stream_params *params,
		    const struct kwarp_stream_ops *ops, void *ep);

/**
 * kwarp_qp_abort - let a queue pair end its stream, and flush its requests
 * @qp: queue pair, referenced by the caller
 *
 * Context: any.  DOWN follows if a stream is attached.
 */
void kwarp_qp_abort(struct kwarp_qp *qp);

/**
 * kwarp_qp_begin_close - let a queue pair end its stream; the caller calls kwarp_qp_run() next
 * @qp: queue pair, referenced by the caller
 * @graceful: true: send all posted requests, then a FIN; false: flush the requests at once
 */
void kwarp_qp_begin_close(struct kwarp_qp *qp, bool graceful);
void kwarp_qp_run(struct kwarp_qp *qp);

#endif /* KWARP_QP_STREAM_H */
