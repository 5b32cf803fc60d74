#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the package of Arch with makepkg and this system's libraries, and tests its files. On other systems,
# stand-ins/arch-meson replaces arch-meson, and dependencies are not checked.
# usage: arch.sh BUILD_ROOT
# shellcheck disable=SC2317  # the checks are called by name
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/packages/lib.sh
. tests/packages/lib.sh
work=$1/packages/arch-test
out=$1/packages/arch

# The user who builds may have no permission to read these folders, so they are copied.
builds() {
	local bin status=0
	bin=$(mktemp -d "${TMPDIR:-/tmp}/sctrace-arch-meson.XXXXXX")
	chmod 755 "$bin"
	cp tests/packages/stand-ins/arch-meson "$bin"
	PATH=$PATH:$bin packaging/build.sh --check arch "$1/packages" --nodeps || status=1
	rm -r "$bin"
	return "$status"
}

leaves_no_folder() {
	mkdir "$work/bin" "$work/temp"
	printf '#!/bin/sh\nexit 1\n' >"$work/bin/makepkg"
	chmod +x "$work/bin/makepkg"
	! TMPDIR=$work/temp PATH=$work/bin:$PATH packaging/build.sh arch "$work" && rmdir "$work/temp"
}

unpacks() {
	rm -rf "$work/root"
	mkdir "$work/root"
	bsdtar -x -f "$(echo "$out"/sctrace-[0-9]*.pkg.tar*)" -C "$work/root" &&
		has_all_files "$work/root" usr/lib/sctrace usr/share/licenses/sctrace/LICENSE usr/share/zsh/site-functions
}

need_tools makepkg bsdtar
rm -rf "$work"
mkdir -p "$work"
check "it builds, and its tests pass" builds "$1"
check "it leaves no folder behind if makepkg fails" leaves_no_folder
check "it has all its files" unpacks
check "the smoke tests pass with its files" smoke "$work/root" usr/lib/sctrace
finish
