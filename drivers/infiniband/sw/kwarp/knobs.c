// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Knobs (tunables): /sys/class/infiniband/DEV/kwarp/KNOB, and module parameters of the same names
 * as defaults for new links.  A connection copies the values at its start; the knob rfc7306 is
 * copied when a queue pair is made.  Also read-only files for some counters.
 *
 * A pin is a socket that uses the congestion control that a knob names, so that the module of the
 * congestion control stays loaded.  RTR is the first message of the peer-to-peer mode of RFC 6581.
 */
#include <linux/capability.h>
#include <linux/in.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#include "device.h"
#include "knobs.h"
#include "proto/mpa_neg.h"

/* ------------------------------------------------------------------ values */

static const char * const crc_names[] = {
	[KWARP_CRC_OFF]		= "off",
	[KWARP_CRC_ON]		= "on",
	[KWARP_CRC_REQUIRED]	= "required",
};

static int parse_crc(const struct knob_kind *kind, struct net *net, const char *buf,
		     union knob_value *value)
{
	int i = sysfs_match_string(crc_names, buf);

	if (i < 0)
		return i;
	value->number = i;
	return 0;
}

static int format_crc(char *buf, const union knob_value *value)
{
	return sysfs_emit(buf, "%s\n", crc_names[value->number]);
}

static const struct knob_kind kind_crc = { .parse = parse_crc, .format = format_crc };

static const char * const on_words[] = { "on", "1", "y", "yes", "true" };
static const char * const off_words[] = { "off", "0", "n", "no", "false" };

/* Is @buf one of the words, in upper or lower case, with or without a final newline? */
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

/*
 * Parse "on", "off" and their synonyms.  kstrtobool() would accept "onx" and "never", because it
 * looks at one or two characters only.
 */
static int parse_switch(const struct knob_kind *kind, struct net *net, const char *buf,
			union knob_value *value)
{
	if (is_one_of(buf, on_words, ARRAY_SIZE(on_words)))
		value->number = 1;
	else if (is_one_of(buf, off_words, ARRAY_SIZE(off_words)))
		value->number = 0;
	else
		return -EINVAL;
	return 0;
}

static int format_switch(char *buf, const union knob_value *value)
{
	return sysfs_emit(buf, "%s\n", value->number ? "on" : "off");
}

static const struct knob_kind kind_switch = { .parse = parse_switch, .format = format_switch };

static int parse_number(const struct knob_kind *kind, struct net *net, const char *buf,
			union knob_value *value)
{
	u32 number;
	int ret = kstrtou32(buf, 0, &number);

	if (ret)
		return ret;
	if ((number < kind->least || number > kind->most) && !(kind->or_zero && !number))
		return -EINVAL;
	value->number = number;
	return 0;
}

static int format_number(char *buf, const union knob_value *value)
{
	return sysfs_emit(buf, "%u\n", value->number);
}

#define NUMBER(_least, _most) \
	{ .parse = parse_number, .format = format_number, .least = _least, .most = _most }

/* 32767: the most that TCP takes for keepalive times. */
static const struct knob_kind kind_seconds = NUMBER(0, 32767);
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
static int parse_tos(const struct knob_kind *kind, struct net *net, const char *buf,
		     union knob_value *value)
{
	int ret = parse_number(kind, net, buf, value);

	return ret ?: value->number & INET_ECN_MASK ? -EINVAL : 0;
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

/* Return: the bit (KWARP_RTR_*) of an RTR form; 0: no form has that name. */
static u32 rtr_bit(const char *name, size_t len)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(rtr_forms); i++)
		if (strlen(rtr_forms[i].name) == len && !strncmp(name, rtr_forms[i].name, len))
			return rtr_forms[i].bit;
	return 0;
}

/* Parse a list of RTR forms with commas between them, like "write,read". */
static int parse_rtr(const struct knob_kind *kind, struct net *net, const char *buf,
		     union knob_value *value)
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
	value->number = mask;
	return 0;
}

static int format_rtr(char *buf, const union knob_value *value)
{
	int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(rtr_forms); i++)
		if (value->number & rtr_forms[i].bit)
			n += sysfs_emit_at(buf, n, "%s%s", n ? "," : "",
					   rtr_forms[i].name);
	return n + sysfs_emit_at(buf, n, "\n");
}

