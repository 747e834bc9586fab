// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* 6.9: sock_rps_record_flow() moved from net/sock.h to a header of its own */
#include <net/rps.h>

void probe(const struct sock *sk);
void probe(const struct sock *sk)
{
	sock_rps_record_flow(sk);
}
