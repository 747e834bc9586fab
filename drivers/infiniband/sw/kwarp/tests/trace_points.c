// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Code of all suites has tracepoints, and in a kernel there is one of each. */
#include "../trace.c"
