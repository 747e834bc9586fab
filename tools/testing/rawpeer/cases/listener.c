// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. A listener with connections in all states of the startup: they do not prevent
 * others, and they end with the listener.
 */
#include "runner/control.h"
#include "runner/initiator.h"

/* Begin connections whose Request stops after some octets. They must not prevent another one. */
static void others_get_through(struct rp *r)
{
	static const size_t stops[] = { 0, 1, 7, 16, 17, 19, 20, 22 };
	struct kwraw idle[ARRAY_SIZE(stops)];
	uint8_t buf[KWRAW_MPA_MAX];
	size_t i;

	rp_good_request(buf, 2, 5);
	for (i = 0; i < ARRAY_SIZE(stops); i++)
		if (kwraw_connect(&idle[i], rp_where.addr, rp_where.port) ||
		    kwraw_send(&idle[i], buf, stops[i]))
			kw_die(KW_SETUP, "cannot connect");
	if (rp_open(r))
		rp_exchange_as_initiator(r);
	for (i = 0; i < ARRAY_SIZE(stops); i++)
		kwraw_reset(&idle[i]);
}

/*
 * Destroy the listener while connections are in all states of the startup: all of them have to end.
 * iw_cm drops a Request that it has not passed on to the consumer; the device's timer of ten
 * seconds ends that connection.
 */
static void listener_closed(struct rp *r)
{
	static const size_t stops[] = { 0, 10, 20, 25 };
	struct kwraw c[ARRAY_SIZE(stops)];
	uint8_t buf[KWRAW_MPA_MAX];
	size_t i;

	rp_good_request(buf, 1, 5);
	for (i = 0; i < ARRAY_SIZE(stops); i++)
		if (kwraw_connect(&c[i], rp_where.addr, rp_where.port) ||
		    kwraw_send(&c[i], buf, stops[i]))
			kw_die(KW_SETUP, "cannot connect");
	rp_begin(r);
	rp_ctl("relisten");
	for (i = 0; i < ARRAY_SIZE(stops); i++) {
		if (kwraw_wait_end(&c[i], rp_soon() + 10000, NULL) == KWRAW_OPEN)
			rp_fail(r, "a connection with %zu octets outlives the listener", stops[i]);
		kwraw_close(&c[i]);
	}
	rp_again(r, "closed", 0);
	if (!r->failed && rp_open(r))
		rp_exchange_as_initiator(r);
}

/* Close or reset the connection while the consumer accepts it, at different moments. */
static void accept_races(struct rp *r)
{
	struct rp_offer o = { .rev = 1, .c_ird = 4, .c_ord = 4 };
	int i;

	for (i = 0; i < 40 && !r->failed; i++) {
		if (!rp_send_offer(r, &o))
			return;
		if (i & 1)
			kwraw_reset(&r->c);
		else
			kwraw_fin(&r->c);
		rp_ctl("accept %d", i % 5);
		if (r->c.fd >= 0)
			kwraw_close(&r->c);
		r->up = false;
		rp_ctl("cm 20");
		rp_ctl("destroy");
	}
	if (rp_open(r))
		rp_exchange_as_initiator(r);
}

const struct rp_case rp_cases_listener[] = {
	{ .name = "req-others-get-through", .ids = "5042-D-4 5040-1.1-3",
	  .role = RP_INIT, .run = others_get_through },
	{ .name = "req-listener-closed", .ids = "5042-D-4",
	  .role = RP_INIT, .run = listener_closed },
	{ .name = "req-accept-races", .ids = "5042-D-4",
	  .role = RP_INIT, .run = accept_races },
	{ .name = NULL }
};
