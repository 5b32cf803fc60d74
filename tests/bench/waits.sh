#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares waits with the kernel's counts, and ends sctrace at random moments; see waits.py.
exec python3 "$(dirname "$0")/waits.py" "${SCTRACE_BUILD:-build}" "$@"
