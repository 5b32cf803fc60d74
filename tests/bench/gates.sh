#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures how often `sctrace report --fail-if` and `sctrace compare` are wrong, and how often they find a slowdown; see
# gates.py.
exec python3 "$(dirname "$0")/gates.py" "${SCTRACE:-build/sctrace}" "$@"
