#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh BUILD SECONDS: runs each fuzz target for SECONDS. New inputs are written to the build folder; the corpus does
# not change.
set -euo pipefail
cd "$(dirname "$0")"
build=$1
case $build in /*) ;; *) build=$PWD/../../$build ;; esac
failed=0
# Otherwise a report of the sanitizer of undefined behaviour would only be printed.
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
for target in "$build"/tests/fuzz/fuzz_*; do
	if [ -d "$target" ]; then continue; fi
	name=$(basename "$target")
	learnt=$build/fuzz-learnt/$name
	mkdir -p "$learnt"
	echo "== $name, $2 seconds"
	if "$target" -max_total_time="$2" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$learnt/../$name-" "$learnt" "corpus/${name#fuzz_}" 2>&1 |
		{ grep -vE "# Uses:|^#####" || true; }; then
		echo "$name: clean"
	else
		echo "$name: FAILED; the input is in $build/fuzz-learnt"
		failed=1
	fi
done
exit $failed
