// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Limits the kernel memory, and the timers, that the objects of one user's programs hold. */
#include "account.h"

#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "counts.h"
#include "limits.h"

/* @users: opened devices whose objects are counted here, and rings that outlive theirs. */
struct kwarp_account {
	struct list_head node;
	kuid_t uid;
	refcount_t users;
	atomic64_t octets;
	atomic64_t late;		/* of these, to be given back after a grace period */
	struct kwarp_timers timers;
};

static LIST_HEAD(accounts);
static DEFINE_MUTEX(lock);		/* accounts; no allocation under it */

/*
 * A user may have thousands of IDs in a user namespace of his own, so its owner pays. Root makes
 * namespaces for others (containers): there the namespace's own root pays, unless the namespace has
 * the IDs of the machine. Context: process, that of the user's program.
 */
kuid_t kwarp_paying_user(void)
{
	struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid(), root;

	for (; ns != &init_user_ns; ns = ns->parent) {
		root = make_kuid(ns, 0);
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
		else if (uid_valid(root) && !uid_eq(root, GLOBAL_ROOT_UID))
			uid = root;
	}
	return uid;
}

static struct kwarp_account *find_account(kuid_t uid)
{
	struct kwarp_account *a;

	lockdep_assert_held(&lock);
	list_for_each_entry(a, &accounts, node)
		if (uid_eq(a->uid, uid))
			return a;
	return NULL;
}

/* To be returned by kwarp_account_put(). Context: process, may sleep. */
struct kwarp_account *kwarp_account_get(void)
{
	struct kwarp_account *a, *unused = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);
	kuid_t uid = kwarp_paying_user();

	mutex_lock(&lock);
	a = find_account(uid);
	if (a) {
		refcount_inc(&a->users);
	} else if (unused) {
		a = unused;
		unused = NULL;
		a->uid = uid;
		refcount_set(&a->users, 1);
		list_add(&a->node, &accounts);
	}
	mutex_unlock(&lock);
	kfree(unused);
	return a;
}

/* Memory that is freed late may outlive the opened device: hold the account for it. */
void kwarp_account_hold(struct kwarp_account *a)
{
	refcount_inc(&a->users);
}

/* The opened device and all its objects are gone. Context: process. */
void kwarp_account_put(struct kwarp_account *a)
{
	if (!refcount_dec_and_mutex_lock(&a->users, &lock))
		return;
	WARN_ON_ONCE(atomic64_read(&a->octets));
	WARN_ON_ONCE(atomic_read(&a->timers.holds) || atomic_read(&a->timers.paced));
	list_del(&a->node);
	mutex_unlock(&lock);
	kfree(a);
}

/*
 * Has the current task no limit? Then nothing is counted: other tasks with the same user ID, for
 * example in a container, may have a limit.
 */
static bool is_unlimited(void)
{
	return rlimit(RLIMIT_MEMLOCK) == RLIM_INFINITY ||
	       ns_capable_noaudit(&init_user_ns, CAP_IPC_LOCK);
}

static bool over_limit(s64 held)
{
	return held > KWARP_USER_MEMORY && held - KWARP_USER_MEMORY > rlimit(RLIMIT_MEMLOCK);
}

/**
 * kwarp_charge - count memory that is about to be allocated for an object
 * @charge: charge of the object; @charge->account is set
 * @octets: how much to add to the charge
 *
 * A user may hold KWARP_USER_MEMORY, and beyond that as much as RLIMIT_MEMLOCK of the current task
 * says. CAP_IPC_LOCK lifts the limit, as it does for pinned memory.
 *
 * Context: process.
 * Return: 0; -ENOMEM: the limit is reached, and nothing has changed.
 */
int kwarp_charge(struct kwarp_charge *charge, u64 octets)
{
	struct kwarp_account *a = charge->account;
	s64 held;

	if (!a || is_unlimited())
		return 0;
	held = atomic64_add_return(octets, &a->octets);
	if (over_limit(held)) {
		atomic64_sub(octets, &a->octets);
		return -ENOMEM;
	}
	charge->octets += octets;
	return 0;
}

/* The memory will be freed after a grace period (@late), or that period is over. */
void kwarp_charge_late(const struct kwarp_charge *charge, bool late)
{
	if (charge->account)
		atomic64_add(late ? charge->octets : -charge->octets, &charge->account->late);
}

/* Does a charge of @octets fail only because memory is freed late? */
bool kwarp_charge_can_wait(const struct kwarp_charge *charge, u64 octets)
{
	const struct kwarp_account *a = charge->account;
	s64 late = a ? atomic64_read(&a->late) : 0;

	return late && !over_limit(atomic64_read(&a->octets) - late + octets);
}

/* Return: the timers of the user; NULL: a kernel consumer. They live as long as the account. */
struct kwarp_timers *kwarp_account_timers(struct kwarp_account *a)
{
	return a ? &a->timers : NULL;
}

/* The memory of the object has been freed, or was not allocated. Context: any. */
void kwarp_uncharge(struct kwarp_charge *charge)
{
	if (charge->octets)
		atomic64_sub(charge->octets, &charge->account->octets);
	charge->octets = 0;
}
