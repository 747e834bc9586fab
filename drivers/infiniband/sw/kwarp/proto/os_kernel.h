/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Kernel side of os.h: headers that have moved between kernel releases, and crc32c. */
#ifndef KWARP_PROTO_OS_KERNEL_H
#define KWARP_PROTO_OS_KERNEL_H

#include <linux/version.h>

/* 6.16: <linux/crc32c.h> went into <linux/crc32.h> */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#include <linux/crc32.h>
#else
#include <linux/crc32c.h>
#endif

/* 6.12: moved from <asm/unaligned.h> */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
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
