/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Differences between supported kernels.  Only this file looks at KWARP_HAVE_*, which
 * scripts/kernel/probe.sh defines by compile tests.
 *
 * All layers include this file, also proto/, which uses no header of networking or RDMA. So this
 * file includes none of these, but defines the names of headers that have moved, for #include
 * KWARP_RPS_H and the like. The names are in quotes, because in <linux/crc32.h> the preprocessor
 * would replace linux, a macro of the compiler's, with 1.
 *
 * Comments begin with the version of Linux that has the change; the branch after #ifdef is for that
 * version and newer ones.  "By 6.12": in 6.12 or an older version.
 */
#ifndef KWARP_COMPAT_H
#define KWARP_COMPAT_H

#include "kwarp_config.h"

struct ib_device;
struct net_device;

/* 6.14: crc32c() moved from linux/crc32c.h to linux/crc32.h */
#ifdef KWARP_HAVE_CRC32C_IN_CRC32_H
#define KWARP_CRC32C_H		"linux/crc32.h"
#else
#define KWARP_CRC32C_H		"linux/crc32c.h"
#endif

/* 6.12: get_unaligned_be32() and the like moved from asm/unaligned.h to linux/unaligned.h */
#ifdef KWARP_HAVE_LINUX_UNALIGNED_H
#define KWARP_UNALIGNED_H	"linux/unaligned.h"
#else
#define KWARP_UNALIGNED_H	"asm/unaligned.h"
#endif

/* The #ifdef below asks whether this header defines TIF_NEED_RESCHED_LAZY, so include it first. */
#include <linux/thread_info.h>

/* 6.13: lazy preemption: need_resched() may be false although a task waits for this processor */
#ifdef TIF_NEED_RESCHED_LAZY
#define kwarp_need_resched()	(need_resched() || test_thread_flag(TIF_NEED_RESCHED_LAZY))
#else
#define kwarp_need_resched()	need_resched()
#endif

/* 6.12: the flag WQ_PERCPU says that a workqueue is not WQ_UNBOUND; older kernels lack it */
#ifdef KWARP_HAVE_WQ_PERCPU
#define KWARP_WQ_PERCPU		WQ_PERCPU
#else
#define KWARP_WQ_PERCPU		0
#endif

/* 6.9: sock_rps_record_flow() moved from net/sock.h to net/rps.h */
#ifdef KWARP_HAVE_NET_RPS_H
#define KWARP_RPS_H		"net/rps.h"
#else
#define KWARP_RPS_H		"net/sock.h"
#endif

/* 6.3: vm_flags of a mapping is changed by functions only */
#ifdef KWARP_HAVE_VM_FLAGS_SET
#define kwarp_vm_flags_set(vma, flags)	vm_flags_set(vma, flags)
#else
#define kwarp_vm_flags_set(vma, flags)	((void)((vma)->vm_flags |= (flags)))
#endif

/* 6.3: each sk_data_ready callback calls trace_sk_data_ready(), a tracepoint */
#ifdef KWARP_HAVE_TRACE_SK_DATA_READY
#define KWARP_TRACE_SOCK_H	"trace/events/sock.h"
#define kwarp_trace_data_ready(sk)	trace_sk_data_ready(sk)
#else
#define KWARP_TRACE_SOCK_H	"net/sock.h"
#define kwarp_trace_data_ready(sk)	((void)(sk))
#endif

/* 6.19: kernel_bind() and kernel_connect() take struct sockaddr_unsized */
#ifdef KWARP_HAVE_SOCKADDR_UNSIZED
#define kwarp_sockaddr	sockaddr_unsized
#else
#define kwarp_sockaddr	sockaddr
#endif

/*
 * 6.2: with sk_use_task_frag = false TCP does not use current->task_frag.  In older kernels TCP
 * does not use it because sk_allocation lacks __GFP_FS.
 */
#ifdef KWARP_HAVE_SK_USE_TASK_FRAG
#define kwarp_sk_no_task_frag(sk)	((void)((sk)->sk_use_task_frag = false))
#else
#define kwarp_sk_no_task_frag(sk)	((void)(sk))
#endif

