#!/usr/bin/env bash
# Is every C file formatted as .clang-format says? `clang-format -i FILE` mends it.
set -eu
cd "$1"
# shellcheck source=tests/lint/lib.sh
. tests/lint/lib.sh
need_tool clang-format
# Each release of clang-format breaks lines its own way; Debian 12's and Ubuntu 22.04's decides.
clang-format --version | grep -q 'version 14\.' || { echo "skipped: clang-format 14 decides, this is another"; exit 77; }
c_files | xargs clang-format --dry-run -Werror --ferror-limit=3
