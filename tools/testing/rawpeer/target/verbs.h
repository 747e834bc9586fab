/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwtarget is an RDMA program on the device under test; the raw peer (kwrawpeer) attacks it. This
 * header: the part that uses verbs.
 *
 *   memory.c   the arena and its regions
 *   verbs.c    queue pair, requests, completions, events
 */
#ifndef RAWPEER_TARGET_VERBS_H
#define RAWPEER_TARGET_VERBS_H

#include "kwcm.h"
#include "target/answer.h"
#include "target/places.h"
#include "kwtest.h"

/* Rights of a peer that may read and write. */
#define KWT_RW_REMOTE \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

/**
 * struct kwt_conn - one of two connections
 * @cq: its completion queue
 * @slot: number of its first receive buffer; @slots: how many it has. kwt_conn_forget() keeps these
 *	two and @cq.
 * @id: its connection manager id; NULL if there is no connection
 * @param: parameters for rdma_accept() and rdma_connect()
 * @no_rights: take all rights from the peer; @no_atomics: all but those to read and to write
 * @first: sizes of the receives to post before the connection; @n_first: their number
 * @established, @disconnected: the event of this name was reported
 * @recvs, @sends: receives and requests that were posted; @back: completions that have come
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
 * @arena: all memory of the regions; @shadow: what the arena has to contain; @care: for each octet
 *	of the arena, 0 if it may contain anything
 * @pd2: a second protection domain, which only KWT_PD is in
 * @mw: the window; NULL: the device has no windows
 * @notes: channel of completion events
 * @dead_stag: STag of KWT_DEAD, which has been deregistered
 * @conn: the connection that commands are about
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

/* Create what both connections use, and register the memory. */
void kwt_open(struct kwt *t, struct ibv_context *verbs);
/* Destroy what kwt_open() has created, after the last connection. */
void kwt_close(struct kwt *t);

/* Allocate the arena and register its regions. kwt_memory_close() deregisters and frees them. */
void kwt_memory_open(struct kwt *t);
void kwt_memory_close(struct kwt *t);
/* Restore the arena, and register the regions that a case has deregistered. */
void kwt_memory_renew(struct kwt *t);

/* Reset the state of a connection that does not exist any more. */
void kwt_conn_forget(struct kwt_conn *c);
/* Create the queue pair and post the first receives; false and errno on failure. */
bool kwt_qp_create(struct kwt *t);
/* Destroy the queue pair, and drop its completions and events. */
void kwt_qp_destroy(struct kwt *t);
/* Move the queue pair to the error state. */
void kwt_qp_stop(struct kwt *t);
/*
 * Wait until every posted request has completed, once, each at most @timeout_ms after the one
 * before. Unless @any is set, the status has to be "flushed", and no asynchronous event may be
 * left. If something is wrong, store it in @answer.
 */
void kwt_all_back(struct kwt *t, int timeout_ms, bool any, char *answer);

/* Commands: see places.h. */
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
