#!/usr/bin/env bash
# Are the manual pages clean under mandoc and groff, which most systems show them with, and do they fit 80 columns?
# References to our own pages, which are not installed here, are no finding.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool mandoc
need_tool groff
pages=$(find man -name '*.[1-8]' | sort)
[ -n "$pages" ] || { echo "there are no manual pages"; exit 1; }
found=$(echo "$pages" | xargs mandoc -T lint 2>&1 | grep -vE 'referenced manual not found|mandoc.db' || true)
[ -z "$found" ] || { echo "$found"; exit 1; }
status=0
for page in $pages; do
	# What groff takes for a macro's name and mandoc for a word, or the other way round, shows in groff's warnings.
	warned=$(groff -mdoc -Tascii -P-c -P-b -P-o -P-u -rLL=78n "$page" 2>&1 >"$2/page.txt")
	wide=$(grep -E '.{81}' "$2/page.txt" || true)
	[ -z "$warned$wide" ] || { printf '%s under groff, warned of or wider than 80 columns:\n%s\n' "$page" "$warned$wide"; status=1; }
done
# A reference to a page of ours must lead to one.
while read -r name; do
	[ -e "man/$name" ] || { echo "man/: .Xr to $name, which is not there"; status=1; }
done < <(grep -hoE '^\.Xr (sctrace|copy)[a-z-]* [1-8]' man/*.[1-8] | awk '{ print $2 "." $3 }' | sort -u)
exit $status
