/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All files of this layer are compiled with this header in front (see ../Kbuild): fake_qp.c has
 * fakes of queue pairs, because the real ones have an engine each.
 */
#ifndef KWARP_CM_TESTS_RENAME_H
#define KWARP_CM_TESTS_RENAME_H

#define kwarp_qp_lookup		fake_qp_lookup
#define kwarp_qp_get		fake_qp_get
#define kwarp_qp_put		fake_qp_put
#define kwarp_qp_may_connect	fake_qp_may_connect
#define kwarp_qp_ib		fake_qp_ib
#define kwarp_qp_state		fake_qp_state
#define kwarp_qp_has_sends	fake_qp_has_sends
#define kwarp_qp_give_up	fake_qp_give_up
#define kwarp_qp_say_established fake_qp_say_established
#define kwarp_qp_tell_no_start	fake_qp_tell_no_start
#define kwarp_ended_add_startup	fake_ended_add_startup
#define kwarp_qp_join		fake_qp_join
#define kwarp_qp_leave		fake_qp_leave
#define kwarp_qp_each_user	fake_qp_each_user
#define kwarp_qp_attach		fake_qp_attach
#define kwarp_qp_abort		fake_qp_abort
#define kwarp_qp_begin_close	fake_qp_begin_close
#define kwarp_qp_run		fake_qp_run

#endif /* KWARP_CM_TESTS_RENAME_H */
