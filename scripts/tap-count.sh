#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Count the results in the output of a test on stdin (TAP: "ok N name", "not ok N name",
# "ok N name # SKIP reason"). Prints the numbers of passed, failed and skipped results. If there are
# fewer results than a plan line "1..N" says, the run has ended early, and the missing results count
# as failed.
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
