#!/usr/bin/env bash
# What is written in assembler is understood by clang's own, too: gcc's has directives that it does not know.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool clang
for file in src/engine/patch/*/*.S; do
	clang --target=x86_64-linux-gnu -Isrc -c -o "$2/assembler.o" "$file"
done
