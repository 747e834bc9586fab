// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwmw: memory windows, from allocation to every way in which they end.
 *
 *	kwmw -s -a addr -p port [-x]
 *	kwmw -c -a addr -p port
 *
 * The memory is the server's, and the server tells the client what to do with it, one command per
 * message. The client always has a connection ready, each in a process of its own, so that the
 * server can let one break and use the next. The server looks into its memory for what the client
 * wrote, or was kept from writing. With -x the server ends while windows are bound, and the kernel
 * has to clean up.
 */
#include "kwmw.h"

const char *km_addr, *km_port = "7175";

int main(int argc, char **argv)
{
	static const char usage[] = "kwmw -s|-c -a addr [-p port] [-x] [-v]";
	bool is_server = false, is_client = false, leave = false;
	const struct kw_option table[] = {
		KW_FLAG('s', is_server),
		KW_FLAG('c', is_client),
		KW_TEXT('a', km_addr),
		KW_TEXT('p', km_port),
		KW_FLAG('x', leave),
		{ 0 }
	};

	kw_prog = "kwmw";
	kw_options(argc, argv, table, usage);
	if (is_server == is_client || !km_addr)
		kw_usage(usage);
	return is_server ? km_server(leave) : km_client();
}
