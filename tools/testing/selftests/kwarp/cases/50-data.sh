# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases that run kwdata, which makes random RDMA operations. Both ends check the contents of
# messages and the memory around them. As soon as a request has completed, kwdata overwrites its
# source: a device that still reads the source then sends wrong data.

# data_own_flags END: print the options that kwdata needs for the type of the link at END (0:
# client, 1: server). With -Q kwdata tolerates that siw completes requests out of order and reads
# sources after their completion.
data_own_flags() {
	[ "$(link_type "$1")" != siw ] || echo -Q
}

# Print options that restrict the random operations. -z leaves out Reads that siw answers wrongly.
# With -1 only the client issues operations: with siw at both ends, the ends could wait for each
# other for ever if both have fenced requests after their own Reads.
data_plan_flags() {
	case "$(link_type 0) $(link_type 1)" in
	"siw siw") echo -z -1 ;;
	*siw*) echo -z ;;
	esac
}

# data_serve [NAME]: start the server of kwdata, with the name NAME ("server" by default).
data_serve() {
	new_port
	# shellcheck disable=SC2046
	serve "${1:-server}" "$PORT" kwdata -s -a "${DATA_ADDR:-${IP[1]}}" -p "$PORT" $(data_own_flags 1)
}

data_client() {
	# shellcheck disable=SC2046
	set -- kwdata -c -a "${DATA_ADDR:-${IP[1]}}" -p "$PORT" $(data_own_flags 0) $(data_plan_flags) "$@"
	DATA_CLIENT=("$@")
}

data_try() {
	data_serve
	data_client "$@"
	try_client 5 siw_is_deaf "${DATA_CLIENT[@]}"
}

# data_pair OPTIONS...: run server and client of kwdata on the existing links; both must succeed.
data_pair() {
	pair_retried data_try "$@"
	grep -h ': ok: ' "$CASE_DIR"/client.log "$CASE_DIR"/server.log
}

# data_case MTU COUNT [SHAPE...] -- OPTIONS...: run kwdata with COUNT operations of each end, at
# this MTU, with packets lost and delayed as netem's words SHAPE say.
data_case() {
	local mtu=$1 count=$2 shape=()
	shift 2
	while [ "$1" != -- ]; do
		shape+=("$1")
		shift
	done
	shift
	own_links
	set_mtu "$mtu"
	[ ${#shape[@]} -eq 0 ] || netem "${shape[@]}"
	data_pair -n "$count" "$@"
}

data_ipv6() {
	own_links
	DATA_ADDR=${IP6[1]} data_pair -n "$(by_profile 1000 30)"
}

# kwdata makes one octet wrong on purpose, and must then fail. This shows that the other cases can
# fail.
data_spoilt() {
	own_links
	data_serve
	data_client -n 500 -m 100000 -x "$1"
	start client 0 "${DATA_CLIENT[@]}"
	ended 30 client
	[[ $STATUS = [13] ]] || fail "the client of a spoilt run ended with status $STATUS"
	ended 30 server
	[ "$STATUS" != 0 ] || fail "the server of a spoilt run is content"
	grep -h 'mismatch:' "$CASE_DIR/client.log" "$CASE_DIR/server.log" || fail "nobody saw the wrong octet"
}

# With the knob "strict" (a setting of a link), the memory that a Read reads into needs remote write
# access. kwdata registers that memory without remote rights, so each Read must fail. Both ends
# read. Which end sees its own Read fail, and which one only loses its connection, is random. The
# provider's own strict mode, which mixes the completions of both queues, is off.
data_strict() {
	export KWARP_STRICT=0
	own_links
	knob strict on
	data_serve
	data_client -n 50 -m 1000 -t read
	start client 0 "${DATA_CLIENT[@]}"
	local name
	for name in client server; do
		ended 30 $name
		[ "$STATUS" != 0 ] || fail "the $name is content"
		expect_in $name "FAILED: 0 writes, 0 reads, "
	done
	grep -hq "local protection error" "$CASE_DIR/client.log" "$CASE_DIR/server.log" ||
		fail "nobody says 'local protection error'"
	knob strict off
	data_pair -n 50 -m 1000 -t read
}

# All memory of one end is a dma-buf: first of end 0, then of end 1.
data_dmabuf() {
	skip_on siw "dma-bufs are not offered"
	skip_on kwarp-siw "libsiw has no dma-bufs"
	[ -c /dev/udmabuf ] || skip "there is no udmabuf"
	kernel_since 6.2 || skip "this kernel's udmabuf cannot be mapped"
	own_links
	data_serve
	data_client -n "$(by_profile 1000 30)" -m 20000 -B
	start client 0 "${DATA_CLIENT[@]}"
	reap 60 client
	reap 60 server
	new_port
	serve server "$PORT" kwdata -s -B -a "${IP[1]}" -p "$PORT"
	data_client -n "$(by_profile 1000 30)" -m 20000 -S 2
	client "${DATA_CLIENT[@]}"
	reap 60 server
}

# data_dmabuf_huge OPTION: run kwdata with a dma-buf of huge pages as its memory. On some kernels
# the driver's mapping of such a buffer has other pages than the mapping of the process. On these
# kernels the registration may fail, but it must not give access to other memory.
data_dmabuf_huge() {
	local pages=/proc/sys/vm/nr_hugepages
	skip_on siw "dma-bufs are not offered"
	skip_on kwarp-siw "libsiw has no dma-bufs"
	[ -c /dev/udmabuf ] || skip "there is no udmabuf"
	kernel_since 6.2 || skip "this kernel's udmabuf cannot be mapped"
	echo 300 >$pages
	if [ "$(<$pages)" != 300 ]; then
		echo 0 >$pages
		skip "there are no 300 huge pages"
	fi
	own_links
	data_serve
	data_client -n 100 -m 1000 -w 1 "$1"
	start client 0 "${DATA_CLIENT[@]}"
	ended 60 client
	echo 0 >$pages
	cat "$CASE_DIR/client.log"
	case $STATUS in
	0) reap 60 server ;;
	2)
		expect_in client 'cannot register [0-9]+ octets: Operation not supported'
		stop server KILL
		;;
	*) fail "the client ended with status $STATUS" ;;
	esac
}

