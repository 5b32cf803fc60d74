#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures the cost of tracing programs with many threads, and the share of their calls that stop; see threads.py.
exec python3 "$(dirname "$0")/threads.py" "${SCTRACE_BUILD:-build}" "$@"
