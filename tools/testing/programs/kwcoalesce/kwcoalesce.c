// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwcoalesce is a test program for held requests. Held: the device does not send a posted request
 * at once, but waits for more, to send them together. Which event makes the device send them?
 *
 *	kwcoalesce -a addr [-p port] [-n rounds] [-u us] [-o] [-v] CASE
 *
 * Both ends of a connection are in this process, over the device with that address.  The device
 * holds requests of a send queue until the program polls and finds no completion, or asks for an
 * event.  If the program does neither, a timer sends the requests.  The device counts how often the
 * timer does that (coalesce_timeouts); after each time, and at the start of a CQ, it holds
 * none of the next 1024 requests.
 *
 * Each case repeats what this list says; -n is how often (rounds):
 *
 * poll		a few Writes, then a poll, which has to send the held Writes
 * arm		a few Writes, then a request for an event, which has to send the held Writes
 * sleep	Sends to and fro: after each Send the program sleeps until the Send has arrived
 * leave	Writes one after the other, and no poll between them: the timer sends them
 * delay	many Writes with polls, then a Write that is not followed by a poll: how long does
 *		it take?
 * server	Sends to and fro: one end polls, at the other end one thread sleeps until a
 *		message comes, and another posts the answer
 * spin		a poll and a Write; then the program reads the target until the Write has arrived
 * realtime	the same with SCHED_FIFO, which may keep the timer off the processor
 *
 * -u	case delay: 99 of 100 Writes have to arrive within this time; 0 (default): in any time
 * -o	the device is known to hold no requests: the timer must not send any
 */
#define _GNU_SOURCE
#include "pair.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *addr, *port = "7175";
static unsigned int rounds, within_us;
static bool off;

/* Requests that the device does not hold at the start, and after one that the timer has sent. */
#define OBEYED		1024
/* Longer than a hold lasts without a poll. */
#define HOLD_END_US	20000

/* Write until the device may hold requests, and hold none now. */
static void write_many(struct kc_pair *p)
{
	unsigned int i, n;

	for (n = 0; n <= OBEYED; n += i) {
		for (i = 0; i < 8; i++)
			kc_post_write(p);
		kc_poll_all(&p->a);
	}
}

/*
 * Post a few Writes. If they are held, call @idle (a poll, or a request for an event), which tells
 * the device that the program has nothing else to do, so that the device must send the Writes.
 */
static void write_and(struct kc_pair *p, void (*idle)(struct kc_end *e, int which), int which)
{
	int i;

	for (i = 0; i < 3; i++)
		kc_post_write(p);
	if (!kc_arrived(p)) {
		p->held++;
		idle(&p->a, which);
		p->missed += !kc_arrived(p);
	}
	kc_spin_until_arrived(p);
	kc_poll_all(&p->a);
}

/* Polling either of the two completion queues has to send the held Writes. */
static void run_poll(struct kc_pair *p)
{
	write_and(p, kc_poll_cq, p->held % 2);
}

/*
 * A request for an event has to send the held Writes. The event is never read: a Write that
 * completes raises it, so the next round requests a new one.
 */
static void run_arm(struct kc_pair *p)
{
	write_and(p, kc_arm, 0);
}

/*
 * Send a message. One Send in eight is signaled: its completion frees its place in the send queue,
 * and those of the Sends before it.
 */
static void send_to(struct kc_end *from, struct kc_end *to)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	if (++from->posted % 8 == 0)
		wr.send_flags = IBV_SEND_SIGNALED;
	kc_post_recv(to);
	kc_post_request(from, &wr, 1);
}

static void sleep_until_event(struct kc_end *e)
{
	struct pollfd fd = { .fd = e->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, KC_WAIT_MS) != 1)
		kw_die(KW_STALL, "FAILED: no event");
	if (ibv_get_cq_event(e->channel, &cq, &context))
		kw_die(KW_LOST, "cannot get an event");
	ibv_ack_cq_events(cq, 1);
}

