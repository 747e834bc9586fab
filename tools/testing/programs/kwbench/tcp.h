/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwbench is a benchmark: the rate or latency of one kind of traffic between two processes.
 * This file: the same measurements over plain TCP sockets, for comparison with RDMA.
 */
#ifndef KWBENCH_TCP_H
#define KWBENCH_TCP_H

#include "protocol.h"

/* The client: connect, measure, and print a line of JSON. */
void kb_tcp_measure(const struct kb_config *cfg, const char *addr, const char *port, double warm,
		    double seconds);
/* The server: serve clients until the program is killed. */
void kb_tcp_serve(const char *addr, const char *port) __attribute__((noreturn));

#endif /* KWBENCH_TCP_H */
