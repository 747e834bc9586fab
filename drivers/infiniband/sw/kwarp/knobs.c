// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tunables: /sys/class/infiniband/DEV/kwarp/KNOB, and module parameters of the same
 * names as defaults for new links.  A connection takes a snapshot at its start.  And what
 * is counted, which can only be read.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <net/net_namespace.h>

#include "device.h"
#include "proto/mpa_neg.h"

struct knob {
	struct device_attribute attr;
	size_t offset;		/* in struct kwarp_knobs */
	int (*parse)(const char *buf, u32 *value);
	int (*format)(char *buf, u32 value);
};

/* ------------------------------------------------------------------ values */

static const char * const crc_names[] = {
	[KWARP_CRC_OFF]		= "off",
	[KWARP_CRC_ON]		= "on",
	[KWARP_CRC_REQUIRED]	= "required",
};

static int parse_crc(const char *buf, u32 *value)
{
	int i = sysfs_match_string(crc_names, buf);

	if (i < 0)
		return i;
	*value = i;
	return 0;
}

static int format_crc(char *buf, u32 value)
{
	return sysfs_emit(buf, "%s\n", crc_names[value]);
}

static const char * const on_words[] = { "on", "1", "y", "yes", "true" };
static const char * const off_words[] = { "off", "0", "n", "no", "false" };

/* Is @buf one of the words, in capitals or not, with the newline of echo or without? */
static bool is_one_of(const char *buf, const char * const *words, u32 n)
{
	size_t len;
	u32 i;

	for (i = 0; i < n; i++) {
		len = strlen(words[i]);
		if (!strncasecmp(buf, words[i], len) && sysfs_streq(buf + len, ""))
			return true;
	}
	return false;
}

/* Not kstrtobool(): of "onx" and "never" that reads no more than it needs. */
static int parse_switch(const char *buf, u32 *value)
{
	if (is_one_of(buf, on_words, ARRAY_SIZE(on_words)))
		*value = 1;
	else if (is_one_of(buf, off_words, ARRAY_SIZE(off_words)))
		*value = 0;
	else
		return -EINVAL;
	return 0;
}

static int format_switch(char *buf, u32 value)
{
	return sysfs_emit(buf, "%s\n", value ? "on" : "off");
}

/* What TCP can count in seconds. */
#define MAX_SECONDS	32767

static int parse_number(const char *buf, u32 *value, u32 least, u32 most)
{
	u32 number;
	int ret = kstrtou32(buf, 0, &number);

	if (ret)
		return ret;
	if (number < least || number > most)
		return -EINVAL;
	*value = number;
	return 0;
}

static int parse_seconds(const char *buf, u32 *value)
{
	return parse_number(buf, value, 0, MAX_SECONDS);
}

static int format_seconds(char *buf, u32 value)
{
	return sysfs_emit(buf, "%u\n", value);
}

static int parse_rev(const char *buf, u32 *value)
{
	return parse_number(buf, value, 1, 2);
}

static int format_rev(char *buf, u32 value)
{
	return sysfs_emit(buf, "%u\n", value);
}

static int parse_coalesce(const char *buf, u32 *value)
{
	u32 us;
	int ret = parse_number(buf, &us, 0, KWARP_COALESCE_MAX_US);

	if (ret)
		return ret;
	if (us && us < KWARP_COALESCE_MIN_US)
		return -EINVAL;
	*value = us;
	return 0;
}

static int format_coalesce(char *buf, u32 value)
{
	return sysfs_emit(buf, "%u\n", value);
}

static const struct {
	const char *name;
	u32 bit;
} rtr_forms[] = {
	{ "send", KWARP_RTR_SEND },
	{ "write", KWARP_RTR_WRITE },
	{ "read", KWARP_RTR_READ },
};

/* 0 if there is no form of that name. */
static u32 rtr_bit(const char *name, size_t len)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(rtr_forms); i++)
		if (strlen(rtr_forms[i].name) == len && !strncmp(name, rtr_forms[i].name, len))
			return rtr_forms[i].bit;
	return 0;
}

