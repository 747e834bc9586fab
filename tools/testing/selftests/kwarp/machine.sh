#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# A network namespace as a machine of that name, which is started programs on as by ssh:
#
#   machine.sh NAME COMMAND...     words of COMMAND are put together, and are for a shell
name=$1
shift
# The inner shell, not this one, expands the parameters.
# shellcheck disable=SC2016
exec ip netns exec "$name" unshare --uts sh -c 'hostname "$0" && eval "$1"' "$name" "$*"
