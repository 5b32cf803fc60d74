#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# deb.sh runs this script as root in a temporary system. It installs, tests, removes and purges the package beside it.
# It writes a line for each check to results.txt, `ok - NAME` or `not ok - NAME`; the latter is followed by the output
# of the command.
# shellcheck disable=SC2016,SC2317  # the shells expand their variables; the checks are called by name
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
export HOME=$PWD/home LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
mkdir -p "$HOME"
deb=$(echo "$PWD"/sctrace_*.deb)

check() {
	local name=$1
	shift
	if "$@" >check.txt 2>&1; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		tail -n 40 check.txt
	fi
}

depends() { apt-get -y -qq --no-install-recommends satisfy "$(dpkg -f "$deb" Depends)"; }

# All files except logs and other records of the system.
files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/lib/dpkg -o -path /var/log -o \
		-path /var/cache -o -path /var/lib/apt \) -prune -o -print | sort
}

installs() {
	dpkg -i "$deb" && [ "$(dpkg-query -W -f='${db:Status-Status}' sctrace)" = installed ] && dpkg --verify sctrace
}

as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$@"; }

pages() {
	local page
	for page in sctrace sctrace-compare sctrace-bench sctrace-report sctrace-run sctrace-trace sctrace-buffering truss; do
		man "$page" | grep -q . || { echo "$page has no manual page"; return 1; }
	done
}

completes_bash() {
	bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader sctrace; complete -p sctrace'
}

completes_zsh() { zsh -fc 'autoload -Uz compinit && compinit -u -D && print -r -- $_comps[sctrace] && (( $+_comps[sctrace] ))'; }

completes_fish() { fish -c 'complete -C "sctrace comp"' | tee /dev/stderr | grep -q '^compare'; }

removes() {
	dpkg -r sctrace && ! command -v sctrace && ! command -v truss && [ ! -e /usr/libexec/sctrace ]
}

purges() {
	dpkg -P sctrace
	! dpkg-query -W -f='${db:Status-Status}\n' sctrace 2>/dev/null | grep -v not-installed
}

nothing_left() { files >after.txt && diff before.txt after.txt; }

{
	check "its dependencies are available" depends
	files >before.txt
	check "it installs" installs
	check "the smoke tests pass with the installed files" ./smoke.sh /usr/bin/sctrace /usr/libexec/sctrace
	check "truss counts" as_user truss -c true
	check "its manual pages are shown" pages
	check "bash completes" completes_bash
	check "zsh completes" completes_zsh
	check "fish completes" completes_fish
	check "it is removed" removes
	check "it is purged" purges
	check "no file of the package is left" nothing_left
} >results.txt
