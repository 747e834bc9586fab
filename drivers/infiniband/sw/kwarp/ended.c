// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Streams that ended by an error, and startups that failed: their texts, the line in the kernel
 * log, and the link's ring.
 */
#include "ended.h"

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <rdma/kwarp-abi.h>

#include "kwarp.h"
#include "proto/term.h"

#define SAME(name)	static_assert(KWARP_VENDOR_##name == 0x10000 + KWARP_WHY_##name)
SAME(STAG);
SAME(PD);
SAME(RIGHT);
SAME(WRAP);
SAME(BOUNDS);
SAME(ORD);
SAME(ENTRY);
SAME(RING);
SAME(CQ);
SAME(BIND);
SAME(INV);
SAME(INJECTED);

/* ----------------------------------------------------------------------- texts */

#define WHY(name)	\
	[KWARP_WHY_##name] = #name

static const char *const why_names[KWARP_WHY_COUNT] = {
	WHY(NONE), WHY(STAG), WHY(PD), WHY(RIGHT), WHY(WRAP), WHY(BOUNDS), WHY(QP_RIGHT), WHY(ORD),
	WHY(ENTRY), WHY(RING), WHY(CQ), WHY(MEMORY), WHY(NO_RECEIVE), WHY(LONG), WHY(BIND),
	WHY(INV), WHY(ALIGN), WHY(MANY),
	WHY(INJECTED),
};

static const char *const op_names[KWARP_REFUSED_COUNT] = {
	[KWARP_REFUSED_WRITE] = "the peer's Write",
	[KWARP_REFUSED_READ] = "the peer's Read",
	[KWARP_REFUSED_ATOMIC] = "the peer's atomic operation",
	[KWARP_REFUSED_INV] = "the peer's Send with Invalidate",
	[KWARP_REFUSED_SEND] = "the peer's message",
	[KWARP_REFUSED_RECEIVE] = "a posted receive",
	[KWARP_REFUSED_REQUEST] = "a posted request",
	[KWARP_REFUSED_SINK] = "the buffer of a posted Read or atomic operation",
};

const char *kwarp_why_name(enum kwarp_why why)
{
	return why_names[why];
}

/* The rights of a region, by the names of ibv_reg_mr(3)'s flags; reading by this end is no flag. */
void kwarp_rights_text(int access, char buf[KWARP_RIGHTS_LEN])
{
	snprintf(buf, KWARP_RIGHTS_LEN, "local-read%s%s%s%s%s",
		 access & IB_ACCESS_LOCAL_WRITE ? ",local-write" : "",
		 access & IB_ACCESS_REMOTE_READ ? ",remote-read" : "",
		 access & IB_ACCESS_REMOTE_WRITE ? ",remote-write" : "",
		 access & IB_ACCESS_REMOTE_ATOMIC ? ",remote-atomic" : "",
		 access & IB_ACCESS_MW_BIND ? ",mw-bind" : "");
}

/* Part of a text that is cut at the end of its buffer. */
struct text {
	char *buf;
	size_t size;
	size_t len;
};

static __printf(2, 3) void add(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	t->len += vscnprintf(t->buf + t->len, t->size - t->len, format, args);
	va_end(args);
}

static const char *missing(int access, char buf[KWARP_RIGHTS_LEN])
{
	kwarp_rights_text(access, buf);
	return strchr(buf, ',') ? strchr(buf, ',') + 1 : "the right to read";
}

static void add_no_stag(struct text *t, const struct kwarp_refusal *r)
{
	if (!r->found)
		add(t, "no region or window has this key: it is wrong, or was deregistered");
	else if (r->mr_stag != r->stag)
		add(t, "the key's last octet is wrong, or of an earlier registration");
	else
		add(t, "the region or window is not valid: invalidated, or not bound yet");
}

static void add_bounds(struct text *t, const struct kwarp_refusal *r)
{
	if (r->hidden)
		add(t, "the region or window has only %llu octets", r->mr_len);
	else
		add(t, "the region or window is %llu octets at %#llx", r->mr_len, r->mr_va);
}

static void add_rights(struct text *t, const struct kwarp_refusal *r, const char *of, int has)
{
	char lack[KWARP_RIGHTS_LEN], given[KWARP_RIGHTS_LEN];

	kwarp_rights_text(has, given);
	add(t, "%s does not give %s, only %s", of, missing(r->rights & ~has, lack), given);
}

static const char *const why_texts[KWARP_WHY_COUNT] = {
	[KWARP_WHY_PD] = "it is of another protection domain, or a window of another queue pair",
	[KWARP_WHY_WRAP] = "address and length exceed 2^64",
	[KWARP_WHY_ORD] = "the connection allows none (ORD 0): see initiator_depth of rdma_cm",
	[KWARP_WHY_ENTRY] = "the entry in the queue is malformed",
	[KWARP_WHY_RING] = "an index in the queue's memory is impossible: it was overwritten",
	[KWARP_WHY_CQ] = "the completion queue was full: make it larger, or poll more often",
	[KWARP_WHY_MEMORY] = "this machine had no memory for a frame",
	[KWARP_WHY_NO_RECEIVE] = "no receive is posted",
	[KWARP_WHY_BIND] = "the window cannot be bound so: see its region's rights and bounds",
	[KWARP_WHY_INV] = "this key cannot be registered or invalidated here",
	[KWARP_WHY_ALIGN] = "the address is no multiple of 8",
	[KWARP_WHY_MANY] = "more Reads and atomic operations than agreed (IRD) are outstanding",
	[KWARP_WHY_INJECTED] = "a fault was injected: see kwarpctl fault",
};

static void add_why(struct text *t, const struct kwarp_refusal *r)
{
	switch (r->why) {
	case KWARP_WHY_STAG:
		add_no_stag(t, r);
		break;
	case KWARP_WHY_RIGHT:
		add_rights(t, r, "the region or window", r->mr_access);
		break;
	case KWARP_WHY_BOUNDS:
		add_bounds(t, r);
		break;
	case KWARP_WHY_QP_RIGHT:
		add_rights(t, r, "qp_access_flags of the queue pair", r->mr_access);
		break;
	case KWARP_WHY_LONG:
		add(t, "it has %llu octets or more, and the receive has room for %llu", r->len,
		    r->mr_len);
		break;
	default:
		add(t, "%s", why_texts[r->why]);
		break;
	}
}

static bool is_access(const struct kwarp_refusal *r)
{
	return (r->why >= KWARP_WHY_STAG && r->why <= KWARP_WHY_QP_RIGHT) ||
	       r->why == KWARP_WHY_INV || r->why == KWARP_WHY_ALIGN;
}

static void add_place(struct text *t, bool hidden, u32 stag, u64 addr, u64 len)
{
	add(t, ", key %#010x", stag);
	if (!hidden)
		add(t, ", address %#llx", addr);
	add(t, ", %llu octets", len);
}

/* Addresses of a kernel consumer, and those that its peer has got, may be pointers. */
static bool hides(const struct kwarp_ended *rec)
{
	return !rec->pid;
}

static void add_refusal(struct text *t, const struct kwarp_ended *rec)
{
	const struct kwarp_refusal *r = &rec->refused;

	add(t, ": %s", op_names[r->op]);
	if (r->why == KWARP_WHY_INV)
		add(t, ", key %#010x", r->stag);
	else if (is_access(r))
		add_place(t, hides(rec) || r->hidden, r->stag, r->addr, r->len);
	add(t, ": ");
	add_why(t, r);
}

static void add_blamed(struct text *t, const struct kwarp_ended *rec)
{
	switch (rec->blamed) {
	case KWARP_BLAMED_TAGGED:
		add(t, " about our Write");
		break;
	case KWARP_BLAMED_READ:
		add(t, " about our Read");
		break;
	case KWARP_BLAMED_MESSAGE:
		add(t, " about our message number %u", rec->blamed_msn);
		return;
	default:
		return;
	}
	add_place(t, hides(rec), rec->blamed_stag, rec->blamed_addr, rec->blamed_len);
}

static const char *why_lost(int err)
{
	switch (-err) {
	case -ECONNRESET:
	case -EPIPE:
		return "lost: the peer has reset it (ECONNRESET)";
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return "lost: there is no way to the peer any more (EHOSTUNREACH)";
	case -ETIMEDOUT:
		return "lost: the peer did not answer for too long (ETIMEDOUT)";
	case -ECONNABORTED:
		return "lost: ended on this machine, as by ss -K (ECONNABORTED)";
	default:
		return "ended with an error";
	}
}

/* Name of the error: the peer's, if it has sent a Terminate, as in vendor_err. */
const char *kwarp_ended_error(const struct kwarp_ended *rec)
{
	enum kwarp_perr err = rec->has_term ? rec->term_perr : rec->perr;

	if (rec->kind != KWARP_ENDED_STREAM)
		return "STARTUP";
	if (rec->has_term && err == KWARP_PERR_NONE)
		return "OTHER";
	return kwarp_perr_name(err == KWARP_PERR_NONE ? KWARP_PERR_MPA_LOST : err);
}

void kwarp_ended_text(const struct kwarp_ended *rec, char *buf, size_t size)
{
	struct text t = { .buf = buf, .size = size };

	buf[0] = 0;
	if (rec->kind != KWARP_ENDED_STREAM) {
		add(&t, "%s", rec->no_start_text);
	} else if (rec->has_term) {
		add(&t, "the peer says %s (%#06x)", kwarp_ended_error(rec), rec->term);
		add_blamed(&t, rec);
	} else if (rec->refused.why == KWARP_WHY_INJECTED && rec->perr == KWARP_PERR_MPA_LOST) {
		add(&t, "lost: this end has reset it");
		add_refusal(&t, rec);
	} else if (rec->perr == KWARP_PERR_NONE || rec->perr == KWARP_PERR_MPA_LOST) {
		add(&t, "%s", rec->cut ? "lost: the peer has closed it in the middle of a message" :
					why_lost(rec->err));
	} else {
		add(&t, "ended by %s", kwarp_perr_name(rec->perr));
		if (rec->refused.why && rec->refused.perr == rec->perr)
			add_refusal(&t, rec);
	}
}

/* ------------------------------------------------------------------------ ring */

#define STREAMS		64
#define STARTUPS	16
#define INBOUND		16

/*
 * Records per link.  Startups have some of their own, so that a program that tries to connect all
 * the time, or a peer that sends garbage, pushes out no records of another kind.
 */
static const u32 quotas[KWARP_ENDED_KINDS] = {
	[KWARP_ENDED_STREAM] = STREAMS,
	[KWARP_ENDED_STARTUP] = STARTUPS,
	[KWARP_ENDED_INBOUND] = INBOUND,
};

#define RING		(STREAMS + STARTUPS + INBOUND)

/*
 * struct kwarp_ended_ring - the last records of a link
 * @lock: protects the other members except @notices; process context
 * @seq: number of the last record
 * @used: of these, the number of each kind
 * @at: in no order; the records hold references on processes
 *
 * The link pays: the size is fixed, and only an administrator adds links.
 */
struct kwarp_ended_ring {
	spinlock_t lock;		/* seq, n, used, at */
	u64 seq;
	u32 n;
	u32 used[KWARP_ENDED_KINDS];
	struct kwarp_ended at[RING];
	struct ratelimit_state notices;
};

struct kwarp_ended_ring *kwarp_ended_alloc(void)
{
	struct kwarp_ended_ring *ring = kvzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);

	if (!ring)
		return NULL;
	spin_lock_init(&ring->lock);
	ratelimit_state_init(&ring->notices, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);
	/* Lines that are left out are not counted in the log, since they are in the ring. */
	ratelimit_set_flags(&ring->notices, RATELIMIT_MSG_ON_RELEASE);
	return ring;
}

