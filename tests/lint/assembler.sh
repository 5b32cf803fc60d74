#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that clang's assembler accepts the assembly files, too, and that its agent fits into the page. The GNU assembler
# has directives that clang's does not know, and clang's makes some jumps longer. Also checks that the recorder, which is
# copied into programs, refers to nothing outside its own section.
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
	case $file in
	*/aarch64/*)
		clang --target=aarch64-linux-gnu -Isrc -c -o "$object" "$file"
		size=$(($(address_of agent_end) - $(address_of agent_begin))) ;;
	*/agent.S)
		clang --target=x86_64-linux-gnu -Isrc -c -o "$object" "$file"
		size=$(($(address_of agent_end) - $(address_of agent_begin) + $(address_of region_back_end) - $(address_of region_begin))) ;;
	*)
		clang --target=x86_64-linux-gnu -Isrc -c -o "$object" "$file"
		continue ;;
	esac
	if [ "$size" -gt 8192 ]; then
		echo "$file: the agent and the region code take $size bytes of 8192 if clang assembles them"
		exit 1
	fi
done

recorder=$(find "$2" -path '*librecorder.a.p/recorder.c.o' | head -n 1)
if [ -n "$recorder" ] && objdump -r -j recorder_text "$recorder" | grep R_X86_64; then
	echo "$recorder: the recorder refers to other code or data, which the program does not have; see recorder.c"
	exit 1
fi
