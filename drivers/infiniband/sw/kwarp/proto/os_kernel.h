/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Kernel side of os.h: headers that have moved between kernel releases, and crc32c. */
#ifndef KWARP_PROTO_OS_KERNEL_H
#define KWARP_PROTO_OS_KERNEL_H

#include "../compat.h"

#include KWARP_CRC32C_H
#include KWARP_UNALIGNED_H

/* CRC32c without the inversions at the begin and the end. Context: any. */
static inline u32 kwarp_os_crc32c(u32 crc, const void *data, size_t len)
{
	return crc32c(crc, data, len);
}

#endif /* KWARP_PROTO_OS_KERNEL_H */
