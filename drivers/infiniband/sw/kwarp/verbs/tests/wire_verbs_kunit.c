// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Modify of queue pairs that are wired. Words such as "wire sends" are calls of the fakes in
 * fake_qp.c.
 */
#include "qp_fixture.h"

#include <rdma/kwarp-abi.h>

#define PEER_QPN	0x1234
#define MASK_RTR	(IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | \
			 IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)
#define MASK_RTS	(IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | \
			 IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC)

static struct ib_gid_attr own_gid;

static union ib_gid v4_gid(u32 addr)
{
	union ib_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	put_unaligned_be32(addr, gid.raw + 12);
	return gid;
}

static struct ib_qp_attr rtr_attr(void)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR, .path_mtu = IB_MTU_2048, .dest_qp_num = PEER_QPN,
		.rq_psn = 77, .max_dest_rd_atomic = 3, .min_rnr_timer = 14,
	};

	rdma_ah_set_ah_flags(&attr.ah_attr, IB_AH_GRH);
	attr.ah_attr.grh.sgid_attr = &own_gid;
	attr.ah_attr.grh.dgid = v4_gid(0x0a000002);
	attr.ah_attr.grh.traffic_class = 0x2b;
	attr.ah_attr.grh.hop_limit = 9;
	return attr;
}

static struct ib_qp_attr rts_attr(void)
{
	return (struct ib_qp_attr) {
		.qp_state = IB_QPS_RTS, .timeout = 14, .retry_cnt = 6, .rnr_retry = 5,
		.sq_psn = 99, .max_rd_atomic = 2,
	};
}

static int wire_init(struct kunit *test)
{
	int ret = verbs_qp_init(test);

	if (ret)
		return ret;
	own_gid = (struct ib_gid_attr) { .index = 2, .gid = v4_gid(0x0a000001) };
	vt->kdev->knobs.wire_port = 4790;
	vt_make_qp(test);
	return 0;
}

static int modify(struct ib_qp_attr attr, int mask)
{
	return kwarp_modify_qp(&vt_qp->ibqp, &attr, mask, NULL);
}

static struct ib_qp_attr query(void)
{
	struct ib_qp_init_attr init = { };
	struct ib_qp_attr attr;

	kwarp_query_qp(&vt_qp->ibqp, &attr, 0, &init);
	return attr;
}

static void test_wired(struct kunit *test)
{
	struct ib_qp_attr attr;

	vt->uc.features = KWARP_FEATURE_SEND_IMM;
	KUNIT_EXPECT_EQ(test, modify((struct ib_qp_attr) { .qp_state = IB_QPS_INIT },
				     IB_QP_STATE | IB_QP_ACCESS_FLAGS), 0);
	vt_expect_log(test, "access-of-setup");
	KUNIT_EXPECT_EQ(test, modify(rtr_attr(), MASK_RTR), 0);
	vt_expect_log(test, "access wire");
	KUNIT_EXPECT_EQ(test, vt->wiring.pair.own.qpn, VT_QPN);
	KUNIT_EXPECT_EQ(test, vt->wiring.pair.own.peer_qpn, PEER_QPN);
	KUNIT_EXPECT_EQ(test, vt->wiring.pair.own.rq_psn, 77);
	KUNIT_EXPECT_EQ(test, vt->wiring.pair.own.features, KWARP_PAIR_SEND_IMM);
	KUNIT_EXPECT_FALSE(test, vt->wiring.pair.own.sends);
	KUNIT_EXPECT_MEMEQ(test, vt->wiring.pair.addr, own_gid.gid.raw, 16);
	KUNIT_EXPECT_EQ(test, vt->wiring.pair.peer_addr[15], 2);
	KUNIT_EXPECT_EQ(test, vt->wiring.ird, 3);
	KUNIT_EXPECT_EQ(test, vt->wiring.tos, 0x28);
	KUNIT_EXPECT_EQ(test, vt->wiring.rnr_us, 1280);
	attr = query();
	KUNIT_EXPECT_EQ(test, attr.qp_state, IB_QPS_RTR);
	KUNIT_EXPECT_EQ(test, attr.path_mtu, IB_MTU_2048);
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, PEER_QPN);
	KUNIT_EXPECT_EQ(test, attr.ah_attr.grh.hop_limit, 9);
	KUNIT_EXPECT_NULL(test, attr.ah_attr.grh.sgid_attr);
	/* RTR again, and back to INIT */
	KUNIT_EXPECT_EQ(test, modify(rtr_attr(), MASK_RTR), -EINVAL);
	KUNIT_EXPECT_EQ(test, modify((struct ib_qp_attr) { .qp_state = IB_QPS_INIT }, IB_QP_STATE),
			-EINVAL);
	/* The stream may be there before RTS. */
	vt->state = KWARP_QPS_RTS;
	KUNIT_EXPECT_EQ(test, query().qp_state, IB_QPS_RTR);
	KUNIT_EXPECT_EQ(test, modify(rts_attr(), MASK_RTS), 0);
	vt_expect_log(test, "sends");
	KUNIT_EXPECT_EQ(test, vt->sends.sq_psn, 99);
	KUNIT_EXPECT_EQ(test, vt->sends.rnr_retry, 5);
	KUNIT_EXPECT_EQ(test, vt->sends.ord, 2);
	/* 4 * 4.096 us * 2^14 * 7 */
	KUNIT_EXPECT_EQ(test, vt->sends.limit_ms, 1879);
	KUNIT_EXPECT_EQ(test, query().qp_state, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, query().sq_psn, 99);
	KUNIT_EXPECT_EQ(test, modify(rts_attr(), MASK_RTS), 0);
	vt_expect_log(test, "");
	/* A reset ends the stream, and what was wired is forgotten. */
	KUNIT_EXPECT_EQ(test, modify((struct ib_qp_attr) { .qp_state = IB_QPS_RESET },
				     IB_QP_STATE), 0);
	vt_expect_log(test, "cut abort run reset");
	vt->state = KWARP_QPS_IDLE;
	KUNIT_EXPECT_EQ(test, query().qp_state, IB_QPS_INIT);
	KUNIT_EXPECT_EQ(test, query().dest_qp_num, 0);
	KUNIT_EXPECT_EQ(test, modify(rts_attr(), MASK_RTS), -EINVAL);
	KUNIT_EXPECT_EQ(test, modify(rtr_attr(), MASK_RTR), 0);
	vt_expect_log(test, "notice access wire");
	KUNIT_EXPECT_EQ(test, modify((struct ib_qp_attr) { .qp_state = IB_QPS_ERR }, IB_QP_STATE),
			0);
	vt_expect_log(test, "cut abort run");
	vt_destroy_qp(test);
}

