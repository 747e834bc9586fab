/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer speaks iWARP over a plain socket, to test how a device treats wrong input. This file:
 * what its scenarios share. A case runs against the program kwtarget, a scenario against any RDMA
 * program, or without one.
 */
#ifndef RAWPEER_SCENARIOS_H
#define RAWPEER_SCENARIOS_H

/**
 * struct kwraw_scenario - one entry of a list that ends with a NULL name
 * @name: as on the command line
 * @what: a description of one line
 * @run: runs the scenario; returns the number of checks
 * @arg: argument for @run
 */
struct kwraw_scenario {
	const char *name, *what;
	unsigned int (*run)(int arg);
	int arg;
};

/**
 * struct kwraw_env - address of the device, and time limits
 * @timer_ms: longest time that a device may wait for the rest of a startup
 * @prompt_ms: longest time until the device ends a connection that cannot become valid
 */
struct kwraw_env {
	const char *addr, *port;
	int timer_ms, prompt_ms;
};

extern struct kwraw_env kwraw_env;
extern const struct kwraw_scenario kwraw_selftests[], kwraw_startup_scenarios[];

/* Report a failed check: @what is @is, and must be @must. */
void kwraw_fail(const char *what, const char *must, const char *is);

#endif /* RAWPEER_SCENARIOS_H */
