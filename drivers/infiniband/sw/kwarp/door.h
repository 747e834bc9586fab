/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Doors: functions that a KUnit test can replace by functions of its own. */
#ifndef KWARP_DOOR_H
#define KWARP_DOOR_H

#include <linux/build_bug.h>

/*
 * KWARP_DOOR(function, arguments) is the first line of a door. Only a kernel with the unit tests,
 * whose Kbuild defines KWARP_KUNIT, has code for it: KUNIT_STATIC_STUB_REDIRECT(), but also in
 * softirqs and work items, for which kunit_get_current_test() finds no test.
 */
#ifdef KWARP_KUNIT
#include <kunit/static_stub.h>

/* The test that has replaced doors; NULL: none has. */
extern struct kunit *kwarp_door_test;
/* The door that kwarp_real() calls. */
extern void *kwarp_door_passed;

void *kwarp_door_leads_to(void *fn);

#define KWARP_DOOR(fn, args...)							\
do {										\
	typeof(fn) *door_stub = unlikely(READ_ONCE(kwarp_door_test)) ?		\
				kwarp_door_leads_to(fn) : NULL;			\
										\
	if (unlikely(door_stub))						\
		return door_stub(args);						\
} while (0)
#else
#define KWARP_DOOR(fn, args...)	static_assert(true, #fn)
#endif

#endif /* KWARP_DOOR_H */
