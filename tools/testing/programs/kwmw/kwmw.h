/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwmw is a test program for memory windows, from allocation to every way in which they end. The
 * window is in the server's memory; the server sends commands, and the client does what they say.
 */
#ifndef KWMW_H
#define KWMW_H

#include "kwcm.h"
#include "kwtest.h"

#define KM_BUF_LEN	(512 * 1024)
#define KM_WIN_OFF	5000
#define KM_WIN_LEN	200001
#define KM_EVENT_MS	30000
#define KM_RW		(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

enum km_what { KM_WRITE, KM_READ, KM_SEND_INV };

/**
 * struct km_command - an operation that the client has to do
 * @what: enum km_what
 * @refused: the server's device has to refuse it and to end the connection
 * @addr: where, in the server's memory
 * @key: seed from which kw_fill() makes the octets to write, or those that a Read has to return
 */
struct km_command {
	uint32_t what, refused;
	uint64_t addr, key;
	uint32_t rkey, len;
};

/*
 * A connection. Requests and receives have separate completion queues, because the order of their
 * completions relative to each other is not defined.
 */
struct km_conn {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_cq *recv_cq;
	struct ibv_mr *mr;
	struct km_command *msg;	/* [0]: to send; [1]: received */
};

/* Options -a and -p. */
extern const char *km_addr, *km_port;

/*
 * The two roles. Return: the exit code of the program. With @leave (option -x) the server runs no
 * cases, but ends while windows are bound, so that the kernel has to clean up.
 */
int km_client(void);
int km_server(bool leave);

/* Functions of conn.c */

/* If @ok is false, report @what and errno, and end the program. */
void km_must(bool ok, const char *what);
/* Wait for the next completion, of any status. */
struct ibv_wc km_next_wc(struct ibv_cq *cq);
/* The next completion must be a success of this @opcode. */
void km_expect_wc(struct km_conn *c, enum ibv_wc_opcode opcode);
void km_post_recv(struct km_conn *c);
void km_post(struct km_conn *c, struct ibv_send_wr *wr);
void km_post_msg(struct km_conn *c, enum ibv_wr_opcode opcode, uint32_t rkey);
void km_make_conn(struct km_conn *c, struct rdma_cm_id *id, struct ibv_pd *pd);
void km_drop_conn(struct km_conn *c);

/* window.c: the server's memory (buffer km_buf, region km_mr) and its window (km_mw) */
extern uint8_t *km_buf;
extern struct ibv_pd *km_pd;
extern struct ibv_mr *km_mr;
extern struct ibv_mw *km_mw;
extern uint32_t km_named; /* STag that the client has to use; 0: that of the window */

/* Fill the memory with the octets that it has to have before a case. */
void km_fill(void);
void km_expect_memory(uint64_t key);
void km_make_memory(int access);
void km_drop_memory(void);
/* Return: address of the window's first octet. */
uint64_t km_win(void);
/* A bind of this part of the memory. */
struct ibv_mw_bind_info km_range(uint64_t off, uint64_t len, unsigned int access);
/* Post a bind of the window. Return: that of ibv_post_send(). */
int km_try_bind(struct km_conn *c, const struct ibv_mw_bind_info *info);
void km_post_bind(struct km_conn *c, uint64_t off, uint64_t len, unsigned int access);
void km_bind_window(struct km_conn *c, unsigned int access);
void km_bind_type_1(struct km_conn *c, uint64_t len, unsigned int access);
void km_post_local_inv(struct km_conn *c, uint32_t rkey);
void km_local_inv(struct km_conn *c);
void km_peer_inv(struct km_conn *c);
/* Send the client a command, without waiting for its effect. */
void km_tell(struct km_conn *c, enum km_what op, uint64_t at, uint64_t key, bool is_refused);
void km_done(struct km_conn *c, enum km_what op, uint64_t at, uint64_t key);
void km_tried(struct km_conn *c, enum km_what op, uint64_t at);

#endif /* KWMW_H */
