// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 6.2 a socket says whether it may use the task's page fragment. */
#include <net/sock.h>

void probe(struct sock *sk);
void probe(struct sock *sk)
{
	sk->sk_use_task_frag = false;
}
