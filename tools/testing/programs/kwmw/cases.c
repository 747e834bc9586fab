// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwmw is a test program for memory windows, which are in the server's memory.
 * This file: the cases, which the server runs one after the other. Each case has new connections.
 */
#include "kwmw.h"

#include <errno.h>
#include <stdlib.h>

static struct rdma_cm_id *listener;

static struct km_conn accept_one(void)
{
	struct rdma_conn_param param = { .initiator_depth = 4, .responder_resources = 4 };
	struct kwcm_event ev;
	struct km_conn c;

	if (kwcm_expect(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST, KM_EVENT_MS, &ev))
		kw_die(KW_SETUP, "no connection");
	if (!km_pd)
		km_pd = ibv_alloc_pd(ev.id->verbs);
	km_must(km_pd, "allocate a protection domain");
	if (rdma_migrate_id(ev.id, rdma_create_event_channel()))
		kw_die(KW_SETUP, "cannot migrate the id");
	km_make_conn(&c, ev.id, km_pd);
	if (rdma_accept(c.id, &param) ||
	    kwcm_expect(c.id->channel, RDMA_CM_EVENT_ESTABLISHED, KM_EVENT_MS, &ev))
		kw_die(KW_SETUP, "cannot accept");
	return c;
}

static void use_and_invalidate(void)
{
	struct km_conn a = accept_one(), b = accept_one();

	km_fill();
	km_make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	/*
	 * Post the bind and the message with the command at once: the device binds the window
	 * before it sends the message, so the message may name the window's new STag.
	 */
	km_post_bind(&a, KM_WIN_OFF, KM_WIN_LEN, KM_RW);
	km_tell(&a, KM_WRITE, km_win(), 2, false);
	km_expect_wc(&a, IBV_WC_BIND_MW);
	km_expect_wc(&a, IBV_WC_SEND);
	km_expect_wc(&a, IBV_WC_RECV);
	km_post_recv(&a);
	km_expect_memory(2);
	km_done(&a, KM_READ, km_win(), 2);
	km_must(ibv_dereg_mr(km_mr) == EBUSY, "EBUSY for a region with a window");
	km_done(&a, KM_WRITE, km_win(), 3);
	km_expect_memory(3);
	kw_say("ok bound: written, read, region busy");

	km_tried(&b, KM_WRITE, km_win());
	km_drop_conn(&b);
	km_expect_memory(3);
	b = accept_one();
	km_tried(&b, KM_READ, km_win());
	km_drop_conn(&b);
	kw_say("ok other stream refused");

	km_peer_inv(&a);
	km_tried(&a, KM_WRITE, km_win());
	km_expect_memory(3);
	km_must(!ibv_dereg_mr(km_mr), "deregister after the peer's invalidate");
	km_must(!ibv_dealloc_mw(km_mw), "deallocate after the peer's invalidate");
	km_drop_conn(&a);
	kw_say("ok invalidated by the peer");
}

static void local_invalidate(void)
{
	struct km_conn c = accept_one();

	km_fill();
	km_make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	km_bind_window(&c, KM_RW | IBV_ACCESS_ZERO_BASED);
	km_done(&c, KM_WRITE, 0, 4);
	km_expect_memory(4);
	km_local_inv(&c);
	km_bind_window(&c, IBV_ACCESS_REMOTE_READ);
	km_done(&c, KM_READ, km_win(), 4);
	km_tried(&c, KM_WRITE, km_win());
	km_expect_memory(4);
	/* The window stays bound after the stream has ended, until the queue pair is destroyed. */
	km_must(ibv_dereg_mr(km_mr) == EBUSY, "EBUSY after the end of the stream");
	km_drop_conn(&c);
	km_must(!ibv_dereg_mr(km_mr), "deregister after the queue pair");
	km_must(!ibv_dealloc_mw(km_mw), "deallocate after the queue pair");
	kw_say("ok zero based, local invalidate, rights, end of the queue pair");
}

