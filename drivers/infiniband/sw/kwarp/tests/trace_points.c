// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Suites of all layers use the tracepoints, which must be defined once in a kernel. */
#include "../trace.c"
