/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: what cases share in which the raw peer is the Initiator of the start-up.
 */
#ifndef RAWPEER_INITIATOR_H
#define RAWPEER_INITIATOR_H

#include "runner/start.h"

#define RP_ANY_LENGTH	9999

/**
 * struct rp_offer - a Request, and the Reply that has to come
 * @rev, @flags: of the Request; C is added as the run wants it
 * @pd_len: private data after the enhanced part
 * @ird, @ord: with their flags, if S is set
 * @c_ird, @c_ord: what the consumer wants
 * @reply: flags, without C; @r_ird, @r_ord: with their flags
 * @told: length of private data that the consumer sees
 */
struct rp_offer {
	uint8_t rev, flags;
	uint16_t pd_len, ird, ord, c_ird, c_ord;
	uint8_t reply;
	uint16_t r_ird, r_ord;
	unsigned int told;
};

/* A Request without flaws that asks for CRC; its length. */
size_t rp_good_request(uint8_t *buf, uint8_t rev, uint16_t pd_len);
bool rp_send_offer(struct rp *r, const struct rp_offer *o);
/* @got: the consumer's event; @want: octets of private data that it has to have. */
void rp_check_told(struct rp *r, const char *got, unsigned int want);
/* The Reply, octet by octet. */
void rp_check_reply(struct rp *r, const struct rp_offer *o);
/* A Send, which opens the device's half, and what the consumer gets. */
void rp_exchange_as_initiator(struct rp *r);
/* A whole connection that the consumer accepts; @what and @n say which one it was. */
void rp_accepted(struct rp *r, const struct rp_offer *o, const char *what, int n);

#endif /* RAWPEER_INITIATOR_H */
