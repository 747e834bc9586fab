/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwdata: random Writes, Reads and Sends whose contents are checked at both ends.
 *
 * Both ends derive the same list of operations ("the plan") from a seed, so each
 * knows what the other must do and what its memory must hold afterwards. Either
 * end, or both at once, work through their own plan ("issuer") while they check
 * the plan of the other ("checker"):
 *
 *  Write  the source is filled, the Write and a control message are posted. The
 *         checker compares the target window, its surroundings, and acknowledges.
 *  Send   likewise; the message itself takes the place of the control message.
 *  Read   the sink is compared when the Read completes. Some Reads are followed by
 *         a fenced control message: the checker then rewrites the source at once.
 *
 * Every source buffer is overwritten as soon as its completion was polled. All memory that no
 * operation should touch holds a guard pattern. The pattern is checked around every piece after
 * each operation, and everywhere now and then and at the end.
 *
 * An operation lives in slot (number mod window), which fixes the buffers and
 * windows it uses at both ends; a slot is free again when its operation is done.
 *
 *   plan.c    the plan, pure functions
 *   mem.c     regions, pieces, guard patterns
 *   conn.c    verbs resources, posting, connecting
 *   issuer.c  our own plan
 *   checker.c the plan of the peer
 *   run.c     the loop that runs both
 *   kwdata.c  options, threads, the end
 */
#ifndef KWDATA_H
#define KWDATA_H

#include "conn.h"

/* issuer.c */

/* Are there operations left to issue? */
bool kd_issuing(const struct kd_conn *c);
/* Post the next operation if its slot is free and there is room: true if it was. */
bool kd_issue(struct kd_conn *c);
/* A completion covers all requests before it. */
void kd_sent(struct kd_conn *c, uint64_t last);
void kd_acked(struct kd_conn *c, uint64_t n);

/* checker.c */
void kd_received(struct kd_conn *c, unsigned int index, uint32_t len);
/* True if an acknowledgment was posted. */
bool kd_post_acks(struct kd_conn *c);

/* run.c */

/* Set by a signal: issue no more and end in good order. */
extern volatile bool kd_stop;

/* Work until both plans are done: an exit code. */
enum kw_exit kd_run(struct kd_conn *c);

#endif /* KWDATA_H */
