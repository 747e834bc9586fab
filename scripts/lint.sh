#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Static checks; each is one result. A check that cannot run here says why.
#
#   scripts/lint.sh [CHECK...]
#
#   KWARP_RESULTS=FILE   append "PASSED FAILED SKIPPED" there, for make check
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
driver=drivers/infiniband/sw/kwarp
checks=(checkpatch build layers kernel-doc licences shellcheck hosts conformance limits)
out=$KWARP_ROOT/build/lint
cd "$KWARP_ROOT"

# Files that git knows or would add, that exist.
files() {
	git ls-files -co --exclude-standard -- "$@" | sort -u | while read -r f; do
		[ ! -f "$f" ] || echo "$f"
	done
}

# Drop the findings that checkpatch.conf names.
without_ignored() {
	awk -v conf="$here/checkpatch.conf" '
		function glob(p) { gsub(/\./, "\\.", p); gsub(/\*/, ".*", p); return "^" p "$" }
		BEGIN {
			while ((getline line < conf) > 0)
				if (line !~ /^#/ && split(line, w, /[ \t]+/) > 2) { n++; type[n] = w[1]; path[n] = glob(w[2]) }
		}
		{
			file = $0; sub(/:.*/, "", file)
			for (i = 1; i <= n; i++)
				if (file ~ path[i] && (type[i] == "*" || index($0, ":" type[i] ":"))) next
			print
		}'
}

# The script looks for a git tree around it, and leaves notes there.
check_checkpatch() {
	local tool
	tool=$("$here/get-source.sh" linux)/scripts/checkpatch.pl
	files "$driver/*.[ch]" 'include/*.h' 'rdma-core-provider/*.[ch]' 'tools/*.[ch]' | sed "s|^|$KWARP_ROOT/|" |
		(cd "$out" && xargs -r -P "$KWARP_JOBS" -n 8 \
			perl "$tool" --no-tree --strict --show-types --terse -q --file 2>"$out/checkpatch.err") |
		sed "s|^$KWARP_ROOT/||" | grep -vE '^total: |^$' | without_ignored | sort -t: -k1,1 -k2,2n
}

# One clean build with the compiler's extra warnings and sparse: any word about our files
# fails. W=1 runs kernel-doc too, which has a check of its own here.
check_build() {
	local kdir log=$out/build.log
	kdir=$("$here/get-kernel.sh" 6.12)
	rm -rf build/lint-module
	if ! KWARP_BUILD=lint-module "$here/build-module.sh" "$kdir" W=1 C=2 CF=-D__CHECK_ENDIAN__ >"$log" 2>&1; then
		tail -n 20 "$log"
		return
	fi
	grep -E '(warning|error):' "$log" | grep -E 'lint-module/(drivers|include)|kwarp' |
		grep -vE "not described in|No description found|expecting prototype|Excess (function|struct)" |
		sed "s|.*/lint-module/||" | sort -u
}

check_layers() {
	"$here/check-layers.sh"
}

check_kernel-doc() {
	local tool
	tool=$("$here/get-source.sh" linux)/scripts/kernel-doc
	files "$driver/*.[ch]" | xargs -r perl "$tool" -none -Wreturn 2>&1
}

# A source file without its licence; a licence other than the project's.
check_licences() {
	files '*.[chS]' '*.sh' '*.py' '*.rst' '*Makefile' '*Kbuild' '*Kconfig' '*.config' '*.conf' '*CMakeLists.txt' \
		'*.7' '*.3' '.ci/*' 'scripts/*' 'tools/testing/qemu/init' | while read -r f; do
		head -n 3 "$f" | grep -q 'SPDX-License-Identifier: .*GPL-2.0.* OR BSD-2-Clause' ||
			echo "$f: no 'SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause' in its first three lines"
	done
	for f in LICENSES/GPL-2.0 LICENSES/BSD-2-Clause; do
		[ -s "$f" ] || echo "$f is missing"
	done
}

# Not asked for: SC1090, SC1091 (a sourced file is found at run time), SC2034, SC2119,
# SC2120 (what a library defines is used by those that source it).
check_shellcheck() {
	files '*.sh' '.ci/run' 'tools/testing/qemu/init' | xargs -r shellcheck -x -S warning -e SC1090,SC1091,SC2034,SC2119,SC2120 -f gcc
}

# Package mirrors and registries are the machine's business, never the project's.
check_hosts() {
	local names='deb\.debian''\.org|security\.debian''\.org|archive\.ubuntu''\.com|pypi''\.org|registry\.npmjs''\.org|crates''\.io|snapshot\.debian''\.org'
	files . | xargs -r grep -nIE "$names" -- /dev/null
}

# Every requirement of the RFCs has its function and its test, or a reason.
check_conformance() {
	"$here/conformance.py"
}

# The table for administrators has the numbers of limits.h, row by row. Two rows are no
# plain numbers there.
check_limits() {
	local guide=Documentation/admin-guide.rst line macro value n=0
	local names=(QP SRQ MR SQ_WR SRQ_WR CQE SGE SGE_RD INLINE IRD MSG MR_SIZE FRMR_PAGES HALF_OPEN BACKLOG)
	sed -n '/^Limits$/,/^Timers/p' "$guide" | grep -E '^[A-Z].*  +[0-9]' | tr -d , | while read -r line; do
		macro=KWARP_MAX_${names[n++]:-none}
		value=$(sed -nE "s/^#define ${macro}[[:space:]]+([0-9]+|\([0-9 *]+\))\$/\1/p" "$driver/limits.h")
		case $macro in
		*_MSG | *_MR_SIZE) ;;
		*) [[ " $line " = *" $((value)) "* ]] || echo "$guide: $macro is $((value)), but: $line" ;;
		esac
	done
}

why_not() {
	case $1 in
	shellcheck) command -v shellcheck >/dev/null || echo "shellcheck is not installed" ;;
	build) [ -e "$driver/Kbuild" ] || echo "the driver has no Kbuild" ;;
	esac
}

run_check() {
	local name=$1 reason log=$out/$1.txt
	reason=$(why_not "$name")
	if [ -n "$reason" ]; then
		skipped=$((skipped + 1))
		echo "ok lint/$name # SKIP $reason"
		return
	fi
	"check_$name" >"$log" 2>&1 || true
	if [ -s "$log" ]; then
		failed=$((failed + 1))
		echo "not ok lint/$name: $(wc -l <"$log") lines, all in $log"
		head -n 40 "$log" | sed 's/^/  /'
	else
		passed=$((passed + 1))
		echo "ok lint/$name"
	fi
}

for check in "$@"; do
	[[ " ${checks[*]} " = *" $check "* ]] || die "no check '$check': there are ${checks[*]}"
done
"$here/host-packages.sh" check
mkdir -p "$out"
passed=0 failed=0 skipped=0
[ $# -eq 0 ] || checks=("$@")
for check in "${checks[@]}"; do
	run_check "$check"
done
[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed $skipped" >>"$KWARP_RESULTS"
say "lint: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
