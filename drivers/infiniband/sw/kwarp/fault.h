/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults that users ask for, to test programs or kwarp: rules, which "kwarpctl fault" adds
 * (fault_netlink.c), say what fails, where and how often.
 */
#ifndef KWARP_FAULT_H
#define KWARP_FAULT_H

#include <linux/jump_label_ratelimit.h>
#include <linux/list.h>
#include <linux/prandom.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct ib_device;
struct net;
struct pid;

/**
 * enum kwarp_fault - what fails
 * @KWARP_FAULT_TERMINATE: at a message a stream ends with a Terminate; argument: enum kwarp_perr
 * @KWARP_FAULT_RESET: at a message a stream ends with a reset of TCP
 * @KWARP_FAULT_CLOSE: at a message a stream begins a graceful close
 * @KWARP_FAULT_STALL: from a message on a stream sends nothing for some milliseconds
 * @KWARP_FAULT_SLOW: what has arrived is read some milliseconds late
 * @KWARP_FAULT_EVENT_LATE: the event of a CQ comes some milliseconds late
 * @KWARP_FAULT_EVENT_TWICE: the event of a CQ comes twice
 * @KWARP_FAULT_REGISTER: a region or window is not made; argument: errno
 * @KWARP_FAULT_CREATE: a queue pair, CQ or SRQ is not made; argument: errno
 * @KWARP_FAULT_NO_RECEIVE: a message finds no receive, as if none were posted
 * @KWARP_FAULT_POST: a post of a kernel consumer fails; argument: errno
 * @KWARP_FAULT_SHORT_SEND: TCP takes only half of a batch (the FPDUs of one socket call), and calls
 *	write_space at the next ACK
 * @KWARP_FAULT_FULL_SEND: TCP takes nothing, and calls write_space at the next ACK.  If no data is
 *	in flight, no ACK comes: the caller has to try again by itself, as if TCP had no memory
 * @KWARP_FAULT_LOST_KICK: the doorbell of a send queue is ignored
 * @KWARP_FAULT_LATE_WORK: a work item of a queue pair begins some milliseconds late
 * @KWARP_FAULT_BAD_CRC: the CRC of an FPDU is sent with one wrong bit
 * @KWARP_FAULTS: number of kinds
 *
 * From @KWARP_FAULT_SHORT_SEND on they are for those who work on kwarp itself.
 */
enum kwarp_fault {
	KWARP_FAULT_TERMINATE,
	KWARP_FAULT_RESET,
	KWARP_FAULT_CLOSE,
	KWARP_FAULT_STALL,
	KWARP_FAULT_SLOW,
	KWARP_FAULT_EVENT_LATE,
	KWARP_FAULT_EVENT_TWICE,
	KWARP_FAULT_REGISTER,
	KWARP_FAULT_CREATE,
	KWARP_FAULT_NO_RECEIVE,
	KWARP_FAULT_POST,
	KWARP_FAULT_SHORT_SEND,
	KWARP_FAULT_FULL_SEND,
	KWARP_FAULT_LOST_KICK,
	KWARP_FAULT_LATE_WORK,
	KWARP_FAULT_BAD_CRC,
	KWARP_FAULTS
};

enum kwarp_fault_arg { KWARP_FAULT_NO_ARG, KWARP_FAULT_MS, KWARP_FAULT_ERRNO, KWARP_FAULT_TERM };

/*
 * struct kwarp_fault_kind - what users have to know of a kind
 * @root: only for administrators of the machine: a work item that is late keeps those of other
 *	namespaces waiting
 * @qp: a rule may name a queue pair
 * @process: a rule may name a process
 */
struct kwarp_fault_kind {
	const char *name;
	enum kwarp_fault_arg arg;
	bool root;
	bool qp;
	bool process;
};

/*
 * struct kwarp_fault_rule - one rule
 * @id: number, from 1; 0: removed
 * @net: network namespace whose links the rule is about; not a reference: the rule goes first
 * @ibdev: the only link that the rule is about; likewise; NULL: all links in @net
 * @qpn: the only queue pair that the rule is about; 0: all
 * @pid: the only process that the rule is about, a reference; NULL: all
 * @uid: user who has made the rule
 * @payer: user for whom it counts
 * @admin: it was made by an administrator of @net; else it names a process, which has to be the
 *	user's
 * @root: it was made by an administrator of the machine: the limits for users do not apply
 * @arg: argument of the fault; 1 if @kind has none
 * @skip: number of matches that pass before the first fault
 * @times: number of faults; 0: no limit
 * @percent: probability of a fault
 * @seed: what @random began with
 * @random: state of the generator for @percent
 */
struct kwarp_fault_rule {
	struct list_head node;
	struct rcu_head rcu;
	u32 id;
	enum kwarp_fault kind;
	const struct net *net;
	const struct ib_device *ibdev;
	u32 qpn;
	struct pid *pid;
	kuid_t uid;
	kuid_t payer;
	bool admin;
	bool root;
	u32 arg;
	u32 skip;
	u32 times;
	u32 percent;
	u32 seed;
	struct rnd_state random;
	u64 matched;
	u64 hits;
};

/* Which rules? Members that are zero do not restrict. @uid counts unless @all is set. */
struct kwarp_fault_which {
	const struct net *net;
	const struct ib_device *ibdev;
	u32 id;
	kuid_t uid;
	bool all;
	bool dead;	/* only rules about processes that have ended */
};

/* While a fault delays something, ticks until the next look whether the rule is still there. */
#define KWARP_FAULT_LOOK	(HZ / 25)

extern struct static_key_false_deferred kwarp_faults;
extern const struct kwarp_fault_kind kwarp_fault_kinds[KWARP_FAULTS];

int kwarp_fault_add(struct kwarp_fault_rule *rule);
u32 kwarp_fault_drop(const struct kwarp_fault_which *which);
bool kwarp_fault_next(const struct kwarp_fault_which *which, struct kwarp_fault_rule *rule,
		      char *link);
void kwarp_fault_forget(const struct net *net, const struct ib_device *ibdev);
void kwarp_fault_exit(void);
u32 kwarp_fault_hit(enum kwarp_fault kind, struct ib_device *ibdev, u32 qpn,
		    const struct pid *pid);
bool kwarp_fault_lasts(enum kwarp_fault kind, struct ib_device *ibdev, u32 qpn,
		       const struct pid *pid);
bool kwarp_fault_is_own(const struct kwarp_fault_rule *rule, struct pid *pid);
void kwarp_fault_late(struct ib_device *ibdev);

/* Is there any rule, or was there one a second ago? Else this is all that is executed. */
static __always_inline bool kwarp_faults_on(void)
{
	return static_branch_unlikely(&kwarp_faults.key);
}

/**
 * kwarp_fault() - is something to fail here?
 * @kind: what
 * @ibdev: the link on which it happens
 * @qpn: number of the queue pair; 0: there is none
 * @pid: the program, as in struct kwarp_qp; NULL: a kernel consumer
 *
 * A macro, so that without any rule not even the arguments are evaluated.
 *
 * Context: any.
 * Return: argument of the fault, which is not 0; 0: no.
 */
#define kwarp_fault(kind, ibdev, qpn, pid)	\
	(kwarp_faults_on() ? kwarp_fault_hit(kind, ibdev, qpn, pid) : 0)

#endif /* KWARP_FAULT_H */
