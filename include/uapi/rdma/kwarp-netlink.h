/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * kwarp: generic netlink family, for kwarpctl.
 *
 * A dump of KWARP_NL_CMD_ENDED has a message for each of the last streams (connections) that ended
 * by an error, and of the last connections that failed to start (those have STARTUP), on the links
 * in the network namespace of the socket, the oldest first. A user is told of those of his own
 * programs, and whoever has CAP_NET_ADMIN over that namespace of all.  The user is the one who has
 * made the socket, and sends the request.  What a peer has tried at a listener, before a program
 * has accepted it, has no PROGRAM, PID and UID.
 *
 * KWARP_NL_CMD_FAULT_ADD adds a rule that makes something fail: KIND, and what else applies of
 * LINK, QPN, PID, ARG, SKIP, TIMES, PERCENT and SEED. The acknowledgment's cookie is its number,
 * u64. KWARP_NL_CMD_FAULT_DEL removes the rule of the number FAULT, or all. A dump of
 * KWARP_NL_CMD_FAULT has a message for each rule. A user may add rules about a process of his own,
 * and sees and removes those that he has added; whoever has CAP_NET_ADMIN may do all.
 *
 * Attributes are appended, and never change; one that does not apply is left out.
 */
#ifndef KWARP_NETLINK_H
#define KWARP_NETLINK_H

#define KWARP_NL_FAMILY		"kwarp"
#define KWARP_NL_VERSION	1

enum kwarp_nl_cmd {
	KWARP_NL_CMD_ENDED = 1,
	KWARP_NL_CMD_FAULT,
	KWARP_NL_CMD_FAULT_ADD,
	KWARP_NL_CMD_FAULT_DEL,
};

enum kwarp_nl_attr {
	KWARP_NL_PAD,
	KWARP_NL_LINK,		/* string: name of the link */
	KWARP_NL_SEQ,		/* u64: number of the stream, counted per link from 1 */
	KWARP_NL_TIME,		/* u64: when it ended, nanoseconds since boot (CLOCK_BOOTTIME) */
	KWARP_NL_AGE,		/* u64: milliseconds that it, or the state of STARTUP, had lasted */
	KWARP_NL_QPN,		/* u32: number of the queue pair */
	KWARP_NL_PROGRAM,	/* string: program, or kernel module */
	KWARP_NL_PID,		/* u32: process, as seen by the reader; none: a kernel module */
	KWARP_NL_UID,		/* u32: user, as seen by the reader */
	KWARP_NL_LOCAL,		/* string: address and port of this end */
	KWARP_NL_REMOTE,	/* string: address and port of the peer */
	KWARP_NL_ERROR,		/* string: name of the error, see reference/codes.rst; or STARTUP */
	KWARP_NL_TERMINATE,	/* u32: the Terminate that the peer sent, layer, type and code */
	KWARP_NL_VENDOR_ERR,	/* u32: vendor_err of completions */
	KWARP_NL_ERRNO,		/* u32: TCP's error, or what rdma_cm reports of a startup */
	KWARP_NL_TEXT,		/* string: what happened, in words */
	KWARP_NL_SENT,		/* u64: octets that the peer's TCP has acknowledged */
	KWARP_NL_RECEIVED,	/* u64: octets that TCP has received */
	KWARP_NL_RETRANS,	/* u32: segments that TCP has sent again */
	KWARP_NL_WHY,		/* string: the check that failed: STAG, RIGHT... REJECTED... */
	KWARP_NL_STAG,		/* u32: STag (lkey or rkey) that was asked for */
	KWARP_NL_ADDRESS,	/* u64: address that was asked for */
	KWARP_NL_LENGTH,	/* u64: octets that were asked for */
	KWARP_NL_RIGHTS,	/* string: rights that were needed */
	KWARP_NL_MR_ADDRESS,	/* u64: address of the region or window */
	KWARP_NL_MR_LENGTH,	/* u64: octets of it */
	KWARP_NL_MR_RIGHTS,	/* string: rights that it gives */
	KWARP_NL_FAULT,		/* u32: number of a rule */
	KWARP_NL_KIND,		/* string: what fails, see fault-injection.rst */
	KWARP_NL_ARG,		/* u32: its argument: errno, milliseconds, or code of a Terminate */
	KWARP_NL_SKIP,		/* u32: matches that pass before the first fault */
	KWARP_NL_TIMES,		/* u32: number of faults; 0: no limit */
	KWARP_NL_PERCENT,	/* u32: probability of a fault, 1 to 100 */
	KWARP_NL_SEED,		/* u32: of the random numbers; 0: the kernel chooses one */
	KWARP_NL_MATCHED,	/* u64: number of matches so far */
	KWARP_NL_HITS,		/* u64: number of faults so far */
	KWARP_NL_STARTUP,	/* string: state of the cm in which a startup has failed */
	KWARP_NL_COUNT
};

#define KWARP_NL_MAX	(KWARP_NL_COUNT - 1)

#endif /* KWARP_NETLINK_H */
