# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Completion of kwarpctl for bash.

_kwarpctl_links() {
	local link
	for link in /sys/class/infiniband/*/kwarp; do
		[ -d "$link" ] || continue
		link=${link%/kwarp}
		echo "${link##*/}"
	done
}

# Print the names of knobs (settings of a link), with a "=" for the value.  Knobs are the files of a
# link that can be written; the other files in that folder are counts.
_kwarpctl_knobs() {
	local knob
	for knob in /sys/class/infiniband/*/kwarp/*; do
		[ -f "$knob" ] || continue
		case $(stat -c %A "$knob") in ??w*) echo "${knob##*/}=" ;; esac
	done | sort -u
}

# _kwarpctl_words COMMAND: print the words that may follow this command: its options, the names of
# links and of knobs.  Without a COMMAND print all commands.
_kwarpctl_words() {
	case $1 in
	show) echo "--rates --interval --count --json --help $(_kwarpctl_links)" ;;
	doctor) echo "--peer --port --json --help $(_kwarpctl_links)" ;;
	set) echo "--keep --kept --json --help $(_kwarpctl_links) $(_kwarpctl_knobs)" ;;
	explain) echo "--json --help" ;;
	bench) echo "--server --link --port --json --help" ;;
	*) echo "show doctor set explain bench --help --version" ;;
	esac
}

_kwarpctl() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=''
	# Readline treats "=" as a word of its own.  Directly after KNOB= nothing of the value is
	# typed yet, so the word to complete is empty.
	[ "$word" != = ] || word=''
	[ "$COMP_CWORD" -lt 2 ] || command=${COMP_WORDS[1]}
	COMPREPLY=()
	case $before in
	--link) mapfile -t COMPREPLY < <(compgen -W "$(_kwarpctl_links)" -- "$word") ;;
	--peer | --port | --interval | --count | -i | -n) ;;
	*) mapfile -t COMPREPLY < <(compgen -W "$(_kwarpctl_words "$command")" -- "$word") ;;
	esac
	case ${COMPREPLY[0]-} in *=) compopt -o nospace 2>/dev/null ;; esac
}

complete -F _kwarpctl kwarpctl
