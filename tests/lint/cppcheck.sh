#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs cppcheck on the sources. Its results are kept in the build folder, so that a second run is quick.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool cppcheck
mkdir -p "$2/cppcheck"
cppcheck --quiet --error-exitcode=1 --std=c11 -j "$(nproc)" --cppcheck-build-dir="$2/cppcheck" \
	--enable=warning,performance,portability --inline-suppr \
	--suppressions-list=tests/lint/cppcheck.suppressions -I src -I "$2" -D_GNU_SOURCE -D__x86_64__ src examples
