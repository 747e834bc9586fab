/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The raw peer (kwrawpeer) speaks iWARP over a plain socket. The consumer (kwtarget) is an RDMA
 * program on the device under test. This file: the control channel between the two, on which the
 * raw peer sends the commands of target/places.h.
 */
#ifndef RAWPEER_CONTROL_H
#define RAWPEER_CONTROL_H

void rp_ctl_open(void);
void rp_ctl_close(void);
/*
 * Send a command and wait for the answer. Return what follows "ok" in the answer, or NULL if the
 * answer begins with "no".
 */
const char *rp_ctl(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The last answer, unchanged. It says why rp_ctl() has returned NULL. */
const char *rp_ctl_no(void);

#endif /* RAWPEER_CONTROL_H */
