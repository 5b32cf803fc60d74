#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that every C file is formatted as .clang-format says. `clang-format -i FILE` corrects a file.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
# These releases format this tree identically. Later releases put the body of a macro, or an initializer, on one line.
readonly OLDEST=13 NEWEST=17

release_of() { "$1" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p'; }

for program in clang-format $(seq -f 'clang-format-%g' "$OLDEST" "$NEWEST"); do
	release=$(release_of "$program")
	if [ "${release:-0}" -ge "$OLDEST" ] && [ "$release" -le "$NEWEST" ]; then
		c_files | xargs "$program" --dry-run -Werror --ferror-limit=3
		exit
	fi
done
skip "none of the releases $OLDEST to $NEWEST of clang-format is installed; later releases format these files differently"
