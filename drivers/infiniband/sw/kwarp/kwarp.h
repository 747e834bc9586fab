/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device object and what every layer above proto/ may know of it.
 */
#ifndef KWARP_H
#define KWARP_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "limits.h"

/**
 * struct kwarp_knobs - tunables of one device
 *
 * Any context: READ_ONCE/WRITE_ONCE; a connection takes a snapshot at its start,
 * so that a change never affects an established one (5044-4.4-9).
 *
 * @align: keep FPDUs aligned to TCP segments
 * @crc: enum kwarp_crc_policy
 * @markers: ask peers for markers
 * @mpa_rev: revision that we initiate with, 1 or 2
 * @peer_to_peer: initiate with the peer-to-peer model (an RTR is sent)
 * @rtr: RTR forms offered, mask of KWARP_RTR_*
 */
struct kwarp_knobs {
	u32 align;
	u32 crc;
	u32 markers;
	u32 mpa_rev;
	u32 peer_to_peer;
	u32 rtr;
};

/**
 * struct kwarp_dev - one RDMA device on one netdev
 * @ibdev: RDMA core's object; first, as ib_alloc_device() wants it
 * @netdev: the network device; a reference is held until the end
 * @netdev_tracker: that reference
 * @net: where all our sockets are; no reference, but it does not end before them, see
 *	link.c.  Also when the netdev has moved away and the device is about to follow
 * @node: in the list of link.c
 * @adder: who registers the device at the moment; READ_ONCE, to compare with current
 * @knobs: tunables
 * @qps: QP number to struct kwarp_qp; entries are RCU-freed
 * @stags: STag index (24 bits) to struct kwarp_mr; entries are RCU-freed
 * @next_qpn: cursor for cyclic QP number allocation
 * @next_cqn: cursor for CQ numbers (diagnostics only)
 * @num_qp: QPs in use, against limits.h
 * @num_cq: CQs, likewise
 * @num_pd: protection domains, likewise
 * @num_mr: regions and windows, likewise
 * @num_srq: SRQs, likewise
 * @pages: pages for payload that may be used again, see engine/pages.h
 * @pages.lock: protects the rest of the group; any context but hard interrupt, bottom
 *	halves off
 * @pages.ring: the ring; @offset is that of the first octet not yet used
 * @pages.first: its oldest entry
 * @pages.n: entries in use
 * @cm: connection management's objects on this device, see cm/ep.h
 * @cm.lock: protects the rest of the group
 * @cm.eps: endpoints that may still use the device
 * @cm.listeners: listeners, until iw_cm destroys them
 * @cm.idle: woken when @cm.eps has become empty
 * @cm.stopping: no new endpoint, no new listener
 */
struct kwarp_dev {
	struct ib_device ibdev;
	struct net_device *netdev;
	netdevice_tracker netdev_tracker;
	struct net *net;
	struct list_head node;
	const struct task_struct *adder;
	struct kwarp_knobs knobs;

	struct xarray qps;
	struct xarray stags;
	u32 next_qpn;
	atomic_t next_cqn;

	atomic_t num_qp;
	atomic_t num_cq;
	atomic_t num_pd;
	atomic_t num_mr;
	atomic_t num_srq;

	struct {
		spinlock_t lock;	/* this group */
		struct page_frag ring[KWARP_PAGES];
		u32 first;
		u32 n;
	} pages;

	struct {
		spinlock_t lock;	/* this group */
		struct list_head eps;
		struct list_head listeners;
		wait_queue_head_t idle;
		bool stopping;
	} cm;
};

static inline struct kwarp_dev *to_kdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct kwarp_dev, ibdev);
}

/*
 * Module-wide, see main.c: one for QPs and connection endpoints, whose items may wait
 * for a transmit runner, and so another one for the runners.
 */
extern struct workqueue_struct *kwarp_wq;
extern struct workqueue_struct *kwarp_tx_wq;
/*
 * Endpoints, in the order of what happens to them: programs with several connections
 * count on their requests being seen in the order in which they were made.  Nothing in
 * it waits for a peer.
 */
extern struct workqueue_struct *kwarp_cm_wq;

#endif /* KWARP_H */
