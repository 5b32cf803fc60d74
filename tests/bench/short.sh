#!/bin/sh
# What tracing short-lived programs costs, with strace's figures beside; see short.py.
exec python3 "$(dirname "$0")/short.py" "${SCTRACE_BUILD:-build}" "$@"
