/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwdata: random Writes, Reads and Sends whose contents are checked at both ends.
 *
 * Both ends derive the same two lists of operations from a seed: one list ("plan")
 * for each direction. So each end knows what the other must do and what its own
 * memory must contain afterwards. One end, or both, post the operations of their
 * plan ("issuer"), and the other end checks the effect ("checker"):
 *
 *  Write  the issuer fills the source, and posts the Write and a control message. The
 *         checker compares the target and the memory around it, and acknowledges.
 *  Send   the same without a control message: the Send itself is the message.
 *  Read   the issuer compares the sink when the Read completes. Some Reads are followed
 *         by a fenced control message: the checker then rewrites the source at once.
 *
 * The issuer overwrites a source buffer as soon as it has polled the completion. All memory that no
 * operation should touch has a guard pattern. The pattern is checked around the data of each
 * operation where they arrive, and in all memory now and then and at the end.
 *
 * There are as many slots as operations may be outstanding, and operation n belongs to slot (n mod
 * number of slots). A slot has memory for sources and sinks at the issuer, and memory that the
 * issuer's Writes and Reads access at the checker; it is free again when its operation is done.
 *
 *   plan.c    the plan, pure functions
 *   mem.c     regions, pieces, guard patterns
 *   conn.c    verbs resources, posting, connecting
 *   issuer.c  posts the operations of this end's plan
 *   checker.c checks the operations of the peer's plan
 *   run.c     the loop that runs issuer and checker
 *   kwdata.c  options, threads, results
 */
#ifndef KWDATA_H
#define KWDATA_H

#include "conn.h"

/* Functions of issuer.c */

/* Are there operations left to post? */
bool kd_issuing(const struct kd_conn *c);
/* Post the next operation if its slot and the send queue have room. Return: was it posted? */
bool kd_issue(struct kd_conn *c);
/* Handle the completion of request @last: all requests before it are complete, too. */
void kd_sent(struct kd_conn *c, uint64_t last);
/* Handle the peer's acknowledgment of operation @n. */
void kd_acked(struct kd_conn *c, uint64_t n);

/* Functions of checker.c */
/* Handle the message of @len octets with which the receive of this index has completed. */
void kd_received(struct kd_conn *c, unsigned int index, uint32_t len);
/* Post waiting acknowledgments. Return: true if one was posted. */
bool kd_post_acks(struct kd_conn *c);

/* Functions of run.c */

/* Set by a signal: post no more operations, and end in good order. */
extern volatile bool kd_stop;

/* Work until both plans are done. Return: an exit code. */
enum kw_exit kd_run(struct kd_conn *c);

#endif /* KWDATA_H */
