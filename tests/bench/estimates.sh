#!/bin/sh
# Do the findings of `sctrace --io` promise what the repaired programs save? See estimates.py.
exec python3 "$(dirname "$0")/estimates.py" "${SCTRACE_BUILD:-build}" "$@"
