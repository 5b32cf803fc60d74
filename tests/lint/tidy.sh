#!/usr/bin/env bash
# clang-tidy over what the build compiles. Slow, so `./dev lint` alone runs it.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool clang-tidy
# What the compiler is given for this machine: no other architecture's file, no assembly, and not the kernel's side of the bpf engine.
sources() {
	sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$1/compile_commands.json" | grep -E '(src|examples)/.*\.c$' | sort -u |
		sed "s|^\([^/]\)|$1/\1|"
}
# Options that gcc knows and clang does not must not count as findings, nor what bpftool generates (*.skel.h).
sources "$2" | xargs -P "$(nproc)" -n 4 clang-tidy -p "$2" --quiet \
	--extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unused-command-line-argument 2>&1 |
	{ grep -vE '^[^ ]*\.skel\.h:|^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header|^$' || true; } >"$2/clang-tidy.txt"
if grep -qE ': (warning|error): ' "$2/clang-tidy.txt"; then
	cat "$2/clang-tidy.txt"
	exit 1
fi
