/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_CM_CM_SOCK_H
#define KWARP_CM_CM_SOCK_H

#include <linux/socket.h>

struct iw_cm_id;
struct kwarp_dev;
struct mem_cgroup;
struct sock;
struct socket;

/**
 * struct kwarp_cm_sock - a TCP socket of connection management, and its callbacks
 * @sock: the socket, or NULL
 * @notify: called when something about the socket has changed; in softirq or process
 *	context under sk_callback_lock, may only set bits and queue work
 * @hooked: the socket's callbacks call @notify
 * @tos_set: listener: the ULP has chosen a type of service, which its connections inherit
 * @data_ready: callbacks as TCP had set them, valid while @hooked
 * @state_change: likewise
 * @write_space: likewise
 * @error_report: likewise
 */
struct kwarp_cm_sock {
	struct socket *sock;
	void (*notify)(struct kwarp_cm_sock *cs);
	bool hooked;
	bool tos_set;
	void (*data_ready)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*error_report)(struct sock *sk);
};

int kwarp_cm_sock_dial(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
		       struct kwarp_cm_sock *cs);
int kwarp_cm_sock_redial(struct kwarp_cm_sock *cs, const struct iw_cm_id *id, int ifindex);
int kwarp_cm_sock_dialled(struct socket *sock, const struct iw_cm_id *id);
int kwarp_cm_sock_listen(struct kwarp_dev *kdev, const struct iw_cm_id *id, int ifindex,
			 int backlog, struct kwarp_cm_sock *cs);
struct mem_cgroup *kwarp_cm_sock_memcg(const struct kwarp_cm_sock *cs);
void kwarp_cm_sock_charge(struct socket *sock);
u32 kwarp_cm_sock_queued(const struct socket *sock);
int kwarp_cm_sock_accept(struct kwarp_dev *kdev, struct kwarp_cm_sock *listener,
			 struct socket **res);
int kwarp_cm_sock_hook(struct kwarp_cm_sock *cs);
void kwarp_cm_sock_unhook(struct kwarp_cm_sock *cs);
void kwarp_cm_sock_kill(struct kwarp_cm_sock *cs);
void kwarp_cm_sock_fin(struct socket *sock);
int kwarp_cm_sock_recv(struct socket *sock, void *buf, u32 len, bool peek);
int kwarp_cm_sock_send(struct socket *sock, const void *buf, u32 len);
int kwarp_cm_sock_discard(struct socket *sock);
bool kwarp_cm_sock_closed(const struct socket *sock);
u32 kwarp_cm_sock_acked(const struct socket *sock);
bool kwarp_cm_sock_unacked(const struct socket *sock);
void kwarp_cm_sock_names(struct socket *sock, struct sockaddr_storage *local,
			 struct sockaddr_storage *remote);
bool kwarp_cm_addr_loopback(const struct sockaddr_storage *ss);

#endif /* KWARP_CM_CM_SOCK_H */
