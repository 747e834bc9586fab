// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tells users of the streams that ended by an error, and of startups that failed (ended.c).  The
 * RDMA core's netlink, which has the other details, only knows objects that exist, and a queue pair
 * is usually gone with its program.
 */
#include "netlink.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <rdma/kwarp-netlink.h>

#include "device_list.h"
#include "ended.h"
#include "fault_netlink.h"
#include "kwarp.h"

static struct genl_family family;

static int put_address(struct sk_buff *msg, int attr, const union kwarp_ended_addr *addr)
{
	char text[64];

	snprintf(text, sizeof(text), "%pISpc", addr);
	return nla_put_string(msg, attr, text);
}

static int put_rights(struct sk_buff *msg, int attr, int rights)
{
	char text[KWARP_RIGHTS_LEN];

	kwarp_rights_text(rights, text);
	return nla_put_string(msg, attr, text);
}

/* A process that the reader's namespace does not have, has number 0 there. */
static int put_program(struct sk_buff *msg, const struct kwarp_ended *rec)
{
	if (nla_put_string(msg, KWARP_NL_PROGRAM, rec->program))
		return -EMSGSIZE;
	if (!rec->pid)
		return 0;
	return nla_put_u32(msg, KWARP_NL_PID,
			   pid_nr_ns(rec->pid, task_active_pid_ns(current))) ||
	       nla_put_u32(msg, KWARP_NL_UID, from_kuid_munged(current_user_ns(), rec->uid));
}

static int put_region(struct sk_buff *msg, const struct kwarp_refusal *r)
{
	if (!r->found)
		return 0;
	return (!r->hidden &&
		nla_put_u64_64bit(msg, KWARP_NL_MR_ADDRESS, r->mr_va, KWARP_NL_PAD)) ||
	       nla_put_u64_64bit(msg, KWARP_NL_MR_LENGTH, r->mr_len, KWARP_NL_PAD) ||
	       put_rights(msg, KWARP_NL_MR_RIGHTS, r->mr_access);
}

/* The addresses that a kernel consumer uses are pointers. */
static int put_asked(struct sk_buff *msg, const struct kwarp_ended *rec, u32 stag, u64 addr,
		     u64 len)
{
	return nla_put_u32(msg, KWARP_NL_STAG, stag) ||
	       (rec->pid && nla_put_u64_64bit(msg, KWARP_NL_ADDRESS, addr, KWARP_NL_PAD)) ||
	       nla_put_u64_64bit(msg, KWARP_NL_LENGTH, len, KWARP_NL_PAD);
}

static int put_why(struct sk_buff *msg, const struct kwarp_ended *rec)
{
	const struct kwarp_refusal *r = &rec->refused;

	if (rec->has_term)
		return rec->blamed_stag ? put_asked(msg, rec, rec->blamed_stag, rec->blamed_addr,
						    rec->blamed_len) : 0;
	if (!r->why || r->perr != rec->perr)
		return 0;
	return nla_put_string(msg, KWARP_NL_WHY, kwarp_why_name(r->why)) ||
	       (r->stag && (put_asked(msg, rec, r->stag, r->addr, r->len) ||
			    put_rights(msg, KWARP_NL_RIGHTS, r->rights))) ||
	       put_region(msg, r);
}

static int put_stream(struct sk_buff *msg, const struct kwarp_ended *rec)
{
	return (rec->has_term && nla_put_u32(msg, KWARP_NL_TERMINATE, rec->term)) ||
	       nla_put_u32(msg, KWARP_NL_VENDOR_ERR, rec->vendor_err) ||
	       nla_put_u64_64bit(msg, KWARP_NL_SENT, rec->sent, KWARP_NL_PAD) ||
	       nla_put_u64_64bit(msg, KWARP_NL_RECEIVED, rec->received, KWARP_NL_PAD) ||
	       nla_put_u32(msg, KWARP_NL_RETRANS, rec->retrans) ||
	       put_why(msg, rec);
}

static int put_startup(struct sk_buff *msg, const struct kwarp_ended *rec)
{
	return nla_put_string(msg, KWARP_NL_WHY, rec->no_start) ||
	       nla_put_string(msg, KWARP_NL_STARTUP, rec->startup);
}

