// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The rules that say what is to fail, and their count of matches.  See fault.h. */
#include "fault.h"

#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include "kwarp.h"

/*
 * Rules in all; of all users who are no administrators of the machine; and of one of these.  Any
 * user may be the administrator of a network namespace of his own.
 */
#define RULES		64
#define USERS_RULES	48
#define OWN_RULES	16

/*
 * Switched off late: otherwise a user who adds and removes a rule in a loop would have code patched
 * on all processors each time.
 */
DEFINE_STATIC_KEY_DEFERRED_FALSE(kwarp_faults, HZ);

/*
 * Writers of the list, the rules' counts and ids, last_id; any context. All streams read the list,
 * under RCU, and take the lock only for a rule that is about them.
 */
static DEFINE_SPINLOCK(rules_lock);
static LIST_HEAD(rules);
static u32 last_id;

const struct kwarp_fault_kind kwarp_fault_kinds[KWARP_FAULTS] = {
	[KWARP_FAULT_TERMINATE] = { "terminate", KWARP_FAULT_TERM, false, true, true },
	[KWARP_FAULT_RESET] = { "reset", KWARP_FAULT_NO_ARG, false, true, true },
	[KWARP_FAULT_CLOSE] = { "close", KWARP_FAULT_NO_ARG, false, true, true },
	[KWARP_FAULT_STALL] = { "stall", KWARP_FAULT_MS, false, true, true },
	[KWARP_FAULT_SLOW] = { "slow", KWARP_FAULT_MS, false, true, true },
	[KWARP_FAULT_EVENT_LATE] = { "event-late", KWARP_FAULT_MS, false, false, true },
	[KWARP_FAULT_EVENT_TWICE] = { "event-twice", KWARP_FAULT_NO_ARG, false, false, true },
	[KWARP_FAULT_REGISTER] = { "register", KWARP_FAULT_ERRNO, false, false, true },
	[KWARP_FAULT_CREATE] = { "create", KWARP_FAULT_ERRNO, false, false, true },
	[KWARP_FAULT_NO_RECEIVE] = { "no-receive", KWARP_FAULT_NO_ARG, false, true, true },
	/* A program's posts do not enter the kernel: its provider lets them fail. */
	[KWARP_FAULT_POST] = { "post", KWARP_FAULT_ERRNO, true, true, false },
	[KWARP_FAULT_SHORT_SEND] = { "short-send", KWARP_FAULT_NO_ARG, true, false, false },
	[KWARP_FAULT_FULL_SEND] = { "full-send", KWARP_FAULT_NO_ARG, true, false, false },
	[KWARP_FAULT_LOST_KICK] = { "lost-kick", KWARP_FAULT_NO_ARG, true, true, true },
	[KWARP_FAULT_LATE_WORK] = { "late-work", KWARP_FAULT_MS, true, false, false },
	[KWARP_FAULT_BAD_CRC] = { "bad-crc", KWARP_FAULT_NO_ARG, true, true, true },
};

static bool is_dead(const struct kwarp_fault_rule *r)
{
	return r->pid && !pid_has_task(r->pid, PIDTYPE_TGID);
}

static bool is_which(const struct kwarp_fault_rule *r, const struct kwarp_fault_which *which)
{
	return (!which->net || net_eq(r->net, which->net)) &&
	       (!which->ibdev || r->ibdev == which->ibdev) &&
	       (!which->id || r->id == which->id) &&
	       (which->all || (!r->admin && uid_eq(r->uid, which->uid))) &&
	       (!which->dead || is_dead(r));
}

static void free_rule(struct rcu_head *rcu)
{
	struct kwarp_fault_rule *r = container_of(rcu, struct kwarp_fault_rule, rcu);

	put_pid(r->pid);
	kfree(r);
}

