#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Make a series of patches that adds the driver to Linux 7.2, and print the folder with the patches.
# scripts/upstream/core.py says what of the driver is left out; Documentation/upstream/series.txt has
# the cover letter, the messages, and which file belongs to which patch.
#
#   scripts/upstream-series.sh             patches in build/upstream/patches
#   scripts/upstream-series.sh --check     and check them: each is applied and compiled with W=1 in
#                                          the kernel's source, after the ones before it, with the
#                                          last one's lines in Kconfig and Makefile; a warning is an
#                                          error. checkpatch --strict has no finding. Minutes.
#
# To compile means all objects of the patches so far; the module is linked after the last one.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=kernel/in-tree.sh
. "$here/kernel/in-tree.sh"
driver=drivers/infiniband/sw/kwarp
version=7.2
most=12
series=$KWARP_ROOT/Documentation/upstream/series.txt
out=$KWARP_ROOT/build/upstream
repo=$out/repo
uapi=include/uapi/rdma
# Files of the kernel that the series changes.
changed=(MAINTAINERS Documentation/userspace-api/ioctl/ioctl-number.rst drivers/infiniband/Kconfig
	drivers/infiniband/sw/Makefile "$uapi/ib_user_ioctl_verbs.h")

name=$(git -C "$KWARP_ROOT" config user.name) || name="The kwarp authors"
email=$(git -C "$KWARP_ROOT" config user.email) || email=kwarp@kwarp.example
in_repo() {
	git -C "$repo" -c user.name="$name" -c user.email="$email" "$@"
}

# Split series.txt: $out/messages/N is the message of patch N (0: the cover letter), and N.files has
# the patterns of its files.
split_series() {
	mkdir "$out/messages"
	awk -v out="$out/messages/" '
		/^#/ && !file { next }
		/^=== / { file = out n++; sub(/^=== /, ""); print >file; next }
		/^Files: / { sub(/^Files: /, ""); print >(file ".files"); next }
		{ if (!(file in begun) && $0 != "") print "" >file; begun[file] = 1; print >file }' "$series"
	patches=$(find "$out/messages" -name '*.files' | wc -l)
	[ "$patches" -le "$most" ] || die "$series has $patches patches, $most are allowed"
}

# Print the number of the patch that a file of the driver belongs to.
patch_of() {
	local n pattern patterns
	for ((n = 1; n <= patches; n++)); do
		read -ra patterns <"$out/messages/$n.files"
		for pattern in "${patterns[@]}"; do
			# shellcheck disable=SC2254
			case $1 in $pattern) echo "$n"; return ;; esac
		done
	done
	die "$series: no patch has $1"
}

# objects N: print the objects of patch N, for its block of the Makefile.
objects() {
	awk -v n="$1" '$1 == n && sub(/\.c$/, ".o", $2) { print $2 }' "$out/files"
}

# makefile N: print the Makefile after patch N.
makefile() {
	local n sign=':='
	echo '# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause'
	echo 'obj-$(CONFIG_INFINIBAND_KWARP) += kwarp.o'
	echo
	if awk -v n="$1" '$1 <= n && $2 == "trace.c" { found = 1 } END { exit !found }' "$out/files"; then
		echo '# define_trace.h includes trace.h by name.'
		echo 'CFLAGS_trace.o := -I$(src)'
		echo
	fi
	for ((n = 1; n <= $1; n++)); do
		objects "$n" | paste -sd ' ' | fold -s -w 68 | sed "s/ *\$//; 1s/^/kwarp-y $sign /; 2,\$s/^/\\t   /; \$!s/\$/ \\\\/"
		sign='+='
	done
}

add_driver_id() {
	sed -i '/^enum rdma_driver_id {/,/^};/s/^};/\tRDMA_DRIVER_KWARP,\n};/' "$repo/$uapi/ib_user_ioctl_verbs.h"
}

# Add the driver to the build, and the entries about it.
enable() {
	sed -i '/^source.*sw\/rxe\/Kconfig/i source "'"$driver"'/Kconfig"' "$repo/drivers/infiniband/Kconfig"
	# make, not the shell, expands the variable.
	# shellcheck disable=SC2016
	sed -i '/^obj-$(CONFIG_RDMA_RXE)/i obj-$(CONFIG_INFINIBAND_KWARP)		+= kwarp/' "$repo/drivers/infiniband/sw/Makefile"
	sed '/^config INFINIBAND_KWARP_SIW/,$d' "$KWARP_ROOT/$driver/Kconfig" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$repo/$driver/Kconfig"
	sed -i "$(sed -n "/^'k'/=" "$repo/${changed[1]}" | tail -n 1)a 'k'   77-79  rdma/kwarp-abi.h" "$repo/${changed[1]}"
	awk -v who="$name <$email>" -v driver="$driver/" '
		last == "" && $0 > "KWARP" && heading ~ /^K/ && heading < "KWARP" && !done {
			print "KWARP SOFTWARE IWARP DRIVER\nM:\t" who "\nL:\tlinux-rdma@vger.kernel.org\nS:\tMaintained"
			print "F:\t" driver "\nF:\tinclude/uapi/rdma/kwarp-abi.h\nF:\tinclude/uapi/rdma/kwarp-netlink.h\n"
			done = 1
		}
		last == "" { heading = $0 }
		{ print; last = $0 }' "$repo/MAINTAINERS" >"$out/MAINTAINERS"
	mv "$out/MAINTAINERS" "$repo/MAINTAINERS"
}

