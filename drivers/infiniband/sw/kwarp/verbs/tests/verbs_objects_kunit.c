// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Device, port, context, protection domain, shared receive queue: what is refused and with which
 * errno, what is granted, what user space can map, and that a call that fails leaves no object
 * behind.
 *
 * Numbers such as 5040-5.2.2-2 name requirements of RFCs, see Documentation/conformance.
 */
#include <linux/inetdevice.h>
#include <net/if_inet6.h>

#include "fixture.h"
#include "ring_faults.h"

#include <linux/etherdevice.h>
#include <linux/log2.h>

/* ------------------------------------------------------ shared receive queues */

static struct kwarp_srq *new_srq(struct kunit *test)
{
	struct kwarp_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, srq);
	srq->ibsrq.device = &vt->kdev->ibdev;
	srq->ibsrq.pd = &vt->pd;
	return srq;
}

static int create_srq(struct kunit *test, struct kwarp_srq *srq, struct ib_srq_init_attr *init)
{
	struct ib_udata *udata = vt_udata(test, 0, sizeof(struct kwarp_create_srq_resp));

	return kwarp_create_srq(&srq->ibsrq, init, udata);
}

static const struct srq_case {
	const char *desc;
	struct ib_srq_init_attr init;
	int ret;
} srqs[] = {
	{ "one", { .attr = { .max_wr = 1, .max_sge = 1 } } },
	{ "no SGE", { .attr = { .max_wr = 3 } } },
	{ "most", { .attr = { .max_wr = KWARP_MAX_SRQ_WR, .max_sge = 1 } } },
	{ "most SGEs", { .attr = { .max_wr = 1, .max_sge = KWARP_MAX_SGE } } },
	{ "none", { .attr = { .max_wr = 0, .max_sge = 1 } }, -EINVAL },
	{ "too many", { .attr = { .max_wr = KWARP_MAX_SRQ_WR + 1, .max_sge = 1 } }, -EINVAL },
	{ "too many SGEs", { .attr = { .max_wr = 1, .max_sge = KWARP_MAX_SGE + 1 } }, -EINVAL },
	{ "XRC", { .srq_type = IB_SRQT_XRC, .attr = { .max_wr = 1, .max_sge = 1 } },
	  -EOPNOTSUPP },
	{ "tag matching", { .srq_type = IB_SRQT_TM, .attr = { .max_wr = 1, .max_sge = 1 } },
	  -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(srq, srqs, desc);

static void test_srq(struct kunit *test)
{
	const struct srq_case *c = test->param_value;
	struct ib_srq_init_attr init = c->init;
	struct kwarp_srq *srq = new_srq(test);
	struct kwarp_create_srq_resp resp;
	struct ib_srq_attr now;

	KUNIT_EXPECT_EQ(test, create_srq(test, srq, &init), c->ret);
	if (c->ret)
		return;
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_GE(test, resp.size, c->init.attr.max_wr);
	KUNIT_EXPECT_LE(test, resp.size, KWARP_MAX_SRQ_WR);
	KUNIT_EXPECT_TRUE(test, is_power_of_2(resp.size));
	KUNIT_EXPECT_GE(test, resp.stride, sizeof(struct kwarp_rqe) +
			c->init.attr.max_sge * sizeof(struct kwarp_sge));
	vt_expect_map(test, resp.mmap_key, resp.mmap_len);
	KUNIT_EXPECT_EQ(test, kwarp_query_srq(&srq->ibsrq, &now), 0);
	KUNIT_EXPECT_EQ(test, now.max_wr, resp.size);
	KUNIT_EXPECT_EQ(test, now.max_wr, init.attr.max_wr);
	KUNIT_EXPECT_EQ(test, now.max_sge, max(c->init.attr.max_sge, 1U));
	KUNIT_EXPECT_EQ(test, now.srq_limit, 0);
	KUNIT_EXPECT_PTR_EQ(test, srq->mem.pd, &vt->pd);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, resp.mmap_key, resp.mmap_len), -EINVAL);
}

static void test_srq_fault(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	const struct fault_case *c = test->param_value;

	set_fault(c);
	KUNIT_EXPECT_EQ(test, create_srq(test, new_srq(test), &init), c->ret);
}

