# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154
#
# Tests of what the scripts say when a first step fails: apt's failures, missing packages, no root,
# no space. Sourced by selftest.sh, which sets "here" (scripts/) and "out" (a folder for files).
# Programs that these tests replace are stubs in a folder of their own, first in PATH.

# stub NAME <<SCRIPT: make a program in $out/stubs.
stub() {
	mkdir -p "$out/stubs"
	{ echo '#!/bin/bash'; cat; } >"$out/stubs/$1"
	chmod +x "$out/stubs/$1"
}

# fails_with PATTERN COMMAND...: the command, run with the stubs, must fail, and its last line must
# match the pattern.
fails_with() {
	local pattern=$1 said
	shift
	if said=$(PATH=$out/stubs:$PATH "$@" 2>&1 </dev/null); then
		echo "succeeds: $*"
	elif ! tail -n 1 <<<"$said" | grep -qE -- "$pattern"; then
		echo "no '$pattern' from $*, but: $said"
	fi
}

# ------------------------------------------------------------------ the module

# says_module RELEASE PATTERN: make module for a build directory of this release in which nothing can
# be compiled; no RELEASE: make does not tell it.
says_module() {
	mkdir -p "$out/kdir"
	{ printf 'modules:\n'; [ -z "$1" ] || printf 'kernelrelease:\n\t@echo %s\n' "$1"; } >"$out/kdir/Makefile"
	fails_with "$2" "$here/build-module.sh" "$out/kdir"
}

# Building for a folder that is no kernel's, or for a kernel that is too old, and the usual command
# for modules, which does not tell the module what the kernel lacks, say what to do.
test_no-kernel() {
	local dir said
	rm -rf "$out/stubs"
	fails_with 'no kernel build directory at /no' "$here/build-module.sh" /no
	says_module '' 'is not the build directory of a kernel'
	says_module 5.10.0 'needs Linux 6.1 or newer'
	says_module 6.1.0 'cannot compile against'
	fails_with 'give 7.2 or 6.12' "$here/build-in-tree.sh" 6.1
	for dir in . drivers/infiniband/sw/kwarp; do
		! said=$(kernel_make "$("$here/get-kernel.sh" 6.12)" "M=$KWARP_ROOT/$dir" modules 2>&1) || echo "the usual command succeeds in $dir"
		grep -q 'run "make module KDIR=<' <<<"$said" || echo "$said"
	done
}

# ------------------------------------------------------------------------- apt

# says_apt LINE PATTERN: "apt-get update" ends with this line, and the message must match.
says_apt() {
	stub apt-get <<-END
		[ "\$1" != indextargets ] || exit 0
		echo "$1"
		echo 'E: Some index files failed to download. They have been ignored, or old ones used instead.'
		exit 100
	END
	rm -rf "$out/cache"
	fails_with "$2" env KWARP_CACHE="$out/cache" KWARP_MIRROR=http://mirror.invalid/debian \
		"$here/apt-private.sh" prepare trixie
	fails_with "apt: ${1:3:40}" env KWARP_CACHE="$out/cache" KWARP_MIRROR=http://mirror.invalid/debian \
		"$here/apt-private.sh" prepare trixie
}

test_apt-trouble() {
	local at=http://mirror.invalid/debian
	rm -rf "$out/stubs"
	says_apt "E: Release file for $at/dists/trixie/InRelease is expired (invalid since 3d 2h 1min 5s). Updates for this repository will not be applied." 'out of date'
	says_apt "E: Failed to fetch $at/dists/trixie/main/binary-amd64/Packages  Error writing to file - write (28: No space left on device)" 'no space left'
	says_apt "E: You don't have enough free space in /var/cache/apt/archives/." 'no space left'
	says_apt "E: Failed to fetch $at/dists/trixie/InRelease  Could not resolve 'mirror.invalid'" 'cannot be reached'
	says_apt "E: The repository '$at trixie Release' does not have a Release file." 'does not have this'
	says_apt "E: Something new." 'apt failed'
	# Without a mirror of Debian the message says how to name one.
	fails_with 'KWARP_MIRROR' env KWARP_CACHE="$out/cache" KWARP_MIRROR= "$here/apt-private.sh" prepare trixie
}

