#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures the cost of a complete trace, by records and by stops, beside strace's figures; see records.py.
exec python3 "$(dirname "$0")/records.py" "${SCTRACE_BUILD:-build}" "$@"
