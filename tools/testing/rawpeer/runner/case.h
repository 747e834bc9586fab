/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: what a case is. A case is a list of steps (runner/step.h), or a function that gets the
 * run (runner/run.h). A case runs in each of its roles, once with every write in one piece and once
 * cut at random places.
 *
 *   runner/run.c        options, list, runs, verdicts
 *   runner/start.c      start-up: connections in full operation
 *   runner/initiator.c  start-ups with a Request that the case chooses
 *   runner/responder.c  start-ups with a Reply that the case chooses
 *   runner/step.c       steps that do something
 *   runner/expect.c     steps that wait for an answer
 *   runner/control.c    control channel to the consumer
 *   runner/mutate.c     connections with mutated streams
 *   runner/stream.c     the mutated streams
 *   cases/              the cases, a file for each subject
 */
#ifndef RAWPEER_CASE_H
#define RAWPEER_CASE_H

#include "runner/step.h"

/* The raw peer's end of a connection: the one that connects, or the one that listens. */
enum rp_role {
	RP_INIT = 1,
	RP_RESP = 2,
	RP_BOTH = 3,
};

/**
 * struct rp_case - one case
 * @name: on the command line and in reports
 * @ids: the requirements it shows
 * @role: in which roles it runs
 * @recvs: sizes of the receives that are posted first; default: four of 512
 * @no_recvs: none
 * @ird, @ord: the consumer's; default 4
 * @no_ord: the consumer wants an ORD of 0; @no_place: our IRD is 0, whatever it wants
 * @no_rights: the consumer gives us none, before it connects or accepts; @no_atomics: only
 *	those to read and to write
 * @plain: not cut at random places
 * @markers: only if the device receives markers; @no_markers: only if not
 * @crc: only if CRC is in use; @no_crc: only if not
 * @first: in full operation, what several cases begin with; @steps: after it
 * @run: instead of steps: from the TCP connection on
 */
struct rp_case {
	const char *name, *ids;
	enum rp_role role;
	uint32_t recvs[KWT_RECV_MAX];
	bool no_recvs, no_ord, no_place, no_rights, no_atomics;
	bool plain, markers, no_markers, crc, no_crc;
	unsigned int ird, ord;
	const struct rp_step *first;
	struct rp_step steps[RP_STEPS];
	void (*run)(struct rp *r);
};

/**
 * struct rp_group - cases that run together; their list ends with a NULL name
 */
struct rp_group {
	const char *name;
	const struct rp_case *cases;
};

extern const struct rp_case rp_cases_request_refused[], rp_cases_request_reported[],
	rp_cases_request_enhanced[], rp_cases_request_fpdu[], rp_cases_listener[],
	rp_cases_device_request[], rp_cases_reply_refused[], rp_cases_reply_accepted[],
	rp_cases_reply_enhanced[], rp_cases_fpdu[], rp_cases_untagged[], rp_cases_tagged[],
	rp_cases_rdmap[], rp_cases_terminate[], rp_cases_post[], rp_cases_read[],
	rp_cases_read_sink[], rp_cases_window[], rp_cases_close[], rp_cases_neighbour[],
	rp_cases_knob[], rp_cases_imm[], rp_cases_imm_post[], rp_cases_atomic[],
	rp_cases_atomic_refused[], rp_cases_atomic_post[];

#endif /* RAWPEER_CASE_H */
