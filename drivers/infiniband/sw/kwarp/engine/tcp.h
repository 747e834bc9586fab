/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The stream's TCP socket: calls into TCP, and its callbacks, the source of inbound octets. */
#ifndef KWARP_ENGINE_TCP_H
#define KWARP_ENGINE_TCP_H

#include <linux/types.h>

struct kwarp_engine;
struct msghdr;
struct sock;
struct socket;

int kwarp_tcp_send(struct socket *sock, struct msghdr *msg, bool locked);
bool kwarp_tcp_charge(struct socket *sock, int octets);
void kwarp_tcp_uncharge(struct socket *sock, int octets);
bool kwarp_tcp_try_call_locked(struct socket *sock, void (*fn)(struct kwarp_engine *e),
			       struct kwarp_engine *e);
bool kwarp_tcp_call_locked(struct socket *sock, void (*fn)(struct kwarp_engine *e),
			   struct kwarp_engine *e);
void kwarp_tcp_ack(struct sock *sk);
void kwarp_tcp_shutdown(struct socket *sock);
bool kwarp_tcp_writable(struct socket *sock);
u32 kwarp_tcp_emss(const struct socket *sock);
u32 kwarp_tcp_window(const struct socket *sock);
u32 kwarp_tcp_packet(const struct socket *sock, u32 emss, u32 most);

void kwarp_sock_init(struct kwarp_engine *e);
int kwarp_sock_install(struct kwarp_engine *e, struct socket *sock);
bool kwarp_sock_has_news(const struct kwarp_engine *e);
void kwarp_sock_remove(struct kwarp_engine *e);
void kwarp_sock_drain(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TCP_H */
