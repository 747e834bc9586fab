/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The driver is written for Linux 7.2.  This file and compat_ops.h give older kernels what they
 * lack, and do nothing for 7.2.  KWARP_LACKS_* is defined by scripts/kernel/probe.sh, which makes
 * compile tests.  Only these two files look at it.  Headers that older kernels lack are in compat/.
 *
 * All layers include this file, also proto/, which uses no header of networking or RDMA.  So this
 * file includes none of these.
 *
 * Comments begin with the version of Linux that has the change.  "By 6.12": in 6.12 or an older
 * version.
 */
#ifndef KWARP_COMPAT_H
#define KWARP_COMPAT_H

#include <linux/kconfig.h>

/* The #ifndef below asks whether this header defines TIF_NEED_RESCHED_LAZY, so include it first. */
#include <linux/thread_info.h>

/*
 * KWARP_SINCE(NAME, statement) is for what no macro can give an older kernel, such as a member of
 * one of its structs: the kernel has it unless KWARP_LACKS_NAME is defined.  The same for a row of
 * an initializer: KWARP_SINCE_ROW(), and KWARP_BEFORE_ROW() for what the row was before.  Each is a
 * line of its own, which scripts/build-in-tree.sh replaces.
 */
#define KWARP_SINCE(name, code)	\
	__PASTE(__KWARP_SINCE_, __is_defined(KWARP_LACKS_##name))(code)
#define KWARP_SINCE_ROW(name, code)	\
	__PASTE(__KWARP_SINCE_ROW_, __is_defined(KWARP_LACKS_##name))(code)
#define KWARP_BEFORE_ROW(name, code)	\
	__PASTE(__KWARP_BEFORE_ROW_, __is_defined(KWARP_LACKS_##name))(code)
#define __KWARP_SINCE_0		__KWARP_CODE
#define __KWARP_SINCE_1		__KWARP_NOTHING
#define __KWARP_SINCE_ROW_0	__KWARP_ROW
#define __KWARP_SINCE_ROW_1	__KWARP_NOTHING
#define __KWARP_BEFORE_ROW_0	__KWARP_NOTHING
#define __KWARP_BEFORE_ROW_1	__KWARP_ROW
#define __KWARP_CODE(code)	code
#define __KWARP_ROW(row)	row,
#define __KWARP_NOTHING(...)

/* 7.2: ib_umem_get() became ib_umem_get_va() */
#ifdef KWARP_LACKS_IB_UMEM_GET_VA
#define ib_umem_get_va		ib_umem_get
#endif

/* By 7.2: a device can be made in the network namespace of its netdev, not only in init_net */
#ifdef KWARP_LACKS_ALLOC_DEVICE_WITH_NET
#define ib_alloc_device_with_net(drv_struct, member, net)	\
	((void)(net), ib_alloc_device(drv_struct, member))
#endif

/* 6.19: kernel_bind() and kernel_connect() take struct sockaddr_unsized */
#ifdef KWARP_LACKS_SOCKADDR_UNSIZED
#define sockaddr_unsized	sockaddr
#endif

/* 6.17: reg_user_mr() takes a DMA handle */
#ifdef KWARP_LACKS_REG_USER_MR_DMAH
struct ib_dmah;
#endif

/* 6.14: crc32c() moved from linux/crc32c.h to linux/crc32.h */
#ifdef KWARP_LACKS_CRC32C_IN_CRC32_H
#include <linux/crc32c.h>
#endif

/* 6.13: lazy preemption: need_resched() may be false although a task waits for this processor */
#ifndef TIF_NEED_RESCHED_LAZY
#define TIF_NEED_RESCHED_LAZY	TIF_NEED_RESCHED
#endif

/* 6.13: hrtimer_setup() replaces hrtimer_init() and sets the function, too */
#ifdef KWARP_LACKS_HRTIMER_SETUP
#define hrtimer_setup(timer, fn, clock, mode)				\
	do {								\
		struct hrtimer *_timer = (timer);			\
									\
		hrtimer_init(_timer, clock, mode);			\
		_timer->function = fn;					\
	} while (0)
#endif

/* 6.12: the flag WQ_PERCPU says that a workqueue is not WQ_UNBOUND; older kernels lack it */
#ifdef KWARP_LACKS_WQ_PERCPU
#define WQ_PERCPU		0
#endif

/* By 6.12: a driver can mark a device's name as chosen by the user, so that udev keeps it */
#ifdef KWARP_LACKS_NAME_ASSIGNED_BY_USER
#define ib_mark_name_assigned_by_user(ibdev)	((void)(ibdev))
#endif

/*
 * 6.11: __tcp_send_ack() got the parameter flags; 0 is what it sent before.  "...", because the
 * prototype, which has two arguments, may follow.
 */
#ifdef KWARP_LACKS_SEND_ACK_FLAGS
#define __tcp_send_ack(sk, rcv_nxt, ...)	__tcp_send_ack(sk, rcv_nxt)
#endif

/*
 * 6.7: the kernel allocates a shrinker.  In older kernels registration can fail for want of memory:
 * then the shrinker is never called.
 */
#ifdef KWARP_LACKS_SHRINKER_ALLOC
#define shrinker_alloc(flags, name)					\
	((void)(flags), (void)(name), kzalloc(sizeof(struct shrinker), GFP_KERNEL))
#define shrinker_register(s)		((void)register_shrinker(s, "kwarp"))
#define shrinker_free(s)						\
	do {								\
		struct shrinker *_s = (s);				\
									\
		unregister_shrinker(_s);				\
		kfree(_s);						\
	} while (0)
#endif

/* 6.3: vm_flags of a mapping is changed by functions only */
#ifdef KWARP_LACKS_VM_FLAGS_SET
#define vm_flags_set(vma, flags)	((void)((vma)->vm_flags |= (flags)))
#endif

/* 6.3: each sk_data_ready callback calls trace_sk_data_ready(), a tracepoint */
#ifdef KWARP_LACKS_TRACE_SK_DATA_READY
#define trace_sk_data_ready(sk)		((void)(sk))
#endif

/* 6.2: the *_unlocked functions take the buffer's lock; the old names need it to be held */
#ifdef KWARP_LACKS_DMA_BUF_VMAP_UNLOCKED
#define dma_buf_vmap_unlocked		dma_buf_vmap
#define dma_buf_vunmap_unlocked		dma_buf_vunmap
#endif

#endif /* KWARP_COMPAT_H */
