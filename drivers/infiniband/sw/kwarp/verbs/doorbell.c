// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The doorbell: a file of each opened device, through which a program tells the kernel that it
 * has posted requests.
 *
 * The requests are in the shared ring already, so the program only has to name the queue pair:
 * by the value of an ioctl() argument or, for several send queues at once, by a list of queue
 * pair numbers.  The RDMA core's own commands for posting would copy a command, allocate a
 * request and write an answer that the program does not need, and the core refuses write() to a
 * process that has changed its credentials.
 *
 * The file is an FD object of ib_uverbs.  When the device goes away the core destroys the object;
 * the program keeps its file descriptor, and its doorbells then fail with EIO.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/uverbs_types.h>

#include "../kwarp.h"
#include "../qp/qp.h"
#include "verbs.h"

#define UVERBS_MODULE_NAME kwarp
#include <rdma/uverbs_named_ioctl.h>

static_assert(KWARP_OBJECT_DOORBELL == 1U << UVERBS_ID_NS_SHIFT);
static_assert(KWARP_METHOD_DOORBELL_OPEN == 1U << UVERBS_ID_NS_SHIFT);
static_assert(KWARP_ATTR_DOORBELL_OPEN_FD == 1U << UVERBS_ID_NS_SHIFT);

/*
 * @kdev: NULL after the device has gone or the file was closed. Read under RCU: the core frees
 * devices after a grace period. @ibuc: compared, never dereferenced.
 */
struct kwarp_doorbell {
	struct ib_uobject uobj;
	struct kwarp_dev *kdev;
	const struct ib_ucontext *ibuc;
};

/*
 * Queue pairs of other contexts are not found: otherwise one process could ring for the queue pairs
 * of another process, and cost the other process processor time.
 *
 * Return: the queue pair with a reference.
 */
static struct kwarp_qp *find_doorbell_qp(const struct kwarp_doorbell *db, unsigned long qpn)
{
	struct kwarp_qp *qp = NULL;
	struct kwarp_dev *kdev;

	if (qpn > U32_MAX)
		return ERR_PTR(-EINVAL);
	rcu_read_lock();
	kdev = READ_ONCE(db->kdev);
	if (kdev)
		qp = kwarp_qp_lookup(kdev, qpn);
	rcu_read_unlock();
	if (!kdev)
		return ERR_PTR(-EIO);
	/*
	 * The context of this doorbell may have been freed meanwhile, and @qp may belong to a new
	 * context at the same address: then qp->ibuc equals db->ibuc.  So read db->kdev again after
	 * the lookup: destroy_doorbell() clears it before the context is freed.  The barrier pairs
	 * with the store to kdev->qps in kwarp_qp_publish(): if the lookup has found a queue pair
	 * of the new context, db->kdev is also seen as NULL.
	 */
	smp_rmb();
	if (qp && (qp->ibuc != db->ibuc || !READ_ONCE(db->kdev))) {
		kwarp_qp_put(qp);
		qp = NULL;
	}
	return qp ?: ERR_PTR(-EINVAL);
}

static long ring_doorbell(const struct kwarp_doorbell *db, unsigned long qpn,
			  void (*posted)(struct kwarp_engine *e, bool user))
{
	struct kwarp_qp *qp = find_doorbell_qp(db, qpn);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	posted(&qp->engine, true);
	kwarp_qp_put(qp);
	return 0;
}

/*
 * A queue pair that is not found does not stop the loop: the program may have destroyed it in
 * another thread.
 */
static long ring_doorbells(const struct kwarp_doorbell *db, const void __user *list)
{
	struct kwarp_doorbells bells;
	long ret = 0, one;
	u32 i;

	if (copy_from_user(&bells, list, sizeof(bells)))
		return -EFAULT;
	if (!bells.n || bells.n > ARRAY_SIZE(bells.qpn))
		return -EINVAL;
	for (i = 0; i < bells.n; i++) {
		/*
		 * Each doorbell may send for a long time, so stop if the process is being killed:
		 * its queue pairs are destroyed then, and requests that were not sent are flushed.
		 */
		if (fatal_signal_pending(current))
			return -EINTR;
		one = ring_doorbell(db, bells.qpn[i], kwarp_engine_posted_send);
		ret = ret ?: one;
	}
	return ret;
}

/*
 * For a send queue the calling thread itself sends the requests, unless another context is sending
 * for the queue pair already.
 */
static long doorbell_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct kwarp_doorbell *db = file->private_data;

	switch (cmd) {
	case KWARP_IOC_POSTED_SEND:
		return ring_doorbell(db, arg, kwarp_engine_posted_send);
	case KWARP_IOC_POSTED_RECV:
		return ring_doorbell(db, arg, kwarp_engine_posted_recv);
	case KWARP_IOC_POSTED_SENDS:
		return ring_doorbells(db, (const void __user *)arg);
	default:
		return -ENOTTY;
	}
}

#ifdef CONFIG_COMPAT
/* 32-bit programs: the address of a list is converted, a queue pair number is taken as it is. */
static long doorbell_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	if (cmd == KWARP_IOC_POSTED_SENDS)
		arg = (unsigned long)compat_ptr(arg);
	return doorbell_ioctl(file, cmd, arg);
}
#endif

static const struct file_operations doorbell_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = doorbell_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl = doorbell_compat_ioctl,
#endif
	.release = uverbs_uobject_fd_release,
};

static struct kwarp_doorbell *to_doorbell(struct ib_uobject *uobj)
{
	return container_of(uobj, struct kwarp_doorbell, uobj);
}

static int UVERBS_HANDLER(KWARP_METHOD_DOORBELL_OPEN)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs, KWARP_ATTR_DOORBELL_OPEN_FD);
	struct kwarp_doorbell *db = to_doorbell(uobj);

	db->ibuc = uobj->context;
	/* No locking: the core publishes the file only after this method has returned. */
	db->kdev = to_kdev(uobj->context->device);
	return 0;
}

/*
 * The file was closed, or the device goes away: later ioctl()s find no queue pair.  An ioctl() that
 * has already found a queue pair may continue to use it: the lookup has taken a reference.
 */
static void destroy_doorbell(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	WRITE_ONCE(to_doorbell(uobj)->kdev, NULL);
}

DECLARE_UVERBS_NAMED_METHOD(KWARP_METHOD_DOORBELL_OPEN,
			    UVERBS_ATTR_FD(KWARP_ATTR_DOORBELL_OPEN_FD, KWARP_OBJECT_DOORBELL,
					   UVERBS_ACCESS_NEW, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(KWARP_OBJECT_DOORBELL,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct kwarp_doorbell), destroy_doorbell,
						 &doorbell_fops, "[kwarp_doorbell]", O_RDONLY),
			    &UVERBS_METHOD(KWARP_METHOD_DOORBELL_OPEN));

const struct uapi_definition kwarp_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(KWARP_OBJECT_DOORBELL),
	{},
};
