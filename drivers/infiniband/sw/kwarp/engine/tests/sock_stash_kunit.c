// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of sock.c when the receive window closes before an FPDU is complete: the octets of the FPDU
 * are copied to a stash, so that TCP has room again.
 */
#include "sock_fixture.h"

#include <linux/delay.h>
#include <net/tcp.h>

/* The FPDU is longer than the receive buffer. */
static void test_out_of_room(struct kunit *test)
{
	struct sock_test *t = test->priv;

	sock_connect_pair(test, 16384, 500);
	sock_add_fpdu(t, 60000);
	sock_add_fpdu(t, 100);
	sock_add_fpdu(t, 30000);
	KUNIT_EXPECT_TRUE(test, sock_send_all(t, 3000, 3));
	KUNIT_EXPECT_GT(test, t->polls, 0);
	KUNIT_EXPECT_EQ(test, t->octets, 60000 + 100 + 30000 - 3 * 14);
	KUNIT_EXPECT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->stashes_now), 0);
	KUNIT_EXPECT_GT(test, atomic_long_read(&t->e.kdev->stashes), 0);
	/* The memory of the stash is not charged to the socket any more. */
	KUNIT_EXPECT_GE(test, t->ours->sk->sk_forward_alloc, 0);
	KUNIT_EXPECT_LT(test, t->ours->sk->sk_forward_alloc, KWARP_FPDU_MAX);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
}

/* @used_up: meanwhile TCP's limit of memory is reached, so that a stash cannot be charged. */
static void drain_when(struct sock_test *t, bool used_up)
{
	long before[ARRAY_SIZE(sysctl_tcp_mem)];

	memcpy(before, sysctl_tcp_mem, sizeof(before));
	if (used_up)
		memset(sysctl_tcp_mem, 0xff, sizeof(before));
	if (t->short_ms) {
		atomic_set(&t->e.kdev->stashes_unpaid, KWARP_MAX_UNPAID_STASHES);
		schedule_delayed_work(&t->memory, msecs_to_jiffies(t->short_ms));
		t->short_ms = 0;
	}
	kwarp_sock_drain(&t->e);
	memcpy(sysctl_tcp_mem, before, sizeof(before));
}

/* Handle polls until there is a stash, or @waits attempts to allocate one have failed. */
static void go_on_filling(struct kunit *test, bool used_up, u32 waits)
{
	struct sock_test *t = test->priv;
	u32 ms = 0, at = t->filled;
	int n;

	while (ms < PATIENCE_MS && at < t->len && !t->e.rx.stash.buf &&
	       t->e.stash_wait.waits < waits) {
		n = sock_send_now(t, at, min(1000, t->len - at), 0);
		if (n > 0) {
			at += n;
		} else {
			msleep(20);
			ms += 20;
		}
		if (READ_ONCE(t->polls) != t->served) {
			t->served = READ_ONCE(t->polls);
			drain_when(t, used_up);
		}
	}
	t->filled = at;
	KUNIT_EXPECT_LT(test, at, t->len);
}

static void fill_up_to(struct kunit *test, bool used_up, u32 waits)
{
	struct sock_test *t = test->priv;

	sock_connect_pair(test, 16384, 500);
	sock_add_fpdu(t, 60000);
	go_on_filling(test, used_up, waits);
}

static void fill_up(struct kunit *test, bool used_up)
{
	fill_up_to(test, used_up, U32_MAX);
}

/* The stash is freed at the end of a stream, even if it contains an incomplete FPDU. */
static void test_stash_given_back(struct kunit *test)
{
	struct sock_test *t = test->priv;

	fill_up(test, false);
	KUNIT_EXPECT_NE(test, t->e.rx.stash.have, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->stashes_now), 1);
	set_bit(KWARP_E_RX_STOP, &t->e.flags);
	kwarp_sock_remove(&t->e);
	t->e.sock = NULL;
	KUNIT_EXPECT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->e.kdev->stashes_now), 0);
	KUNIT_EXPECT_GE(test, t->ours->sk->sk_forward_alloc, 0);
	KUNIT_EXPECT_LT(test, t->ours->sk->sk_forward_alloc, KWARP_FPDU_MAX);
}

/* TCP's limit of memory is reached, which any program can cause. */
static void test_stash_limit(struct kunit *test)
{
	struct sock_test *t = test->priv;

	fill_up(test, true);
	KUNIT_EXPECT_NOT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_FALSE(test, t->e.rx.stash.charged);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
}

static void memory_comes(struct work_struct *work)
{
	struct sock_test *t = container_of(work, struct sock_test, memory.work);

	atomic_set(&t->e.kdev->stashes_unpaid, 0);
}

/* Memory comes after a while. */
static void test_stash_later(struct kunit *test)
{
	struct sock_test *t = test->priv;

	INIT_DELAYED_WORK(&t->memory, memory_comes);
	t->short_ms = 150;
	fill_up(test, true);
	flush_delayed_work(&t->memory);
	KUNIT_EXPECT_NOT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
}

