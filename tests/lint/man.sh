#!/usr/bin/env bash
# Are the manual pages clean under mandoc? References to our own pages, which are not installed here, are no finding.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool mandoc
pages=$(find man -name '*.[1-8]' | sort)
[ -n "$pages" ] || { echo "there are no manual pages"; exit 1; }
found=$(echo "$pages" | xargs mandoc -T lint 2>&1 | grep -vE 'referenced manual not found|mandoc.db' || true)
[ -z "$found" ] || { echo "$found"; exit 1; }
# A reference to a page of ours must lead to one.
status=0
while read -r name; do
	[ -e "man/$name" ] || { echo "man/: .Xr to $name, which is not there"; status=1; }
done < <(grep -hoE '^\.Xr (sctrace|copy)[a-z-]* [1-8]' man/*.[1-8] | awk '{ print $2 "." $3 }' | sort -u)
exit $status
