#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# A test of an RDMA program in kwarp's virtual machine: prints TAP, also to /out. Documentation/ci.rst
# explains it. Runs in the folder examples, after make.
set -u

server() {
	ip netns exec kwlab-b "$@"
}

client() {
	ip netns exec kwlab-a "$@"
}

# result NAME COMMAND...: run a test, and print its result.
n=0
result() {
	local name=$1
	shift
	n=$((n + 1))
	if "$@" >/out/"$name".log 2>&1; then
		echo "ok $n $name"
	else
		echo "not ok $n $name"
		tail -n 5 /out/"$name".log | sed 's/^/# /'
		failed=1
	fi
}

# wait_for_port PORT: a listener of an RDMA program is seen by ss.
wait_for_port() {
	for _ in {1..100}; do
		[ -z "$(server ss -Hltn "sport = :$1")" ] || return 0
		sleep 0.1
	done
	return 1
}

first() {
	server timeout 30 ./first -s 10.77.0.2 &
	wait_for_port 7471 || return
	client timeout 30 ./first 10.77.0.2 && wait $!
}

refused() {
	! client timeout 30 ./first 10.77.0.2
}

failed=0
tests() {
	result first first
	result refused refused
	echo "1..$n"
	return $failed
}

tests | tee /out/results.log
exit "${PIPESTATUS[0]}"
