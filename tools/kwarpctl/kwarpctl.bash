# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Completion of kwarpctl for bash.

KWARPCTL_SYSFS=/sys/class/infiniband

_kwarpctl_links() {
	local link
	for link in "$KWARPCTL_SYSFS"/*/kwarp; do
		[ -d "$link" ] || continue
		link=${link%/kwarp}
		printf '%s\n' "${link##*/}"
	done
}

# Print the names of knobs, with a "=" for the value.  Knobs are the files of a link that can be
# written; the other files in that folder are counts.
_kwarpctl_knobs() {
	local knob
	for knob in "$KWARPCTL_SYSFS"/*/kwarp/*; do
		[ -f "$knob" ] || continue
		case $(stat -c %A "$knob") in ??w*) printf '%s=\n' "${knob##*/}" ;; esac
	done | sort -u
}

# Print the values of a knob that takes words; knobs that take numbers have none here.
_kwarpctl_values() {
	case $1 in
	align | log_errors | long_frames | markers | peer_to_peer | rfc7306 | strict) printf '%s\n' on off ;;
	crc) printf '%s\n' on off required ;;
	mpa_rev) printf '%s\n' 1 2 ;;
	rtr) printf '%s\n' send write read write,read send,write,read ;;
	esac
}

# _kwarpctl_words COMMAND: print the words that may follow this command: its options, the names of
# links, knobs and codes.  Without a COMMAND print all commands.
_kwarpctl_words() {
	case $1 in
	show) printf '%s\n' --rates --interval --count --json --help; _kwarpctl_links ;;
	why) printf '%s\n' --last --link --json --help ;;
	top) printf '%s\n' --interval --count --json --help; _kwarpctl_links ;;
	doctor) printf '%s\n' --peer --port --all --quiet --json --help; _kwarpctl_links ;;
	set) printf '%s\n' --keep --kept --json --help; _kwarpctl_links; _kwarpctl_knobs ;;
	explain) printf '%s\n' --list --json --help; kwarpctl explain --list 2>/dev/null ;;
	bench) printf '%s\n' --server --link --port --json --help ;;
	fault)
		printf '%s\n' add del run list --link --qp --pid --skip --times --probability --seed --json --help \
			terminate reset close stall slow event-late event-twice register create no-receive post \
			short-send full-send lost-kick late-work bad-crc
		;;
	lab) printf '%s\n' up down show --loss --delay --mtu --type --json --help ;;
	*) printf '%s\n' show why top doctor set explain bench lab fault --help --version ;;
	esac
}

# _kwarpctl_match WORD: of the lines of standard input, put those that begin with WORD into
# COMPREPLY, quoted.  compgen -W would expand them: a link may have the name $(reboot).
_kwarpctl_match() {
	local line
	while IFS= read -r line; do
		[[ $line = "$1"* ]] || continue
		case $line in *[!A-Za-z0-9_.,:=-]*) line=$(printf %q "$line") ;; esac
		COMPREPLY+=("$line")
	done
}

_kwarpctl() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' knob=''
	[ "$COMP_CWORD" -lt 2 ] || command=${COMP_WORDS[1]}
	# Readline treats "=" as a word of its own: directly after KNOB= the word to complete is "=",
	# though nothing of the value is typed yet.
	if [ "$word" = = ]; then
		word='' knob=$before
	elif [ "$before" = = ]; then
		knob=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	COMPREPLY=()
	case $before in
	--link) _kwarpctl_match "$word" < <(_kwarpctl_links) ;;
	--type) _kwarpctl_match "$word" < <(printf '%s\n' kwarp kwarp-siw) ;;
	--peer | --port | --interval | --count | --loss | --delay | --mtu | -i | -n) ;;
	--qp | --pid | --skip | --times | --probability | --seed) ;;
	*)
		if [ "$command" = set ] && [ -n "$knob" ]; then
			_kwarpctl_match "$word" < <(_kwarpctl_values "$knob")
		else
			_kwarpctl_match "$word" < <(_kwarpctl_words "$command")
		fi
		;;
	esac
	case ${COMPREPLY[0]-} in *=) compopt -o nospace 2>/dev/null ;; esac
}

complete -F _kwarpctl kwarpctl
