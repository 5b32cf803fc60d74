#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that the packages need the same libraries as the table of ./dev, and have the version of meson.build.
set -eu
cd "$1"
status=0
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build)

# says FILE PATTERN: checks that a line of the file matches.
says() {
	grep -qE "$2" "$1" || { echo "$1: no line matches '$2' (of ./dev and meson.build)"; status=1; }
}

# needs FILE COLUMN [EXCEPT]: checks that the file names all packages of this column of ./dev's table that a build
# needs.
needs() {
	local name
	while read -r name; do
		[[ " ${3:-} " = *" $name "* ]] || says "$1" "(^|[^a-z0-9-])$name($|[^a-z0-9-])"
	done < <(awk -v column="$2" '/^TABLE$/ { exit }
		($1 == "build" || $1 == "parts" || $1 == "bpf" || $2 == "libcmocka-dev") && $column != "-" { print $column }' dev)
}

says debian/changelog "^sctrace \($version\)"
says packaging/sctrace.spec "^Version: +$version$"
says packaging/PKGBUILD "^pkgver=$version$"
says packaging/APKBUILD "^pkgver=$version$"
needs debian/control 2 "gcc libc6-dev" # these are build-essential
needs packaging/sctrace.spec 3
needs packaging/PKGBUILD 4
needs packaging/APKBUILD 5 "gcc musl-dev" # these are build-base
# A package for any processor has all optional parts.
! grep -nE -- '-D[a-z]+=.*(auto|disabled)' debian/rules packaging/APKBUILD packaging/PKGBUILD packaging/sctrace.spec || status=1
exit $status
