// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "doors.h"

struct kunit *kwarp_door_test;
void *kwarp_door_passed;

void *kwarp_door_leads_to(void *fn)
{
	struct kunit *test = READ_ONCE(kwarp_door_test);

	if (kwarp_door_passed == fn) {
		kwarp_door_passed = NULL;
		return NULL;
	}
	return test ? kunit_hooks.get_static_stub_address(test, fn) : NULL;
}

static void end_stubs(void *test)
{
	WRITE_ONCE(kwarp_door_test, NULL);
}

void kwarp_begin_stubs(struct kunit *test)
{
	if (kwarp_door_test == test)
		return;
	WRITE_ONCE(kwarp_door_test, test);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, end_stubs, test), 0);
}
