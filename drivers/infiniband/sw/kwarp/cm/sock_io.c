// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * TCP charges what it sends, and what it receives while it has the socket, to the container of the
 * program. Most callers run in the ordered queue, where all connections of the machine would wait
 * while that container reclaims memory. So these functions call TCP with PF_MEMALLOC: then a charge
 * above the limit is made at once. It is a few KiB: startup frames, a FIN, a small receive buffer;
 * and for queues of Reads (ep_stream.c) up to 33.
 */
#include "sock_io.h"

#include <linux/net.h>
#include <linux/sched/mm.h>
#include <linux/tcp.h>
#include <linux/uio.h>
#include <net/sock.h>

bool kwarp_cm_sock_closed(const struct socket *sock)
{
	return READ_ONCE(sock->sk->sk_state) == TCP_CLOSE;
}

void kwarp_cm_sock_fin(struct socket *sock)
{
	unsigned int noreclaim = memalloc_noreclaim_save();

	might_sleep();
	kernel_sock_shutdown(sock, SHUT_WR);
	memalloc_noreclaim_restore(noreclaim);
}

u32 kwarp_cm_sock_acked(const struct socket *sock)
{
	return READ_ONCE(tcp_sk(sock->sk)->snd_una);
}

/* Does TCP have octets, sent or not, that the peer has not acknowledged? Context: any. */
bool kwarp_cm_sock_unacked(const struct socket *sock)
{
	return READ_ONCE(tcp_sk(sock->sk)->write_seq) != kwarp_cm_sock_acked(sock);
}

/*
 * @flags: 0; MSG_PEEK; or MSG_TRUNC: TCP drops the octets, and copies nothing. Return: number of
 * octets; 0 at the end of the stream; -EAGAIN if there are none; other errno.
 */
int kwarp_cm_sock_recv(struct socket *sock, void *buf, u32 len, int flags)
{
	struct kvec iov = { .iov_base = buf, .iov_len = len };
	unsigned int noreclaim = memalloc_noreclaim_save();
	struct msghdr msg = {};
	int ret;

	might_sleep();
	ret = kernel_recvmsg(sock, &msg, &iov, 1, len, MSG_DONTWAIT | flags);
	memalloc_noreclaim_restore(noreclaim);
	return ret;
}

/* After -EAGAIN the callback notify (sock_hook.h) is called when TCP has room again. */
int kwarp_cm_sock_send(struct socket *sock, const void *buf, u32 len)
{
	struct kvec iov = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	unsigned int noreclaim = memalloc_noreclaim_save();
	int ret;

	might_sleep();
	ret = kernel_sendmsg(sock, &msg, &iov, 1, len);
	memalloc_noreclaim_restore(noreclaim);
	return ret;
}
