#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares the savings that `sctrace --io` expects with those of the corrected programs; see estimates.py.
exec python3 "$(dirname "$0")/estimates.py" "${SCTRACE_BUILD:-build}" "$@"
