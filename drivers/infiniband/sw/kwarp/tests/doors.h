/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How tests replace doors, see ../door.h. */
#ifndef KWARP_TESTS_DOORS_H
#define KWARP_TESTS_DOORS_H

#include <kunit/static_stub.h>
#include <kunit/test.h>

#include "../door.h"

void kwarp_begin_stubs(struct kunit *test);

/* Until the end of the test calls of the door @fn go to @stub. */
#define kwarp_stub(test, fn, stub)						\
do {										\
	kwarp_begin_stubs(test);						\
	kunit_activate_static_stub(test, fn, stub);				\
} while (0)

/* For stubs: call the door that the stub replaces. */
#define kwarp_real(fn, args...)							\
({										\
	kwarp_door_passed = fn;							\
	(fn)(args);								\
})

#endif /* KWARP_TESTS_DOORS_H */
