/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of knobs, and what becomes of a row.  For knobs.c only.
 */
#ifndef KWARP_KNOBS_H
#define KWARP_KNOBS_H

#include <linux/device.h>
#include <linux/moduleparam.h>

#include "limits.h"

struct net;
struct socket;

/*
 * What each knob is for, in reStructuredText: scripts/reference.py makes
 * Documentation/reference/knobs.rst of it, with the values and defaults of the table below and of
 * knobs.c, and of the first paragraphs a part of kwarp(7).  "@name (values):" says the values
 * where they cannot be read from knobs.c.
 *
 * @align: With ``on`` each TCP segment begins with a frame (FPDU) and holds whole frames only,
 *	which some hardware needs to be fast.  Messages shorter than 64 KiB take more packets then.
 *
 *	Towards siw set it to ``on`` if there are CRCs, see :doc:`/interop`.  What it costs is in
 *	:doc:`/performance/index`.
 *
 * @crc: ``on`` asks the peer for a CRC on each frame, and takes a peer that wants none.  ``off``
 *	asks for none: there are CRCs if the peer asks for them.  ``required`` asks, and refuses a
 *	peer that does not ask, too.
 *
 *	Set it to ``off`` only where something else protects the connection at least as well, from
 *	end to end: see "Security" in :doc:`/admin-guide`.
 *
 * @coalesce_us: Requests that a program posts one by one go out together, when it polls and finds
 *	nothing, or asks for an event.  After so many microseconds a timer looks for the first time
 *	whether the program has forgotten them.  ``0``: each request goes when it is posted.
 *
 *	One system call for many requests costs less than one for each.  Programs that never poll,
 *	or whose policy is a real-time one (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE), have each request
 *	sent when it is posted, and so have all programs on real-time kernels (PREEMPT_RT).
 *
 *	A program that posts and then does neither has its request sent by the timer: say, it looks
 *	at its memory until its peer has written there, or it sleeps until an event that it had
 *	asked for before it posted.  The timer finds such a request within two or three times
 *	``coalesce_us``, and within 32 times, 3.2 ms by default, if the program has always come to
 *	poll before.  When that has happened some times, four to twenty, and seldom that the program
 *	came to poll in time, the next 4096 doorbells of the CQ are obeyed at once.  Set
 *	``coalesce_us`` to 0 if that is too often; the count ``coalesce_timeouts`` tells.
 *
 *	Set it to 0, too, if all of this is so: the kernel has ``threadirqs``,
 *	``kernel.sched_rt_runtime_us`` is -1, and one thread of a program posts with ordinary
 *	priority while another, with real-time priority, spins on the same processor without
 *	polling.  There the timer gets no processor time, or since Linux 6.12 only after a second.
 *
 *	On links of type ``kwarp-siw`` the knob has another meaning, since libsiw never puts its
 *	doorbell off: requests of a program that posts many of them one by one are sent by a timer,
 *	each quarter of that time (but not more often than each 10 microseconds), if that sends more
 *	than doorbells would, which is measured all the time.  A request may wait as long for the
 *	timer; if more completes so, which is measured, too, half of ``coalesce_us``, and all of it
 *	while the program goes on to post.  What the timer sends costs processor time that is
 *	charged to nobody, as what TCP sends in an acknowledgement's softirq.  Where softirqs of a
 *	processor have sent 1 MiB in a millisecond, doorbells are obeyed again.  ``0`` obeys each
 *	doorbell at once.  16 streams of a device can have such a timer at a time.
 *
 * @congestion (a name of ``net.ipv4.tcp_available_congestion_control``): TCP's congestion control
 *	for the link's connections.  ``default`` takes that of the network namespace.
 *
 *	TCP is asked when the knob is set: one that it does not know is refused, and one that it
 *	does not let the caller have gives EPERM.  Its module cannot be unloaded as long as a link's
 *	knob names it.  As a module parameter it has to be there when the module is loaded, in an
 *	initramfs, too, or the module does not load; a link that cannot have it later begins with
 *	``default``, and the log says so.
 *
 *	One that needs ECN, as dctcp does, gets it from peers that have the same.
 *
 * @connect_timeout: How long TCP may take to connect, and then the peer for its Reply.  A
 *	connection is given up after twice that time at the latest, a second attempt included.
 *
 * @half_open_max: A listener takes so many connections that have not finished their startup, or
 *	were refused.  Those that come then wait in TCP's queue.
 *
 *	If others wait, a connection that has not got on for a second is ended for them, and one
 *	that waits for the program's verdict after ten seconds; the count ``cm_evicted`` tells.
 *	Each connection takes some 10 KiB.
 *
 * @keepalive: A connection ends if its peer has been silent for so long.  From half of that time
 *	on kwarp asks the peer for a sign of life.  ``0`` keeps an idle connection for ever.
 *
 *	If it is shorter than ``user_timeout`` it shortens that, too, also for a peer that answers
 *	and keeps its window closed.
 *
 * @linger_timeout: After our end has closed, the peer has so long to close its own, before the
 *	connection is reset.  As long as data get on towards the peer the time begins anew.
 *
 * @markers: ``on`` asks the peer to send MPA markers.  Markers that the peer asks for are always
 *	sent.
 *
 * @mpa_rev: The revision of MPA to connect with.  With 2, a peer that knows revision 1 only is
 *	called again with 1.  A connection that a peer begins is answered in the peer's revision.
 *
 * @peer_to_peer: ``on`` connects in the peer-to-peer mode of RFC 6581: the end that connects sends
 *	first, by itself, a message that no program sees (RTR).  With ``off``, programs whose server
 *	speaks first wait for ever, since iWARP forbids the other end to send before.
 *
 *	The mode needs ``mpa_rev`` 2.  As the end that is connected to kwarp takes part whenever it
 *	is asked.  Set the knob to ``off`` to connect to a siw, see :doc:`/interop`.
 *
 * @rcvbuf: As much received data TCP may keep, as with SO_RCVBUF.  ``0`` lets TCP choose by
 *	``net.ipv4.tcp_rmem``, and grow it as the connection needs.
 *
 *	What ``net.core.rmem_max`` allows does not matter.  How large a window can become, TCP says
 *	when it answers the SYN: for a listener that is there already, by the value that the knob
 *	had when it began.
 *
 * @rfc7306: Immediate data and atomic operations (RFC 7306).  With ``off`` programs cannot post
 *	them, and a peer that sends one has its connection ended.  The knob counts when a queue pair
 *	is made, not when it connects.
 *
 *	iWARP cannot ask a peer whether it knows these messages: one that does not, as siw, ends the
 *	connection at the first one.  Consumers in the kernel see the ``atomic_cap`` of the device,
 *	which is that of the time when the link was added: for them switch it off by the module
 *	parameter, before the link is added.  The knob has no effect on programs on links of type
 *	``kwarp-siw``: libsiw has neither.
 *
 * @rtr: The forms of the first message of peer-to-peer mode (RTR) to offer when connecting.
 *
 *	The peer chooses one of them.  The form ``send`` takes a receive of the peer's program.
 *
 * @sndbuf: As much TCP may keep of what is sent, until the peer has acknowledged it, as with
 *	SO_SNDBUF.  ``0`` lets TCP choose by ``net.ipv4.tcp_wmem``, and grow it as the connection
 *	needs.
 *
 *	What ``net.core.wmem_max`` allows does not matter.  Less than the product of bandwidth and
 *	round trip time makes the connection slower.
 *
 * @startup_timeout: A peer that has connected has so long to send its Request, and after our Reply
 *	as long to send its first message.
 *
 * @strict: With ``on`` the region that a Read reads into needs ``IBV_ACCESS_REMOTE_WRITE``, too, as
 *	with most iWARP hardware.  This finds programs that such hardware would refuse.
 *
 * @tos (0 to 252, a multiple of 4): The type of service (DSCP times 4) of connections whose
 *	program chooses none with RDMA_OPTION_ID_TOS.
 *
 *	The two lowest bits are those of ECN, and TCP's own.
 *
 * @user_timeout: A connection ends if its peer does not acknowledge data for so long, or keeps its
 *	window closed.  ``0`` leaves it to TCP, which tries for about a quarter of an hour.
 *
 *	If it is shorter than ``keepalive``, an idle peer is given up as soon as it does not answer
 *	the first time that it is asked for a sign of life.
 *
 * @stashes_now: Those FPDUs of ``stashes`` that the link keeps at this moment.  Their memory counts
 *	against ``net.ipv4.tcp_mem`` and the program's memory cgroup.  If these are used up, 64 such
 *	FPDUs of a device are kept that nobody pays for; a stream that would need one more waits a
 *	quarter of a second, and then ends.
 */

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
 * @pin: a socket that has it, so that it stays; belongs to whoever asked for the value
 */
union knob_value {
	u32 number;
	struct {
		char name[KWARP_CONGESTION_LEN];
		struct socket *pin;
	};
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
#define KNOB_INIT(_name, ...)		knob_init(kdev, &knob_##_name);

#endif /* KWARP_KNOBS_H */