/* Context: process. */
u32 kwarp_fault_drop(const struct kwarp_fault_which *which)
{
	struct kwarp_fault_rule *r, *next;
	u32 n = 0, i;

	spin_lock_irq(&rules_lock);
	list_for_each_entry_safe(r, next, &rules, node) {
		if (!is_which(r, which))
			continue;
		list_del_rcu(&r->node);
		r->id = 0;
		call_rcu(&r->rcu, free_rule);
		n++;
	}
	spin_unlock_irq(&rules_lock);
	for (i = 0; i < n; i++)
		static_branch_slow_dec_deferred(&kwarp_faults);
	return n;
}

static void drop_dead(struct work_struct *work)
{
	const struct kwarp_fault_which dead = { .all = true, .dead = true };

	kwarp_fault_drop(&dead);
}

/* The end of a process is noticed at the next look at its rules. */
static DECLARE_WORK(dead_work, drop_dead);

/* The link or, if that is NULL, the network namespace ends.  Context: process. */
void kwarp_fault_forget(const struct net *net, const struct ib_device *ibdev)
{
	const struct kwarp_fault_which which = { .all = true, .net = net, .ibdev = ibdev };

	kwarp_fault_drop(&which);
}

/* Nobody adds or asks any more.  Context: process. */
void kwarp_fault_exit(void)
{
	kwarp_fault_forget(NULL, NULL);
	cancel_work_sync(&dead_work);
	static_key_deferred_flush(&kwarp_faults);
	rcu_barrier();
}

static bool has_room(const struct kwarp_fault_rule *rule)
{
	const struct kwarp_fault_rule *r;
	u32 n = 0, users = 0, own = 0;

	lockdep_assert_held(&rules_lock);
	list_for_each_entry(r, &rules, node) {
		n++;
		users += !r->root;
		own += !r->root && uid_eq(r->payer, rule->payer);
	}
	return n < RULES && (rule->root || (users < USERS_RULES && own < OWN_RULES));
}

/*
 * @rule: allocated by kzalloc(); on success it belongs to this file, which sets @rule->id and later
 * gives back the reference on the process. Context: process.
 */
int kwarp_fault_add(struct kwarp_fault_rule *rule)
{
	int ret = -ENOSPC;

	drop_dead(NULL);
	prandom_seed_state(&rule->random, rule->seed);
	/* Before the rule can be removed. */
	static_branch_deferred_inc(&kwarp_faults);
	spin_lock_irq(&rules_lock);
	if (has_room(rule)) {
		last_id = last_id % INT_MAX + 1;
		rule->id = last_id;
		ret = rule->id;
		list_add_tail_rcu(&rule->node, &rules);
	}
	spin_unlock_irq(&rules_lock);
	if (ret < 0)
		static_branch_slow_dec_deferred(&kwarp_faults);
	return ret;
}

/*
 * @rule: in: @rule->id is the number of the other, 0: none; out: a copy with a reference on the
 *	process for the caller
 * @link: IB_DEVICE_NAME_MAX octets for the name of its link; empty: all links
 *
 * Context: process.
 */
bool kwarp_fault_next(const struct kwarp_fault_which *which, struct kwarp_fault_rule *rule,
		      char *link)
{
	const struct kwarp_fault_rule *r;
	bool found = false;

	spin_lock_irq(&rules_lock);
	list_for_each_entry(r, &rules, node) {
		found = r->id > rule->id && is_which(r, which);
		if (!found)
			continue;
		*rule = *r;
		get_pid(rule->pid);
		strscpy(link, r->ibdev ? dev_name(&r->ibdev->dev) : "", IB_DEVICE_NAME_MAX);
		break;
	}
	spin_unlock_irq(&rules_lock);
	return found;
}

/* A program that changes its user, or runs as another, is none of his. Context: under RCU. */
bool kwarp_fault_is_own(const struct kwarp_fault_rule *rule, struct pid *pid)
{
	const struct task_struct *task = pid_task(pid, PIDTYPE_TGID);
	const struct cred *cred = task ? __task_cred(task) : NULL;

	return cred && uid_eq(cred->uid, rule->uid) && uid_eq(cred->euid, rule->uid) &&
	       uid_eq(cred->suid, rule->uid);
}

