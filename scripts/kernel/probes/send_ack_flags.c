// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Linux 6.11: __tcp_send_ack() has a third parameter, flags. */
#include <net/tcp.h>

void probe(struct sock *sk);
void probe(struct sock *sk)
{
	__tcp_send_ack(sk, 0, 0);
}
