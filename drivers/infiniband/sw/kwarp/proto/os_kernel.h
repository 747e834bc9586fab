/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Kernel side of os.h: headers that have moved between kernel releases, and crc32c. The headers are
 * found by their names: proto/ includes no file outside proto/, so compat.h cannot help.
 */
#ifndef KWARP_PROTO_OS_KERNEL_H
#define KWARP_PROTO_OS_KERNEL_H

/* 6.16: <linux/crc32c.h> went into <linux/crc32.h> */
#if __has_include(<linux/crc32c.h>)
#include <linux/crc32c.h>
#else
#include <linux/crc32.h>
#endif

/* 6.12: moved from <asm/unaligned.h> */
#if __has_include(<linux/unaligned.h>)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* CRC32c without the first and last inversion, any context. */
static inline u32 kwarp_os_crc32c(u32 crc, const void *data, size_t len)
{
	return crc32c(crc, data, len);
}

#endif /* KWARP_PROTO_OS_KERNEL_H */
