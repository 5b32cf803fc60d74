#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Runs sctrace and strace alternately on the same program, and prints the median wall times and their ratio. Nothing
passes or fails. usage: tracing.py BUILD [ROUNDS]
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
SCTRACE = str(BUILD / "sctrace")


def wall(command, cwd):
    start = time.monotonic()
    subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def beside(title, ours, theirs, cwd, what="strace"):
    """Rounds of both, alternating, so that other work on the machine affects both."""
    a, b = [], []
    for _ in range(ROUNDS):
        a.append(wall(ours, cwd))
        b.append(wall(theirs, cwd))
    x, y = statistics.median(a), statistics.median(b)
    print(f"{title:<52} {x:8.3f} s {y:8.3f} s  ({what})  ratio {x / y:6.3f}")


def main():
    strace = shutil.which("strace")
    if not strace:
        print("strace is not installed: nothing to stand beside")
        return
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "in").write_bytes(os.urandom(200 << 10))
        copy = [str(BUILD / "examples" / "copy-read-write")]
        one_byte = [shutil.which("dd"), "if=/dev/zero", "of=/dev/null", "bs=1", "count=1000000"]
        print(f"200 KiB copied by one-byte calls, median of {ROUNDS} rounds")
        beside("trace: -f -o FILE", [SCTRACE, "-f", "-o", "t", *copy], [strace, "-f", "-o", "t", *copy], work)
        beside("-c --engine=ptrace", [SCTRACE, "-c", "--engine=ptrace", *copy], [strace, "-c", *copy], work)
        beside("-c --engine=ptrace --pin", [SCTRACE, "-c", "--engine=ptrace", "--pin", *copy], [strace, "-c", *copy], work)
        beside("-c (the best engine here)", [SCTRACE, "-c", *copy], [strace, "-c", *copy], work)
        beside("-c (the best engine here), against no tracing", [SCTRACE, "-c", *copy], copy, work, "native")
        print("dd of 1,000,000 one-byte blocks")
        chosen = ["-e", "trace=openat", "-o", "t", *one_byte]
        beside("-e trace=openat", [SCTRACE, *chosen], one_byte, work, "native")
        beside("-e trace=openat", [SCTRACE, *chosen], [strace, "--seccomp-bpf", "-f", *chosen], work, "strace --seccomp-bpf -f")


main()
