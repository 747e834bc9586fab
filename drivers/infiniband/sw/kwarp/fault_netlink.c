// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Adds, removes and lists the rules of fault.c for users.  An administrator of the network
 * namespace may do all but what needs one of the machine; any other user only what kill(2) lets him
 * do anyway: harm a process of his.
 */
#include "fault_netlink.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <rdma/kwarp-netlink.h>

#include "account.h"
#include "device_list.h"
#include "fault.h"
#include "kwarp.h"
#include "proto/term.h"

/* The largest number of a usual error, EHWPOISON; those from 512 on are the kernel's own. */
#define ERRNO_MAX	133
#define MS_MAX		600000

const struct nla_policy kwarp_fault_policy[KWARP_NL_MAX + 1] = {
	[KWARP_NL_LINK] = { .type = NLA_NUL_STRING, .len = IB_DEVICE_NAME_MAX - 1 },
	[KWARP_NL_QPN] = NLA_POLICY_MIN(NLA_U32, 1),
	[KWARP_NL_PID] = NLA_POLICY_MIN(NLA_U32, 1),
	[KWARP_NL_FAULT] = NLA_POLICY_MIN(NLA_U32, 1),
	[KWARP_NL_KIND] = { .type = NLA_NUL_STRING, .len = 15 },
	[KWARP_NL_ARG] = { .type = NLA_U32 },
	[KWARP_NL_SKIP] = { .type = NLA_U32 },
	[KWARP_NL_TIMES] = { .type = NLA_U32 },
	[KWARP_NL_PERCENT] = NLA_POLICY_RANGE(NLA_U32, 1, 100),
	[KWARP_NL_SEED] = { .type = NLA_U32 },
};

static bool is_admin(const struct sk_buff *skb, const struct net *net)
{
	return netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN);
}

/* Nobody, if the socket is another user's: see is_owner() in netlink.c. */
static kuid_t user_of(const struct sk_buff *request)
{
	const kuid_t uid = NETLINK_CREDS(request)->uid;

	return uid_eq(NETLINK_CB(request).sk->sk_uid, uid) ? uid : INVALID_UID;
}

static u32 get(struct genl_info *info, int attr, u32 missing)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : missing;
}

/* NL_SET_ERR_MSG() takes constants only. */
static int refuse(struct genl_info *info, int err, const char *why)
{
	info->extack->_msg = why;
	return err;
}

static int find_kind(struct kwarp_fault_rule *rule, struct genl_info *info)
{
	if (!info->attrs[KWARP_NL_KIND])
		return refuse(info, -EINVAL, "no kind of fault");
	for (; rule->kind < KWARP_FAULTS; rule->kind++)
		if (!nla_strcmp(info->attrs[KWARP_NL_KIND], kwarp_fault_kinds[rule->kind].name))
			return 0;
	return refuse(info, -EINVAL, "the module does not know this kind of fault");
}

static enum kwarp_perr perr_of(u32 code)
{
	const struct kwarp_term term = {
		.layer = code >> 12, .etype = code >> 8 & 0xf, .code = code,
	};
	enum kwarp_perr err = code <= U16_MAX ? kwarp_term_perr(&term) : KWARP_PERR_NONE;

	return kwarp_term_wanted(err) ? err : KWARP_PERR_NONE;
}

static int set_arg(struct kwarp_fault_rule *rule, struct genl_info *info)
{
	const u32 arg = get(info, KWARP_NL_ARG, 0);

	rule->arg = arg;
	switch (kwarp_fault_kinds[rule->kind].arg) {
	case KWARP_FAULT_MS:
		return arg && arg <= MS_MAX ? 0 :
		       refuse(info, -EINVAL, "milliseconds are from 1 to 600000");
	case KWARP_FAULT_ERRNO:
		return arg && arg <= ERRNO_MAX ? 0 :
		       refuse(info, -EINVAL, "an errno is from 1 to 133");
	case KWARP_FAULT_TERM:
		rule->arg = perr_of(arg);
		return rule->arg ? 0 : refuse(info, -EINVAL, "no Terminate has this code");
	default:
		rule->arg = 1;
		return arg ? refuse(info, -EINVAL, "this kind has no argument") : 0;
	}
}

