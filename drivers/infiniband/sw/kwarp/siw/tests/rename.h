/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * verbs.c is compiled with this header in front (see ../Kbuild): its calls to other layers, to the
 * RDMA core and to ring.c go to fake functions.
 */
#ifndef KWARP_SIW_TESTS_RENAME_H
#define KWARP_SIW_TESTS_RENAME_H

#define kwarp_siw_new_sq	vt_siw_new_sq
#define kwarp_siw_new_rq	vt_siw_new_rq
#define kwarp_siw_new_cq	vt_siw_new_cq
#define kwarp_siw_free		vt_siw_free

#include "../../verbs/tests/rename.h"

#endif /* KWARP_SIW_TESTS_RENAME_H */
