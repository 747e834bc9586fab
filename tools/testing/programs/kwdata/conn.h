/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwdata: one connection: verbs resources, posting, connecting.
 */
#ifndef KWDATA_CONN_H
#define KWDATA_CONN_H

#include "kwcm.h"
#include "kwtest.h"

#include "mem.h"
#include "plan.h"
#include "protocol.h"

#define KD_LABEL	128

/* What -x spoils, to show that it would be seen. */
enum kd_spoil {
	KD_SPOIL_NONE,
	KD_SPOIL_WRITE,		/* one octet of a Write's source */
	KD_SPOIL_READ,		/* one octet of a Read's sink */
	KD_SPOIL_SEND,		/* one octet of a Send's source */
	KD_SPOIL_GUARD,		/* a Write one octet longer than planned */
};

/**
 * struct kd_slot - an outstanding operation of ours
 * @arena: source or sink
 * @pieces: where in it
 * @op: the operation
 * @n: its number
 * @source_gen: generation of the peer's source window
 * @wait: events that have to come before it is done: completions, acknowledgment
 */
struct kd_slot {
	struct kd_region arena;
	struct kd_pieces pieces;
	struct kd_op op;
	uint64_t n;
	uint64_t source_gen;
	unsigned int wait;
};

/**
 * struct kd_window - what the peer's operation in one slot works on
 * @target: of Writes
 * @source: of Reads
 * @source_gen: how often the source was rewritten
 */
struct kd_window {
	struct kd_region target;
	struct kd_region source;
	uint64_t source_gen;
};

/**
 * struct kd_recv - a posted receive
 */
struct kd_recv {
	struct kd_region buf;
	struct kd_pieces pieces;
};

/**
 * struct kd_posted - an entry of the send queue, as we remember it
 * @slot: whose operation this is, or -1
 * @restore: the source may be overwritten when this completes
 */
struct kd_posted {
	int slot;
	bool restore;
};

/**
 * struct kd_sq - the send queue
 * @ring: what is posted, index modulo @depth
 * @ctl: memory for one control message per entry
 * @head: oldest not known to be complete
 * @tail: next to post
 * @unsignaled: entries since the last signaled one
 */
struct kd_sq {
	struct kd_posted *ring;
	struct kd_region ctl;
	unsigned int depth;
	unsigned int max_inline;
	uint64_t head, tail;
	unsigned int unsignaled;
};

/**
 * struct kd_acks - acknowledgements that wait for room in the send queue
 */
struct kd_acks {
	uint64_t n[KD_MAX_WINDOW];
	unsigned int count;
};

/**
 * struct kd_conn - one connection; used by its own thread only
 */
struct kd_conn {
	struct kd_config cfg;
	bool client;
	enum kd_spoil spoil;
	bool quirks;		/* of our device have to be spared: option -Q */
	int stall_ms;

	struct rdma_cm_id *id;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct kw_rng rng;		/* choices the peer need not know */
	int send_sge, recv_sge, read_sge;

	/* issuer */
	struct kd_plan plan;
	struct kd_slot *slots;
	struct kd_remote remote[KD_MAX_WINDOW];
	struct kd_sq sq;
	uint64_t next, count, done;
	bool remote_known, bye_posted;

	/* checker */
	struct kd_plan peer_plan;
	struct kd_window *windows;
	struct kd_recv *recvs;
	unsigned int recv_depth;
	struct kd_acks acks;
	uint64_t peer_next;
	bool peer_bye;

	bool lost, disconnected;
	int64_t last_progress;
	uint64_t octets, ops[KD_TYPES], checked;
};

/* Verbs resources on c->id, receives posted; dies on failure. */
void kd_conn_setup(struct kd_conn *c);
void kd_conn_teardown(struct kd_conn *c);
/* 0, or an error with a message. */
int kd_conn_connect(struct kd_conn *c);
int kd_conn_accept(struct kd_conn *c);
/* End the connection in good order: 0, or an error with a message. */
int kd_conn_finish(struct kd_conn *c);

unsigned int kd_sq_room(const struct kd_conn *c);
/* Post a chain of one or two requests; the entries tell what their completion means. */
void kd_post(struct kd_conn *c, struct ibv_send_wr *wr, const struct kd_posted *what, int n);
/* Make a control message the last of a chain. */
void kd_ctl_wr(struct kd_conn *c, unsigned int ahead, enum kd_ctl_kind kind, uint64_t n,
	       struct ibv_send_wr *wr, struct ibv_sge *sge);
void kd_post_ctl(struct kd_conn *c, enum kd_ctl_kind kind, uint64_t n);
void kd_post_hello(struct kd_conn *c);
void kd_post_recv(struct kd_conn *c, unsigned int index);
/* An operation of ours or of the peer, for messages: written to @buf, KD_LABEL octets. */
const char *kd_label(const struct kd_conn *c, bool ours, uint64_t n, const struct kd_op *op,
		     char *buf);
/* The connection is gone: said once. */
void kd_lost(struct kd_conn *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* KWDATA_CONN_H */
