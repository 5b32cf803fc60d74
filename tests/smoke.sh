#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The first things that a user does, with a built or an installed sctrace. Quick, and run under sanitizers too. Prints
# TAP.
# usage: smoke.sh SCTRACE COPIERS    the program, and the folder of the copiers
# shellcheck disable=SC2015,SC2317  # the checks are called by name
set -u
sctrace=$(realpath "$1") || exit 1
copiers=$(realpath "$2") || exit 1
number=0
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/sctrace-smoke.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# check NAME COMMAND...: passes if the command succeeds; otherwise the output of the command is shown.
check() {
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >check.out 2>&1; then
		echo "ok $number - $name"
	else
		failed=$((failed + 1))
		echo "not ok $number - $name"
		sed 's/^/# /' check.out
	fi
}

# ends STATUS COMMAND...: the command must end with this status, and give a message if it fails.
ends() {
	local want=$1 got=0
	shift
	"$@" >ends.out 2>ends.err || got=$?
	cat ends.err
	[ "$got" = "$want" ] || { echo "status $got, not $want"; return 1; }
	! grep -q 'Sanitizer\|runtime error' ends.err
}

counts() {
	ends 0 "$sctrace" -c --format=csv -o counts.csv "$@" "$copiers/copy-read-write" in out || return 1
	cmp in out && grep -q '^write,[^,]*,4096,0,' counts.csv || { cat counts.csv; return 1; }
}

traces() {
	ends 0 "$sctrace" "$@" -o trace.txt "$copiers/copy-read-write2" in out || return 1
	grep -q 'exit_group' trace.txt && ! LC_ALL=C grep -q '[[:cntrl:]]' <(tr -d '\n\t' <trace.txt)
}

compares() {
	ends 0 "$sctrace" compare --size 4K --runs 1 --warmup 0 -s read/write -b 256,4K --dir "$work" --save run.json || return 1
	[ -z "$(find "$work" -mindepth 1 -type d)" ] || { echo "the work directory is still there"; return 1; }
	ends 0 "$sctrace" report run.json
}

saves() {
	ends 0 "$sctrace" -c --save count.json "$copiers/copy-read-write" in out || return 1
	[ "$(stat -c %a count.json)" = 600 ] || { stat -c %a count.json; return 1; }
	ends 0 "$sctrace" report count.json
}

records() {
	ends 0 "$sctrace" --record calls.rec -o live.txt "$copiers/copy-read-write2" in out || return 1
	[ "$(stat -c %a calls.rec)" = 600 ] || { stat -c %a calls.rec; return 1; }
	ends 0 "$sctrace" show -o shown.txt calls.rec && cmp live.txt shown.txt || return 1
	ends 0 "$sctrace" show --diff calls.rec calls.rec
}

helps() {
	local command
	for command in '' compare bench report show; do
		# shellcheck disable=SC2086  # an empty command must not become a word
		ends 0 "$sctrace" $command --help || return 1
		[ -s ends.out ] || return 1
	done
}

threads() {
	ends 0 "$copiers/copy-threads" -b 16 in out && cmp in out || return 1
	ends 0 "$sctrace" -c -f -o counts.txt "$copiers/copy-threads" in out && cmp in out || return 1
	ends 0 "$sctrace" bench switch --runs 3 --time 5ms || return 1
	ends 0 "$sctrace" bench syscall --runs 3 --time 1ms --no-count thread
}

completes() { ends 0 "$sctrace" --completion bash && bash -n ends.out; }

head -c 4096 /dev/urandom >in
check "counts are exact" counts
check "counts are exact by ptrace" counts --engine=ptrace
check "a trace is text" traces
check "a trace of children" traces -f
check "threads in copiers, programs and tests" threads
check "a saved count can be shown" saves
check "a recording is shown as the live trace" records
check "copiers are compared" compares
check "help" helps
check "version" ends 0 "$sctrace" --version
check "completion is a script" completes
check "an unknown option" ends 2 "$sctrace" --no-such-option
check "a missing program" ends 127 "$sctrace" -c ./no-such-program
check "a directory instead of a program" ends 126 "$sctrace" -c /
check "the program's status" ends 3 "$sctrace" -o /dev/null sh -c 'exit 3'
check "a full disk is reported" ends 125 "$sctrace" -o /dev/full "$copiers/copy-read-write2" in out
check "an unreadable run" ends 1 "$sctrace" report ./no-such-run.json
check "a foreign run" ends 1 "$sctrace" report in
echo "1..$number"
exit $((failed > 0))
