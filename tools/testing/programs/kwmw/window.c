// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwmw is a test program for memory windows, which are in the server's memory. This file: functions
 * of the server that create and bind a window, let the client use it, and check the contents of the
 * memory afterwards.
 */
#include "kwmw.h"

#define BEFORE		1	/* seed for kw_fill(), which fills the memory before a case */

uint8_t *km_buf;
struct ibv_pd *km_pd;
struct ibv_mr *km_mr;
struct ibv_mw *km_mw;
uint32_t km_named;	/* STag that the client has to use; 0: that of the window */

void km_fill(void)
{
	kw_fill(km_buf, KM_BUF_LEN, BEFORE, 0);
}

/*
 * The memory in the window must have the octets that kw_fill() makes from the seed @key, or, if
 * @key is 0, those from before the case. The memory around the window must be unchanged.
 */
void km_expect_memory(uint64_t key)
{
	const size_t end = KM_WIN_OFF + KM_WIN_LEN;

	km_must(kw_check(km_buf, KM_WIN_OFF, BEFORE, 0) == KM_WIN_OFF, "octets before the window");
	km_must(kw_check(km_buf + end, KM_BUF_LEN - end, BEFORE, end) == KM_BUF_LEN - end,
		"octets after the window");
	km_must(kw_check(km_buf + KM_WIN_OFF, KM_WIN_LEN, key ? key : BEFORE,
			 key ? 0 : KM_WIN_OFF) == KM_WIN_LEN,
		"contents of the window");
}

void km_make_memory(int access)
{
	km_mr = ibv_reg_mr(km_pd, km_buf, KM_BUF_LEN, access);
	km_must(km_mr, "register memory");
	km_mw = ibv_alloc_mw(km_pd, IBV_MW_TYPE_2);
	km_must(km_mw, "allocate a window");
}

void km_drop_memory(void)
{
	km_must(!ibv_dealloc_mw(km_mw), "deallocate the window");
	km_must(!ibv_dereg_mr(km_mr), "deregister the memory");
}

struct ibv_mw_bind_info km_range(uint64_t off, uint64_t len, unsigned int access)
{
	return (struct ibv_mw_bind_info){
		.mr = km_mr, .addr = (uintptr_t)km_buf + off, .length = len,
		.mw_access_flags = access,
	};
}

/* The bind gives the window another STag, in which only the last octet, the key, differs. */
int km_try_bind(struct km_conn *c, const struct ibv_mw_bind_info *info)
{
	uint32_t key = ibv_inc_rkey(km_mw->rkey);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = km_mw, .rkey = key, .bind_info = *info },
	}, *bad;
	int ret = ibv_post_send(c->id->qp, &wr, &bad);

	if (!ret)
		km_mw->rkey = key;
	return ret;
}

void km_post_bind(struct km_conn *c, uint64_t off, uint64_t len, unsigned int access)
{
	struct ibv_mw_bind_info info = km_range(off, len, access);

	km_must(!km_try_bind(c, &info), "bind a window of type 2");
}

void km_bind_window(struct km_conn *c, unsigned int access)
{
	km_post_bind(c, KM_WIN_OFF, KM_WIN_LEN, access);
	km_expect_wc(c, IBV_WC_BIND_MW);
}

void km_post_local_inv(struct km_conn *c, uint32_t rkey)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV };

	wr.invalidate_rkey = rkey;
	km_post(c, &wr);
}

void km_local_inv(struct km_conn *c)
{
	km_post_local_inv(c, km_mw->rkey);
	km_expect_wc(c, IBV_WC_LOCAL_INV);
}

void km_tell(struct km_conn *c, enum km_what op, uint64_t at, uint64_t key, bool is_refused)
{
	c->msg[0] = (struct km_command){
		.what = op,
		.refused = is_refused,
		.addr = at,
		.key = key,
		.rkey = km_named ? km_named : km_mw->rkey,
		.len = KM_WIN_LEN,
	};
	km_post_msg(c, IBV_WR_SEND, 0);
}

/* Let the client do an operation through the window. The operation has to succeed. */
void km_done(struct km_conn *c, enum km_what op, uint64_t at, uint64_t key)
{
	km_tell(c, op, at, key, false);
	km_expect_wc(c, IBV_WC_SEND);
	km_expect_wc(c, IBV_WC_RECV);
	km_post_recv(c);
}

/* Let the client try an operation that must be refused, which ends the connection. */
void km_tried(struct km_conn *c, enum km_what op, uint64_t at)
{
	struct ibv_wc wc;
	struct kwcm_event ev;

	km_tell(c, op, at, 99, true);
	km_expect_wc(c, IBV_WC_SEND);
	wc = km_next_wc(c->recv_cq);
	km_must(wc.status == IBV_WC_WR_FLUSH_ERR, "the receive is flushed");
	if (kwcm_expect(c->id->channel, RDMA_CM_EVENT_DISCONNECTED, KM_EVENT_MS, &ev))
		kw_die(KW_MISMATCH, "FAILED: nothing was refused");
}

/* Let the client invalidate the window by a Send with Invalidate. */
void km_peer_inv(struct km_conn *c)
{
	struct ibv_wc wc;

	km_tell(c, KM_SEND_INV, 0, 0, false);
	km_expect_wc(c, IBV_WC_SEND);
	wc = km_next_wc(c->recv_cq);
	km_must(wc.status == IBV_WC_SUCCESS && wc.wc_flags & IBV_WC_WITH_INV &&
		wc.invalidated_rkey == km_mw->rkey, "the receive names the rkey");
	km_post_recv(c);
}

uint64_t km_win(void)
{
	return (uintptr_t)km_buf + KM_WIN_OFF;
}

/* Bind a window of type 1 to the region. With @len 0 the window is bound to nothing. */
void km_bind_type_1(struct km_conn *c, uint64_t len, unsigned int access)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = len ? km_mr : NULL, .addr = len ? km_win() : 0, .length = len,
			       .mw_access_flags = access },
	};
	uint32_t before = km_mw->rkey;

	km_must(!ibv_bind_mw(c->id->qp, km_mw, &bind), "bind a window of type 1");
	km_must(km_mw->rkey != before, "a new key");
	km_expect_wc(c, IBV_WC_BIND_MW);
}