/*
 * A stream whose peer has closed may still send. kwarp_cm_unwire() does not end it then, but a
 * reset does; it flushes nothing if there is no stream.
 */
static void test_reset(struct kunit *test)
{
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };

	KUNIT_EXPECT_EQ(test, modify(rtr_attr(), MASK_RTR), 0);
	vt_expect_log(test, "access wire");
	vt->state = KWARP_QPS_CLOSING;
	KUNIT_EXPECT_EQ(test, modify(reset, IB_QP_STATE), 0);
	vt_expect_log(test, "cut abort run reset");
	vt->state = KWARP_QPS_IDLE;
	KUNIT_EXPECT_EQ(test, modify(rtr_attr(), MASK_RTR), 0);
	vt_expect_log(test, "access wire");
	KUNIT_EXPECT_EQ(test, modify(reset, IB_QP_STATE), 0);
	vt_expect_log(test, "cut reset");
	/* A stream of rdma_cm is left alone. */
	vt->state = KWARP_QPS_CLOSING;
	KUNIT_EXPECT_EQ(test, modify(reset, IB_QP_STATE), 0);
	vt_expect_log(test, "reset");
	vt_destroy_qp(test);
}

/* A queue pair that is destroyed is cut off first. */
static void test_destroyed(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, modify(rtr_attr(), MASK_RTR), 0);
	vt_expect_log(test, "access wire");
	KUNIT_EXPECT_EQ(test, vt->wiring.pair.own.features, 0);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_qp(&vt_qp->ibqp, NULL), 0);
	vt_expect_log(test, "cut retire unwire");
}

/* Without the knob RTR is recorded, and RTS fails. */
static void test_off(struct kunit *test)
{
	vt->kdev->knobs.wire_port = 0;
	KUNIT_EXPECT_EQ(test, modify(rtr_attr(), MASK_RTR), 0);
	vt_expect_log(test, "");
	KUNIT_EXPECT_EQ(test, query().dest_qp_num, PEER_QPN);
	KUNIT_EXPECT_EQ(test, modify(rts_attr(), MASK_RTS), -EINVAL);
	KUNIT_EXPECT_EQ(test, query().qp_state, IB_QPS_RTR);
	vt_destroy_qp(test);
}

/* Without an address, and so from librdmacm, it is no wiring. */
static void test_no_address(struct kunit *test)
{
	struct ib_qp_attr attr = rtr_attr();

	KUNIT_EXPECT_EQ(test, modify(attr, MASK_RTR & ~IB_QP_AV), 0);
	KUNIT_EXPECT_EQ(test, modify(rts_attr(), MASK_RTS), -EINVAL);
	rdma_ah_set_ah_flags(&attr.ah_attr, 0);
	KUNIT_EXPECT_EQ(test, modify(attr, MASK_RTR), 0);
	KUNIT_EXPECT_EQ(test, modify(rts_attr(), MASK_RTS), -EINVAL);
	vt_expect_log(test, "notice notice");
	vt_destroy_qp(test);
}

