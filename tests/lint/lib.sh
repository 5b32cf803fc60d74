# SPDX-License-Identifier: MIT
# Shared by the checks of tests/lint; sourced. Each check is run as `CHECK SOURCE_ROOT BUILD_ROOT`.
# shellcheck shell=bash

# skip REASON: ends the check because it cannot run here; with SCTRACE_MUST_WORK=1 this is a failure.
skip() {
	echo "skipped: $*"
	[ "${SCTRACE_MUST_WORK:-0}" = 1 ] && exit 1
	exit 77
}

need_tool() { command -v "$1" >/dev/null 2>&1 || skip "$1 is not installed"; }

# Prints the C files of the project, one in each line, including the copiers and tests.
c_files() { find src examples tests -name '*.[ch]' -not -path '*/corpus/*' | sort; }

# Prints the scripts that bash or sh runs, whatever their names are.
scripts() {
	find dev .ci tests debian packaging -type f -size -200k 2>/dev/null | while read -r file; do
		head -c 64 "$file" | head -n 1 | grep -qE '^#!.*\b(ba|da|)sh\b' && echo "$file"
	done | sort
	printf '%s\n' tests/lint/lib.sh packaging/APKBUILD packaging/PKGBUILD
}
