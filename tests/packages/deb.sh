#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the Debian package, checks it with lintian, installs it into a minimal system of the same release, tests it
# there, and removes it.
# usage: deb.sh BUILD_ROOT
# shellcheck disable=SC2317  # the checks are called by name
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/packages/lib.sh
. tests/packages/lib.sh
work=$1/packages/deb-test
out=$1/packages/deb

built() { ls "$out"/sctrace_*_"$(dpkg --print-architecture)"."$1"; }

lints() { lintian --allow-root --fail-on error "$(built changes)"; }

unpacks() {
	rm -rf "$work/root"
	dpkg-deb -x "$(built deb)" "$work/root" &&
		has_all_files "$work/root" usr/libexec/sctrace usr/share/doc/sctrace/copyright usr/share/zsh/vendor-completions
}

# bare_system PATTERN...: makes a temporary system and runs deb-in-root.sh in it, which writes results.txt.
bare_system() {
	local release
	# shellcheck source=/dev/null
	release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	rm -f "$work/results.txt"
	# shellcheck disable=SC2016  # mmdebstrap gives its hooks the root as $1
	timeout 900 mmdebstrap --quiet --mode=auto --variant=apt --format=null \
		--include=bash-completion,zsh,fish,man-db,diffutils --aptopt='Acquire::http::Timeout "20"' --aptopt='Acquire::Retries "2"' \
		--customize-hook='mkdir "$1/tmp/sctrace"' \
		--customize-hook="copy-in $(built deb) tests/smoke.sh tests/packages/deb-in-root.sh /tmp/sctrace" \
		--customize-hook='chroot "$1" bash /tmp/sctrace/deb-in-root.sh || true' \
		--customize-hook="copy-out /tmp/sctrace/results.txt $work" \
		"$release" /dev/null ${SCTRACE_DEBIAN_MIRROR:+"$SCTRACE_DEBIAN_MIRROR"}
}

# Numbers the lines of deb-in-root.sh.
renumber() {
	local line
	while IFS= read -r line; do
		case $line in
		"ok - "* | "not ok - "*)
			number=$((number + 1))
			echo "${line%% - *} $number - ${line#* - }"
			[[ $line = ok* ]] || failed=1
			;;
		*) echo "# $line" ;;
		esac
	done <"$work/results.txt"
}

need_tools dpkg-buildpackage dh lintian mmdebstrap
rm -rf "$work"
mkdir -p "$work"
check "it builds, and its tests pass" packaging/build.sh --check deb "$1/packages"
[ "$failed" = 0 ] || finish
check "lintian finds no error" lints
check "it has all its files" unpacks
check "a minimal system can be created" bare_system
[ ! -e "$work/results.txt" ] || renumber
finish
