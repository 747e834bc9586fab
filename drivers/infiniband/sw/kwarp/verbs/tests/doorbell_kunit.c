// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The doorbell as the RDMA core and a program see it */
#include "fixture.h"

#include <linux/fs.h>
#include <rdma/uverbs_types.h>

/* Index of the attribute through which the core passes the new object to the OPEN method. */
#define FD_ATTR	uapi_bkey_attr(uapi_key_attr(KWARP_ATTR_DOORBELL_OPEN_FD))

/* Fakes for symbols of the core: only their addresses matter. */
const struct uverbs_obj_type_class uverbs_fd_class = { };

int uverbs_uobject_fd_release(struct inode *inode, struct file *file)
{
	return 0;
}

static const struct uverbs_obj_fd_type *type;
static struct ib_uobject *uobj;
static struct file *bell;
static struct kwarp_qp *qp;

static const struct uverbs_object_def *doorbell_object(void)
{
	return kwarp_uapi_defs[0].chain_obj_tree;
}

static int open_bell(struct kunit *test)
{
	struct uverbs_attr_bundle *attrs;

	type = container_of(doorbell_object()->type_attrs, struct uverbs_obj_fd_type, type);
	uobj = kunit_kzalloc(test, type->type.obj_size, GFP_KERNEL);
	bell = kunit_kzalloc(test, sizeof(*bell), GFP_KERNEL);
	attrs = kunit_kzalloc(test, struct_size(attrs, attrs, FD_ATTR + 1), GFP_KERNEL);
	if (!uobj || !bell || !attrs)
		return -ENOMEM;
	uobj->context = &vt->uc.ibuc;
	set_bit(FD_ATTR, attrs->attr_present);
	attrs->attrs[FD_ATTR].obj_attr.uobject = uobj;
	bell->private_data = uobj;
	return (*doorbell_object()->methods)[0]->handler(attrs);
}

static int doorbell_init(struct kunit *test)
{
	int ret = vt_init(test);

	if (ret)
		return ret;
	qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	if (!qp)
		return -ENOMEM;
	vt->found = qp;
	return open_bell(test);
}

/*
 * @log: "find" is a lookup that has found the queue pair, "put" the end of the reference;
 * "doorbell" and "recv-doorbell" tell the engine of posted requests and of posted receives.
 */
static void expect_ring(struct kunit *test, unsigned int cmd, unsigned long arg, long ret,
			const char *log)
{
	KUNIT_EXPECT_EQ(test, type->fops->unlocked_ioctl(bell, cmd, arg), ret);
	vt_expect_log(test, log);
}

enum whose {
	OWN,		/* the context of the doorbell */
	STRANGER,	/* the context of another process */
	KERNEL,		/* no context: the queue pair of a kernel consumer */
	NOBODY,		/* there is no queue pair of this number */
};

static void belongs_to(enum whose whose)
{
	const struct ib_ucontext *contexts[] = {
		[OWN] = &vt->uc.ibuc, [STRANGER] = &vt->other.ibuc, [KERNEL] = NULL,
	};

	if (whose == NOBODY)
		vt->found = NULL;
	else
		qp->ibuc = contexts[whose];
}

#define SEND	KWARP_IOC_POSTED_SEND
#define RECV	KWARP_IOC_POSTED_RECV

