#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the cost of tracing every call. Native runs, records, ptrace and strace alternate; the figures are ratios of
medians to native. Nothing passes or fails.

usage: records.py BUILD [ROUNDS]

The slow tracers (ptrace, strace) copy a part of the file, and are compared with a native copy of that part.

Then it traces programs, one of which is a build of 100 small C files. It prints the time that `sctrace -f -o FILE`
adds, as a share of what `strace -f -o FILE` adds; the CPU time of sctrace alone for each line; and the share of calls
that were recorded without a stop, which does not depend on the load.
"""
import os
import re
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
    """
    `ways` contains (name, command, name of the command that its time is compared with). Each round runs all commands
    once. Returns the medians, by name.
    """
    taken = {name: [] for name, _, _ in ways}
    for _ in range(ROUNDS):
        for name, command, _ in ways:
            # Otherwise the command would truncate the previous one's trace of up to 400 MB.
            for output in ("t", "r"):
                (cwd / output).unlink(missing_ok=True)
            os.sync()  # otherwise the disk writes the previous command's trace while this command runs
            taken[name].append(wall(command, cwd))
    median = {name: statistics.median(times) for name, times in taken.items()}
    print(f"{title} (median of {ROUNDS} alternating rounds)")
    for name, _, base in ways:
        ratio = f"{median[name] / median[base]:8.2f} x {base}" if base else ""
        print(f"  {name:<34} {median[name]:8.3f} s {ratio}")
    return median


THREADS = """
#include <fcntl.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
	char b[64];
	struct iovec v[2] = {{b, 4}, {b + 8, 8}};
	int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
	for (int i = 0; i < 20000; i++) {
		if (read(zero, b, 32) < 0 || writev(null, v, 2) < 0)
			return arg;
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}
int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
"""
NODE = "const fs = require('fs'); for (let i = 0; i < 5000; i++) fs.readFileSync('/etc/hostname');"


def make_tree(folder):
    """Creates a tree of 2,000 files, as a Git repository if Git is installed. Each tenth file is a Python module."""
    for i in range(2000):
        place = folder / str(i % 40)
        place.mkdir(parents=True, exist_ok=True)
        (place / (f"m{i}.py" if i % 10 == 0 else f"f{i}")).write_text(f"x = {i}\n" * 100)
    if shutil.which("git"):
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
        wall([*git, "init", "-q"], folder)
        for i in range(40):
            wall([*git, "add", str(i)], folder)
            wall([*git, "commit", "-qm", f"commit {i}"], folder)


def make_project(folder):
    """A C project of 100 small files."""
    folder.mkdir()
    for i in range(100):
        text = f"#include <stdio.h>\nint f{i}(int x) {{ printf(\"%d\", x); return x * {i}; }}\n"
        (folder / f"f{i}.c").write_text(text)
    names = " ".join(f"f{i}.o" for i in range(100))
    (folder / "Makefile").write_text(f"all: {names}\n%.o: %.c\n\tcc -O1 -c -o $@ $<\nclean:\n\trm -f *.o\n")


def programs(work):
    """(name, command) of the programs that are installed."""
    make_tree(work / "tree")
    (work / "threads.c").write_text(THREADS)
    wall(["cc", "-O1", "-pthread", "-o", "threads", "threads.c"], work)
    make_project(work / "project")
    go = BUILD / "tests" / "e2e" / "pump-go"
    found = [("copy, 64 KiB", [str(BUILD / "examples" / "copy-read-write"), "part", "out"]),
             ("tar", ["tar", "cf", "tar.out", "tree"]),
             ("find", ["find", "tree", "/usr/share", "-newermt", "2030-01-01"]),
             ("git log", ["git", "-C", "tree", "log", "--stat"]),
             ("4 threads", ["./threads"]),
             ("compileall", ["python3", "-m", "compileall", "-q", "-f", "tree"]),
             ("node", ["node", "-e", NODE]),
             ("Go", [str(go)]),
             ("make -j2", ["make", "-C", "project", "-B", "-s", "-j2"])]
    return [(name, command) for name, command in found if shutil.which(command[0]) or (work / command[0]).exists()]


def own_cpu(command, cwd, err):
    """
    The CPU time of the command's own process, in seconds, without its children (the traced program is one). sctrace has one
    thread, and /proc/PID/schedstat counts nanoseconds, while /proc/PID/stat counts clock ticks.
    """
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=err,
                          env={**os.environ, "SCTRACE_DEBUG": "1"}) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        return int(Path(f"/proc/{process.pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9


def recorded(command, cwd):
    """
    Returns the number of lines of calls, sctrace's CPU time for each in microseconds, and the share of calls that
    caused no stop.
    """
    with open(cwd / "err", "w+", encoding="utf-8", errors="replace") as err:
        seconds = own_cpu([SCTRACE, "--engine=patch", "-f", "-o", "t", *command], cwd, err)
        err.seek(0)
        told = re.findall(r"^sctrace: recorded \S+ (\d+) asked (\d+)$", err.read(), re.MULTILINE)
    with open(cwd / "t", encoding="utf-8", errors="replace") as trace:
        lines = sum(bool(re.match(r"(\d+ +)?\w+\(", line)) for line in trace)
    return lines, seconds / lines * 1e6, sum(int(all_of) - int(asked) for all_of, asked in told) / lines


def show_programs(work):
    print(f"Programs, -f -o FILE (median of {ROUNDS} alternating rounds)")
    print(f"  {'':<12} {'native':>10} {'sctrace':>10} {'strace':>10} {'share of added':>15} {'lines':>8} {'CPU/line':>10} {'recorded':>9}")
    for name, command in programs(work):
        ways = [command, [SCTRACE, "--engine=patch", "-f", "-o", "t", *command]]
        if STRACE:
            ways.append([STRACE, "-f", "-o", "t", *command])
        taken = [[wall(way, work) for way in ways] for _ in range(ROUNDS)]
        median = [statistics.median(times) for times in zip(*taken)]
        share = f"{(median[1] - median[0]) / (median[2] - median[0]):.3f}" if STRACE else "-"
        lines, cpu, part = recorded(command, work)
        times = " ".join(f"{seconds:8.3f} s" for seconds in median) + ("" if STRACE else f"{'-':>11}")
        print(f"  {name:<12} {times} {share:>15} {lines:>8} {cpu:>7.2f} us {100 * part:>7.2f} %", flush=True)


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
            ("records: -c --by=path", [SCTRACE, "-c", "--by=path", "-o", "t", *whole], "native"),
            ("records: --record FILE", [SCTRACE, "--engine=patch", "--record", "r", *whole], "native"),
            ("count: -c", [SCTRACE, "-c", "-o", "t", *whole], "native"),
            ("native, 64 KiB", part, None),
            ("ptrace: -o FILE, 64 KiB", [SCTRACE, "--engine=ptrace", "-o", "t", *part], "native, 64 KiB"),
        ]
        if STRACE:
            ways.append(("strace -o FILE, 64 KiB", [STRACE, "-o", "t", *part], "native, 64 KiB"))
        rounds("1 MiB copied by one-byte calls", ways, work)
        show_programs(work)


if __name__ == "__main__":
    main()
