/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: what the scenarios share. A case runs against kwtarget, a scenario against any
 * RDMA program, or without one.
 */
#ifndef RAWPEER_SCENARIOS_H
#define RAWPEER_SCENARIOS_H

/**
 * struct kwraw_scenario - one entry of a list that ends with a NULL name
 * @name: as on the command line
 * @what: one line
 * @run: does it; returns how many checks it made
 * @arg: for @run
 */
struct kwraw_scenario {
	const char *name, *what;
	unsigned int (*run)(int arg);
	int arg;
};

/**
 * struct kwraw_env - where the device is, and how patient to be
 * @timer_ms: longest time that a device may wait for the rest of a startup
 * @prompt_ms: longest time where it knows that the connection is over
 */
struct kwraw_env {
	const char *addr, *port;
	int timer_ms, prompt_ms;
};

extern struct kwraw_env kwraw_env;
extern const struct kwraw_scenario kwraw_selftests[], kwraw_startup_scenarios[];

void kwraw_fail(const char *what, const char *must, const char *is);

#endif /* RAWPEER_SCENARIOS_H */
