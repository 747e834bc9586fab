// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Stand-ins for libsiw's rings: they count what exists, and fail when vt.fault says so. */
#include "fake_rings.h"

#include "../../verbs/tests/fakes.h"

static struct kwarp_siw_ring *note_new(struct kwarp_siw_ring *r, struct kwarp_account *account)
{
	if (!r)
		return NULL;
	vt->foreign++;
	vt_note_ring(0, true);
	vt_pay_ring(&r->charge, account);
	return r;
}

struct kwarp_siw_ring *vt_siw_new_sq(u32 entries, struct kwarp_account *account)
{
	return vt_is_fault(FAULT_FOREIGN) ? NULL :
	       note_new(kwarp_siw_new_sq(entries, NULL), account);
}

struct kwarp_siw_ring *vt_siw_new_rq(u32 entries, struct kwarp_account *account)
{
	return vt_is_fault(FAULT_FOREIGN) ? NULL :
	       note_new(kwarp_siw_new_rq(entries, NULL), account);
}

struct kwarp_siw_ring *vt_siw_new_cq(u32 entries, struct kwarp_account *account)
{
	return vt_is_fault(FAULT_FOREIGN) ? NULL :
	       note_new(kwarp_siw_new_cq(entries, NULL), account);
}

void vt_siw_free(struct kwarp_siw_ring *r)
{
	vt->foreign--;
	vt->rings -= !!r->mem;
	vt_uncharge(&r->charge);
	kwarp_siw_free(r);
}
