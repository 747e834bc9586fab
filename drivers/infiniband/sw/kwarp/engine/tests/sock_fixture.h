/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixture of the tests of sock.c, the callbacks of the TCP socket: a TCP connection over lo, with
 * an engine at one end. The parser is the real one, and what it reports is counted. Stash: buffer
 * of the engine for an FPDU that TCP cannot keep until the FPDU is complete.
 */
#ifndef KWARP_ENGINE_TESTS_SOCK_FIXTURE_H
#define KWARP_ENGINE_TESTS_SOCK_FIXTURE_H

#include <kunit/test.h>
#include <linux/workqueue.h>

#define kwarp_rx_feed		sock_rx_feed
#define kwarp_rx_feed_skb	sock_rx_feed_skb
#define kwarp_rx_accept_series	sock_rx_accept_series
#define kwarp_rx_end_run	sock_rx_end_run
#define kwarp_rx_eof		sock_rx_eof
#define kwarp_rx_skb		sock_rx_skb
#define kwarp_rx_make_stash	sock_rx_make_stash
#define kwarp_rx_free_stash	sock_rx_free_stash
#define kwarp_engine_lost	sock_engine_lost
#define kwarp_engine_fail	sock_engine_fail
#define kwarp_tx_kick		sock_tx_kick
#define kwarp_wq		system_wq
#define kwarp_sock_init		real_sock_init
#define kwarp_sock_install	real_sock_install
#define kwarp_sock_remove	real_sock_remove
#define kwarp_sock_drain	real_sock_drain
#define kwarp_tcp_send		real_tcp_send
#define kwarp_tcp_call_locked	real_tcp_call_locked
#define kwarp_tcp_charge	real_tcp_charge
#define kwarp_tcp_uncharge	real_tcp_uncharge
#define kwarp_tcp_shutdown	real_tcp_shutdown
#define kwarp_tcp_writable	real_tcp_writable
#define kwarp_tcp_ack		real_tcp_ack
#define kwarp_tcp_emss		real_tcp_emss
#define kwarp_tcp_window	real_tcp_window
#define kwarp_tcp_packet	real_tcp_packet
#include "../../kwarp.h"
#include "../rx/stash.h"
#include "../sock.h"
#include "../tcp.h"

#define WIRE_MAX	(256 * 1024)
#define PATIENCE_MS	10000

/**
 * struct sock_test - both ends of the connection
 * @e: engine on @ours
 * @ours: the socket at the end that has the engine
 * @theirs: the socket at the other end, from which the test sends
 * @wire: octets of the stream to be sent
 * @len: number of octets in @wire
 * @filled: octets of @wire that were sent so far to fill the receive buffer of @ours
 * @ends: FPDUs that the parser has reported
 * @octets: octets of payload that the parser has reported
 * @ends_at_eof: value of @ends at the first call of kwarp_rx_eof()
 * @polls: number of times that the engine has asked for a poll, that is, for kwarp_sock_drain() in
 *	process context
 * @served: value of @polls when the test last called kwarp_sock_drain() for it
 * @fins: number of FINs reported
 * @resets: number of resets reported
 * @short_ms: milliseconds during which there is no memory for a stash, from the first poll on; 0:
 *	there is memory
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
	u32 fins;
	u32 resets;
	u32 short_ms;
	struct delayed_work memory;
};

/* The memory of all sockets is short. */
extern bool sock_is_short;

int sock_test_init(struct kunit *test);
void sock_test_exit(struct kunit *test);
void sock_connect_pair(struct kunit *test, int rcvbuf, int mss);
void sock_add_fpdu(struct sock_test *t, u32 ulpdu_len);
int sock_send_now(struct sock_test *t, u32 from, u32 len, int flags);
bool sock_send_all(struct sock_test *t, u32 each, u32 fpdus);

#endif /* KWARP_ENGINE_TESTS_SOCK_FIXTURE_H */
