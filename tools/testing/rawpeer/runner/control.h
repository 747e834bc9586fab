/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: the control channel to the consumer (kwtarget). target/kwtarget.h has the commands.
 */
#ifndef RAWPEER_CONTROL_H
#define RAWPEER_CONTROL_H

void rp_ctl_open(void);
void rp_ctl_close(void);
/* One command, one answer, without its "ok "; NULL if the answer is "no". */
const char *rp_ctl(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* What the answer was, after a NULL. */
const char *rp_ctl_no(void);

#endif /* RAWPEER_CONTROL_H */
