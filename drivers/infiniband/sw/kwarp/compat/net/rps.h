/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* 6.9: net/rps.h got sock_rps_record_flow() from net/sock.h.  The compiler looks here last. */
#include <net/sock.h>
