/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwtarget is an RDMA program on the device under test; the raw peer (kwrawpeer) attacks it. This
 * header: the answer to a command, a line.
 */
#ifndef RAWPEER_TARGET_ANSWER_H
#define RAWPEER_TARGET_ANSWER_H

#include <stdio.h>

#define KWT_LINE	256

/* Set the answer to a command. */
static inline void kwt_say(char *answer, const char *text)
{
	snprintf(answer, KWT_LINE, "%s", text);
}

#endif /* RAWPEER_TARGET_ANSWER_H */
