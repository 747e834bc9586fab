/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of sock.c, the callbacks of the TCP socket: a TCP connection over lo, with
 * an engine at one end. The parser is the real one, and what it reports is counted.
 */
#ifndef KWARP_ENGINE_TESTS_SOCK_FIXTURE_H
#define KWARP_ENGINE_TESTS_SOCK_FIXTURE_H

#include <kunit/test.h>
#include <linux/workqueue.h>

#include "../../kwarp.h"
#include "../rx/rx.h"
#include "../tcp.h"

#define WIRE_MAX	(256 * 1024)
#define PATIENCE_MS	10000

/*
 * @ours: the socket at the end that has the engine
 * @theirs: the socket at the other end, from which the test sends
 * @filled: octets of @wire that were sent so far to fill the receive buffer of @ours
 * @ends_at_eof: value of @ends at the first call of kwarp_rx_eof()
 * @polls: number of times that the engine has asked for a poll, that is, for kwarp_sock_drain() in
 *	process context
 * @served: value of @polls when the test last called kwarp_sock_drain() for it
 * @runs: receive runs, that is, how often sock.c has read what the socket holds
 * @laters: times that sock.c has scheduled its tasklet, to read later
 * @short_ms: milliseconds during which there is no memory for a stash, from the first poll on; 0:
 *	there is memory
 * @no_receive: a segment that waits for a receive still does
 * @memory: work item that makes memory available again after @short_ms
 */
struct sock_test {
	struct kwarp_engine e;
	struct socket *ours, *theirs;
	u8 *wire;
	u32 len;
	u32 filled;
	u32 ends;
	u32 octets;
	u32 ends_at_eof;
	u32 polls;
	u32 served;
	u32 runs;
	u32 laters;
	u32 fins;
	u32 resets;
	u32 short_ms;
	bool no_receive;
	struct delayed_work memory;
};

/* The memory of all sockets is short. */
extern bool sock_is_short;
/* A task waits for this processor. */
extern bool sock_resched;
/* ACKs that kwarp_tcp_ack() has sent. */
extern u32 sock_acks;

int sock_test_init(struct kunit *test);
void sock_test_exit(struct kunit *test);
void sock_connect_pair(struct kunit *test, int rcvbuf, int mss);
void sock_add_fpdu(struct sock_test *t, u32 ulpdu_len);
void sock_add_segment(struct sock_test *t, u32 ulpdu_len, bool last);
int sock_send_now(struct sock_test *t, u32 from, u32 len, int flags);
bool sock_soon(const u32 *what, u32 value);
bool sock_send_all(struct sock_test *t, u32 each, u32 fpdus);

#endif /* KWARP_ENGINE_TESTS_SOCK_FIXTURE_H */
