// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The STag table of a device: allocation of random 24-bit indices (5040-8.1.1-8, -9: hard to
 * predict, spread over the whole range), lock-free lookup, and reference counts of regions.
 */
#include "mr.h"

#include <linux/random.h>
#include <linux/xarray.h>

#include "../door.h"
#include "../kwarp.h"

#define STAG_INDEX_BITS	24
/* Index 0 is not used, so that no STag is 0: some hardware treats STag 0 specially. */
#define STAG_MIN_INDEX	1
#define STAG_TRIES	64

/*
 * The table entry is only reserved: the region cannot be found before kwarp_stag_publish(). Return:
 * 0; -ENOMEM: out of memory, the device has KWARP_MAX_MR regions and windows, or none of STAG_TRIES
 * random indices was free.
 */
int kwarp_stag_alloc(struct kwarp_dev *kdev, struct kwarp_mr *mr, u8 key)
{
	int i;

	if (atomic_inc_return(&kdev->num_mr) > KWARP_MAX_MR)
		goto full;
	for (i = 0; i < STAG_TRIES; i++) {
		u32 index = get_random_u32() >> (32 - STAG_INDEX_BITS);
		int ret;

		if (index < STAG_MIN_INDEX)
			continue;
		/* A reserved entry keeps the index and reads as NULL. */
		ret = xa_insert(&kdev->stags, index, NULL, GFP_KERNEL);
		if (ret == -EBUSY)
			continue;
		if (ret)
			goto full;
		mr->stag = index << 8 | key;
		mr->ibmr.lkey = mr->stag;
		mr->ibmr.rkey = mr->stag;
		return 0;
	}
full:
	atomic_dec(&kdev->num_mr);
	return -ENOMEM;
}

void kwarp_stag_publish(struct kwarp_dev *kdev, struct kwarp_mr *mr)
{
	/* The index is reserved, so this store cannot allocate or fail. */
	xa_store(&kdev->stags, mr->stag >> 8, mr, GFP_KERNEL);
}

/* After the return no lookup finds the region. */
void kwarp_stag_free(struct kwarp_dev *kdev, struct kwarp_mr *mr)
{
	/*
	 * READ_ONCE: a REG_MR or bind that looked up the region earlier may change the key at the
	 * same time. The index never changes.
	 */
	xa_erase(&kdev->stags, READ_ONCE(mr->stag) >> 8);
	atomic_dec(&kdev->num_mr);
}

/*
 * The key of @stag is ignored: kwarp_mem_check() checks it. Context: any. Return: the region with a
 * reference for kwarp_mr_put(), or NULL.
 */
struct kwarp_mr *kwarp_mr_lookup(struct kwarp_dev *kdev, u32 stag)
{
	KWARP_DOOR(kwarp_mr_lookup, kdev, stag);
	struct kwarp_mr *mr;

	rcu_read_lock();
	mr = xa_load(&kdev->stags, stag >> 8);
	if (mr && !refcount_inc_not_zero(&mr->refs))
		mr = NULL;
	rcu_read_unlock();
	return mr;
}

void kwarp_mr_put(struct kwarp_mr *mr)
{
	KWARP_DOOR(kwarp_mr_put, mr);
	if (refcount_dec_and_test(&mr->refs))
		complete(&mr->idle);
}
