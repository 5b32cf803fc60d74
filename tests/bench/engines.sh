#!/bin/sh
# What counting costs and how true its times are, with strace's figures beside; see engines.py.
exec python3 "$(dirname "$0")/engines.py" "${SCTRACE_BUILD:-build}" "$@"
