// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Knobs (tunables): /sys/class/infiniband/DEV/kwarp/KNOB, and module parameters of the same names
 * as defaults for new links.  Also read-only files for some counters.
 */
#include <linux/capability.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <net/inet_ecn.h>
#include <net/net_namespace.h>

#include "cm/cm.h"
#include "device.h"
#include "knobs.h"
#include "proto/mpa_neg.h"

/* ------------------------------------------------------------------ values */

static const char * const crc_names[] = {
	[KWARP_CRC_OFF]		= "off",
	[KWARP_CRC_ON]		= "on",
	[KWARP_CRC_REQUIRED]	= "required",
};

static int parse_crc(const struct knob_kind *kind, const char *buf, u32 *value)
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

static const struct knob_kind kind_crc = { .parse = parse_crc, .format = format_crc };

static const char * const on_words[] = { "on", "1", "y", "yes", "true" };
static const char * const off_words[] = { "off", "0", "n", "no", "false" };

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

/* kstrtobool() would accept "onx" and "never", because it looks at one or two characters only. */
static int parse_switch(const struct knob_kind *kind, const char *buf, u32 *value)
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

static const struct knob_kind kind_switch = { .parse = parse_switch, .format = format_switch };

static int parse_number(const struct knob_kind *kind, const char *buf, u32 *value)
{
	u32 number;
	int ret = kstrtou32(buf, 0, &number);

	if (ret)
		return ret;
	if ((number < kind->least || number > kind->most) && !(kind->or_zero && !number))
		return -EINVAL;
	*value = number;
	return 0;
}

static int format_number(char *buf, u32 value)
{
	return sysfs_emit(buf, "%u\n", value);
}

#define NUMBER(_least, _most) \
	{ .parse = parse_number, .format = format_number, .least = _least, .most = _most }

/* 32767: the most that TCP takes for keepalive times. */
static const struct knob_kind kind_seconds = NUMBER(0, 32767);
static const struct knob_kind kind_port = NUMBER(0, U16_MAX);
static const struct knob_kind kind_wait = NUMBER(0, KWARP_MAX_RECEIVE_WAIT_MS);
static const struct knob_kind kind_rev = NUMBER(1, 2);
static const struct knob_kind kind_timeout = NUMBER(1, KWARP_MAX_TIMEOUT);
static const struct knob_kind kind_half_open = NUMBER(KWARP_HALF_OPEN_MIN, KWARP_HALF_OPEN_MAX);
static const struct knob_kind kind_coalesce = {
	.parse = parse_number, .format = format_number,
	.least = KWARP_COALESCE_MIN_US, .most = KWARP_COALESCE_MAX_US, .or_zero = true,
};

static const struct knob_kind kind_buffer = {
	.parse = parse_number, .format = format_number,
	.least = KWARP_BUFFER_MIN, .most = KWARP_BUFFER_MAX, .or_zero = true,
};

/* Parse a type of service. Refuse the two ECN bits: TCP sets them itself. */
static int parse_tos(const struct knob_kind *kind, const char *buf, u32 *value)
{
	int ret = parse_number(kind, buf, value);

	return ret ?: *value & INET_ECN_MASK ? -EINVAL : 0;
}

static const struct knob_kind kind_tos = {
	.parse = parse_tos, .format = format_number, .most = U8_MAX,
};

static const struct {
	const char *name;
	u32 bit;
} rtr_forms[] = {
	{ "send", KWARP_RTR_SEND },
	{ "write", KWARP_RTR_WRITE },
	{ "read", KWARP_RTR_READ },
};

static u32 rtr_bit(const char *name, size_t len)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(rtr_forms); i++)
		if (strlen(rtr_forms[i].name) == len && !strncmp(name, rtr_forms[i].name, len))
			return rtr_forms[i].bit;
	return 0;
}

static int parse_rtr(const struct knob_kind *kind, const char *buf, u32 *value)
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

static const struct knob_kind kind_rtr = { .parse = parse_rtr, .format = format_rtr };

/* ---------------------------------------------------------------- defaults */

static struct kwarp_knobs defaults = { KNOBS(KNOB_DEFAULT) };

static u32 *knob_place(struct kwarp_knobs *knobs, const struct knob *knob)
{
	return (void *)knobs + knob->offset;
}

void kwarp_knobs_init(struct kwarp_dev *kdev)
{
	KNOBS(KNOB_INIT)
}

/* ------------------------------------------------------------------- sysfs */

static struct kwarp_dev *kdev_of(struct device *dev)
{
	return rdma_device_to_drv_device(dev, struct kwarp_dev, ibdev);
}

static ssize_t knob_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct knob *knob = container_of(attr, struct knob, attr);

	return knob->kind->format(buf, READ_ONCE(*knob_place(&kdev_of(dev)->knobs, knob)));
}

static ssize_t knob_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t len)
{
	struct kwarp_dev *kdev = kdev_of(dev);
	const struct knob *knob = container_of(attr, struct knob, attr);
	u32 value;
	int ret;

	/* File permissions are not enough: root of any container would pass them. */
	if (!ns_capable(kdev->net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	ret = knob->kind->parse(knob->kind, buf, &value);
	if (ret)
		return ret;
	/* A port is used at once, or the knob does not change. */
	if (knob->offset == offsetof(struct kwarp_knobs, wire_port))
		ret = kwarp_cm_wire_listen(kdev, value);
	else
		WRITE_ONCE(*knob_place(&kdev->knobs, knob), value);
	return ret ?: len;
}

/* -------------------------------------------------------------- parameters */

static int param_set(const char *val, const struct kernel_param *kp)
{
	const struct knob *knob = kp->arg;
	u32 value;
	int ret;

	/*
	 * Like knob_store(), but in the initial user namespace.  CAP_SYS_MODULE is for the process
	 * that loads the module.  It is checked first: an audit log records each capability that is
	 * refused, and this process may lack CAP_NET_ADMIN.
	 */
	if (!capable(CAP_SYS_MODULE) && !capable(CAP_NET_ADMIN))
		return -EPERM;
	ret = knob->kind->parse(knob->kind, val, &value);
	if (ret)
		return ret;
	WRITE_ONCE(*knob_place(&defaults, knob), value);
	return 0;
}

static int param_get(char *buf, const struct kernel_param *kp)
{
	const struct knob *knob = kp->arg;

	return knob->kind->format(buf, READ_ONCE(*knob_place(&defaults, knob)));
}

static const struct kernel_param_ops param_ops = {
	.set = param_set,
	.get = param_get,
};

KNOBS(KNOB)

/* -------------------------------------------------------- counters, read-only */

COUNT(coalesce_paced, atomic_long_read);
COUNT(coalesce_timeouts, atomic_long_read);
COUNT(stashes, atomic_long_read);
COUNT(stashes_now, atomic_read);

/* ------------------------------------------------------------------- group */

#define COUNT_ATTR(_name) (&dev_attr_##_name.attr)

static struct attribute *knob_attrs[] = {
	KNOBS(KNOB_ATTR)
	COUNT_ATTR(coalesce_paced),
	COUNT_ATTR(coalesce_timeouts),
	COUNT_ATTR(stashes),
	COUNT_ATTR(stashes_now),
	NULL
};

/*
 * A device that is shared between network namespaces (rdma system netns shared) appears in each
 * of them, as a separate sysfs device with the same groups. Show the knobs only in the main sysfs
 * device (coredev), and in that of the namespace of the netdev.
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
