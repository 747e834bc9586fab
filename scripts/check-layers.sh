#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Check that the driver's files include only what scripts/layers.txt lets them.
# The unit tests of a layer stand above that layer and anything it may include.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

driver=drivers/infiniband/sw/kwarp
cd "$KWARP_ROOT/$driver"

# "FILE<tab>INCLUDED", both relative to the driver's folder. A name that is not
# beside the includer is taken from the driver's folder, as the compiler does.
includes() {
	grep -rHoE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+"' --include='*.[ch]' . |
		sed -E 's|^\./||; s|:.*"([^"]+)"|\t\1|' |
		while IFS=$'\t' read -r file inc; do
			local dir path
			dir=$(dirname "$file")
			path=$inc
			[ ! -e "$dir/$inc" ] || path=$(realpath -m --relative-to=. "$dir/$inc")
			printf '%s\t%s\n' "$file" "$path"
		done
}

declare -A may
names=() patterns=()
while read -r name pattern allowed; do
	case $name in '' | '#'*) continue ;; esac
	names+=("$name")
	patterns+=("$pattern")
	may[$name]=,$name,$allowed,
done <"$KWARP_ROOT/scripts/layers.txt"

layer_of() {
	local i p
	for i in "${!names[@]}"; do
		for p in ${patterns[i]//,/ }; do
			# shellcheck disable=SC2254
			case $1 in $p) echo "${names[i]}"; return ;; esac
		done
	done
}

set -f
bad=0
while IFS=$'\t' read -r file inc; do
	from=$(layer_of "$file") to=$(layer_of "$inc")
	if [[ ${may[$from]} != *,$to,* ]]; then
		echo "$driver/$file ($from) includes \"$inc\" ($to): $from may include ${may[$from]//,/ }"
		bad=1
	fi
done < <(includes)
exit $bad