static void test_srq_limit(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };

	atomic_set(&vt->kdev->num_srq, KWARP_MAX_SRQ);
	KUNIT_EXPECT_EQ(test, create_srq(test, new_srq(test), &init), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&vt->kdev->num_srq), KWARP_MAX_SRQ);
	atomic_set(&vt->kdev->num_srq, 0);
}

/* The limit may be as large as the queue; the size changes only with a request of the driver. */
static void test_srq_modify(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ib_srq_attr attr = { .max_wr = 8, .srq_limit = 4 };
	struct kwarp_srq *srq = new_srq(test);
	struct ib_udata *udata;

	KUNIT_ASSERT_EQ(test, create_srq(test, srq, &init), 0);
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_LIMIT, NULL), 0);
	KUNIT_EXPECT_EQ(test, srq->rq.limit, 4);
	attr.srq_limit = 5;
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_LIMIT, NULL), -EINVAL);
	attr.srq_limit = 2;
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_LIMIT | IB_SRQ_MAX_WR,
					       NULL), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, 0, NULL), 0);
	udata = vt_udata(test, 8, 0);
	vt_unknown(test, 7);
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_LIMIT, udata),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, kwarp_query_srq(&srq->ibsrq, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.srq_limit, 4);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
}

/* The request of a resize names the address for the answer: in the tests, after the request. */
#define ANSWER_AT	64

static int resize_srq(struct kunit *test, struct kwarp_srq *srq, u32 max_wr, bool answer)
{
	struct ib_udata *udata = vt_udata(test, sizeof(struct kwarp_modify_srq_req), 0);
	struct kwarp_modify_srq_req req = { .answer = (uintptr_t)vt->page + ANSWER_AT };
	struct ib_srq_attr attr = { .max_wr = max_wr, .srq_limit = 1000 };

	if (!answer)
		req.answer = ULONG_MAX & PAGE_MASK;
	KUNIT_ASSERT_EQ(test, copy_to_user(vt->page, &req, sizeof(req)), 0);
	return kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_MAX_WR, udata);
}

/* The new ring replaces the old one, which cannot be mapped any more. */
static void test_srq_resize(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 3 } };
	struct kwarp_create_srq_resp before, after;
	struct kwarp_srq *srq = new_srq(test);
	struct ib_srq_attr now;

	KUNIT_ASSERT_EQ(test, create_srq(test, srq, &init), 0);
	vt_get_answer(test, &before, sizeof(before));
	srq->rq.limit = 5;
	KUNIT_EXPECT_EQ(test, resize_srq(test, srq, 100, true), 0);
	KUNIT_ASSERT_EQ(test, copy_from_user(&after, vt->page + ANSWER_AT, sizeof(after)), 0);
	KUNIT_EXPECT_EQ(test, after.size, 128);
	KUNIT_EXPECT_EQ(test, after.stride, before.stride);
	KUNIT_EXPECT_EQ(test, vt->rings, 1);
	vt_expect_map(test, after.mmap_key, after.mmap_len);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, before.mmap_key, before.mmap_len), -EINVAL);
	KUNIT_EXPECT_EQ(test, kwarp_query_srq(&srq->ibsrq, &now), 0);
	KUNIT_EXPECT_EQ(test, now.max_wr, 128);
	KUNIT_EXPECT_EQ(test, now.srq_limit, 5);
	KUNIT_EXPECT_EQ(test, now.max_sge, 3);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
}

/* A resize that is refused leaves the old ring in use. */
static void test_srq_resize_refused(struct kunit *test)
{
	static const u32 wrong[] = { 0, KWARP_MAX_SRQ_WR + 1, U32_MAX };
	struct ib_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 3 } };
	struct ib_srq_attr attr = { .max_wr = 16 };
	struct kwarp_srq *srq = new_srq(test);
	struct kwarp_create_srq_resp resp;
	int i;

	KUNIT_ASSERT_EQ(test, create_srq(test, srq, &init), 0);
	vt_get_answer(test, &resp, sizeof(resp));
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test, resize_srq(test, srq, wrong[i], true), -EINVAL, "%u",
				    wrong[i]);
	/* Three receives are posted, so two entries are too few. */
	srq->rq.ring.hdr->prod = 3;
	KUNIT_EXPECT_EQ(test, resize_srq(test, srq, 2, true), -EINVAL);
	for (i = 0; i < 2; i++) {
		set_fault(&ring_faults[i]);
		KUNIT_EXPECT_EQ_MSG(test, resize_srq(test, srq, 16, true), ring_faults[i].ret, "%s",
				    ring_faults[i].desc);
	}
	vt->fault = FAULT_NONE;
	KUNIT_EXPECT_EQ(test, resize_srq(test, srq, 16, false), -EFAULT);
	KUNIT_EXPECT_EQ(test, kwarp_modify_srq(&srq->ibsrq, &attr, IB_SRQ_MAX_WR, NULL),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, vt->rings, 1);
	KUNIT_EXPECT_EQ(test, srq->rq.max_wr, 8);
	vt_expect_map(test, resp.mmap_key, resp.mmap_len);
	KUNIT_EXPECT_EQ(test, resize_srq(test, srq, 4, true), 0);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
}

