// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The RDMA device of a link: table of its operations, registration, events of its port, and its
 * end.
 */
#include "device.h"

#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/kwarp-abi.h>

#include "cm/cm.h"
#include "compat_ops.h"
#include "debug.h"
#include "device_list.h"
#include "engine/engine.h"
#include "fault.h"
#include "qp/qp.h"
#include "queue/cq.h"
#include "stats.h"
#include "verbs/personality.h"
#include "verbs/verbs.h"

static void dealloc_driver(struct ib_device *ibdev)
{
	struct kwarp_dev *kdev = to_kdev(ibdev);

	kwarp_debug_remove(kdev);
	kwarp_fault_forget(NULL, ibdev);
	/*
	 * With a personality the device had another driver_id. Set kwarp's, so that module exit
	 * waits for this device in ib_unregister_driver(). Set it before kwarp_device_untrack():
	 * module exit calls ib_unregister_driver() as soon as the list of device_list.c is empty.
	 */
	WRITE_ONCE(ibdev->ops.driver_id, (enum rdma_driver_id)KWARP_DRIVER_ID);
	/* The device has no users any more; connections that are still closing end now. */
	kwarp_cm_stop_device(kdev);
	/* The device has no socket any more: its network namespace need not wait for the device. */
	kwarp_device_untrack(kdev);
	cancel_work_sync(&kdev->port_work);
	WARN_ON(atomic_read(&kdev->timers.holds) || atomic_read(&kdev->timers.paced));
	WARN_ON(!xa_empty(&kdev->qps));
	WARN_ON(!xa_empty(&kdev->stags));
	xa_destroy(&kdev->qps);
	xa_destroy(&kdev->stags);
	kwarp_ended_free(kdev->ended);
	netdev_put(kdev->netdev, &kdev->netdev_tracker);
}

/* The core calls this again when the device moves to another network namespace. */
static int enable_driver(struct ib_device *ibdev)
{
	kwarp_debug_enable(ibdev);
	return kwarp_sysfs_add(ibdev);
}

/*
 * Without this operation the core would turn netdev events into port events, but only for one
 * device of a netdev, not for bonds, and without regard to IP addresses. port_work() reports them.
 */
static void __maybe_unused report_port_event(struct ib_device *ibdev, struct net_device *netdev,
					     unsigned long event)
{
}

static const struct ib_device_ops kwarp_ops = {
	.owner = THIS_MODULE,
	KWARP_SINCE_ROW(ROBUST_UDATA, .uverbs_robust_udata = 1)

	.device_group = &kwarp_attr_group,
	.enable_driver = enable_driver,
	.dealloc_driver = dealloc_driver,

	.modify_device = kwarp_modify_device,
	.query_port = kwarp_query_port,
	.get_port_immutable = kwarp_port_immutable,
	.fill_res_qp_entry = kwarp_fill_qp,
	.fill_res_cq_entry = kwarp_fill_cq,
	.fill_res_mr_entry = kwarp_fill_mr,
	.fill_res_cm_id_entry = kwarp_fill_cm_id,
	KWARP_SINCE_ROW(FILL_RES_SRQ, .fill_res_srq_entry = kwarp_fill_srq)
	.alloc_hw_port_stats = kwarp_alloc_port_stats,
	.get_hw_stats = kwarp_get_stats,
	.counter_alloc_stats = kwarp_counter_alloc_stats,
	.counter_bind_qp = kwarp_counter_bind_qp,
	.counter_unbind_qp = kwarp_counter_unbind_qp,
	.counter_dealloc = kwarp_counter_dealloc,
	.counter_update_stats = kwarp_counter_update_stats,
	KWARP_SINCE_ROW(COUNTER_PORT, .counter_init = kwarp_counter_init)
	KWARP_SINCE_ROW(COUNTER_PORT, .size_rdma_counter = sizeof(struct rdma_counter))
	.process_mad = kwarp_process_mad,
	.query_gid = kwarp_query_gid,
	.get_netdev = kwarp_get_netdev,
	.get_dev_fw_str = kwarp_fw_str,
	.disassociate_ucontext = kwarp_disassociate_ucontext,
	.mmap = kwarp_mmap,
	.mmap_free = kwarp_mmap_free,
	.alloc_pd = kwarp_alloc_pd,
	.dealloc_pd = kwarp_dealloc_pd,

	.create_cq = kwarp_create_cq,
	KWARP_SINCE_ROW(CREATE_USER_CQ, .create_user_cq = kwarp_create_cq)
	KWARP_SINCE_ROW(REPORT_PORT_EVENT, .report_port_event = report_port_event)
	.destroy_cq = kwarp_destroy_cq,
	.poll_cq = kwarp_cq_poll,
	.req_notify_cq = kwarp_cq_arm,

	.create_qp = kwarp_create_qp,
	.destroy_qp = kwarp_destroy_qp,
	.modify_qp = kwarp_modify_qp,
	.query_qp = kwarp_query_qp,
	.post_send = kwarp_post_send,
	.post_recv = kwarp_post_recv,

	.create_srq = kwarp_create_srq,
	.modify_srq = kwarp_modify_srq,
	.query_srq = kwarp_query_srq,
	.destroy_srq = kwarp_destroy_srq,
	.post_srq_recv = kwarp_post_srq_recv,

	.get_dma_mr = kwarp_get_dma_mr,
	.reg_user_mr = kwarp_reg_user_mr,
	.reg_user_mr_dmabuf = kwarp_reg_user_mr_dmabuf,
	.rereg_user_mr = kwarp_rereg_user_mr,
	.advise_mr = kwarp_advise_mr,
	.alloc_mr = kwarp_alloc_mr,
	.map_mr_sg = kwarp_map_mr_sg,
	.dereg_mr = kwarp_dereg_mr,

	.iw_connect = kwarp_cm_connect,
	.iw_accept = kwarp_cm_accept,
	.iw_reject = kwarp_cm_reject,
	.iw_create_listen = kwarp_cm_create_listen,
	.iw_destroy_listen = kwarp_cm_destroy_listen,
	.iw_get_qp = kwarp_get_qp,
	.iw_add_ref = kwarp_qp_add_ref,
	.iw_rem_ref = kwarp_qp_rem_ref,

	INIT_RDMA_OBJ_SIZE(ib_cq, kwarp_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, kwarp_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, kwarp_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, kwarp_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, kwarp_ucontext, ibuc),
};

