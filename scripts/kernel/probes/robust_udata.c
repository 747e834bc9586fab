// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 7.1 a driver can state that it follows the core's rules for driver data. */
#include <rdma/ib_verbs.h>

const struct ib_device_ops probe = { .uverbs_robust_udata = 1 };