static bool is_about(const struct kwarp_fault_rule *r, const struct kwarp_dev *kdev, u32 qpn,
		     const struct pid *pid)
{
	return net_eq(r->net, kdev->net) && (!r->ibdev || r->ibdev == &kdev->ibdev) &&
	       (!r->qpn || r->qpn == qpn) && (!r->pid || r->pid == pid) &&
	       (r->admin || kwarp_fault_is_own(r, r->pid));
}

/* The rule matches: is it the turn of a fault? */
static bool strikes(struct kwarp_fault_rule *r)
{
	lockdep_assert_held(&rules_lock);
	if (!r->id)
		return false;
	if (r->matched++ < r->skip || (r->times && r->hits >= r->times))
		return false;
	if (r->percent < 100 && prandom_u32_state(&r->random) % 100 >= r->percent)
		return false;
	r->hits++;
	return true;
}

/* kwarp_fault(), if there are rules: the first one that strikes decides.  Context: any. */
u32 kwarp_fault_hit(enum kwarp_fault kind, struct ib_device *ibdev, u32 qpn,
		    const struct pid *pid)
{
	const struct kwarp_dev *kdev = to_kdev(ibdev);
	struct kwarp_fault_rule *r;
	unsigned long irqflags;
	u32 arg = 0, id = 0;
	bool dead = false;

	rcu_read_lock();
	list_for_each_entry_rcu(r, &rules, node) {
		dead |= is_dead(r);
		if (r->kind != kind || !is_about(r, kdev, qpn, pid))
			continue;
		spin_lock_irqsave(&rules_lock, irqflags);
		if (strikes(r)) {
			arg = r->arg;
			id = r->id;
		}
		spin_unlock_irqrestore(&rules_lock, irqflags);
		if (arg)
			break;
	}
	rcu_read_unlock();
	if (dead)
		schedule_work(&dead_work);
	if (arg && READ_ONCE(kdev->knobs.log_errors))
		ibdev_notice_ratelimited(ibdev, "fault %u (%s) injected: QP %u, pid %d\n", id,
					 kwarp_fault_kinds[kind].name, qpn,
					 pid_nr((struct pid *)pid));
	return arg;
}

/**
 * kwarp_fault_lasts - is there still a rule about this, though its turn may be over?
 * @kind: as for kwarp_fault(), likewise the others
 * @ibdev: link
 * @qpn: queue pair
 * @pid: program
 *
 * What a fault delays is not to wait for longer than the rule is there.
 *
 * Context: any.
 * Return: there is one.
 */
bool kwarp_fault_lasts(enum kwarp_fault kind, struct ib_device *ibdev, u32 qpn,
		       const struct pid *pid)
{
	const struct kwarp_dev *kdev = to_kdev(ibdev);
	const struct kwarp_fault_rule *r;
	bool lasts = false;

	rcu_read_lock();
	list_for_each_entry_rcu(r, &rules, node)
		lasts |= r->kind == kind && is_about(r, kdev, qpn, pid);
	rcu_read_unlock();
	return lasts;
}

/**
 * kwarp_fault_late - delay a work item
 * @ibdev: link, which lives until the work item has ended
 *
 * Context: process, may sleep; called at the beginning of the work item.
 */
void kwarp_fault_late(struct ib_device *ibdev)
{
	long left = msecs_to_jiffies(kwarp_fault(KWARP_FAULT_LATE_WORK, ibdev, 0, NULL));

	for (; left > 0 && kwarp_fault_lasts(KWARP_FAULT_LATE_WORK, ibdev, 0, NULL);
	     left -= KWARP_FAULT_LOOK)
		schedule_timeout_uninterruptible(min_t(long, left, KWARP_FAULT_LOOK));
}
