#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# A replacement for ssh, for MPI: run a command in the network namespace NAME, with NAME as host
# name, as if the namespace were a machine of that name.
#
#   machine.sh NAME COMMAND...     as with ssh, the words are joined, and a shell runs the result
name=$1
shift
# The inner shell, not this one, expands the parameters.
# shellcheck disable=SC2016
exec ip netns exec "$name" unshare --uts sh -c 'hostname "$0" && eval "$1"' "$name" "$*"
