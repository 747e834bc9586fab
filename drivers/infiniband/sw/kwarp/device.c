// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The RDMA device of a link: table of its operations, registration, events of its port, and its
 * end.
 *
 * libsiw is the libibverbs provider of the siw driver, which programs use on links of type
 * kwarp-siw.
 */
#include "device.h"

#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_cache.h>
#include <rdma/kwarp-abi.h>
#include <rdma/siw-abi.h>

#include "cm/cm.h"
#include "debug.h"
#include "device_list.h"
#include "engine/engine.h"
#include "qp/qp.h"
#include "queue/cq.h"
#include "stats.h"
#include "verbs/verbs.h"

static void dealloc_driver(struct ib_device *ibdev)
{
	struct kwarp_dev *kdev = to_kdev(ibdev);

	kwarp_debug_remove(kdev);
	/*
	 * A link of type kwarp-siw had siw's driver_id. Set kwarp's, so that module exit waits for
	 * this device in ib_unregister_driver(). Set it before kwarp_device_untrack(): module exit
	 * calls ib_unregister_driver() as soon as the list of device_list.c is empty.
	 */
	WRITE_ONCE(ibdev->ops.driver_id, (enum rdma_driver_id)KWARP_DRIVER_ID);
	/* The device has no users any more; connections that are still closing end now. */
	kwarp_cm_stop_device(kdev);
	kwarp_knobs_fini(kdev);
	/* The device has no socket any more: its network namespace need not wait for the device. */
	kwarp_device_untrack(kdev);
	cancel_work_sync(&kdev->port_work);
	kwarp_engine_fini_device(kdev);
	WARN_ON(atomic_read(&kdev->timers.holds) || atomic_read(&kdev->timers.paced));
	WARN_ON(!xa_empty(&kdev->qps));
	WARN_ON(!xa_empty(&kdev->stags));
	xa_destroy(&kdev->qps);
	xa_destroy(&kdev->stags);
	netdev_put(kdev->netdev, &kdev->netdev_tracker);
}

/*
 * The device is registered.  The core calls this again when the device moves to another network
 * namespace.
 */
static int enable_driver(struct ib_device *ibdev)
{
	kwarp_debug_enable(ibdev);
	return kwarp_sysfs_add(ibdev);
}

static const struct ib_device_ops kwarp_ops = {
	.owner = THIS_MODULE,
	KWARP_ROBUST_UDATA

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
	KWARP_FILL_SRQ
	.alloc_hw_port_stats = kwarp_alloc_port_stats,
	.get_hw_stats = kwarp_get_stats,
	.counter_alloc_stats = kwarp_counter_alloc_stats,
	.counter_bind_qp = kwarp_counter_bind_qp,
	.counter_unbind_qp = kwarp_counter_unbind_qp,
	.counter_dealloc = kwarp_counter_dealloc,
	.counter_update_stats = kwarp_counter_update_stats,
	KWARP_COUNTER_OBJECT
	.process_mad = kwarp_process_mad,
	.query_gid = kwarp_query_gid,
	.get_dev_fw_str = kwarp_fw_str,
	.disassociate_ucontext = kwarp_disassociate_ucontext,
	.mmap = kwarp_mmap,
	.mmap_free = kwarp_mmap_free,
	.alloc_pd = kwarp_alloc_pd,
	.dealloc_pd = kwarp_dealloc_pd,

	.create_cq = kwarp_create_cq,
	KWARP_CREATE_USER_CQ
	KWARP_REPORT_PORT_EVENT
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

/* Operations for kwarp's own provider, which supports more of them than libsiw does. */
static const struct ib_device_ops own_ops = {
	.driver_id = (enum rdma_driver_id)KWARP_DRIVER_ID,
	.uverbs_abi_ver = KWARP_UVERBS_ABI,
	.query_device = kwarp_query_device,
	.alloc_ucontext = kwarp_alloc_ucontext,
	.dealloc_ucontext = kwarp_dealloc_ucontext,
	.resize_cq = kwarp_resize_cq,
	.alloc_mw = kwarp_alloc_mw,
	.dealloc_mw = kwarp_dealloc_mw,

	INIT_RDMA_OBJ_SIZE(ib_mw, kwarp_mw, ibmw),
};

static struct net_device *get_netdev(struct ib_device *ibdev, u32 port)
{
	struct net_device *netdev = to_kdev(ibdev)->netdev;

	dev_hold(netdev);
	return netdev;
}

/*
 * Operations for libsiw, with siw's driver_id.  get_netdev instead of ib_device_set_netdev(), so
 * that the core does not find the device by its netdev: siw.ko, if it is loaded, looks for its own
 * devices by netdev and driver_id, and would use this one.
 */
static const struct ib_device_ops siw_ops = {
	.driver_id = RDMA_DRIVER_SIW,
	.uverbs_abi_ver = SIW_ABI_VERSION,
	.query_device = kwarp_siw_query_device,
	.alloc_ucontext = kwarp_siw_alloc_ucontext,
	.dealloc_ucontext = kwarp_siw_dealloc_ucontext,
	.get_netdev = get_netdev,
};

/* Make the node GUID from the hardware address, or from a random one if there is none. */
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
	struct ib_device *ibdev = &kdev->ibdev;

	ib_set_device_ops(ibdev, &kwarp_ops);
	ib_set_device_ops(ibdev, kdev->siw ? &siw_ops : &own_ops);
	ibdev->node_type = RDMA_NODE_RNIC;
	strscpy(ibdev->node_desc, "kwarp " KWARP_VERSION, sizeof(ibdev->node_desc));
	ibdev->phys_port_cnt = 1;
	/* Each completion vector stands for a processor, see verbs/cq_verbs.c. */
	ibdev->num_comp_vectors = num_possible_cpus();
	if (kdev->siw)
		/* libsiw's doorbell is the POST_SEND command. */
		ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND);
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
	int ret = kdev->siw ? 0 : ib_device_set_netdev(&kdev->ibdev, kdev->netdev, 1);

	if (ret)
		return ret;
	WRITE_ONCE(kdev->adder, current);
	/* No DMA device: addresses are kernel virtual (INFINIBAND_VIRT_DMA). */
	return ib_register_device(&kdev->ibdev, name, NULL);
}

