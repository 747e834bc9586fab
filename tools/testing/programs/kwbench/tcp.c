// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbench is a benchmark: the rate or latency of one kind of traffic between two processes. This
 * file: the same measurements over plain TCP sockets, for comparison. They are in this program, so
 * that processes, pinning and clocks are the same as for RDMA.
 *
 * A stream consists of blocks of one size.  A block that begins with ECHO is answered with a block.
 * Phase: a number of operations that are timed together. At its end the client sends such a block
 * on each connection and waits for the answers, so the server has read all that is counted.
 */
#include "tcp.h"

#include "kwtest.h"
#include "measure.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ECHO		1
#define READ_LEAST	65536	/* octets: least size of the buffer for a read */

/**
 * struct tcp_run - one end of a run, which is what one client process does
 * @fd: connections, @cfg.qps of them
 * @sent: client: octets of the current block that TCP has accepted
 * @read: server: octets of the current block that have been read
 * @echo: server: the current block has to be answered
 * @block: a buffer of @len octets
 */
struct tcp_run {
	struct kb_config cfg;
	int *fd;
	size_t *sent, *read;
	bool *echo;
	uint8_t *block;
	size_t len;
};

static void tcp_alloc(struct tcp_run *run, const struct kb_config *cfg)
{
	run->cfg = *cfg;
	run->len = cfg->size > READ_LEAST ? cfg->size : READ_LEAST;
	run->block = kw_zalloc(run->len);
	run->fd = kw_zalloc(cfg->qps * sizeof(*run->fd));
	run->sent = kw_zalloc(cfg->qps * sizeof(*run->sent));
	run->read = kw_zalloc(cfg->qps * sizeof(*run->read));
	run->echo = kw_zalloc(cfg->qps * sizeof(*run->echo));
}

static void tcp_free(struct tcp_run *run)
{
	unsigned int i;

	for (i = 0; i < run->cfg.qps; i++)
		close(run->fd[i]);
	free(run->fd);
	free(run->sent);
	free(run->read);
	free(run->echo);
	free(run->block);
}

static struct addrinfo *tcp_addr(const char *addr, const char *port, int flags)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags }, *ai;

	if (getaddrinfo(addr, port, &hints, &ai))
		kw_die(KW_SETUP, "no address %s port %s", addr, port);
	return ai;
}