/* What only kwarp's own provider supports; see struct kwarp_personality for others. */
static const struct ib_device_ops own_ops = {
	.driver_id = (enum rdma_driver_id)KWARP_DRIVER_ID,
	.uverbs_abi_ver = KWARP_UVERBS_ABI,
	.query_device = kwarp_query_device,
	.alloc_ucontext = kwarp_alloc_ucontext,
	.dealloc_ucontext = kwarp_dealloc_ucontext,
	KWARP_SINCE_ROW(RESIZE_USER_CQ, .resize_user_cq = kwarp_resize_cq)
	KWARP_BEFORE_ROW(RESIZE_USER_CQ, .resize_cq = kwarp_resize_cq)
	.alloc_mw = kwarp_alloc_mw,
	.dealloc_mw = kwarp_dealloc_mw,

	INIT_RDMA_OBJ_SIZE(ib_mw, kwarp_mw, ibmw),
};

static void set_guid(struct kwarp_dev *kdev)
{
	const struct net_device *netdev = kdev->netdev;
	u8 mac[ETH_ALEN];

	if (netdev->addr_len == ETH_ALEN && !is_zero_ether_addr(netdev->dev_addr))
		ether_addr_copy(mac, netdev->dev_addr);
	else
		eth_random_addr(mac);
	addrconf_addr_eui48((u8 *)&kdev->ibdev.node_guid, mac);
}

static void init_core_fields(struct kwarp_dev *kdev)
{
	const struct kwarp_personality *p = kdev->personality;
	struct ib_device *ibdev = &kdev->ibdev;

	/* An operation that is set already is not set again. */
	ib_set_device_ops(ibdev, p ? p->ops : &own_ops);
	ib_set_device_ops(ibdev, &kwarp_ops);
	ibdev->node_type = RDMA_NODE_RNIC;
	strscpy(ibdev->node_desc, "kwarp " KWARP_VERSION, sizeof(ibdev->node_desc));
	ibdev->phys_port_cnt = 1;
	/* Each completion vector stands for a processor, see verbs/cq_verbs.c. */
	ibdev->num_comp_vectors = num_possible_cpus();
	if (p)
		ibdev->uverbs_cmd_mask |= p->commands;
	else
		ibdev->driver_def = kwarp_uapi_defs;
	kwarp_device_renamed(kdev);
	/* The administrator has chosen the device's name: udev must not change it. */
	ib_mark_name_assigned_by_user(ibdev);
	/* The kernel's own TCP owns the ports, so the iWARP port mapper (iwpmd) is not needed. */
	ibdev->iw_driver_flags = IW_F_NO_PORT_MAP;
	set_guid(kdev);
}

static int register_device(struct kwarp_dev *kdev, const char *name)
{
	int ret = 0;

	/* A device with a personality is not to be found by its netdev. */
	if (!kdev->personality)
		ret = ib_device_set_netdev(&kdev->ibdev, kdev->netdev, 1);
	if (ret)
		return ret;
	WRITE_ONCE(kdev->adder, current);
	/* No DMA device: addresses are kernel virtual (INFINIBAND_VIRT_DMA). */
	return ib_register_device(&kdev->ibdev, name, NULL);
}

