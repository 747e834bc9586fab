// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A first RDMA program: the client writes a line into the server's memory, and the server answers.
 *
 *   first -s ADDRESS     wait for one client
 *   first ADDRESS        be the client
 *
 * Documentation/first-program.rst explains it, and breaks it on purpose.
 */
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT "7471"

/* What the client has to know to write into the server's memory: where, how much, and the key. */
struct place {
	uint64_t address;
	uint32_t length, rkey;
};

static char board[64];			/* the client writes here, in the server's memory */
static char words[64];			/* this end sends from here, or receives here */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Wait for a completion. If it reports an error, say which, and end. */
static void wait_for(const char *what, int (*get)(struct rdma_cm_id *, struct ibv_wc *),
		     struct rdma_cm_id *id)
{
	struct ibv_wc wc;

	if (get(id, &wc) < 0)
		fail(what);
	printf("%s: %s\n", what, ibv_wc_status_str(wc.status));
	if (wc.status == IBV_WC_SUCCESS)
		return;
	printf("status %d, vendor_err 0x%x\n", wc.status, wc.vendor_err);
	exit(1);
}

/* Make an id with a queue pair, or one that only listens, for an address. */
static struct rdma_cm_id *make_id(const char *address, int flags)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 2, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,	/* each request has a completion */
	};
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	if (rdma_getaddrinfo(address, PORT, &hints, &info))
		fail("rdma_getaddrinfo");
	if (rdma_create_ep(&id, info, NULL, &attr))
		fail("rdma_create_ep");
	rdma_freeaddrinfo(info);
	return id;
}

static void serve(const char *address)
{
	struct rdma_cm_id *listener = make_id(address, RAI_PASSIVE), *id;
	struct rdma_conn_param param = { 0 };
	struct ibv_mr *board_mr, *words_mr;
	struct place place;

	if (rdma_listen(listener, 1))
		fail("rdma_listen");
	if (rdma_get_request(listener, &id))
		fail("rdma_get_request");
	board_mr = rdma_reg_write(id, board, sizeof(board));
	words_mr = rdma_reg_msgs(id, words, sizeof(words));
	if (!board_mr || !words_mr)
		fail("memory registration");
	/* The receive is posted before the client can send. */
	if (rdma_post_recv(id, NULL, words, sizeof(words), words_mr))
		fail("rdma_post_recv");
	place = (struct place){ (uintptr_t)board, sizeof(board), board_mr->rkey };
	param.private_data = &place;
	param.private_data_len = sizeof(place);
	if (rdma_accept(id, &param))
		fail("rdma_accept");

	wait_for("receive", rdma_get_recv_comp, id);
	printf("the board says: %s\n", board);
	snprintf(words, sizeof(words), "I have read it");
	if (rdma_post_send(id, NULL, words, sizeof(words), words_mr, 0))
		fail("rdma_post_send");
	wait_for("send", rdma_get_send_comp, id);
	rdma_disconnect(id);
	rdma_dereg_mr(board_mr);
	rdma_dereg_mr(words_mr);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
}

static void call(const char *address)
{
	struct rdma_cm_id *id = make_id(address, 0);
	struct ibv_mr *words_mr = rdma_reg_msgs(id, words, sizeof(words));
	struct place place;

	if (!words_mr)
		fail("memory registration");
	if (rdma_connect(id, NULL))
		fail("rdma_connect");
	memcpy(&place, id->event->param.conn.private_data, sizeof(place));

	snprintf(words, sizeof(words), "RDMA was here");
	if (rdma_post_write(id, NULL, words, sizeof(words), words_mr, 0, place.address, place.rkey))
		fail("rdma_post_write");
	wait_for("write", rdma_get_send_comp, id);
	/* A Write does not tell the server anything, so a Send follows; then the answer comes. */
	if (rdma_post_recv(id, NULL, words, sizeof(words), words_mr))
		fail("rdma_post_recv");
	if (rdma_post_sendv(id, NULL, NULL, 0, 0))
		fail("rdma_post_sendv");
	wait_for("send", rdma_get_send_comp, id);
	wait_for("receive", rdma_get_recv_comp, id);
	printf("the server says: %s\n", words);
	rdma_disconnect(id);
	rdma_dereg_mr(words_mr);
	rdma_destroy_ep(id);
}

int main(int argc, char **argv)
{
	setbuf(stdout, NULL);
	if (argc == 3 && !strcmp(argv[1], "-s"))
		serve(argv[2]);
	else if (argc == 2 && argv[1][0] != '-')
		call(argv[1]);
	else
		return fprintf(stderr, "usage: first [-s] ADDRESS\n"), 2;
	return 0;
}
