/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The memory cgroup that is charged for a socket of connection management. */
#ifndef KWARP_CM_SOCK_MEMCG_H
#define KWARP_CM_SOCK_MEMCG_H

struct kwarp_cm_sock;
struct mem_cgroup;
struct socket;

struct mem_cgroup *kwarp_cm_sock_memcg(const struct kwarp_cm_sock *cs);
void kwarp_cm_sock_charge(struct socket *sock);

#endif /* KWARP_CM_SOCK_MEMCG_H */
