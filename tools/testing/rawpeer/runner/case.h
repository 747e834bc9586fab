/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: what a case is. A case is a list of steps (runner/step.h), or a function. A run is one
 * execution of a case (struct rp in runner/run.h). A case runs in each of its roles, once with
 * every write in one piece and once with writes cut at random places.
 *
 * The raw peer (kwrawpeer) speaks iWARP over a plain socket. The consumer (kwtarget) is an RDMA
 * program on the device under test.
 *
 *   runner/groups.c     list of all cases, runs of them
 *   runner/report.c     what all runs share; failures, known differences
 *   runner/start.c      startup: connections in full operation
 *   runner/initiator.c  startups with a Request that the case chooses
 *   runner/responder.c  startups with a Reply that the case chooses
 *   runner/steps.c      steps that do something
 *   runner/expect.c     steps that wait for an answer
 *   runner/control.c    control channel to the consumer
 *   runner/mutate.c     connections with mutated streams
 *   runner/stream.c     the mutated streams
 *   cases/              the cases, a file for each subject
 */
#ifndef RAWPEER_CASE_H
#define RAWPEER_CASE_H

#include "runner/step.h"

/* Role of the raw peer in the startup: it connects (Initiator) or listens (Responder). */
enum rp_role {
	RP_INIT = 1,
	RP_RESP = 2,
};

/**
 * struct rp_case - one case
 * @name: on the command line and in reports
 * @ids: IDs of the requirements that the case tests, as in Documentation/conformance
 * @role: the only role in which it runs; 0: it runs in both
 * @recvs: sizes of the receives that the consumer posts first; none given: four of 512 octets
 * @no_recvs: the consumer posts no receive
 * @ird, @ord: what the consumer asks for; 0 stands for 4
 * @no_ord: the consumer asks for an ORD of 0
 * @no_place: the raw peer's IRD is 0, whatever ORD the consumer asks for
 * @no_rights: before it connects or accepts, the consumer takes all rights to its memory from the
 *	peer; @no_atomics: all but those to read and to write
 * @plain: writes are never cut at random places
 * @markers: the case runs only if the raw peer asks for markers; @no_markers: only if it does not
 * @crc: the case runs only if the raw peer asks for CRC; @no_crc: only if it does not
 * @first: steps before @steps, the same for several cases
 * @steps: steps after the startup of the connection
 * @run: function that is called instead of the steps, when there is no connection yet
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
 * struct rp_group - cases that a name on the command line selects
 * @name: the name; several groups may have the same one
 * @cases: a list that ends with a NULL name
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
