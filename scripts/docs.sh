#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make docs: make a book of Documentation/ with Sphinx.
#
#   scripts/docs.sh [DIR]      write HTML to DIR (build/docs/html)
#
# Any warning is an error, for example a page that is in no table of contents, or a reference to
# something that does not exist.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in -h | --help) head_comment; exit ;; esac
out=${1:-$KWARP_ROOT/build/docs/html}

"$here/host-packages.sh" docs
mkdir -p "$out"
sphinx-build -q -W --keep-going -n -b html -d "$out/../doctrees" "$KWARP_ROOT/Documentation" "$out"
echo "$out/index.html"