static int set_process(struct kwarp_fault_rule *rule, struct genl_info *info)
{
	const u32 nr = get(info, KWARP_NL_PID, 0);
	struct pid *pid;
	int ret = 0;

	if (!nr)
		return 0;
	if (!kwarp_fault_kinds[rule->kind].process)
		return refuse(info, -EINVAL, "a rule of this kind names no process");
	rcu_read_lock();
	pid = nr <= INT_MAX ? find_vpid(nr) : NULL;
	if (!pid || !pid_has_task(pid, PIDTYPE_TGID))
		ret = refuse(info, -ESRCH, "there is no such process");
	else if (!rule->admin && !kwarp_fault_is_own(rule, pid))
		ret = refuse(info, -EPERM, "the process belongs to another user");
	else
		rule->pid = get_pid(pid);
	rcu_read_unlock();
	return ret;
}

static int check_rights(const struct kwarp_fault_rule *rule, struct genl_info *info)
{
	const bool root = kwarp_fault_kinds[rule->kind].root;

	if (root ? rule->root : rule->admin || info->attrs[KWARP_NL_PID])
		return 0;
	return refuse(info, -EPERM, root ?
		      "only root (CAP_NET_ADMIN) may inject this kind of fault" :
		      "name a process of yours: only root (CAP_NET_ADMIN) may do without");
}

static int fill(struct kwarp_fault_rule *rule, struct sk_buff *skb, struct genl_info *info)
{
	int ret = find_kind(rule, info);

	if (ret)
		return ret;
	rule->net = genl_info_net(info);
	rule->uid = user_of(skb);
	rule->payer = kwarp_paying_user();
	rule->admin = is_admin(skb, rule->net);
	rule->root = netlink_capable(skb, CAP_NET_ADMIN);
	rule->qpn = get(info, KWARP_NL_QPN, 0);
	rule->skip = get(info, KWARP_NL_SKIP, 0);
	rule->times = get(info, KWARP_NL_TIMES, 0);
	rule->percent = get(info, KWARP_NL_PERCENT, 100);
	rule->seed = get(info, KWARP_NL_SEED, 0) ?: get_random_u32();
	if (rule->qpn && !kwarp_fault_kinds[rule->kind].qp)
		return refuse(info, -EINVAL, "a rule of this kind names no queue pair");
	ret = check_rights(rule, info) ?: set_arg(rule, info);
	return ret ?: set_process(rule, info);
}

/* Return: the link, referenced; NULL: there is none of this name in @net. */
static struct ib_device *get_link(const struct net *net, const struct nlattr *name)
{
	struct ib_device *ibdev;
	u32 index = 0;

	while ((ibdev = kwarp_device_get_next(net, index))) {
		if (!nla_strcmp(name, dev_name(&ibdev->dev)))
			break;
		index = ibdev->index + 1;
		ib_device_put(ibdev);
	}
	return ibdev;
}

static int add_rule(struct kwarp_fault_rule *rule, struct genl_info *info)
{
	struct ib_device *ibdev = NULL;
	int ret;

	if (info->attrs[KWARP_NL_LINK]) {
		ibdev = get_link(rule->net, info->attrs[KWARP_NL_LINK]);
		if (!ibdev)
			return refuse(info, -ENODEV, "no such link in this network namespace");
		rule->ibdev = ibdev;
	} else if (!rule->root && !kwarp_net_in_use(rule->net)) {
		/* All streams of the machine pay for a rule. */
		return refuse(info, -ENODEV, "there is no link in this network namespace");
	}
	ret = kwarp_fault_add(rule);
	if (ibdev)
		ib_device_put(ibdev);
	return ret;
}

