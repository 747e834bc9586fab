/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The device object and what every layer above proto/ may know of it. */
#ifndef KWARP_H
#define KWARP_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/ratelimit_types.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "limits.h"
#include "counts.h"

/* The hash tables of endpoints and of listeners have 256 buckets each. */
#define KWARP_CM_ID_BITS	8

struct kwarp_ended_ring;
struct kwarp_personality;
struct kwarp_wire_port;

/**
 * struct kwarp_knobs - tunables of one device
 *
 * READ_ONCE/WRITE_ONCE in any context.  A connection copies the knobs at its start, so that changes
 * do not affect it later (5044-4.4-9), but a timeout is read when its timer starts, and
 * half_open_max, log_errors and wire_port whenever they matter.  Each knob has a row in knobs.h.
 *
 * @align: keep FPDUs aligned to TCP segments
 * @crc: enum kwarp_crc_policy
 * @coalesce_us: microseconds between looks for forgotten requests; 0: each post sends at once
 * @connect_timeout: seconds for TCP to connect, and again for the peer's Reply
 * @half_open_max: connections of one listener that may wait for accept, or be refused, at a time
 * @keepalive: seconds after which the connection to a silent peer ends; 0: never
 * @linger_timeout: seconds for the peer to close, too, after this end has sent its FIN
 * @log_errors: a line in the kernel log for each stream that ends by an error
 * @long_frames: accept FPDUs longer than TCP segments, and send them to peers that accept them
 * @markers: ask peers for markers
 * @mpa_rev: MPA revision of Requests, 1 or 2
 * @peer_to_peer: initiate with the peer-to-peer model (an RTR is sent)
 * @rcvbuf: octets that TCP may buffer of received data, like SO_RCVBUF; 0: TCP chooses
 * @receive_wait: milliseconds that a message waits for a receive; 0: not at all. Between wired
 *	queue pairs their RNR timer and retry count say that
 * @rfc7306: immediate data and atomic operations; copied when a queue pair is made
 * @rtr: RTR forms offered, mask of KWARP_RTR_*
 * @sndbuf: octets that TCP may buffer of sent data, like SO_SNDBUF; 0: TCP chooses
 * @startup_timeout: seconds for the Request of a peer that has connected, and again for its
 *	first FPDU
 * @strict: programs are checked as hardware would check them: the sink of a Read needs remote
 *	write, too, as with most iWARP hardware; the provider checks the rest
 * @tos: type of service of connections whose program chooses none
 * @user_timeout: seconds for which TCP retransmits unacknowledged data; 0: TCP's own limit
 * @wire_port: TCP port for queue pairs that are wired without rdma_cm; 0: none can be
 */
struct kwarp_knobs {
	u32 align;
	u32 crc;
	u32 coalesce_us;
	u32 connect_timeout;
	u32 half_open_max;
	u32 keepalive;
	u32 linger_timeout;
	u32 log_errors;
	u32 long_frames;
	u32 markers;
	u32 mpa_rev;
	u32 peer_to_peer;
	u32 rcvbuf;
	u32 receive_wait;
	u32 rfc7306;
	u32 rtr;
	u32 sndbuf;
	u32 startup_timeout;
	u32 strict;
	u32 tos;
	u32 user_timeout;
	u32 wire_port;
};

