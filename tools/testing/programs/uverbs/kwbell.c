// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbell: for which queue pairs a context's doorbell works, and which processes may ring it.
 *
 *	kwbell -d rdma-device [-u user] [-v]
 *	kwbell -d rdma-device -g [-t threads] [-v]
 *
 * Without -g the program makes each call of a table, and posts requests that must complete: by its
 * first doorbell, by a second one, as another user, and in child processes.
 *
 * With -g it rings in several threads and a child process until the device is gone, reports that,
 * and waits for SIGTERM with its files open.  Another program has to delete the link meanwhile.
 */
#include "kwtest.h"
#include "kwuverbs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/kwarp-abi.h>
#include <rdma/rdma_user_ioctl.h>

#define SEND		KWARP_IOC_POSTED_SEND
#define RECV		KWARP_IOC_POSTED_RECV
#define SENDS		KWARP_IOC_POSTED_SENDS
#define ENTRIES		8	/* of each work queue */
#define HEARD_MS	5000
#define MAX_THREADS	16
#define BUF(x)		((struct kwu_buf){ &(x), sizeof(x) })
#define NONE		((struct kwu_buf){ NULL, 0 })

static const char *dev;
static unsigned int user = 65534, threads = 4;
static unsigned int n_ok, n_failed;

static void verdict(const char *where, const char *what, bool good, int got)
{
	if (good) {
		n_ok++;
		kw_debug("ok %s: %s", where, what);
		return;
	}
	n_failed++;
	kw_say("FAILED %s: %s (%s)", where, what, got ? strerror(got) : "0");
}

/* -------------------------------------------------------------------- objects */

/**
 * struct context - the device, opened once
 * @fd: uverbs device
 * @bell: its doorbell
 * @pd, @cq: handles
 * @qpn: number of a queue pair that is idle
 */
struct context {
	int fd, bell;
	uint32_t pd, cq;
	uint32_t qpn;
};

static struct context own, stranger;
static uint32_t destroyed;	/* number of a queue pair that was own's */

/*
 * A queue pair of context "own" in the error state: each request posted to it is flushed at once.
 */
static struct {
	uint32_t qpn;
	struct kwarp_ring_hdr *sq, *rq, *cq;
} dead;

/* The handle of what the command makes: the first word of each answer. */
static uint32_t create(int fd, uint32_t cmd, struct kwu_buf in, size_t out_len,
		       struct kwu_buf answer)
{
	uint32_t out[64] = { 0 };
	struct kwu_call c = { .cmd = cmd, .in = in, .out = { out, out_len }, .drv_out = answer };
	int rv = kwu_invoke(fd, &c);

	if (rv)
		kw_die(KW_SETUP, "command %u: %s", cmd, strerror(rv));
	return out[0];
}

static uint32_t create_cq(int fd, struct kwarp_create_cq_resp *resp)
{
	struct ib_uverbs_create_cq in = { .cqe = 2 * ENTRIES, .comp_channel = -1 };

	return create(fd, IB_USER_VERBS_CMD_CREATE_CQ, BUF(in),
		      sizeof(struct ib_uverbs_create_cq_resp), BUF(*resp));
}

static uint32_t create_qp(const struct context *x, uint32_t cq, struct kwarp_create_qp_resp *resp)
{
	struct ib_uverbs_create_qp in = {
		.pd_handle = x->pd,
		.send_cq_handle = cq,
		.recv_cq_handle = cq,
		.max_send_wr = ENTRIES,
		.max_recv_wr = ENTRIES,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.qp_type = IB_UVERBS_QPT_RC,
	};

	return create(x->fd, IB_USER_VERBS_CMD_CREATE_QP, BUF(in),
		      sizeof(struct ib_uverbs_create_qp_resp), BUF(*resp));
}

static void destroy_qp(int fd, uint32_t handle)
{
	struct ib_uverbs_destroy_qp in = { .qp_handle = handle };

	create(fd, IB_USER_VERBS_CMD_DESTROY_QP, BUF(in),
	       sizeof(struct ib_uverbs_destroy_qp_resp), NONE);
}

static int open_bell(int fd)
{
	int bell = kwu_doorbell(fd);

	if (bell < 0)
		kw_die(KW_MISMATCH, "FAILED: no doorbell: %s", strerror(errno));
	return bell;
}