# many, some: numbers of operations that each end issues. big: largest message in octets.
many=$(by_profile 5000 40) some=$(by_profile 800 30)
big=$(by_profile $((4 << 20)) $((64 << 10)))
for mtu in 1500 9000; do
	testcase "data-plain-$mtu" 180 data_case $mtu "$many" -- -m "$big"
	testcase "data-loss-$mtu" 120 data_case $mtu "$some" loss 1% -- -m "$big" -S 2
	testcase "data-reorder-$mtu" 120 data_case $mtu "$some" delay 2ms reorder 25% 50% -- -m "$big" -S 3
	testcase "data-duplicate-$mtu" 120 data_case $mtu "$some" duplicate 10% -- -m "$big" -S 12
	testcase "data-mixed-$mtu" 120 data_case $mtu "$some" delay 1ms loss 0.5% duplicate 5% corrupt 0.5% reorder 25% 50% -- -m "$big" -S 13
	testcase "data-delay-$mtu" 120 data_case $mtu "$some" delay 2ms -- -m "$big" -S 4
done
testcase data-ipv6 60 data_ipv6
testcase data-events 60 data_case 1500 "$some" -- -m "$big" -S 5 -e
testcase data-4qp 90 data_case 1500 "$some" -- -m $((256 << 10)) -S 6 -q 4
testcase data-one-read 60 data_case 1500 "$some" -- -m $((64 << 10)) -S 7 -o 1
testcase data-window-1 60 data_case 1500 "$some" -- -m $((64 << 10)) -S 8 -w 1
testcase data-window-32 60 data_case 1500 "$some" -- -m $((64 << 10)) -S 9 -w 32 -o 16
testcase data-small 60 data_case 1500 "$many" -- -m 100 -S 10 -w 32
testcase data-strict 60 data_strict
testcase data-dmabuf 90 data_dmabuf
testcase data-dmabuf-huge 60 data_dmabuf_huge -H
testcase data-dmabuf-huge-parts 60 data_dmabuf_huge -P
for spoil in write read send guard; do
	testcase "data-spoilt-$spoil" 60 data_spoilt $spoil
done
unset many some big mtu spoil
