// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The doorbell: a file of each opened device, through which its program says that it has
 * posted.
 *
 * The requests are in the ring already, so all there is to say is a number: an ioctl() whose
 * argument is a value, or, for a program with requests left in many send queues, a list of them.
 * The core's commands for posting copy a command, allocate a request and answer, for nobody, and
 * its write() is refused to a process that has changed its credentials.
 *
 * The file is an object of the core (an FD object of ib_uverbs): the core closes it with the
 * device, and whoever has the file open then is told EIO.
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

/**
 * struct kwarp_doorbell - one open doorbell
 * @uobj: the core's object; first
 * @kdev: device; NULL: gone, or closed.  Read under RCU: the core frees devices after a grace
 *	period
 * @ibuc: whose queue pairs it is for; compared, never followed
 */
struct kwarp_doorbell {
	struct ib_uobject uobj;
	struct kwarp_dev *kdev;
	const struct ib_ucontext *ibuc;
};

/*
 * The queue pair that a program names.  Another context's is none: doorbells of strangers
 * would cost their owner processor time.
 *
 * Return: a reference; -EIO: the device is gone; -EINVAL: there is none of this number.
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
	 * The context is compared before it may have ended: its memory may be another's by now,
	 * and so may the queue pair.  Pairs with the store that has made it known by its number.
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

/* One that is not there keeps no other waiting: a program may have destroyed it meanwhile. */
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
		/* Each may send a lot; the rest is flushed with the program's end. */
		if (fatal_signal_pending(current))
			return -EINTR;
		one = ring_doorbell(db, bells.qpn[i], kwarp_engine_posted_send);
		ret = ret ?: one;
	}
	return ret;
}

/* Context: process; the caller becomes the runner, and sends. */
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
/* Of a program of 32 bits: a list's address is one, a number is none. */
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
	/* The core publishes the file later. */
	db->kdev = to_kdev(uobj->context->device);
	return 0;
}

/* The file is closed, or the device goes.  Who has found a queue pair has a reference. */
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
