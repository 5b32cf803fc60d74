#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Reads meson's testlog.json and counts single checks: each line of TAP counts as one, and so does a program that prints
no TAP. Names failures with their reasons, and the reasons of skips. The last line is `N passed, N failed[, N skipped]`.
Exits with 1 if something failed or nothing ran. A skip of cmocka (`not ok N # SKIP`) counts as a skip although meson
treats it as a failure; with SCTRACE_MUST_WORK=1 it is a failure.
"""
import json
import os
import re
import sys

TAP = re.compile(r"^(not )?ok\b\s*\d*\s*-?\s*(.*?)\s*(?:#\s*(SKIP|TODO)\b\s*(.*))?$", re.IGNORECASE)
DIAGNOSTICS = 60  # lines at most
PLAN_SKIP = re.compile(r"^1\.\.0\s*#\s*SKIP\w*\s*(.*)$", re.IGNORECASE)
BAD = {"FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS"}


def checks_of(test):
    """Yields (outcome, name, note) for each check of one test program."""
    seen_bad = False
    seen = False
    skip_allowed = False
    for line in test.get("stdout", "").splitlines():
        skipped_all = PLAN_SKIP.match(line)
        if skipped_all:
            yield "skipped", test["name"], skipped_all.group(1)
            seen = True
            continue
        match = TAP.match(line)
        if not match:
            continue
        seen = True
        name = f"{test['name']}: {match.group(2)}"
        directive = (match.group(3) or "").upper()
        if directive == "SKIP":
            if match.group(1) and test.get("returncode") == 0:
                skip_allowed = os.environ.get("SCTRACE_MUST_WORK") != "1"
            yield "skipped", name, match.group(4)
        elif match.group(1) and directive != "TODO":
            seen_bad = True
            yield "failed", name, ""
        else:
            yield "passed", name, ""
    if test["result"] in BAD and not seen_bad and not skip_allowed:
        yield "failed", test["name"], test["result"].lower()
    elif not seen:
        outcome = "skipped" if test["result"] == "SKIP" else "passed"
        yield outcome, test["name"], last_line(test)


def diagnostics(test):
    """The comments of a TAP program, which explain its failures, without cmocka's last comment."""
    lines = [line for line in test.get("stdout", "").splitlines() if line.startswith("#")]
    return [line for line in lines if not re.match(r"# (not )?ok - ", line)][:DIAGNOSTICS]


def last_line(test):
    lines = (test.get("stdout", "") + test.get("stderr", "")).strip().splitlines()
    return lines[-1] if lines else ""


def read_tests(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            return [json.loads(line) for line in log if line.strip()]
    except (OSError, ValueError) as error:
        print(f"no results to count: {error}")
        return []


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for test in read_tests(sys.argv[1]):
        results = list(checks_of(test))
        if any(outcome == "failed" for outcome, _, _ in results):
            for line in diagnostics(test):
                print(line)
        for outcome, name, note in results:
            counts[outcome] += 1
            if outcome != "passed":
                print(f"{outcome}: {name}" + (f" ({note})" if note else ""))
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    if counts["skipped"]:
        line += f", {counts['skipped']} skipped"
    print(line)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
