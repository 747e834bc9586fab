/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of knobs (tunables), and macros that turn a row into a sysfs file and a module
 * parameter, and a counter into a file.  For knobs.c only.
 */
#ifndef KWARP_KNOBS_H
#define KWARP_KNOBS_H

#include <linux/device.h>
#include <linux/moduleparam.h>

#include "limits.h"

/*
 * Each row has a name, which is a field of struct kwarp_knobs; a kind (kind_* in knobs.c); a
 * default; and a text for modinfo.  Documentation/reference/knobs.rst says what each is for.
 * peer_to_peer is on because in many programs the server sends first, which needs an RTR: the first
 * message of RFC 6581's peer-to-peer mode.
 */
#define KNOBS(X)								\
	X(align, switch, 0, "keep FPDUs aligned to TCP segments (off)")		\
	X(crc, crc, KWARP_CRC_ON, "CRC on, off or required (on)")		\
	X(coalesce_us, coalesce, KWARP_COALESCE_US,				\
	  "between looks for forgotten requests, 10 to 1000 us, or 0 (100)")	\
	X(connect_timeout, timeout, KWARP_CONNECT_TIMEOUT,			\
	  "seconds to connect TCP, and again for the Reply (30)")		\
	X(half_open_max, half_open, KWARP_HALF_OPEN,				\
	  "connections of a listener that are being set up (1024)")		\
	X(keepalive, seconds, 60, "seconds until a silent peer is given up (60)") \
	X(linger_timeout, timeout, KWARP_LINGER_TIMEOUT,			\
	  "seconds from this end's FIN to the peer's (5)")			\
	X(log_errors, switch, 1, "log why connections ended by an error (on)")	\
	X(long_frames, switch, 1, "longer FPDUs than TCP segments between kwarps (on)") \
	X(markers, switch, 0, "ask peers for markers (off)")			\
	X(mpa_rev, rev, 2, "MPA revision to initiate with, 1 or 2 (2)")		\
	X(peer_to_peer, switch, 1, "initiate peer-to-peer, i.e. send an RTR (on)") \
	X(rcvbuf, buffer, 0, "octets of TCP's receive buffer; 0: TCP chooses (0)") \
	X(receive_wait, wait, 0,						\
	  "milliseconds that a message waits for a receive; 0: none (0)")	\
	X(rfc7306, switch, 1, "immediate data and atomic operations (on)")	\
	X(rtr, rtr, KWARP_RTR_WRITE | KWARP_RTR_READ,				\
	  "RTR forms offered, of send,write,read (write,read)")			\
	X(sndbuf, buffer, 0, "octets of TCP's send buffer; 0: TCP chooses (0)")	\
	X(startup_timeout, timeout, KWARP_STARTUP_TIMEOUT,			\
	  "seconds for a peer's Request, and for its first FPDU (10)")		\
	X(strict, switch, 0, "programs are checked as hardware would check them (off)") \
	X(tos, tos, 0, "type of service where the program chooses none (0)")	\
	X(user_timeout, seconds, 60, "seconds until data must be acknowledged (60)") \
	X(wire_port, port, 0,							\
	  "TCP port for queue pairs wired without rdma_cm; 0: none (0)")

/*
 * struct knob_kind - the values that a knob takes, and their text form
 * @or_zero: 0 is valid, too, even if less than @least
 */
struct knob_kind {
	int (*parse)(const struct knob_kind *kind, const char *buf, u32 *value);
	int (*format)(char *buf, u32 value);
	u32 least;
	u32 most;
	bool or_zero;
};

struct knob {
	struct device_attribute attr;
	const struct knob_kind *kind;
	size_t offset;
};

#define KNOB(_name, _kind, _default, _text)					\
static struct knob knob_##_name = {						\
	.attr = __ATTR(_name, 0644, knob_show, knob_store),			\
	.kind = &kind_##_kind,							\
	.offset = offsetof(struct kwarp_knobs, _name),				\
};										\
module_param_cb(_name, &param_ops, &knob_##_name, 0644);			\
MODULE_PARM_DESC(_name, "default of new links: " _text);

#define KNOB_ATTR(_name, ...)		&knob_##_name.attr.attr,
#define KNOB_DEFAULT(_name, _kind, _default, _text) ._name = _default,
#define KNOB_INIT(_name, ...)		kdev->knobs._name = READ_ONCE(defaults._name);

/* A read-only file for a counter of struct kwarp_dev. */
#define COUNT(_name, _read)							\
static ssize_t _name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
{										\
	return sysfs_emit(buf, "%lu\n", (unsigned long)_read(&kdev_of(dev)->_name)); \
}										\
static DEVICE_ATTR_RO(_name)

#endif /* KWARP_KNOBS_H */
