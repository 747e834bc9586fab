// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * debugfs: print each endpoint (connection), with its state and the time in that state, and each
 * listener, with the lengths of its queues.
 */
#include "cm.h"

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/iw_cm.h>

#include "../kwarp.h"
#include "../qp/qp.h"
#include "cm_info.h"
#include "cm_sock.h"
#include "ep.h"
#include "listener.h"
#include "startup.h"
#include "types.h"

/* Print the addresses of both ends. Context: ep->mutex held. */
static void dump_addresses(struct kwarp_ep *ep, struct seq_file *m)
{
	struct sockaddr_storage local = {}, remote = {};

	if (!ep->cs.sock)
		return;
	kwarp_cm_sock_names(ep->cs.sock, &local, &remote);
	seq_printf(m, " %pISpc %pISpc", &local, &remote);
}

static void dump_ep(struct kwarp_ep *ep, struct seq_file *m)
{
	struct kwarp_cm_info info;

	mutex_lock(&ep->mutex);
	kwarp_ep_describe(ep, &info);
	seq_printf(m, "%s %s for %llu ms", info.role, info.state, info.state_ms);
	if (info.timed)
		seq_printf(m, " ends in %llu ms", info.ends_ms);
	if (ep->qp)
		seq_printf(m, " qp %u", ep->qp->ibqp.qp_num);
	dump_addresses(ep, m);
	seq_printf(m, " events 0x%lx run %d%s%s%s\n", READ_ONCE(ep->events),
		   atomic_read(&ep->run), READ_ONCE(ep->asked) ? " asked" : "",
		   ep->su && ep->su->retried ? " retried" : "", ep->discard ? " discards" : "");
	mutex_unlock(&ep->mutex);
}

static void dump_listener(struct kwarp_listener *l, struct seq_file *m)
{
	struct sockaddr_storage at = {}, none = {};
	struct kwarp_cm_info info;

	mutex_lock(&l->mutex);
	if (kwarp_listener_describe(l, &info)) {
		kwarp_cm_sock_names(l->cs.sock, &at, &none);
		seq_printf(m, "%s %pISpc backlog %d queued %u half-open %u asked %d\n", info.role,
			   &at, info.backlog, info.queued, info.half_open, info.asked);
	}
	mutex_unlock(&l->mutex);
}

/* -------------------------------------------------- all endpoints, all listeners */

/**
 * struct dumped - how dump_list() handles one kind of entry: endpoints, or listeners
 * @get: take a reference on the object; any context
 * @dump: print the object, and put the reference; may sleep
 */
struct dumped {
	void (*get)(struct list_head *node);
	void (*dump)(struct list_head *node, struct seq_file *m);
};

static void get_ep_node(struct list_head *node)
{
	kwarp_ep_get(list_entry(node, struct kwarp_ep, node));
}

static void dump_ep_node(struct list_head *node, struct seq_file *m)
{
	struct kwarp_ep *ep = list_entry(node, struct kwarp_ep, node);

	dump_ep(ep, m);
	kwarp_ep_put(ep);
}

static const struct dumped ep_nodes = { get_ep_node, dump_ep_node };

static void get_listener_node(struct list_head *node)
{
	kwarp_listener_get(list_entry(node, struct kwarp_listener, node));
}

static void dump_listener_node(struct list_head *node, struct seq_file *m)
{
	struct kwarp_listener *l = list_entry(node, struct kwarp_listener, node);

	dump_listener(l, m);
	kwarp_listener_put(l);
}

static const struct dumped listener_nodes = { get_listener_node, dump_listener_node };

/*
 * Return: number of entries in the list, and 16 more, for entries that are added before get_nodes()
 * reads the list.
 */
static u32 count_nodes(struct kwarp_dev *kdev, const struct list_head *list)
{
	const struct list_head *node;
	u32 n = 16;

	spin_lock(&kdev->cm.lock);
	list_for_each(node, list)
		n++;
	spin_unlock(&kdev->cm.lock);
	return n;
}

/*
 * Fill @nodes with up to @most entries of @list, and take a reference on each. Return: their
 * number.
 */
static u32 get_nodes(struct kwarp_dev *kdev, struct list_head *list, const struct dumped *what,
		     struct list_head **nodes, u32 most)
{
	struct list_head *node;
	u32 n = 0;

	spin_lock(&kdev->cm.lock);
	/*
	 * No entry can be freed now: an entry is removed from the list, under cm.lock, before it is
	 * freed.
	 */
	list_for_each(node, list) {
		if (n == most)
			break;
		what->get(node);
		nodes[n++] = node;
	}
	spin_unlock(&kdev->cm.lock);
	return n;
}

static int dump_list(struct kwarp_dev *kdev, struct list_head *list, const struct dumped *what,
		     struct seq_file *m)
{
	u32 i, n = count_nodes(kdev, list);
	struct list_head **nodes;

	nodes = kvcalloc(n, sizeof(*nodes), GFP_KERNEL);
	if (!nodes)
		return -ENOMEM;
	n = get_nodes(kdev, list, what, nodes, n);
	for (i = 0; i < n; i++)
		what->dump(nodes[i], m);
	kvfree(nodes);
	return 0;
}

/**
 * kwarp_cm_dump - print the endpoints and listeners of a device
 * @kdev: device; the caller keeps it from going away
 * @m: debugfs file
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM.
 */
int kwarp_cm_dump(struct kwarp_dev *kdev, struct seq_file *m)
{
	might_sleep();
	return dump_list(kdev, &kdev->cm.eps, &ep_nodes, m) ?:
	       dump_list(kdev, &kdev->cm.listeners, &listener_nodes, m);
}
