#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures the cost of tracing away from the usual cases, beside strace's figures; see corners.py.
exec python3 "$(dirname "$0")/corners.py" "${SCTRACE_BUILD:-build}" "$@"
