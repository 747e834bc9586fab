// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of what is told about streams that ended by an error: texts, log line, ring. */
#include <kunit/test.h>

#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <rdma/ib_verbs.h>

static char logged[700];

#undef ibdev_notice
#define ibdev_notice(ibdev, fmt, ...) \
	((void)(ibdev), snprintf(logged, sizeof(logged), fmt, ##__VA_ARGS__))
#include "../ended.c"

#define SHARE	(STREAMS / 2)
#define LEAST	KUIDT_INIT(1000)
#define OTHER	KUIDT_INIT(1001)

static struct kwarp_dev *make_device(struct kunit *test)
{
	struct kwarp_dev *kdev = kunit_kzalloc(test, sizeof(*kdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, kdev);
	kdev->knobs.log_errors = true;
	kdev->ended = kwarp_ended_alloc();
	KUNIT_ASSERT_NOT_NULL(test, kdev->ended);
	logged[0] = 0;
	return kdev;
}

static void end_stream(struct kwarp_dev *kdev, kuid_t uid, u32 qpn)
{
	struct kwarp_ended rec = {
		.uid = uid,
		.pid = task_tgid(current),
		.qpn = qpn,
		.perr = KWARP_PERR_MPA_CRC,
		.program = "rping",
	};

	kwarp_ended_add(kdev, &rec);
}

/* Read all that @uid may see. Return: number; *@last: QP of the last one */
static u32 count(struct kwarp_dev *kdev, kuid_t uid, bool all, u32 *last)
{
	struct kwarp_ended rec;
	u64 after = 0;
	u32 n = 0;

	while (kwarp_ended_next(kdev->ended, after, uid, all, &rec)) {
		put_pid(rec.pid);
		if (rec.seq <= after)
			return 0;
		after = rec.seq;
		*last = rec.qpn;
		n++;
	}
	return n;
}

/* The oldest records give way, and none is left after the link. */
static void test_ring(struct kunit *test)
{
	struct kwarp_dev *kdev = make_device(test);
	struct pid *pid = task_tgid(current);
	unsigned int refs = refcount_read(&pid->count);
	struct kwarp_ended rec;
	u32 i, last = 0;

	KUNIT_EXPECT_EQ(test, count(kdev, LEAST, true, &last), 0);
	for (i = 1; i <= 3 * STREAMS; i++)
		end_stream(kdev, LEAST, i);
	KUNIT_EXPECT_EQ(test, count(kdev, LEAST, false, &last), STREAMS);
	KUNIT_EXPECT_EQ(test, last, 3 * STREAMS);
	KUNIT_EXPECT_EQ(test, refcount_read(&pid->count), refs + STREAMS);
	KUNIT_ASSERT_TRUE(test, kwarp_ended_next(kdev->ended, 0, LEAST, false, &rec));
	KUNIT_EXPECT_EQ(test, rec.seq, 2 * STREAMS + 1);
	put_pid(rec.pid);
	kwarp_ended_free(kdev->ended);
	KUNIT_EXPECT_EQ(test, refcount_read(&pid->count), refs);
}

/* A user sees his own programs' streams only, and an administrator all. */
static void test_whose(struct kunit *test)
{
	struct kwarp_dev *kdev = make_device(test);
	struct kwarp_ended kernel = { .uid = LEAST, .perr = KWARP_PERR_MPA_CRC, .qpn = 3 };
	u32 last = 0;

	end_stream(kdev, LEAST, 1);
	end_stream(kdev, OTHER, 2);
	kwarp_ended_add(kdev, &kernel);
	KUNIT_EXPECT_EQ(test, count(kdev, LEAST, false, &last), 1);
	KUNIT_EXPECT_EQ(test, last, 1);
	KUNIT_EXPECT_EQ(test, count(kdev, OTHER, false, &last), 1);
	KUNIT_EXPECT_EQ(test, last, 2);
	KUNIT_EXPECT_EQ(test, count(kdev, KUIDT_INIT(1002), false, &last), 0);
	KUNIT_EXPECT_EQ(test, count(kdev, KUIDT_INIT(1002), true, &last), 3);
	kwarp_ended_free(kdev->ended);
}

/* A user whose programs fail all the time does not push out what others want to read. */
static void test_share(struct kunit *test)
{
	struct kwarp_dev *kdev = make_device(test);
	u32 i, last = 0;

	for (i = 0; i < SHARE; i++)
		end_stream(kdev, OTHER, i);
	for (i = 0; i < 10 * STREAMS; i++)
		end_stream(kdev, LEAST, i);
	KUNIT_EXPECT_EQ(test, count(kdev, OTHER, false, &last), SHARE);
	KUNIT_EXPECT_EQ(test, count(kdev, LEAST, false, &last), STREAMS - SHARE);
	KUNIT_EXPECT_EQ(test, last, 10 * STREAMS - 1);
	kwarp_ended_free(kdev->ended);
}

static void fail_startup(struct kwarp_dev *kdev, enum kwarp_ended_kind kind, u32 qpn)
{
	struct kwarp_ended rec = {
		.kind = kind,
		.uid = kind == KWARP_ENDED_INBOUND ? INVALID_UID : LEAST,
		.pid = kind == KWARP_ENDED_INBOUND ? NULL : task_tgid(current),
		.qpn = qpn,
		.startup = "WAIT_REP",
		.no_start = "NO_REPLY",
		.no_start_text = "no Reply came",
	};

	kwarp_ended_add_startup(kdev, &rec);
}

/* A peer that sends garbage, and a program that connects in vain, push out nothing else. */
static void test_kinds(struct kunit *test)
{
	struct kwarp_dev *kdev = make_device(test);
	u32 i, last = 0;

	for (i = 0; i < STREAMS; i++)
		end_stream(kdev, LEAST, i);
	fail_startup(kdev, KWARP_ENDED_STARTUP, 1000);
	logged[0] = 0;
	for (i = 0; i < 10 * RING; i++)
		fail_startup(kdev, KWARP_ENDED_INBOUND, i);
	KUNIT_EXPECT_EQ(test, count(kdev, LEAST, false, &last), STREAMS + 1);
	KUNIT_EXPECT_EQ(test, last, 1000);
	KUNIT_EXPECT_EQ(test, count(kdev, LEAST, true, &last),
			STREAMS + 1 + quotas[KWARP_ENDED_INBOUND]);
	for (i = 0; i < 10 * RING; i++)
		fail_startup(kdev, KWARP_ENDED_STARTUP, i);
	KUNIT_EXPECT_EQ(test, count(kdev, LEAST, true, &last), RING);
	KUNIT_EXPECT_EQ(test, last, 10 * RING - 1);
	KUNIT_EXPECT_EQ(test, kdev->ended->n, RING);
	KUNIT_EXPECT_STREQ(test, logged, "");
	kwarp_ended_free(kdev->ended);
	kdev->ended = NULL;
	fail_startup(kdev, KWARP_ENDED_STARTUP, 1);
}

/* Peers that no program has accepted do not push out what root's program had to do with. */
static void test_strangers(struct kunit *test)
{
	struct kwarp_dev *kdev = make_device(test);
	struct kwarp_ended accepted = {
		.kind = KWARP_ENDED_INBOUND,
		.uid = GLOBAL_ROOT_UID,
		.pid = task_tgid(current),
		.qpn = 1000,
		.no_start = "CLOSED",
	};
	u32 i, last = 0;

	kwarp_ended_add_startup(kdev, &accepted);
	for (i = 0; i < 10 * RING; i++)
		fail_startup(kdev, KWARP_ENDED_INBOUND, i);
	KUNIT_EXPECT_EQ(test, count(kdev, GLOBAL_ROOT_UID, false, &last), 1);
	KUNIT_EXPECT_EQ(test, last, 1000);
}

static void test_no_memory(struct kunit *test)
{
	struct kwarp_dev *kdev = make_device(test);

	kwarp_ended_free(kdev->ended);
	kdev->ended = NULL;
	end_stream(kdev, LEAST, 1);
	KUNIT_EXPECT_STREQ(test, logged, "");
	kwarp_ended_free(NULL);
}

/* One line, limited in number, which a knob switches off. Names of programs are escaped. */
static void test_line(struct kunit *test)
{
	struct kwarp_dev *kdev = make_device(test);
	struct kwarp_ended rec = {
		.pid = task_tgid(current),
		.qpn = 7,
		.perr = KWARP_PERR_MPA_CRC,
		.program = "evil\nkw0: \033[31m",
		.local.in = { .sin_family = AF_INET, .sin_port = htons(7174),
			      .sin_addr.s_addr = htonl(0x0a000001) },
		.remote.in = { .sin_family = AF_INET, .sin_port = htons(40000),
			       .sin_addr.s_addr = htonl(0x0a000002) },
	};
	char want[200];
	int i;

	kwarp_ended_add(kdev, &rec);
	KUNIT_EXPECT_PTR_EQ(test, (char *)logged, strstr(logged, "connection 10.0.0.1:7174, "));
	snprintf(want, sizeof(want), "peer 10.0.0.2:40000: ended by MPA_CRC; %s (pid %d)\n",
		 "QP 7 of evil\\x0akw0: \\x1b[31m", pid_nr(rec.pid));
	KUNIT_EXPECT_STREQ(test, strstr(logged, "peer"), want);
	rec.pid = NULL;
	strscpy(rec.program, "nvme_rdma", sizeof(rec.program));
	kwarp_ended_add(kdev, &rec);
	KUNIT_EXPECT_STREQ(test, strstr(logged, "; "), "; QP 7 of nvme_rdma (kernel)\n");
	logged[0] = 0;
	kdev->knobs.log_errors = false;
	kwarp_ended_add(kdev, &rec);
	KUNIT_EXPECT_STREQ(test, logged, "");
	kdev->knobs.log_errors = true;
	for (i = 0; i < 2 * DEFAULT_RATELIMIT_BURST; i++) {
		logged[0] = 0;
		kwarp_ended_add(kdev, &rec);
	}
	KUNIT_EXPECT_STREQ(test, logged, "");
	kwarp_ended_free(kdev->ended);
}

#define KEY	0x12345678

#define ACCESS	", key 0x12345678, address 0x7000, 64 octets"

/* @text: continued by @more */
static const struct said {
	const char *text;
	const char *more;
	struct kwarp_ended rec;
	bool kernel;
} said[] = {
	{ "ended by DDP_T_STAG: the peer's Write" ACCESS,
	  ": no region or window has this key: it is wrong, or was deregistered",
	  { .perr = KWARP_PERR_DDP_T_STAG,
	    .refused = { .why = KWARP_WHY_STAG, .perr = KWARP_PERR_DDP_T_STAG, .stag = KEY,
			 .addr = 0x7000, .len = 64 } } },
	{ "ended by DDP_T_STAG: the peer's Write" ACCESS,
	  ": the key's last octet is wrong, or of an earlier registration",
	  { .perr = KWARP_PERR_DDP_T_STAG,
	    .refused = { .why = KWARP_WHY_STAG, .perr = KWARP_PERR_DDP_T_STAG, .stag = KEY,
			 .addr = 0x7000, .len = 64, .found = true, .mr_stag = KEY + 1 } } },
	{ "ended by DDP_T_STAG: the peer's Write" ACCESS,
	  ": the region or window does not give remote-write, only local-read,local-write",
	  { .perr = KWARP_PERR_DDP_T_STAG,
	    .refused = { .why = KWARP_WHY_RIGHT, .perr = KWARP_PERR_DDP_T_STAG, .stag = KEY,
			 .addr = 0x7000, .len = 64, .rights = IB_ACCESS_REMOTE_WRITE,
			 .found = true, .mr_stag = KEY, .mr_access = IB_ACCESS_LOCAL_WRITE } } },
	{ "ended by R_BOUNDS: the peer's Read" ACCESS,
	  ": the region or window is 32 octets at 0x7000",
	  { .perr = KWARP_PERR_R_BOUNDS,
	    .refused = { .why = KWARP_WHY_BOUNDS, .op = KWARP_REFUSED_READ,
			 .perr = KWARP_PERR_R_BOUNDS, .stag = KEY, .addr = 0x7000, .len = 64,
			 .found = true, .mr_stag = KEY, .mr_va = 0x7000, .mr_len = 32 } } },
	/* No pointer of the kernel is told. */
	{ "ended by R_BOUNDS: the peer's Read, key 0x12345678, 64 octets",
	  ": the region or window has only 32 octets",
	  { .perr = KWARP_PERR_R_BOUNDS,
	    .refused = { .why = KWARP_WHY_BOUNDS, .op = KWARP_REFUSED_READ,
			 .perr = KWARP_PERR_R_BOUNDS, .stag = KEY, .addr = 0x7000, .len = 64,
			 .found = true, .hidden = true, .mr_stag = KEY, .mr_len = 32 } }, true },
	{ "ended by DDP_U_NOBUF: the peer's message: no receive is posted", "",
	  { .perr = KWARP_PERR_DDP_U_NOBUF,
	    .refused = { .why = KWARP_WHY_NO_RECEIVE, .op = KWARP_REFUSED_SEND,
			 .perr = KWARP_PERR_DDP_U_NOBUF } } },
	{ "ended by DDP_U_LONG: the peer's message",
	  ": it has 64 octets or more, and the receive has room for 32",
	  { .perr = KWARP_PERR_DDP_U_LONG,
	    .refused = { .why = KWARP_WHY_LONG, .op = KWARP_REFUSED_SEND,
			 .perr = KWARP_PERR_DDP_U_LONG, .len = 64, .mr_len = 32 } } },
	/* What is noted is about another error. */
	{ "ended by MPA_CRC", "",
	  { .perr = KWARP_PERR_MPA_CRC,
	    .refused = { .why = KWARP_WHY_LONG, .perr = KWARP_PERR_DDP_U_LONG } } },
	{ "the peer says DDP_T_STAG (0x1100) about our Write", ACCESS,
	  { .has_term = true, .term = 0x1100, .term_perr = KWARP_PERR_DDP_T_STAG,
	    .blamed = KWARP_BLAMED_TAGGED, .blamed_stag = KEY, .blamed_addr = 0x7000,
	    .blamed_len = 64 } },
	{ "the peer says R_STAG (0x0100) about our Read", ", key 0x12345678, 64 octets",
	  { .has_term = true, .term = 0x0100, .term_perr = KWARP_PERR_R_STAG,
	    .blamed = KWARP_BLAMED_READ, .blamed_stag = KEY, .blamed_addr = 0x7000,
	    .blamed_len = 64 }, true },
	{ "the peer says DDP_U_NOBUF (0x1202)", " about our message number 3",
	  { .has_term = true, .term = 0x1202, .term_perr = KWARP_PERR_DDP_U_NOBUF,
	    .blamed = KWARP_BLAMED_MESSAGE, .blamed_msn = 3 } },
	{ "the peer says OTHER (0x2fff)", "", { .has_term = true, .term = 0x2fff } },
	{ "lost: the peer has reset it (ECONNRESET)", "", { .err = ECONNRESET } },
	{ "lost: the peer has reset it (ECONNRESET)", "",
	  { .err = EPIPE, .perr = KWARP_PERR_MPA_LOST } },
	{ "lost: the peer did not answer for too long (ETIMEDOUT)", "", { .err = ETIMEDOUT } },
	{ "lost: there is no way to the peer any more (EHOSTUNREACH)", "",
	  { .err = EHOSTUNREACH } },
	{ "lost: there is no way to the peer any more (EHOSTUNREACH)", "",
	  { .err = ENETUNREACH } },
	{ "lost: ended on this machine, as by ss -K (ECONNABORTED)", "",
	  { .err = ECONNABORTED } },
	{ "lost: the peer has closed it in the middle of a message", "", { .cut = true } },
	/* Nobody looks for a mistake that was not made. */
	{ "lost: this end has reset it: a posted request",
	  ": a fault was injected: see kwarpctl fault",
	  { .perr = KWARP_PERR_MPA_LOST,
	    .refused = { .why = KWARP_WHY_INJECTED, .op = KWARP_REFUSED_REQUEST,
			 .perr = KWARP_PERR_MPA_LOST } } },
	{ "ended by DDP_U_NOBUF: the peer's message",
	  ": a fault was injected: see kwarpctl fault",
	  { .perr = KWARP_PERR_DDP_U_NOBUF,
	    .refused = { .why = KWARP_WHY_INJECTED, .op = KWARP_REFUSED_SEND,
			 .perr = KWARP_PERR_DDP_U_NOBUF } } },
	{ "ended with an error", "", { .err = EIO } },
	{ "no Reply came", "", { .kind = KWARP_ENDED_STARTUP, .no_start_text = "no Reply came",
				 .err = ETIMEDOUT } },
};

static void test_text(struct kunit *test)
{
	char text[KWARP_ENDED_TEXT], want[KWARP_ENDED_TEXT];
	struct kwarp_ended rec;
	int i;

	for (i = 0; i < ARRAY_SIZE(said); i++) {
		snprintf(want, sizeof(want), "%s%s", said[i].text, said[i].more);
		rec = said[i].rec;
		rec.pid = said[i].kernel ? NULL : task_tgid(current);
		kwarp_ended_text(&rec, text, sizeof(text));
		KUNIT_EXPECT_STREQ(test, text, want);
	}
}

/* Each check has a text that fits, even with the longest numbers. */
static void test_text_room(struct kunit *test)
{
	struct kwarp_ended rec = {
		.pid = task_tgid(current),
		.perr = KWARP_PERR_DDP_T_BOUNDS,
		.refused = { .perr = KWARP_PERR_DDP_T_BOUNDS, .stag = U32_MAX, .addr = U64_MAX,
			     .len = U64_MAX, .rights = 31, .found = true, .mr_stag = U32_MAX,
			     .mr_va = U64_MAX, .mr_len = U64_MAX },
	};
	char text[KWARP_ENDED_TEXT];
	int why, op;

	for (why = KWARP_WHY_STAG; why < KWARP_WHY_COUNT; why++)
		for (op = 0; op < KWARP_REFUSED_COUNT; op++) {
			rec.refused.why = why;
			rec.refused.op = op;
			kwarp_ended_text(&rec, text, sizeof(text));
			KUNIT_EXPECT_LT(test, strlen(text), sizeof(text) - 1);
			KUNIT_EXPECT_NE(test, text[strlen(text) - 1], ' ');
			KUNIT_EXPECT_NOT_NULL(test, kwarp_why_name(why));
		}
}

static struct kunit_case ended_cases[] = {
	KUNIT_CASE(test_ring),
	KUNIT_CASE(test_whose),
	KUNIT_CASE(test_share),
	KUNIT_CASE(test_kinds),
	KUNIT_CASE(test_strangers),
	KUNIT_CASE(test_no_memory),
	KUNIT_CASE(test_line),
	KUNIT_CASE(test_text),
	KUNIT_CASE(test_text_room),
	{}
};

static struct kunit_suite ended_suite = {
	.name = "kwarp_ended",
	.test_cases = ended_cases,
};

kunit_test_suite(ended_suite);
