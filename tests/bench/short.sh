#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures the cost of tracing short-lived programs, beside strace's figures; see short.py.
exec python3 "$(dirname "$0")/short.py" "${SCTRACE_BUILD:-build}" "$@"
