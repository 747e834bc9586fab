// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Verbs of device, port, context and protection domain */
#include <linux/inetdevice.h>
#include <net/if_inet6.h>

#include "fixture.h"


static void test_device(struct kunit *test)
{
	struct ib_device_attr attr;
	struct ib_udata *udata;

	memset(&attr, 0xff, sizeof(attr));
	KUNIT_EXPECT_EQ(test, kwarp_query_device(&vt->kdev->ibdev, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, attr.fw_ver, 12ULL << 32 | 34 << 16 | 56);
	KUNIT_EXPECT_EQ(test, attr.hw_ver, 1);
	KUNIT_EXPECT_EQ(test, attr.max_qp, KWARP_MAX_QP);
	KUNIT_EXPECT_EQ(test, attr.max_qp_wr, min(KWARP_MAX_SQ_WR, KWARP_MAX_RQ_WR));
	KUNIT_EXPECT_EQ(test, attr.max_send_sge, KWARP_MAX_SGE);
	KUNIT_EXPECT_EQ(test, attr.max_recv_sge, KWARP_MAX_SGE);
	/* 5040-5.2.2-2: a Read has one sink. */
	KUNIT_EXPECT_EQ(test, attr.max_sge_rd, 1);
	KUNIT_EXPECT_EQ(test, attr.max_cqe, KWARP_MAX_CQE);
	KUNIT_EXPECT_EQ(test, attr.max_mr_size, KWARP_MAX_MR_SIZE);
	KUNIT_EXPECT_EQ(test, attr.max_srq_wr, KWARP_MAX_SRQ_WR);
	KUNIT_EXPECT_EQ(test, attr.max_srq_sge, KWARP_MAX_SGE);
	KUNIT_EXPECT_EQ(test, attr.max_qp_rd_atom, KWARP_MAX_IRD);
	KUNIT_EXPECT_EQ(test, attr.max_qp_init_rd_atom, KWARP_MAX_ORD);
	KUNIT_EXPECT_EQ(test, attr.atomic_cap, IB_ATOMIC_NONE);
	KUNIT_EXPECT_EQ(test, attr.masked_atomic_cap, IB_ATOMIC_NONE);
	KUNIT_EXPECT_EQ(test, attr.device_cap_flags,
			IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_MEM_WINDOW |
			IB_DEVICE_MEM_WINDOW_TYPE_2B | IB_DEVICE_SRQ_RESIZE);
	KUNIT_EXPECT_EQ(test, attr.timestamp_mask, U64_MAX);
	KUNIT_EXPECT_EQ(test, attr.hca_core_clock, 1000000);
	KUNIT_EXPECT_EQ(test, attr.kernel_cap_flags, IBK_ALLOW_USER_UNREG | IBK_SG_GAPS_REG);
	udata = vt_udata(test, 8, 64);
	KUNIT_EXPECT_EQ(test, kwarp_query_device(&vt->kdev->ibdev, &attr, udata), 0);
	vt_unknown(test, 4);
	KUNIT_EXPECT_EQ(test, kwarp_query_device(&vt->kdev->ibdev, &attr, udata), -EOPNOTSUPP);
}

static const struct speed_case {
	const char *desc;
	u32 mbits;
	u32 least;	/* expected speed of the port, Mb/s */
} speeds[] = {
	{ "10 Mb/s", 10, 2500 },
	{ "1 Gb/s", 1000, 2500 },
	{ "10 Gb/s", 10000, 10000 },
	{ "25 Gb/s", 25000, 25000 },
	{ "between", 25001, 40000 },
	{ "100 Gb/s", 100000, 100000 },
	{ "400 Gb/s", 400000, 400000 },
	{ "more than there is a name for", 1600000, 400000 },
	{ "unknown", 0, 40000 },
};

KUNIT_ARRAY_PARAM_DESC(speed, speeds, desc);

static u32 port_mbits(const struct ib_port_attr *attr)
{
	static const u32 lane[] = {
		[IB_SPEED_SDR] = 2500, [IB_SPEED_DDR] = 5000, [IB_SPEED_QDR] = 10000,
		[IB_SPEED_EDR] = 25000, [IB_SPEED_HDR] = 50000, [IB_SPEED_NDR] = 100000,
	};

	return lane[attr->active_speed] * (attr->active_width == IB_WIDTH_4X ? 4 : 1);
}

/* The node description can be changed (sysfs node_desc), and nothing else. */
static void test_node_desc(struct kunit *test)
{
	struct ib_device_modify attr = { .node_desc = "the one in the corner" };
	struct ib_device *ibdev = &vt->kdev->ibdev;

	KUNIT_EXPECT_EQ(test, kwarp_modify_device(ibdev, 0, &attr), 0);
	KUNIT_EXPECT_STREQ(test, ibdev->node_desc, "");
	KUNIT_EXPECT_EQ(test, kwarp_modify_device(ibdev, IB_DEVICE_MODIFY_NODE_DESC |
						  IB_DEVICE_MODIFY_SYS_IMAGE_GUID, &attr),
			-EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, ibdev->node_desc, "");
	KUNIT_EXPECT_EQ(test, kwarp_modify_device(ibdev, IB_DEVICE_MODIFY_NODE_DESC, &attr), 0);
	KUNIT_EXPECT_STREQ(test, ibdev->node_desc, "the one in the corner");
}

static void test_port_address(struct kunit *test)
{
	struct in_ifaddr ifa = { };
	struct in_device in_dev = { .ifa_list = &ifa }, none = { };
	struct inet6_dev in6_dev = { };
	struct list_head address;

	INIT_LIST_HEAD(&in6_dev.addr_list);
	set_bit(__LINK_STATE_START, &vt->netdev->state);
	KUNIT_EXPECT_EQ(test, kwarp_port_state(vt->netdev), IB_PORT_INIT);
	rcu_assign_pointer(vt->netdev->ip_ptr, &none);
	rcu_assign_pointer(vt->netdev->ip6_ptr, &in6_dev);
	KUNIT_EXPECT_EQ(test, kwarp_port_state(vt->netdev), IB_PORT_INIT);
	list_add(&address, &in6_dev.addr_list);
	KUNIT_EXPECT_EQ(test, kwarp_port_state(vt->netdev), IB_PORT_ACTIVE);
	list_del(&address);
	rcu_assign_pointer(vt->netdev->ip_ptr, &in_dev);
	KUNIT_EXPECT_EQ(test, kwarp_port_state(vt->netdev), IB_PORT_ACTIVE);
	rcu_assign_pointer(vt->netdev->ip_ptr, NULL);
	rcu_assign_pointer(vt->netdev->ip6_ptr, NULL);
}

static void test_port(struct kunit *test)
{
	const struct speed_case *c = test->param_value;
	struct ib_device *ibdev = &vt->kdev->ibdev;
	struct ib_port_immutable immutable = { };
	struct ib_port_attr attr = { };

	vt->kdev->speed = c->mbits;
	vt->netdev->mtu = 9000;
	KUNIT_EXPECT_EQ(test, kwarp_query_port(ibdev, 1, &attr), 0);
	KUNIT_EXPECT_EQ(test, port_mbits(&attr), c->least);
	KUNIT_EXPECT_EQ(test, attr.active_mtu, IB_MTU_4096);
	vt->netdev->mtu = 1500;
	KUNIT_EXPECT_EQ(test, kwarp_query_port(ibdev, 1, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.active_mtu, IB_MTU_1024);
	KUNIT_EXPECT_EQ(test, attr.max_mtu, IB_MTU_4096);
	KUNIT_EXPECT_EQ(test, attr.gid_tbl_len, 16);
	KUNIT_EXPECT_EQ(test, attr.max_msg_sz, U32_MAX);
	KUNIT_EXPECT_EQ(test, attr.state, IB_PORT_DOWN);
	KUNIT_EXPECT_EQ(test, attr.phys_state, IB_PORT_PHYS_STATE_DISABLED);
	set_bit(__LINK_STATE_START, &vt->netdev->state);
	KUNIT_EXPECT_EQ(test, kwarp_query_port(ibdev, 1, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.state, IB_PORT_INIT);
	KUNIT_EXPECT_EQ(test, attr.phys_state, IB_PORT_PHYS_STATE_LINK_UP);
	set_bit(__LINK_STATE_NOCARRIER, &vt->netdev->state);
	KUNIT_EXPECT_EQ(test, kwarp_query_port(ibdev, 1, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.state, IB_PORT_DOWN);
	KUNIT_EXPECT_EQ(test, kwarp_port_immutable(ibdev, 1, &immutable), 0);
	KUNIT_EXPECT_EQ(test, immutable.gid_tbl_len, 16);
	KUNIT_EXPECT_EQ(test, immutable.core_cap_flags, RDMA_CORE_PORT_IWARP);
}

/* @agreed: version that the module chooses; 0: the module refuses the context */
static const struct version_case {
	const char *desc;
	u32 low, high;
	u32 agreed;
} versions[] = {
	/* A provider that sends no versions speaks version 1, which the module does not. */
	{ "nothing said", 0, 0, 0 },
	{ "the same", KWARP_ABI_MIN, KWARP_ABI_MAX, KWARP_ABI_MAX },
	{ "newer ones, too", 1, 1000, KWARP_ABI_MAX },
	{ "newer ones only", KWARP_ABI_MAX + 1, 1000, 0 },
	{ "older ones only", 1, KWARP_ABI_MIN - 1, 0 },
	{ "the wrong way round", 2, 1, 0 },
	{ "a lowest one only", KWARP_ABI_MIN, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(version, versions, desc);

static void test_context(struct kunit *test)
{
	const struct version_case *c = test->param_value;
	struct ib_udata *udata = vt_udata(test, 16, 16);
	const struct kwarp_alloc_ucontext_req req = { c->low, c->high, U64_MAX };
	struct kwarp_alloc_ucontext_resp resp;

	KUNIT_ASSERT_EQ(test, copy_to_user(vt->page, &req, sizeof(req)), 0);
	KUNIT_EXPECT_EQ(test, kwarp_alloc_ucontext(&vt->uc.ibuc, udata),
			c->agreed ? 0 : -EOPNOTSUPP);
	if (!c->agreed)
		return;
	kwarp_dealloc_ucontext(&vt->uc.ibuc);
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.abi_version, c->agreed);
	KUNIT_EXPECT_EQ(test, resp.max_inline, KWARP_MAX_INLINE);
	/* The provider claims to know all features: the answer has those that the module knows. */
	KUNIT_EXPECT_EQ(test, resp.features, c->agreed ? vt->uc.features : 0);
	KUNIT_EXPECT_EQ(test, vt->uc.features,
			KWARP_FEATURE_RFC7306 | KWARP_FEATURE_SEND_IMM);
}

/* 7306-1.1-4, 7306-D-6: the context has the feature only if the provider knows it. */
static void test_rfc7306(struct kunit *test)
{
	struct ib_udata *udata = vt_udata(test, 24, 24);
	struct kwarp_alloc_ucontext_req req = { KWARP_ABI_MIN, KWARP_ABI_MAX };
	struct kwarp_alloc_ucontext_resp resp;
	struct ib_device_attr attr;

	vt->kdev->knobs.rfc7306 = 1;
	KUNIT_EXPECT_EQ(test, kwarp_query_device(&vt->kdev->ibdev, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, attr.atomic_cap, IB_ATOMIC_HCA);
	KUNIT_ASSERT_EQ(test, copy_to_user(vt->page, &req, sizeof(req)), 0);
	KUNIT_EXPECT_EQ(test, kwarp_alloc_ucontext(&vt->uc.ibuc, udata), 0);
	KUNIT_EXPECT_EQ(test, vt->uc.features, 0);
	kwarp_dealloc_ucontext(&vt->uc.ibuc);
	req.features = U64_MAX;
	KUNIT_ASSERT_EQ(test, copy_to_user(vt->page, &req, sizeof(req)), 0);
	KUNIT_EXPECT_EQ(test, kwarp_alloc_ucontext(&vt->uc.ibuc, udata), 0);
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.features, KWARP_FEATURE_RFC7306 | KWARP_FEATURE_SEND_IMM);
	KUNIT_EXPECT_EQ(test, vt->uc.features,
			KWARP_FEATURE_RFC7306 | KWARP_FEATURE_SEND_IMM);
	kwarp_dealloc_ucontext(&vt->uc.ibuc);
}

/* The link's knob tells the provider to check programs. */
static void test_strict(struct kunit *test)
{
	const struct kwarp_alloc_ucontext_req req = { KWARP_ABI_MIN, KWARP_ABI_MAX,
						      KWARP_FEATURE_STRICT };
	struct ib_udata *udata = vt_udata(test, 24, 24);
	struct kwarp_alloc_ucontext_resp resp;
	int on;

	for (on = 0; on < 2; on++) {
		vt->kdev->knobs.strict = on;
		KUNIT_ASSERT_EQ(test, copy_to_user(vt->page, &req, sizeof(req)), 0);
		KUNIT_EXPECT_EQ(test, kwarp_alloc_ucontext(&vt->uc.ibuc, udata), 0);
		kwarp_dealloc_ucontext(&vt->uc.ibuc);
		vt_get_answer(test, &resp, sizeof(resp));
		KUNIT_EXPECT_EQ(test, resp.features, on ? KWARP_FEATURE_STRICT : 0);
	}
}

static void test_context_charge(struct kunit *test)
{
	const struct kwarp_alloc_ucontext_req req = { KWARP_ABI_MIN, KWARP_ABI_MAX };
	struct ib_udata *udata = vt_udata(test, 24, 24);

	KUNIT_ASSERT_EQ(test, copy_to_user(vt->page, &req, sizeof(req)), 0);
	KUNIT_EXPECT_EQ(test, kwarp_alloc_ucontext(&vt->other.ibuc, udata), 0);
	KUNIT_EXPECT_EQ(test, vt->accounts, 2);
	KUNIT_EXPECT_GE(test, vt->charged, sizeof(struct kwarp_ucontext));
	kwarp_dealloc_ucontext(&vt->other.ibuc);
	vt->fault = FAULT_CHARGE;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, kwarp_alloc_ucontext(&vt->other.ibuc, udata), -ENOMEM);
	udata->outbuf = NULL;
	KUNIT_EXPECT_EQ(test, kwarp_alloc_ucontext(&vt->other.ibuc, udata), -EFAULT);
}

static void test_pd(struct kunit *test)
{
	struct ib_udata *udata = vt_udata(test, 8, 0);

	KUNIT_EXPECT_EQ(test, kwarp_alloc_pd(&vt->pd.ibpd, udata), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&vt->kdev->num_pd), 1);
	KUNIT_EXPECT_GE(test, vt->charged, sizeof(struct kwarp_pd));
	vt_unknown(test, 1);
	KUNIT_EXPECT_EQ(test, kwarp_alloc_pd(&vt->pd.ibpd, udata), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, kwarp_dealloc_pd(&vt->pd.ibpd, NULL), 0);
	vt->fault = FAULT_CHARGE;
	vt->nth = 1;
	KUNIT_EXPECT_EQ(test, kwarp_alloc_pd(&vt->pd.ibpd, vt_udata(test, 8, 0)), -ENOMEM);
	atomic_set(&vt->kdev->num_pd, KWARP_MAX_PD);
	KUNIT_EXPECT_EQ(test, kwarp_alloc_pd(&vt->pd.ibpd, NULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&vt->kdev->num_pd), KWARP_MAX_PD);
	atomic_set(&vt->kdev->num_pd, 0);
}

static struct kunit_case verbs_device_cases[] = {
	KUNIT_CASE(test_device),
	KUNIT_CASE_PARAM(test_port, speed_gen_params),
	KUNIT_CASE(test_node_desc),
	KUNIT_CASE(test_port_address),
	KUNIT_CASE_PARAM(test_context, version_gen_params),
	KUNIT_CASE(test_rfc7306),
	KUNIT_CASE(test_strict),
	KUNIT_CASE(test_context_charge),
	KUNIT_CASE(test_pd),
	{}
};

static struct kunit_suite verbs_device_suite = {
	.name = "kwarp_verbs_device",
	.init = vt_init,
	.exit = vt_exit,
	.test_cases = verbs_device_cases,
};

kunit_test_suite(verbs_device_suite);
