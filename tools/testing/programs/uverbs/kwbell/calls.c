// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbell is a test program for doorbells: files on which an ioctl() ("ring") tells the driver that
 * requests were posted. This file: right and wrong rings, from a table; and requests that must
 * complete after a ring.
 */
#include "kwbell.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl.h>

#define SENDS		KWARP_IOC_POSTED_SENDS
#define HEARD_MS	5000	/* time limit for a completion */

unsigned int bell_n_ok, bell_n_failed;

void bell_verdict(const char *where, const char *what, bool good, int got)
{
	if (good) {
		bell_n_ok++;
		kw_debug("ok %s: %s", where, what);
		return;
	}
	bell_n_failed++;
	kw_say("FAILED %s: %s (%s)", where, what, got ? strerror(got) : "0");
}

int bell_ring(int bell, unsigned long cmd, unsigned long number)
{
	return ioctl(bell, cmd, number) ? errno : 0;
}

/*
 * Whose queue pair number is passed to the doorbell? IDLE: the number of a queue pair of the
 * doorbell's own context in its first state; DEAD: of one in the error state; STRANGERS: of a queue
 * pair of another context; DESTROYED: of a former queue pair; NOBODYS: no queue pair has the
 * number.
 */
enum whose { IDLE, DEAD, STRANGERS, DESTROYED, NOBODYS };

/**
 * struct call - a call of the doorbell
 * @what: name for messages
 * @cmd: command of the ioctl
 * @whose, @plus: the argument: number of this queue pair, plus a number
 * @err: errno that is right, or 0
 */
static const struct call {
	const char *what;
	unsigned long cmd;
	enum whose whose;
	uint64_t plus;
	int err;
} calls[] = {
	{ "send", BELL_SEND, IDLE, 0, 0 },
	{ "receive", BELL_RECV, IDLE, 0, 0 },
	{ "send in error", BELL_SEND, DEAD, 0, 0 },
	{ "receive in error", BELL_RECV, DEAD, 0, 0 },
	{ "send of a stranger", BELL_SEND, STRANGERS, 0, EINVAL },
	{ "receive of a stranger", BELL_RECV, STRANGERS, 0, EINVAL },
	{ "send of a queue pair that was", BELL_SEND, DESTROYED, 0, EINVAL },
	{ "receive of a queue pair that was", BELL_RECV, DESTROYED, 0, EINVAL },
	{ "number 0", BELL_SEND, NOBODYS, 0, EINVAL },
	{ "number 1", BELL_RECV, NOBODYS, 1, EINVAL },
	{ "the last number of 24 bits", BELL_SEND, NOBODYS, 0xffffff, EINVAL },
	{ "the last number of 32 bits", BELL_RECV, NOBODYS, UINT32_MAX, EINVAL },
	{ "beyond 32 bits", BELL_SEND, IDLE, 1ULL << 32, EINVAL },
	{ "receive beyond 32 bits", BELL_RECV, IDLE, 1ULL << 32, EINVAL },
	{ "the last bit", BELL_SEND, IDLE, 1ULL << 63, EINVAL },
	{ "the command before", _IO('k', 0x76), IDLE, 0, ENOTTY },
	{ "the command after", _IO('k', 0x79), IDLE, 0, ENOTTY },
	{ "the command with a pointer", _IOW('k', 0x77, uint32_t), IDLE, 0, ENOTTY },
	{ "a command of ib_uverbs", RDMA_VERBS_IOCTL, IDLE, 0, ENOTTY },
	{ "no command, for a stranger", 0, STRANGERS, 0, ENOTTY },
};

static uint64_t number(const struct call *c)
{
	const uint64_t numbers[] = {
		[IDLE] = bell_own.qpn, [DEAD] = bell_dead.qpn, [STRANGERS] = bell_stranger.qpn,
		[DESTROYED] = bell_destroyed,
		[NOBODYS] = 0,
	};

	return numbers[c->whose] + c->plus;
}

/* Does the argument fit into an unsigned long, which has 32 bits on some machines? */
static bool can_be_said(const struct call *c)
{
	return number(c) <= (unsigned long)-1;
}

/* Number of completions of the queue pair in the error state so far. */
static uint32_t completions(void)
{
	return __atomic_load_n(&bell_dead.cq->prod, __ATOMIC_RELAXED);
}

/*
 * Post one more entry, whose contents are zero: in the error state it is flushed unread. Then ring
 * with @cmd and @arg: the ring must return @err, and the entry must complete.
 */
static void try_heard(const char *where, int bell, unsigned long cmd, uint64_t arg, int err)
{
	struct kwarp_ring_hdr *queue = cmd == BELL_RECV ? bell_dead.rq : bell_dead.sq;
	uint32_t before = completions();
	int64_t until = kw_now_ms() + HEARD_MS;
	int rv;

	__atomic_store_n(&queue->prod, queue->prod + 1, __ATOMIC_SEQ_CST);
	rv = bell_ring(bell, cmd, arg);
	while (rv == err && completions() == before && kw_now_ms() < until)
		usleep(1000);
	bell_verdict(where, cmd == BELL_RECV ? "a receive comes back" : "what is sent comes back",
		     rv == err && completions() == before + 1, rv);
	__atomic_store_n(&bell_dead.cq->cons, completions(), __ATOMIC_RELEASE);
}

/* Ring for several queue pairs in one call (a list), with right and wrong lists. */
static void try_lists(const char *where, int bell)
{
	const struct kwarp_doorbells none = { .n = 0 }, many = { .n = 17 };
	const struct kwarp_doorbells mixed = {
		.n = 4, .qpn = { bell_destroyed, bell_stranger.qpn, bell_dead.qpn, bell_own.qpn },
	};
	const struct kwarp_doorbells two = { .n = 2, .qpn = { bell_own.qpn, bell_dead.qpn } };
	int rv = bell_ring(bell, SENDS, (uintptr_t)&none);

	bell_verdict(where, "a list of none", rv == EINVAL, rv);
	rv = bell_ring(bell, SENDS, (uintptr_t)&many);
	bell_verdict(where, "a list of too many", rv == EINVAL, rv);
	rv = bell_ring(bell, SENDS, 16);
	bell_verdict(where, "a list that is nowhere", rv == EFAULT, rv);
	try_heard(where, bell, SENDS, (uintptr_t)&two, 0);
	/* Queue pairs that are refused must not prevent the ring for the others in the list. */
	try_heard(where, bell, SENDS, (uintptr_t)&mixed, EINVAL);
}

void bell_try_calls(const char *where, int bell)
{
	const struct call *c;
	int rv;

	for (c = calls; c < calls + ARRAY_SIZE(calls); c++) {
		if (!can_be_said(c))
			continue;
		rv = bell_ring(bell, c->cmd, number(c));
		bell_verdict(where, c->what, rv == c->err, rv);
	}
	try_heard(where, bell, BELL_SEND, bell_dead.qpn, 0);
	try_heard(where, bell, BELL_RECV, bell_dead.qpn, 0);
	try_lists(where, bell);
}

void bell_try_gone(void)
{
	const struct call *c;
	int rv, want;

	for (c = calls; c < calls + ARRAY_SIZE(calls); c++) {
		if (!can_be_said(c))
			continue;
		want = c->err == ENOTTY || number(c) > UINT32_MAX ? c->err : EIO;
		rv = bell_ring(bell_own.bell, c->cmd, number(c));
		bell_verdict("the device gone", c->what, rv == want, rv);
	}
	rv = kwu_doorbell(bell_own.fd) < 0 ? errno : 0;
	bell_verdict("the device gone", "a new one", rv == EIO, rv);
}
