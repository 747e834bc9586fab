#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Check a capture with an independent decoder, tshark.
#
#   decode-capture.sh FILE.pcap on|off     check FILE.pcap of a connection with CRCs (on) or without
#
# Exit status 0: at least 300 FPDUs were decoded, none is malformed, and with "on" each CRC is good.
set -euo pipefail
file=$1 crc=$2
at_least=300

fail() {
	echo "FAILED: $*"
	exit 1
}

# The decoders for protocols above RDMAP are switched off: the contents of Sends are random, and the
# decoders would guess. Segments that two processors have sent may be captured in the wrong order,
# so tshark has to reorder them.
decode() {
	tshark -r "$file" -V -o tcp.reassemble_out_of_order:TRUE --disable-protocol rpcordma \
		--disable-protocol smb_direct 2>/dev/null
}

count() {
	grep -cE -- "$1" "$decoded" || :
}

decoded=$(mktemp)
trap 'rm -f "$decoded"' EXIT
decode >"$decoded" || fail "tshark cannot read $file"
fpdus=$(count '^ *ULPDU length:')
echo "$fpdus FPDUs in $file"
[ "$fpdus" -ge $at_least ] || fail "fewer than $at_least FPDUs were decoded"
bad=$(count 'Malformed|Bad CRC|Bad length|\[incorrect')
[ "$bad" = 0 ] || fail "$bad places of the capture are malformed or have a bad CRC"
[ "$crc" = off ] || [ "$(count 'Good CRC32')" = "$fpdus" ] || fail "not every FPDU has a good CRC"
