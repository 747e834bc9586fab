// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: the control channel to the consumer (kwtarget). Its commands are in
 * target/places.h.
 */
#include "runner/control.h"
#include "runner/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct kwraw ctl;
static FILE *answers;
static char answer[512];

void rp_ctl_open(void)
{
	if (kwraw_connect(&ctl, rp_where.addr, rp_where.control))
		kw_die(KW_SETUP, "cannot reach the consumer's control channel: %s",
		       strerror(errno));
	answers = fdopen(ctl.fd, "r");
	if (!answers)
		kw_die(KW_SETUP, "no stream");
}

void rp_ctl_close(void)
{
	fclose(answers);
}

const char *rp_ctl(const char *fmt, ...)
{
	char line[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	kw_debug("consumer: %s", line);
	line[n++] = '\n';
	if (kwraw_send(&ctl, line, n) || !fgets(answer, sizeof(answer), answers))
		kw_die(KW_LOST, "the consumer is gone");
	answer[strcspn(answer, "\n")] = 0;
	kw_debug("consumer says: %s", answer);
	if (strncmp(answer, "ok", 2))
		return NULL;
	return answer[2] ? answer + 3 : "";
}

const char *rp_ctl_no(void)
{
	return answer;
}
