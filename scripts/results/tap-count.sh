#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Count the result lines of test output (KTAP: "ok N name", "not ok N name",
# "ok N name # SKIP reason") on stdin. Prints "PASSED FAILED SKIPPED" as numbers.
# A plan line "1..N" with fewer results means that the run was cut short: the
# missing ones count as failed.
set -euo pipefail
awk '
	{ sub(/\r$/, "") }
	/^1\.\.[0-9]+/ { split($1, plan, /\.\./); planned = plan[2] }
	/^not ok / { failed++; next }
	/^ok .*# *SKIP/ { skipped++; next }
	/^ok / { passed++ }
	END {
		missing = planned - passed - failed - skipped
		if (missing > 0) failed += missing
		print passed + 0, failed + 0, skipped + 0
	}'
