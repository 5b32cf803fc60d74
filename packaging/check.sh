#!/bin/sh
# The tests that run while a package is built: check.sh BUILD_DIR. The unit and smoke tests need only the build dependencies, no
# network and a minute. The other suites need more and take long.
# A machine that builds packages may forbid ptrace(2). Then only the tests that can do without it run.
set -eu
build=$(realpath "$1")
cd "$(dirname "$0")/.."
set -- --suite unit --suite smoke
if ! python3 -c 'import ctypes; exit(ctypes.CDLL(None).ptrace(0, 0, 0, 0))'; then
	echo "check.sh: ptrace(2) is forbidden here; the tests that need it are left out" >&2
	set -- --suite unit --no-suite needs-ptrace
fi
# Meson takes cmocka's skipped tests for failures; count-results.py does not.
meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 5 "$@" || true
exec python3 tests/count-results.py "$build/meson-logs/testlog.json"
