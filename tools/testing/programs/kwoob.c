// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * For LD_PRELOAD: moves the ordinary TCP sockets of a program to another port.
 *
 * The program cmtime of librdmacm listens on one port with the connection manager and, for its own
 * side channel, with an ordinary socket. With RDMA hardware these are two port spaces; with a
 * software RNIC both are ports of the kernel's TCP. With this library a program's bind() and
 * connect() use a port that is KWOOB_SHIFT (default 1) higher, at both ends.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

typedef int (*address_call)(int, const struct sockaddr *, socklen_t);

static in_port_t shifted(in_port_t port)
{
	const char *by = getenv("KWOOB_SHIFT");

	return htons(ntohs(port) + (by ? atoi(by) : 1));
}

static int call_shifted(const char *name, int fd, const struct sockaddr *addr, socklen_t len)
{
	address_call next = (address_call)dlsym(RTLD_NEXT, name);
	struct sockaddr_storage copy = { 0 };
	struct sockaddr_in *in = (struct sockaddr_in *)&copy;
	socklen_t type_len = sizeof(int);
	int type = 0;

	if (len > sizeof(copy) || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) ||
	    type != SOCK_STREAM)
		return next(fd, addr, len);
	memcpy(&copy, addr, len);
	/* The port is at the same place in both families. */
	if (copy.ss_family == AF_INET || copy.ss_family == AF_INET6)
		in->sin_port = shifted(in->sin_port);
	return next(fd, (struct sockaddr *)&copy, len);
}

int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	return call_shifted("bind", fd, addr, len);
}

int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	return call_shifted("connect", fd, addr, len);
}
