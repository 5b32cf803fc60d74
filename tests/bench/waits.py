#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what -c says about waits against the kernel's own counts, and that the means by which waits are found never harms a program.

usage: waits.py BUILD accuracy [ROUNDS]    waits.c counts its own switches by getrusage(2) around each call
       waits.py BUILD kills [ROUNDS]       sctrace attaches to a program, and detaches or is killed at a random moment

accuracy: the number of waits must equal the number of calls during which the kernel has switched the thread, within 1 % or 3. The
calls of the case `quick` are so short that many switches are between them, or in sctrace's code around them. At least those must be
found that happen during the share of the CPU time that the loop takes without a tracer, minus four standard deviations. Loops keep the
machine busy during the cases that would not wait otherwise. The engine bpf sees the end of a call before the kernel returns to the
program, where most involuntary switches happen, so it is only judged by calls that sleep.

kills: the thread's rseq_cs may point at sctrace's code when sctrace goes away (rseq(2)). If it stayed so, the kernel would end the
program by SIGSEGV at the next switch. The program must go on, and end as it would without sctrace.
"""
import csv
import io
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCTRACE = str((Path(sys.argv[1]) / "sctrace").resolve())
NAPS = {"clock_nanosleep", "nanosleep"}
# For each case, the calls whose waits are those of the case, whether the machine is kept busy, and whether the calls sleep.
CASES = {"sleeps": (NAPS, False, True), "quick": ({"getppid"}, True, False), "slow": ({"read"}, True, False),
         "cold": ({"pread64"}, False, True), "warm": ({"pread64"}, True, False), "pipes": ({"read", "write"}, False, False),
         "futexes": (NAPS | {"futex", "sched_yield"}, False, False)}
STATUS = 7  # of waits churn
BUSY = "while :; do :; done"


def said(text):
    found = re.search(r"switches (\d+) calls (\d+) ns ([\d.]+)", text)
    return int(found[1]), int(found[2]), float(found[3])


def judge(program, case, file, engine):
    """Runs the case once. Returns whether its waits are right, and prints them."""
    calls, busy, _ = CASES[case]
    rivals = [subprocess.Popen(["sh", "-c", BUSY]) for _ in range((os.cpu_count() or 1) + 1 if busy else 0)]
    try:
        alone = said(subprocess.run([program, case, file], capture_output=True, text=True, check=True).stdout)
        counts = file.with_name("counts")
        run = subprocess.run([SCTRACE, "-c", f"--engine={engine}", "-U", "syscall,calls,waits", "--format=csv", "-o", counts, program, case,
                              file], capture_output=True, text=True, check=False)
    finally:
        for rival in rivals:
            rival.kill()
            rival.wait()
    if run.returncode:
        raise SystemExit(run.stderr)
    rows = [row for row in csv.DictReader(io.StringIO(counts.read_text())) if row["syscall"] in calls]
    waits = sum(int(row["waits"] or 0) for row in rows)
    switches, watched, ns = said(run.stdout)
    if case == "quick":
        share = min(alone[2] / ns, 1)
        least, most = switches * share - 4 * math.sqrt(switches * share * (1 - share)) - 3, switches + 3
    else:
        least, most = watched - max(3, watched / 100), watched + max(3, watched / 100)
    ok = least <= waits <= most
    print(f"{engine:6} {case:8} {sum(int(row['calls']) for row in rows):9,} calls {waits:7,} waits; by the kernel {switches:7,} switches"
          f"{f', in {watched:,} calls' if case != 'quick' else ''}; {max(least, 0):,.0f} to {most:,.0f} are right{'' if ok else '   WRONG'}", flush=True)
    return ok


def accuracy(program, work, rounds):
    file = work / "file"
    file.write_bytes(os.urandom(1 << 20) * 16)
    fd = os.open(file, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
    engines = [e for e in ("patch", "bpf") if subprocess.run([SCTRACE, "-c", f"--engine={e}", "-o", work / "try", "true"], capture_output=True,
                                                             check=False).stderr == b""]
    pairs = [(engine, case) for engine in engines for case, (_, _, sleeps) in CASES.items() if sleeps or engine == "patch"]
    wrong = sum(not judge(program, case, file, engine) for _ in range(rounds) for engine, case in pairs)
    print(f"{wrong} of {rounds * len(pairs)} figures are wrong; engines: {', '.join(engines)}")
    return wrong


def leave(sctrace, how):
    """Ends sctrace by the signal after a random time, at which it may still be attaching."""
    time.sleep(random.random() ** 3 * 0.05)
    sctrace.send_signal(how)
    sctrace.wait()


def attach_once(program, mode, how):
    """Attaches to a program and leaves it. Returns how the program ended."""
    with subprocess.Popen([program, "churn"], stdout=subprocess.PIPE) as target:
        target.stdout.read(1)
        for _ in range(random.randrange(1, 4)):
            with subprocess.Popen([SCTRACE, "-qqq", "-f", *mode, "-o", "/dev/null", "-p", str(target.pid)], stderr=subprocess.DEVNULL) as sctrace:
                leave(sctrace, how)
            time.sleep(0.002)
        target.send_signal(signal.SIGTERM)
        return target.wait()


def start_once(program, mode, _):
    """Starts a program under sctrace, which leaves it after some calls. The program's shell writes how it ended to a pipe."""
    ends, into = os.pipe()
    calls = str(random.randrange(1, 20000))
    with subprocess.Popen([SCTRACE, "-qqq", "-f", *mode, "-o", "/dev/null", f"--syscall-limit={calls}", "bash", "-c",
                           f"{program} churn 30; echo $? >&{into}"], pass_fds=[into], stderr=subprocess.DEVNULL):
        os.close(into)
        with os.fdopen(ends) as pipe:
            text = pipe.read().strip()
    return int(text) if text else None


def kills(program, rounds):
    ends = {}
    bad = 0
    ways = [(attach_once, signal.SIGINT), (attach_once, signal.SIGKILL), (start_once, signal.SIGINT)]
    for i in range(rounds):
        run, how = ways[i % len(ways)]
        mode = [["-c"], ["-e", "all"]][random.randrange(2)]
        end = run(program, ["--engine=patch", *mode], how)
        key = f"{run.__name__} {how.name} {' '.join(mode)}: {end}"
        ends[key] = ends.get(key, 0) + 1
        segv = end in (-signal.SIGSEGV, 128 + signal.SIGSEGV)
        bad += segv
        if segv or end != STATUS:
            print(f"round {i}: {key}", flush=True)
        if i % 500 == 499:
            print(f"{i + 1} rounds, {bad} SIGSEGV", flush=True)
    for key, n in sorted(ends.items()):
        print(f"{n:6} {key}")
    print(f"{bad} SIGSEGV in {rounds} rounds")
    return bad


def main():
    part = sys.argv[2] if len(sys.argv) > 2 else "accuracy"
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else {"accuracy": 3, "kills": 10000}[part]
    random.seed(1)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in background jobs, and then so would sctrace at first
    # The page cache of a file in memory cannot be dropped.
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as work:
        work = Path(work)
        program = work / "waits"
        subprocess.run(["cc", "-O2", "-pthread", "-o", program, Path(__file__).with_name("waits.c")], check=True)
        return 1 if (accuracy(program, work, rounds) if part == "accuracy" else kills(program, rounds)) else 0


sys.exit(main())