static const struct knob_kind kind_rtr = { .parse = parse_rtr, .format = format_rtr };

/*
 * Check whether the congestion control value->name exists, and whether the caller may use it, by
 * setting it on a new socket: TCP loads the module, too, if the caller has the right for that.
 * The socket becomes value->pin, and the module cannot be unloaded until the socket is released.
 */
static int pin_congestion(struct net *net, union knob_value *value)
{
	struct socket *sock;
	int ret = sock_create_kern(net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);

	if (ret)
		return ret;
	ret = sock->ops->setsockopt(sock, SOL_TCP, TCP_CONGESTION, KERNEL_SOCKPTR(value->name),
				    strlen(value->name));
	if (!ret) {
		value->pin = sock;
		return 0;
	}
	sock_release(sock);
	/* Replace ENOENT, which would mean "unknown parameter" if this is a module parameter. */
	return ret == -ENOENT ? -EINVAL : ret;
}

static void release_pin(struct socket *pin)
{
	if (pin)
		sock_release(pin);
}

static_assert(KWARP_CONGESTION_LEN == TCP_CA_NAME_MAX);

/* This value of the knob congestion stands for the congestion control of the network namespace. */
static const char unset[] = "default";

static int parse_congestion(const struct knob_kind *kind, struct net *net, const char *buf,
			    union knob_value *value)
{
	size_t len = strcspn(buf, "\n");

	if (!len || len >= sizeof(value->name) || !sysfs_streq(buf + len, ""))
		return -EINVAL;
	memset(value, 0, sizeof(*value));
	if (sysfs_streq(buf, unset))
		return 0;
	memcpy(value->name, buf, len);
	return pin_congestion(net, value);
}

static int format_congestion(char *buf, const union knob_value *value)
{
	return sysfs_emit(buf, "%s\n", value->name[0] ? value->name : unset);
}

static const struct knob_kind kind_congestion = {
	.parse = parse_congestion, .format = format_congestion,
};

/* ---------------------------------------------------------------- defaults */

static struct kwarp_knobs defaults = { KNOBS(KNOB_DEFAULT) };

/* Protects the name of a congestion control in @defaults. Numbers need no lock. */
static DEFINE_MUTEX(names_lock);

static void *knob_place(struct kwarp_knobs *knobs, const struct knob *knob)
{
	return (u8 *)knobs + knob->offset;
}

static bool is_number(const struct knob *knob)
{
	return knob->size == sizeof(u32);
}

/* Read a knob. @lock: protects the name of a congestion control in @knobs. */
static union knob_value knob_load(struct kwarp_knobs *knobs, struct mutex *lock,
				  const struct knob *knob)
{
	union knob_value value = {};

	if (is_number(knob)) {
		value.number = READ_ONCE(*(u32 *)knob_place(knobs, knob));
		return value;
	}
	mutex_lock(lock);
	memcpy(value.name, knob_place(knobs, knob), sizeof(value.name));
	mutex_unlock(lock);
	return value;
}

/*
 * Set a knob. @lock: protects the name of a congestion control in @knobs, and its pin (@pin), which
 * is replaced by value->pin.
 */
static void knob_save(struct kwarp_knobs *knobs, struct mutex *lock, struct socket **pin,
		      const struct knob *knob, union knob_value *value)
{
	if (is_number(knob)) {
		WRITE_ONCE(*(u32 *)knob_place(knobs, knob), value->number);
		return;
	}
	mutex_lock(lock);
	memcpy(knob_place(knobs, knob), value->name, sizeof(value->name));
	swap(*pin, value->pin);
	mutex_unlock(lock);
	release_pin(value->pin);
}

static void knob_save_of(struct kwarp_dev *kdev, const struct knob *knob, union knob_value *value)
{
	knob_save(&kdev->knobs, &kdev->names_lock, &kdev->congestion_pin, knob, value);
}

/* ------------------------------------------------------------------- sysfs */

static struct kwarp_dev *kdev_of(struct device *dev)
{
	return rdma_device_to_drv_device(dev, struct kwarp_dev, ibdev);
}

