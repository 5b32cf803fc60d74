#!/usr/bin/env python3
"""What seeing every call costs: native, records, ptrace and strace alternate; ratios of medians to native. Nothing passes or fails.

usage: records.py BUILD [ROUNDS]

The slow ways (ptrace, strace) copy a part of the file, and their ratio is to a native copy of that part.
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
STRACE = shutil.which("strace")
WHOLE, PART = 1 << 20, 1 << 16


def wall(command, cwd):
    start = time.monotonic()
    subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def rounds(title, ways, cwd):
    """`ways`: (name, command, the way that its time is compared with). Each round runs all of them once."""
    taken = {name: [] for name, _, _ in ways}
    for _ in range(ROUNDS):
        for name, command, _ in ways:
            taken[name].append(wall(command, cwd))
    median = {name: statistics.median(times) for name, times in taken.items()}
    print(f"{title} (median of {ROUNDS} alternating rounds)")
    for name, _, base in ways:
        ratio = f"{median[name] / median[base]:8.2f} x {base}" if base else ""
        print(f"  {name:<34} {median[name]:8.3f} s {ratio}")


def make_project(folder):
    """A C project of 100 small files."""
    for i in range(100):
        text = f"#include <stdio.h>\nint f{i}(int x) {{ printf(\"%d\", x); return x * {i}; }}\n"
        (folder / f"f{i}.c").write_text(text)
    names = " ".join(f"f{i}.o" for i in range(100))
    (folder / "Makefile").write_text(f"all: {names}\n%.o: %.c\n\tcc -O1 -c -o $@ $<\nclean:\n\trm -f *.o\n")


def main():
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        for name, size in (("whole", WHOLE), ("part", PART)):
            (work / name).write_bytes(os.urandom(size))
        copy = str(BUILD / "examples" / "copy-read-write")
        whole, part = [copy, "whole", "out"], [copy, "part", "out"]
        ways = [
            ("native", whole, None),
            ("records: -o FILE", [SCTRACE, "--engine=patch", "-o", "t", *whole], "native"),
            ("records: --json -o FILE", [SCTRACE, "--engine=patch", "--json", "-o", "t", *whole], "native"),
            ("records: -e trace=openat -o FILE", [SCTRACE, "--engine=patch", "-e", "trace=openat", "-o", "t", *whole], "native"),
            ("records: -c --by=fd", [SCTRACE, "-c", "--by=fd", "-o", "t", *whole], "native"),
            ("count: -c", [SCTRACE, "-c", "-o", "t", *whole], "native"),
            ("native, 64 KiB", part, None),
            ("ptrace: -o FILE, 64 KiB", [SCTRACE, "--engine=ptrace", "-o", "t", *part], "native, 64 KiB"),
        ]
        if STRACE:
            ways.append(("strace -o FILE, 64 KiB", [STRACE, "-o", "t", *part], "native, 64 KiB"))
        rounds("1 MiB copied by one-byte calls", ways, work)
        if not shutil.which("make"):
            return
        project = work / "project"
        project.mkdir()
        make_project(project)
        build = ["sh", "-c", "make -s clean && make -s -j2"]
        ways = [("native", build, None), ("records: -f -o FILE", [SCTRACE, "-f", "-o", "../t", *build], "native"),
                ("count: -f -c", [SCTRACE, "-f", "-c", "-o", "../t", *build], "native")]
        if STRACE:
            ways.append(("strace -f -o FILE", [STRACE, "-f", "-o", "../t", *build], "native"))
        rounds("make -j2 of 100 small C files", ways, project)


main()
