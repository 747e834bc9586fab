/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Links whose programs use another user library than kwarp's provider, with the ABI of that
 * library. Kernel consumers get the same objects on links of either kind.
 */
#ifndef KWARP_VERBS_PERSONALITY_H
#define KWARP_VERBS_PERSONALITY_H

#include "../kwarp.h"

struct ib_udata;
struct kwarp_cq;
struct kwarp_foreign_ring;
struct kwarp_hold_ops;
struct kwarp_qp;
struct kwarp_srq;
struct rdma_user_mmap_entry;

/**
 * struct kwarp_personality - what a user library needs of a link
 *
 * In the RDMA core such a link is not to be found by its netdev: the driver to which the driver_id
 * belongs, if it is loaded, looks for its own devices by these two, and would use this one.
 *
 * @ops: operations of the device, with the library's driver_id; they take precedence over those
 *	that all links have
 * @commands: uverbs_cmd_mask: commands of uverbs besides the usual ones
 * @max_sge: most scatter/gather elements of a request; the library may post so many even if the
 *	program has asked for fewer
 * @max_inline: most inline octets of a request, likewise
 * @hold: decides whether a send queue is held
 * @give_cq: make a foreign ring of at least @entries entries for @cq, whose own ring has been made
 *	already, because its header is used; write the answer
 * @give_qp: likewise for the queues of @qp
 * @give_srq: likewise for @srq
 * @release: free a ring; @map, unless NULL, is its mmap entry, which owns the memory
 *
 * After an error, too, the caller of @give_cq, @give_qp or @give_srq releases the rings. Context:
 * process.
 */
struct kwarp_personality {
	const struct ib_device_ops *ops;
	u64 commands;
	u32 max_sge;
	u32 max_inline;
	const struct kwarp_hold_ops *hold;
	int (*give_cq)(struct kwarp_cq *cq, u32 entries, struct ib_udata *udata, u32 id);
	int (*give_qp)(struct kwarp_qp *qp, struct ib_udata *udata);
	int (*give_srq)(struct kwarp_srq *srq, struct ib_udata *udata);
	void (*release)(struct kwarp_foreign_ring *f, struct rdma_user_mmap_entry *map);
};

/* @user: a program has the object. NULL: it uses kwarp's provider, or a kernel consumer has it. */
static inline const struct kwarp_personality *
kwarp_personality_of(const struct kwarp_dev *kdev, bool user)
{
	return user ? kdev->personality : NULL;
}

/* The object that uses the ring is being destroyed, or its creation has failed. */
static inline void kwarp_release_foreign(const struct kwarp_dev *kdev,
					 struct kwarp_foreign_ring **f,
					 struct rdma_user_mmap_entry **map)
{
	if (!*f)
		return;
	kdev->personality->release(*f, *map);
	*f = NULL;
	*map = NULL;
}

#endif /* KWARP_VERBS_PERSONALITY_H */
