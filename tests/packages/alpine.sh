#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Calls the functions of the APKBUILD as abuild does, with this system's libraries, and tests the files that they
# install. abuild itself, which makes packages of these files and reads the other lines, exists only on Alpine.
# usage: alpine.sh BUILD_ROOT
# shellcheck disable=SC2317  # the checks are called by name
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/packages/lib.sh
. tests/packages/lib.sh
work=$1/packages/alpine-test

builds() {
	packaging/build.sh archive "$work" || return 1
	# shellcheck disable=SC2016  # the shell expands its variables
	PATH=$PATH:$PWD/tests/packages/stand-ins CFLAGS='-Os -g' sh -euc '
		work=$1
		. packaging/APKBUILD
		srcdir=$work/src builddir=$work/src/$pkgname-$pkgver pkgdir=$work/root
		mkdir -p "$srcdir"
		tar -xz -C "$srcdir" -f "$work/archive/$source"
		for step in build check package; do
			cd "$builddir"
			"$step"
		done' sh "$work"
}

unpacks() { has_all_files "$work/root" usr/libexec/sctrace usr/share/licenses/sctrace/LICENSE usr/share/zsh/site-functions; }

rm -rf "$work"
mkdir -p "$work"
check "its functions build, test and install" builds
check "it has all its files" unpacks
check "the smoke tests pass with the installed files" smoke "$work/root" usr/libexec/sctrace
rm -rf "$work/src"
finish