/* 6.11: create_cq() gets all attributes of the verb; older kernels pass only the driver data */
#ifdef KWARP_HAVE_CREATE_CQ_ATTRS
#define kwarp_cq_attrs		uverbs_attr_bundle
#define kwarp_cq_udata(attrs)						\
	({								\
		struct uverbs_attr_bundle *_attrs = (attrs);		\
									\
		_attrs ? &_attrs->driver_udata : NULL;			\
	})
#else
#define kwarp_cq_attrs		ib_udata
#define kwarp_cq_udata(udata)	(udata)
#endif

/*
 * 7.1: uverbs_robust_udata tells the core that the driver follows the core's rules for driver data
 * (verbs/udata.h), such as: refuse a request that has unknown octets which are not zero.
 */
#ifdef KWARP_HAVE_ROBUST_UDATA
#define KWARP_ROBUST_UDATA	.uverbs_robust_udata = 1,
#else
#define KWARP_ROBUST_UDATA
#endif

/* 7.1: the core calls create_user_cq() for programs, and create_cq() for kernel consumers only */
#ifdef KWARP_HAVE_CREATE_USER_CQ
#define KWARP_CREATE_USER_CQ	.create_user_cq = kwarp_create_cq,
#else
#define KWARP_CREATE_USER_CQ
#endif

/*
 * 7.0: the core passes a port number when a queue pair is bound to a counter. A driver can extend
 * struct rdma_counter; kwarp does not.
 */
#ifdef KWARP_HAVE_COUNTER_PORT
#define KWARP_COUNTER_QP_ARGS	struct ib_qp *ibqp, u32 port
#define KWARP_COUNTER_OBJECT \
	.counter_init = kwarp_counter_init, \
	.size_rdma_counter = sizeof(struct rdma_counter),
#else
#define KWARP_COUNTER_QP_ARGS	struct ib_qp *ibqp
#define KWARP_COUNTER_OBJECT
#endif

/* 6.12: an operation with which `rdma resource show srq` shows details from the driver */
#ifdef KWARP_HAVE_FILL_RES_SRQ
#define KWARP_FILL_SRQ		.fill_res_srq_entry = kwarp_fill_srq,
#else
#define KWARP_FILL_SRQ
#endif

/* 6.17: reg_user_mr() takes a DMA handle, for PCI steering tags, which kwarp does not support */
#ifdef KWARP_HAVE_REG_USER_MR_DMAH
#define KWARP_DMAH_ARG		struct ib_dmah *dmah,
#define kwarp_has_dmah		(dmah)
#else
#define KWARP_DMAH_ARG
#define kwarp_has_dmah		false
#endif

/* 6.12: reg_user_mr_dmabuf() gets all attributes of the verb; older kernels: driver data only */
#ifdef KWARP_HAVE_REG_DMABUF_ATTRS
#define kwarp_dmabuf_attrs	uverbs_attr_bundle
#else
#define kwarp_dmabuf_attrs	ib_udata
#endif

/* 6.2: the *_unlocked functions take the buffer's lock; the old names need it to be held */
#ifdef KWARP_HAVE_DMA_BUF_VMAP_UNLOCKED
#define kwarp_dma_buf_vmap	dma_buf_vmap_unlocked
#define kwarp_dma_buf_vunmap	dma_buf_vunmap_unlocked
#else
#define kwarp_dma_buf_vmap	dma_buf_vmap
#define kwarp_dma_buf_vunmap	dma_buf_vunmap
#endif

/*
 * 6.17: a program may give the memory of a CQ, 7.2: also that of a queue pair, by these attributes.
 * The core leaves it to the driver to refuse them.
 */
#ifdef KWARP_HAVE_QUEUE_UMEM_ATTRS
#define KWARP_CQ_BUFFER_ATTRS						\
	{								\
		UVERBS_ATTR_CREATE_CQ_BUFFER_VA,			\
		UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH,			\
		UVERBS_ATTR_CREATE_CQ_BUFFER_FD,			\
		UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET,			\
		UVERBS_ATTR_CREATE_CQ_BUF_UMEM,				\
	}
