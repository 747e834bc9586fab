/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of knobs, and what becomes of a row.  For knobs.c only.
 */
#ifndef KWARP_KNOBS_H
#define KWARP_KNOBS_H

#include <linux/device.h>
#include <linux/moduleparam.h>

/*
 * Name, which is a field of struct kwarp_knobs; kind; default; what modinfo says.  Many
 * programs speak first as servers, which needs an RTR (RFC 6581): hence peer_to_peer.
 */
#define KNOBS(X)								\
	X(align, switch, 0, "keep FPDUs aligned to TCP segments (off)")		\
	X(crc, crc, KWARP_CRC_ON, "CRC on, off or required (on)")		\
	X(coalesce_us, coalesce, KWARP_COALESCE_US,				\
	  "first look after coalesced requests, 10 to 1000 us, or 0 (100)")	\
	X(keepalive, seconds, 60, "seconds until a silent peer is given up (60)") \
	X(markers, switch, 0, "ask peers for markers (off)")			\
	X(mpa_rev, rev, 2, "MPA revision to initiate with, 1 or 2 (2)")		\
	X(peer_to_peer, switch, 1, "initiate peer-to-peer, i.e. send an RTR (on)") \
	X(rfc7306, switch, 1, "immediate data and atomic operations (on)")	\
	X(rtr, rtr, KWARP_RTR_WRITE | KWARP_RTR_READ,				\
	  "RTR forms offered, of send,write,read (write,read)")			\
	X(strict, switch, 0, "the sink of a Read needs remote write, too (off)")	\
	X(user_timeout, seconds, 60, "seconds until data must be acknowledged (60)")

/**
 * struct knob_kind - what a knob takes, and how it says it
 * @parse: text to value: 0, or an errno
 * @format: value to text: its length
 * @least: of a number
 * @most: likewise
 * @or_zero: 0 is a number, too, whatever @least is
 */
struct knob_kind {
	int (*parse)(const struct knob_kind *kind, const char *buf, u32 *value);
	int (*format)(char *buf, u32 value);
	u32 least;
	u32 most;
	bool or_zero;
};

/**
 * struct knob - what the file and the module parameter of a row know
 * @attr: the file
 * @kind: what it takes
 * @offset: of its value in struct kwarp_knobs
 */
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
#define KNOB_INIT(_name, ...)		knobs->_name = READ_ONCE(defaults._name);

#endif /* KWARP_KNOBS_H */
