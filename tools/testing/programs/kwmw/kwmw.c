// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwmw is a test program for memory windows, from allocation to every way in which they end.
 *
 *	kwmw -s -a addr -p port [-x]
 *	kwmw -c -a addr -p port
 *
 * The windows are in the server's memory. The server tells the client which operations to try, one
 * command per message. A refused operation ends its connection, so the client always has the next
 * connection ready, each in a process of its own. After each operation the server checks its
 * memory. With -x the server ends while windows are bound, and the kernel has to clean up.
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

	kw_options(argc, argv, table, usage);
	if (is_server == is_client || !km_addr)
		kw_usage(usage);
	return is_server ? km_server(leave) : km_client();
}