static void open_context(struct context *x)
{
	struct ib_uverbs_alloc_pd in = { 0 };
	struct kwarp_create_cq_resp cq;
	struct kwarp_create_qp_resp qp;
	int rv;

	x->fd = kwu_open(dev);
	rv = kwu_begin(x->fd);
	if (rv)
		kw_die(KW_SETUP, "no context: %s", strerror(rv));
	x->bell = open_bell(x->fd);
	x->pd = create(x->fd, IB_USER_VERBS_CMD_ALLOC_PD, BUF(in),
		       sizeof(struct ib_uverbs_alloc_pd_resp), NONE);
	x->cq = create_cq(x->fd, &cq);
	create_qp(x, x->cq, &qp);
	x->qpn = qp.qpn;
}

static void *map_ring(uint64_t key, uint32_t len)
{
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, own.fd, key);

	if (map == MAP_FAILED)
		kw_die(KW_SETUP, "cannot map a ring: %s", strerror(errno));
	return map;
}

static void make_dead(void)
{
	struct ib_uverbs_modify_qp in = { .attr_mask = 1 /* state */, .qp_state = 6 /* ERR */ };
	struct kwarp_create_cq_resp cq;
	struct kwarp_create_qp_resp qp;
	uint32_t handle = create_cq(own.fd, &cq);

	in.qp_handle = create_qp(&own, handle, &qp);
	create(own.fd, IB_USER_VERBS_CMD_MODIFY_QP, BUF(in), 0, NONE);
	dead.qpn = qp.qpn;
	dead.sq = map_ring(qp.mmap_key, qp.sq_len + qp.rq_len);
	dead.rq = (void *)((char *)dead.sq + qp.sq_len);
	dead.cq = map_ring(cq.mmap_key, cq.mmap_len);
}

static void make_destroyed(void)
{
	struct kwarp_create_qp_resp qp;

	destroy_qp(own.fd, create_qp(&own, own.cq, &qp));
	destroyed = qp.qpn;
}

/* ---------------------------------------------------------------------- calls */

/* 0 or errno. */
static int ring(int bell, unsigned long cmd, unsigned long number)
{
	return ioctl(bell, cmd, number) ? errno : 0;
}

/* The owner, or the state, of the queue pair that a number names. */
enum whose { IDLE, DEAD, STRANGERS, DESTROYED, NOBODYS };

static const struct call {
	const char *what;
	unsigned long cmd;
	enum whose whose;
	uint64_t plus;
	int err;
} calls[] = {
	{ "send", SEND, IDLE, 0, 0 },
	{ "receive", RECV, IDLE, 0, 0 },
	{ "send in error", SEND, DEAD, 0, 0 },
	{ "receive in error", RECV, DEAD, 0, 0 },
	{ "send of a stranger", SEND, STRANGERS, 0, EINVAL },
	{ "receive of a stranger", RECV, STRANGERS, 0, EINVAL },
	{ "send of a queue pair that was", SEND, DESTROYED, 0, EINVAL },
	{ "receive of a queue pair that was", RECV, DESTROYED, 0, EINVAL },
	{ "number 0", SEND, NOBODYS, 0, EINVAL },
	{ "number 1", RECV, NOBODYS, 1, EINVAL },
	{ "the last number of 24 bits", SEND, NOBODYS, 0xffffff, EINVAL },
	{ "the last number of 32 bits", RECV, NOBODYS, UINT32_MAX, EINVAL },
	{ "beyond 32 bits", SEND, IDLE, 1ULL << 32, EINVAL },
	{ "receive beyond 32 bits", RECV, IDLE, 1ULL << 32, EINVAL },
	{ "the last bit", SEND, IDLE, 1ULL << 63, EINVAL },
	{ "the command before", _IO('k', 0x76), IDLE, 0, ENOTTY },
	{ "the command after", _IO('k', 0x79), IDLE, 0, ENOTTY },
	{ "the command with a pointer", _IOW('k', 0x77, uint32_t), IDLE, 0, ENOTTY },
	{ "a command of ib_uverbs", RDMA_VERBS_IOCTL, IDLE, 0, ENOTTY },
	{ "no command, for a stranger", 0, STRANGERS, 0, ENOTTY },
};

static uint64_t number(const struct call *c)
{
	const uint64_t numbers[] = {
		[IDLE] = own.qpn, [DEAD] = dead.qpn, [STRANGERS] = stranger.qpn,
		[DESTROYED] = destroyed,
		[NOBODYS] = 0,
	};

	return numbers[c->whose] + c->plus;
}

/* With an unsigned long of 32 bits there are no larger numbers to pass. */
static bool can_be_said(const struct call *c)
{
	return number(c) <= (unsigned long)-1;
}

/* Number of completions so far. */
static uint32_t completions(void)
{
	return __atomic_load_n(&dead.cq->prod, __ATOMIC_ACQUIRE);
}

