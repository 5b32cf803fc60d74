#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in the emulated machine: the unit tests, the smoke test, the end-to-end cases with all engines, and the
# scripts beside them. Runs only the named parts (unit, smoke, a script, a case, a group of cases) if any are given.
# Prints TAP; run.sh counts the results.
build=/sctrace/build
# An emulated processor is about twenty times slower, so the time limits of the tests are this long.
export SCTRACE_E2E_SECONDS=1800
if [ -e /sctrace/command ]; then
	cd "$build" || exit 1
	exec sh -c "$(cat /sctrace/command)" 2>&1
fi
named=$(cat /sctrace/named)
scripts="vs-strace compare bench cli report bpf"
modes=ptrace,trace,patch,record,bpf
cases=

# step NAME COMMAND...: prints the output of the command between two lines that begin with `==`.
step() {
	echo "== $1"
	shift
	"$@" 2>&1
	echo "== status $?"
}

units() {
	for test in "$build"/tests/unit/test_*; do
		[ ! -x "$test" ] || CMOCKA_MESSAGE_OUTPUT=TAP step "unit $(basename "$test")" "$test"
	done
}

script() {
	case $1 in
	vs-strace) step vs-strace python3 -u vs-strace --sctrace "$build/sctrace" --build "$build" ;;
	*) step "$1" python3 -u "$1.py" "$build" ;;
	esac
}

cd /sctrace/tests/e2e || exit 1
for name in ${named:-unit smoke cases $scripts}; do
	case $name in
	unit) units ;;
	smoke) step smoke bash /sctrace/tests/smoke.sh "$build/sctrace" "$build/examples" ;;
	cases) step e2e python3 -u ./run --build "$build" --modes "$modes" ;;
	vs-strace | compare | bench | cli | report | bpf) script "$name" ;;
	*) cases="$cases $name" ;;
	esac
done
# shellcheck disable=SC2086  # each word is a case
[ -z "$cases" ] || step e2e python3 -u ./run --build "$build" --modes "$modes" $cases