/* The next look finds memory for the stash, and is the last. */
static void memory_comes_back(struct kunit *test)
{
	struct sock_test *t = test->priv;

	atomic_set(&t->e.kdev->stashes_unpaid, 0);
	flush_delayed_work(&t->e.stash_wait.work);
	drain_when(t, true);
	KUNIT_EXPECT_NOT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, t->e.stash_wait.waits, 0);
}

/* Packets that arrive meanwhile cause no earlier attempt. */
static void test_stash_packets(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 i;

	atomic_set(&t->e.kdev->stashes_unpaid, KWARP_MAX_UNPAID_STASHES);
	fill_up_to(test, true, 6);
	for (i = 0; i < 50; i++)
		drain_when(t, true);
	KUNIT_EXPECT_LE(test, t->e.stash_wait.waits, 7);
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	memory_comes_back(test);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&t->e.stash_wait.work));
}

static void test_stash_stop(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u32 polls;

	atomic_set(&t->e.kdev->stashes_unpaid, KWARP_MAX_UNPAID_STASHES);
	fill_up_to(test, true, 6);
	KUNIT_EXPECT_EQ(test, t->e.stash_wait.waits, 6);
	set_bit(KWARP_E_RX_STOP, &t->e.flags);
	kwarp_sock_remove(&t->e);
	t->e.sock = NULL;
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&t->e.stash_wait.work));
	KUNIT_EXPECT_EQ(test, t->e.stash_wait.waits, 0);
	polls = READ_ONCE(t->polls);
	msleep(100);
	KUNIT_EXPECT_EQ(test, READ_ONCE(t->polls), polls);
}

/*
 * However long there is no memory, which others may cause, the stream does not fail, and looks for
 * memory go on.
 */
static void test_stash_long_wait(struct kunit *test)
{
	struct sock_test *t = test->priv;
	u64 began;
	int i;

	/* Other streams have all the stashes that may exist without a charge. */
	atomic_set(&t->e.kdev->stashes_unpaid, KWARP_MAX_UNPAID_STASHES);
	fill_up_to(test, true, 1);
	began = ktime_get_ns();
	go_on_filling(test, true, 8);
	KUNIT_EXPECT_GE(test, ktime_get_ns() - began, 100 * NSEC_PER_MSEC);
	for (i = 0; i < 3; i++) {
		flush_delayed_work(&t->e.stash_wait.work);
		drain_when(t, true);
		KUNIT_EXPECT_NULL(test, t->e.rx.stash.buf);
		KUNIT_EXPECT_EQ(test, t->e.stash_wait.waits, 8);
		KUNIT_EXPECT_TRUE(test, delayed_work_pending(&t->e.stash_wait.work));
	}
	KUNIT_EXPECT_EQ(test, t->e.perr, KWARP_PERR_NONE);
	memory_comes_back(test);
}

/* Send an FPDU in two parts, while the memory of all sockets is short, which anybody can cause. */
static void send_half(struct kunit *test)
{
	struct sock_test *t = test->priv;

	sock_connect_pair(test, 0, 0);
	sock_add_fpdu(t, 1000);
	WRITE_ONCE(sock_is_short, true);
	KUNIT_ASSERT_EQ(test, sock_send_now(t, 0, 500, 0), 500);
}

/* The rest of an FPDU comes soon: it is not copied, although TCP's memory is short. */
static void test_pressure(struct kunit *test)
{
	struct sock_test *t = test->priv;

	send_half(test);
	KUNIT_EXPECT_EQ(test, t->polls, 0);
	KUNIT_ASSERT_EQ(test, sock_send_now(t, 500, t->len - 500, 0), t->len - 500);
	KUNIT_EXPECT_TRUE(test, sock_soon(&t->ends, 1));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->stashes), 0);
}

/* The rest does not come soon: TCP has perhaps dropped it, so the beginning is copied. */
static void test_pressure_late(struct kunit *test)
{
	struct sock_test *t = test->priv;

	send_half(test);
	KUNIT_EXPECT_TRUE(test, sock_soon(&t->polls, 1));
	kwarp_sock_drain(&t->e);
	KUNIT_EXPECT_NOT_NULL(test, t->e.rx.stash.buf);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->e.kdev->stashes), 1);
	KUNIT_ASSERT_EQ(test, sock_send_now(t, 500, t->len - 500, 0), t->len - 500);
	KUNIT_EXPECT_TRUE(test, sock_soon(&t->ends, 1));
	KUNIT_EXPECT_EQ(test, t->octets, 1000 - 14);
}

static struct kunit_case sock_stash_cases[] = {
	KUNIT_CASE_SLOW(test_out_of_room),
	KUNIT_CASE(test_stash_given_back),
	KUNIT_CASE(test_stash_limit),
	KUNIT_CASE(test_stash_later),
	KUNIT_CASE(test_stash_packets),
	KUNIT_CASE(test_stash_stop),
	KUNIT_CASE(test_stash_long_wait),
	KUNIT_CASE(test_pressure),
	KUNIT_CASE(test_pressure_late),
	{}
};

static struct kunit_suite sock_stash_suite = {
	.name = "kwarp_sock_stash",
	.init = sock_test_init,
	.exit = sock_test_exit,
	.test_cases = sock_stash_cases,
};

kunit_test_suite(sock_stash_suite);
