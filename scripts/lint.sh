#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run static checks. Each check is one result. A check that cannot run on this machine is skipped
# with a reason.
#
#   scripts/lint.sh [CHECK...]     (default: all; a wrong name prints the list)
#
#   KWARP_IN_TREE='7.2 6.12'   kernels for the check in-tree, a few minutes each the first time (7.2)
#   KWARP_RESULTS=FILE   append "PASSED FAILED SKIPPED" to FILE, for make check
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
driver=drivers/infiniband/sw/kwarp
checks=(checkpatch build in-tree layers kernel-doc licences shellcheck file-names case-names hosts conformance limits names kernels upstream docs)
in_tree=${KWARP_IN_TREE:-7.2}
out=$KWARP_ROOT/build/lint
cd "$KWARP_ROOT"

# files PATTERN...: print files that git tracks or would add, if they exist.
files() {
	git ls-files -co --exclude-standard -- "$@" | sort -u | while read -r f; do
		[ ! -f "$f" ] || echo "$f"
	done
}

# Drop the findings that checkpatch.conf names.
without_ignored() {
	awk -v conf="$here/lint/checkpatch.conf" '
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

# Like grep, but succeeds if no line is selected.
select_lines() {
	grep "$@" || [ $? -eq 1 ]
}

# checkpatch exits with status 1 after findings, and so xargs exits with 123. To find out whether
# checkpatch has run, the lines "total:" are counted, which "-q --terse" prints for each file.
# checkpatch runs in another folder, because it looks for a git tree around it, and writes files
# there.
check_checkpatch() {
	local tool sources=() judged
	tool=$("$here/get-source.sh" linux)/scripts/checkpatch.pl
	mapfile -t sources < <(files "$driver/*.[ch]" 'include/*.h' 'rdma-core-provider/*.[ch]' 'tools/*.[ch]' 'examples/*.[ch]')
	printf '%s\0' "${sources[@]/#/$KWARP_ROOT/}" |
		(cd "$out" && xargs -0 -P "$KWARP_JOBS" -n 8 perl "$tool" --no-tree --strict --show-types -q --terse --file \
			>"$out/checkpatch.out" 2>"$out/checkpatch.err") || true
	judged=$(grep -c '^total: ' "$out/checkpatch.out") || true
	[ "$judged" -eq ${#sources[@]} ] || echo "checkpatch has judged $judged of ${#sources[@]} files, see $out/checkpatch.err"
	sed "s|^$KWARP_ROOT/||" "$out/checkpatch.out" | select_lines -vE '^total: |^$' | without_ignored | sort -t: -k1,1 -k2,2n
}

# Do one clean build with the compiler's extra warnings and sparse. Each warning about the project's
# files is a finding. W=1 also runs kernel-doc, whose warnings are left out, because
# check_kernel-doc prints them.
check_build() {
	local kdir log=$out/build.log
	kdir=$("$here/get-kernel.sh" 6.12)
	rm -rf build/lint-module
	if ! KWARP_BUILD=lint-module "$here/build-module.sh" "$kdir" W=1 C=2 CF=-D__CHECK_ENDIAN__ >"$log" 2>&1; then
		tail -n 20 "$log"
		return 1
	fi
	[ "$(grep -c '^  CHECK ' "$log")" = "$(grep -cE '^  CC .*/kwarp/.*[a-z0-9_]+\.o$' <(grep -vE '(\.mod|module-common)\.o$' "$log"))" ] || echo "sparse has not run on each file, see $log"
	select_lines -E '(warning|error):' "$log" | select_lines -E 'lint-module/(drivers|include)|kwarp' |
		select_lines -vE "not described in|No description found|expecting prototype|Excess (function|struct)" |
		sed "s|.*/lint-module/||" | sort -u
	# Check which file calls which, by the symbols of the objects.
	"$here/lint/check-layers.sh" "$KWARP_ROOT/build/lint-module/$driver"
}

# Build the driver inside the source of the kernel that it is written for, without compat.h.
check_in-tree() {
	local version log
	for version in $in_tree; do
		log=$out/in-tree-$version.log
		"$here/build-in-tree.sh" "$version" >"$log" 2>&1 || tail -n 20 "$log"
	done
}

check_layers() {
	local status=0
	"$here/lint/check-layers.sh" || status=1
	"$here/lint/structure.py" || status=1
	return $status
}

check_kernel-doc() {
	local tool
	tool=$("$here/get-source.sh" linux)/scripts/kernel-doc
	files "$driver/*.[ch]" | xargs -r perl "$tool" -none -Wreturn 2>&1
}

# Find source files without a licence line, or with another licence.
check_licences() {
	files '*.[chS]' '*.sh' '*.py' '*.rst' '*Makefile' '*Kbuild' '*Kconfig' '*.config' '*.conf' '*CMakeLists.txt' \
		'*.7' '*.8' '*.3' '*.bash' '*.bt' '.ci/*' 'scripts/*' 'packaging/*' 'tools/testing/guest/init' 'tools/kwarpctl/kwarpctl' | while read -r f; do
		head -n 3 "$f" | grep -q 'SPDX-License-Identifier: .*GPL-2.0.* OR BSD-2-Clause' ||
			echo "$f: no 'SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause' in its first three lines"
	done
	# With the syscall note, programs that include these headers are no derived work.
	files 'include/uapi/*.h' | while read -r f; do
		head -n 1 "$f" | grep -qF '((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause)' ||
			echo "$f: no '((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause)' in its first line"
	done
	for f in LICENSES/GPL-2.0 LICENSES/BSD-2-Clause LICENSES/Linux-syscall-note; do
		[ -s "$f" ] || echo "$f is missing"
	done
}

# Excluded: SC1090, SC1091 (sourced files are found at run time), SC2034, SC2119, SC2120 (scripts
# that source a library use what it defines).
check_shellcheck() {
	files '*.sh' '*.bash' '.ci/run' 'tools/testing/guest/init' | xargs -r shellcheck -x -S warning -e SC1090,SC1091,SC2034,SC2119,SC2120 -f gcc
}

# Find names of files that do not exist: a reader would search for them.
check_file-names() {
	"$here/lint/file_names.py"
}

# Find functions that the end-to-end suite defines twice. All its files are sourced into one shell,
# so the second definition would replace the first.
check_case-names() {
	local suite=tools/testing/selftests/kwarp
	grep -hoE '^[a-zA-Z_0-9]+\(\)' "$suite"/{lib,run,reports}.sh "$suite"/{lib,cases}/*.sh | sort | uniq -d |
		sed 's/$/ is defined twice in the end-to-end suite/'
}

# The project must not name package mirrors or registries: these are settings of the machine.
check_hosts() {
	local names='deb\.debian''\.org|security\.debian''\.org|archive\.ubuntu''\.com|pypi''\.org|registry\.npmjs''\.org|crates''\.io|snapshot\.debian''\.org'
	files . | tr '\n' '\0' | { xargs -0 -r grep -nIE "$names" -- /dev/null || [ $? -eq 123 ]; }
}

# Check that the tables have a function and a test for each requirement of the RFCs, or a reason why
# there is none.
check_conformance() {
	"$here/conformance.py"
}

# Check that the table of limits in the administrator guide has the numbers of limits.h. Row N of
# the table is about the macro KWARP_MAX_ and entry N of "names". The numbers of MSG and MR_SIZE are
# not compared, because the guide writes them in another form.
check_limits() {
	local guide=Documentation/admin-guide.rst line macro value n=0
	local names=(QP SRQ MR SQ_WR SRQ_WR CQE SGE SGE_RD INLINE IRD MSG MR_SIZE FRMR_PAGES BACKLOG)
	while read -r line; do
		macro=KWARP_MAX_${names[n++]:-none}
		value=$(sed -nE "s/^#define ${macro}[[:space:]]+([0-9]+|\([0-9 *]+\))\$/\1/p" "$driver/limits.h")
		case $macro in
		*_MSG | *_MR_SIZE) ;;
		*) [[ " $line " = *" $((value)) "* ]] || echo "$guide: $macro is $((value)), but: $line" ;;
		esac
	done < <(sed -n '/^Limits$/,/^Timers/p' "$guide" | grep -E '^[A-Z].*  +[0-9]' | tr -d ,)
	[ "$n" -eq ${#names[@]} ] || echo "$guide: the table of limits has $n rows with numbers, not ${#names[@]}"
}

# Check that the reference describes each knob, counter, tracepoint and code, and no other.
check_names() {
	"$here/lint/names.py"
}

# Check that the generated table of kernels agrees with the records of test runs.
check_kernels() {
	"$here/kernels.py" --check
}

# kernels_of PATCH: print the kernel versions that the patch is for. They are in the first sentence
# after the patch's name in upstream/index.rst.
kernels_of() {
	grep -A 1 -F "\`\`${1##*/}\`\`" Documentation/upstream/index.rst | sed -n '2s/\. .*//p' | grep -oE '[0-9]+\.[0-9]+'
}

# Check that each patch for upstream applies to the kernels that it is for. Kernels whose source is
# not in the cache are left out. The files of the series for upstream are only made, and the figures
# of its cover letter have to be those of the pages that it names.
check_upstream() {
	local version versions source file figure known=tools/testing/selftests/kwarp/raw-siw.known
	local series=Documentation/upstream/series.txt page=Documentation/performance/index.rst
	rm -rf "$out/core"
	"$here/upstream/core.py" "$out/core"
	for figure in $(grep '^     ' $series | grep -oE '[0-9]+([,.][0-9]+)+|[0-9]{3,}'); do
		grep -qE "(^|[^0-9.,])${figure//./\\.}($|[^0-9])" $page || echo "$series: $page does not have $figure"
	done
	figure=$(grep -cvE '^(#|=|$)' $known)
	grep -qF " $figure (${known##*/}" $series || echo "$series: $known has $figure cases"
	for file in Documentation/upstream/*.patch; do
		versions=$(kernels_of "$file") || echo "$file: upstream/index.rst names no kernel for it"
		for version in $versions; do
			source=$KWARP_CACHE/source/linux-$version
			[ -e "$source" ] || continue
			patch --dry-run -sf -p1 -d "$source" <"$file" || echo "$file does not apply to linux-$version"
		done
	done
}

# Print Sphinx's warnings, without the path of the checkout.
check_docs() {
	"$here/docs.sh" "$out/docs/html" 2>&1 | select_lines -vxF "$out/docs/html/index.html" | sed "s|^$KWARP_ROOT/||"
}

why_not() {
	case $1 in
	shellcheck) command -v shellcheck >/dev/null || echo "shellcheck is not installed" ;;
	build) [ -e "$driver/Kbuild" ] || echo "the driver has no Kbuild" ;;
	esac
}

# A check fails if it prints something, or if its exit status is not 0, because a tool that has
# died prints nothing. The check is not called in a condition, which would switch errexit off in
# it.
run_check() {
	local name=$1 reason log=$out/$1.txt status
	reason=$(why_not "$name")
	if [ -n "$reason" ]; then
		skipped=$((skipped + 1))
		echo "ok lint/$name # SKIP $reason"
		return
	fi
	set +e
	(set -e; "check_$name") >"$log" 2>&1
	status=$?
	set -e
	[ "$status" -eq 0 ] || [ -s "$log" ] || echo "the check ended with status $status and said nothing" >"$log"
	if [ -s "$log" ]; then
		failed=$((failed + 1))
		echo "not ok lint/$name: $(wc -l <"$log") lines, all in $log"
		head -n 40 "$log" | sed 's/^/  /'
	else
		passed=$((passed + 1))
		echo "ok lint/$name"
	fi
}

# Download what the check needs now: the output of a check counts as findings, and downloads
# report progress.
fetch_for() {
	case $1 in
	checkpatch | kernel-doc) "$here/get-source.sh" linux ;;
	upstream) "$here/get-source.sh" linux 6.12 ;;
	build) "$here/get-kernel.sh" 6.12 ;;
	in-tree) for version in $in_tree; do "$here/get-source.sh" linux "$version"; done ;;
	esac >/dev/null
}

case ${1:-} in -h | --help) head_comment; exit ;; esac
for check in "$@"; do
	[[ " ${checks[*]} " = *" $check "* ]] || die "no check '$check': there are ${checks[*]}"
done
"$here/host-packages.sh" lint
mkdir -p "$out"
passed=0 failed=0 skipped=0
[ $# -eq 0 ] || checks=("$@")
for check in "${checks[@]}"; do
	fetch_for "$check"
	run_check "$check"
done
[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed $skipped" >>"$KWARP_RESULTS"
say "lint: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
