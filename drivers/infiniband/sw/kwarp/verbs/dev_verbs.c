// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Device, port, context and protection domain. */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <rdma/kwarp-abi.h>

#include "../kwarp.h"
#include "../mem/types.h"
#include "udata.h"
#include "verbs.h"

#define VENDOR_ID	0x6b77	/* "kw"; no PCI vendor */
#define HW_VER		1	/* constant: there is no hardware */

/*
 * The module's version as the firmware version: 16 bits per number, in the layout from which
 * kwarp's libibverbs provider prints it.
 */
static u64 fw_ver(void)
{
	u16 major, minor, patch;

	if (sscanf(KWARP_VERSION, "%hu.%hu.%hu", &major, &minor, &patch) != 3)
		return 0;
	return (u64)major << 32 | (u64)minor << 16 | patch;
}

void kwarp_fw_str(struct ib_device *ibdev, char *str)
{
	strscpy(str, KWARP_VERSION, IB_FW_VERSION_NAME_MAX);
}

/*
 * An administrator has written to node_desc in sysfs. The core has checked the permission and
 * terminated the string. A reader at the same time may see a mixture of old and new.
 */
int kwarp_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *attr)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, attr->node_desc, sizeof(ibdev->node_desc));
	return 0;
}

int kwarp_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata)
{
	/* When the core itself asks, @udata is empty; since Linux 7.2 it is NULL. */
	int ret = kwarp_udata_none(udata);

	if (ret)
		return ret;
	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = fw_ver();
	attr->vendor_id = VENDOR_ID;
	attr->hw_ver = HW_VER;
	attr->sys_image_guid = ibdev->node_guid;
	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_MEM_WINDOW |
				 IB_DEVICE_MEM_WINDOW_TYPE_2B | IB_DEVICE_SRQ_RESIZE;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG | IBK_SG_GAPS_REG;
	attr->max_mr_size = KWARP_MAX_MR_SIZE;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_qp = KWARP_MAX_QP;
	attr->max_qp_wr = KWARP_MAX_SQ_WR;
	attr->max_send_sge = KWARP_MAX_SGE;
	attr->max_recv_sge = KWARP_MAX_SGE;
	attr->max_sge_rd = KWARP_MAX_SGE_RD;
	attr->max_cq = KWARP_MAX_CQ;
	attr->max_cqe = KWARP_MAX_CQE;
	attr->max_mr = KWARP_MAX_MR;
	attr->max_mw = KWARP_MAX_MR;
	attr->max_pd = KWARP_MAX_PD;
	attr->max_qp_rd_atom = KWARP_MAX_IRD;
	attr->max_qp_init_rd_atom = KWARP_MAX_ORD;
	attr->max_res_rd_atom = KWARP_MAX_QP * KWARP_MAX_IRD;
	/*
	 * 7306-D-6.  Masked atomic operations of the peer are carried out (RFC 7306 has masks), but
	 * consumers cannot post any: the verbs of programs have no masks.
	 */
	attr->atomic_cap = READ_ONCE(to_kdev(ibdev)->knobs.rfc7306) ? IB_ATOMIC_HCA :
								      IB_ATOMIC_NONE;
	attr->masked_atomic_cap = IB_ATOMIC_NONE;
	attr->max_srq = KWARP_MAX_SRQ;
	attr->max_srq_wr = KWARP_MAX_SRQ_WR;
	attr->max_srq_sge = KWARP_MAX_SGE;
	attr->max_fast_reg_page_list_len = KWARP_MAX_FRMR_PAGES;
	attr->timestamp_mask = U64_MAX;
	attr->hca_core_clock = NSEC_PER_MSEC;	/* kHz: completion timestamps count nanoseconds */
	return 0;
}

static bool has_own_address(const struct net_device *netdev)
{
	const struct in_device *in_dev = __in_dev_get_rcu(netdev);
	const struct inet6_dev *in6_dev = __in6_dev_get(netdev);

	return (in_dev && rcu_access_pointer(in_dev->ifa_list)) ||
	       (in6_dev && !list_empty(&in6_dev->addr_list));
}

/*
 * Connections to an address of a VLAN in the same namespace go through the link of the netdev below
 * the VLAN (cm/cm_iface.c).
 */
static int vlan_has_address(struct net_device *upper, struct netdev_nested_priv *priv)
{
	const struct net_device *netdev = priv->data;

	return is_vlan_dev(upper) && vlan_dev_real_dev(upper) == netdev &&
	       net_eq(dev_net(upper), dev_net(netdev)) && netif_running(upper) &&
	       has_own_address(upper);
}

static bool has_address(struct net_device *netdev)
{
	struct netdev_nested_priv priv = { .data = netdev };
	bool found;

	rcu_read_lock();
	found = has_own_address(netdev) ||
		netdev_walk_all_upper_dev_rcu(netdev, vlan_has_address, &priv);
	rcu_read_unlock();
	return found;
}

/*
 * The port is INIT if the netdev is up but nobody can connect, because neither the netdev nor a
 * VLAN on it has an address. Context: any but hard interrupt.
 */
enum ib_port_state kwarp_port_state(struct net_device *netdev)
{
	if (!netif_running(netdev) || !netif_carrier_ok(netdev))
		return IB_PORT_DOWN;
	return has_address(netdev) ? IB_PORT_ACTIVE : IB_PORT_INIT;
}

