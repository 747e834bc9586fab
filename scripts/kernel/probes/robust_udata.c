// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* 7.1: a driver says that it keeps to the core's rules for requests and answers */
#include <rdma/ib_verbs.h>

const struct ib_device_ops probe = { .uverbs_robust_udata = 1 };
