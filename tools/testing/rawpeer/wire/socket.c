// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections of kwrawpeer and kwtarget over TCP sockets: begin, send, receive, end.
 */
#include "wire/socket.h"
#include "kwtest.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct addrinfo *look_up(const char *addr, const char *port, int flags)
{
	struct addrinfo hints = { .ai_flags = flags | AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct addrinfo *res;

	if (getaddrinfo(addr, port, &hints, &res))
		kw_die(KW_SETUP, "%s port %s is no address", addr, port);
	return res;
}

static void start_connection(struct kwraw *c, int fd)
{
	int one = 1;

	memset(c, 0, sizeof(*c));
	c->fd = fd;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

int kwraw_mss, kwraw_rcvbuf;

int kwraw_connect(struct kwraw *c, const char *addr, const char *port)
{
	struct addrinfo *ai = look_up(addr, port, 0);
	int fd = socket(ai->ai_family, SOCK_STREAM, 0);
	int rv;

	if (kwraw_mss)
		setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &kwraw_mss, sizeof(kwraw_mss));
	if (kwraw_rcvbuf)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kwraw_rcvbuf, sizeof(kwraw_rcvbuf));
	rv = fd < 0 ? -1 : connect(fd, ai->ai_addr, ai->ai_addrlen);

	freeaddrinfo(ai);
	if (!rv)
		start_connection(c, fd);
	else if (fd >= 0)
		close(fd);
	return rv;
}

int kwraw_listen(const char *addr, const char *port)
{
	struct addrinfo *ai = look_up(addr, port, AI_PASSIVE);
	int one = 1, fd = socket(ai->ai_family, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 128))
		kw_die(KW_SETUP, "cannot listen on %s port %s: %s", addr, port, strerror(errno));
	freeaddrinfo(ai);
	return fd;
}

/* Is there something to read before @until, a time of kw_now_ms()? Return: 1 or 0. */
static int readable(int fd, int64_t until)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t left = until - kw_now_ms();

	return poll(&p, 1, left > 0 ? left : 0) > 0;
}

int kwraw_accept(int listener, struct kwraw *c, int timeout_ms)
{
	int fd;

	if (!readable(listener, kw_now_ms() + timeout_ms)) {
		errno = ETIMEDOUT;
		return -1;
	}
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		return -1;
	start_connection(c, fd);
	return 0;
}

void kwraw_close(struct kwraw *c)
{
	close(c->fd);
	c->fd = -1;
}

void kwraw_reset(struct kwraw *c)
{
	struct linger now = { .l_onoff = 1 };

	setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	kwraw_close(c);
}

void kwraw_fin(struct kwraw *c)
{
	shutdown(c->fd, SHUT_WR);
}

int kwraw_send(struct kwraw *c, const void *data, size_t len)
{
	const uint8_t *p = data;
	struct kw_rng rng = { .state = c->rng };
	size_t part;
	ssize_t n;

	while (len) {
		part = c->piece ? 1 + kw_below(&rng, c->piece) : len;
		n = send(c->fd, p, part < len ? part : len, MSG_NOSIGNAL);
		if (n < 0)
			return -1;
		p += n;
		len -= n;
	}
	c->rng = rng.state;
	return 0;
}

size_t kwraw_recv(struct kwraw *c, void *data, size_t len, int timeout_ms)
{
	int64_t until = kw_now_ms() + timeout_ms;
	size_t done = 0;
	ssize_t n;

	while (done < len && readable(c->fd, until)) {
		n = recv(c->fd, (uint8_t *)data + done, len - done, 0);
		if (n <= 0)
			break;
		done += n;
	}
	return done;
}

enum kwraw_end kwraw_wait_end(struct kwraw *c, int timeout_ms, size_t *got)
{
	int64_t until = kw_now_ms() + timeout_ms;
	uint8_t buf[4096];
	size_t sum = 0;
	enum kwraw_end end = KWRAW_OPEN;
	ssize_t n;

	while (end == KWRAW_OPEN && readable(c->fd, until)) {
		n = recv(c->fd, buf, sizeof(buf), 0);
		if (n > 0)
			sum += n;
		else
			end = n ? KWRAW_RST : KWRAW_FIN;
	}
	if (got)
		*got = sum;
	return end;
}

bool kwraw_ended(struct kwraw *c)
{
	uint8_t octet;
	ssize_t n = recv(c->fd, &octet, 1, MSG_PEEK | MSG_DONTWAIT);

	return !n || (n < 0 && errno != EAGAIN);
}

const char *kwraw_end_name(enum kwraw_end end)
{
	static const char *const names[] = { "still open", "closed", "reset" };

	return names[end];
}
