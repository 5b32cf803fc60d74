#!/bin/sh
# What a complete trace costs, by records and by stops, with strace's figures beside; see records.py.
exec python3 "$(dirname "$0")/records.py" "${SCTRACE_BUILD:-build}" "$@"
