// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "fake.h"

#include "../../door.h"
#include "../sock_knobs.h"

static struct fake_sock *to_fake(const struct socket *sock)
{
	return (struct fake_sock *)sock;
}

struct socket *ct_fake_socket(void)
{
	struct fake_sock *s = kzalloc(sizeof(*s), GFP_KERNEL);

	s->tx_room = sizeof(s->tx);
	fake.sock = s;
	fake.socks++;
	return (struct socket *)s;
}

static int note_connect(int ifindex)
{
	int ret = once(&fake.start_err);

	if (ret)
		return ret;
	if (ifindex != FAKE_IFINDEX)
		fake.bug = "another interface";
	fake.connects++;
	return 0;
}

int kwarp_cm_sock_create(struct kwarp_dev *kdev, int family, struct socket **res)
{
	if (fake.no_sock)
		return -ENOBUFS;
	*res = ct_fake_socket();
	return 0;
}

int kwarp_cm_sock_connect(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
			  struct kwarp_cm_sock *cs)
{
	int ret;

	if (!cs->sock)
		kwarp_cm_sock_create(kdev, AF_INET, &cs->sock);
	ret = note_connect(ifindex);
	if (ret)
		return ret;
	fake.sock->connect_err = fake.connected ? 0 : -EINPROGRESS;
	return kwarp_cm_sock_hook(cs);
}

static void renew(struct fake_sock *s)
{
	*s = (struct fake_sock) {
		.cs = s->cs,
		.tx_room = sizeof(s->tx),
		.connect_err = fake.connected ? 0 : -EINPROGRESS,
	};
}

void kwarp_cm_sock_reset(struct kwarp_cm_sock *cs)
{
	if (!cs->sock)
		return;
	kwarp_cm_sock_unhook(cs);
	renew(to_fake(cs->sock));
}

int kwarp_cm_sock_reconnect(struct kwarp_cm_sock *cs, const struct iw_cm_id *id, int ifindex)
{
	int ret = note_connect(ifindex);

	if (!ret)
		renew(to_fake(cs->sock));
	return ret;
}

struct mem_cgroup *kwarp_cm_process_memcg(struct pid *pid)
{
	return NULL;
}

struct mem_cgroup *kwarp_cm_sock_memcg(const struct kwarp_cm_sock *cs)
{
	return NULL;
}

void kwarp_cm_sock_charge_to(struct socket *sock, struct pid *pid)
{
}

void kwarp_sock_set_tos(struct socket *sock, int tos)
{
	fake.tos = tos;
}

int kwarp_cm_sock_connected(struct socket *sock, const struct iw_cm_id *id)
{
	return to_fake(sock)->connect_err;
}

int kwarp_cm_sock_hook(struct kwarp_cm_sock *cs)
{
	to_fake(cs->sock)->cs = cs;
	cs->hooked = true;
	return 0;
}

void kwarp_cm_sock_unhook(struct kwarp_cm_sock *cs)
{
	if (cs->hooked)
		to_fake(cs->sock)->cs = NULL;
	cs->hooked = false;
}

void kwarp_cm_sock_kill(struct kwarp_cm_sock *cs)
{
	KWARP_DOOR(kwarp_cm_sock_kill, cs);
	struct fake_sock *s = to_fake(cs->sock);

	if (!s)
		return;
	kwarp_cm_sock_unhook(cs);
	cs->sock = NULL;
	if (fake.sock == s)
		fake.sock = NULL;
	fake.socks--;
	kfree(s);
}

void kwarp_cm_sock_fin(struct socket *sock)
{
	to_fake(sock)->fin = true;
}

int kwarp_cm_sock_recv(struct socket *sock, void *buf, u32 len, int flags)
{
	struct fake_sock *s = to_fake(sock);
	u32 n = min(len, s->rx_len);

	if (!n)
		return s->rx_end > 0 ? 0 : s->rx_end ? s->rx_end : -EAGAIN;
	if (flags != MSG_TRUNC)
		memcpy(buf, s->rx, n);
	if (flags != MSG_PEEK) {
		memmove(s->rx, s->rx + n, s->rx_len - n);
		s->rx_len -= n;
	}
	return n;
}

int kwarp_cm_sock_send(struct socket *sock, const void *buf, u32 len)
{
	struct fake_sock *s = to_fake(sock);
	u32 n = min3(len, s->tx_room, (u32)sizeof(s->tx) - s->tx_len);

	if (s->tx_err)
		return s->tx_err;
	if (!n)
		return -EAGAIN;
	s->tx_flags = current->flags;	/* PF_* */
	memcpy(s->tx + s->tx_len, buf, n);
	s->tx_len += n;
	s->tx_room -= n;
	return n;
}

/* The tests need no accept queue: the number of waiting connections is fixed. */
u32 kwarp_cm_sock_queued(const struct socket *sock)
{
	KWARP_DOOR(kwarp_cm_sock_queued, sock);
	return FAKE_QUEUED;
}

bool kwarp_cm_sock_closed(const struct socket *sock)
{
	KWARP_DOOR(kwarp_cm_sock_closed, sock);
	return to_fake(sock)->closed;
}

u32 kwarp_cm_sock_acked(const struct socket *sock)
{
	return 0;
}

bool kwarp_cm_sock_unacked(const struct socket *sock)
{
	return false;
}

void kwarp_cm_sock_names(struct socket *sock, struct sockaddr_storage *local,
			 struct sockaddr_storage *remote)
{
	*local = fake.local;
	*remote = fake.remote;
}

/* Let the socket's callback report a change; the endpoint's work item handles it later. */
void ct_sock_event(void)
{
	if (fake.sock && fake.sock->cs)
		fake.sock->cs->notify(fake.sock->cs);
}
