/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwconn is a test program that makes many connections, one after the other and at the same time.
 * See kwconn.c for its options.
 */
#ifndef KWCONN_H
#define KWCONN_H

#include "kwcm.h"
#include "kwtest.h"

#define KN_MSG_LEN	64
/* Keys from which kw_fill() makes the private data of a connect and of an accept. */
#define KN_CONNECT_DATA	0xd0
#define KN_ACCEPT_DATA	0xd1
#define KN_MAX_DATA	250

/**
 * struct kn_conn - one connection, or a free slot: an element of kn_conns is called a slot
 * @id: NULL if the slot is free
 * @buf: memory of two messages: one to send, one to receive
 * @key: key from which kw_fill() makes the message (client)
 * @since: when the attempt to connect began, ms
 * @established: the connection was established
 * @echoed: the message came back (client), or was sent back (server)
 */
struct kn_conn {
	struct rdma_cm_id *id;
	uint8_t *buf;
	uint64_t key;
	int64_t since;
	bool established, echoed;
};

/**
 * struct kn_options - the command line, see kwconn.c
 * @refused: -x, each attempt has to be refused
 * @hold: -H, all connections are open at the same time
 * @idle: -i, the connection stays idle
 * @rejects: -r, the server rejects each request
 * @ignores: -q, the server never answers a request
 * @flaps: -f, an attempt that finds no route, or gets no answer, is repeated
 * @ipv4_too: -4, a server on :: is for IPv4 as well
 * @limit: -T, time limit for a connection, seconds
 * @data: -D, octets of private data
 */
struct kn_options {
	bool server, client, refused, hold, idle, rejects, ignores, flaps, ipv4_too;
	const char *addr, *port;
	unsigned int cycles, parallel, limit, tos, data;
};

/**
 * struct kn_counts - what the program reports at its end
 * @started: attempts (client) or requests (server)
 * @lost: connections that failed before the message was sent back (server)
 * @slowest: longest time from an attempt to the end of its connection, ms
 */
struct kn_counts {
	unsigned int started, established, echoed, received, refused, lost;
	int64_t slowest;
};

extern struct kn_options kn_opt;
extern struct kn_counts kn_count;
/*
 * Slots for connections: kn_slots is their number, kn_conns the slots, kn_num_open how many are
 * in use.
 */
extern unsigned int kn_slots;
extern struct kn_conn *kn_conns;
extern unsigned int kn_num_open;
/* Option -H: all connections exist, and are being disconnected. */
extern bool kn_released;
/* All connections share one completion queue. */
extern struct ibv_cq *kn_cq;
extern struct ibv_comp_channel *kn_comp;
/* Set by signals: SIGTERM ends the server, SIGUSR1 ends the idle state of -i. */
extern volatile bool kn_stop, kn_go_on;

/* conn.c: slots, what all connections share, private data */
/* A slot for @id, or NULL if none is free. */
struct kn_conn *kn_new_conn(struct rdma_cm_id *id);
void kn_drop(struct kn_conn *c);
uint64_t kn_index_of(const struct kn_conn *c);
int kn_create_qp(struct kn_conn *c);
int kn_post_recv(struct kn_conn *c);
int kn_post_send(struct kn_conn *c);
struct rdma_conn_param kn_conn_param(uint64_t key);
void kn_check_data(const struct kwcm_event *ev, uint64_t key);
void kn_close_device(void);

/**
 * struct kn_side - what client and server do differently in the loop
 * @event: handle a connection event
 * @received: a message of this connection has arrived
 */
struct kn_side {
	void (*event)(const struct kwcm_event *ev);
	void (*received)(struct kn_conn *c);
};

/* loop.c: wait for events and messages for a while, and handle those that come */
void kn_one_round(struct rdma_event_channel *ch, const struct kn_side *side);

/* client.c, server.c */
void kn_run_client(void);
void kn_run_server(void);

#endif /* KWCONN_H */