/* A list such as "write,read": a form behind each comma, nothing behind the last one. */
static int parse_rtr(const char *buf, u32 *value)
{
	u32 mask = 0, bit;
	size_t len;

	for (;;) {
		len = strcspn(buf, ",\n");
		bit = rtr_bit(buf, len);
		if (!bit)
			return -EINVAL;
		mask |= bit;
		buf += len;
		if (*buf != ',')
			break;
		buf++;
	}
	if (!sysfs_streq(buf, ""))
		return -EINVAL;
	*value = mask;
	return 0;
}

static int format_rtr(char *buf, u32 value)
{
	int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(rtr_forms); i++)
		if (value & rtr_forms[i].bit)
			n += sysfs_emit_at(buf, n, "%s%s", n ? "," : "",
					   rtr_forms[i].name);
	return n + sysfs_emit_at(buf, n, "\n");
}

/* ------------------------------------------------------------------- sysfs */

static u32 *knob_value(struct device *dev, const struct knob *knob)
{
	struct kwarp_dev *kdev = rdma_device_to_drv_device(dev, struct kwarp_dev, ibdev);

	return (u32 *)((u8 *)&kdev->knobs + knob->offset);
}

static ssize_t knob_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct knob *knob = container_of(attr, struct knob, attr);

	return knob->format(buf, READ_ONCE(*knob_value(dev, knob)));
}

static ssize_t knob_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t len)
{
	struct kwarp_dev *kdev = rdma_device_to_drv_device(dev, struct kwarp_dev, ibdev);
	const struct knob *knob = container_of(attr, struct knob, attr);
	u32 value;
	int ret;

	/* The file's owner is root, and so is each container's. */
	if (!ns_capable(kdev->net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	ret = knob->parse(buf, &value);
	if (ret)
		return ret;
	WRITE_ONCE(*knob_value(dev, knob), value);
	return len;
}

#define KNOB(_name, _kind)							\
static struct knob knob_##_name = {						\
	.attr = __ATTR(_name, 0644, knob_show, knob_store),			\
	.offset = offsetof(struct kwarp_knobs, _name),				\
	.parse = parse_##_kind,							\
	.format = format_##_kind,						\
}

KNOB(align, switch);
KNOB(crc, crc);
KNOB(coalesce_us, coalesce);
KNOB(keepalive, seconds);
KNOB(markers, switch);
KNOB(mpa_rev, rev);
KNOB(peer_to_peer, switch);
KNOB(rtr, rtr);
KNOB(user_timeout, seconds);

/* -------------------------------------------------------- counts, to be read only */

static struct kwarp_dev *count_dev(struct device *dev)
{
	return rdma_device_to_drv_device(dev, struct kwarp_dev, ibdev);
}

static ssize_t stashes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lu\n", atomic_long_read(&count_dev(dev)->stashes));
}

static ssize_t stashes_now_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", atomic_read(&count_dev(dev)->stashes_now));
}

static ssize_t coalesce_timeouts_show(struct device *dev, struct device_attribute *attr,
				      char *buf)
{
	return sysfs_emit(buf, "%lu\n", atomic_long_read(&count_dev(dev)->coalesce_timeouts));
}

static DEVICE_ATTR_RO(coalesce_timeouts);
static DEVICE_ATTR_RO(stashes);
static DEVICE_ATTR_RO(stashes_now);

/* ------------------------------------------------------------------- group */

static struct attribute *knob_attrs[] = {
	&knob_align.attr.attr,
	&knob_crc.attr.attr,
	&knob_coalesce_us.attr.attr,
	&knob_keepalive.attr.attr,
	&knob_markers.attr.attr,
	&knob_mpa_rev.attr.attr,
	&knob_peer_to_peer.attr.attr,
	&knob_rtr.attr.attr,
	&knob_user_timeout.attr.attr,
	&dev_attr_coalesce_timeouts.attr,
	&dev_attr_stashes.attr,
	&dev_attr_stashes_now.attr,
	NULL
};