static int put_record(struct sk_buff *msg, const struct ib_device *ibdev,
		      const struct kwarp_ended *rec)
{
	char text[KWARP_ENDED_TEXT];

	kwarp_ended_text(rec, text, sizeof(text));
	return nla_put_string(msg, KWARP_NL_LINK, dev_name(&ibdev->dev)) ||
	       nla_put_u64_64bit(msg, KWARP_NL_SEQ, rec->seq, KWARP_NL_PAD) ||
	       nla_put_u64_64bit(msg, KWARP_NL_TIME, rec->time, KWARP_NL_PAD) ||
	       nla_put_u64_64bit(msg, KWARP_NL_AGE, rec->age_ms, KWARP_NL_PAD) ||
	       (rec->qpn && (nla_put_u32(msg, KWARP_NL_QPN, rec->qpn) ||
			     put_program(msg, rec))) ||
	       put_address(msg, KWARP_NL_LOCAL, &rec->local) ||
	       put_address(msg, KWARP_NL_REMOTE, &rec->remote) ||
	       nla_put_string(msg, KWARP_NL_ERROR, kwarp_ended_error(rec)) ||
	       (rec->err && nla_put_u32(msg, KWARP_NL_ERRNO, rec->err)) ||
	       nla_put_string(msg, KWARP_NL_TEXT, text) ||
	       (rec->kind == KWARP_ENDED_STREAM ? put_stream(msg, rec) : put_startup(msg, rec)) ?
	       -EMSGSIZE : 0;
}

static int put_message(struct sk_buff *msg, struct netlink_callback *cb,
		       const struct ib_device *ibdev, const struct kwarp_ended *rec)
{
	void *head = genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &family,
				 NLM_F_MULTI, KWARP_NL_CMD_ENDED);

	if (!head)
		return -EMSGSIZE;
	if (put_record(msg, ibdev, rec)) {
		genlmsg_cancel(msg, head);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, head);
	return 0;
}

/*
 * Where a dump has come to: the index of the device, and the last record of it. Records later than
 * @began are left out: otherwise a peer could let a dump go on for ever.
 */
struct place {
	u32 index;
	u64 seq;
	u64 began;
};

/*
 * Does the sender of the request own the socket? Otherwise somebody could give his socket to a
 * program of another user, such as a setuid program, let it send the request, and read the answer.
 */
static bool is_owner(const struct sk_buff *request)
{
	return uid_eq(NETLINK_CB(request).sk->sk_uid, NETLINK_CREDS(request)->uid);
}

static int dump_device(struct sk_buff *msg, struct netlink_callback *cb, struct ib_device *ibdev)
{
	const struct kwarp_dev *kdev = to_kdev(ibdev);
	const bool all = netlink_ns_capable(cb->skb, kdev->net->user_ns, CAP_NET_ADMIN);
	struct place *at = (struct place *)cb->ctx;
	struct kwarp_ended rec;
	bool late;
	int ret;

	if (!all && !is_owner(cb->skb))
		return 0;
	while (kdev->ended &&
	       kwarp_ended_next(kdev->ended, at->seq, NETLINK_CREDS(cb->skb)->uid, all, &rec)) {
		late = rec.time > at->began;
		ret = late ? 0 : put_message(msg, cb, ibdev, &rec);
		put_pid(rec.pid);
		if (late || ret)
			return ret;
		at->seq = rec.seq;
	}
	return 0;
}

static int dump_ended(struct sk_buff *msg, struct netlink_callback *cb)
{
	struct place *at = (struct place *)cb->ctx;
	struct ib_device *ibdev;
	int ret = 0;

	static_assert(sizeof(*at) <= sizeof(cb->ctx));
	if (!at->began)
		at->began = ktime_get_boottime_ns();
	while (!ret) {
		ibdev = kwarp_device_get_next(sock_net(cb->skb->sk), at->index);
		if (!ibdev)
			break;
		/* Another device than the one that the last part of the dump ended with? */
		if (ibdev->index != at->index)
			at->seq = 0;
		at->index = ibdev->index;
		ret = dump_device(msg, cb, ibdev);
		ib_device_put(ibdev);
		if (!ret) {
			at->index++;
			at->seq = 0;
		}
	}
	/* A record has room in an empty message, so the dump goes on with the next one. */
	return msg->len ? msg->len : ret;
}

static int dump_faults(struct sk_buff *msg, struct netlink_callback *cb)
{
	return kwarp_fault_dump(msg, cb, &family);
}

static const struct genl_ops ops[] = {
	{
		.cmd = KWARP_NL_CMD_ENDED,
		.validate = GENL_DONT_VALIDATE_STRICT | GENL_DONT_VALIDATE_DUMP,
		.dumpit = dump_ended,
	},
	{
		.cmd = KWARP_NL_CMD_FAULT,
		.dumpit = dump_faults,
	},
	{
		.cmd = KWARP_NL_CMD_FAULT_ADD,
		.policy = kwarp_fault_policy,
		.doit = kwarp_fault_do_add,
	},
	{
		.cmd = KWARP_NL_CMD_FAULT_DEL,
		.policy = kwarp_fault_policy,
		.doit = kwarp_fault_do_del,
	},
};

static struct genl_family family __ro_after_init = {
	.name = KWARP_NL_FAMILY,
	.version = KWARP_NL_VERSION,
	.maxattr = KWARP_NL_MAX,
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.resv_start_op = KWARP_NL_CMD_ENDED + 1,
};

int kwarp_netlink_register(void)
{
	return genl_register_family(&family);
}

void kwarp_netlink_unregister(void)
{
	genl_unregister_family(&family);
}