/*
 * struct kwarp_dev - one RDMA device on one netdev
 * @ibdev: RDMA core's object; first, as ib_alloc_device() wants it
 * @netdev: the network device; a reference
 * @personality: what programs' user library needs, if it is not kwarp's provider; NULL: it is;
 *	immutable
 * @net: network namespace of all the device's sockets; not a reference, but the namespace waits for
 *	the device, see link.c.  If the netdev moves to another namespace the device ends.
 * @node: entry in the list of device_list.c
 * @port_active: state of the port as last reported to users; under RTNL
 * @speed: speed of the netdev, Mb/s; 0: unknown; written under RTNL, READ_ONCE
 * @port_work: updates @speed, and reports a change of the port's state to users, see device.c
 * @gids: what query_gid reports, see verbs/gids.c
 * @gids.lock: protects @gids.gid; process and softirq
 * @gids.keep: task that must not get the netdev next, or NULL; only compared with current
 * @adder: task that is registering the device, or NULL; READ_ONCE, only compared with current
 * @ended: the last streams that ended by an error, and startups that failed, see ended.c; NULL:
 *	there was no memory
 * @qps: maps a QP number to struct kwarp_qp_refs; entries are RCU-freed
 * @stags: maps an STag index (24 bits) to struct kwarp_mr; entries are RCU-freed
 * @next_cqn: cursor for CQ numbers (diagnostics only)
 * @stashes_now: incomplete FPDUs that kwarp keeps at the moment, because TCP's receive buffer is
 *	too small for them, see engine/rx/skb.c
 * @stashes_unpaid: those of @stashes_now that are not charged, neither to TCP's memory nor to a
 *	memory cgroup
 * @stashes: number of FPDUs that kwarp has kept so far for the reason given at @stashes_now
 * @coalesce_timeouts: times that the timer of a CQ has sent forgotten requests
 * @coalesce_paced: times that a stream's own timer has sent requests, see struct kwarp_hold_ops
 * @timers: coalescing timers of all programs, up to KWARP_MAX_HOLDS and KWARP_MAX_PACED
 * @cm.lock: protects the other fields of @cm down to @cm.stopping
 * @cm.eps: endpoints (objects for connections) that may still use the device
 * @cm.idle: woken when @cm.eps has become empty
 * @cm.stopping: make no new endpoint, and no new listening socket
 * @cm.notices: limit the log lines about startups that fail, of initiators and of listeners
 * @cm.new_lock: protects @cm.new_qps; taken under iw_cm's spinlock
 * @cm.new_qps: stand-ins that no connect or accept has used yet; a stand-in is an object that
 *	iw_cm gets instead of a queue pair, see cm/cm_qp.c
 * @cm.wires: wires of the device's queue pairs by the number of the queue pair, see cm/wire.c
 * @cm.port_mutex: protects @cm.port; process context, outermost
 * @cm.port: listeners for peers of wired queue pairs, IPv4 and IPv6; NULL: none
 * @cm.no_qp: shared stand-in that iw_cm gets if there is no memory for a new one; immutable
 */
struct kwarp_dev {
	struct ib_device ibdev;
	struct net_device *netdev;
	netdevice_tracker netdev_tracker;
	const struct kwarp_personality *personality;
	struct net *net;
	struct list_head node;
	bool port_active;
	u32 speed;
	struct work_struct port_work;
	struct {
		spinlock_t lock;	/* gid */
		union ib_gid gid[KWARP_GIDS];
		const struct task_struct *keep;
	} gids;
	const struct task_struct *adder;
	struct kwarp_knobs knobs;
	struct dentry *debug;
	struct kwarp_ended_ring *ended;

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
	struct kwarp_timers timers;

	struct {
		spinlock_t lock;	/* protects members of cm down to stopping */
		struct list_head eps;
		/* endpoints that make upcalls, and open listeners; key: pointer to iw_cm's id */
		DECLARE_HASHTABLE(ep_ids, KWARP_CM_ID_BITS);
		DECLARE_HASHTABLE(listener_ids, KWARP_CM_ID_BITS);
		wait_queue_head_t idle;
		bool stopping;
		struct ratelimit_state notices[2];
		raw_spinlock_t new_lock; /* protects new_qps; taken under iw_cm's spinlock */
		struct list_head new_qps;
		struct xarray wires;
		struct mutex port_mutex;	/* port */
		struct kwarp_wire_port *port[2];
		struct ib_qp no_qp;	/* immutable */
	} cm;
};

static inline struct kwarp_dev *to_kdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct kwarp_dev, ibdev);
}

#endif /* KWARP_H */
