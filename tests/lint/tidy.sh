#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs clang-tidy on the files that the build compiles. It is slow, so only `./dev lint` runs it.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool clang-tidy
# The C files that are compiled for this machine: no file of another architecture, no assembly, and not the kernel's
# part of the bpf engine.
sources() {
	sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$1/compile_commands.json" | grep -E '(src|examples)/.*\.c$' | sort -u |
		sed "s|^\([^/]\)|$1/\1|"
}
# Options that only gcc knows, and the files that bpftool generates (*.skel.h), must not count as findings.
sources "$2" | xargs -P "$(nproc)" -n 4 clang-tidy -p "$2" --quiet \
	--extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unused-command-line-argument 2>&1 |
	{ grep -vE '^[^ ]*\.skel\.h:|^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header|^$' || true; } >"$2/clang-tidy.txt"
if grep -qE ': (warning|error): ' "$2/clang-tidy.txt"; then
	cat "$2/clang-tidy.txt"
	exit 1
fi
