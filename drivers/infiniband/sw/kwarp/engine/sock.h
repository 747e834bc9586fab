/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The only place that installs socket callbacks, reads from the socket or writes to it. */
#ifndef KWARP_ENGINE_SOCK_H
#define KWARP_ENGINE_SOCK_H

#include <linux/types.h>

struct kwarp_engine;
struct msghdr;
struct socket;

int kwarp_sock_install(struct kwarp_engine *e, struct socket *sock);
void kwarp_sock_remove(struct kwarp_engine *e);
void kwarp_sock_drain(struct kwarp_engine *e);
int kwarp_sock_send(struct socket *sock, struct msghdr *msg, bool locked);
bool kwarp_sock_charge(struct socket *sock, int octets);
void kwarp_sock_uncharge(struct socket *sock, int octets);
bool kwarp_sock_run(struct socket *sock, void (*run)(struct kwarp_engine *e),
		    struct kwarp_engine *e);
void kwarp_sock_shutdown(struct socket *sock);
bool kwarp_sock_writable(struct socket *sock);
u32 kwarp_sock_emss(const struct socket *sock);

#endif /* KWARP_ENGINE_SOCK_H */
