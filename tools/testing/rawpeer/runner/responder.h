/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: what cases share in which the raw peer is the Responder of the start-up.
 */
#ifndef RAWPEER_RESPONDER_H
#define RAWPEER_RESPONDER_H

#include "runner/start.h"

/* The consumer connects; its Request is in r->asked. */
bool rp_called(struct rp *r, unsigned int ird, unsigned int ord);
/* A Reply that takes what the Request offers, with a Write as RTR. */
void rp_good_reply(struct rp *r, struct kwraw_mpa *m);
/* Only the end of the connection comes, and the consumer gets an error. */
void rp_failed_with(struct rp *r, const char *event, const char *what, int n);
/* The RTR, octet by octet: its STag is 1, since some hardware refuses 0. */
void rp_take_rtr(struct rp *r, bool read);
/* Send this Reply; the connection has to be established, and the RTR to come. */
void rp_up_with(struct rp *r, struct kwraw_mpa *m, bool read);
/* Messages both ways. */
void rp_exchange_as_responder(struct rp *r);

#endif /* RAWPEER_RESPONDER_H */