/* Sleep until a message arrives.  On return an event for the next message is requested. */
static void hear(struct kc_end *e)
{
	unsigned int before = e->heard;

	for (;;) {
		kc_arm(e, 1);
		kc_poll_cq(e, 0);
		kc_poll_cq(e, 1);
		if (e->heard != before)
			return;
		sleep_until_event(e);
	}
}

static void run_sleep(struct kc_pair *p)
{
	if (!p->round)
		kc_arm(&p->a, 1);
	send_to(&p->a, &p->b);
	hear(&p->b);
	send_to(&p->b, &p->a);
	hear(&p->a);
}

/*
 * Poll, and then write without a poll. After a poll the device holds the requests of the next
 * doorbell, so that only the timer can send them.
 */
static void run_leave(struct kc_pair *p)
{
	int i;

	kc_poll_all(&p->a);
	for (i = 0; i < 4; i++) {
		kc_post_write(p);
		kc_spin_until_arrived(p);
	}
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

/* After so many Writes that left in time a late one does not stop the device from holding. */
static void run_delay(struct kc_pair *p)
{
	uint64_t begin;

	write_many(p);
	begin = now_us();
	kc_post_write(p);
	p->held += !kc_arrived(p);
	kc_spin_until_arrived(p);
	p->us[p->round] = now_us() - begin;
	kc_poll_all(&p->a);
}

/* The second thread of the server: it posts an answer for each message. */
static void *answer_all(void *arg)
{
	struct kc_pair *p = arg;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		while (sem_wait(&p->jobs))
			;
		send_to(&p->b, &p->a);
	}
	return NULL;
}

static void *serve(void *arg)
{
	struct kc_pair *p = arg;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		hear(&p->b);
		sem_post(&p->jobs);
	}
	return NULL;
}

static void run_server(struct kc_pair *p)
{
	unsigned int before = p->a.heard;
	int64_t until = kw_now_ms() + KC_WAIT_MS;

	if (!p->round && (sem_init(&p->jobs, 0, 0) ||
			  pthread_create(&p->thread[0], NULL, serve, p) ||
			  pthread_create(&p->thread[1], NULL, answer_all, p)))
		kw_die(KW_SETUP, "cannot start the server");
	send_to(&p->a, &p->b);
	while (p->a.heard == before) {
		kc_poll_cq(&p->a, 0);
		kc_poll_cq(&p->a, 1);
		if (kw_now_ms() > until)
			kw_die(KW_STALL, "FAILED: no answer");
	}
	if (p->round != rounds - 1)
		return;
	pthread_join(p->thread[0], NULL);
	pthread_join(p->thread[1], NULL);
}

static void run_spin(struct kc_pair *p)
{
	kc_poll_all(&p->a);
	kc_post_write(p);
	kc_spin_until_arrived(p);
}

static void be(int policy, int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, policy, &param))
		kw_die(KW_SETUP, "cannot change the policy: %s", strerror(errno));
}

static void stay_on_processor(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		kw_die(KW_SETUP, "cannot stay on a processor: %s", strerror(errno));
}

static void run_realtime(struct kc_pair *p)
{
	if (!p->round) {
		stay_on_processor();
		be(SCHED_FIFO, 50);
	}
	run_spin(p);
	/* Give up real-time priority, because other tasks take part in ending the connection. */
	if (p->round == rounds - 1)
		be(SCHED_OTHER, 0);
}

/**
 * struct test - a case
 * @round: what a round does
 * @rounds: number of rounds without option -n
 * @least: how often the timer has to send requests, at least
 * @most: how often the timer may send requests, for each thousand rounds
 * @shows: Writes have to be held, and to be sent by the poll or the request for an event
 *
 * @most is not 0 where a poll has to send the Writes, because the program may lose its processor
 * just before the poll.
 */
