#!/bin/sh
# SPDX-License-Identifier: MIT
# separate.sh OBJCOPY SOURCE PROGRAM SYMBOLS CC...: builds a stripped program and a file of its symbols, which the
# program names.
set -eu
objcopy=$1 source=$2 program=$3 symbols=$4
shift 4
"$@" -O1 -g -o "$program" "$source"
"$objcopy" --only-keep-debug "$program" "$symbols"
"$objcopy" --strip-all --add-gnu-debuglink="$symbols" "$program"
