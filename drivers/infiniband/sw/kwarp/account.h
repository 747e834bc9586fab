/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Nothing else limits this memory for a program without a memory cgroup: it does not count in the
 * size of a process, unless the process has mapped it, nor against RLIMIT_MEMLOCK. It belongs to
 * open files, which can outlive the process that has made the objects. So it is counted for each
 * user, as io_uring and AF_XDP do.
 */
#ifndef KWARP_ACCOUNT_H
#define KWARP_ACCOUNT_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct kwarp_account;
struct kwarp_timers;

/* @account NULL: a kernel consumer has made the object, so nothing is counted. */
struct kwarp_charge {
	struct kwarp_account *account;
	u64 octets;
};

kuid_t kwarp_paying_user(void);
struct kwarp_account *kwarp_account_get(void);
void kwarp_account_hold(struct kwarp_account *account);
void kwarp_account_put(struct kwarp_account *account);
int kwarp_charge(struct kwarp_charge *charge, u64 octets);
void kwarp_uncharge(struct kwarp_charge *charge);
void kwarp_charge_late(const struct kwarp_charge *charge, bool late);
bool kwarp_charge_can_wait(const struct kwarp_charge *charge, u64 octets);
struct kwarp_timers *kwarp_account_timers(struct kwarp_account *account);

#endif /* KWARP_ACCOUNT_H */
