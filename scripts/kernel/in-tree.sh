# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced by scripts that build the driver inside a copy of a kernel's source.

# The folder of the driver; the copy, and its build folder.
driver='' tree='' build=''

# Make the tree DIR from SOURCE by hard links. To change a file in it, replace the file: a write
# would change the original, too.
make_tree() {
	say "copying the kernel source"
	cp -al "$2/." "$1/"
}

# A kernel that preempts, with control groups and debugfs, so that most of the driver's #ifdef apply.
options() {
	printf 'CONFIG_%s\n' 64BIT=y SMP=y PREEMPT=y MODULES=y MULTIUSER=y SYSFS=y PROC_FS=y DEBUG_FS=y CGROUPS=y \
		MEMCG=y IA32_EMULATION=y NET=y INET=y IPV6=y INFINIBAND=m INFINIBAND_USER_ACCESS=m INFINIBAND_ADDR_TRANS=y INFINIBAND_KWARP=m
}

kmake() {
	nice make -C "$tree" "O=$build" ARCH=x86 -j "$KWARP_JOBS" "$@"
}

prepare() {
	options >"$build/options"
	kmake allnoconfig "KCONFIG_ALLCONFIG=$build/options"
	options | grep -vxFf "$build/.config" && die "$tree: Kconfig has not taken these options" || :
	kmake modules_prepare
}

# build_module LOG: build kwarp.ko. A warning is an error. Print modpost's warnings, and functions of
# the driver that no object of it defines. modpost does not know the symbols of the rest of the
# kernel, which is not built, and prints only a few unknown ones.
build_module() {
	logged "$1" kmake W=1e KBUILD_MODPOST_WARN=1 "$driver/kwarp.ko"
	grep 'modpost:' "$1" | grep -vE 'Symbol version dump|undefined!|unresolved symbol' || :
	nm -u "$build/$driver/kwarp.o" | sed -n 's/^ *U \(.*kwarp\)/undefined: \1/p'
	[ -s "$build/$driver/kwarp.ko" ] || echo "there is no kwarp.ko, see $1"
}