/* The owner may invalidate a window that is not valid, and can bind it afterwards. */
static void invalidate_invalid(void)
{
	struct km_conn c = accept_one();
	struct kwcm_event ev;

	km_fill();
	km_make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	km_local_inv(&c);
	km_bind_window(&c, KM_RW);
	km_done(&c, KM_WRITE, km_win(), 5);
	km_expect_memory(5);
	km_peer_inv(&c);
	/* The peer has invalidated the window, so both local invalidates find it invalid. */
	km_local_inv(&c);
	km_local_inv(&c);
	km_bind_window(&c, KM_RW);
	km_done(&c, KM_READ, km_win(), 5);
	/*
	 * An invalidate of the STag with a wrong key (the last octet) must fail, which ends the
	 * connection.
	 */
	km_post_local_inv(&c, km_mw->rkey ^ 1);
	if (km_next_wc(c.cq).status != IBV_WC_LOC_PROT_ERR)
		kw_die(KW_MISMATCH, "FAILED: a key that is not the window's is invalidated");
	if (kwcm_expect(c.id->channel, RDMA_CM_EVENT_DISCONNECTED, KM_EVENT_MS, &ev))
		kw_die(KW_MISMATCH, "FAILED: the connection goes on");
	km_must(ibv_dereg_mr(km_mr) == EBUSY, "EBUSY: the window is still bound");
	km_drop_memory();
	km_drop_conn(&c);
	kw_say("ok invalidated unbound, twice, by another key");
}

static void range_and_dealloc(void)
{
	struct km_conn c = accept_one();
	uint32_t rkey;

	km_fill();
	km_make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	km_bind_window(&c, KM_RW);
	/*
	 * The first octet lies before the window, so nothing may be placed. If only the end of the
	 * Write lay outside, its first segments would be placed.
	 */
	km_tried(&c, KM_WRITE, km_win() - 1);
	km_expect_memory(0);
	km_drop_conn(&c);
	km_drop_memory();

	c = accept_one();
	km_make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	km_bind_window(&c, KM_RW);
	rkey = km_mw->rkey;
	km_drop_memory();
	km_make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	km_mw->rkey = rkey;
	km_tried(&c, KM_READ, km_win());
	km_drop_conn(&c);
	km_drop_memory();
	kw_say("ok range, deallocated while bound");
}

/* A bind of a bound window must fail, which also ends the connection. */
static void bind_fails(void)
{
	struct km_conn c = accept_one();
	struct kwcm_event ev;

	km_make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	km_bind_window(&c, KM_RW);
	km_post_bind(&c, KM_WIN_OFF, 8, KM_RW);
	if (km_next_wc(c.cq).status != IBV_WC_MW_BIND_ERR)
		kw_die(KW_MISMATCH, "FAILED: a bound window was bound");
	if (kwcm_expect(c.id->channel, RDMA_CM_EVENT_DISCONNECTED, KM_EVENT_MS, &ev))
		kw_die(KW_MISMATCH, "FAILED: the connection goes on");
	km_drop_memory();
	km_drop_conn(&c);
	kw_say("ok bind refused: bound already");
}

/*
 * A bind of a window of either type that the region does not allow is refused when it is posted;
 * the window keeps its key, and the connection goes on.
 */
static void bind_is_refused(const char *why, int mr_access, uint64_t off, uint64_t len,
			    unsigned int access)
{
	struct km_conn c = accept_one();
	struct ibv_mw *type_1 = ibv_alloc_mw(km_pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED };
	uint32_t key;

	km_must(type_1, "ibv_alloc_mw");
	km_make_memory(mr_access);
	bind.bind_info = km_range(off, len, access);
	key = type_1->rkey;
	km_must(km_try_bind(&c, &bind.bind_info) == EINVAL, "EINVAL: bind of type 2");
	km_must(ibv_bind_mw(c.id->qp, type_1, &bind) == EINVAL, "EINVAL: bind of type 1");
	km_must(type_1->rkey == key, "the key of a window that is not bound");
	km_must(!ibv_dealloc_mw(type_1), "ibv_dealloc_mw");
	km_drop_memory();

	km_fill();
	km_make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	km_bind_window(&c, KM_RW);
	km_done(&c, KM_WRITE, km_win(), 1);
	km_drop_memory();
	km_drop_conn(&c);
	kw_say("ok bind refused: %s", why);
}

