/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: functions for cases in which the raw peer is the Responder of the startup. The RTR
 * (RFC 6581 section 9.2) is the FPDU that the device, as Initiator, sends first.
 */
#ifndef RAWPEER_RESPONDER_H
#define RAWPEER_RESPONDER_H

#include "runner/start.h"

/* Let the consumer connect with this IRD and ORD, and receive the device's Request in r->asked. */
bool rp_called(struct rp *r, unsigned int ird, unsigned int ord);
/*
 * Make a Reply that agrees to the IRD and ORD of the Request. If the Request asks for an RTR (flag
 * A), the Reply allows only an RTR that is a Write.
 */
void rp_good_reply(struct rp *r, struct kwraw_mpa *m);
/* Let the consumer connect with IRD and ORD of 4, and make such a Reply. */
bool rp_begin_reply(struct rp *r, struct kwraw_mpa *m);
/*
 * After the raw peer's Reply: check that the device ends the connection and sends nothing before,
 * and that the consumer gets @event. @what, @n: name of the connection in the message of a failure.
 */
void rp_failed_with(struct rp *r, const char *event, const char *what, int n);
/* Send this Reply, and check as rp_failed_with() does. */
void rp_reply_fails(struct rp *r, const struct kwraw_mpa *m, const char *event, const char *what,
		    int n);
/*
 * Receive the RTR and compare every octet of it: a Read Request if @read is set, else a Write. The
 * device has to use STag 1 in it, because some hardware refuses an RTR with STag 0.
 */
void rp_take_rtr(struct rp *r, bool read);
/*
 * Send this Reply. Check that the consumer's connection is established, and, if the Reply has flag
 * A, that the RTR comes. @read: see rp_take_rtr().
 */
void rp_up_with(struct rp *r, struct kwraw_mpa *m, bool read);
/* Exchange two messages: a Send of the device, and a Send of the raw peer. */
void rp_exchange_as_responder(struct rp *r);

#endif /* RAWPEER_RESPONDER_H */
