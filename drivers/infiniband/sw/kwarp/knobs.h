/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of knobs (tunables), and macros that turn a row into a sysfs file and a module
 * parameter.  For knobs.c only.
 */
#ifndef KWARP_KNOBS_H
#define KWARP_KNOBS_H

#include <linux/device.h>
#include <linux/moduleparam.h>

#include "limits.h"

struct net;
struct socket;

/*
 * What each knob is for, in reStructuredText.  scripts/reference.py makes
 * Documentation/reference/knobs.rst from these texts and from the values and defaults in the table
 * below and in knobs.c; the first paragraphs go into kwarp(7), too.  "@name (values):" gives the
 * values that cannot be read from knobs.c.
 *
 * @align: With ``on`` each TCP segment begins with a frame (FPDU) and holds only whole frames,
 *	which some hardware needs to be fast.  Messages shorter than 64 KiB need more packets then.
 *
 *	If the peer is siw and CRCs are used, set the knob to ``on``, see :doc:`/interop`.  For its
 *	cost see :doc:`/performance/index`.
 *
 * @crc: ``on`` asks the peer for a CRC on each frame, and accepts a peer that does not ask for
 *	CRCs.  ``off`` does not ask; CRCs are used if the peer asks for them.  ``required`` asks,
 *	and refuses a peer that does not ask.
 *
 *	Set it to ``off`` only where something else protects the connection at least as well, from
 *	end to end: see "Security" in :doc:`/admin-guide`.
 *
 * @coalesce_us: Requests that a program posts one by one are sent together, when the program polls
 *	and finds no completion, or when it asks for an event.  A timer sends the requests of a
 *	program that does neither; the knob is the time, in microseconds, between two looks for
 *	such requests.  ``0``: each request is sent when it is posted.
 *
 *	One system call for many requests costs less than one for each.  For programs that never
 *	poll, for programs with a real-time policy (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE), and for
 *	all programs on real-time kernels (PREEMPT_RT), each request is sent when it is posted.
 *
 *	If a program posts a request, and then neither polls nor asks for an event, the timer sends
 *	the request.  For example, the program reads its memory until its peer has written there, or
 *	it sleeps until an event that it had asked for before it posted.  Such a request leaves
 *	within twice ``coalesce_us``, and one of a program that polls and finds completions within 2
 *	ms, if the processor is free.  The first of the two happens to the first such request of a
 *	CQ, and then to one in 1024 at most: after each, as many are sent at once, unless 1024
 *	others could wait before it and left in time.  The count ``coalesce_timeouts`` says how
 *	often the timer has sent requests; set ``coalesce_us`` to 0 if that is too often.
 *
 *	Set the knob to 0 also if all of the following is true: the kernel has ``threadirqs``,
 *	``kernel.sched_rt_runtime_us`` is -1, and one thread of a program posts with ordinary
 *	priority while another, with real-time priority, spins on the same processor without
 *	polling.  Then the timer gets no processor time, or since Linux 6.12 only after a second.
 *
 *	On links of type ``kwarp-siw`` the knob has another meaning, because libsiw (the libibverbs
 *	provider of siw) never delays its doorbells: the requests of a program that posts many of
 *	them one by one are sent by a timer, if the timer sends more than doorbells would; both are
 *	measured all the time.  The timer runs each quarter of ``coalesce_us`` (but not more often
 *	than every 10 microseconds), and a request may wait that long for it.  If measurements show
 *	that more requests complete when the timer waits longer, it sends after half of
 *	``coalesce_us``, or after all of it while the program continues to post.  The processor time
 *	of the timer is charged to nobody, like the time of TCP when it sends in the softirq of an
 *	acknowledgement.  When softirqs of one processor have sent for half of a tick, doorbells
 *	send at once again.  ``0``: each doorbell sends at once.  Up to 16 streams of a device, and
 *	12 of a user, have such a timer at a time.
 *
 * @congestion (a name of ``net.ipv4.tcp_available_congestion_control``): TCP's congestion control
 *	for the link's connections.  ``default`` is that of the network namespace.
 *
 *	TCP checks the name when the knob is set: an unknown congestion control gives EINVAL, and
 *	one that the caller may not use gives EPERM.  The congestion control's module cannot be
 *	unloaded while a link's knob names it.  If a module parameter of kwarp names it, it must be
 *	available when kwarp is loaded, also in an initramfs; otherwise kwarp does not load.  A link
 *	that is added later and cannot use it begins with ``default`` and logs a warning.
 *
 *	A congestion control that needs ECN, like dctcp, gets it from peers that use the same.
 *
 * @connect_timeout: Time for TCP to connect, and again for the peer to send its Reply.  A
 *	connection fails after twice that time at the latest, including a second attempt.
 *
 * @half_open_max: Number of connections of a listener that its program has not accepted yet, at a
 *	time, refused ones included.  More connections wait in TCP's accept queue.
 *
 *	If connections wait in the accept queue, a connection that has made no progress for a second
 *	is ended, or after ten seconds if it waits for the program to accept or reject.  The count
 *	``cm_evicted`` says how many were ended.  Each connection takes about 10 KiB.
 *
 * @keepalive: A connection ends if its peer has been silent for this time.  After half of the time
 *	TCP begins to send keepalive probes.  ``0``: an idle connection stays for ever.
 *
 *	If ``keepalive`` is shorter than ``user_timeout``, it replaces ``user_timeout`` as the
 *	limit, also for a peer that answers but keeps its window closed.
 *
 * @linger_timeout: After this end has closed, the peer has this time to close, too; then the
 *	connection is reset.  The time starts again while the peer still acknowledges data.
 *
 * @long_frames: Between two ends of kwarp frames (FPDUs) are as long as TCP sends at a time, up to
 *	64 KiB, instead of fitting one TCP segment.  That saves processor time at both ends, most
 *	with CRCs.  An end with ``on`` tells its peer so by a Write of no octets, which other peers
 *	ignore, and uses long frames if the peer has told the same; see :doc:`/protocol`.
 *
 *	Frames are short with ``align`` and with markers.
 *
 * @markers: ``on`` asks the peer to send MPA markers.  Markers that the peer asks for are always
 *	sent.
 *
 * @mpa_rev: The revision of MPA to connect with.  With 2, if the peer knows only revision 1, kwarp
 *	connects again with 1.  A connection that a peer begins is answered in the peer's revision.
 *
 * @peer_to_peer: ``on`` connects in the peer-to-peer mode of RFC 6581: the end that connects sends
 *	the first message itself (RTR), and no program sees it.  With ``off``, programs whose server
 *	sends first wait for ever, because iWARP forbids the server to send before the client.
 *
 *	The mode needs ``mpa_rev`` 2.  For connections that a peer begins, kwarp uses the mode
 *	whenever the peer asks for it.  Set the knob to ``off`` to connect to siw, see
 *	:doc:`/interop`.
 *
 * @rcvbuf: Size of TCP's receive buffer, like SO_RCVBUF.  ``0``: TCP chooses the size within
 *	``net.ipv4.tcp_rmem``, and lets it grow as the connection needs.
 *
 *	``net.core.rmem_max`` is no limit here.  TCP announces the largest possible window when it
 *	answers the SYN; for a listener that exists already, this follows from the value that the
 *	knob had when the listener was made.
 *
 * @rfc7306: Immediate data and atomic operations (RFC 7306).  With ``off`` programs cannot post
 *	them, and the connection of a peer that sends one ends.  A queue pair uses the value that
 *	the knob had when the queue pair was made.
 *
 *	iWARP cannot ask a peer whether it knows these messages: a peer that does not, like siw,
 *	ends the connection at the first one.  Consumers in the kernel see the ``atomic_cap`` of the
 *	device, which does not change after the link has been added: for them, set the module
 *	parameter to ``off`` before the link is added.  The knob has no effect on programs on links
 *	of type ``kwarp-siw``, because libsiw supports neither.
 *
 * @rtr: The forms of the first message of peer-to-peer mode (RTR) to offer when connecting.
 *
 *	The peer chooses one of them.  The form ``send`` uses up a receive of the peer's program.
 *
 * @sndbuf: Size of TCP's send buffer, for data that the peer has not acknowledged, like SO_SNDBUF.
 *	``0``: TCP chooses the size within ``net.ipv4.tcp_wmem``, and lets it grow as the connection
 *	needs.
 *
 *	``net.core.wmem_max`` is no limit here.  A size below the product of bandwidth and round
 *	trip time makes the connection slower.
 *
 * @startup_timeout: Time for a peer that has connected to send its Request, and again, after this
 *	end's Reply, to send its first message.
 *
 * @strict: With ``on`` the region that a Read reads into needs ``IBV_ACCESS_REMOTE_WRITE``, too, as
 *	with most iWARP hardware.  This finds programs that such hardware would refuse.
 *
 * @tos (0 to 252, a multiple of 4): The type of service (DSCP times 4) of connections whose
 *	program sets none with RDMA_OPTION_ID_TOS.
 *
 *	The two lowest bits are for ECN, and TCP sets them.
 *
 * @user_timeout: A connection ends if its peer does not acknowledge data for this time, or keeps
 *	its window closed for this time.  ``0``: TCP's own limit, about 15 minutes.
 *
 *	If ``user_timeout`` is shorter than ``keepalive``, the connection to an idle peer ends when
 *	the peer does not answer the first keepalive probe.
 *
 * @stashes_now: The number of FPDUs that the link keeps at this moment, because TCP's receive
 *	buffer is too small for them.  The count ``stashes`` has all of them so far.  Their memory
 *	counts against ``net.ipv4.tcp_mem`` and the program's memory cgroup.  If one of these limits
 *	is reached, a device keeps up to 64 FPDUs that are not charged; a stream that needs one more
 *	waits a quarter of a second, and then ends.
 */

