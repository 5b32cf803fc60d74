#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs shellcheck on every shell script of the project.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool shellcheck
scripts | xargs shellcheck -x --source-path=.
