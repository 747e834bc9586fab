#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Reduce a kernel's module tree for the guest: keep the modules for RDMA, networking and storage
# over RDMA, with their dependencies; delete the others, decompress, run depmod.
#
#   tools/testing/guest/modules.sh ROOT RELEASE      ROOT/usr/lib/modules/RELEASE is changed
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"

root=$1 release=$2
tree=$root/usr/lib/modules/$release

# Modules stay whose path, from kernel/ on, matches the regular expression "keep" and not "drop".
keep='^kernel/(drivers/infiniband/|net/(sched|ipv4|ipv6|8021q|802|bridge|core|tls|vlan|xfrm|netfilter/(nf_tables|nft_|nf_conn|nf_nat|nfnetlink|x_tables|xt_))'
keep+='|net/(9p|sunrpc|rds|smc|rpcrdma|packet|vmw_vsock)/'
keep+='|drivers/net/(veth|dummy|ifb|tun|vrf|nlmon|netdevsim|netconsole|tap|macvlan|ipvlan|bonding|wireguard|vxlan|geneve|virtio_net|netkit)'
keep+='|drivers/(nvme|target|virtio|vhost)/|drivers/block/(null_blk|brd|loop|virtio_blk|rnbd)'
keep+='|drivers/(scsi/(scsi_mod|sd_mod|libiscsi|iscsi_tcp|scsi_transport_iscsi|scsi_debug|sg)|md/(dm-mod|dm-flakey))'
keep+='|fs/(nfs|nfsd|nfs_common|lockd|smb|ext4|xfs|9p|fuse|configfs)/|lib/|crypto/|arch/(x86|arm64)/crypto/)'
drop='^kernel/drivers/infiniband/hw/(mlx|bnxt|hfi|qib|usnic|vmw|mthca|efa|mana|erdma|irdma|ocrdma|qedr|cxgb|hns|ionic|bng)|^kernel/net/(wireless|mac80211|bluetooth)'

list_wanted() {
	find kernel -name '*.ko*' -printf '%p\n' | grep -E "$keep" | grep -vE "$drop"
}

# with_dependencies WANTED: print the modules of the list WANTED, and those that they depend on. The
# dependencies are in modules.dep, which packages do not contain; the caller has run depmod, which
# makes it.
with_dependencies() {
	awk 'NR == FNR { wanted[$1] = 1; next }
	     { sub(":", "", $1); if ($1 in wanted) for (i = 1; i <= NF; i++) out[$i] = 1 }
	     END { for (m in out) print m }' "$1" modules.dep
}

cd "$tree"
depmod -b "$root/usr" "$release" 2>/dev/null || depmod -b "$root" "$release"
list_wanted >"$root/wanted"
with_dependencies "$root/wanted" | sort >"$root/keep"
find kernel -name '*.ko*' | grep -vxFf "$root/keep" | tr '\n' '\0' | xargs -0 -r rm -f
rm -f "$root/wanted" "$root/keep"
find kernel -type d -empty -delete
find kernel -name '*.ko.xz' -print0 | xargs -0 -r -P "$KWARP_JOBS" -n 20 unxz -f
find kernel -name '*.ko.zst' -print0 | xargs -0 -r zstd -q -d --rm
depmod -b "$root/usr" "$release" 2>/dev/null || depmod -b "$root" "$release"
