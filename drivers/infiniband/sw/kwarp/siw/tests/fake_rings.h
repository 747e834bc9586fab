/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_SIW_TESTS_FAKE_RINGS_H
#define KWARP_SIW_TESTS_FAKE_RINGS_H

#include "../ring.h"

struct kwarp_siw_ring *vt_siw_new_sq(u32 entries, struct kwarp_account *account);
struct kwarp_siw_ring *vt_siw_new_rq(u32 entries, struct kwarp_account *account);
struct kwarp_siw_ring *vt_siw_new_cq(u32 entries, struct kwarp_account *account);
void vt_siw_free(struct kwarp_siw_ring *r);

#endif /* KWARP_SIW_TESTS_FAKE_RINGS_H */
