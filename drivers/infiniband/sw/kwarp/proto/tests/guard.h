/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Input buffers that end where mapped memory ends, so that a read beyond the input faults. */
#ifndef KWARP_PROTO_GUARD_H
#define KWARP_PROTO_GUARD_H

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

/* Allocate a buffer of @size octets and return its end; freed at the end of the test. */
static inline u8 *kwarp_guard_end(struct kunit *test, u32 size)
{
	u8 *base = vmalloc(PAGE_ALIGN(size));

	KUNIT_ASSERT_NOT_NULL(test, base);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, (kunit_action_t *)vfree,
							base), 0);
	return base + PAGE_ALIGN(size);
}

static inline const u8 *kwarp_guard_put(u8 *end, const u8 *data, u32 len)
{
	memcpy(end - len, data, len);
	return end - len;
}

#endif /* KWARP_PROTO_GUARD_H */