/* @ring: or NULL; nobody uses it any more */
void kwarp_ended_free(struct kwarp_ended_ring *ring)
{
	u32 i;

	for (i = 0; ring && i < ring->n; i++)
		put_pid(ring->at[i].pid);
	kvfree(ring);
}

/*
 * The oldest record of this kind of @uid, or of all if @uid has less than half of them: a user's
 * programs get at most half while others need the rest.
 */
static struct kwarp_ended *victim(struct kwarp_ended_ring *ring, enum kwarp_ended_kind kind,
				  kuid_t uid)
{
	struct kwarp_ended *oldest = NULL, *own = NULL;
	u32 i, n = 0;

	for (i = 0; i < ring->n; i++) {
		struct kwarp_ended *rec = &ring->at[i];

		if (rec->kind != kind)
			continue;
		if (!oldest || rec->seq < oldest->seq)
			oldest = rec;
		if (!uid_eq(rec->uid, uid))
			continue;
		if (!own || rec->seq < own->seq)
			own = rec;
		n++;
	}
	return n < quotas[kind] / 2 ? oldest : own;
}

static struct kwarp_ended *place_for(struct kwarp_ended_ring *ring, const struct kwarp_ended *rec)
{
	if (ring->used[rec->kind] == quotas[rec->kind])
		return victim(ring, rec->kind, rec->uid);
	ring->used[rec->kind]++;
	return &ring->at[ring->n++];
}

