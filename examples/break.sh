#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Print the first program with a mistake in it, for the exercises of
# Documentation/first-program.rst.
#
#   break.sh MISTAKE     one of: key, beyond, right, receive, short, local
set -euo pipefail

case ${1:-} in
key) old='place.address, place.rkey)' new='place.address, place.rkey + 1)' ;;
beyond) old='0, place.address, place.rkey)' new='0, place.address + 32, place.rkey)' ;;
right) old='board_mr = rdma_reg_write(id,' new='board_mr = rdma_reg_msgs(id,' ;;
receive) old='if (rdma_post_recv(id, NULL, words, sizeof(words), words_mr))' new='if (0)' ;;
short)
	old=$'if (rdma_post_recv(id, NULL, words, sizeof(words), words_mr))\n\t\tfail("rdma_post_recv");\n\tif (rdma_post_sendv'
	new=$'if (rdma_post_recv(id, NULL, words, 8, words_mr))\n\t\tfail("rdma_post_recv");\n\tif (rdma_post_sendv'
	;;
local) old='if (rdma_post_write(id, NULL, words, sizeof(words),' new='if (rdma_post_write(id, NULL, words, 2 * sizeof(words),' ;;
*) echo "usage: $0 key|beyond|right|receive|short|local" >&2; exit 2 ;;
esac
source=$(cat "$(dirname "$0")/first.c")
broken=${source/"$old"/"$new"}
[ "$broken" != "$source" ] || { echo "$0: first.c has no '$old'" >&2; exit 1; }
printf '%s\n' "$broken"
