#!/usr/bin/env python3
"""Measures the cost of tracing in the places where it may be far from that of the usual cases (records.py). Each row of the
table below is a program and what its users do. Native runs, strace and sctrace alternate; the figures are ratios of medians
to native. Nothing passes or fails.

usage: corners.py BUILD [ROUNDS [WORD]]

If WORD is given, only the rows whose names contain it are measured.
"""
import os
import pty
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

BUILD = Path(sys.argv[1]).resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
SCTRACE = str(BUILD / "sctrace")
STRACE = shutil.which("strace")
NOBODY = 65534


def run_plainly(command, cwd, **how):
    subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, **how)


def run_as_nobody(command, cwd):
    run_plainly(command, cwd, **({"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}))


def run_on_terminal(command, cwd):
    """Runs the command on a terminal that cat(1) reads."""
    primary, terminal = pty.openpty()
    with subprocess.Popen(["cat"], stdin=primary, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as reader:
        os.close(primary)
        subprocess.run(command, cwd=cwd, stdin=terminal, stdout=terminal, stderr=terminal, check=True)
        os.close(terminal)
        reader.wait()


def copy(size):
    """Copies a file of this size one byte at a time, which takes two calls for each byte."""
    return [str(BUILD / "examples/copy-read-write"), f"in{size}", "out"]


@dataclass
class Row:
    """
    What people do. `program` returns a command of a certain size. sctrace runs it with `size` and strace, which is slower, with
    `part`; each is compared with a native run of the same size.
    """
    name: str
    program: Callable
    size: int
    part: int
    sctrace: list = field(default_factory=list)
    strace: list = field(default_factory=list)
    run: Callable = run_plainly


M, K = 1 << 20, 1 << 10
COUNT = {"program": copy, "size": M, "part": 64 * K, "strace": ["-c", "-o", "t"]}
ROWS = [
    Row("sctrace PROGRAM on a terminal, 32,000 calls", copy, 16 * K, 16 * K, run=run_on_terminal),
    Row("the same with -e trace=openat", copy, M, 64 * K, ["-e", "trace=openat"], ["-e", "trace=openat"], run_on_terminal),
    Row("-c", sctrace=["-c", "-o", "t"], **COUNT),
    Row("-c --errors", sctrace=["-c", "--errors", "-o", "t"], **COUNT),
    Row("-c --errors, unprivileged", sctrace=["-c", "--errors", "-o", "t"], run=run_as_nobody, **COUNT),
    Row("-c --by=thread", sctrace=["-c", "--by=thread", "-o", "t"], **COUNT),
    Row("-c --by=process", sctrace=["-c", "--by=process", "-o", "t"], **COUNT),
    Row("-c --by=fd", sctrace=["-c", "--by=fd", "-o", "t"], **COUNT),
    Row("-c --by=thread --errors --expect main:...", sctrace=["-c", "--by=thread", "--errors", "--expect", "main:errors=0", "-o", "t"], **COUNT),
]


def measure(row, cwd):
    """Prints the row: its native time, and the ratios of strace and sctrace to a native run of the same size."""
    for size in {row.size, row.part}:
        (cwd / f"in{size}").write_bytes(os.urandom(size))
    ways = {"native": row.program(row.size), "sctrace": [SCTRACE, *row.sctrace, *row.program(row.size)]}
    if STRACE:
        ways["part"] = row.program(row.part)
        ways["strace"] = [STRACE, *row.strace, *row.program(row.part)]
    taken = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, command in ways.items():
            for output in ("t", "out"):
                (cwd / output).unlink(missing_ok=True)
            start = time.monotonic()
            row.run(command, cwd)
            taken[name].append(time.monotonic() - start)
    median = {name: statistics.median(times) for name, times in taken.items()}
    strace = f"{median['strace'] / median['part']:9.2f}" if STRACE else "        -"
    print(f"{row.name:<46} {median['native']:9.3f} s {strace} {median['sctrace'] / median['native']:9.2f}", flush=True)


def main():
    print(f"{'(medians of %d alternating rounds)' % ROUNDS:<46} {'native':>11} {'strace':>9} {'sctrace':>9}")
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o777)
        for row in ROWS:
            if len(sys.argv) < 4 or sys.argv[3] in row.name:
                measure(row, Path(work))


main()
