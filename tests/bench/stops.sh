#!/bin/sh
# SPDX-License-Identifier: MIT
# Counts the calls of about 30 real programs that stop under the patch engine, with the reasons; see stops.py.
exec python3 "$(dirname "$0")/stops.py" "${SCTRACE_BUILD:-build}" "$@"