static const struct ring_case {
	const char *desc;
	unsigned int cmd;
	enum whose whose;
	unsigned long arg;
	long ret;
	const char *log;
} rings[] = {
	{ "send", SEND, OWN, VT_QPN, 0, "find doorbell put" },
	{ "receive", RECV, OWN, VT_QPN, 0, "find recv-doorbell put" },
	{ "send of a stranger", SEND, STRANGER, VT_QPN, -EINVAL, "find put" },
	{ "receive of a stranger", RECV, STRANGER, VT_QPN, -EINVAL, "find put" },
	{ "send of the kernel", SEND, KERNEL, VT_QPN, -EINVAL, "find put" },
	{ "receive of the kernel", RECV, KERNEL, VT_QPN, -EINVAL, "find put" },
	{ "send of nobody", SEND, NOBODY, VT_QPN, -EINVAL, "" },
	{ "receive of nobody", RECV, NOBODY, VT_QPN, -EINVAL, "" },
	{ "0", SEND, OWN, 0, -EINVAL, "" },
	{ "another number", SEND, OWN, VT_QPN + 1, -EINVAL, "" },
	{ "the last number of 32 bits", RECV, OWN, U32_MAX, -EINVAL, "" },
#ifdef CONFIG_64BIT
	{ "beyond 32 bits", SEND, OWN, VT_QPN + BIT_ULL(32), -EINVAL, "" },
	{ "receive beyond 32 bits", RECV, OWN, VT_QPN + BIT_ULL(32), -EINVAL, "" },
	{ "the last bit", SEND, OWN, VT_QPN + BIT_ULL(63), -EINVAL, "" },
#endif
	{ "another command", _IO('k', 0x7a), OWN, VT_QPN, -ENOTTY, "" },
	{ "a command with a pointer", _IOW('k', 0x77, u32), OWN, VT_QPN, -ENOTTY, "" },
	{ "no command", 0, OWN, VT_QPN, -ENOTTY, "" },
	{ "another command, of a stranger", _IO('k', 0x7a), STRANGER, VT_QPN, -ENOTTY, "" },
};

KUNIT_ARRAY_PARAM_DESC(ring, rings, desc);

static void test_ring(struct kunit *test)
{
	const struct ring_case *c = test->param_value;

	belongs_to(c->whose);
	expect_ring(test, c->cmd, c->arg, c->ret, c->log);
	/* The first call has changed nothing, so a second call has the same result and log. */
	expect_ring(test, c->cmd, c->arg, c->ret, c->log);
}

/* After the device has gone, an ioctl() does not even look up the queue pair: the log is empty. */
static void test_gone(struct kunit *test)
{
	belongs_to(OWN);
	expect_ring(test, SEND, VT_QPN, 0, "find doorbell put");
	type->destroy_object(uobj, RDMA_REMOVE_DRIVER_REMOVE);
	expect_ring(test, SEND, VT_QPN, -EIO, "");
	expect_ring(test, RECV, VT_QPN, -EIO, "");
	expect_ring(test, SEND, VT_QPN + 1, -EIO, "");
	expect_ring(test, _IO('k', 0x7a), VT_QPN, -ENOTTY, "");
}

static void close_bell(void)
{
	type->destroy_object(uobj, RDMA_REMOVE_CLOSE);
}

/* A new context may have the same address: a queue pair with that address must be refused. */
static void test_ends_meanwhile(struct kunit *test)
{
	belongs_to(OWN);
	vt->on_find = close_bell;
	expect_ring(test, SEND, VT_QPN, -EINVAL, "find put");
	expect_ring(test, SEND, VT_QPN, -EIO, "");
}

/* A context may open two doorbells: both reach its queue pairs, and each is closed separately. */
static void test_second(struct kunit *test)
{
	struct ib_uobject *first = uobj;
	struct file *first_bell = bell;

	belongs_to(OWN);
	KUNIT_ASSERT_EQ(test, open_bell(test), 0);
	expect_ring(test, SEND, VT_QPN, 0, "find doorbell put");
	type->destroy_object(first, RDMA_REMOVE_CLOSE);
	expect_ring(test, SEND, VT_QPN, 0, "find doorbell put");
	bell = first_bell;
	expect_ring(test, SEND, VT_QPN, -EIO, "");
}

