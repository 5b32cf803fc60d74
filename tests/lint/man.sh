#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that mandoc and groff, which most systems use, accept the manual pages without a warning, that the pages fit
# into 80 columns, and that they name every option. mandoc's warnings about references to sctrace's own pages are
# ignored, because these pages are not installed here.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool mandoc
need_tool groff
pages=$(find man -name '*.[1-8]' | sort)
[ -n "$pages" ] || { echo "there are no manual pages"; exit 1; }
# mandoc writes findings to standard output and notes about its database to standard error. In one pipe, notes would split findings.
found=$(echo "$pages" | xargs mandoc -T lint 2>"$2/mandoc.txt" | grep -v 'referenced manual not found' || true
	grep -v 'mandoc\.db' "$2/mandoc.txt" || true)
[ -z "$found" ] || { echo "$found"; exit 1; }
status=0
for page in $pages; do
	# groff and mandoc disagree on which words are macros. groff's warnings show such words.
	warned=$(groff -mdoc -Tascii -P-c -P-b -P-o -P-u -rLL=78n "$page" 2>&1 >"$2/page.txt")
	wide=$(grep -E '.{81}' "$2/page.txt" || true)
	[ -z "$warned$wide" ] || { printf '%s under groff, warned of or wider than 80 columns:\n%s\n' "$page" "$warned$wide"; status=1; }
done
# A reference to one of sctrace's pages must name an existing page.
while read -r name; do
	[ -e "man/$name" ] || { echo "man/: .Xr refers to $name, which does not exist"; status=1; }
done < <(grep -hoE '^\.Xr (sctrace|copy)[a-z-]* [1-8]' man/*.[1-8] | awk '{ print $2 "." $3 }' | sort -u)
# Each environment variable that sctrace reads must be described.
while read -r variable; do
	grep -qE "^\.It Ev.* $variable( |$)" man/*.1 || { echo "man/: no page describes the variable $variable, which sctrace reads"; status=1; }
done < <(grep -rhoE 'getenv\("[A-Z_]+"\)' src | grep -oE '[A-Z_]{2,}' | sort -u)
# The page of each command must have the options of its --help.
for command in '' compare report show bench 'bench syscall' 'bench switch' 'bench sched' 'bench latency' 'bench load'; do
	page=man/sctrace${command:+-${command%% *}}.1
	# shellcheck disable=SC2086  # the command consists of words
	while read -r option; do
		grep -qE -- "(Fl|,) -$option( |=|$)" "$page" || { echo "$page: no --$option of sctrace $command"; status=1; }
	done < <("$2/sctrace" $command --help | sed -nE 's/^ +(-[a-zA-Z], )?--([a-z][a-z0-9-]*).*/\2/p')
done
exit $status