/* Programs post to their ring, so the verb refuses them; kernel consumers post a chain. */
static void test_srq_post(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	const struct ib_recv_wr wr = { .wr_id = 1 }, *bad = NULL;
	struct kwarp_srq *srq = new_srq(test);

	KUNIT_ASSERT_EQ(test, create_srq(test, srq, &init), 0);
	KUNIT_EXPECT_EQ(test, kwarp_post_srq_recv(&srq->ibsrq, &wr, &bad), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_EQ(test, bad, &wr);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
	srq = new_srq(test);
	KUNIT_ASSERT_EQ(test, kwarp_create_srq(&srq->ibsrq, &init, NULL), 0);
	KUNIT_EXPECT_EQ(test, kwarp_post_srq_recv(&srq->ibsrq, &wr, &bad), 0);
	KUNIT_EXPECT_EQ(test, srq->rq.posted, 1);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
}

static void test_srq_payer(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct kwarp_srq *srq = new_srq(test);

	KUNIT_ASSERT_EQ(test, create_srq(test, srq, &init), 0);
	KUNIT_EXPECT_EQ(test, vt->paid, 1);
	KUNIT_EXPECT_EQ(test, vt->unpaid, 0);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
	srq = new_srq(test);
	KUNIT_ASSERT_EQ(test, kwarp_create_srq(&srq->ibsrq, &init, NULL), 0);
	KUNIT_EXPECT_EQ(test, vt->paid, 1);
	KUNIT_EXPECT_EQ(test, vt->unpaid, 1);
	KUNIT_EXPECT_EQ(test, kwarp_destroy_srq(&srq->ibsrq, NULL), 0);
}

/* ------------------------------------------------------- device, port, context */

/* The attributes of the device are the limits that the other verbs enforce. */
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
	KUNIT_EXPECT_EQ(test, attr.kernel_cap_flags, IBK_ALLOW_USER_UNREG | IBK_SG_GAPS_REG);
	udata = vt_udata(test, 8, 64);
	KUNIT_EXPECT_EQ(test, kwarp_query_device(&vt->kdev->ibdev, &attr, udata), 0);
	vt_unknown(test, 4);
	KUNIT_EXPECT_EQ(test, kwarp_query_device(&vt->kdev->ibdev, &attr, udata), -EOPNOTSUPP);
}

static const struct speed_case {
	const char *desc;
	u32 mbits;
	u32 least;	/* of the port, Mb/s */
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

/* The port of a netdev without an IPv4 or IPv6 address is INIT, with one it is ACTIVE. */
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
	KUNIT_EXPECT_EQ(test, attr.gid_tbl_len, 2);
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
	KUNIT_EXPECT_EQ(test, immutable.gid_tbl_len, 2);
	KUNIT_EXPECT_EQ(test, immutable.core_cap_flags, RDMA_CORE_PORT_IWARP);
}

