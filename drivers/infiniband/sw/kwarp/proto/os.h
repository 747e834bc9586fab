/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What proto/ needs from the environment: fixed-width types, byte order, unaligned access and
 * CRC32c. Fuzzers run proto/ in user space, with an os_user.h that has the same names.
 */
#ifndef KWARP_PROTO_OS_H
#define KWARP_PROTO_OS_H

#ifdef __KERNEL__
#include "../compat.h"

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>
#else
#include <os_user.h>
#endif

#endif /* KWARP_PROTO_OS_H */
