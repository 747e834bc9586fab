/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* kwrawpeer: functions for cases in which the raw peer is the Initiator of the startup. */
#ifndef RAWPEER_INITIATOR_H
#define RAWPEER_INITIATOR_H

#include "runner/start.h"

/* Value of a length of private data (@told) that accepts any length. */
#define RP_ANY_LENGTH	9999

/**
 * struct rp_offer - a Request, and the Reply that has to come
 * @rev, @flags: of the Request; C (CRC) and M (markers) are added as the command line says
 * @pd_len: octets of private data, without IRD and ORD
 * @ird, @ord: if flag S of the Request is set: its half words for IRD and ORD, with flags A to D
 *	(RFC 6581)
 * @c_ird, @c_ord: IRD and ORD that the consumer asks for
 * @reply: flags of the Reply, without C and M
 * @r_ird, @r_ord: the same half words of the Reply, if its flag S is set
 * @told: octets of private data in the consumer's event
 */
struct rp_offer {
	uint8_t rev, flags;
	uint16_t pd_len, ird, ord, c_ird, c_ord;
	uint8_t reply;
	uint16_t r_ird, r_ord;
	unsigned int told;
};

/* Write to @buf a correct Request that asks for CRC. Return its length. */
size_t rp_good_request(uint8_t *buf, uint8_t rev, uint16_t pd_len);
/* Prepare the consumer, make the TCP connection, and send the Request. */
bool rp_send_offer(struct rp *r, const struct rp_offer *o);
/* Check the consumer's event @got: it has to report @want octets of private data. */
void rp_check_told(struct rp *r, const char *got, unsigned int want);
/* Receive the Reply and compare every octet of it. */
void rp_check_reply(struct rp *r, const struct rp_offer *o);
/* Exchange two messages: a Send of the raw peer, after which the device may send, and one of it. */
void rp_exchange_as_initiator(struct rp *r);
/*
 * Make a connection that the consumer accepts, use it and end it. @what, @n: name of the
 * connection in the message of a failure.
 */
void rp_accepted(struct rp *r, const struct rp_offer *o, const char *what, int n);

#endif /* RAWPEER_INITIATOR_H */
