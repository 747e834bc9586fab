// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* 6.3: sk_data_ready callbacks are traced */
#include <net/sock.h>
#include <trace/events/sock.h>

void probe(struct sock *sk);
void probe(struct sock *sk)
{
	trace_sk_data_ready(sk);
}
