#!/usr/bin/env bash
# Checks that every C file is formatted as .clang-format says. `clang-format -i FILE` corrects a file.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool clang-format
# Each release of clang-format breaks lines differently. The release of Debian 12 and Ubuntu 22.04 is used.
clang-format --version | grep -q 'version 14\.' || { echo "skipped: clang-format 14 is needed, and this is another version"; exit 77; }
c_files | xargs clang-format --dry-run -Werror --ferror-limit=3
