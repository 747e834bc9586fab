#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Prints the version of this tree: one place for module, provider and packages.
set -euo pipefail
sed -n 's/^VERSION *:= *//p' "$(dirname "$0")/../Makefile"
