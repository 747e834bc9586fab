// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwconn is a test program that makes many connections, one after the other and at the same time.
 * This file: slots, the objects that all connections share, and private data. Slot: an element of
 * kn_conns, which has the state of one connection, or is free.
 */
#include "kwconn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

unsigned int kn_num_open;
static unsigned int first_free;
static struct ibv_pd *pd;
struct ibv_cq *kn_cq;
struct ibv_comp_channel *kn_comp;
static struct ibv_mr *mr;
static uint8_t *memory;

static void open_device(struct ibv_context *verbs)
{
	size_t len = 2UL * KN_MSG_LEN * kn_slots;

	if (pd)
		return;
	memory = kw_zalloc(len);
	pd = ibv_alloc_pd(verbs);
	kn_comp = ibv_create_comp_channel(verbs);
	kn_cq = kn_comp ? ibv_create_cq(verbs, 4 * kn_slots, NULL, kn_comp, 0) : NULL;
	mr = pd ? ibv_reg_mr(pd, memory, len, IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (!pd || !kn_cq || !mr || ibv_req_notify_cq(kn_cq, 0))
		kw_die(KW_SETUP, "cannot create what all connections share: %s", strerror(errno));
}

void kn_close_device(void)
{
	if (!pd)
		return;
	if (ibv_dereg_mr(mr) || ibv_destroy_cq(kn_cq) || ibv_destroy_comp_channel(kn_comp) ||
	    ibv_dealloc_pd(pd))
		kw_die(KW_SETUP, "cannot destroy what all connections shared: %s", strerror(errno));
	free(memory);
}

uint64_t kn_index_of(const struct kn_conn *c)
{
	return c - kn_conns;
}

int kn_post_recv(struct kn_conn *c)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)c->buf + KN_MSG_LEN,
		.length = KN_MSG_LEN,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = { .wr_id = kn_index_of(c), .sg_list = &sge, .num_sge = 1 };

	return ibv_post_recv(c->id->qp, &wr, &bad);
}

int kn_post_send(struct kn_conn *c)
{
	struct ibv_sge sge = { .addr = (uintptr_t)c->buf, .length = KN_MSG_LEN, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = kn_index_of(c), .sg_list = &sge, .num_sge = 1 };

	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(c->id->qp, &wr, &bad);
}

int kn_create_qp(struct kn_conn *c)
{
	struct ibv_qp_init_attr attr;

	open_device(c->id->verbs);
	attr = kw_qp_attr(kn_cq, 2, 2, 1);
	c->buf = memory + 2 * KN_MSG_LEN * kn_index_of(c);
	return rdma_create_qp(c->id, pd, &attr) || kn_post_recv(c);
}

struct kn_conn *kn_new_conn(struct rdma_cm_id *id)
{
	struct kn_conn *c;

	/*
	 * Search from the first free slot, not from slot 0: with thousands of connections a search
	 * of all slots would take longer than to connect, and the time to connect is measured.
	 */
	for (c = kn_conns + first_free; c < kn_conns + kn_slots; c++)
		if (!c->id)
			break;
	first_free = kn_index_of(c);
	if (c == kn_conns + kn_slots)
		return NULL;
	kn_num_open++;
	memset(c, 0, sizeof(*c));
	c->id = id;
	c->since = kw_now_ms();
	id->context = c;
	return c;
}

void kn_drop(struct kn_conn *c)
{
	if (c->id->qp)
		rdma_destroy_qp(c->id);
	rdma_destroy_id(c->id);
	c->id = NULL;
	kn_num_open--;
	if (kn_index_of(c) < first_free)
		first_free = kn_index_of(c);
}

struct rdma_conn_param kn_conn_param(uint64_t key)
{
	static uint8_t octets[KN_MAX_DATA];

	kw_fill(octets, kn_opt.data, key, 0);
	return (struct rdma_conn_param){
		.initiator_depth = 1,
		.responder_resources = 1,
		.private_data = octets,
		.private_data_len = kn_opt.data,
	};
}

void kn_check_data(const struct kwcm_event *ev, uint64_t key)
{
	if (!kn_opt.data)
		return;
	if (ev->priv_len != kn_opt.data || kw_check(ev->priv, kn_opt.data, key, 0) != kn_opt.data)
		kw_die(KW_MISMATCH, "mismatch: %u octets of private data, or others than were sent",
		       ev->priv_len);
}
