#!/bin/sh
# Shapes that `sctrace compare` must show on any machine, with published figures and hyperfine's beside; see compare.py.
exec python3 "$(dirname "$0")/compare.py" "${SCTRACE:-build/sctrace}"
