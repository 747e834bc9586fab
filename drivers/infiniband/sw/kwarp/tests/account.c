// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Suites of several layers use the accounts of users, which must be defined once in a kernel. */
#include "../account.c"
