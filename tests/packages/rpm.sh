#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the RPM package from the spec with this system's libraries, and tests its files. On Debian,
# stand-ins/meson.macros replaces the macros of meson's package, and dependencies are not checked.
# usage: rpm.sh BUILD_ROOT
# shellcheck disable=SC2317  # the checks are called by name
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/packages/lib.sh
. tests/packages/lib.sh
work=$1/packages/rpm-test
out=$1/packages/rpm

builds() {
	local options=()
	# shellcheck disable=SC2016  # rpm expands it
	[ "$(rpm --eval '%{?meson:1}')" = 1 ] ||
		options=(--nodeps --load "$PWD/tests/packages/stand-ins/meson.macros" --define 'debug_package %{nil}')
	packaging/build.sh --check rpm "$1/packages" "${options[@]}"
}

# The name of the licence's folder contains the version in Debian's rpm, but not in Fedora's.
unpacks() {
	local licence
	rm -rf "$work/root"
	mkdir "$work/root"
	rpm2archive - <"$(echo "$out"/*/sctrace-[0-9]*.rpm)" | tar -xz -C "$work/root" &&
		licence=$(cd "$work/root" && echo usr/share/licenses/sctrace*/LICENSE) &&
		has_all_files "$work/root" usr/libexec/sctrace "$licence" usr/share/zsh/site-functions
}

need_tools rpmbuild rpm2archive
rm -rf "$work"
mkdir -p "$work"
check "it builds, and its tests pass" builds "$1"
check "it has all its files" unpacks
check "the smoke tests pass with its files" smoke "$work/root" usr/libexec/sctrace
finish