#define KWARP_QP_BUFFER_ATTRS						\
	{								\
		UVERBS_ATTR_CREATE_QP_BUF_UMEM,				\
		UVERBS_ATTR_CREATE_QP_RQ_BUF_UMEM,			\
		UVERBS_ATTR_CREATE_QP_SQ_BUF_UMEM,			\
	}
#elif defined(KWARP_HAVE_CQ_BUFFER_ATTRS)
#define KWARP_CQ_BUFFER_ATTRS						\
	{								\
		UVERBS_ATTR_CREATE_CQ_BUFFER_VA,			\
		UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH,			\
		UVERBS_ATTR_CREATE_CQ_BUFFER_FD,			\
		UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET,			\
	}
#define KWARP_QP_BUFFER_ATTRS	{ }
#else
#define KWARP_CQ_BUFFER_ATTRS	{ }
#define KWARP_QP_BUFFER_ATTRS	{ }
#endif

/* 7.1: resize_cq() became resize_user_cq(), with an unsigned number of entries */
#ifdef KWARP_HAVE_RESIZE_USER_CQ
#define resize_cq		resize_user_cq
#define kwarp_cqe_count		unsigned int
#else
#define kwarp_cqe_count		int
#endif

/* 6.11: __tcp_send_ack() got the parameter flags; 0 is what it sent before */
#ifdef KWARP_HAVE_SEND_ACK_FLAGS
#define kwarp_send_ack(sk, rcv_nxt)	__tcp_send_ack(sk, rcv_nxt, 0)
#else
#define kwarp_send_ack(sk, rcv_nxt)	__tcp_send_ack(sk, rcv_nxt)
#endif

/* 7.2: ib_umem_get() became ib_umem_get_va() */
#ifdef KWARP_HAVE_IB_UMEM_GET_VA
#define ib_umem_get		ib_umem_get_va
#endif

/* 6.13: hrtimer_setup() replaces hrtimer_init() and sets the function, too */
#ifdef KWARP_HAVE_HRTIMER_SETUP
#define kwarp_hrtimer_setup(timer, fn, mode)	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, mode)
#else
#define kwarp_hrtimer_setup(timer, fn, mode)				\
	do {								\
		struct hrtimer *_timer = (timer);			\
									\
		hrtimer_init(_timer, CLOCK_MONOTONIC, mode);		\
		_timer->function = fn;					\
	} while (0)
#endif

/*
 * 6.13: the core turns netdev events into port events, but only for one device of a netdev, not for
 * bonds, and without regard to IP addresses. If a driver has the operation report_port_event, the
 * core reports nothing. kwarp reports port events elsewhere (device.c), so its operation is empty.
 */
#ifdef KWARP_HAVE_REPORT_PORT_EVENT
static inline void kwarp_report_port_event(struct ib_device *ibdev, struct net_device *netdev,
					   unsigned long event)
{
}

#define KWARP_REPORT_PORT_EVENT	.report_port_event = kwarp_report_port_event,
#else
#define KWARP_REPORT_PORT_EVENT
#endif

/* By 7.2: a device can be made in the network namespace of its netdev, not only in init_net */
#ifdef KWARP_HAVE_ALLOC_DEVICE_WITH_NET
#define kwarp_alloc_device(drv_struct, member, net)	\
	ib_alloc_device_with_net(drv_struct, member, net)
#else
#define kwarp_alloc_device(drv_struct, member, net)	\
	((void)(net), ib_alloc_device(drv_struct, member))
#endif

/* By 6.12: a driver can mark a device's name as chosen by the user, so that udev keeps it */
#ifndef KWARP_HAVE_NAME_ASSIGNED_BY_USER
#define ib_mark_name_assigned_by_user(ibdev)	((void)(ibdev))
#endif

/* By 7.2: `rdma link delete` calls the driver before it asks the device's users to leave */
#ifdef KWARP_HAVE_LINK_OPS_DELLINK
#define kwarp_set_dellink(ops, fn)		((ops)->dellink = (fn))
#define kwarp_set_link_ops(ibdev, ops)		((ibdev)->link_ops = (ops))
#else
#define kwarp_set_dellink(ops, fn)		((void)(ops), (void)(fn))
#define kwarp_set_link_ops(ibdev, ops)		((void)(ibdev), (void)(ops))
#endif

#endif /* KWARP_COMPAT_H */
