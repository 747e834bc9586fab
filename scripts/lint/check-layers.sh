#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Check the includes between the driver's files:
#
#   scripts/lint/check-layers.sh [OBJECTS]
#
#   - a file includes only files of layers that scripts/lint/layers.txt allows;
#   - if layers.txt names a header of a layer as its door, other layers include only this header;
#   - no file outside of the engine uses a field of struct kwarp_engine.
#
# OBJECTS is the folder of a built module. With it, the calls between files, found by the symbols of
# the objects, are checked against layers.txt, and files must not call each other in a circle.
# structure.py looks for circles in the sources.
#
# The unit tests of a layer may include the same files as the layer, and the layer's own files.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

driver=drivers/infiniband/sw/kwarp
cd "$KWARP_ROOT/$driver"

# Print "FILE<tab>INCLUDED" for each #include, with paths relative to the driver's folder. Like the
# compiler, look for the included file first in the folder of FILE, then in the driver's folder.
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

declare -A may door
names=() patterns=()
while read -r name pattern allowed; do
	case $name in
	'' | '#'*) continue ;;
	door) door[$pattern]=,$allowed,; continue ;;
	esac
	names+=("$name")
	patterns+=("$pattern")
	may[$name]=,$name,$allowed,
done <"$KWARP_ROOT/scripts/lint/layers.txt"

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
tests='(^|/)tests/'
edges=$(mktemp)
trap 'rm -f "$edges"' EXIT
while IFS=$'\t' read -r file inc; do
	from=$(layer_of "$file") to=$(layer_of "$inc")
	[[ ${may[$from]} != *,ALL,* ]] || continue
	if [[ ${may[$from]} != *,$to,* ]]; then
		echo "$driver/$file ($from) includes \"$inc\" ($to): $from may include ${may[$from]//,/ }"
		bad=1
	fi
	[[ ! $file =~ $tests ]] || continue
	if [ "$to" != "$from" ] && [[ -n ${door[$to]:-} && ${door[$to]} != *,$inc,* ]]; then
		echo "$driver/$file includes \"$inc\": of $to other layers include${door[$to]//,/ }only"
		bad=1
	fi
done < <(includes)

# Print for each circle of calls what tsort says: a heading, then the files of the circle.
circles() {
	{ tsort "$edges" 2>&1 >/dev/null || true; } |
		sed -E "s|^tsort: ||; s|^[^ ]*: input contains a loop:|circle of calls in $driver:|"
}

# Find uses of the engine's fields. A pointer to struct kwarp_engine is always named e, and a member
# of this type is named engine.
fields=$(grep -rnE --include='*.[ch]' --exclude-dir={tests,engine,queue,mem,proto,siw} \
	'\be->|(\.|->)engine(\.|->)|engine\)->|\bKWARP_E_[A-Z]|struct kwarp_engine \*[^e]|struct kwarp_engine \*e[^,);]' . ||
	[ $? -eq 1 ])
[ -z "$fields" ] || { sed "s|^\\./|$driver/|; s|\$|  (a field of the engine, outside of it)|" <<<"$fields"; bad=1; }

# symbols TYPE: print "FILE SYMBOL" for each symbol of the module's objects whose type matches the
# regular expression: defined (T, R, ...) or undefined (U).
symbols() {
	local object
	find . -name '*.o' -not -name 'kwarp.o' -not -name '*.mod.o' | sed 's|^\./||' | sort | while read -r object; do
		nm "$object" | awk -v f="${object%.o}" -v want="$1" '$(NF-1) ~ want { print f, $NF }'
	done
}

# Only siw/ may name siw, and knobs.h and stats.c in the comments that are texts for users.
found=$(grep -rniw --include='*.[ch]' --exclude-dir=siw siw . |
	grep -vE '^\./(knobs\.h|stats\.c):[0-9]+: \*' || true)
[ -z "$found" ] || { sed "s|^\\./|$driver/|; s|\$|  (siw, outside of siw/)|" <<<"$found"; bad=1; }

if [ -n "${1:-}" ]; then
	cd "$1"
	: >"$edges"
	while read -r from to; do
		calls=1
		caller=$(layer_of "$from.c") called=$(layer_of "$to.c")
		if [[ ${may[$caller]} != *,$called,* && ${may[$caller]} != *,ALL,* ]]; then
			echo "$driver/$from.c ($caller) calls $to.c ($called): $caller may call ${may[$caller]//,/ }"
			bad=1
		fi
		echo "$from $to" >>"$edges"
		# A function that is weak in one file and not in another counts for the first file.
	done < <(awk 'NR == FNR { at[$2] = $1; next } $2 in at && at[$2] != $1 { print $1, at[$2] }' \
		<(symbols '^[TDBRV]$'; symbols '^W$') <(symbols '^U$') | sort -u)
	[ -n "${calls:-}" ] || { echo "$1: no objects of a built module"; bad=1; }
	circles | grep . && bad=1
fi
exit $bad