/*
 * The core shows a device that all network namespaces share in each of them, as a device
 * of its own with the same groups. The knobs are to be seen where the device is managed,
 * and where its netdev is.
 */
static umode_t knob_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	const struct ib_core_device *core =
		container_of(kobj_to_dev(kobj), struct ib_core_device, dev);
	const struct kwarp_dev *kdev = to_kdev(core->owner);

	if (core != &core->owner->coredev && !net_eq(read_pnet(&core->rdma_net), kdev->net))
		return 0;
	return attr->mode;
}

const struct attribute_group kwarp_attr_group = {
	.name = "kwarp",
	.is_visible = knob_visible,
	.attrs = knob_attrs,
};

/* -------------------------------------------------------------- parameters */

static struct kwarp_knobs defaults = {
	.crc = KWARP_CRC_ON,
	.coalesce_us = KWARP_COALESCE_US,
	.keepalive = 60,
	.markers = 0,
	.mpa_rev = 2,
	/* Many programs speak first as servers, which needs an RTR (RFC 6581). */
	.peer_to_peer = 1,
	.rtr = KWARP_RTR_WRITE | KWARP_RTR_READ,
	.user_timeout = 60,
};

struct param {
	u32 *value;
	int (*parse)(const char *buf, u32 *value);
	int (*format)(char *buf, u32 value);
};

static int param_set(const char *val, const struct kernel_param *kp)
{
	const struct param *p = kp->arg;
	u32 value;
	int ret;

	/*
	 * As for a knob, but in the initial user namespace, where links are added. Who loads the
	 * module comes here with the other one, which comes first: a refusal of either is logged.
	 */
	if (!capable(CAP_SYS_MODULE) && !capable(CAP_NET_ADMIN))
		return -EPERM;
	ret = p->parse(val, &value);
	if (!ret)
		WRITE_ONCE(*p->value, value);
	return ret;
}

static int param_get(char *buf, const struct kernel_param *kp)
{
	const struct param *p = kp->arg;

	return p->format(buf, READ_ONCE(*p->value));
}

static const struct kernel_param_ops param_ops = {
	.set = param_set,
	.get = param_get,
};

#define PARAM(_name, _kind, _text)						\
static const struct param param_##_name = {					\
	.value = &defaults._name,						\
	.parse = parse_##_kind,							\
	.format = format_##_kind,						\
};										\
module_param_cb(_name, &param_ops, (void *)&param_##_name, 0644);		\
MODULE_PARM_DESC(_name, _text)

PARAM(align, switch, "default of new links: keep FPDUs aligned to TCP segments (off)");
PARAM(crc, crc, "default of new links: CRC on, off or required (on)");
PARAM(coalesce_us, coalesce, "default of new links: longest wait of coalesced requests, 10 to 1000 us, or 0 (100)");
PARAM(keepalive, seconds, "default of new links: seconds until a silent peer is given up (60)");
PARAM(markers, switch, "default of new links: ask peers for markers (off)");
PARAM(mpa_rev, rev, "default of new links: MPA revision to initiate with, 1 or 2 (2)");
PARAM(peer_to_peer, switch, "default of new links: initiate peer-to-peer, i.e. send an RTR (on)");
PARAM(rtr, rtr, "default of new links: RTR forms offered, of send,write,read (write,read)");
PARAM(user_timeout, seconds, "default of new links: seconds until data must be acknowledged (60)");

void kwarp_knobs_init(struct kwarp_knobs *knobs)
{
	knobs->align = READ_ONCE(defaults.align);
	knobs->crc = READ_ONCE(defaults.crc);
	knobs->coalesce_us = READ_ONCE(defaults.coalesce_us);
	knobs->keepalive = READ_ONCE(defaults.keepalive);
	knobs->markers = READ_ONCE(defaults.markers);
	knobs->mpa_rev = READ_ONCE(defaults.mpa_rev);
	knobs->peer_to_peer = READ_ONCE(defaults.peer_to_peer);
	knobs->rtr = READ_ONCE(defaults.rtr);
	knobs->user_timeout = READ_ONCE(defaults.user_timeout);
}
