/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Actions of the peer, and functions that bring an endpoint (connection) into a given state. */
#ifndef KWARP_CM_TESTS_STATES_H
#define KWARP_CM_TESTS_STATES_H

#include "fixture.h"

void ct_peer_frame(bool reply, u8 rev, bool reject, bool p2p);
void ct_peer_ends(int err);

struct kwarp_ep *ct_the_ep(void);
enum kwarp_cm_state ct_state(void);
bool ct_has_rejected(void);

static inline bool ct_attached(void)
{
	enum kwarp_cm_state state = ct_state();

	return state == KWARP_CMS_WAIT_FPDU || state == KWARP_CMS_STREAM ||
	       state == KWARP_CMS_CLOSED;
}

void ct_take_request(struct kunit *test);
void ct_timer_runs(void);

/* ct_to_stream_resp() makes a responder in state STREAM. */
void ct_to_connect(struct kunit *test);
void ct_to_send_req(struct kunit *test);
void ct_to_wait_rep(struct kunit *test);
void ct_to_stream(struct kunit *test);
void ct_to_closed(struct kunit *test);
void ct_to_linger(struct kunit *test);
void ct_to_send_term(struct kunit *test);
void ct_to_wait_req(struct kunit *test);
void ct_to_wait_backlog(struct kunit *test);
void ct_to_wait_ulp(struct kunit *test);
void ct_to_send_rep(struct kunit *test);
void ct_to_wait_fpdu(struct kunit *test);
void ct_to_send_rej(struct kunit *test);
void ct_to_stream_resp(struct kunit *test);

#endif /* KWARP_CM_TESTS_STATES_H */
