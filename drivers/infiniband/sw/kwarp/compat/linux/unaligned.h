/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* 6.12: asm/unaligned.h became linux/unaligned.h.  The compiler looks here last. */
#include <asm/unaligned.h>
