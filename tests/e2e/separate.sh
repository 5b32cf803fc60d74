#!/bin/sh
# separate.sh OBJCOPY SOURCE PROGRAM SYMBOLS CC...: a stripped program, and its symbols in a file that it names.
set -eu
objcopy=$1 source=$2 program=$3 symbols=$4
shift 4
"$@" -O1 -g -o "$program" "$source"
"$objcopy" --only-keep-debug "$program" "$symbols"
"$objcopy" --strip-all --add-gnu-debuglink="$symbols" "$program"
