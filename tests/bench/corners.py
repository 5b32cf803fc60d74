#!/usr/bin/env python3
"""Measures the cost of tracing in the places where it may be far from that of the usual cases (records.py). Each row of the
table below is a program and what its users do. Native runs, strace and sctrace alternate; the figures are ratios of medians
to native. For --record, strace is `strace -y`. Nothing passes or fails.

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


PROGRAMS = {}  # the programs that build() has made, by name


def build(folder):
    """Compiles the programs that are not part of the build. If a compiler is missing, so is its program."""
    here, copier = Path(__file__).parent, BUILD.parent / "examples/copy-read-write.c"
    for name, command in (("corners", ["cc", "-O2", "-pthread", here / "corners.c"]), ("static", ["cc", "-O2", "-static", copier]),
                          ("musl", ["musl-gcc", "-O2", "-static", copier])):
        if shutil.which(command[0]) and subprocess.run([*command, "-o", folder / name], stderr=subprocess.DEVNULL).returncode == 0:
            PROGRAMS[name] = str(folder / name)


def corner(*words):
    """The mode of corners.c that the first of the words names, with the size as its first argument."""
    return lambda size: [PROGRAMS["corners"], words[0], str(size), *words[1:]]


def copier(name):
    """copy(), by a copier of that name."""
    return lambda size: [PROGRAMS[name], f"in{size}", "out"]


def shell(tool, script):
    """A script of the shell; {} is the size. `tool` must be installed."""
    def program(size):
        if not shutil.which(tool):
            raise KeyError(tool)
        return ["sh", "-c", script.replace("{}", str(size))]
    return program


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
TRACE = (["-o", "t"], ["-o", "t"])
NAMES = (["-y", "-o", "t"], ["-y", "-o", "t"])
RECORD = (["-f", "--record", "t"], ["-f", "-y", "-o", "t"])  # strace has no recordings
FIO = "fio --name=a --filename=fio.data --rw=randread --size={}M --bs=4k --ioengine=libaio --iodepth=8 --thread --minimal"
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
    Row("-c of a static program", sctrace=["-c", "-o", "t"], **{**COUNT, "program": copier("static")}),
    Row("-c of a static program of musl", sctrace=["-c", "-o", "t"], **{**COUNT, "program": copier("musl")}),
    Row("-c, SIGSYS ignored", corner("ignore"), M, 64 * K, ["-c", "-o", "t"], ["-c", "-o", "t"]),
    Row("-o, closes 1 million unused descriptors", corner("close"), M, 64 * K, *TRACE),
    Row("-o, 40 threads that use malloc, 5,000 calls", corner("threads"), 5000, 500, ["-f", *TRACE[0]], ["-f", *TRACE[1]]),
    Row("-o, opens and closes, 50,000 times", corner("open"), 50000, 5000, *TRACE),
    Row("-y, opens and closes, 50,000 times", corner("open"), 50000, 5000, *NAMES),
    Row("--record, opens and closes, 50,000 times", corner("open"), 50000, 5000, *RECORD),
    Row("--record, 5,000 connections", corner("connect"), 5000, 500, *RECORD),
    Row("--record, the same beside 2,000 others", corner("connect", "2000"), 5000, 500, *RECORD),
    Row("--record, find | xargs -P4", shell("xargs", "find /usr/include -name '*.h' | head -{} | xargs -P4 -n50 cat"), 2000, 200, *RECORD),
    Row("-o, fio with libaio", shell("fio", FIO), 16, 1, ["-f", *TRACE[0]], ["-f", *TRACE[1]]),
    Row("-o, valgrind", shell("valgrind", "head -c {}K in16384 >v; valgrind -q wc -l v"), 16, 16, ["-f", *TRACE[0]], ["-f", *TRACE[1]]),
]


def measure(row, cwd):
    """Prints the row: its native time, and the ratios of strace and sctrace to a native run of the same size."""
    for size in {row.size, row.part}:
        (cwd / f"in{size}").write_bytes(os.urandom(size))
    try:
        row.program(row.size)
    except KeyError as missing:
        print(f"{row.name:<46} {missing} is not installed")
        return
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
        build(Path(work))
        for row in ROWS:
            if len(sys.argv) < 4 or sys.argv[3] in row.name:
                measure(row, Path(work))


main()
