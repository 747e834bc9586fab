// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Sockets of connection management: the memory cgroup that is charged for a socket. */
#include "sock_memcg.h"

#include <linux/memcontrol.h>
#include <net/sock.h>

#include "sock_hook.h"

#ifdef CONFIG_MEMCG
/* Return: memory cgroup of the task that made the socket; NULL: root cgroup, or no socket. */
struct mem_cgroup *kwarp_cm_sock_memcg(const struct kwarp_cm_sock *cs)
{
	/* No lock: a listening socket's cgroup does not change after the socket is made. */
	return cs->sock ? cs->sock->sk->sk_memcg : NULL;
}

/*
 * Charge the socket to the memory cgroup of the current task. TCP charges it in accept(), but kwarp
 * calls accept() in a kernel thread, whose cgroup is the root.
 */
static void charge_to_current(struct sock *sk)
{
	struct mem_cgroup *memcg;

	rcu_read_lock();
	memcg = mem_cgroup_from_task(current);
	/* The root cgroup, which has no parent, counts nothing. */
	if (memcg && memcg->css.parent && css_tryget(&memcg->css))
		sk->sk_memcg = memcg;
	rcu_read_unlock();
}

/* Has the socket no memory charged? Its memory cgroup may be changed only then. */
static bool holds_nothing(struct sock *sk)
{
	if (sk_rmem_alloc_get(sk) || READ_ONCE(sk->sk_wmem_queued) || sk->sk_backlog.len)
		return false;
	sk_mem_reclaim(sk);
	return !sk->sk_forward_alloc;
}

/**
 * kwarp_cm_sock_charge - charge the memory of an accepted connection to the ULP's memory cgroup
 * @sock: from kwarp_cm_sock_accept(); the MPA Request has been read from it
 *
 * The root cgroup stays charged in three cases: the peer has sent octets after its Request, which
 * it must not do; the caller is a kernel thread; cgroups are version 1.
 *
 * Context: process, that of the ULP's call.
 */
void kwarp_cm_sock_charge(struct socket *sock)
{
	struct sock *sk = sock->sk;

	might_sleep();
	if (!mem_cgroup_sockets_enabled || !cgroup_subsys_on_dfl(memory_cgrp_subsys))
		return;
	lock_sock(sk);
	if (!sk->sk_memcg && holds_nothing(sk))
		charge_to_current(sk);
	release_sock(sk);
}
#else
struct mem_cgroup *kwarp_cm_sock_memcg(const struct kwarp_cm_sock *cs)
{
	return NULL;
}

void kwarp_cm_sock_charge(struct socket *sock)
{
}
#endif
