/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The fake functions of fake_rings.c, to which rename.h redirects calls of the code under test.
 */
#ifndef KWARP_VERBS_TESTS_FAKES_H
#define KWARP_VERBS_TESTS_FAKES_H

#include "fixture.h"

struct kwarp_account *vt_account_get(void);
void vt_account_hold(struct kwarp_account *account);
void vt_account_put(struct kwarp_account *account);
void vt_pay_ring(struct kwarp_charge *charge, struct kwarp_account *account);
int vt_note_ring(int ret, bool user);
int vt_charge(struct kwarp_charge *charge, u64 octets);
void vt_uncharge(struct kwarp_charge *charge);
void vt_charge_late(const struct kwarp_charge *charge, bool late);
bool vt_charge_can_wait(const struct kwarp_charge *charge, u64 octets);
int vt_ring_init(struct kwarp_ring *ring, u32 entries, u32 stride, bool user);
void vt_ring_fini(struct kwarp_ring *ring);
int vt_sq_init(struct kwarp_sq *sq, u32 entries, u32 stride);
int vt_rq_init(struct kwarp_rq *rq, u32 entries, u32 stride);
void vt_vfree(const void *addr);
bool vt_queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *work);
struct file *vt_getfile(const char *name, const struct file_operations *fops, void *priv,
			int flags);
void vt_set_file(struct vm_area_struct *vma, struct file *file);
int vt_remap(struct vm_area_struct *vma, void *addr, unsigned long pgoff);

#endif /* KWARP_VERBS_TESTS_FAKES_H */
