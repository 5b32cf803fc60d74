#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures how fast sctrace traces and counts, beside strace's figures; see tracing.py.
exec python3 "$(dirname "$0")/tracing.py" "${SCTRACE_BUILD:-build}" "$@"