/* With another object type the core would not open the file, or would not close it. */
static void test_declared(struct kunit *test)
{
	const struct uverbs_method_def *open = (*doorbell_object()->methods)[0];
	const struct uverbs_attr_def *fd = (*open->attrs)[0];

	KUNIT_EXPECT_EQ(test, kwarp_uapi_defs[0].kind, UAPI_DEF_CHAIN_OBJ_TREE);
	KUNIT_EXPECT_EQ(test, kwarp_uapi_defs[0].object_start.object_id, KWARP_OBJECT_DOORBELL);
	KUNIT_EXPECT_EQ(test, kwarp_uapi_defs[1].kind, UAPI_DEF_END);
	KUNIT_EXPECT_EQ(test, doorbell_object()->id, KWARP_OBJECT_DOORBELL);
	KUNIT_EXPECT_EQ(test, doorbell_object()->num_methods, 1);
	KUNIT_EXPECT_EQ(test, open->id, KWARP_METHOD_DOORBELL_OPEN);
	KUNIT_EXPECT_EQ(test, open->num_attrs, 1);
	KUNIT_EXPECT_EQ(test, fd->id, KWARP_ATTR_DOORBELL_OPEN_FD);
	KUNIT_EXPECT_EQ(test, fd->attr.type, UVERBS_ATTR_TYPE_FD);
	KUNIT_EXPECT_EQ(test, fd->attr.u.obj.access, UVERBS_ACCESS_NEW);
	KUNIT_EXPECT_TRUE(test, fd->attr.mandatory);
	KUNIT_EXPECT_PTR_EQ(test, type->type.type_class, &uverbs_fd_class);
	KUNIT_EXPECT_PTR_EQ(test, type->fops->release, &uverbs_uobject_fd_release);
	KUNIT_EXPECT_PTR_EQ(test, type->fops->owner, THIS_MODULE);
#ifdef CONFIG_COMPAT
	KUNIT_EXPECT_NOT_NULL(test, type->fops->compat_ioctl);
#endif
}

static const struct list_case {
	const char *desc;
	struct kwarp_doorbells bells;
	long ret;
	const char *log;
} lists[] = {
	{ "one", { 1, { VT_QPN } }, 0, "find doorbell put" },
	{ "two", { 2, { VT_QPN, VT_QPN } }, 0, "find doorbell put find doorbell put" },
	{ "one that is not there", { 3, { VT_QPN, 1, VT_QPN } }, -EINVAL,
	  "find doorbell put find doorbell put" },
	{ "after the end", { 1, { VT_QPN, VT_QPN } }, 0, "find doorbell put" },
	{ "none", { 0, { VT_QPN } }, -EINVAL, "" },
	{ "one too many", { 17, { VT_QPN } }, -EINVAL, "" },
	{ "as many as can be said", { U32_MAX, { VT_QPN } }, -EINVAL, "" },
};

KUNIT_ARRAY_PARAM_DESC(list, lists, desc);

static void test_list(struct kunit *test)
{
	const struct list_case *c = test->param_value;
	void __user *place = vt->page;

	KUNIT_ASSERT_EQ(test, copy_to_user(place, &c->bells, sizeof(c->bells)), 0);
	belongs_to(OWN);
	expect_ring(test, KWARP_IOC_POSTED_SENDS, (unsigned long)place, c->ret, c->log);
	expect_ring(test, KWARP_IOC_POSTED_SENDS, 0, -EFAULT, "");
	type->destroy_object(uobj, RDMA_REMOVE_CLOSE);
	expect_ring(test, KWARP_IOC_POSTED_SENDS, (unsigned long)place,
		    c->bells.n && c->bells.n <= 16 ? -EIO : -EINVAL, "");
}

static struct kunit_case doorbell_cases[] = {
	KUNIT_CASE_PARAM(test_ring, ring_gen_params),
	KUNIT_CASE_PARAM(test_list, list_gen_params),
	KUNIT_CASE(test_gone),
	KUNIT_CASE(test_ends_meanwhile),
	KUNIT_CASE(test_second),
	KUNIT_CASE(test_declared),
	{ }
};

static struct kunit_suite doorbell_suite = {
	.name = "kwarp_doorbell",
	.init = doorbell_init,
	.exit = vt_exit,
	.test_cases = doorbell_cases,
};

kunit_test_suite(doorbell_suite);
