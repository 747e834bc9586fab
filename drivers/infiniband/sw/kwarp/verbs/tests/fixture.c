// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "fixture.h"

#include <linux/mman.h>
#include <linux/uaccess.h>

struct vt *vt;

void vt_log_word(const char *word)
{
	if (vt->log[0])
		strlcat(vt->log, " ", VT_LOG);
	strlcat(vt->log, word, VT_LOG);
}

void vt_expect_log(struct kunit *test, const char *want)
{
	KUNIT_EXPECT_STREQ(test, vt->log, want);
	vt->log[0] = 0;
}

bool vt_is_fault(enum vt_fault what)
{
	return vt->fault == what && !--vt->nth;
}

/* ---------------------------------------------------------------- the process */

struct ib_udata *vt_udata(struct kunit *test, size_t inlen, size_t outlen)
{
	struct ib_udata *udata = &vt->attrs->driver_udata;

	KUNIT_ASSERT_EQ(test, clear_user(vt->page, PAGE_SIZE / 2), 0);
	udata->inbuf = vt->page;
	udata->inlen = inlen;
	udata->outbuf = vt->fault == FAULT_ANSWER ? NULL : vt->answer;
	udata->outlen = outlen;
	return udata;
}

void vt_unknown(struct kunit *test, size_t at)
{
	KUNIT_ASSERT_EQ(test, put_user((u8)1, vt->page + at), 0);
}

void vt_get_answer(struct kunit *test, void *answer, size_t len)
{
	KUNIT_ASSERT_EQ(test, copy_from_user(answer, vt->answer, len), 0);
}

void vt_make_cq(struct kunit *test, struct kwarp_cq **cq, int cqe)
{
	const struct ib_cq_init_attr attr = { .cqe = cqe };

	*cq = kunit_kzalloc(test, sizeof(**cq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, *cq);
	(*cq)->ibcq.device = &vt->kdev->ibdev;
	KUNIT_ASSERT_EQ(test, kwarp_create_cq(&(*cq)->ibcq, &attr, NULL), 0);
}

static int make_process(struct kunit *test)
{
	unsigned long page = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);

	if (!page || IS_ERR_VALUE(page))
		return -ENOMEM;
	vt->page = (u8 __user *)page;
	vt->answer = vt->page + PAGE_SIZE / 2;
	vt->attrs = kunit_kzalloc(test, sizeof(*vt->attrs), GFP_KERNEL);
	if (!vt->attrs)
		return -ENOMEM;
	vt->attrs->context = &vt->uc.ibuc;
	vt->uc.ibuc.device = &vt->kdev->ibdev;
	vt->uc.charge.account = (struct kwarp_account *)&vt->accounts;
	vt->accounts = 1;
	vt->other.ibuc.device = &vt->kdev->ibdev;
	return 0;
}

const struct ib_gid_attr *vt_get_gid_attr(struct ib_device *ibdev, u32 port, int index)
{
	struct ib_gid_attr *attr = &vt->gid_attr[index];

	if (!attr->device)
		return ERR_PTR(-ENODATA);
	vt->gid_refs++;
	return attr;
}

void vt_put_gid_attr(const struct ib_gid_attr *attr)
{
	vt->gid_refs--;
}

int vt_init(struct kunit *test)
{
	vt = kunit_kzalloc(test, sizeof(*vt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, vt);
	vt->kdev = kunit_kzalloc(test, sizeof(*vt->kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, vt->kdev);
	vt->netdev = kunit_kzalloc(test, sizeof(*vt->netdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, vt->netdev);
	INIT_LIST_HEAD(&vt->netdev->adj_list.upper);
#ifndef CONFIG_PCPU_DEV_REFCNT
	refcount_set(&vt->netdev->dev_refcnt, 1);
#endif
	vt->kdev->netdev = vt->netdev;
	vt->kdev->net = &init_net;
	vt->kdev->knobs.log_errors = 1;
	vt->pd.ibpd.device = &vt->kdev->ibdev;
	return make_process(test);
}

void vt_exit(struct kunit *test)
{
	struct kwarp_dev *kdev = vt->kdev;
	int i;

	if (vt->scq)
		kwarp_destroy_cq(&vt->scq->ibcq, NULL);
	if (vt->rcq)
		kwarp_destroy_cq(&vt->rcq->ibcq, NULL);
	vt_grace_period();
	vt_unmap();
	for (i = 0; i < VT_MAPS; i++)
		KUNIT_EXPECT_NULL_MSG(test, vt->map[i], "mapping %d", i);
	KUNIT_EXPECT_EQ(test, vt->rings, 0);
	KUNIT_EXPECT_EQ(test, vt->gid_refs, 0);
	KUNIT_EXPECT_EQ(test, vt->foreign, 0);
	KUNIT_EXPECT_EQ(test, vt->charged, 0);
	KUNIT_EXPECT_EQ(test, vt->late, 0);
	KUNIT_EXPECT_EQ(test, vt->accounts, 1);
	KUNIT_EXPECT_EQ(test, vt->reserved, 0);
	KUNIT_EXPECT_EQ(test, vt->counted, 0);
	KUNIT_EXPECT_EQ(test, vt->mrs, 0);
	KUNIT_EXPECT_EQ(test, vt->umems, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&kdev->num_qp), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&kdev->num_cq), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&kdev->num_srq), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&kdev->num_pd), 0);
}
