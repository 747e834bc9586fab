// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbell is a test program for doorbells: files on which an ioctl() ("ring") tells the driver that
 * requests were posted. This file: device contexts, and their queue pairs: idle, in the error
 * state, and destroyed.
 */
#include "kwbell.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#define ENTRIES		8	/* length of each work queue */

const char *bell_dev;
struct bell_context bell_own, bell_stranger;
uint32_t bell_destroyed;
struct bell_dead bell_dead;

/* Call a command. Return: the first word of the answer, which is the handle of a new object. */
static uint32_t create(int fd, uint32_t cmd, struct kwu_buf in, size_t out_len,
		       struct kwu_buf answer)
{
	uint32_t out[64] = { 0 };
	struct kwu_call c = { .cmd = cmd, .in = in, .out = { out, out_len }, .drv_out = answer };
	int rv = kwu_invoke(fd, &c);

	if (rv)
		kw_die(KW_SETUP, "command %u: %s", cmd, strerror(rv));
	return out[0];
}

static uint32_t create_cq(int fd, struct kwarp_create_cq_resp *resp)
{
	struct ib_uverbs_create_cq in = { .cqe = 2 * ENTRIES, .comp_channel = -1 };

	return create(fd, IB_USER_VERBS_CMD_CREATE_CQ, KWU_BUF(in),
		      sizeof(struct ib_uverbs_create_cq_resp), KWU_BUF(*resp));
}

static uint32_t create_qp(const struct bell_context *x, uint32_t cq,
			  struct kwarp_create_qp_resp *resp)
{
	struct ib_uverbs_create_qp in = {
		.pd_handle = x->pd,
		.send_cq_handle = cq,
		.recv_cq_handle = cq,
		.max_send_wr = ENTRIES,
		.max_recv_wr = ENTRIES,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.qp_type = IB_UVERBS_QPT_RC,
	};

	return create(x->fd, IB_USER_VERBS_CMD_CREATE_QP, KWU_BUF(in),
		      sizeof(struct ib_uverbs_create_qp_resp), KWU_BUF(*resp));
}

static void destroy_qp(int fd, uint32_t handle)
{
	struct ib_uverbs_destroy_qp in = { .qp_handle = handle };

	create(fd, IB_USER_VERBS_CMD_DESTROY_QP, KWU_BUF(in),
	       sizeof(struct ib_uverbs_destroy_qp_resp), KWU_NONE);
}

int bell_open_bell(int fd)
{
	int bell = kwu_doorbell(fd);

	if (bell < 0)
		kw_die(KW_MISMATCH, "FAILED: no doorbell: %s", strerror(errno));
	return bell;
}

void bell_open_context(struct bell_context *x)
{
	struct ib_uverbs_alloc_pd in = { 0 };
	struct kwarp_create_cq_resp cq;
	struct kwarp_create_qp_resp qp;
	int rv;

	x->fd = kwu_open(bell_dev);
	rv = kwu_begin(x->fd);
	if (rv)
		kw_die(KW_SETUP, "no context: %s", strerror(rv));
	x->bell = bell_open_bell(x->fd);
	x->pd = create(x->fd, IB_USER_VERBS_CMD_ALLOC_PD, KWU_BUF(in),
		       sizeof(struct ib_uverbs_alloc_pd_resp), KWU_NONE);
	x->cq = create_cq(x->fd, &cq);
	create_qp(x, x->cq, &qp);
	x->qpn = qp.qpn;
}

static void *map_ring(uint64_t key, uint32_t len)
{
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, bell_own.fd, key);

	if (map == MAP_FAILED)
		kw_die(KW_SETUP, "cannot map a ring: %s", strerror(errno));
	return map;
}

/* How to map the rings of the queue pair in the error state. */
static struct kwarp_create_cq_resp dead_cq;
static struct kwarp_create_qp_resp dead_qp;

void bell_map_dead(void)
{
	bell_dead.sq = map_ring(dead_qp.mmap_key, dead_qp.sq_len + dead_qp.rq_len);
	bell_dead.rq = (void *)((char *)bell_dead.sq + dead_qp.sq_len);
	bell_dead.cq = map_ring(dead_cq.mmap_key, dead_cq.mmap_len);
}

void bell_make_dead(void)
{
	struct ib_uverbs_modify_qp in = { .attr_mask = 1 /* state */, .qp_state = 6 /* ERR */ };
	uint32_t handle = create_cq(bell_own.fd, &dead_cq);

	in.qp_handle = create_qp(&bell_own, handle, &dead_qp);
	create(bell_own.fd, IB_USER_VERBS_CMD_MODIFY_QP, KWU_BUF(in), 0, KWU_NONE);
	bell_dead.qpn = dead_qp.qpn;
	bell_map_dead();
}

void bell_make_destroyed(void)
{
	struct kwarp_create_qp_resp qp;

	destroy_qp(bell_own.fd, create_qp(&bell_own, bell_own.cq, &qp));
	bell_destroyed = qp.qpn;
}
