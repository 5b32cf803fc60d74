#!/bin/sh
# separate.sh CC OBJCOPY SOURCE PROGRAM SYMBOLS: a stripped program, and its symbols in a file that it names.
set -eu
"$1" -O1 -g -o "$4" "$3"
"$2" --only-keep-debug "$4" "$5"
"$2" --strip-all --add-gnu-debuglink="$5" "$4"
