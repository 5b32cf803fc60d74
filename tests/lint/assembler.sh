#!/usr/bin/env bash
# Checks that clang's assembler accepts the assembly files, too, and that its agent fits into the page. The GNU assembler
# has directives that clang's does not know, and clang's makes some jumps longer.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool clang
address_of() { # LABEL
	echo $((16#$(nm "$object" | sed -n "s/ . $1\$//p")))
}

object=$2/assembler.o
for file in src/engine/patch/*/*.S; do
	clang --target=x86_64-linux-gnu -Isrc -c -o "$object" "$file"
	[ "${file##*/}" = agent.S ] || continue
	size=$(($(address_of agent_end) - $(address_of agent_begin) + $(address_of region_back_end) - $(address_of region_begin)))
	if [ "$size" -gt 8192 ]; then
		echo "$file: the agent and the region code take $size bytes of 8192 if clang assembles them"
		exit 1
	fi
done
