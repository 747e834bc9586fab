/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of knobs, and what becomes of a row.  For knobs.c only.
 */
#ifndef KWARP_KNOBS_H
#define KWARP_KNOBS_H

#include <linux/device.h>
#include <linux/moduleparam.h>

#include "limits.h"

/*
 * Name, which is a field of struct kwarp_knobs; kind; default; what modinfo says.  Many
 * programs speak first as servers, which needs an RTR (RFC 6581): hence peer_to_peer.
 */
#define KNOBS(X)								\
	X(align, switch, 0, "keep FPDUs aligned to TCP segments (off)")		\
	X(crc, crc, KWARP_CRC_ON, "CRC on, off or required (on)")		\
	X(coalesce_us, coalesce, KWARP_COALESCE_US,				\
	  "first look after coalesced requests, 10 to 1000 us, or 0 (100)")	\
	X(congestion, congestion, "", "TCP's congestion control, by name (default)") \
	X(connect_timeout, timeout, KWARP_CONNECT_TIMEOUT,			\
	  "seconds to connect TCP, and then for the Reply (30)")		\
	X(half_open_max, half_open, KWARP_HALF_OPEN,				\
	  "connections of a listener that are being set up (1024)")		\
	X(keepalive, seconds, 60, "seconds until a silent peer is given up (60)") \
	X(linger_timeout, timeout, KWARP_LINGER_TIMEOUT,			\
	  "seconds from our FIN to the peer's (5)")				\
	X(markers, switch, 0, "ask peers for markers (off)")			\
	X(mpa_rev, rev, 2, "MPA revision to initiate with, 1 or 2 (2)")		\
	X(peer_to_peer, switch, 1, "initiate peer-to-peer, i.e. send an RTR (on)") \
	X(rcvbuf, buffer, 0, "octets TCP may keep of what is received, or 0 (0)") \
	X(rfc7306, switch, 1, "immediate data and atomic operations (on)")	\
	X(rtr, rtr, KWARP_RTR_WRITE | KWARP_RTR_READ,				\
	  "RTR forms offered, of send,write,read (write,read)")			\
	X(sndbuf, buffer, 0, "octets TCP may keep of what is sent, or 0 (0)")	\
	X(startup_timeout, timeout, KWARP_STARTUP_TIMEOUT,			\
	  "seconds for a peer's Request, and for its first FPDU (10)")		\
	X(strict, switch, 0, "the sink of a Read needs remote write, too (off)")	\
	X(tos, tos, 0, "type of service where the program chooses none (0)")	\
	X(user_timeout, seconds, 60, "seconds until data must be acknowledged (60)")

/**
 * union knob_value - what a knob can be
 * @number: most are
 * @name: of a congestion control
 */
union knob_value {
	u32 number;
	char name[KWARP_CONGESTION_LEN];
};

/**
 * struct knob_kind - what a knob takes, and how it says it
 * @parse: text to value, in the network namespace of the link, or in the initial one: 0, or an
 *	errno.  Context: process
 * @format: value to text: its length
 * @least: of a number
 * @most: likewise
 * @or_zero: 0 is a number, too, whatever @least is
 */
struct knob_kind {
	int (*parse)(const struct knob_kind *kind, struct net *net, const char *buf,
		     union knob_value *value);
	int (*format)(char *buf, const union knob_value *value);
	u32 least;
	u32 most;
	bool or_zero;
};

/**
 * struct knob - what the file and the module parameter of a row know
 * @attr: the file
 * @kind: what it takes
 * @offset: of its value in struct kwarp_knobs
 * @size: of that; a u32's is a number
 */
struct knob {
	struct device_attribute attr;
	const struct knob_kind *kind;
	size_t offset;
	size_t size;
};

#define KNOB(_name, _kind, _default, _text)					\
static struct knob knob_##_name = {						\
	.attr = __ATTR(_name, 0644, knob_show, knob_store),			\
	.kind = &kind_##_kind,							\
	.offset = offsetof(struct kwarp_knobs, _name),				\
	.size = sizeof_field(struct kwarp_knobs, _name),			\
};										\
module_param_cb(_name, &param_ops, &knob_##_name, 0644);			\
MODULE_PARM_DESC(_name, "default of new links: " _text);

#define KNOB_ATTR(_name, ...)		&knob_##_name.attr.attr,
#define KNOB_DEFAULT(_name, _kind, _default, _text) ._name = _default,
#define KNOB_INIT(_name, ...)		knob_init(knobs, &knob_##_name);

#endif /* KWARP_KNOBS_H */
