#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds sctrace for aarch64 with warnings as errors, and runs the parts that work in an emulated process: the list of
# engines, and the unit tests that need no engine. Debian's packages are unpacked once, into BUILD_ROOT/cross-arm64.
# Prints TAP.
# usage: cross.sh BUILD_ROOT
# Skipped if Debian's packages or the tools are not available, even with SCTRACE_MUST_WORK=1, because they are not part
# of the project.
# shellcheck disable=SC2317  # the checks are called by name
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/arm64/lib.sh
. tests/arm64/lib.sh

readonly WORK=$1/cross-arm64
readonly ROOT=$WORK/root BUILD=$WORK/build RECORDER=src/engine/patch/code/librecorder.a.p/recorder.c.o
readonly TESTS="decode decode_structs syscall_table filter hist quantile opt run table summary_table record ring patch_aarch64"
number=0
failed=0

skip() { echo "1..0 # SKIP $*"; exit 0; }

# check NAME COMMAND...: passes if the command succeeds; otherwise the output of the command is shown.
check() {
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$WORK/check.txt" 2>&1; then
		echo "ok $number - $name"
	else
		failed=1
		echo "not ok $number - $name"
		grep -E 'error|warning|not so|ERROR|FAILED' "$WORK/check.txt" | head -20 | sed 's/^/# /' || true
		tail -n 10 "$WORK/check.txt" | sed 's/^/# /'
	fi
}

emulated() { qemu-aarch64 -L "$ROOT" "$@"; }

build() {
	configure_cross "$BUILD" "$ROOT" -Dwerror=true -Doptimization=0 -Ddebug=false && meson compile -C "$BUILD" programs tests
}

# is_whole OBJECT: the recorder is copied into programs, so it must not refer to other code or data.
is_whole() {
	llvm-objdump -r "$1" >"$WORK/references.txt" && ! sed -n '/\[recorder_text\]/,/^$/p' "$WORK/references.txt" | grep R_AARCH64
}

# gcc, too, must make no calls of its own, such as memset(3), in the recorder.
is_whole_with_gcc() {
	local command
	command=$(ninja -C "$BUILD" -t commands "$RECORDER" | grep -o -- ' -fPIE.* -ffixed-x18') &&
		(cd "$BUILD" && eval "aarch64-linux-gnu-gcc --sysroot='$ROOT' -O2 -D_GNU_SOURCE -I. -I../../../src $command" \
			"-c -o '$WORK/recorder-gcc.o' ../../../src/engine/patch/code/recorder.c") && is_whole "$WORK/recorder-gcc.o"
}

# engine_says NAME WORDS: checks that the line below the engine's name in --list-engines contains WORDS.
engine_says() { emulated "$BUILD/sctrace" --list-engines | tee /dev/stderr | grep -A1 "^$1 " | grep -qF "$2"; }

for tool in $BUILD_TOOLS; do
	command -v "$tool" >/dev/null || skip "$tool is not installed"
done
mkdir -p "$WORK"
unpack "$ROOT" "$BUILD_PACKAGES" >"$WORK/unpack.txt" 2>&1 ||
	skip "Debian's packages for arm64 could not be unpacked: $(grep -m 1 -E '^ *(E|Err)' "$WORK/unpack.txt" || tail -n 1 "$WORK/unpack.txt")"
check "it builds without a warning" build
check "the recorder refers to nothing outside" is_whole "$BUILD/$RECORDER"
if command -v aarch64-linux-gnu-gcc >/dev/null; then
	check "the recorder refers to nothing outside if gcc compiles it" is_whole_with_gcc
fi
if command -v qemu-aarch64 >/dev/null; then
	check "patch is built in" engine_says patch "calls cannot be intercepted by a seccomp filter"
	check "bpf is built in" engine_says bpf "bpf(2) is not permitted"
	check "ptrace is built in" engine_says ptrace "ptrace"
	for name in $TESTS; do
		check "$name" emulated "$BUILD/tests/unit/test_$name"
	done
else
	echo "# qemu-aarch64 is not installed: sctrace was built, but not run"
fi
echo "1..$number"
exit "$failed"
