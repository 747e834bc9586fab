// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* 6.10: proto_ops.accept() takes struct proto_accept_arg */
#include <net/sock.h>
#include <linux/net.h>

int probe(struct socket *sock, struct socket *new, struct proto_accept_arg *arg);
int probe(struct socket *sock, struct socket *new, struct proto_accept_arg *arg)
{
	return sock->ops->accept(sock, new, arg);
}