static void keep(struct kwarp_ended_ring *ring, struct kwarp_ended *rec)
{
	struct kwarp_ended *to;
	struct pid *old;

	get_pid(rec->pid);
	spin_lock(&ring->lock);
	rec->seq = ++ring->seq;
	to = place_for(ring, rec);
	old = to->pid;
	*to = *rec;
	spin_unlock(&ring->lock);
	put_pid(old);
}

static void notice(struct kwarp_dev *kdev, const struct kwarp_ended *rec)
{
	char text[KWARP_ENDED_TEXT], pid[16] = "kernel";

	if (!READ_ONCE(kdev->knobs.log_errors) || !__ratelimit(&kdev->ended->notices))
		return;
	kwarp_ended_text(rec, text, sizeof(text));
	if (rec->pid)
		snprintf(pid, sizeof(pid), "pid %d", pid_nr(rec->pid));
	ibdev_notice(&kdev->ibdev, "connection %pISpc, peer %pISpc: %s; QP %u of %*pEhp (%s)\n",
		     &rec->local, &rec->remote, text, rec->qpn, (int)strlen(rec->program),
		     rec->program, pid);
}

/**
 * kwarp_ended_add - log and keep why a stream has ended
 * @kdev: device
 * @rec: without @seq, which is set; the caller keeps its reference on the process
 *
 * Context: process.
 */
