# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# kwmisuse makes connection manager calls in the wrong state, or with queue pairs that cannot be
# connected. Its peer is mpa.py, which sends and reads only MPA's startup frames. After each case
# the links must work; after wrong calls of a server its link must also be deletable, which shows
# that no reference to a queue pair is left.

misuse_works_on() {
	del_link 1
	own_links
	rping_pair "${IP[1]}"
}

# misuse_accept_case MODE VERDICT: kwmisuse misuses rdma_accept() as MODE says. The Reply that the
# peer gets must have this verdict, accepted or rejected, and the connection must end.
misuse_accept_case() {
	own_links
	new_port
	serve server "$PORT" kwmisuse -m "$1" -a "${IP[1]}" -p "$PORT"
	client python3 "$HERE/mpa.py" ask "${IP[1]}" "$PORT"
	reap 30 server
	cat "$CASE_DIR/server.log"
	expect_in client "^$2\$"
	expect_in client '^closed$'
	misuse_works_on
}

# rdma_connect() is misused: it fails at once, and no connection reaches the peer.
misuse_connect_case() {
	own_links
	new_port
	start deaf 1 python3 "$HERE/mpa.py" deaf "${IP[1]}" "$PORT"
	wait_until 10 "the peer listens" listens "${PIDS[deaf]}" "$PORT"
	client kwmisuse -m connect-error -a "${IP[1]}" -p "$PORT"
	[ ! -s "$CASE_DIR/deaf.log" ] || fail "the peer has seen a connection"
	stop deaf KILL
}

# The client's queue pair goes to the error state while its Request waits for the Reply. When the
# accepting Reply arrives, the client's device must send a Terminate with layer 2, type 0, code 5
# (RFC 6581 section 9.3; requirement 6581-9.3-3).
misuse_broken_case() {
	own_links
	new_port
	start answer 1 python3 "$HERE/mpa.py" answer "${IP[1]}" "$PORT" "$CASE_DIR/go"
	wait_until 10 "the peer listens" listens "${PIDS[answer]}" "$PORT"
	start client 0 kwmisuse -m connect-broken -a "${IP[1]}" -p "$PORT"
	wait_until 10 "the queue pair is in error" grep -qs 'in the error state' "$CASE_DIR/client.log"
	wait_until 10 "the Request is there" grep -q asked "$CASE_DIR/answer.log"
	touch "$CASE_DIR/go"
	reap 30 client
	reap 30 answer
	expect_in answer '^....4147........0000000200000001000000002005'
	rping_pair "${IP[1]}"
}

# rdma_reject() is called while rdma_connect() waits for a silent peer. A kernel without the patch
# in Documentation/upstream stops with a BUG in iw_cm. So the case runs only if it is named, or if
# KWARP_PATCHED=1 says that the kernel has the patch.
misuse_connect_reject_case() {
	own_links
	new_port
	start deaf 1 python3 "$HERE/mpa.py" deaf "${IP[1]}" "$PORT"
	wait_until 10 "the peer listens" listens "${PIDS[deaf]}" "$PORT"
	client kwmisuse -m connect-reject -a "${IP[1]}" -p "$PORT"
	stop deaf KILL
	rping_pair "${IP[1]}"
}

testcase misuse-accept-reject 60 misuse_accept_case accept-reject accepted
testcase misuse-accept-reject-qp 60 misuse_accept_case accept-reject-qp accepted
testcase misuse-accept-reject-exit 60 misuse_accept_case accept-reject-exit accepted
testcase misuse-accept-twice 60 misuse_accept_case accept-twice accepted
testcase misuse-accept-other 60 misuse_accept_case accept-other accepted
testcase misuse-accept-error 60 misuse_accept_case accept-error rejected
testcase misuse-accept-no-qp 60 misuse_accept_case accept-no-qp rejected
testcase misuse-connect-error 30 misuse_connect_case
testcase misuse-connect-broken 60 misuse_broken_case
if [ "${KWARP_PATCHED:-0}" = 1 ]; then
	testcase misuse-connect-reject 120 misuse_connect_reject_case
else
	optional_testcase misuse-connect-reject 120 misuse_connect_reject_case
fi