/* A netdev without a speed (lo, tun) is reported as 40 Gb/s. */
static void fill_speed(struct ib_port_attr *attr, u32 mbits)
{
	static const struct {
		u32 mbits;
		u16 speed;
		u8 width;
	} ports[] = {
		{ 2500, IB_SPEED_SDR, IB_WIDTH_1X },
		{ 5000, IB_SPEED_DDR, IB_WIDTH_1X },
		{ 10000, IB_SPEED_QDR, IB_WIDTH_1X },
		{ 20000, IB_SPEED_DDR, IB_WIDTH_4X },
		{ 25000, IB_SPEED_EDR, IB_WIDTH_1X },
		{ 40000, IB_SPEED_QDR, IB_WIDTH_4X },
		{ 50000, IB_SPEED_HDR, IB_WIDTH_1X },
		{ 100000, IB_SPEED_EDR, IB_WIDTH_4X },
		{ 200000, IB_SPEED_HDR, IB_WIDTH_4X },
		{ U32_MAX, IB_SPEED_NDR, IB_WIDTH_4X },
	};
	int i = 0;

	if (!mbits)
		mbits = 40000;
	while (ports[i].mbits < mbits)
		i++;
	attr->active_speed = ports[i].speed;
	attr->active_width = ports[i].width;
}

int kwarp_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	const struct kwarp_dev *kdev = to_kdev(ibdev);
	struct net_device *netdev = kdev->netdev;

	attr->state = kwarp_port_state(netdev);
	attr->phys_state = attr->state == IB_PORT_DOWN ? IB_PORT_PHYS_STATE_DISABLED :
							 IB_PORT_PHYS_STATE_LINK_UP;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = ib_mtu_int_to_enum(netdev->mtu);
	attr->port_cap_flags = IB_PORT_CM_SUP | IB_PORT_DEVICE_MGMT_SUP;
	attr->gid_tbl_len = KWARP_GIDS;
	attr->max_msg_sz = KWARP_MAX_MSG;
	fill_speed(attr, READ_ONCE(kdev->speed));
	return 0;
}

int kwarp_port_immutable(struct ib_device *ibdev, u32 port,
			 struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = KWARP_GIDS;
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	return 0;
}

/* Return: newest version of kwarp-abi.h that provider and module both speak; 0: there is none. */
static u32 common_version(const struct kwarp_alloc_ucontext_req *req)
{
	/* An old provider sends no versions: it speaks version 1 only. */
	u32 low = req->abi_max ? req->abi_min : 1;
	u32 high = req->abi_max ? req->abi_max : 1;

	if (low > high || low > KWARP_ABI_MAX || high < KWARP_ABI_MIN)
		return 0;
	return min_t(u32, high, KWARP_ABI_MAX);
}

#define FEATURES	(KWARP_FEATURE_RFC7306 | KWARP_FEATURE_SEND_IMM | KWARP_FEATURE_STRICT)

int kwarp_ucontext_open(struct kwarp_ucontext *uc)
{
	int ret;

	uc->charge.account = kwarp_account_get();
	if (!uc->charge.account)
		return -ENOMEM;
	ret = kwarp_charge(&uc->charge, KWARP_OBJECT_MEMORY + kmalloc_size_roundup(sizeof(*uc)));
	if (ret)
		kwarp_account_put(uc->charge.account);
	return ret;
}

void kwarp_ucontext_close(struct kwarp_ucontext *uc)
{
	kwarp_uncharge(&uc->charge);
	kwarp_account_put(uc->charge.account);
}

int kwarp_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	struct kwarp_ucontext *uc = to_kuc(ibuc);
	struct kwarp_alloc_ucontext_resp resp = {
		.max_inline = KWARP_MAX_INLINE,
	};
	struct kwarp_alloc_ucontext_req req;
	int ret;

	ret = kwarp_udata_request(udata, &req, sizeof(req));
	if (ret)
		return ret;
	resp.abi_version = common_version(&req);
	if (!resp.abi_version)
		return -EOPNOTSUPP;
	uc->features = req.features & FEATURES;
	if (!READ_ONCE(to_kdev(ibuc->device)->knobs.strict))
		uc->features &= ~KWARP_FEATURE_STRICT;
	resp.features = uc->features;
	ret = kwarp_ucontext_open(uc);
	if (ret)
		return ret;
	ret = kwarp_udata_answer(udata, &resp, sizeof(resp));
	if (ret)
		kwarp_ucontext_close(uc);
	return ret;
}

void kwarp_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	kwarp_ucontext_close(to_kuc(ibuc));
}

/*
 * Nothing to do: mapped rings are ordinary memory, and may stay mapped after the device has gone,
 * until the process unmaps them.
 */
void kwarp_disassociate_ucontext(struct ib_ucontext *ibuc)
{
}

int kwarp_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	int ret = kwarp_udata_none(udata);

	return ret ?: kwarp_charge_object(&to_kpd(ibpd)->charge, udata, sizeof(struct kwarp_pd),
					  &to_kdev(ibpd->device)->num_pd, KWARP_MAX_PD);
}

int kwarp_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	kwarp_uncharge_object(&to_kpd(ibpd)->charge, &to_kdev(ibpd->device)->num_pd);
	return 0;
}
