#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the cost of tracing in the places where it may be far from that of the usual cases (records.py). Each row of the
table below is a program and what its users do. Native runs, strace and sctrace alternate; the figures are ratios of medians
to native. For --record, strace is `strace -y`. Nothing passes or fails.

usage: corners.py BUILD [ROUNDS [WORD]]

If WORD is given, only the rows whose names contain it are measured. Rows whose programs are not installed say so; nginx, ab (of
Apache), rsync and go are not among the packages that ./dev installs.
"""
import os
import pty
import shutil
import signal
import socket
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
    """Runs the command. This function and those like it return the seconds that it took."""
    start = time.monotonic()
    subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, **how)
    return time.monotonic() - start


def run_as_nobody(command, cwd):
    return run_plainly(command, cwd, **({"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}))


def run_on_terminal(command, cwd):
    """Runs the command on a terminal that cat(1) reads."""
    primary, terminal = pty.openpty()
    with subprocess.Popen(["cat"], stdin=primary, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as reader:
        os.close(primary)
        start = time.monotonic()
        subprocess.run(command, cwd=cwd, stdin=terminal, stdout=terminal, stderr=terminal, check=True)
        os.close(terminal)
        reader.wait()
        return time.monotonic() - start


NGINX = """daemon off; pid pid; error_log stderr crit; worker_processes 1; events {{}}
http {{ access_log off; keepalive_requests 1000000; server {{ listen 127.0.0.1:{port}; root {root}; }} }}
"""


def run_against_nginx(command, cwd):
    """Starts a server, attaches to its worker, and lets ab(1) request a file. The last two words of `command` are a number
    of requests and the file; those before them are the tracer's command. Only the requests are timed."""
    *tracer, requests, file = command
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (cwd / "nginx.conf").write_text(NGINX.format(port=port, root=cwd))
    server = subprocess.Popen(["nginx", "-p", str(cwd), "-c", "nginx.conf"])
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    while not children.read_text():
        time.sleep(0.01)
    client = ["ab", "-q", "-k", "-c", "8", "-n", requests, f"http://127.0.0.1:{port}/{file}"]
    run_plainly([*client[:-2], "100", client[-1]], cwd)
    attached = subprocess.Popen([*tracer, "-p", children.read_text().strip()], cwd=cwd, stderr=subprocess.DEVNULL) if tracer else None
    time.sleep(0.5)
    taken = run_plainly(client, cwd)
    for process in filter(None, (attached, server)):
        process.send_signal(signal.SIGINT)
        process.wait()
    return taken


GO = """package main
// #include <unistd.h>
import "C"
import ("os"; "strconv"; "sync")
func main() {
	var all sync.WaitGroup
	n, _ := strconv.Atoi(os.Args[1])
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func() { defer all.Done(); for j := 0; j < n; j++ { C.getppid(); os.Getppid() } }()
	}
	all.Wait()
}
"""
PROGRAMS = {}  # the programs that build() has made, by name


def build(folder):
    """Compiles the programs that are not part of the build. If a compiler is missing, so is its program."""
    here, copier = Path(__file__).parent, BUILD.parent / "examples/copy-read-write.c"
    (folder / "cgo.go").write_text(GO)
    for name, command in (("corners", ["cc", "-O2", "-pthread", "-o", "corners", here / "corners.c"]),
                          ("static", ["cc", "-O2", "-static", "-o", "static", copier]),
                          ("musl", ["musl-gcc", "-O2", "-static", "-o", "musl", copier]),
                          ("go", ["go", "build", "-o", "go", "cgo.go"])):
        if shutil.which(command[0]) and subprocess.run(command, cwd=folder, stderr=subprocess.DEVNULL).returncode == 0:
            PROGRAMS[name] = str(folder / name)


def corner(*words):
    """The mode of corners.c that the first of the words names, with the size as its first argument."""
    return lambda size: [PROGRAMS["corners"], words[0], str(size), *words[1:]]


def copier(name):
    """copy(), by a copier of that name."""
    return lambda size: [PROGRAMS[name], f"in{size}", "out"]


def cgo(size):
    return [PROGRAMS["go"], str(size)]


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise KeyError(tool)


def shell(tool, script):
    """A script of the shell; {} is the size. `tool` must be installed."""
    def program(size):
        need(tool)
        return ["sh", "-c", script.replace("{}", str(size))]
    return program


def requests(size):
    need("nginx", "ab")
    return [str(size), f"in{size}"]


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
FOLLOWED = (["-f", "-o", "t"], ["-f", "-o", "t"])
FIO = "fio --name=a --filename=fio.data --rw=randread --size={}M --bs=4k --iodepth=8 --thread --minimal --ioengine="
RSYNC = "rm -rf copy; rsync -r --include='*/' --include='[a-d]*.h' --exclude='*' /usr/include/ copy{}"
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
    Row("-o, 40 threads that use malloc, 5,000 calls", corner("threads"), 5000, 500, *FOLLOWED),
    Row("-o, opens and closes, 50,000 times", corner("open"), 50000, 5000, *TRACE),
    Row("-y, opens and closes, 50,000 times", corner("open"), 50000, 5000, *NAMES),
    Row("--record, opens and closes, 50,000 times", corner("open"), 50000, 5000, *RECORD),
    Row("--record, 5,000 connections", corner("connect"), 5000, 500, *RECORD),
    Row("--record, the same beside 2,000 others", corner("connect", "2000"), 5000, 500, *RECORD),
    Row("--record, the same beside 8,000 others", corner("connect", "8000"), 5000, 500, *RECORD),
    Row("-c -p of nginx", requests, 20000, 2000, ["-c", "-o", "t"], ["-c", "-o", "t"], run_against_nginx),
    Row("-o -p of nginx", requests, 20000, 2000, *TRACE, run_against_nginx),
    Row("--record, Go with cgo, 8 goroutines", cgo, 20000, 2000, *RECORD),
    Row("--record, rsync of files of /usr/include", shell("rsync", RSYNC), 1, 1, *RECORD),
    Row("--record, find | xargs -P4", shell("xargs", "find /usr/include -name '*.h' | head -{} | xargs -P4 -n50 cat"), 2000, 200, *RECORD),
    Row("-o, fio with libaio", shell("fio", FIO + "libaio"), 16, 1, *FOLLOWED),
    Row("-o, fio with io_uring", shell("fio", FIO + "io_uring"), 16, 1, *FOLLOWED),
    Row("-o, valgrind", shell("valgrind", "head -c {}K in16384 >v; valgrind -q wc -l v"), 16, 16, *FOLLOWED),
    Row("-o, 100,000 messages of System V", corner("message"), 50000, 4000, *TRACE),
    Row("-o, 100,000 calls with an unknown number", corner("number"), 100000, 8000, *TRACE),
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
            taken[name].append(row.run(command, cwd))
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