/**
 * kwarp_device_update_speed - ask the netdev for its speed, and store it
 * @kdev: the device
 *
 * query_port cannot ask the netdev itself: that needs RTNL, which callers of query_port may hold.
 *
 * Context: RTNL held, but not the netdev's instance lock, which this function takes since Linux
 * 7.2.  So notifiers must not call this function: they may run with the instance lock of the netdev
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

/* Report a change of the port's state to the device's users. Context: RTNL held. */
static void update_port(struct kwarp_dev *kdev)
{
	bool active = kwarp_port_state(kdev->netdev) == IB_PORT_ACTIVE;

	ASSERT_RTNL();
	if (active == kdev->port_active)
		return;
	kdev->port_active = active;
	port_event(kdev, active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

/* Work item after a change of the netdev, or of its addresses: update the speed and the port. */
static void port_work(struct work_struct *work)
{
	struct kwarp_dev *kdev = container_of(work, struct kwarp_dev, port_work);

	rtnl_lock();
	if (kdev->netdev->reg_state == NETREG_REGISTERED) {
		kwarp_device_update_speed(kdev);
		update_port(kdev);
	}
	rtnl_unlock();
}

/*
 * The netdev came up, went down, or changed in another way: notify users now if the state of the
 * port has changed, and let the work item ask for the speed.  Context: RTNL held.
 */
void kwarp_device_port_event(struct kwarp_dev *kdev)
{
	schedule_work(&kdev->port_work);
	update_port(kdev);
}

/*
 * The netdev, or a VLAN on it, has got an address, or lost one: let the work item find out whether
 * the state of the port has changed.  Context: any.
 */
void kwarp_device_address_event(struct kwarp_dev *kdev)
{
	schedule_work(&kdev->port_work);
}

/**
 * kwarp_device_add - make a device
 * @name: name of the device; may contain %d
 * @netdev: network device
 * @net: network namespace of @netdev; referenced by the caller, who checks afterwards whether
 *	@netdev has moved to another namespace
 * @link_ops: link type, for `rdma link delete`
 * @siw: link of type kwarp-siw: programs use the layouts of rdma/siw-abi.h
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int kwarp_device_add(const char *name, struct net_device *netdev, struct net *net,
		     struct rdma_link_ops *link_ops, bool siw)
{
	struct kwarp_dev *kdev = kwarp_alloc_device(kwarp_dev, ibdev, net);
	int ret;

	if (!kdev)
		return -ENOMEM;
	kdev->siw = siw;
	kdev->net = net;
	kdev->netdev = netdev;
	netdev_hold(netdev, &kdev->netdev_tracker, GFP_KERNEL);
	/* LOCK_IRQ: iw_cm looks up QPs with interrupts off. */
	xa_init_flags(&kdev->qps, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ | XA_FLAGS_ACCOUNT);
	xa_init_flags(&kdev->stags, XA_FLAGS_ACCOUNT);
	kdev->port_active = kwarp_port_state(netdev) == IB_PORT_ACTIVE;
	INIT_WORK(&kdev->port_work, port_work);
	kwarp_knobs_init(kdev);
	kwarp_stats_init(&kdev->stats);
	kwarp_engine_init_device(kdev);
	kwarp_cm_init_device(kdev);
	init_core_fields(kdev);
	kwarp_set_link_ops(&kdev->ibdev, link_ops);
	kwarp_device_track(kdev);
	ret = register_device(kdev, name);
	if (ret)
		/* This calls dealloc_driver(), which undoes the steps above. */
		ib_dealloc_device(&kdev->ibdev);
	return ret;
}

/*
 * The netdev has been renamed: update the copy of its name for iwpmd.  Readers take no lock, and
 * may get a mixture of both names, but a terminated one: the last octet is always 0.
 */
void kwarp_device_renamed(struct kwarp_dev *kdev)
{
	strscpy(kdev->ibdev.iw_ifname, kdev->netdev->name, sizeof(kdev->ibdev.iw_ifname));
}

/*
 * Since Linux 6.6 the core keeps the netdev in the entry of a GID, and rdma_cm compares netdevs
 * instead of GIDs.  Return: true for such a core, and if there is no entry.
 */
static bool gid_has_netdev(struct ib_device *ibdev)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(ibdev, 1, 0);
	bool has;

	if (IS_ERR(attr))
		return true;
	has = rcu_access_pointer(attr->ndev);
	rdma_put_gid_attr(attr);
	return has;
}

/*
 * The hardware address of the netdev has changed.  An old rdma_cm finds a device by this address:
 * let the core read the GID again.  Never do that if the GID has a netdev: the core would replace
 * the GID's entry, and clear the netdev of the old one, which rdma_cm may be reading without a
 * check for NULL.  There the GID stays that of the time when the link was added.
 */
void kwarp_device_gid_event(struct kwarp_dev *kdev)
{
	if (!gid_has_netdev(&kdev->ibdev))
		port_event(kdev, IB_EVENT_GID_CHANGE);
}