/* The acknowledgment's cookie is the number of the rule. */
int kwarp_fault_do_add(struct sk_buff *skb, struct genl_info *info)
{
	struct kwarp_fault_rule *rule = kzalloc(sizeof(*rule), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!rule)
		return -ENOMEM;
	ret = fill(rule, skb, info);
	if (!ret)
		ret = add_rule(rule, info);
	if (ret > 0) {
		nl_set_extack_cookie_u64(info->extack, ret);
		return 0;
	}
	if (ret == -ENOSPC)
		refuse(info, ret, "there are too many rules: delete some");
	put_pid(rule->pid);
	kfree(rule);
	return ret;
}

/* Without a number: remove all that the user may remove. */
int kwarp_fault_do_del(struct sk_buff *skb, struct genl_info *info)
{
	const struct kwarp_fault_which which = {
		.net = genl_info_net(info),
		.id = get(info, KWARP_NL_FAULT, 0),
		.uid = user_of(skb),
		.all = is_admin(skb, genl_info_net(info)),
	};

	return kwarp_fault_drop(&which) || !which.id ? 0 :
	       refuse(info, -ENOENT, "you have no rule of this number");
}

static u32 shown_arg(const struct kwarp_fault_rule *r)
{
	return kwarp_fault_kinds[r->kind].arg == KWARP_FAULT_TERM ?
	       kwarp_perr_short(r->arg) : r->arg;
}

static int put_rule(struct sk_buff *msg, const struct kwarp_fault_rule *r, const char *link)
{
	return nla_put_u32(msg, KWARP_NL_FAULT, r->id) ||
	       nla_put_string(msg, KWARP_NL_KIND, kwarp_fault_kinds[r->kind].name) ||
	       (kwarp_fault_kinds[r->kind].arg != KWARP_FAULT_NO_ARG &&
		nla_put_u32(msg, KWARP_NL_ARG, shown_arg(r))) ||
	       (*link && nla_put_string(msg, KWARP_NL_LINK, link)) ||
	       (r->qpn && nla_put_u32(msg, KWARP_NL_QPN, r->qpn)) ||
	       (r->pid && nla_put_u32(msg, KWARP_NL_PID,
				      pid_nr_ns(r->pid, task_active_pid_ns(current)))) ||
	       nla_put_u32(msg, KWARP_NL_UID, from_kuid_munged(current_user_ns(), r->uid)) ||
	       nla_put_u32(msg, KWARP_NL_SKIP, r->skip) ||
	       nla_put_u32(msg, KWARP_NL_TIMES, r->times) ||
	       nla_put_u32(msg, KWARP_NL_PERCENT, r->percent) ||
	       nla_put_u32(msg, KWARP_NL_SEED, r->seed) ||
	       nla_put_u64_64bit(msg, KWARP_NL_MATCHED, r->matched, KWARP_NL_PAD) ||
	       nla_put_u64_64bit(msg, KWARP_NL_HITS, r->hits, KWARP_NL_PAD) ? -EMSGSIZE : 0;
}

/* cb->args[0]: number of the last rule that was put. */
int kwarp_fault_dump(struct sk_buff *msg, struct netlink_callback *cb,
		     const struct genl_family *family)
{
	const struct net *net = sock_net(cb->skb->sk);
	const struct kwarp_fault_which which = {
		.net = net,
		.uid = user_of(cb->skb),
		.all = is_admin(cb->skb, net),
	};
	struct kwarp_fault_rule rule = { .id = cb->args[0] };
	char link[IB_DEVICE_NAME_MAX];
	void *head;
	int ret = 0;

	while (!ret && kwarp_fault_next(&which, &rule, link)) {
		head = genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, family,
				   NLM_F_MULTI, KWARP_NL_CMD_FAULT);
		ret = head ? put_rule(msg, &rule, link) : -EMSGSIZE;
		put_pid(rule.pid);
		if (!ret) {
			genlmsg_end(msg, head);
			cb->args[0] = rule.id;
		} else if (head) {
			genlmsg_cancel(msg, head);
		}
	}
	return msg->len ? msg->len : ret;
}
