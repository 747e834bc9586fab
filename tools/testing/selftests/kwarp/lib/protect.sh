# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Encryption and authentication of all packets between two machines, for KWARP_OVER=ipsec or
# wireguard. Documentation/security-on-the-wire.rst has the same commands. Sourced by ../lib.sh.
# END is 0 or 1.

# The interfaces' own addresses, between which WireGuard sends.
WIRE_IP=(198.51.100.1 198.51.100.2)

random_key() {
	echo "0x$(od -An -v -tx1 -N20 /dev/urandom | tr -d ' \n')"
}

# ipsec_pair END ADDRESS0 ADDRESS1: let packets of TCP between the addresses of the two ends be
# encrypted and authenticated. KEYS has a key for each direction.
ipsec_pair() {
	local end=$1 ends=("$2" "$3") from
	for from in 0 1; do
		ip_at "$end" xfrm state add src "${ends[from]}" dst "${ends[1 - from]}" proto esp spi "0x100$from" \
			mode transport aead 'rfc4106(gcm(aes))' "${KEYS[from]}" 128
	done
	ip_at "$end" xfrm policy add src "${ends[end]}" dst "${ends[1 - end]}" proto tcp dir out \
		tmpl proto esp mode transport
	ip_at "$end" xfrm policy add src "${ends[1 - end]}" dst "${ends[end]}" proto tcp dir in \
		tmpl proto esp mode transport
}

ipsec_end() {
	at "$1" modprobe -a esp4 esp6 xfrm_user
	ipsec_end_down "$1"
	ipsec_pair "$1" "${IP[@]}"
	ipsec_pair "$1" "${IP6[@]}"
}

ipsec_end_down() {
	ip_at "$1" xfrm policy flush
	ip_at "$1" xfrm state flush
}

# A key must not be used again after a machine was booted, when its sequence numbers begin anew. So
# both ends get new keys.
ipsec_up() {
	KEYS=("$(random_key)" "$(random_key)")
	both_ends ipsec_end
}

# wireguard_end END: make the interface of that end (DEV), with the keys of WG_KEYS. The interface
# below has a larger MTU, so that no MTU of the tests makes fragments.
wireguard_end() {
	local end=$1 other=$((1 - $1))
	ip_at "$end" link del "${DEV[end]}" 2>/dev/null || :
	ip_at "$end" link set wire mtu 9500 up
	ip_at "$end" addr replace "${WIRE_IP[end]}/24" dev wire
	ip_at "$end" link add "${DEV[end]}" type wireguard
	at "$end" wg set "${DEV[end]}" listen-port 51820 private-key /proc/self/fd/0 \
		peer "$(wg pubkey <<<"${WG_KEYS[other]}")" endpoint "${WIRE_IP[other]}:51820" \
		allowed-ips "${IP[other]},${IP6[other]}" <<<"${WG_KEYS[end]}"
}

wireguard_up() {
	WG_KEYS=("$(wg genkey)" "$(wg genkey)")
	both_ends wireguard_end
}
