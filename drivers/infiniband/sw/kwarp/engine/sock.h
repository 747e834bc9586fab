/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The callbacks of a stream's TCP socket: the source of inbound octets. */
#ifndef KWARP_ENGINE_SOCK_H
#define KWARP_ENGINE_SOCK_H

#include <linux/types.h>

struct kwarp_engine;
struct socket;

void kwarp_sock_init(struct kwarp_engine *e);
int kwarp_sock_install(struct kwarp_engine *e, struct socket *sock);
bool kwarp_sock_has_news(const struct kwarp_engine *e);
void kwarp_sock_remove(struct kwarp_engine *e);
void kwarp_sock_drain(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_SOCK_H */
