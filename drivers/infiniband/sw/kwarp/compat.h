/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Differences between supported kernels.  The only file that looks at
 * KWARP_HAVE_* (written by scripts/kernel-probe.sh from compile tests).
 */
#ifndef KWARP_COMPAT_H
#define KWARP_COMPAT_H

#include "kwarp_config.h"

#endif /* KWARP_COMPAT_H */
