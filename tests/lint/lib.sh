# Shared by the checks of tests/lint; sourced. Each check is run as `CHECK SOURCE_ROOT BUILD_ROOT`.
# shellcheck shell=bash

# Says that the check cannot run here: skipped, or failed where everything must work.
skip() {
	echo "skipped: $*"
	[ "${SCTRACE_MUST_WORK:-0}" = 1 ] && exit 1
	exit 77
}

need_tool() { command -v "$1" >/dev/null 2>&1 || skip "$1 is not here"; }

# The C files of the project, one a line; the copiers and tests too.
c_files() { find src examples tests -name '*.[ch]' -not -path '*/corpus/*' | sort; }

# Scripts that bash or sh runs, whatever their name.
scripts() {
	find dev .ci tests debian packaging -type f -size -200k 2>/dev/null | while read -r file; do
		head -c 64 "$file" | head -n 1 | grep -qE '^#!.*\b(ba|da|)sh\b' && echo "$file"
	done | sort
	printf '%s\n' tests/lint/lib.sh packaging/APKBUILD packaging/PKGBUILD
}
