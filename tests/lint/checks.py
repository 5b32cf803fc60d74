# SPDX-License-Identifier: MIT
"""Runs checks, each a name and a generator of lines about what is wrong, and prints their results as TAP."""


def run_checks(checks, root):
    """Returns the exit status: 1 if a check found something."""
    print(f"1..{len(checks)}")
    failed = 0
    for number, (name, check) in enumerate(checks, 1):
        found = list(check(root))
        for line in found:
            print(f"# {line}")
        print(f"{'not ok' if found else 'ok'} {number} - {name}")
        failed += bool(found)
    return 1 if failed else 0
