#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds a package of these sources and writes it to DIR/KIND, which is emptied first. The kind `archive` makes only the
# archive of the sources. The options are passed to the tool that builds (dpkg-buildpackage, rpmbuild, makepkg, abuild).
# With --check, the tests of check.sh run as well.
# usage: build.sh [--check] deb|rpm|arch|alpine|archive DIR [OPTION...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
VERSION=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build)
readonly NAME=sctrace-$VERSION USAGE="usage: build.sh [--check] deb|rpm|arch|alpine|archive DIR [OPTION...]"

die() { echo "build.sh: $*" >&2; exit 1; }

# Makes a folder of the sources without build folders and without the history, and an archive of this folder.
copy_sources() {
	mkdir -p "$1"
	tar -c --anchored --no-wildcards-match-slash --exclude='./build*' --exclude='./obj-*' --exclude=./.git --exclude=./.cache . |
		tar -x -C "$1"
}

build_archive() {
	copy_sources "$1/$NAME"
	tar -cz -C "$1" -f "$1/$NAME.tar.gz" "$NAME"
	rm -r "${1:?}/$NAME"
}

build_deb() {
	local to=$1
	shift
	copy_sources "$to/$NAME"
	[ ${#nocheck[@]} = 0 ] || local -x DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-} nocheck" DEB_BUILD_PROFILES="${DEB_BUILD_PROFILES:-} nocheck"
	(cd "$to/$NAME" && dpkg-buildpackage -us -uc "$@")
	rm -r "${to:?}/$NAME"
}

build_rpm() {
	local to=$1
	shift
	build_archive "$to"
	rpmbuild -ba --define "_topdir $to/work" --define "_sourcedir $to" --define "_rpmdir $to" --define "_srcrpmdir $to" \
		"${nocheck[@]}" "$@" packaging/sctrace.spec
	rm -r "${to:?}/work"
}

# makepkg refuses to run as root, so root runs it as user nobody.
build_arch() {
	local to=$1 work user=()
	shift
	work=$(mktemp -d "${TMPDIR:-/tmp}/sctrace-arch.XXXXXX")
	# shellcheck disable=SC2064  # the variable is local
	trap "rm -rf '$work'" EXIT
	build_archive "$work"
	cp packaging/PKGBUILD "$work"
	if [ "$(id -u)" = 0 ]; then
		chown -R nobody "$work"
		user=(runuser -u nobody --)
	fi
	(cd "$work" && "${user[@]}" env HOME="$work" makepkg -f "${nocheck[@]}" "$@")
	cp "$work"/*.pkg.tar* "$to"
}

# abuild needs the checksums of local files, too, and a key of the user for the signature.
build_alpine() {
	local to=$1 force=()
	shift
	build_archive "$to"
	cp packaging/APKBUILD "$to"
	[ "$(id -u)" != 0 ] || force=(-F)
	(cd "$to" && abuild "${force[@]}" checksum && SCTRACE_NOCHECK=${nocheck[*]} abuild "${force[@]}" -P "$to" "$@" -r)
}

nocheck=(--nocheck)
[ "${1:-}" != --check ] || { nocheck=(); shift; }
[ $# -ge 2 ] || die "$USAGE"
[ "$(type -t "build_$1")" = function ] || die "$USAGE"
kind=$1
mkdir -p "$2"
to=$(realpath "$2")/$kind
shift 2
rm -rf "$to"
mkdir "$to"
"build_$kind" "$to" "$@"
echo "build.sh: the packages are in $to" >&2
