#!/bin/sh
# Runs in the emulated machine: unit tests, then the end-to-end cases under ptrace; of named cases only those. Prints TAP; count-results reads it.
build=/sctrace/build
cases=$(cat /sctrace/cases)

units() {
	for test in "$build"/tests/unit/test_*; do
		[ -x "$test" ] || continue
		echo "== unit $(basename "$test")"
		CMOCKA_MESSAGE_OUTPUT=TAP "$test" 2>&1
		echo "== status $?"
	done
	echo "== smoke"
	bash /sctrace/tests/smoke.sh "$build/sctrace" "$build/examples" 2>&1
	echo "== status $?"
}

[ -n "$cases" ] || units
echo "== e2e"
cd /sctrace/tests/e2e || exit 1
# shellcheck disable=SC2086  # a word a case
SCTRACE_E2E_SECONDS=600 python3 -u ./run --build "$build" --sctrace "$build/sctrace" --modes ptrace,trace $cases 2>&1
echo "== status $?"
