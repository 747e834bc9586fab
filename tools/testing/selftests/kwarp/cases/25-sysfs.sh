# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Files and values that tools expect of every RDMA device: in sysfs, in what ibv_devinfo prints, and
# in the metrics of Prometheus's node_exporter.

# sysfs_is FILE REGEX: this file of the link at end 0 must match.
sysfs_is() {
	local value
	value=$(<"/sys/class/infiniband/${LINK[0]}/$1") || fail "there is no $1"
	[[ $value =~ ^$2$ ]] || fail "$1 is '$value', not $2"
}

sysfs_files() {
	local hex='[0-9a-f]{4}' mac
	sysfs_is fw_ver '[0-9]+\.[0-9]+\.[0-9]+'
	sysfs_is node_desc 'kwarp .*'
	sysfs_is node_type '4: RNIC'
	sysfs_is node_guid "$hex:$hex:$hex:$hex"
	[ "$(<"/sys/class/infiniband/${LINK[0]}/node_guid")" != 0000:0000:0000:0000 ] || fail "the node GUID is zero"
	sysfs_is sys_image_guid "$(<"/sys/class/infiniband/${LINK[0]}/node_guid")"
	sysfs_is hca_type kwarp
	sysfs_is hw_rev 1
	sysfs_is ports/1/state '4: ACTIVE'
	sysfs_is ports/1/phys_state '5: LinkUp'
	sysfs_is ports/1/rate '10 Gb/sec \(1X QDR\)'
	sysfs_is ports/1/link_layer Ethernet
	sysfs_is ports/1/cap_mask '0x[0-9a-f]{8}'
	sysfs_is ports/1/lid 0x0
	sysfs_is ports/1/lid_mask_count 0
	sysfs_is ports/1/sm_lid 0x0
	sysfs_is ports/1/sm_sl 0
	# The first GID is the hardware address, and the second one, too, with the node GUID after it.
	mac=$(n0 cat "/sys/class/net/${DEV[0]}/address")
	mac=${mac//:/}
	sysfs_is ports/1/gids/0 "${mac:0:4}:${mac:4:4}:${mac:8:4}:0000:0000:0000:0000:0000"
	sysfs_is ports/1/gids/1 "${mac:0:4}:${mac:4:4}:${mac:8:4}:0000:$(<"/sys/class/infiniband/${LINK[0]}/node_guid")"
	sysfs_is ports/1/gid_attrs/types/0 'IB/RoCE v1'
	! kernel_since 6.6 || sysfs_is ports/1/gid_attrs/ndevs/0 "${DEV[0]}"
	# iWARP has no partitions.
	[ ! -e "/sys/class/infiniband/${LINK[0]}/ports/1/pkeys" ] || fail "there are P_Keys"
}

# The largest MTU of the device is a constant; the active one follows the network device.
devinfo_says() {
	set_mtu "$1"
	client ibv_devinfo -v -d "${LINK[0]}"
	expect_in client 'max_mtu:[[:space:]]+4096 '
	expect_in client "active_mtu:[[:space:]]+$2 "
	expect_in client 'sm_lid:[[:space:]]+0'
	expect_in client 'GID\[[[:space:]]+1\]'
}

sysfs_case() {
	skip_on siw "has other values"
	own_links
	sysfs_files
	devinfo_says 1500 1024
	devinfo_says 9000 4096
	set_mtu 1500
}

# ------------------------------------------------------------ InfiniBand's counters

# counter END NAME: print a file of ports/1/counters.
counter() {
	echo "$(<"/sys/class/infiniband/${LINK[$1]}/ports/1/counters/$2")"
}

# counter_is END NAME VALUE
counter_is() {
	[ "$(counter "$1" "$2")" = "$3" ] || fail "$2 of end $1 is $(counter "$1" "$2"), not $3"
}

# InfiniBand's counters of this end agree with kwarp's own.
counters_agree() {
	local end=$1 name value file
	local -A own=()
	while read -r name value; do own[$name]=$value; done < <(stats_of "$end")
	counter_is "$end" port_xmit_data $((${own[tx_octets]} / 4))
	counter_is "$end" port_rcv_data $((${own[rx_octets]} / 4))
	for name in port_xmit_packets unicast_xmit_packets; do counter_is "$end" $name "${own[tx_fpdus]}"; done
	for name in port_rcv_packets unicast_rcv_packets; do counter_is "$end" $name "${own[rx_fpdus]}"; done
	counter_is "$end" port_rcv_errors $((${own[crc_errors]} + ${own[marker_errors]}))
	for file in "/sys/class/infiniband/${LINK[$end]}"/ports/1/counters/*; do
		name=${file##*/}
		case $name in
		port_*_data | unicast_*_packets | port_*_packets | port_rcv_errors) ;;
		*) counter_is "$end" "$name" 0 ;;
		esac
	done
	counter_is "$end" multicast_xmit_packets 0
	counter_is "$end" multicast_rcv_packets 0
	[ "${own[tx_octets]}" -gt 0 ] || fail "end $end has sent nothing"
}

# True if end 0 counts nothing any more.
counters_quiet() {
	stats_of 0 >"$CASE_DIR/quiet"
	stats_of 0 | cmp -s - "$CASE_DIR/quiet"
}

# The counters agree after traffic, after a wrong CRC, which port_rcv_errors counts, and after
# traffic of a queue pair that a counter of the RDMA core was bound to.
counters_case() {
	stats_links
	bench_pair -o read -m 5000 -w 8
	wait_until 10 "the counts stand still" counters_quiet
	both_ends counters_agree
	counters_wrong_crc
	both_ends counters_agree
	counters_bound
	both_ends counters_agree
}

