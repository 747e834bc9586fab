/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The memory cgroup that is charged for a socket of connection management. */
#ifndef KWARP_CM_SOCK_MEMCG_H
#define KWARP_CM_SOCK_MEMCG_H

struct kwarp_cm_sock;
struct mem_cgroup;
struct pid;
struct socket;

struct mem_cgroup *kwarp_cm_sock_memcg(const struct kwarp_cm_sock *cs);
struct mem_cgroup *kwarp_cm_process_memcg(struct pid *pid);
void kwarp_cm_sock_charge_to(struct socket *sock, struct pid *pid);

#endif /* KWARP_CM_SOCK_MEMCG_H */
