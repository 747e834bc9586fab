/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: what cases share in which the raw peer is the Responder of the startup. The RTR
 * (RFC 6581 section 9.2) is the FPDU that the device, as Initiator, sends first.
 *
 * The raw peer (kwrawpeer) speaks iWARP over a plain socket. The consumer (kwtarget) is an RDMA
 * program on the device under test.
 */
#ifndef RAWPEER_RESPONDER_H
#define RAWPEER_RESPONDER_H

#include "runner/start.h"

/* The consumer connects, with this IRD and ORD. Its Request is in r->asked. */
bool rp_called(struct rp *r, unsigned int ird, unsigned int ord);
/* A Reply that agrees to the IRD and ORD of the Request. The RTR, if there is one, is a Write. */
void rp_good_reply(struct rp *r, struct kwraw_mpa *m);
/*
 * After a Reply only the end of the connection may come, and the consumer has to get this event.
 * @what, @n: see rp_again().
 */
void rp_failed_with(struct rp *r, const char *event, const char *what, int n);
/*
 * Receive the RTR and compare every octet of it: a Read Request if @read is set, else a Write. Its
 * STag is 1, since some hardware refuses 0.
 */
void rp_take_rtr(struct rp *r, bool read);
/*
 * Send this Reply. The consumer has to be connected, and the RTR has to come if the Reply has flag
 * A. @read: see rp_take_rtr().
 */
void rp_up_with(struct rp *r, struct kwraw_mpa *m, bool read);
/* Exchange two messages: a Send of the device, and a Send of the raw peer. */
void rp_exchange_as_responder(struct rp *r);

#endif /* RAWPEER_RESPONDER_H */
