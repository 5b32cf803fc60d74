#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts false alarms of a program compared with itself, and how often a slowdown of 5 % is found.

usage: gates.py SCTRACE [SAME [SLOWER]]    the numbers of comparisons (200 and 100, which take about an hour and a half)

The limits are tested for both programs in one comparison, whose rounds alternate, and for two runs that were saved one after the
other. What the machine's speed changes between these two runs is a false alarm, too.

The program is CPU-bound and takes about 50 ms. The goals, for a quiet machine: at most 2 false alarms in 200, at least 95
slowdowns found in 100. Nothing here passes or fails: a reader judges.
"""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCTRACE = Path(sys.argv[1]).resolve()
SAME = int(sys.argv[2]) if len(sys.argv) > 2 else 200
SLOWER = int(sys.argv[3]) if len(sys.argv) > 3 else 100
LIMITS = ("wall>0%", "wall>2%", "cpu>0%", "cpu>2%")
PROGRAM = r"""
#include <stdlib.h>
int main(int argc, char **argv)
{
	volatile unsigned long x = 1;
	for (long n = argc > 1 ? atol(argv[1]) : 0; n > 0; n--)
		x = x * 3 + 1;
	return 0;
}
"""


def build(folder):
    source = folder / "spin.c"
    source.write_text(PROGRAM)
    subprocess.run(["cc", "-O1", "-o", folder / "spin", source], check=True)
    return folder / "spin"


def loops(spin):
    """The number of loops that takes the program 50 ms. Uses the fastest of several tries, because the machine may be busy."""
    def took(n):
        start = time.perf_counter()
        subprocess.run([spin, str(n)], check=True)
        return time.perf_counter() - start
    n = 1000000
    while min(took(n) for _ in range(5)) < 0.05:
        n = n * 5 // 4
    return n


def measure(command, path, *options):
    subprocess.run([SCTRACE, "compare", "-N", "--no-count", "--command-name=spin", f"--save={path}", *options, command],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


def gates(found, *files):
    """Adds to `found` how often each limit failed, or could not be decided."""
    for limit, counts in found.items():
        status = subprocess.run([SCTRACE, "report", "--fail-if", limit, "--undecided", *files],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
        assert status in (0, 3, 4), status
        counts[0] += status == 3
        counts[1] += status == 4


def compare_both(i, base, other, path):
    """Compares both programs in one run. Returns whether a difference was seen."""
    text = subprocess.run([SCTRACE, "compare", "-N", "--no-count", f"--seed={i + 1}", "--command-name=base", "--command-name=other",
                           f"--save={path}", base, other], check=True, capture_output=True, text=True).stdout
    return "no difference seen" not in text


def try_all(times, base, other, folder):
    """Prints how often both ways to compare the programs found a difference."""
    together, apart = ({x: [0, 0] for x in LIMITS} for _ in range(2))
    seen = 0
    for i in range(times):
        seen += compare_both(i, base, other, folder / "both.json")
        gates(together, folder / "both.json")
        gates(apart, measure(base, folder / "a.json", f"--seed={2 * i + 1}"), measure(other, folder / "b.json", f"--seed={2 * i + 2}"))
    print(f"  compare saw a difference {seen} times")
    for what, found in (("rows of one comparison", together), ("two saved runs", apart)):
        for limit, (failed, undecided) in found.items():
            print(f"  {what}: --fail-if '{limit}' failed {failed} times, was undecided {undecided} times")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spin = build(folder)
        n = loops(spin)
        base, slower = f"{spin} {n}", f"{spin} {n * 105 // 100}"
        for what, times, other in (("the same program", SAME, base), ("5 % slower", SLOWER, slower)):
            print(f"{what}: {times} comparisons", flush=True)
            try_all(times, base, other, folder)


if __name__ == "__main__":
    main()
