#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Print the version of this tree, for module, provider and packages. The Makefile defines it.
set -euo pipefail
sed -n 's/^VERSION *:= *//p' "$(dirname "$0")/../Makefile"
