/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwtarget: the part that uses verbs.
 *
 *   memory.c   the arena and its regions
 *   verbs.c    queue pair, requests, completions, events
 */
#ifndef RAWPEER_TARGET_VERBS_H
#define RAWPEER_TARGET_VERBS_H

#include <stdio.h>

#include "kwcm.h"
#include "target/kwtarget.h"
#include "kwtest.h"

#define KWT_LINE	256

/* Rights of a peer that may read and write. */
#define KWT_RW_REMOTE \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

/* An answer as it is. */
static inline void kwt_say(char *answer, const char *text)
{
	snprintf(answer, KWT_LINE, "%s", text);
}

/**
 * struct kwt_conn - one of two connections
 * @cq: its completions; @slot: its first receive buffer; @slots: how many it has: all
 *	three outlive it
 * @id: NULL if there is none
 * @param: for accept and connect
 * @no_rights: the peer is given none, on purpose; @no_atomics: only those to read and to write
 * @first: sizes of the receives that are posted before; @n_first of them
 * @established: reported; @disconnected: likewise
 * @recvs, @sends: posted; @back: completions that have come
 */
struct kwt_conn {
	struct ibv_cq *cq;
	unsigned int slot, slots;
	struct rdma_cm_id *id;
	struct rdma_conn_param param;
	uint32_t first[KWT_RECV_MAX];
	unsigned int n_first;
	bool no_rights, no_atomics, established, disconnected;
	unsigned int recvs, sends, back;
};

/**
 * struct kwt - the consumer
 * @arena: memory; @shadow: what it has to hold; @care: 0 where it may hold anything
 * @pd2: another protection domain
 * @mw: the window; NULL: the device has none
 * @notes: completion events
 * @conn: the connection that is being worked on
 */
struct kwt {
	struct rdma_event_channel *channel;
	struct ibv_context *verbs;
	struct ibv_pd *pd, *pd2;
	uint8_t *arena, *shadow, *care;
	struct ibv_mr *mr[KWT_REGIONS];
	struct ibv_mw *mw;
	struct ibv_comp_channel *notes;
	uint32_t dead_stag;
	struct kwt_conn conns[2], *conn;
};

void kwt_open(struct kwt *t, struct ibv_context *verbs);
void kwt_close(struct kwt *t);

/* The part of kwt_open() and kwt_close() that is memory. */
void kwt_memory_open(struct kwt *t);
void kwt_memory_close(struct kwt *t);
/* The arena as it was at first, and all regions registered. */
void kwt_memory_renew(struct kwt *t);

/* There is no such connection any more. */
void kwt_conn_forget(struct kwt_conn *c);
/* Create it with the first receives posted; false and errno on failure. */
bool kwt_qp_create(struct kwt *t);
void kwt_qp_destroy(struct kwt *t);
/* Move it to the error state. */
void kwt_qp_stop(struct kwt *t);
/* Every request has to come back, flushed unless @any; what is wrong replaces the answer. */
void kwt_all_back(struct kwt *t, int timeout_ms, bool any, char *answer);

/* Commands: see kwtarget.h. */
void kwt_region(struct kwt *t, char *args, char *answer);
void kwt_recv(struct kwt *t, char *args, char *answer);
void kwt_post(struct kwt *t, char *args, char *answer);
void kwt_bind(struct kwt *t, char *args, char *answer);
void kwt_wc(struct kwt *t, char *args, char *answer);
void kwt_arm(struct kwt *t, char *args, char *answer);
void kwt_notified(struct kwt *t, char *args, char *answer);
void kwt_event(struct kwt *t, char *args, char *answer);
void kwt_dereg(struct kwt *t, char *args, char *answer);
void kwt_expect(struct kwt *t, char *args, char *answer);
void kwt_ignore(struct kwt *t, char *args, char *answer);
void kwt_word(struct kwt *t, char *args, char *answer);
void kwt_put(struct kwt *t, char *args, char *answer);
void kwt_verify(struct kwt *t, char *args, char *answer);

#endif /* RAWPEER_TARGET_VERBS_H */