# Lists are fetched for the suites that are asked for, and not again if they are there, also if an
# older release of the scripts has fetched them.
test_apt-suites() {
	local cache=$out/cache run
	rm -rf "$out/stubs" "$cache"
	run=(env PATH="$out/stubs:$PATH" KWARP_CACHE="$cache" KWARP_MIRROR=http://mirror.invalid/debian "$here/apt-private.sh")
	stub apt-get <<-'END'
		[ "$1" != indextargets ] || exit 0
		list=$(printf '%s\n' "$@" | sed -n 's/^Dir::Etc::sourcelist=//p')
		cut -d' ' -f1,4 "$list" >>"${list%/*}/fetched"
	END
	"${run[@]}" prepare bookworm-security trixie trixie-src trixie 2>/dev/null
	[ "$(paste -sd, "$cache/apt/fetched")" = 'deb bookworm-security,deb trixie,deb-src trixie' ] ||
		{ echo "fetched:"; cat "$cache/apt/fetched"; }
	rm -rf "$cache"
	mkdir -p "$cache/apt"
	"${run[@]}" sources bookworm trixie >"$cache/apt/sources.list"
	sed -i 'p;s/^deb /deb-src /' "$cache/apt/sources.list"
	touch "$cache/apt/ready"
	"${run[@]}" prepare trixie trixie-src bookworm 2>/dev/null
	[ ! -e "$cache/apt/fetched" ] || { echo "fetched again:"; cat "$cache/apt/fetched"; }
}

# -------------------------------------------------------------------- progress

slow_step() {
	echo 'CC first.o'
	sleep 2.5
}

# A long step says how long it has run, and what it does. Nothing of that is left after the step: a
# process would keep the caller's lock, and the pipe of the command substitution open.
test_ticks() {
	local said start
	said=$(KWARP_TICK=1 logged "$out/ticks.log" slow_step 2>&1)
	grep -qE '^\[ *[0-9]+s\] slow_step: [12] s so far, at: CC first.o \(log: .*/ticks.log\)$' <<<"$said" ||
		echo "a step of 2.5 s said: $said"
	start=$SECONDS
	said=$(logged "$out/ticks.log" true 2>&1)
	[ $((SECONDS - start)) -lt 5 ] || echo "something is left for $((SECONDS - start)) s"
	[ -z "$said" ] || echo "a short step said: $said"
	exec 9>"$out/ticks.lock"
	flock 9
	start_ticks "$out/ticks.log" step
	exec 9>&-
	flock -w 5 "$out/ticks.lock" true || echo "the lock is kept"
	end_ticks
}

# ------------------------------------------------- missing packages, root, tools

# A user who cannot become root, on a machine without packages.
poor_user() {
	rm -rf "$out/stubs"
	stub id <<<'echo 1000'
	stub sudo <<<'exit 1'
	stub dpkg-query <<<'exit 1'
}

test_no-root() {
	local missing='packages that are missing here .apt-get install .* python3-sphinx.*sudo refuses'
	poor_user
	fails_with "$missing" "$here/docs.sh"
	fails_with "$missing" "$here/lint.sh" docs
	fails_with 'root is needed for packages and for the guest' "$KWARP_ROOT/tools/testing/demo/demo.sh"
	# With all packages no root is needed.
	stub dpkg-query <<<'echo installed'
	PATH=$out/stubs:$PATH "$here/host-packages.sh" check || echo "the installed packages do not do"
}

# Each command asks only for packages that it uses.
test_packages-of() {
	local set
	for set in kunit lint docs fuzz provider; do
		! "$here/host-packages.sh" --list $set | grep -E '^(qemu|mmdebstrap|tshark)' || echo "$set takes these"
	done
}

test_packages-fail() {
	rm -rf "$out/stubs"
	stub id <<<'echo 0'
	stub dpkg-query <<<'exit 1'
	stub uname <<<'[ "$*" = -r ] && echo 6.1.0-99-none || exec /usr/bin/uname "$@"'
	stub apt-get <<-'END'
		printf 'E: Unable to locate package %s\n' linux-headers-6.1.0-99-none
		printf "E: Couldn't find any package by regex '%s'\n" linux-headers-6.1.0-99-none
		exit 100
	END
	fails_with 'apt has no linux-headers-6.1.0-99-none' env KWARP_CACHE="$out/cache" "$here/host-packages.sh" install
	stub apt-get <<-'END'
		echo 'E: Unable to locate package qemu-system-x86'
		exit 100
	END
	fails_with 'cannot be installed: .*does not know it.*Unable to locate package qemu' env KWARP_CACHE="$out/cache" "$here/host-packages.sh" demo
}

# Without compilers there is one line that names their packages.
test_no-tools() {
	local bin=$out/bare program tree=$out/no-rdma-core kdir=$out/kdir
	rm -rf "$bin" "$tree" "$kdir" "$out/stubs"
	mkdir -p "$bin" "$tree/providers/siw" "$kdir"
	for program in bash dirname realpath mkdir date nproc sed paste sort id cat touch; do
		ln -s "$(command -v $program)" "$bin/"
	done
	touch "$kdir/Makefile"
	# lib.sh adds /usr/sbin:/sbin to PATH, which have none of these on Debian.
	fails_with 'is no source tree of rdma-core' "$here/build-provider.sh" /tmp
	touch "$tree/providers/siw/CMakeLists.txt"
	echo 'set(IBVERBS_PABI_VERSION "34")' >"$tree/CMakeLists.txt"
	fails_with 'not installed: gcc cmake ninja pkg-config rsync .*build-essential cmake ninja-build pkg-config rsync' \
		env PATH="$bin" "$here/build-provider.sh" "$tree"
	fails_with 'not installed: make gcc .*apt-get install build-essential\)' env PATH="$bin" "$here/build-module.sh" "$kdir"
}

# The chroots need a mount namespace, and that is asked before minutes of work.
test_no-mounts() {
	rm -rf "$out/stubs"
	stub id <<<'echo 0'
	stub dpkg-query <<<'echo installed'
	stub unshare <<<'echo "unshare: cannot change root filesystem propagation: Invalid argument" >&2; exit 1'
	fails_with 'cannot change root filesystem propagation.*mount --bind DIR DIR' env KWARP_CACHE="$out/cache" \
		"$here/debian/build-packages.sh" trixie
	[ ! -e "$out/cache/packages" ] || echo "it has begun"
}

# ----------------------------------------------------------------------- space

# df_says MB: a stub of df with this much free space.
df_says() {
	rm -rf "$out/stubs"
	stub df <<<"printf 'Avail\n%sM\n' $1"
}

test_space() {
	local both
	df_says 1500
	# Both folders are on one file system, so their needs add up.
	fails_with "trial needs 1600 MB in $out/a/b and $out, where 1500 MB are free" \
		bash -c ". '$here/lib.sh'; need_space trial 900 '$out/a/b' 700 '$out'"
	df_says 1600
	both=$(PATH=$out/stubs:$PATH need_space trial 900 "$out/a/b" 700 "$out" 2>&1) || echo "1600 MB do not do: $both"
	df_says 100
	fails_with 'the demo needs [0-9]+ MB in .*, where 100 MB are free' env KWARP_CACHE="$out/none" "$KWARP_ROOT/tools/testing/demo/demo.sh"
}

# ----------------------------------------------------------------------- cache

# Each folder that a script makes in the cache is one that clean-cache.sh knows.
test_clean-cache() {
	local cache=$out/cache part
	rm -rf "$cache"
	mkdir -p "$cache"
	for part in $(grep -rhoE 'cached "[a-z-]+/' "$here" "$KWARP_ROOT/tools/testing" | sed 's/^cached "//; s,/,,' | sort -u) apt apt-arm64 lock log provider kunit kunit-be; do
		mkdir "$cache/$part"
	done
	echo mine >"$cache/mine"
	KWARP_CACHE=$cache "$here/clean-cache.sh" 2>"$out/clean-cache.log"
	[ "$(ls "$cache")" = mine ] || { echo "left:"; ls "$cache"; }
	grep -q 'has other files, which stay: mine' "$out/clean-cache.log" || cat "$out/clean-cache.log"
	rm "$cache/mine"
	KWARP_CACHE=$cache "$here/clean-cache.sh" 2>"$out/clean-cache.log"
	[ ! -e "$cache" ] || echo "the empty folder stays"
}

# ------------------------------------------------------------------------ check

# make check with named steps runs these only, and repeats why cases were skipped.
test_check-steps() {
	local tree=$out/check-steps said
	rm -rf "$tree" "$out/stubs"
	mkdir -p "$tree/scripts"
	cp "$here"/{check.sh,lib.sh} "$tree/scripts/"
	stub id <<<'echo 0'
	printf '#!/bin/sh\n' >"$tree/scripts/host-packages.sh"
	cat >"$tree/scripts/lint.sh" <<-'END'
		#!/bin/sh
		echo 'ok 1 one # SKIP no tool'
		echo 'ok - two of it # SKIP no tool'
		echo '0 0 2' >"$KWARP_RESULTS"
	END
	cat >"$tree/scripts/kunit.sh" <<-'END'
		#!/bin/sh
		echo 'not ok 1 three'
		echo '0 1 0' >"$KWARP_RESULTS"
		exit 1
	END
	chmod +x "$tree"/scripts/*.sh
	! said=$(PATH=$out/stubs:$PATH "$tree/scripts/check.sh" lint kunit 2>&1) || echo "succeeds"
	grep -qx '=== skipped in lint: no tool: one two of it' <<<"$said" &&
		grep -qE '^=== times: lint [0-9]+ s, kunit [0-9]+ s, in all [0-9]+ s$' <<<"$said" &&
		[ "$(tail -n 1 <<<"$said")" = '0 passed, 1 failed, 2 skipped' ] || echo "$said"
	# A step that cannot begin is a failure, also if it runs beside others.
	mkdir -p "$tree/tools/testing/selftests"
	printf '#!/bin/sh\necho "2 0 0" >"$KWARP_RESULTS"\n' >"$tree/tools/testing/selftests/e2e.sh"
	chmod +x "$tree/tools/testing/selftests/e2e.sh"
	! said=$(PATH=$out/stubs:$PATH "$tree/scripts/check.sh" lint provider-test e2e 2>&1) || echo "succeeds"
	grep -qx '=== provider-test failed (exit status 127)' <<<"$said" &&
		[ "$(tail -n 1 <<<"$said")" = '2 passed, 1 failed, 2 skipped' ] || echo "$said"
	fails_with "no step 'lit'" "$tree/scripts/check.sh" lit
}

# ------------------------------------------------------------------- the shell

# wait_for PATTERN FILE: wait until the file has such a line, or two minutes.
wait_for() {
	local i
	for ((i = 0; i < 120; i++)); do
		! grep -qs -- "$1" "$2" || return 0
		sleep 1
	done
}

# Type these commands as a user would: what is typed before the prompt may be lost.
type_in_shell() {
	wait_for 'exit ends the machine' "$1"
	sleep 2
	printf '%s\n' 'stty size; echo "TERM $TERM"' 'rping -c -a 10.77.0.2 -C 2 -v && echo "rping $?"' \
		'ip netns exec kwlab-b ib_write_bw -R -F -d kwlab-b -n 500 >/dev/null &' 'sleep 3' \
		'ib_write_bw -R -F -d kwlab-a -n 500 10.77.0.2 && echo "bw $?"' \
		'kwarpctl lab down && kwarpctl lab up && echo "lab $?"'
	wait_for '^lab 0' "$1"
	echo exit
}

# The shell in a guest has links, a server for rping, and the size of the host's terminal.
test_shell() {
	local overlay log=$out/shell.log
	overlay=$("$KWARP_ROOT/tools/testing/guest/overlay.sh" 6.12 2>"$out/overlay.log") || { cat "$out/overlay.log"; return; }
	: >"$log"
	type_in_shell "$log" | TERM=tmux-256color timeout 300 script -qefc "stty rows 33 cols 99
		'$KWARP_ROOT/tools/testing/guest/vm.sh' --overlay '$overlay' --logs '$out/shell' --shell" /dev/null >"$log" 2>&1 || echo "exit status $?"
	grep -q '33 99' "$log" && grep -q '^TERM tmux-256color' "$log" && grep -q '^rping 0' "$log" &&
		grep -q '^bw 0' "$log" && grep -q '^lab 0' "$log" || cat "$log"
}