static void no_delay(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Return: false if the connection has ended. */
static bool send_all(int fd, const void *buf, size_t len)
{
	ssize_t n;

	for (; len; buf = (const char *)buf + n, len -= n) {
		n = send(fd, buf, len, 0);
		if (n <= 0)
			return false;
	}
	return true;
}

/* Does the program poll its sockets? In a latency run it does, unless option -e asks for events. */
static bool polls(const struct tcp_run *run)
{
	return run->cfg.flags & KB_LATENCY && !(run->cfg.flags & KB_EVENTS);
}

/*
 * Receive @len octets; if @may_poll is set, poll instead of sleeping. Return: false if the
 * connection has ended.
 */
static bool recv_all(int fd, void *buf, size_t len, bool may_poll)
{
	ssize_t n;

	for (; len; buf = (char *)buf + n, len -= n) {
		n = recv(fd, buf, len, may_poll ? MSG_DONTWAIT : 0);
		if (n < 0 && errno == EAGAIN)
			n = 0;
		else if (n <= 0)
			return false;
	}
	return true;
}

/* ----------------------------------------------------------------- client */

static void tcp_connect(struct tcp_run *run, const char *addr, const char *port)
{
	struct addrinfo *ai = tcp_addr(addr, port, 0);
	unsigned int i;

	for (i = 0; i < run->cfg.qps; i++) {
		run->fd[i] = socket(ai->ai_family, SOCK_STREAM, 0);
		if (connect(run->fd[i], ai->ai_addr, ai->ai_addrlen))
			kw_die(KW_SETUP, "cannot connect: %s", strerror(errno));
		no_delay(run->fd[i]);
		if (!send_all(run->fd[i], &run->cfg, sizeof(run->cfg)))
			kw_die(KW_LOST, "cannot say what to do: %s", strerror(errno));
	}
	freeaddrinfo(ai);
}

/* Send as much of the current block as there is room for. Return: is the block complete? */
static bool send_some(struct tcp_run *run, unsigned int i, int flags)
{
	size_t left = run->cfg.size - run->sent[i];
	ssize_t n = send(run->fd[i], run->block + run->sent[i], left, flags);

	if (n < 0 && errno != EAGAIN)
		kw_die(KW_LOST, "cannot send: %s", strerror(errno));
	run->sent[i] += n < 0 ? 0 : n;
	if (run->sent[i] < run->cfg.size)
		return false;
	run->sent[i] = 0;
	return true;
}

static void wait_for_room(const struct tcp_run *run)
{
	struct pollfd fds[KB_MAX_QPS];
	unsigned int i;

	for (i = 0; i < run->cfg.qps; i++)
		fds[i] = (struct pollfd){ .fd = run->fd[i], .events = POLLOUT };
	poll(fds, run->cfg.qps, -1);
}

/* Continue the block of each connection that has room. Return: blocks that are complete. */
static uint64_t send_round(struct tcp_run *run, uint64_t most)
{
	uint64_t done = 0;
	unsigned int i;

	for (i = 0; i < run->cfg.qps && done < most; i++)
		done += send_some(run, i, MSG_DONTWAIT);
	return done;
}

static void send_blocks(struct tcp_run *run, uint64_t count)
{
	uint64_t n;

	for (; count; count -= n) {
		n = run->cfg.qps == 1 ? send_some(run, 0, 0) : send_round(run, count);
		if (!n)
			wait_for_room(run);
	}
}

static void echo_one(struct tcp_run *run, unsigned int i)
{
	size_t left = run->sent[i] ? run->cfg.size - run->sent[i] : 0;

	/* Send the rest of the current block, then a block that is answered. */
	if (!send_all(run->fd[i], run->block + run->sent[i], left))
		kw_die(KW_LOST, "cannot send: %s", strerror(errno));
	run->sent[i] = 0;
	run->block[0] = ECHO;
	if (!send_all(run->fd[i], run->block, run->cfg.size))
		kw_die(KW_LOST, "cannot send: %s", strerror(errno));
	run->block[0] = 0;
	if (!recv_all(run->fd[i], run->block, run->cfg.size, polls(run)))
		kw_die(KW_LOST, "the connection has ended");
	run->block[0] = 0;
}

static void stream(void *ctx, uint64_t count)
{
	struct tcp_run *run = ctx;
	unsigned int i;

	send_blocks(run, count);
	for (i = 0; i < run->cfg.qps; i++)
		echo_one(run, i);
}

static void to_and_fro(void *ctx, uint64_t count)
{
	while (count--)
		echo_one(ctx, 0);
}

void kb_tcp_measure(const struct kb_config *cfg, const char *addr, const char *port, double warm,
		    double seconds)
{
	bool latency = cfg->flags & KB_LATENCY;
	struct tcp_run run;
	struct kb_work work = {
		.run = latency ? to_and_fro : stream,
		.ctx = &run,
		.least = cfg->qps,
	};

	tcp_alloc(&run, cfg);
	tcp_connect(&run, addr, port);
	if (latency)
		kb_measure_latency(&work, warm, seconds, 0.5);
	else
		kb_measure_rate(&work, warm, seconds);
	tcp_free(&run);
}

/* ----------------------------------------------------------------- server */

/*
 * Count @n octets that have been read, and answer blocks that are complete and begin with ECHO.
 * Return: false if the connection has ended.
 */
static bool take(struct tcp_run *run, unsigned int i, const uint8_t *buf, size_t n)
{
	size_t part;

	for (; n; buf += part, n -= part) {
		if (!run->read[i])
			run->echo[i] = *buf == ECHO;
		part = run->cfg.size - run->read[i];
		if (part > n)
			part = n;
		run->read[i] += part;
		if (run->read[i] < run->cfg.size)
			continue;
		run->read[i] = 0;
		if (run->echo[i] && !send_all(run->fd[i], run->block, run->cfg.size))
			return false;
	}
	return true;
}

/* Read once, and count the octets. Return: false if the connection has ended. */
static bool read_some(struct tcp_run *run, unsigned int i, int flags)
{
	ssize_t n = recv(run->fd[i], run->block, run->len, flags);

	if (n < 0 && errno == EAGAIN)
		return true;
	return n > 0 && take(run, i, run->block, n);
}

static void read_one(struct tcp_run *run)
{
	int flags = polls(run) ? MSG_DONTWAIT : 0;

	while (read_some(run, 0, flags))
		;
}

static void read_many(struct tcp_run *run)
{
	struct epoll_event ev[64];
	unsigned int i, left = run->cfg.qps;
	int n, set = epoll_create1(0);

	for (i = 0; i < run->cfg.qps; i++) {
		ev[0] = (struct epoll_event){ .events = EPOLLIN, .data.u32 = i };
		epoll_ctl(set, EPOLL_CTL_ADD, run->fd[i], &ev[0]);
	}
	while (left) {
		n = epoll_wait(set, ev, ARRAY_SIZE(ev), -1);
		while (n-- > 0) {
			i = ev[n].data.u32;
			if (read_some(run, i, MSG_DONTWAIT))
				continue;
			epoll_ctl(set, EPOLL_CTL_DEL, run->fd[i], NULL);
			left--;
		}
	}
	close(set);
}

/* Accept a connection and read its configuration. Return: its socket, or -1 if none comes. */
static int accept_one(int listener, struct kb_config *cfg)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		return -1;
	if (recv_all(fd, cfg, sizeof(*cfg), false) && cfg->magic == KB_MAGIC && cfg->size &&
	    cfg->qps && cfg->qps <= KB_MAX_QPS) {
		no_delay(fd);
		return fd;
	}
	close(fd);
	return -1;
}

static void serve_run(int listener)
{
	struct kb_config cfg;
	struct tcp_run run;
	unsigned int i;
	int fd = accept_one(listener, &cfg);

	if (fd < 0)
		return;
	tcp_alloc(&run, &cfg);
	run.fd[0] = fd;
	for (i = 1; i < cfg.qps && fd >= 0; i++) {
		fd = accept_one(listener, &cfg);
		run.fd[i] = fd;
	}
	if (fd >= 0 && run.cfg.qps == 1)
		read_one(&run);
	else if (fd >= 0)
		read_many(&run);
	tcp_free(&run);
}

void kb_tcp_serve(const char *addr, const char *port)
{
	struct addrinfo *ai = tcp_addr(addr, port, AI_PASSIVE);
	int one = 1, listener = socket(ai->ai_family, SOCK_STREAM, 0);

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, ai->ai_addr, ai->ai_addrlen) || listen(listener, 1024))
		kw_die(KW_SETUP, "cannot listen: %s", strerror(errno));
	freeaddrinfo(ai);
	for (;;)
		serve_run(listener);
}