/*
 * Post one more entry, of zeroes: in the error state it is flushed unread. The ring with @cmd and
 * @arg must have that effect, and return @err.
 */
static void try_heard(const char *where, int bell, unsigned long cmd, uint64_t arg, int err)
{
	struct kwarp_ring_hdr *queue = cmd == RECV ? dead.rq : dead.sq;
	uint32_t before = completions();
	int64_t until = kw_now_ms() + HEARD_MS;
	int rv;

	__atomic_store_n(&queue->prod, queue->prod + 1, __ATOMIC_SEQ_CST);
	rv = ring(bell, cmd, arg);
	while (rv == err && completions() == before && kw_now_ms() < until)
		usleep(1000);
	verdict(where, cmd == RECV ? "a receive comes back" : "what is sent comes back",
		rv == err && completions() == before + 1, rv);
	__atomic_store_n(&dead.cq->cons, completions(), __ATOMIC_RELEASE);
}

/* Ring for several queue pairs in one call. */
static void try_lists(const char *where, int bell)
{
	const struct kwarp_doorbells none = { .n = 0 }, many = { .n = 17 };
	const struct kwarp_doorbells mixed = {
		.n = 4, .qpn = { destroyed, stranger.qpn, dead.qpn, own.qpn },
	};
	const struct kwarp_doorbells two = { .n = 2, .qpn = { own.qpn, dead.qpn } };
	int rv = ring(bell, SENDS, (uintptr_t)&none);

	verdict(where, "a list of none", rv == EINVAL, rv);
	rv = ring(bell, SENDS, (uintptr_t)&many);
	verdict(where, "a list of too many", rv == EINVAL, rv);
	rv = ring(bell, SENDS, 16);
	verdict(where, "a list that is nowhere", rv == EFAULT, rv);
	try_heard(where, bell, SENDS, (uintptr_t)&two, 0);
	/* A queue pair that is refused does not prevent the others' doorbells. */
	try_heard(where, bell, SENDS, (uintptr_t)&mixed, EINVAL);
}

static void try_calls(const char *where, int bell)
{
	const struct call *c;
	int rv;

	for (c = calls; c < calls + ARRAY_SIZE(calls); c++) {
		if (!can_be_said(c))
			continue;
		rv = ring(bell, c->cmd, number(c));
		verdict(where, c->what, rv == c->err, rv);
	}
	try_heard(where, bell, SEND, dead.qpn, 0);
	try_heard(where, bell, RECV, dead.qpn, 0);
	try_lists(where, bell);
}

/* ----------------------------------------------------------------- situations */

static void try_files(void)
{
	int second = open_bell(own.fd);

	verdict("at first", "close-on-exec", fcntl(own.bell, F_GETFD) & FD_CLOEXEC, 0);
	try_calls("a second one", second);
	try_calls("beside a second one", own.bell);
	close(second);
	try_calls("after the second one", own.bell);
	close(own.bell);
	own.bell = open_bell(own.fd);
	try_calls("a new one", own.bell);
}

/* The other way round. */
static void try_stranger(void)
{
	int rv = ring(stranger.bell, SEND, stranger.qpn);

	verdict("the stranger's", "its own", !rv, rv);
	rv = ring(stranger.bell, SEND, own.qpn);
	verdict("the stranger's", "ours", rv == EINVAL, rv);
}

/*
 * After a change of user, write() of ib_uverbs is refused. This shows that the change is
 * effective.
 */
static void try_user(void)
{
	struct ib_uverbs_alloc_pd in = { 0 };
	uint32_t out[16];
	struct kwu_call c = {
		.cmd = IB_USER_VERBS_CMD_ALLOC_PD,
		.in = BUF(in),
		.out = { out, sizeof(struct ib_uverbs_alloc_pd_resp) },
	};
	int rv;

	if (seteuid(user))
		kw_die(KW_SETUP, "cannot be user %u: %s", user, strerror(errno));
	rv = kwu_write(own.fd, &c);
	verdict("as another user", "a command by write", rv == EACCES, rv);
	try_calls("as another user", own.bell);
	if (seteuid(0))
		kw_die(KW_SETUP, "cannot be root again: %s", strerror(errno));
}

static void try_child(void)
{
	try_calls("in a child", own.bell);
}

static void try_child_of_another_user(void)
{
	if (setgid(user) || setuid(user))
		kw_die(KW_SETUP, "cannot be user %u: %s", user, strerror(errno));
	try_calls("in a child of another user", own.bell);
}

/* The child has closed all files except the doorbell. */
static void try_child_with_doorbell(void)
{
	close(own.fd);
	try_calls("in a child that has closed the device", own.bell);
}

