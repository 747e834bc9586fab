// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwflip: a program that changes the producer index of its send queue all the time, while nothing
 * can be sent.
 *
 *	kwflip -a addr -p port [-n sends]
 *
 * The peer accepts a connection and answers nothing (mpa.py). The first request is a Read, and the
 * second, a fenced Send, waits for the Read's response for ever. Then more Sends are posted, each
 * with a doorbell, and a second thread stores other valid values into the index. The suite counts
 * how often the kernel's work item runs meanwhile.
 */
#include "kwcm.h"
#include "kwtest.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_MS	20000
#define DEPTH		64
#define FLIP_US		20000	/* time between two doorbells */

static const char *addr, *port = "7175";
static unsigned int sends = 26;

/* The ring whose producer index is @posted; the index is its first word. */
static volatile uint32_t *find_ring(uint32_t posted)
{
	FILE *f = fopen("/proc/self/maps", "r");
	volatile uint32_t *found = NULL;
	struct kw_ring ring;

	if (!f)
		kw_die(KW_SETUP, "cannot read the list of mappings");
	while (!found && kw_next_ring(f, &ring))
		if (ring.writable && *(volatile uint32_t *)ring.at == posted)
			found = (volatile uint32_t *)ring.at;
	fclose(f);
	if (!found)
		kw_die(KW_SETUP, "no ring has %u requests", posted);
	return found;
}

static void *flip(void *arg)
{
	volatile uint32_t *prod = arg;
	uint32_t i = 0;

	for (;;)
		*prod = 2 + i++ % (DEPTH - 2);
	return NULL;
}

static struct rdma_cm_id *connect_peer(void)
{
	struct ibv_qp_init_attr a;
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct rdma_cm_id *id = kwcm_resolve(addr, port);
	struct kwcm_event ev;

	a = kw_qp_attr(ibv_create_cq(id->verbs, 2 * DEPTH, NULL, NULL, 0), DEPTH, 1, 1);
	if (!a.send_cq || rdma_create_qp(id, id->pd, &a) || rdma_connect(id, &param) ||
	    kwcm_expect(id->channel, RDMA_CM_EVENT_ESTABLISHED, CONNECT_MS, &ev))
		kw_die(KW_SETUP, "cannot connect");
	return id;
}

static void post_wr(struct rdma_cm_id *id, struct ibv_mr *mr, enum ibv_wr_opcode op, int flags)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, 64, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = op, .sg_list = &sge, .num_sge = 1, .send_flags = flags,
	};

	if (ibv_post_send(id->qp, &wr, &bad))
		kw_die(KW_LOST, "cannot post: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static const char usage[] = "kwflip -a addr [-p port] [-n sends]";
	const struct kw_option table[] = {
		KW_TEXT('a', addr),
		KW_TEXT('p', port),
		KW_NUMBER('n', sends, 1, DEPTH - 4),
		{ 0 }
	};
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	pthread_t thread;
	unsigned int i;

	if (kw_options(argc, argv, table, usage) != argc || !addr)
		kw_usage(usage);
	id = connect_peer();
	mr = ibv_reg_mr(id->pd, kw_zalloc(4096), 4096, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		kw_die(KW_SETUP, "cannot register memory");
	post_wr(id, mr, IBV_WR_RDMA_READ, 0);
	post_wr(id, mr, IBV_WR_SEND, IBV_SEND_FENCE);
	if (pthread_create(&thread, NULL, flip, (void *)find_ring(2)))
		kw_die(KW_SETUP, "no thread");
	for (i = 0; i < sends; i++) {
		post_wr(id, mr, IBV_WR_SEND, 0);
		usleep(FLIP_US);
	}
	kw_say("%u doorbells", sends);
	/* The end of the process ends the connection. */
	return KW_OK;
}