/* The GID is the hardware address, or without one the node GUID: rdma_cm refuses a zero GID. */
static void test_gid(struct kunit *test)
{
	static const u8 mac[ETH_ALEN] = { 2, 3, 4, 5, 6, 7 }, zero[16];
	struct ib_device *ibdev = &vt->kdev->ibdev;
	union ib_gid gid;

	vt->netdev->addr_len = ETH_ALEN;
	vt->netdev->dev_addr = mac;
	ibdev->node_guid = cpu_to_be64(0x1122334455667788);
	KUNIT_EXPECT_EQ(test, kwarp_query_gid(ibdev, 1, 0, &gid), 0);
	KUNIT_EXPECT_MEMEQ(test, gid.raw, mac, ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, gid.raw + ETH_ALEN, zero, sizeof(gid) - ETH_ALEN);
	/* The second GID, for programs that take the first one for unused (it ends in zeroes). */
	KUNIT_EXPECT_EQ(test, kwarp_query_gid(ibdev, 1, 1, &gid), 0);
	KUNIT_EXPECT_MEMEQ(test, gid.raw, mac, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, gid.global.interface_id, ibdev->node_guid);
	vt->netdev->dev_addr = zero;
	KUNIT_EXPECT_EQ(test, kwarp_query_gid(ibdev, 1, 0, &gid), 0);
	KUNIT_EXPECT_MEMEQ(test, gid.raw, &ibdev->node_guid, sizeof(ibdev->node_guid));
	vt->netdev->addr_len = 0;
	vt->netdev->dev_addr = mac;
	KUNIT_EXPECT_EQ(test, kwarp_query_gid(ibdev, 1, 0, &gid), 0);
	KUNIT_EXPECT_MEMEQ(test, gid.raw, &ibdev->node_guid, sizeof(ibdev->node_guid));
}

/* Versions @low to @high that the provider speaks, and the one agreed on; 0: none. */
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
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.abi_version, c->agreed);
	KUNIT_EXPECT_EQ(test, resp.max_inline, KWARP_MAX_INLINE);
	/* Of the features that the provider knows, those that the module knows, too. */
	KUNIT_EXPECT_EQ(test, resp.features, c->agreed ? vt->uc.features : 0);
	KUNIT_EXPECT_EQ(test, vt->uc.features, KWARP_FEATURE_RFC7306);
}

/* 7306-1.1-4, 7306-D-6: the knob decides, and for programs whether their provider knows it. */
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
	req.features = U64_MAX;
	KUNIT_ASSERT_EQ(test, copy_to_user(vt->page, &req, sizeof(req)), 0);
	KUNIT_EXPECT_EQ(test, kwarp_alloc_ucontext(&vt->uc.ibuc, udata), 0);
	vt_get_answer(test, &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.features, KWARP_FEATURE_RFC7306);
	KUNIT_EXPECT_EQ(test, vt->uc.features, KWARP_FEATURE_RFC7306);
}

static void test_pd(struct kunit *test)
{
	struct ib_udata *udata = vt_udata(test, 8, 0);

	KUNIT_EXPECT_EQ(test, kwarp_alloc_pd(&vt->pd, udata), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&vt->kdev->num_pd), 1);
	vt_unknown(test, 1);
	KUNIT_EXPECT_EQ(test, kwarp_alloc_pd(&vt->pd, udata), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, kwarp_dealloc_pd(&vt->pd, NULL), 0);
	atomic_set(&vt->kdev->num_pd, KWARP_MAX_PD);
	KUNIT_EXPECT_EQ(test, kwarp_alloc_pd(&vt->pd, NULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&vt->kdev->num_pd), KWARP_MAX_PD);
	atomic_set(&vt->kdev->num_pd, 0);
}

static struct kunit_case verbs_objects_cases[] = {
	KUNIT_CASE_PARAM(test_srq, srq_gen_params),
	KUNIT_CASE_PARAM(test_srq_fault, ring_fault_gen_params),
	KUNIT_CASE(test_srq_limit),
	KUNIT_CASE(test_srq_modify),
	KUNIT_CASE(test_srq_resize),
	KUNIT_CASE(test_srq_resize_refused),
	KUNIT_CASE(test_srq_post),
	KUNIT_CASE(test_srq_payer),
	KUNIT_CASE(test_device),
	KUNIT_CASE_PARAM(test_port, speed_gen_params),
	KUNIT_CASE(test_node_desc),
	KUNIT_CASE(test_port_address),
	KUNIT_CASE(test_gid),
	KUNIT_CASE_PARAM(test_context, version_gen_params),
	KUNIT_CASE(test_rfc7306),
	KUNIT_CASE(test_pd),
	{}
};

static struct kunit_suite verbs_objects_suite = {
	.name = "kwarp_verbs_objects",
	.init = vt_init,
	.exit = vt_exit,
	.test_cases = verbs_objects_cases,
};

kunit_test_suite(verbs_objects_suite);
