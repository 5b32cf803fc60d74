#!/bin/sh
# SPDX-License-Identifier: MIT
# The tests that run while a package is built. The unit and smoke tests need only the build dependencies and no network,
# and take a minute. The other suites need more and take longer. A machine that builds packages may forbid ptrace(2).
# Then only the tests that do not need it run. The programs of the tests are built here, and not when the package is
# installed, which would build them otherwise.
# usage: check.sh BUILD_DIR
set -eu
build=$(realpath "$1")
cd "$(dirname "$0")/.."
set -- --suite unit --suite smoke
if ! python3 -c 'import ctypes; exit(ctypes.CDLL(None).ptrace(0, 0, 0, 0))'; then
	echo "check.sh: ptrace(2) is not permitted on this machine; the tests that need it are left out" >&2
	set -- --suite unit --no-suite needs-ptrace
fi
trap 'meson configure "$build" -Dtests=disabled' EXIT
meson setup --reconfigure "$build" -Dtests=enabled
meson compile -C "$build" unit-tests
# Meson counts cmocka's skipped tests as failures; count-results.py does not.
meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 5 "$@" || true
python3 tests/count-results.py "$build/meson-logs/testlog.json"
