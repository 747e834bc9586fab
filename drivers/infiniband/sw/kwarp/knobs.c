// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tunables: /sys/class/infiniband/DEV/kwarp/KNOB, and module parameters of the same
 * names as defaults for new links.  A connection takes a snapshot at its start.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

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

static int parse_switch(const char *buf, u32 *value)
{
	bool on;
	int ret = kstrtobool(buf, &on);

	if (!ret)
		*value = on;
	return ret;
}

static int format_switch(char *buf, u32 value)
{
	return sysfs_emit(buf, "%s\n", value ? "on" : "off");
}

static int parse_rev(const char *buf, u32 *value)
{
	u32 rev;
	int ret = kstrtou32(buf, 0, &rev);

	if (ret)
		return ret;
	if (rev != 1 && rev != 2)
		return -EINVAL;
	*value = rev;
	return 0;
}

static int format_rev(char *buf, u32 value)
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

/* A list such as "write,read". */
static int parse_rtr(const char *buf, u32 *value)
{
	u32 mask = 0;

	while (*buf && *buf != '\n') {
		size_t n = strcspn(buf, ",\n");
		u32 bit = 0;
		int i;

		for (i = 0; i < ARRAY_SIZE(rtr_forms); i++)
			if (strlen(rtr_forms[i].name) == n &&
			    !strncmp(buf, rtr_forms[i].name, n))
				bit = rtr_forms[i].bit;
		if (!bit)
			return -EINVAL;
		mask |= bit;
		buf += n;
		if (*buf == ',')
			buf++;
	}
	if (!mask)
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
	const struct knob *knob = container_of(attr, struct knob, attr);
	u32 value;
	int ret = knob->parse(buf, &value);

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
KNOB(markers, switch);
KNOB(mpa_rev, rev);
KNOB(peer_to_peer, switch);
KNOB(rtr, rtr);

static struct attribute *knob_attrs[] = {
	&knob_align.attr.attr,
	&knob_crc.attr.attr,
	&knob_markers.attr.attr,
	&knob_mpa_rev.attr.attr,
	&knob_peer_to_peer.attr.attr,
	&knob_rtr.attr.attr,
	NULL
};

const struct attribute_group kwarp_attr_group = {
	.name = "kwarp",
	.attrs = knob_attrs,
};

/* -------------------------------------------------------------- parameters */

static struct kwarp_knobs defaults = {
	.crc = KWARP_CRC_ON,
	.markers = 0,
	.mpa_rev = 2,
	/* Many programs speak first as servers, which needs an RTR (RFC 6581). */
	.peer_to_peer = 1,
	.rtr = KWARP_RTR_WRITE | KWARP_RTR_READ,
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
	int ret = p->parse(val, &value);

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
PARAM(markers, switch, "default of new links: ask peers for markers (off)");
PARAM(mpa_rev, rev, "default of new links: MPA revision to initiate with, 1 or 2 (2)");
PARAM(peer_to_peer, switch, "default of new links: initiate peer-to-peer, i.e. send an RTR (on)");
PARAM(rtr, rtr, "default of new links: RTR forms offered, of send,write,read (write,read)");

void kwarp_knobs_init(struct kwarp_knobs *knobs)
{
	knobs->align = READ_ONCE(defaults.align);
	knobs->crc = READ_ONCE(defaults.crc);
	knobs->markers = READ_ONCE(defaults.markers);
	knobs->mpa_rev = READ_ONCE(defaults.mpa_rev);
	knobs->peer_to_peer = READ_ONCE(defaults.peer_to_peer);
	knobs->rtr = READ_ONCE(defaults.rtr);
}