void kwarp_ended_add(struct kwarp_dev *kdev, struct kwarp_ended *rec)
{
	if (!kdev->ended)
		return;
	keep(kdev->ended, rec);
	notice(kdev, rec);
}

/* As kwarp_ended_add(), for a startup, of which the cm has logged what is to be logged. */
void kwarp_ended_add_startup(struct kwarp_dev *kdev, struct kwarp_ended *rec)
{
	rec->time = ktime_get_boottime_ns();
	if (kdev->ended)
		keep(kdev->ended, rec);
}

/* @rec: result, with a reference on the process for the caller. Context: process. */
bool kwarp_ended_next(struct kwarp_ended_ring *ring, u64 after, kuid_t uid, bool all,
		      struct kwarp_ended *rec)
{
	const struct kwarp_ended *next = NULL;
	u32 i;

	spin_lock(&ring->lock);
	for (i = 0; i < ring->n; i++) {
		const struct kwarp_ended *at = &ring->at[i];

		/*
		 * A kernel consumer's user is whoever has set it up, and what a peer has tried
		 * concerns no user: tell only an administrator.
		 */
		if (at->seq > after && (all || (at->pid && uid_eq(at->uid, uid))) &&
		    (!next || at->seq < next->seq))
			next = at;
	}
	if (next) {
		*rec = *next;
		get_pid(rec->pid);
	}
	spin_unlock(&ring->lock);
	return next;
}