static void bad_binds(void)
{
	const int good = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;

	bind_is_refused("region without the right", IBV_ACCESS_LOCAL_WRITE, 0, 8, KM_RW);
	bind_is_refused("region is read only", IBV_ACCESS_MW_BIND, 0, 8, IBV_ACCESS_REMOTE_WRITE);
	bind_is_refused("too long", good, 1, KM_BUF_LEN, KM_RW);
	bind_fails();
	errno = 0;
	km_must(!ibv_alloc_mw(km_pd, 3) && errno == EINVAL, "EINVAL for type 3");
}

/*
 * A window of type 1 is open to all streams of the protection domain, and can be bound again
 * without an invalidate.
 */
static void type_1(void)
{
	struct km_conn a = accept_one(), b = accept_one();

	km_fill();
	km_mr = ibv_reg_mr(km_pd, km_buf, KM_BUF_LEN, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	km_must(km_mr, "register memory");
	km_mw = ibv_alloc_mw(km_pd, IBV_MW_TYPE_1);
	km_must(km_mw, "allocate a window of type 1");
	km_bind_type_1(&a, KM_WIN_LEN, KM_RW);
	km_done(&a, KM_WRITE, km_win(), 6);
	km_expect_memory(6);
	km_done(&b, KM_READ, km_win(), 6);
	km_must(ibv_dereg_mr(km_mr) == EBUSY, "EBUSY for a region with a window of type 1");
	km_drop_conn(&a);
	km_done(&b, KM_WRITE, km_win(), 7);
	km_expect_memory(7);
	km_bind_type_1(&b, KM_WIN_LEN, IBV_ACCESS_REMOTE_READ);
	km_done(&b, KM_READ, km_win(), 7);
	km_tried(&b, KM_WRITE, km_win());
	km_expect_memory(7);
	km_drop_conn(&b);
	a = accept_one();
	km_bind_type_1(&a, 0, 0);
	km_must(!ibv_dereg_mr(km_mr), "deregister what no window is bound to");
	km_tried(&a, KM_READ, km_win());
	km_drop_conn(&a);
	km_must(!ibv_dealloc_mw(km_mw), "deallocate a window that is free");
	kw_say("ok type 1");
}

/* A region whose rights change gets another STag, and the old STag is not valid any more. */
static void reregistered(void)
{
	struct km_conn c = accept_one();
	uint32_t old;

	km_fill();
	km_mr = ibv_reg_mr(km_pd, km_buf, KM_BUF_LEN,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	km_must(km_mr, "register memory");
	old = km_mr->rkey;
	km_must(!ibv_rereg_mr(km_mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			      IBV_ACCESS_LOCAL_WRITE | KM_RW), "register it anew");
	km_named = km_mr->rkey;
	km_must(km_named != old, "another STag");
	km_done(&c, KM_WRITE, km_win(), 8);
	km_expect_memory(8);
	km_done(&c, KM_READ, km_win(), 8);
	km_named = old;
	km_tried(&c, KM_READ, km_win());
	km_drop_conn(&c);
	km_must(!ibv_dereg_mr(km_mr), "deregister the memory");
	km_named = 0;
	kw_say("ok registered anew");
}

/* End the process with a window of each type bound. That of type 1 is older than the region. */
static void leave_bound(void)
{
	struct km_conn c = accept_one();
	struct ibv_mw *first = ibv_alloc_mw(km_pd, IBV_MW_TYPE_1);

	km_must(first, "allocate a window of type 1");
	km_make_memory(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	km_bind_window(&c, KM_RW);
	km_mw = first;
	km_bind_type_1(&c, KM_WIN_LEN, KM_RW);
	exit(KW_OK);
}

int km_server(bool leave)
{
	listener = kwcm_listen(km_addr, km_port, 4);
	km_buf = kw_zalloc(KM_BUF_LEN);
	if (leave)
		leave_bound();
	use_and_invalidate();
	local_invalidate();
	invalidate_invalid();
	range_and_dealloc();
	bad_binds();
	type_1();
	reregistered();
	km_must(!ibv_dealloc_pd(km_pd), "deallocate the protection domain");
	kwcm_destroy(listener);
	kw_say("all ok");
	return KW_OK;
}
