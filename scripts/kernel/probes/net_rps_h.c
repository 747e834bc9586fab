// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 6.9 sock_rps_record_flow() is not in net/sock.h, but in net/rps.h. */
#include <net/rps.h>

void probe(const struct sock *sk);
void probe(const struct sock *sk)
{
	sock_rps_record_flow(sk);
}