static ssize_t knob_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct kwarp_dev *kdev = kdev_of(dev);
	const struct knob *knob = container_of(attr, struct knob, attr);
	const union knob_value value = knob_load(&kdev->knobs, &kdev->names_lock, knob);

	return knob->kind->format(buf, &value);
}

static ssize_t knob_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t len)
{
	struct kwarp_dev *kdev = kdev_of(dev);
	const struct knob *knob = container_of(attr, struct knob, attr);
	union knob_value value = {};
	int ret;

	/* File permissions are not enough: root of any container would pass them. */
	if (!ns_capable(kdev->net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	ret = knob->kind->parse(knob->kind, kdev->net, buf, &value);
	if (ret)
		return ret;
	knob_save_of(kdev, knob, &value);
	return len;
}

/* -------------------------------------------------------------- parameters */

static int param_set(const char *val, const struct kernel_param *kp)
{
	const struct knob *knob = kp->arg;
	union knob_value value = {};
	struct socket *none = NULL;
	int ret;

	/*
	 * Like knob_store(), but in the initial user namespace.  CAP_SYS_MODULE is for the process
	 * that loads the module.  It is checked first: an audit log records each capability that is
	 * refused, and this process may lack CAP_NET_ADMIN.
	 */
	if (!capable(CAP_SYS_MODULE) && !capable(CAP_NET_ADMIN))
		return -EPERM;
	ret = knob->kind->parse(knob->kind, &init_net, val, &value);
	if (ret)
		return ret;
	/* A default keeps no pin: knob_init() pins the congestion control for each new link. */
	knob_save(&defaults, &names_lock, &none, knob, &value);
	release_pin(none);
	return 0;
}

static int param_get(char *buf, const struct kernel_param *kp)
{
	const struct knob *knob = kp->arg;
	const union knob_value value = knob_load(&defaults, &names_lock, knob);

	return knob->kind->format(buf, &value);
}

static const struct kernel_param_ops param_ops = {
	.set = param_set,
	.get = param_get,
};

KNOBS(KNOB)

/* ------------------------------------------------------------------- new links */

static void knob_init(struct kwarp_dev *kdev, const struct knob *knob)
{
	union knob_value value = knob_load(&defaults, &names_lock, knob);
	int ret = 0;

	if (!is_number(knob) && value.name[0])
		ret = pin_congestion(kdev->net, &value);
	if (ret) {
		pr_warn_ratelimited("kwarp: a new link cannot use congestion control %s, it uses the default: %d\n",
				    value.name, ret);
		value = (union knob_value) {};
	}
	knob_save_of(kdev, knob, &value);
}

/* Set the knobs of a new device; kdev->net is set already.  Context: process. */
void kwarp_knobs_init(struct kwarp_dev *kdev)
{
	mutex_init(&kdev->names_lock);
	KNOBS(KNOB_INIT)
}

/*
 * Free the pin of a device.  When this is called the sysfs files are gone, and no new connection
 * can begin.  Context: process.
 */
void kwarp_knobs_fini(struct kwarp_dev *kdev)
{
	release_pin(kdev->congestion_pin);
	kdev->congestion_pin = NULL;
	mutex_destroy(&kdev->names_lock);
}

/* -------------------------------------------------------- counters, read-only */

static ssize_t stashes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lu\n", atomic_long_read(&kdev_of(dev)->stashes));
}

static ssize_t stashes_now_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", atomic_read(&kdev_of(dev)->stashes_now));
}

static ssize_t coalesce_timeouts_show(struct device *dev, struct device_attribute *attr,
				      char *buf)
{
	return sysfs_emit(buf, "%lu\n", atomic_long_read(&kdev_of(dev)->coalesce_timeouts));
}

static ssize_t coalesce_paced_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lu\n", atomic_long_read(&kdev_of(dev)->coalesce_paced));
}

static DEVICE_ATTR_RO(coalesce_paced);
static DEVICE_ATTR_RO(coalesce_timeouts);
static DEVICE_ATTR_RO(stashes);
static DEVICE_ATTR_RO(stashes_now);

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