/*
 * query_port cannot ask the netdev itself: that needs RTNL, which callers of query_port may hold.
 * Context: RTNL held, but not the netdev's instance lock, which this function takes since Linux
 * 7.2. So notifiers must not call this function: they may run with the instance lock of the netdev
 * held, or with that of the netdev below a VLAN.
 */
void kwarp_device_update_speed(struct kwarp_dev *kdev)
{
	struct ethtool_link_ksettings settings = {};
	u32 speed = 0;

	ASSERT_RTNL();
	if (!__ethtool_get_link_ksettings(kdev->netdev, &settings) &&
	    settings.base.speed != (u32)SPEED_UNKNOWN)
		speed = settings.base.speed;
	WRITE_ONCE(kdev->speed, speed);
}

static void port_event(struct kwarp_dev *kdev, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &kdev->ibdev,
		.element.port_num = 1,
		.event = type,
	};

	ib_dispatch_event(&event);
}

static void update_port(struct kwarp_dev *kdev)
{
	bool active = kwarp_port_state(kdev->netdev) == IB_PORT_ACTIVE;

	ASSERT_RTNL();
	if (active == kdev->port_active)
		return;
	kdev->port_active = active;
	port_event(kdev, active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

/*
 * Without a reference on the registered device, the core could read the GIDs after it has emptied
 * its table of them: then the netdev would never become free.
 */
static void port_work(struct work_struct *work)
{
	struct kwarp_dev *kdev = container_of(work, struct kwarp_dev, port_work);

	if (!ib_device_try_get(&kdev->ibdev))
		return;
	rtnl_lock();
	if (kdev->netdev->reg_state == NETREG_REGISTERED) {
		kwarp_device_update_speed(kdev);
		update_port(kdev);
		if (kwarp_gids_renew(kdev))
			port_event(kdev, IB_EVENT_GID_CHANGE);
	}
	rtnl_unlock();
	ib_device_put(&kdev->ibdev);
}

/* Context: RTNL held. */
void kwarp_device_port_event(struct kwarp_dev *kdev)
{
	schedule_work(&kdev->port_work);
	update_port(kdev);
}

/* Context: any */
void kwarp_device_address_event(struct kwarp_dev *kdev)
{
	schedule_work(&kdev->port_work);
}

/*
 * @net: referenced by the caller, who checks afterwards whether @netdev has moved to another
 * namespace.
 */
int kwarp_device_add(const char *name, struct net_device *netdev, struct net *net,
		     struct rdma_link_ops *link_ops, const struct kwarp_personality *personality)
{
	struct kwarp_dev *kdev = ib_alloc_device_with_net(kwarp_dev, ibdev, net);
	int ret;

	if (!kdev)
		return -ENOMEM;
	kdev->personality = personality;
	kdev->net = net;
	kdev->netdev = netdev;
	netdev_hold(netdev, &kdev->netdev_tracker, GFP_KERNEL);
	xa_init_flags(&kdev->qps, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&kdev->stags, XA_FLAGS_ACCOUNT);
	kdev->port_active = kwarp_port_state(netdev) == IB_PORT_ACTIVE;
	INIT_WORK(&kdev->port_work, port_work);
	kwarp_knobs_init(kdev);
	kwarp_stats_init(&kdev->stats);
	kdev->ended = kwarp_ended_alloc();
	kwarp_cm_init_device(kdev);
	init_core_fields(kdev);
	KWARP_SINCE(LINK_OPS_DELLINK, kdev->ibdev.link_ops = link_ops);
	kwarp_gids_init(kdev);
	kwarp_device_track(kdev);
	ret = register_device(kdev, name);
	if (ret)
		/* This calls dealloc_driver(), which undoes the steps above. */
		ib_dealloc_device(&kdev->ibdev);
	return ret;
}

/*
 * Update the copy of the name for iwpmd. Readers take no lock, and may get a mixture of both names,
 * but a terminated one: the last octet is always 0.
 */
void kwarp_device_renamed(struct kwarp_dev *kdev)
{
	strscpy(kdev->ibdev.iw_ifname, kdev->netdev->name, sizeof(kdev->ibdev.iw_ifname));
}

/*
 * The hardware address of the netdev has changed: an old rdma_cm finds a device by this address.
 */
void kwarp_device_gid_event(struct kwarp_dev *kdev)
{
	if (kwarp_gids_new_hardware(kdev))
		port_event(kdev, IB_EVENT_GID_CHANGE);
}
