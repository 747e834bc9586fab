#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run a function of the suite on the other machine of tools/testing/guest/two.sh, for lib/ends.sh.
# Of the cases only the files of kernel consumers are read, because reading all takes seconds.
#
#   function.sh FUNCTION ARGUMENTS...      with the environment of the case
HERE=$(cd "$(dirname "$0")" && pwd)

testcase() {
	:
}

optional_testcase() {
	:
}

# This is the other machine.
peer() {
	"${@:2}"
}

# shellcheck source=lib.sh
. "$HERE/lib.sh"
for file in "$HERE"/cases/3*-{consumers,disk,nvme,nfs,iser,srp}.sh; do
	# shellcheck source=/dev/null
	. "$file"
done
mkdir -p "$CASE_DIR"
exec {verdict_fd}>&1
set -euo pipefail
"$@"