static const struct test {
	const char *name;
	void (*round)(struct kc_pair *p);
	unsigned int rounds, least, most;
	bool shows;
} tests[] = {
	{ "poll", run_poll, 1000, 0, 10, true },
	{ "arm", run_arm, 1000, 0, 10, true },
	/*
	 * Neither end polls in time, so the device holds one of OBEYED requests of each end, and
	 * later even fewer.
	 */
	{ "sleep", run_sleep, 4096, 0, 2, false },
	{ "leave", run_leave, 20, 1, 100, false },
	{ "delay", run_delay, 100, 5, 2000, false },
	{ "server", run_server, 2048, 0, 2, false },
	/* After the first timeout the device holds none of the rounds that are left. */
	{ "spin", run_spin, 300, 0, 7, false },
	{ "realtime", run_realtime, 300, 0, 0, false },
};

static const struct test *find_test(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (!strcmp(tests[i].name, name))
			return &tests[i];
	kw_die(KW_SETUP, "no case %s", name);
}

static unsigned long timeouts(struct kc_pair *p)
{
	const char *dev = ibv_get_device_name(p->a.id->verbs->device);
	unsigned long n;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/kwarp/coalesce_timeouts", dev);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lu", &n) != 1)
		kw_die(KW_SETUP, "cannot read %s", path);
	fclose(f);
	return n;
}

static int compare_us(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void judge_delay(struct kc_pair *p)
{
	unsigned int late;

	qsort(p->us, rounds, sizeof(p->us[0]), compare_us);
	late = p->us[(rounds * 99 - 1) / 100];
	kw_say("delay: median %u us, 99 %% within %u us", p->us[rounds / 2], late);
	if (within_us && late > within_us)
		kw_die(KW_MISMATCH, "FAILED: 99 %% must arrive within %u us", within_us);
}

static void judge(const struct test *t, struct kc_pair *p, unsigned long sent)
{
	unsigned int least = off ? 0 : t->least, most = off ? 0 : rounds * t->most / 1000;

	kw_say("%s: %u rounds, %lu with the timer, %u held, %u of them for longer, %lld ms at most",
	       t->name, rounds, sent, p->held, p->missed, (long long)p->late);
	if (sent < least || sent > most)
		kw_die(KW_MISMATCH, "FAILED: %s: the timer must send in %u to %u rounds", t->name,
		       least, most);
	if (p->us)
		judge_delay(p);
	if (off || !t->shows)
		return;
	if (!p->held)
		kw_die(KW_MISMATCH, "FAILED: %s: nothing was held", t->name);
	if (2 * p->missed > p->held)
		kw_die(KW_MISMATCH, "FAILED: %s: it did not send what was held", t->name);
}

static void run(const struct test *t)
{
	struct kc_pair p = { 0 };
	unsigned long before;
	unsigned int i;

	kc_connect_pair(&p, addr, port);
	write_many(&p);
	usleep(HOLD_END_US);
	if (t->round == run_delay)
		p.us = kw_zalloc(rounds * sizeof(p.us[0]));
	before = timeouts(&p);
	for (i = 0; i < rounds; i++, p.round++)
		t->round(&p);
	judge(t, &p, timeouts(&p) - before);
	kc_disconnect_pair(&p);
}

int main(int argc, char **argv)
{
	static const char usage[] =
		"kwcoalesce -a addr [-p port] [-n rounds] [-u us] [-o] [-v] CASE";
	const struct kw_option table[] = {
		KW_TEXT('a', addr),
		KW_TEXT('p', port),
		KW_NUMBER('n', rounds, 1, 1000000),
		KW_NUMBER('u', within_us, 0, 1000000),
		KW_FLAG('o', off),
		{ 0 }
	};
	const struct test *t;
	int at;

	at = kw_options(argc, argv, table, usage);
	if (!addr || at != argc - 1)
		kw_usage(usage);
	t = find_test(argv[at]);
	if (!rounds)
		rounds = t->rounds;
	run(t);
	return KW_OK;
}