# Commit patch N.
add_patch() {
	local n=$1 file
	while read -r file; do
		install -D -m 644 "$out/core/$driver/$file" "$repo/$driver/$file"
	done < <(awk -v n="$n" '$1 == n { print $2 }' "$out/files")
	makefile "$n" >"$repo/$driver/Makefile"
	if [ "$n" -eq 1 ]; then
		install -m 644 -t "$repo/$uapi" "$out/core/$uapi"/kwarp-*.h
		add_driver_id
	fi
	[ "$n" -lt "$patches" ] || enable
	in_repo add -A
	in_repo commit -qs -F "$out/messages/$n"
}

# Print the cover letter, with the sums of the series in it.
cover_letter() {
	local files lines
	files=$(in_repo ls-files "$driver" | wc -l)
	lines=$(in_repo ls-files "$driver" | sed "s|^|$repo/|" | xargs cat | wc -l)
	sed "s/@FILES@/$files/; s/@LINES@/$lines/" "$out/messages/0"
}

make_series() {
	rm -rf "$out"
	mkdir -p "$repo"
	split_series
	"$here/upstream/core.py" "$out/core"
	(cd "$out/core/$driver" && find . -name '*.[ch]' -printf '%P\n') | sort | while read -r file; do
		echo "$(patch_of "$file") $file"
	done >"$out/files"
	in_repo init -q -b series
	(cd "$source" && cp --parents "${changed[@]}" "$repo/")
	in_repo add -A
	in_repo commit -qm "Linux $version"
	in_repo tag base
	for ((n = 1; n <= patches; n++)); do
		add_patch "$n"
	done
	in_repo format-patch -q --cover-letter -o "$out/patches" base
	cover_letter >"$out/cover"
	awk -v cover="$out/cover" '
		/\*\*\* SUBJECT HERE \*\*\*/ { getline subject <cover; sub(/\*\*\* SUBJECT HERE \*\*\*/, subject); print; next }
		/\*\*\* BLURB HERE \*\*\*/ { getline <cover; while ((getline line <cover) > 0) print line; next }
		{ print }' "$out/patches/0000-cover-letter.patch" >"$out/cover.patch"
	mv "$out/cover.patch" "$out/patches/0000-cover-letter.patch"
	rm "$out/cover"
	patch_files=("$out"/patches/*.patch)
	patch_files=("${patch_files[@]:1}")
}

# Print what checkpatch finds. Files are new before MAINTAINERS names them, in the last patch;
# check_maintainers() looks whether it names all. trace.h is laid out as all tracepoints are.
check_patches() {
	local judged
	perl "$source/scripts/checkpatch.pl" --root="$source" --strict --show-types --showfile -q --terse \
		--ignore FILE_PATH_CHANGES "${patch_files[@]}" >"$out/checkpatch.out" 2>"$out/checkpatch.err" || true
	judged=$(grep -c '^total: ' "$out/checkpatch.out") || true
	[ "$judged" -eq "$patches" ] || echo "checkpatch has judged $judged of $patches patches, see $out/checkpatch.err"
	grep -vE '^total: |^$|/kwarp/trace\.h:[0-9]+: CHECK:(PARENTHESIS_ALIGNMENT|OPEN_ENDED_LINE):' "$out/checkpatch.out" || :
}

# Print new files that MAINTAINERS does not name.
check_maintainers() {
	in_repo diff --name-only --diff-filter=A base series |
		grep -vFf <(sed -n '/^KWARP /,/^$/s/^F:\t//p' "$repo/MAINTAINERS") | sed 's/$/ is not in MAINTAINERS/' || :
}

# The patches, applied to the kernel's files, have to give what they were made from.
check_apply() {
	rm -rf "$out/applied"
	git clone -q -b base -c advice.detachedHead=false "$repo" "$out/applied" 2>/dev/null
	git -C "$out/applied" -c user.name=x -c user.email=x am -q "${patch_files[@]}"
	[ "$(git -C "$out/applied" rev-parse 'HEAD^{tree}')" = "$(in_repo rev-parse 'series^{tree}')" ] ||
		echo "the patches give other files than they were made from"
}

# put_commit N: bring the tree to the state after patch N, with the last patch's lines for the build.
put_commit() {
	local state=$out/state file
	rm -rf "$state"
	mkdir "$state"
	in_repo archive "series~$((patches - $1))" | tar -x -C "$state"
	in_repo archive series drivers/infiniband/Kconfig drivers/infiniband/sw/Makefile "$driver/Kconfig" | tar -x -C "$state"
	mkdir -p "$tree/$driver"
	rsync -rc --delete "$state/$driver/" "$tree/$driver/"
	for file in "${changed[@]}" "$uapi"/kwarp-{abi,netlink}.h; do
		rsync -c "$state/$file" "$tree/$file"
	done
}

# Compile patch after patch.
check_builds() {
	local n found
	tree=$(cached "upstream/$(basename "$source")" make_tree "$source")
	build=$tree.build
	mkdir -p "$build"
	exec 8>"$tree.lock"
	flock 8
	for ((n = 1; n <= patches; n++)); do
		put_commit "$n"
		[ "$n" -gt 1 ] || logged "$out/build-0.log" prepare
		if [ "$n" -lt "$patches" ]; then
			logged "$out/build-$n.log" kmake W=1e "$driver/"
		else
			found=$(build_module "$out/build-$n.log")
			[ -z "$found" ] || echo "$found"
		fi
		say "patch $n of $patches: $(grep -c "^  CC .*$driver" "$out/build-$n.log") objects compiled"
	done
}

case ${1:-} in
-h | --help) head_comment; exit ;;
'' | --check) ;;
*) die "usage: $0 [--check]" ;;
esac
need_tools git rsync
source=$("$here/get-source.sh" linux "$version")
make_series
if [ -n "${1:-}" ]; then
	"$here/host-packages.sh" kunit
	findings=$(check_patches; check_maintainers; check_apply; check_builds)
	[ -z "$findings" ] || die "the series has findings:"$'\n'"$findings"
fi
echo "$out/patches"
