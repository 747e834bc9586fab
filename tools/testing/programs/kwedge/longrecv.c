// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwedge is a test program: what does the device do when a resource runs out or is taken away?
 * These cases: a receive has more room than the longest message, 2^32 - 1 octets. The verbs limit
 * messages, not buffers, so a message that fits has to arrive.
 */
#define _GNU_SOURCE
#include "kwedge.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MSG		64
#define KEY		0x10f6

/* Memory of 3 GiB: the same 16 MiB, mapped many times. */
#define PIECE		(16UL << 20)
#define LENGTH		(3UL << 30)

static uint8_t *map_much(void)
{
	int fd = memfd_create("kwedge", 0);
	uint8_t *at = mmap(NULL, LENGTH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			   -1, 0);
	size_t pos;

	if (fd < 0 || at == MAP_FAILED || ftruncate(fd, PIECE))
		kw_die(KW_SETUP, "cannot make memory: %s", strerror(errno));
	for (pos = 0; pos < LENGTH; pos += PIECE)
		if (mmap(at + pos, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		    MAP_FAILED)
			kw_die(KW_SETUP, "cannot map memory: %s", strerror(errno));
	close(fd);
	return at;
}

/* Post a receive of two elements, each of all of @mr. */
static void post_long(struct kwe_end *e, struct ibv_mr *mr)
{
	struct ibv_sge sge[2] = {
		{ .addr = (uintptr_t)mr->addr, .length = mr->length, .lkey = mr->lkey },
		{ .addr = (uintptr_t)mr->addr, .length = mr->length, .lkey = mr->lkey },
	};
	struct ibv_recv_wr *bad, wr = { .sg_list = sge, .num_sge = 2 };

	if (e->srq ? ibv_post_srq_recv(e->srq, &wr, &bad) : ibv_post_recv(e->id->qp, &wr, &bad))
		kw_die(KW_MISMATCH, "cannot post a receive of 6 GiB");
}

static void serve(struct kwe_end *e, struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	uint8_t *much = map_much();
	struct ibv_mr *mr = ibv_reg_mr(e->pd, much, LENGTH, IBV_ACCESS_LOCAL_WRITE);
	struct kwcm_event ev;
	struct ibv_wc wc;

	if (!mr)
		kw_die(KW_SETUP, "cannot register memory: %s", strerror(errno));
	post_long(e, mr);
	if (rdma_accept(e->id, &param) ||
	    kwcm_expect(listener->channel, RDMA_CM_EVENT_ESTABLISHED, KWE_WAIT_MS, &ev))
		kw_die(KW_SETUP, "cannot accept");
	kwe_completion(e, &wc);
	if (wc.byte_len != MSG || kw_check(much, MSG, KEY, 0) != MSG)
		kw_die(KW_MISMATCH, "%u octets arrived, or others than were sent", wc.byte_len);
	if (kwcm_expect(listener->channel, RDMA_CM_EVENT_DISCONNECTED, KWE_WAIT_MS, &ev))
		kw_die(KW_LOST, "no orderly end");
	ibv_dereg_mr(mr);
	munmap(much, LENGTH);
}

static void long_server(const struct kwe_opt *opt, bool shared)
{
	struct rdma_cm_id *listener = kwcm_listen(opt->addr, opt->port, 1);
	struct ibv_srq_init_attr a = { .attr = { .max_wr = 1, .max_sge = 2 } };
	struct kwe_end e = { 0 };
	struct kwcm_event ev;

	kwe_request(listener, &ev);
	e.id = ev.id;
	e.pd = ibv_alloc_pd(e.id->verbs);
	if (shared && e.pd)
		e.srq = ibv_create_srq(e.pd, &a);
	if (!e.pd || (shared && !e.srq))
		kw_die(KW_SETUP, "cannot create shared receives: %s", strerror(errno));
	kwe_open(&e, MSG, 0, 1);
	serve(&e, listener);
	kwe_close(&e);
	rdma_destroy_id(e.id);
	kwcm_destroy(listener);
}

void kwe_long_server(const struct kwe_opt *opt)
{
	long_server(opt, false);
}

void kwe_long_srq_server(const struct kwe_opt *opt)
{
	long_server(opt, true);
}

void kwe_long_client(const struct kwe_opt *opt)
{
	struct kwe_end e = { 0 };
	struct kwcm_event ev;
	struct ibv_wc wc;

	kwe_connect(&e, opt, MSG, 1, &ev);
	kw_fill(e.buf, MSG, KEY, 0);
	kwe_post_send(&e, 0, MSG);
	kwe_completion(&e, &wc);
	rdma_disconnect(e.id);
	kwe_close(&e);
	kwcm_destroy(e.id);
}
