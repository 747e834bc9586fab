# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Larger programs of other projects: rdma-core's tests in Python, MPI over libfabric, and Ceph's
# messenger. They are in the guest's root file system "wide" (tools/testing/selftests/e2e.sh chooses
# it), except that Ceph's messenger is downloaded only if its case is named.

PYVERBS_TESTS=/opt/kwarp/rdma-core/tests
PYVERBS_MODULES=(addr cq cq_events cqex device fork mr parent_domain pd qp qpex relaxed_ordering
	shared_pd srq)
# Two tests are left out: async_traffic requests InfiniBand's ACK timeout, and
# async_traffic_external_qp waits for an event that rdma_cm has for InfiniBand only.
PYVERBS_RDMACM=(sync_traffic async_reject_traffic async_read async_write)

# pyverbs_judge LEAST: true if at least LEAST tests have passed, and all errors are that a queue
# pair cannot go to RTS without a connection. This error is expected: most of these tests exchange
# queue pair numbers and modify queue pairs by themselves, which works with no iWARP device. Some
# tests use random flags, and are skipped if the device does not support one of these, so the number
# of tests that pass varies.
pyverbs_judge() {
	awk -v want="$1" '
		function judge() {
			if (name != "" && !by_hand) { print "unexpected " name; wrong = 1 }
			name = ""
		}
		/ skipped \047/ { sub(/.* skipped /, ""); why[$0]++ }
		/^ERROR: |^FAIL: / { judge(); name = $0; by_hand = 0 }
		/^pyverbs.*Failed to modify QP state to RTS\. Errno: 22/ && name != "" && !by_hand {
			by_hand = 1
			refused++
		}
		# Once: garbage collection, which closes objects, came between a refusal and pyverbs
		# reading errno, so that the test was not skipped.
		/^pyverbs.*Errno: 0, Success$/ && name != "" && !by_hand && !lost++ { by_hand = 1 }
		/^Ran / { judge(); ran = $2 }
		/^FAILED \(/ {
			gsub(/[^a-z0-9=]+/, " ")
			for (i = 1; i <= NF; i++) { split($i, part, "="); count[part[1]] = part[2] }
		}
		END {
			ok = ran - count["errors"] - count["failures"] - count["skipped"]
			printf "%d run, %d passed, %d refused to go to RTS without a connection\n", ran, ok, refused
			for (w in why) printf "%d skipped: %s\n", why[w], w
			exit wrong || ok < want || count["errors"] != refused + (lost > 0) || count["failures"]
		}' "$CASE_DIR/pyverbs.log"
}

# librdmacm's tests run server and client on one link, that of the first of the two hosts of the
# test bed (network namespace NS[0]). Their connections stay there, so lo must be up there.
pyverbs_case() {
	local names=() name
	[ -d "$PYVERBS_TESTS" ] && python3 -c 'import unittest, pyverbs, multiprocessing' 2>/dev/null ||
		skip "there is no Python with pyverbs and its tests"
	skip_on siw "its GID ends in zeroes, so these tests leave it out"
	own_links
	ip -n "${NS[0]}" link set lo up
	for name in "${PYVERBS_MODULES[@]}"; do names+=("tests.test_$name"); done
	for name in "${PYVERBS_RDMACM[@]}"; do
		names+=("tests.test_rdmacm.CMTestCase.test_rdmacm_$name")
	done
	start pyverbs 0 sh -c \
		"cd $PYVERBS_TESTS && exec python3 run_tests.py --dev ${LINK[0]} -v ${names[*]}"
	ended 150 pyverbs
	[ "$STATUS" = 1 ] || fail "the tests ended with status $STATUS, and not with errors"
	pyverbs_judge 25 || fail "tests of pyverbs failed, or fewer ran than can"
}

# Set the environment for MPI. Open MPI itself has no transport for iWARP, but can use libfabric's.
mpi_env() {
	command -v mpirun >/dev/null && [ -x /opt/kwarp/tools/kwmpi ] || skip "there is no MPI"
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
	export OMPI_MCA_pml=cm OMPI_MCA_mtl=ofi OMPI_MCA_opal_common_ofi_provider_include='verbs;ofi_rxm'
}

# mpi_case RANKS: run kwmpi with all ranks on one machine. MPI's windows (memory for its one-sided
# operations) are then in shared memory, and only messages use the link.
mpi_case() {
	mpi_env
	own_links
	ip -n "${NS[0]}" link set lo up
	mpi=(mpirun --oversubscribe -n "$1")
	start client 0 "${mpi[@]}" kwmpi 2
	ended 100 client
	[ "$STATUS" = 0 ] || fail "mpirun ended with status $STATUS"
	expect_in client "kwmpi: ok: $1 ranks"
	# Without the link the program must fail. That shows that its messages did not take
	# another way.
	del_link 0
	start without 0 timeout 60 "${mpi[@]}" kwmpi 1
	ended 70 without
	[ "$STATUS" != 0 ] || fail "the program has another way to its peers"
	unset mpi
}

# mpi_machines_case RANKS: half of the ranks run at each end, and Open MPI treats the ends as two
# machines. Messages must work. A window must be refused at once: it needs RDMA operations of
# libfabric, and Open MPI does not use these over ofi_rxm, with any device.
mpi_machines_case() {
	local i mpi half=$(($1 / 2))
	mpi_env
	own_links
	for i in 0 1; do
		mkdir -p "/etc/netns/${NS[i]}"
		printf '%s\n' '127.0.0.1 localhost' "${IP[0]} ${NS[0]}" "${IP[1]} ${NS[1]}" >"/etc/netns/${NS[i]}/hosts"
	done
	mpi="mpirun --bind-to none --host ${NS[0]}:$half,${NS[1]}:$half -n $1 -x PATH"
	mpi+=" --prtemca plm_ssh_agent $HERE/machine.sh"
	start client - "$HERE/machine.sh" "${NS[0]}" "$mpi kwmpi 2 messages"
	ended 100 client
	[ "$STATUS" = 0 ] || fail "mpirun ended with status $STATUS"
	expect_in client "kwmpi: ok: $1 ranks"
	start windows - "$HERE/machine.sh" "${NS[0]}" "timeout 60 $mpi kwmpi 1"
	ended 70 windows
	[ "$STATUS" != 0 ] || tell "one-sided operations between machines work: Documentation/programs.rst says no"
	[ "$STATUS" = 0 ] || expect_in windows 'MPI_ERR_WIN: invalid window'
	del_link 1
	start without - "$HERE/machine.sh" "${NS[0]}" "timeout 60 $mpi kwmpi 1 messages"
	ended 70 without
	[ "$STATUS" != 0 ] || fail "the program has another way to its peers"
	rm -rf "/etc/netns/${NS[0]}" "/etc/netns/${NS[1]}"
}

CEPH_OPTIONS=(--no-config-file --log_file= --log_to_stderr true --err_to_stderr true
	--auth_client_required none --auth_service_required none --auth_cluster_required none
	--ms_type async+rdma --ms_public_type async+rdma --ms_async_rdma_type iwarp --ms_async_rdma_cm true)

# ceph_at END PROGRAM ARGUMENTS...: set CEPH to the command that runs the program of Ceph with the
# RDMA device at end 0 or 1.
ceph_at() {
	CEPH=("$2" "${CEPH_OPTIONS[@]}" --ms_async_rdma_device_name "${LINK[$1]}" "${@:3}")
}

# ceph_messages COUNT LENGTH [OPTIONS...]: send COUNT messages to a server, which answers each. Ceph
# computes a CRC for each message. The client keeps eight messages outstanding, and ends after it
# has sent the last one, so the server's log must show at least COUNT - 8 messages.
ceph_messages() {
	local count=$1 len=$2 arrived
	shift 2
	new_port
	ceph_at 1 ceph_perf_msgr_server "$@" --debug_ms 1 "${IP[1]}:$PORT" 1 0
	serve "server-$PORT" "$PORT" "${CEPH[@]}"
	ceph_at 0 ceph_perf_msgr_client "$@" "${IP[1]}:$PORT" 1 7 "$count" 0 "$len"
	start client 0 timeout -s KILL 120 "${CEPH[@]}"
	ended 120 client
	[ "$STATUS" = 0 ] || fail "the client ended with status $STATUS"
	expect_in client " Total op $count run time "
	arrived=$(count_lines "$CASE_DIR/server-$PORT.log" "<== client.* osd_op.* ==== [0-9]+\\+0\\+$len ")
	note "$arrived of $count messages of $len octets have arrived"
	[ "$arrived" -ge $((count - 8)) ] || fail "only $arrived of $count messages have arrived"
	stop "server-$PORT"
}

# The messenger sends in chunks of 128 KiB, so a small message fits into one chunk, and a large
# one takes several. The receives are in a shared receive queue, except in the last run.
ceph_case() {
	command -v ceph_perf_msgr_server >/dev/null || skip "there is no Ceph: name this case alone"
	own_links
	ceph_messages 500 4096
	ceph_messages 50 $((1 << 20))
	ceph_messages 200 10000 --ms_async_rdma_support_srq false --ms_async_rdma_receive_queue_len 256
	# Without the link the program must fail. That shows that its messages did not take
	# another way.
	del_link 0
	ceph_at 0 ceph_perf_msgr_client "${IP[1]}:$PORT" 1 7 1 0 1
	start without 0 timeout -s KILL 60 "${CEPH[@]}"
	ended 60 without
	[ "$STATUS" != 0 ] || fail "the messenger has another way to its peer"
}

testcase consumer-pyverbs 180 pyverbs_case
testcase consumer-mpi 180 mpi_case 4
testcase consumer-mpi-machines 240 mpi_machines_case 4
optional_testcase consumer-ceph 300 ceph_case
