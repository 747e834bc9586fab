#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The first process of the guest that tools/testing/secure-boot/secure-boot.sh boots twice: before
# and after the module's key is enrolled. It runs the commands of an administrator and checks their
# results. The kernel's command line has phase=before or phase=after, so that this script knows
# which boot it is. Results are TAP lines on the console.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
modprobe efivarfs
mount -t efivarfs efivarfs /sys/firmware/efi/efivars
mkdir -p /tmp
key=/var/lib/dkms/mok.pub
phase=$(sed -n 's/.*phase=\([a-z]*\).*/\1/p' /proc/cmdline)

# result NAME COMMAND...: run the command, and print a TAP line and the command's output.
result() {
	local name=$1
	shift
	if "$@" >/tmp/said 2>&1; then
		echo "ok secure-boot/$phase/$name"
	else
		echo "not ok secure-boot/$phase/$name"
	fi
	sed 's/^/  /' /tmp/said
}

secure_boot_on() {
	mokutil --sb-state
	mokutil --sb-state | grep -q '^SecureBoot enabled' &&
		grep -q '\[integrity\]' /sys/kernel/security/lockdown
}

# refused: the kernel must refuse kwarp.ko, because the key of its signature is not enrolled yet.
refused() {
	local words
	words=$(modprobe "$@" kwarp 2>&1) && return 1
	echo "$words"
	[[ $words = *"Key was rejected by service"* ]] &&
		[ ! -e /sys/module/kwarp ]
}

# "rdma link add" only says "Invalid argument", so "kwarpctl doctor" must give the reason.
doctor_tells() {
	kwarpctl doctor
	kwarpctl doctor | grep -q 'Secure Boot is on'
}

asked_for() {
	mokutil --generate-hash=kwarp >/tmp/hash &&
		mokutil --import $key --hash-file /tmp/hash &&
		mokutil --list-new | grep -q DKMS
}

known() {
	mokutil --test-key $key
	mokutil --test-key $key | grep -q 'already enrolled'
}

loads() {
	# Taint flag O: the module is out of tree. Flag E (no valid signature) must not be there.
	modprobe kwarp && grep -qx O /sys/module/kwarp/taint
}

link() {
	ip link add d0 type dummy
	ip addr add 192.0.2.1/24 dev d0
	ip link set d0 up
	rdma link add kw0 type kwarp netdev d0
	rdma link show kw0/1
	rdma link show kw0/1 | grep -q 'state ACTIVE' && rdma link delete kw0
}

# spoilt unsigned|foreign: the kernel must refuse the module without a signature, and with a
# signature of a key that is not enrolled.
spoilt() {
	local module=/lib/modules/spoilt/$1.ko words
	words=$(insmod "$module" 2>&1) && return 1
	echo "$words"
	[[ $words = *"Key was rejected by service"* ]]
}

mount -t securityfs securityfs /sys/kernel/security
# Begin a new line, because firmware and boot loader may have left an unfinished one.
echo
echo "1..$([ "$phase" = before ] && echo 4 || echo 6)"
result on secure_boot_on
if [ "$phase" = before ]; then
	result refused refused
	result doctor doctor_tells
	result import asked_for
else
	result enrolled known
	result unsigned spoilt unsigned
	result foreign spoilt foreign
	result loads loads
	result link link
	rmmod kwarp
fi
dmesg | grep -iE 'kwarp|lockdown|Loading of|DKMS' | sed 's/^/  /'
echo "secure-boot: end of $phase"
echo o >/proc/sysrq-trigger
sleep 60
