/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device object and what every layer above proto/ may know of it.
 */
#ifndef KWARP_H
#define KWARP_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "limits.h"
#include "counts.h"

/* 256 lists of endpoints by their id, and as many of listeners */
#define KWARP_CM_ID_BITS	8

struct socket;

/**
 * struct kwarp_knobs - tunables of one device
 *
 * Any context: READ_ONCE/WRITE_ONCE; a connection takes a snapshot at its start,
 * so that a change never affects an established one (5044-4.4-9).  Each has a row in knobs.h.
 * What is no number has a lock, @names_lock of struct kwarp_dev.
 *
 * @align: keep FPDUs aligned to TCP segments
 * @crc: enum kwarp_crc_policy
 * @coalesce_us: microseconds until a timer looks after requests that a program that polls has
 *	left in the ring, to go out together; 0: each doorbell is obeyed at once
 * @congestion: TCP's congestion control, by name; "": that of the network namespace
 * @connect_timeout: seconds that TCP has for a connect, and then the peer for its Reply
 * @half_open_max: connections of one listener that have not finished MPA startup, or were refused
 * @keepalive: seconds after which a silent peer is given up, or 0; limits @user_timeout
 * @linger_timeout: seconds from our FIN to the peer's
 * @markers: ask peers for markers
 * @mpa_rev: revision that we initiate with, 1 or 2
 * @peer_to_peer: initiate with the peer-to-peer model (an RTR is sent)
 * @rcvbuf: octets that TCP may keep of what has been received, as SO_RCVBUF; 0: TCP chooses
 * @rfc7306: immediate data and atomic operations; a queue pair takes its snapshot when it is made
 * @rtr: RTR forms offered, mask of KWARP_RTR_*
 * @sndbuf: octets that TCP may keep of what is sent, as SO_SNDBUF; 0: TCP chooses
 * @startup_timeout: seconds that a peer which has connected has for its Request, and for its
 *	first FPDU
 * @strict: the sink of a Read needs remote write, too, as with most iWARP hardware
 * @tos: type of service of connections whose program chooses none
 * @user_timeout: seconds that TCP sends unacknowledged data again, or 0
 */
struct kwarp_knobs {
	u32 align;
	u32 crc;
	u32 coalesce_us;
	char congestion[KWARP_CONGESTION_LEN];
	u32 connect_timeout;
	u32 half_open_max;
	u32 keepalive;
	u32 linger_timeout;
	u32 markers;
	u32 mpa_rev;
	u32 peer_to_peer;
	u32 rcvbuf;
	u32 rfc7306;
	u32 rtr;
	u32 sndbuf;
	u32 startup_timeout;
	u32 strict;
	u32 tos;
	u32 user_timeout;
};

/**
 * struct kwarp_dev - one RDMA device on one netdev
 * @ibdev: RDMA core's object; first, as ib_alloc_device() wants it
 * @netdev: the network device; a reference is held until the end
 * @netdev_tracker: that reference
 * @siw: its user space speaks siw's uABI (a link of type kwarp-siw); immutable
 * @net: where all our sockets are; no reference, but it does not end before them, see
 *	link.c.  Also when the netdev has moved away and the device is about to follow
 * @node: in the list of device_list.c
 * @port_active: what was said last of the port; under RTNL
 * @speed: of the netdev, Mb/s, 0 if nobody knows; written under RTNL, READ_ONCE
 * @port_work: finds out @speed, and whether users have to hear of the port, see device.c
 * @adder: who registers the device at the moment; READ_ONCE, to compare with current
 * @knobs: tunables
 * @names_lock: protects those of @knobs that are names, and what belongs to them
 * @congestion_pin: a socket that has the congestion control of that knob, which therefore stays
 * @debug: its folder in debugfs, see debug.c
 * @qps: QP number to struct kwarp_qp_refs; entries are RCU-freed
 * @stags: STag index (24 bits) to struct kwarp_mr; entries are RCU-freed
 * @next_qpn: cursor for cyclic QP number allocation
 * @next_cqn: cursor for CQ numbers (diagnostics only)
 * @num_qp: QPs in use, against limits.h
 * @num_cq: CQs, likewise
 * @num_pd: protection domains, likewise
 * @num_mr: regions and windows, likewise
 * @num_srq: SRQs, likewise
 * @stats: counts
 * @stashes_now: FPDUs that TCP could not keep, held by us now, see engine/rx/skb.c
 * @stashes_unpaid: those of them that nobody pays for
 * @stashes: such FPDUs so far
 * @coalesce_timeouts: times that the timer has sent what a program had forgotten in a queue
 * @coalesce_paced: times that a timer has sent what libsiw has posted, see engine/tx/pace.h
 * @paced: streams that have such a timer, up to KWARP_MAX_PACED
 * @holds: CQs whose timer runs, up to KWARP_MAX_HOLDS
 * @pages: pages for payload that may be used again, see engine/tx/pages.h
 * @pages.lock: protects the rest of the group; any context but hard interrupt, bottom
 *	halves off
 * @pages.ring: the ring; @offset is that of the first octet not yet used
 * @pages.first: its oldest entry
 * @pages.n: entries in use
 * @cm: connection management's objects on this device, see cm/types.h
 * @cm.lock: protects the rest of the group
 * @cm.eps: endpoints that may still use the device
 * @cm.listeners: listeners, until iw_cm destroys them
 * @cm.idle: woken when @cm.eps has become empty
 * @cm.stopping: no new endpoint, no new listener
 * @cm.new_lock: protects @cm.new_qps; taken under iw_cm's spinlock
 * @cm.new_qps: what iw_cm has of queue pairs and no call has claimed yet, see cm/cm_qp.c
 * @cm.no_qp: what iw_cm gets if there is no memory; immutable
 */
struct kwarp_dev {
	struct ib_device ibdev;
	struct net_device *netdev;
	netdevice_tracker netdev_tracker;
	bool siw;
	struct net *net;
	struct list_head node;
	bool port_active;
	u32 speed;
	struct work_struct port_work;
	const struct task_struct *adder;
	struct kwarp_knobs knobs;
	struct mutex names_lock;	/* names among knobs, congestion_pin */
	struct socket *congestion_pin;
	struct dentry *debug;

	struct xarray qps;
	struct xarray stags;
	u32 next_qpn;
	atomic_t next_cqn;

	atomic_t num_qp;
	atomic_t num_cq;
	atomic_t num_pd;
	atomic_t num_mr;
	atomic_t num_srq;

	struct kwarp_stats stats;
	atomic_t stashes_now;
	atomic_t stashes_unpaid;
	atomic_long_t stashes;
	atomic_long_t coalesce_timeouts;
	atomic_long_t coalesce_paced;
	atomic_t paced;
	atomic_t holds;

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
		/* by the id of iw_cm: endpoints that have upcalls to make, listeners that listen */
		DECLARE_HASHTABLE(ep_ids, KWARP_CM_ID_BITS);
		DECLARE_HASHTABLE(listener_ids, KWARP_CM_ID_BITS);
		wait_queue_head_t idle;
		bool stopping;
		raw_spinlock_t new_lock; /* new_qps; taken under iw_cm's spinlock */
		struct list_head new_qps;
		struct ib_qp no_qp;	/* immutable */
	} cm;
};

static inline struct kwarp_dev *to_kdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct kwarp_dev, ibdev);
}

#endif /* KWARP_H */
