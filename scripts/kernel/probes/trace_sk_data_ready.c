// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 6.3 there is a tracepoint for calls of sk_data_ready(). */
#include <net/sock.h>
#include <trace/events/sock.h>

void probe(struct sock *sk);
void probe(struct sock *sk)
{
	trace_sk_data_ready(sk);
}