/*
 * Each row has a name, which is a field of struct kwarp_knobs; a kind (kind_* in knobs.c); a
 * default; and a text for modinfo.
 * peer_to_peer is on because in many programs the server sends first, which needs an RTR: the first
 * message of RFC 6581's peer-to-peer mode.
 */
#define KNOBS(X)								\
	X(align, switch, 0, "keep FPDUs aligned to TCP segments (off)")		\
	X(crc, crc, KWARP_CRC_ON, "CRC on, off or required (on)")		\
	X(coalesce_us, coalesce, KWARP_COALESCE_US,				\
	  "between looks for forgotten requests, 10 to 1000 us, or 0 (100)")	\
	X(congestion, congestion, "", "TCP's congestion control, by name (default)") \
	X(connect_timeout, timeout, KWARP_CONNECT_TIMEOUT,			\
	  "seconds to connect TCP, and again for the Reply (30)")		\
	X(half_open_max, half_open, KWARP_HALF_OPEN,				\
	  "connections of a listener that are being set up (1024)")		\
	X(keepalive, seconds, 60, "seconds until a silent peer is given up (60)") \
	X(linger_timeout, timeout, KWARP_LINGER_TIMEOUT,			\
	  "seconds from this end's FIN to the peer's (5)")			\
	X(long_frames, switch, 1, "longer FPDUs than TCP segments between kwarps (on)") \
	X(markers, switch, 0, "ask peers for markers (off)")			\
	X(mpa_rev, rev, 2, "MPA revision to initiate with, 1 or 2 (2)")		\
	X(peer_to_peer, switch, 1, "initiate peer-to-peer, i.e. send an RTR (on)") \
	X(rcvbuf, buffer, 0, "octets of TCP's receive buffer; 0: TCP chooses (0)") \
	X(rfc7306, switch, 1, "immediate data and atomic operations (on)")	\
	X(rtr, rtr, KWARP_RTR_WRITE | KWARP_RTR_READ,				\
	  "RTR forms offered, of send,write,read (write,read)")			\
	X(sndbuf, buffer, 0, "octets of TCP's send buffer; 0: TCP chooses (0)")	\
	X(startup_timeout, timeout, KWARP_STARTUP_TIMEOUT,			\
	  "seconds for a peer's Request, and for its first FPDU (10)")		\
	X(strict, switch, 0, "the sink of a Read needs remote write, too (off)")	\
	X(tos, tos, 0, "type of service where the program chooses none (0)")	\
	X(user_timeout, seconds, 60, "seconds until data must be acknowledged (60)")

/**
 * union knob_value - value of a knob
 * @number: value of any knob but congestion
 * @name: value of the knob congestion: name of a congestion control
 * @pin: socket that uses the congestion control @name, so that its module stays loaded; owned by
 *	the caller of knob_kind.parse
 */
union knob_value {
	u32 number;
	struct {
		char name[KWARP_CONGESTION_LEN];
		struct socket *pin;
	};
};

/**
 * struct knob_kind - the values that a knob takes, and their text form
 * @parse: converts text to a value; @net: network namespace of the link or, for a module parameter,
 *	init_net; returns 0 or an errno.  Context: process
 * @format: converts a value to text; returns the length
 * @least: smallest number
 * @most: largest number
 * @or_zero: 0 is valid, too, even if less than @least
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
 * struct knob - one knob, for its sysfs file and its module parameter
 * @attr: the sysfs file
 * @kind: values that the knob takes
 * @offset: offset of the value in struct kwarp_knobs
 * @size: size of the value; a knob whose value has the size of a u32 is a number
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
