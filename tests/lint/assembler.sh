#!/usr/bin/env bash
# Checks that clang's assembler accepts the assembly files, too. The GNU assembler has directives that clang's does not
# know.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool clang
for file in src/engine/patch/*/*.S; do
	clang --target=x86_64-linux-gnu -Isrc -c -o "$2/assembler.o" "$file"
done
