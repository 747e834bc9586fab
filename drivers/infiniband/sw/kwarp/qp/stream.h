/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What connection management may do with a queue pair: hand it a socket that has
 * finished MPA startup, and hear how the stream goes on.
 */
#ifndef KWARP_QP_STREAM_H
#define KWARP_QP_STREAM_H

#include <linux/types.h>

#include "../engine/params.h"
#include "../proto/qp_fsm.h"

struct kwarp_dev;
struct list_head;
struct kwarp_qp;
struct socket;

enum kwarp_stream_event {
	/*
	 * Responder, if asked for: the first FPDU came and is valid.  At most once, before
	 * DOWN.
	 */
	KWARP_STREAM_ESTABLISHED,
	/* The peer has half-closed; what was posted is still being sent. At most once. */
	KWARP_STREAM_PEER_CLOSED,
	/*
	 * The stream is over: the QP is in error, every request is flushed, our last
	 * octets were given to TCP, socket callbacks are restored and the QP will
	 * never touch the socket again.  Exactly once, last.
	 */
	KWARP_STREAM_DOWN,
};

/**
 * struct kwarp_stream_ops - upcalls into connection management
 * @event: process context, no locks held; events of one QP are serialised.  @graceful (DOWN
 *	only): both directions ended cleanly from our side, a FIN has been sent and the peer's FIN
 *	may be waited for; if false after an error the connection is best closed at once (the
 *	Terminate, if any, is already with TCP, so close with FIN, not RST).
 */
struct kwarp_stream_ops {
	void (*event)(void *ep, enum kwarp_stream_event event, bool graceful);
};

/**
 * kwarp_qp_lookup - find a queue pair by number
 * @kdev: device
 * @qpn: number
 *
 * Return: the QP with a reference that the caller gives back with kwarp_qp_put(),
 * or NULL.
 */
struct kwarp_qp *kwarp_qp_lookup(struct kwarp_dev *kdev, u32 qpn);
void kwarp_qp_get(struct kwarp_qp *qp);
void kwarp_qp_put(struct kwarp_qp *qp);
bool kwarp_qp_may_connect(const struct kwarp_qp *qp);
struct ib_qp *kwarp_qp_ib(struct kwarp_qp *qp);
enum kwarp_qp_state kwarp_qp_state(struct kwarp_qp *qp);

/**
 * kwarp_qp_join - note who has chosen a QP
 * @qp: queue pair, referenced by the caller until kwarp_qp_leave()
 * @node: of the caller, who stays alive until kwarp_qp_leave()
 *
 * So the end of a QP concerns its own users only, however many the device has.
 *
 * Context: process.
 */
void kwarp_qp_join(struct kwarp_qp *qp, struct list_head *node);
void kwarp_qp_leave(struct kwarp_qp *qp, struct list_head *node);

/**
 * kwarp_qp_each_user - call a function for each user of a QP
 * @qp: queue pair
 * @fn: gets the user's node; called under a spinlock, may only set bits and queue work
 *
 * Context: process.
 */
void kwarp_qp_each_user(struct kwarp_qp *qp, void (*fn)(struct list_head *node));

/**
 * kwarp_qp_attach - enter Full Operation
 * @qp: queue pair in state IDLE; the caller's reference stays the caller's
 * @sock: connected socket; nothing behind the startup frames has been read from it.
 *	It stays the property of the caller, who releases it after DOWN.
 * @params: what was negotiated
 * @ops: upcalls
 * @ep: cookie for them; must stay valid until DOWN
 *
 * From success on, the QP owns sk_user_data and the callbacks of the socket until
 * DOWN.  Octets already queued in the socket are processed by the QP's work item.
 *
 * Context: process, may sleep; the caller's callbacks must have been restored, no
 * lock of the socket held.
 * Return: 0; -EINVAL if the QP is not IDLE; -ENOTCONN if the connection is gone; -EBUSY if
 * somebody else has put something into sk_user_data.
 * No memory is needed, so that a responder can have its Reply out before.  On failure
 * no event is ever raised and the socket is unchanged.
 */
int kwarp_qp_attach(struct kwarp_qp *qp, struct socket *sock,
		    const struct kwarp_stream_params *params,
		    const struct kwarp_stream_ops *ops, void *ep);

/**
 * kwarp_qp_close - ask for the end of the stream
 * @qp: queue pair, referenced by the caller
 * @graceful: send what was posted, then FIN; else flush at once
 *
 * Context: any.  DOWN follows if a stream is attached.
 */
void kwarp_qp_close(struct kwarp_qp *qp, bool graceful);

/**
 * kwarp_qp_begin_close - the same, and the caller carries it out
 * @qp: queue pair, referenced by the caller
 * @graceful: likewise
 *
 * Context: any; followed by kwarp_qp_run().
 */
void kwarp_qp_begin_close(struct kwarp_qp *qp, bool graceful);
void kwarp_qp_run(struct kwarp_qp *qp);

#endif /* KWARP_QP_STREAM_H */
