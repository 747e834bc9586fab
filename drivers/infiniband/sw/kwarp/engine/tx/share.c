// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "share.h"

DEFINE_PER_CPU(struct kwarp_softirq_share, kwarp_softirq_share);