/* Each value that is refused changes nothing. */
static void test_bad(struct kunit *test)
{
	struct ib_qp_attr good = rtr_attr(), bad;
	struct ib_gid_attr gid = own_gid;
	int i;

	for (i = 0; i < 11; i++) {
		bad = good;
		gid = own_gid;
		bad.ah_attr.grh.sgid_attr = &gid;
		switch (i) {
		case 0:
			bad.ah_attr.grh.sgid_attr = NULL;
			break;
		case 1:
			gid.index = 1;
			break;
		case 2:
			memset(&gid.gid, 0, sizeof(gid.gid));
			break;
		case 3:
			memset(&bad.ah_attr.grh.dgid, 0, 16);
			break;
		case 4:
			bad.ah_attr.grh.dgid = v4_gid(0);
			break;
		case 5:
			bad.ah_attr.grh.dgid = v4_gid(0xe0000001);
			break;
		case 6:
			bad.ah_attr.grh.dgid.raw[0] = 0xff;
			break;
		case 7:
			bad.ah_attr.grh.dgid.raw[0] = 0x20;
			break;
		case 8:
			bad.min_rnr_timer = 32;
			break;
		case 9:
			bad.path_mtu = 6;
			break;
		case 10:
			bad.dest_qp_num = 1 << 24;
			break;
		}
		KUNIT_EXPECT_EQ_MSG(test, modify(bad, MASK_RTR), -EINVAL, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, query().qp_state, IB_QPS_INIT, "%d", i);
	}
	vt_expect_log(test, "");
	KUNIT_EXPECT_EQ(test, modify(good, MASK_RTR), 0);
	for (i = 0; i < 3; i++) {
		bad = rts_attr();
		bad.timeout += i == 0 ? 32 : 0;
		bad.retry_cnt += i == 1 ? 2 : 0;
		bad.rnr_retry += i == 2 ? 3 : 0;
		KUNIT_EXPECT_EQ_MSG(test, modify(bad, MASK_RTS), -EINVAL, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, query().qp_state, IB_QPS_RTR, "%d", i);
	}
	vt->log[0] = 0;
	vt->event = -EINVAL;
	KUNIT_EXPECT_EQ(test, modify(rts_attr(), MASK_RTS), -EINVAL);
	KUNIT_EXPECT_EQ(test, query().qp_state, IB_QPS_RTR);
	vt->event = 0;
	KUNIT_EXPECT_EQ(test, kwarp_destroy_qp(&vt_qp->ibqp, NULL), 0);
}

/* A container that was given the device file, and has another network namespace */
static void test_other_net(struct kunit *test)
{
	static struct net other;

	vt->kdev->net = &other;
	KUNIT_EXPECT_EQ(test, modify(rtr_attr(), MASK_RTR), -EINVAL);
	KUNIT_EXPECT_EQ(test, query().qp_state, IB_QPS_INIT);
	vt_expect_log(test, "");
	/* A kernel consumer has no namespace. */
	vt_qp->sq.user = false;
	KUNIT_EXPECT_EQ(test, modify(rtr_attr(), MASK_RTR), 0);
	vt_qp->sq.user = true;
	KUNIT_EXPECT_EQ(test, kwarp_destroy_qp(&vt_qp->ibqp, NULL), 0);
}

/* The wire cannot be made. rdma_cm may use the queue pair, with its own rights. */
static void test_fails(struct kunit *test)
{
	vt->event = -ENOMEM;
	KUNIT_EXPECT_EQ(test, modify(rtr_attr(), MASK_RTR), -ENOMEM);
	vt_expect_log(test, "access wire forget-access access-of-setup");
	KUNIT_EXPECT_EQ(test, query().qp_state, IB_QPS_INIT);
	KUNIT_EXPECT_FALSE(test, vt_qp->wired);
	vt->event = 0;
	KUNIT_EXPECT_EQ(test, modify(rtr_attr(), MASK_RTR), 0);
	vt->log[0] = 0;
	vt->state = KWARP_QPS_ERROR;
	KUNIT_EXPECT_EQ(test, modify(rts_attr(), MASK_RTS), -EINVAL);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_qp(&vt_qp->ibqp, NULL), 0);
}

static struct kunit_case wire_verbs_cases[] = {
	KUNIT_CASE(test_wired),
	KUNIT_CASE(test_reset),
	KUNIT_CASE(test_destroyed),
	KUNIT_CASE(test_off),
	KUNIT_CASE(test_no_address),
	KUNIT_CASE(test_bad),
	KUNIT_CASE(test_other_net),
	KUNIT_CASE(test_fails),
	{}
};

static struct kunit_suite wire_verbs_suite = {
	.name = "kwarp_wire_verbs",
	.init = wire_init,
	.exit = vt_exit,
	.test_cases = wire_verbs_cases,
};

kunit_test_suite(wire_verbs_suite);
