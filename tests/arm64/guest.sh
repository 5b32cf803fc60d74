#!/bin/sh
# Runs in the emulated machine: unit tests, then the end-to-end cases under ptrace. Prints TAP; count-results reads it.
build=/sctrace/build
for test in "$build"/tests/unit/test_*; do
	[ -x "$test" ] || continue
	echo "== unit $(basename "$test")"
	CMOCKA_MESSAGE_OUTPUT=TAP "$test" 2>&1
	echo "== status $?"
done
echo "== smoke"
bash /sctrace/tests/smoke.sh "$build/sctrace" "$build/examples" 2>&1
echo "== status $?"

echo "== e2e"
cd /sctrace/tests/e2e || exit 1
# shellcheck disable=SC2046  # a word a case
SCTRACE_E2E_SECONDS=600 python3 -u ./run --build "$build" --sctrace "$build/sctrace" --modes ptrace,trace $(cat /sctrace/cases) 2>&1
echo "== status $?"