static void in_child(void (*fn)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (pid < 0)
		kw_die(KW_SETUP, "cannot fork: %s", strerror(errno));
	if (!pid) {
		fn();
		_exit(n_failed ? KW_MISMATCH : KW_OK);
	}
	waitpid(pid, &status, 0);
	verdict("a child", "all of it", !status, 0);
}

/* The other context is closed, but its doorbell is kept open. */
static void try_closed(void)
{
	int rv;

	close(stranger.fd);
	rv = ring(stranger.bell, SEND, stranger.qpn);
	verdict("its device closed", "send", rv == EIO, rv);
	rv = ring(stranger.bell, RECV, 0);
	verdict("its device closed", "receive of nobody", rv == EIO, rv);
	rv = ring(stranger.bell, 0, stranger.qpn);
	verdict("its device closed", "no command", rv == ENOTTY, rv);
	rv = ring(own.bell, SEND, stranger.qpn);
	verdict("of one who has closed the device", "send", rv == EINVAL, rv);
	close(stranger.bell);
}

static void try_all(void)
{
	open_context(&own);
	open_context(&stranger);
	make_dead();
	make_destroyed();
	try_calls("at first", own.bell);
	try_files();
	try_stranger();
	try_user();
	in_child(try_child);
	in_child(try_child_of_another_user);
	in_child(try_child_with_doorbell);
	try_closed();
	try_calls("in the end", own.bell);
}

/* ------------------------------------------------------------ the device goes */

/* Queue pairs are destroyed before the doorbell stops to work. */
static void ring_until_gone(uint32_t qpn)
{
	int rv;

	do {
		rv = ring(own.bell, SEND, qpn);
		if (rv && rv != EINVAL && rv != EIO)
			kw_die(KW_MISMATCH, "FAILED: a ring for %u: %s", qpn, strerror(rv));
	} while (rv != EIO);
}

static void *ringer(void *qpn)
{
	ring_until_gone(*(uint32_t *)qpn);
	return NULL;
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		kw_die(KW_SETUP, "cannot fork: %s", strerror(errno));
	if (pid)
		return pid;
	close(own.fd);
	ring_until_gone(own.qpn);
	_exit(KW_OK);
}

static void ring_in_threads(void)
{
	static uint32_t nobody;
	pthread_t id[MAX_THREADS];
	unsigned int i;

	for (i = 0; i < threads; i++)
		if (pthread_create(&id[i], NULL, ringer, i % 4 == 3 ? &nobody : &own.qpn))
			kw_die(KW_SETUP, "no thread");
	kw_say("ringing");
	for (i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
}

/* All queue pairs are gone. Calls with wrong arguments are still refused. */
static void try_gone(void)
{
	const struct call *c;
	int rv, want;

	for (c = calls; c < calls + ARRAY_SIZE(calls); c++) {
		if (!can_be_said(c))
			continue;
		want = c->err == ENOTTY || number(c) > UINT32_MAX ? c->err : EIO;
		rv = ring(own.bell, c->cmd, number(c));
		verdict("the device gone", c->what, rv == want, rv);
	}
	rv = kwu_doorbell(own.fd) < 0 ? errno : 0;
	verdict("the device gone", "a new one", rv == EIO, rv);
}

static void try_until_gone(void)
{
	int status = -1, sig;
	sigset_t end;
	pid_t pid;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	open_context(&own);
	pid = start_child();
	ring_in_threads();
	waitpid(pid, &status, 0);
	verdict("the device gone", "a child has heard it", !status, 0);
	try_gone();
	kw_say("the device is gone");
	sigwait(&end, &sig);
	verdict("the device gone", "the doorbell is closed", !close(own.bell), errno);
	verdict("the device gone", "the device is closed", !close(own.fd), errno);
}

int main(int argc, char **argv)
{
	static const char usage[] = "kwbell -d rdma-device [-u user] [-g] [-t threads] [-v]";
	static bool gone;
	static const struct kw_option table[] = {
		KW_TEXT('d', dev),
		KW_NUMBER('u', user, 1, INT32_MAX),
		KW_FLAG('g', gone),
		KW_NUMBER('t', threads, 1, MAX_THREADS),
		{ 0 }
	};

	kw_prog = "kwbell";
	kw_options(argc, argv, table, usage);
	if (!dev)
		kw_usage(usage);
	if (gone)
		try_until_gone();
	else
		try_all();
	kw_say("%u ok, %u failed", n_ok, n_failed);
	return n_failed ? KW_MISMATCH : KW_OK;
}
