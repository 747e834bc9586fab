// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Defines the tracepoints that trace.h describes. */
#define CREATE_TRACE_POINTS
#include "trace.h"
