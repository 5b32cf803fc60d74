#!/bin/sh
# How fast sctrace traces and counts, with strace's figures beside; see tracing.py.
exec python3 "$(dirname "$0")/tracing.py" "${SCTRACE_BUILD:-build}" "$@"
