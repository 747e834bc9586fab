// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "qp_fixture.h"

struct kwarp_qp *vt_qp;
struct kwarp_srq *vt_srq;

struct ib_qp_init_attr vt_qp_attr(void)
{
	return (struct ib_qp_init_attr){
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.send_cq = &vt->scq->ibcq,
		.recv_cq = &vt->rcq->ibcq,
		.cap = { 4, 4, 1, 1, 0 },
	};
}

int verbs_qp_init(struct kunit *test)
{
	int ret = vt_init(test);

	if (ret)
		return ret;
	vt_qp = kunit_kzalloc(test, sizeof(*vt_qp), GFP_KERNEL);
	vt_srq = kunit_kzalloc(test, sizeof(*vt_srq), GFP_KERNEL);
	if (!vt_qp || !vt_srq)
		return -ENOMEM;
	vt_qp->ibqp.device = &vt->kdev->ibdev;
	vt_qp->ibqp.pd = &vt->pd.ibpd;
	vt_make_cq(test, &vt->scq, 4);
	vt_make_cq(test, &vt->rcq, 4);
	return 0;
}

int vt_create_user(struct kunit *test, struct ib_qp_init_attr *attr)
{
	return kwarp_create_qp(&vt_qp->ibqp, attr,
			       vt_udata(test, 0, sizeof(struct kwarp_create_qp_resp)));
}

void vt_make_qp(struct kunit *test)
{
	struct ib_qp_init_attr attr = vt_qp_attr();

	KUNIT_ASSERT_EQ(test, vt_create_user(test, &attr), 0);
	vt_expect_log(test, "publish");
	vt_qp->ibqp.qp_type = attr.qp_type;
}

void vt_destroy_qp(struct kunit *test)
{
	vt->log[0] = 0;
	KUNIT_EXPECT_EQ(test, kwarp_destroy_qp(&vt_qp->ibqp, NULL), 0);
	vt_expect_log(test, "retire unwire");
	KUNIT_EXPECT_EQ(test, vt->drops, 1);
	KUNIT_EXPECT_PTR_EQ(test, vt->dropped, vt_qp);
}
