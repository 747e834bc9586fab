/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Wired queue pairs: programs have exchanged addresses, queue pair numbers and PSNs on their own,
 * as with InfiniBand, and no rdma_cm is involved.  Which end connects follows from the addresses
 * and numbers.  The private data of Request and Reply prove that an end knows what only the two
 * programs know.
 */
#ifndef KWARP_PROTO_PAIRING_H
#define KWARP_PROTO_PAIRING_H

#include "wire.h"

#define KWARP_PAIR_ADDR		16	/* octets of an address; IPv4 is mapped to IPv6 */

/* What an end offers; both have to, for a thing to be used. */
#define KWARP_PAIR_SEND_IMM	BIT(0)	/* Send with immediate data */

/**
 * struct kwarp_pair_msg - private data in host order
 * @sends: the sender may send (RTS), so @sq_psn and @rnr_retry are valid
 * @rnr_retry: how often its Send may find no receive; 7: for ever
 * @features: KWARP_PAIR_*
 * @qpn: queue pair of the sender of the frame
 * @peer_qpn: queue pair of its receiver
 * @sq_psn: PSN from which the sender of the frame sends
 * @rq_psn: PSN that the sender of the frame expects
 */
struct kwarp_pair_msg {
	bool sends;
	u8 rnr_retry;
	u32 features;
	u32 qpn;
	u32 peer_qpn;
	u32 sq_psn;
	u32 rq_psn;
};

/*
 * struct kwarp_pair - a queue pair and the one to which its consumer has wired it
 * @own: what this end says of itself, and of its peer
 */
struct kwarp_pair {
	u8 addr[KWARP_PAIR_ADDR];
	u8 peer_addr[KWARP_PAIR_ADDR];
	struct kwarp_pair_msg own;
};

/*
 * Return: < 0: this end connects, and is the Initiator of the MPA startup; > 0: the peer does;
 * 0: both ends are the same queue pair.
 */
int kwarp_pair_order(const struct kwarp_pair *pair);

u32 kwarp_pair_encode(u8 *buf, const struct kwarp_pair_msg *msg);

bool kwarp_pair_decode(const u8 *buf, u32 len, struct kwarp_pair_msg *msg);

/**
 * kwarp_pair_match - is the sender of @msg the peer that the consumer has named?
 * @pair: this end
 * @msg: private data received; the caller has compared the addresses
 *
 * Each end knows the PSN that the other sends from, since RTR, and its own since RTS.  A PSN that
 * both ends know has to be the same.
 *
 * Return: true: it is.  If neither end is in RTS, nothing is proved yet, and there is nothing to
 * send either: false.
 */
bool kwarp_pair_match(const struct kwarp_pair *pair, const struct kwarp_pair_msg *msg);

#endif /* KWARP_PROTO_PAIRING_H */