counters_wrong_crc() {
	local before
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	before=$(counter 1 port_rcv_errors)
	start wrong 0 python3 "$HERE/timers.py" terminate "${IP[1]}" "$PORT"
	wait_until 15 "the wrong CRC is counted" counter_above 1 port_rcv_errors "$before"
	stop wrong KILL
	stop server KILL
}

counter_above() {
	[ "$(counter "$1" "$2")" -gt "$3" ]
}

counters_bound() {
	local qpn
	new_port
	serve server "$PORT" kwbench -s -a "${IP[1]}" -p "$PORT"
	start bench 0 kwbench -c -a "${IP[1]}" -p "$PORT" -o write -m 64 -w 8 -t "$(by_profile 3000 8000)" -u 0
	wait_until 10 "it is connected" details_say qp 'drv_stream RTS'
	qpn=$(in_ns 0 rdma resource show qp link "${LINK[0]}" | sed -n 's/.* lqpn \([0-9]*\) .*/\1/p' | tail -1)
	check "binding a counter" in_ns 0 rdma statistic qp bind link "${LINK[0]}/1" lqpn "$qpn"
	wait_until 10 "the counter counts" stats_counts
	reap 60 bench
	stop server
	wait_until 10 "the counts stand still" counters_quiet
}

# ------------------------------------------------------------- node_exporter

MON_LINK=kwmon0
MON_DEV=(kwmonv0 kwmonv1)
# Old releases of node_exporter expect no folder "counters" of devices with this prefix, so they do
# not give up because of rxe, which has none before Linux 7.
MON_OTHER=irdmakw

mon_end() {
	rdma link delete "$MON_LINK" 2>/dev/null || :
	rdma link delete "$MON_OTHER" 2>/dev/null || :
	ip link delete "${MON_DEV[0]}" 2>/dev/null || :
}

# metric NAME DEVICE: print the value of a metric of this device.
metric() {
	awk -v name="node_infiniband_$1{device=\"$2\",port=\"1\"}" \
		'$1 == name { printf "%.0f\n", $2 }' "$CASE_DIR/metrics.log"
}

metric_is() {
	[ "$(metric "$1" "$MON_LINK")" = "$2" ] || fail "$1 is '$(metric "$1" "$MON_LINK")', not $2"
}

# Traffic from the link's address to itself.
mon_traffic() {
	local SERVER_END=-
	new_port
	serve server "$PORT" kwbench -s -a 192.0.2.65 -p "$PORT"
	start client - kwbench -c -a 192.0.2.65 -p "$PORT" -o write -m 4096 -w 8 -t 200 -u 0
	reap 30 client
	reap 15 server
}

# node_exporter shows the metrics of all RDMA devices or of none: a link must not hide those of
# another driver's device. Since Linux 7.2 a device has its counters only in the namespace of its
# interface, so the link is in that of node_exporter, and the suite's own links are deleted.
node_exporter_case() {
	local link=/sys/class/infiniband/$MON_LINK/ports/1/hw_counters
	command -v prometheus-node-exporter >/dev/null || skip "there is no node_exporter"
	skip_on siw "has no folder of counters"
	load_type "$KWARP_LINK"
	net_down
	mon_end
	trap 'mon_end; case_cleanup' EXIT
	ip link set lo up
	ip link add "${MON_DEV[0]}" type veth peer name "${MON_DEV[1]}"
	ip addr add 192.0.2.65/32 dev "${MON_DEV[0]}"
	ip link set "${MON_DEV[0]}" up
	ip link set "${MON_DEV[1]}" up
	check "adding the link" rdma link add "$MON_LINK" type "$KWARP_LINK" netdev "${MON_DEV[0]}"
	modprobe rdma_rxe || skip "there is no rxe"
	check "adding an rxe link" rdma link add "$MON_OTHER" type rxe netdev "${MON_DEV[1]}"
	wait_until 5 "the link is active" device_active "$MON_LINK"
	mon_traffic
	new_port
	SERVER_END=- serve exporter "$PORT" prometheus-node-exporter --web.listen-address="127.0.0.1:$PORT" \
		--collector.disable-defaults --collector.infiniband
	curl -s "http://127.0.0.1:$PORT/metrics" >"$CASE_DIR/metrics.log"
	stop exporter
	expect_in metrics '^node_scrape_collector_success\{collector="infiniband"\} 1$'
	expect_in metrics "^node_infiniband_info\{.*device=\"$MON_OTHER\""
	expect_in metrics "^node_infiniband_info\{.*device=\"$MON_LINK\".*hca_type=\"kwarp\""
	metric_is port_data_transmitted_bytes_total $(($(<"$link/tx_octets") / 4 * 4))
	metric_is port_data_received_bytes_total $(($(<"$link/rx_octets") / 4 * 4))
	metric_is port_packets_transmitted_total "$(<"$link/tx_fpdus")"
	metric_is port_packets_received_total "$(<"$link/rx_fpdus")"
	[ "$(metric port_data_transmitted_bytes_total "$MON_LINK")" -gt 4096 ] || fail "it shows no traffic"
	metric_is state_id 4
	mon_end
	trap case_cleanup EXIT
}

testcase sysfs-files 60 sysfs_case
testcase sysfs-counters 90 counters_case
testcase sysfs-node-exporter 90 node_exporter_case
