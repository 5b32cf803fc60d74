#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles the copiers and sctrace, without its optional parts (patch, bpf, -k), by musl-gcc with warnings as errors.
# Then the copiers copy, the decoders and parsers read their corpus, and the ptrace engine counts. Prints TAP. The
# libraries are Debian's static ones, built for glibc.
# usage: check.sh BUILD_ROOT
# shellcheck disable=SC2016,SC2317  # the shell of bash -c expands its variables; the checks are called by name
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
build=$1
work=$build/musl
libs=$(gcc -print-multiarch 2>/dev/null)
flags=(-std=gnu17 -O0 -Wall -Wextra -Wno-missing-field-initializers -Werror -D_GNU_SOURCE -Isrc "-I$work")
flags+=(-idirafter /usr/include -idirafter "/usr/include/$libs")
number=0
failed=0

skip() {
	if [ "${SCTRACE_MUST_WORK:-}" = 1 ]; then echo "not ok 1 - skipped, but SCTRACE_MUST_WORK=1 allows no skip: $*"; else echo "1..0 # SKIP $*"; fi
	exit 0
}

check() {
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/check.txt" 2>&1; then
		echo "ok $number - $name"
	else
		failed=1
		echo "not ok $number - $name"
		grep -E 'error|undefined' "$work/check.txt" | head -20 | sed 's/^/# /'
		tail -n 5 "$work/check.txt" | sed 's/^/# /'
	fi
}

copiers() {
	local source name
	head -c 20000 /dev/urandom | base64 >"$work/in"
	for source in examples/*.c; do
		name=$(basename "$source" .c)
		[ "$name" != copy-io-uring ] || continue
		musl-gcc -static "${flags[@]}" -o "$work/$name" "$source" -lpthread || return 1
		[[ $name == copy-* ]] || continue
		rm -f "$work/out"
		if ! "$work/$name" "$work/in" "$work/out" || ! cmp "$work/in" "$work/out"; then
			echo "error: $name"
			return 1
		fi
	done
}

# The source files of a build without optional parts.
sources() {
	find src -name '*.c' -not -path 'src/engine/bpf/*' -not -path 'src/engine/patch/*' -not -name aarch64.c -not -name main.c \
		-not -path src/stack/libunwind.c -not -path src/stack/unwind.c
}

core() {
	rm -rf "$work/objects" "$work/core.a"
	mkdir -p "$work/objects"
	export work
	sources | tr ' ' '\n' | xargs -n 8 -P "$(nproc)" bash -c '
		split=$0
		for source; do
			musl-gcc ${split//|/ } -c -o "$work/objects/${source//\//_}.o" "$source" || exit 255
		done' "$(IFS='|' && echo "${flags[*]}")" && ar rcs "$work/core.a" "$work"/objects/*.o
}

link_static() {
	local to=$1
	shift
	musl-gcc -static "${flags[@]}" -o "$to" "$@" tests/musl/fortify.c "$work/core.a" "/usr/lib/$libs/libseccomp.a" \
		"/usr/lib/$libs/libjansson.a" "/usr/lib/$libs/libelf.a" "/usr/lib/$libs/libz.a" \
		"/usr/lib/$libs/libzstd.a" -lm -lpthread
}

reads_corpus() {
	link_static "$work/fuzz_$1" "tests/fuzz/fuzz_$1.c" tests/fuzz/replay.c && "$work/fuzz_$1" "tests/fuzz/corpus/$1"
}

# Copies 1000 bytes one at a time: 1000 reads and writes, and a read that returns 0 at the end of the file.
counts() {
	link_static "$work/count" tests/musl/count.c || return 1
	head -c 1000 /dev/zero >"$work/in"
	"$work/count" "$work/copy-read-write" "$work/in" "$work/out" | tee "$work/counts.txt"
	grep -qx 'read 1001' "$work/counts.txt" && grep -qx 'write 1000' "$work/counts.txt"
}

command -v musl-gcc >/dev/null || skip "musl-gcc is not installed"
for library in seccomp jansson elf z zstd; do
	[ -e "/usr/lib/$libs/lib$library.a" ] || skip "lib$library.a is not installed"
done
mkdir -p "$work"
{
	grep -v _MISSING "$build/config.h"
	printf '#define SCTRACE_%s_MISSING ""\n' BPF PATCH DEMANGLE UNWIND
} >"$work/config.h"
check "copiers build and copy" copiers
check "everything except the optional parts builds" core
for target in decode filter opt proc run text; do
	check "$target reads its corpus" reads_corpus "$target"
done
check "the ptrace engine counts exactly" counts
echo "1..$number"
exit "$failed"
