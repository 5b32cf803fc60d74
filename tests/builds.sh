#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds sctrace in every supported way: with each compiler and optimisation level, without each optional part, and
# without all of them. Warnings are errors. The unit tests and the smoke test run with each build. Prints TAP. The build
# folders are build-ways/NAME. They are removed afterwards, unless something failed there.
# usage: builds.sh [NAME...]    builds only these rows; builds.sh list prints the names
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
readonly TOP=$PWD/build-ways
number=0
failed=0

# Name, compiler, meson's options. A row is skipped if its compiler is not installed. Debian's libunwind-ptrace.so needs
# liblzma and does not name it (libdw loads it), which lld reports as an error.
table() {
	cat <<'TABLE'
gcc             gcc
gcc-11          gcc-11
gcc-13          gcc-13
gcc-14          gcc-14
clang           clang
clang-13        clang-13
clang-16        clang-16
clang-19        clang-19
O0              gcc       --optimization=0
O1              gcc       --optimization=1
Os              gcc       --optimization=s
O3              gcc       --optimization=3
Og              gcc       --optimization=g
release         gcc       --buildtype=release -Db_ndebug=true -Dstrip=true
lto             gcc       --buildtype=release -Db_lto=true
no-pie          gcc       -Db_pie=false
clang-O0        clang     --optimization=0
clang-O3        clang     --optimization=3
clang-Os        clang     --optimization=s
clang-lto       clang     --buildtype=release -Db_lto=true -Db_lto_mode=thin -Dc_link_args=['-fuse-ld=lld','-Wl,--allow-shlib-undefined']
no-patch        gcc       -Dpatch=disabled
no-unwind       gcc       -Dunwind=disabled
no-uring        gcc       -During=disabled
no-bpf          gcc       -Dbpf=disabled
no-tests        gcc       -Dtests=disabled
nothing         gcc       -Dauto_features=disabled
nothing-clang   clang     -Dauto_features=disabled
TABLE
}

say_log() { grep -E 'error:|warning:|not ok|FAILED|^failed: ' "$1" | head -n 20 | sed 's/^/# /'; tail -n 5 "$1" | sed 's/^/# /'; }

# way DIR COMPILER OPTION...
way() {
	local dir=$1
	CC=$2 meson setup "$dir" -Dtests=auto -Dwerror=true "${@:3}" && ninja -C "$dir" || return 1
	meson test -C "$dir" --no-rebuild --print-errorlogs --suite unit --suite smoke || true
	python3 tests/count-results.py "$dir/meson-logs/testlog.json"
}

check() {
	local name=$1 compiler=$2 log=$TOP/$1.txt
	number=$((number + 1))
	if ! command -v "$compiler" >/dev/null; then
		echo "ok $number - $name # SKIP $compiler is not installed"
	elif rm -rf "${TOP:?}/$name" && way "$TOP/$name" "${@:2}" >"$log" 2>&1; then
		echo "ok $number - $name: $(tail -n 1 "$log")"
		rm -rf "${TOP:?}/$name" "$log"
	else
		failed=1
		say_log "$log"
		echo "not ok $number - $name"
	fi
}

if [ "${1:-}" = list ]; then
	table | awk '{ print $1 }'
	exit 0
fi
mkdir -p "$TOP"
while read -r name compiler options; do
	# shellcheck disable=SC2086  # each word is an option
	if [ $# = 0 ] || [[ " $* " = *" $name "* ]]; then check "$name" "$compiler" $options </dev/null; fi
done < <(table)
echo "1..$number"
rmdir "$TOP" 2>/dev/null
exit "$failed"
