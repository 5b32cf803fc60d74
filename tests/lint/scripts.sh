#!/usr/bin/env bash
# Every shell script of the project under shellcheck.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool shellcheck
scripts | xargs shellcheck -x --source-path=.
