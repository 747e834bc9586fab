// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 6.19 kernel_bind() and kernel_connect() take struct sockaddr_unsized. */
#include <linux/in.h>
#include <linux/net.h>

int probe(struct socket *sock, struct sockaddr_unsized *addr);
int probe(struct socket *sock, struct sockaddr_unsized *addr)
{
	return kernel_bind(sock, addr, sizeof(struct sockaddr_in));
}
