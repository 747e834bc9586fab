// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Files that devices of hardware have in /sys/class/infiniband/NAME beside those of the RDMA core,
 * and that tools show: ibstat, node_exporter and others.  kwarp has no board, and so no board_id.
 */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "device.h"

static ssize_t hca_type_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "kwarp\n");
}

static ssize_t hw_rev_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct kwarp_dev *kdev = rdma_device_to_drv_device(dev, struct kwarp_dev, ibdev);

	return sysfs_emit(buf, "%x\n", kdev->ibdev.attrs.hw_ver);
}

static DEVICE_ATTR_RO(hca_type);
static DEVICE_ATTR_RO(hw_rev);

static struct attribute *device_attrs[] = {
	&dev_attr_hca_type.attr,
	&dev_attr_hw_rev.attr,
	NULL
};

static const struct attribute_group device_group = {
	.attrs = device_attrs,
};

/*
 * The knobs are ib_device_ops.device_group already, and there is room for one group. The files are
 * removed with the device's folder. If they exist, because the device has moved to another network
 * namespace, they are made again.
 */
int kwarp_sysfs_add(struct ib_device *ibdev)
{
	return sysfs_update_group(&ibdev->dev.kobj, &device_group);
}
