#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that ./dev configures a build folder again after it has installed packages. Meson keeps the results of compiler
# checks, and a check that failed because a package was missing must be repeated. Prints TAP. A copy of ./dev builds a
# small project here. The package manager is a stub: gcc-multilib brings a library that this project looks for.
# Also checks that sctrace is built without its tests, in the build folder BUILD_ROOT.
# usage: dev.sh BUILD_ROOT
# shellcheck disable=SC2317  # the checks are called by name
set -u
build_root=$1
dev=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../dev") || exit 1
count_results=$(realpath "$(dirname "${BASH_SOURCE[0]}")/count-results.py") || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/sctrace-dev.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
unset CI MAKEFLAGS SCTRACE_BUILD
number=0
failed=0

check() {
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/check.txt" 2>&1; then
		echo "ok $number - $name"
	else
		failed=1
		echo "not ok $number - $name"
		sed 's/^/# /' "$work/check.txt"
	fi
}

# stub NAME: creates a script NAME; its commands are on standard input.
stub() {
	{ echo '#!/bin/sh'; cat; } >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

make_stubs() {
	mkdir -p "$work/bin"
	stub sudo <<<'exec "$@"'
	stub dpkg-query <<<"cat '$work/machine/packages'"
	stub apt-get <<-STUB
		for word; do
			echo "installed \$word" >>'$work/machine/packages'
			[ "\$word" != gcc-multilib ] || ar rc '$work/machine/libmultilib.a'
		done
	STUB
	PATH=$work/bin:$PATH
}

# The test of this project is skipped if the library did not exist when the project was configured.
bare_machine() {
	rm -rf "$work/machine" "$work/project"
	mkdir -p "$work/machine" "$work/project"/{tests,examples,man}
	touch "$work/machine/packages"
	cd "$work/project" || return 1
	cp "$dev" dev
	cp "$count_results" tests/
	printf '%s\n' "option('kept', type: 'string', value: 'no')" "option('tests', type: 'feature', value: 'disabled')" >meson_options.txt
	cat >meson.build <<-PROJECT
		project('small', 'c')
		run_target('programs', command: 'true')
		if not get_option('tests').disabled()
		  run_target('tests', command: 'true')
		endif
		multilib = meson.get_compiler('c').links('int main(void) { return 0; }', args: ['-L$work/machine', '-lmultilib'])
		test('multilib', find_program('sh'), args: ['-c', multilib ? 'exit 0' : 'exit 77'], suite: 'unit')
		test('kept', find_program('test'), args: [get_option('kept'), '=', 'yes'], suite: 'kept')
	PROJECT
}

same_run() {
	bare_machine && ./dev build || return 1
	[ ! -e "$work/machine/libmultilib.a" ] || { echo "gcc-multilib was installed too early for this test"; return 1; }
	./dev test unit | tee /dev/stderr | tail -n 1 | grep -qx '1 passed, 0 failed'
}

later_run() {
	bare_machine && ./dev build && ./dev install-deps || return 1
	./dev test unit | tee /dev/stderr | tail -n 1 | grep -qx '1 passed, 0 failed'
}

keeps_options() {
	bare_machine && ./dev build && meson configure build -Dkept=yes || return 1
	./dev test kept | tee /dev/stderr | tail -n 1 | grep -qx '1 passed, 0 failed'
}

has_tests() { grep -q '^build tests:' build/build.ninja; }

adds_tests() {
	bare_machine && ./dev build || return 1
	! has_tests || { echo "./dev build configured the tests"; return 1; }
	./dev test unit && has_tests && ./dev build && has_tests
}

once() {
	./dev test unit >"$work/again.txt" 2>&1
	! grep -E 'The Meson build system|installing' "$work/again.txt"
}

# The target `programs` builds all that is installed, so that `meson install --no-rebuild` works after it.
no_test_programs() {
	local commands
	commands=$(ninja -C "$build_root" -t commands programs) || return 1
	grep -q ' -o sctrace ' <<<"$commands" && grep -q ' --completion fish' <<<"$commands" && ! grep -E ' -o tests/' <<<"$commands"
}

make_stubs
check "packages that the same command installs are noticed" same_run
check "packages that an earlier command installed are noticed" later_run
check "the options of a build folder are kept" keeps_options
check "all that is installed is built without the programs of tests" no_test_programs
check "the programs of the tests are added when a test needs them" adds_tests
check "without new packages, nothing is configured again" once
echo "1..$number"
exit "$failed"
