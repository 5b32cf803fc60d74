#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures the cost of counting and the accuracy of its times, beside strace's figures; see engines.py.
exec python3 "$(dirname "$0")/engines.py" "${SCTRACE_BUILD:-build}" "$@"
