#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Find out what a kernel offers, by compiling small files: the version number of a kernel with
# backports does not tell. Each probe of scripts/kernel/probes.txt that does not compile becomes
# KWARP_LACKS_NAME in OUT, with the probe's comment. The driver's Kbuild includes OUT in each file.
#
#   scripts/kernel/probe.sh KDIR OUT/kwarp_config.h [MAKE ARGUMENTS...]
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

kdir=$1 out=$2
shift 2
id=$({ kdir_id "$kdir"; cat "$here/probes.txt" "$0"; echo "$@"; } | sha256sum | cut -c1-16)
if [ -s "$out" ] && grep -q "probe id $id" "$out"; then
	exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$(dirname "$out")/kernel-probe.log
mkdir -p "$(dirname "$out")"

compile_all() {
	local p
	awk -v work="$work" '/^=== / { file = work "/" $2 ".c"; next } file { print >file }' "$here/probes.txt"
	# The control: if this one fails the kernel's build directory is unusable.
	echo '#include <linux/module.h>' >"$work/control.c"
	for p in "$work"/*.c; do
		echo "obj-m += $(basename "${p%.c}").o"
	done >"$work/Kbuild"
	echo 'ccflags-y += -Wno-missing-prototypes -Werror' >>"$work/Kbuild"
	kernel_make "$kdir" "M=$work" -k -j "$KWARP_JOBS" "$@" modules >"$log" 2>&1 </dev/null || true
	[ -e "$work/control.o" ] ||
		die "cannot compile against $kdir; see $log (are the kernel headers and its compiler installed?)"
}

write_config() {
	local name
	echo '/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */'
	echo "/* Made by scripts/kernel/probe.sh, probe id $id: do not edit. */"
	sed -n 's/^=== //p' "$here/probes.txt" | while read -r name; do
		echo
		sed -n 1p "$work/$name.c"
		if [ -e "$work/$name.o" ]; then
			echo "/* KWARP_LACKS_${name^^} is not set */"
		else
			echo "#define KWARP_LACKS_${name^^} 1"
		fi
	done
}

compile_all "$@"
write_config >"$out.new"
mv "$out.new" "$out"
