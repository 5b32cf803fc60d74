#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints results of `sctrace compare` that must have the same shape on every machine, beside published figures and those
# of hyperfine; see compare.py.
exec python3 "$(dirname "$0")/compare.py" "${SCTRACE:-build/sctrace}"
