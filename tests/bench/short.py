#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the cost of tracing short-lived programs. Runs alternate: native, counted, recorded, under strace, and
under a tracer that only follows children (smallest.c), which shows the cost of the stops alone. The figures are ratios
of medians. Nothing passes or fails.

usage: short.py BUILD [ROUNDS]

tests/e2e/budget.py counts the calls that sctrace itself makes for a child, which do not depend on the machine.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import records
from records import SCTRACE, STRACE, make_project, rounds

records.ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 15
# Like a configure script: separate programs create, inspect and remove files; 1,000 programs in total.
CONFIGURE = """i=0; while [ $i -lt 200 ]; do
    /bin/echo "int f$i;" >conftest.c; /bin/cat conftest.c >/dev/null; /bin/grep -q f conftest.c; /usr/bin/expr $i + 1 >/dev/null
    /bin/rm -f conftest.c; i=$((i + 1)); done"""
FORKS = "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done"


def compare(title, command, cwd, smallest):
    """
    Runs the command natively, under the smallest tracer, counted, recorded and under strace. Prints the times that
    the smallest tracer and sctrace add, each as a share of what strace adds.
    """
    out = str(smallest.with_name("out"))
    ways = [("native", command, None),
            ("smallest tracer", [smallest, *command], "native"),
            ("count: -f -c", [SCTRACE, "-f", "-c", "-o", out, *command], "native"),
            ("records: -f -o FILE", [SCTRACE, "-f", "-o", out, *command], "native")]
    if STRACE:
        ways += [("strace -f -c", [STRACE, "-f", "-c", "-o", out, *command], "native"),
                 ("strace -f -o FILE", [STRACE, "-f", "-o", out, *command], "native")]
    median = rounds(title, ways, cwd)
    for ours, theirs in (("smallest tracer", "strace -f -c"), ("count: -f -c", "strace -f -c"),
                         ("records: -f -o FILE", "strace -f -o FILE")):
        if theirs in median:
            added, by_strace = median[ours] - median["native"], median[theirs] - median["native"]
            print(f"  {ours} adds {added / by_strace:.2f} of what {theirs} adds")


def main():
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        out = str(work / "out")
        smallest = work / "smallest"
        subprocess.run(["cc", "-O2", "-o", smallest, Path(__file__).with_name("smallest.c")], check=True)
        ways = [("native", ["true"], None), ("sctrace -c", [SCTRACE, "-c", "-o", out, "true"], "native")]
        if STRACE:
            ways.append(("strace -c", [STRACE, "-c", "-o", out, "true"], "native"))
            ways[1] = (*ways[1][:2], "strace -c")
        rounds("start-up: true", ways, work)
        compare("200 forks", ["sh", "-c", FORKS], work, smallest)
        compare("1,000 short commands", ["sh", "-c", CONFIGURE], work, smallest)
        if shutil.which("make"):
            make_project(work / "project")
            compare("make -j2 of 100 small C files", ["sh", "-c", "make -s clean && make -s -j2"], work / "project", smallest)
        if shutil.which("go"):
            os.environ.setdefault("GOCACHE", str(work / "cache"))
            # TestRemoveAllNoFcntl runs strace, and a traced program cannot trace others.
            compare("go test os", ["go", "test", "-count=1", "-skip", "TestRemoveAllNoFcntl", "os"], work, smallest)


main()
