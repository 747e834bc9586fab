/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwdata is a test program: random Writes, Reads and Sends, whose contents both ends check.
 * This file: one connection, with its verbs resources, posting and connecting. The issuer posts
 * the operations of this end; the checker checks the effects of those of the peer. Plan: the list
 * of operations of one direction, which both ends derive from a seed. A slot is for
 * one outstanding operation of a direction: there are cfg.window slots, and operation n uses slot
 * n modulo cfg.window. The peer's operations access memory of the checker, see struct kd_window.
 */
#ifndef KWDATA_CONN_H
#define KWDATA_CONN_H

#include "kwcm.h"
#include "kwtest.h"

#include "mem.h"
#include "plan.h"
#include "protocol.h"

#define KD_LABEL	128	/* octets, for kd_label() */

/* What option -x makes wrong, to show that the checks find it. */
enum kd_spoil {
	KD_SPOIL_NONE,
	KD_SPOIL_WRITE,		/* one octet of a Write's source */
	KD_SPOIL_READ,		/* one octet of a Read's sink */
	KD_SPOIL_SEND,		/* one octet of a Send's source */
	KD_SPOIL_GUARD,		/* a Write one octet longer than planned */
};

/**
 * struct kd_slot - the issuer's side of a slot: an outstanding operation
 * @arena: memory of source or sink
 * @pieces: source or sink in @arena
 * @op: the operation
 * @n: number of the operation
 * @source_gen: how often the peer has rewritten the memory that Reads of this slot read
 * @wait: number of completions and acknowledgments that the operation still needs; 0: the slot is
 *	free
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
 * struct kd_window - the checker's side of a slot: two regions that the peer's operations access
 * @target: memory to which the peer writes
 * @source: memory from which the peer reads
 * @source_gen: how often the checker has rewritten @source
 */
struct kd_window {
	struct kd_region target;
	struct kd_region source;
	uint64_t source_gen;
};

/**
 * struct kd_recv - a posted receive, and the memory into which its message is placed
 */
struct kd_recv {
	struct kd_region buf;
	struct kd_pieces pieces;
};

/**
 * struct kd_posted - what the program knows about an entry of the send queue
 * @slot: slot of the operation to which the request belongs, or -1
 * @restore: the request is a Write, Read or Send of the plan (not a control message): the guard
 *	pattern is written over its source or sink when the request completes
 */
struct kd_posted {
	int slot;
	bool restore;
};

/**
 * struct kd_sq - the send queue
 * @ring: what was posted; request n is at n modulo @depth
 * @ctl: memory for one control message per entry, and for the hello
 * @head: number of the oldest request that is not known to be complete
 * @tail: number of the next request
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
 * struct kd_acks - acknowledgments that wait for room in the send queue
 * @n: numbers of the operations
 */
struct kd_acks {
	uint64_t n[KD_MAX_WINDOW];
	unsigned int count;
};

/**
 * struct kd_conn - one connection; only the connection's own thread uses it
 * @next: number of the next operation to post; @count: operations in all; @done: those completed
 * @bye_posted: KD_CTL_BYE was posted; @peer_bye: it has arrived from the peer
 * @peer_next: number of the peer's next operation that may have a message
 * @octets, @ops: octets and number of completed operations; @checked: operations that the
 *	checker found good
 */
struct kd_conn {
	struct kd_config cfg;
	bool client;
	enum kd_spoil spoil;
	bool quirks;		/* option -Q: this end is siw */
	int stall_ms;

	struct rdma_cm_id *id;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct kw_rng rng;		/* choices that the peer need not know */
	int send_sge, recv_sge, read_sge;

	/* members for the issuer */
	struct kd_plan plan;
	struct kd_slot *slots;
	struct kd_remote remote[KD_MAX_WINDOW];
	struct kd_sq sq;
	uint64_t next, count, done;
	bool remote_known, bye_posted;

	/* members for the checker */
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

/* Create verbs resources for c->id and post the receives. A failure ends the program. */
void kd_conn_setup(struct kd_conn *c);
void kd_conn_teardown(struct kd_conn *c);
/* Return: 0 or -errno, after an error message. */
int kd_conn_connect(struct kd_conn *c);
int kd_conn_accept(struct kd_conn *c);
/* End the connection in good order. Return: 0 or -errno, after an error message. */
int kd_conn_finish(struct kd_conn *c);

/* Number of requests that the send queue has room for. */
unsigned int kd_sq_room(const struct kd_conn *c);
/* Post @n requests, one or two. @what says what their completions mean. */
void kd_post(struct kd_conn *c, struct ibv_send_wr *wr, const struct kd_posted *what, int n);
/* Build a control message in @wr and @sge, to be posted after @ahead requests of the same chain. */
void kd_ctl_wr(struct kd_conn *c, unsigned int ahead, enum kd_ctl_kind kind, uint64_t n,
	       struct ibv_send_wr *wr, struct ibv_sge *sge);
void kd_post_ctl(struct kd_conn *c, enum kd_ctl_kind kind, uint64_t n);
/* Post the first message, which has the addresses of the memory that the peer may access. */
void kd_post_hello(struct kd_conn *c);
void kd_post_recv(struct kd_conn *c, unsigned int index);
/*
 * Describe an operation of this end (@ours) or of the peer in @buf of KD_LABEL octets, for messages
 * to the user. Return: @buf.
 */
const char *kd_label(const struct kd_conn *c, bool ours, uint64_t n, const struct kd_op *op,
		     char *buf);
/* The connection is lost: print a message, only for the first call. */
void kd_lost(struct kd_conn *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* KWDATA_CONN_H */
