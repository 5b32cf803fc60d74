#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Measures the cost of counting, the accuracy of its times, and its memory. The engines and strace -c run alternately.
usage: engines.py BUILD [ROUNDS] [PART...]    parts: copy programs truth start memory (default: all). Nothing passes or
fails: a reader judges. The added time is the run time minus that of the same run without a tracer.
"""
import csv
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 7
PARTS = sys.argv[3:] or ["copy", "programs", "truth", "start", "memory"]
SCTRACE = str(BUILD / "sctrace")
STRACE = shutil.which("strace")
MIB = 1 << 20


def wall(command, cwd, env=None):
    start = time.monotonic()
    subprocess.run(command, cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def alternate(ways, cwd, rounds):
    """Runs {name: (command, env)} alternately and repeatedly. Returns {name: median wall time}."""
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, (command, env) in ways.items():
            times[name].append(wall(command, cwd, env))
    return {name: statistics.median(v) for name, v in times.items()}


def counting(*words, engine, follow=False):
    return [SCTRACE, "-c", "-o", "/dev/null", "--engine=" + engine, *(["-f"] if follow else []), "--", *words]


def runs_here(engine):
    listing = subprocess.run([SCTRACE, "--list-engines"], capture_output=True, text=True, check=True).stdout.splitlines()
    return any(a.split()[:1] == [engine] and "does not work" not in b for a, b in zip(listing, listing[1:]))


def one_byte_copy(work):
    copy = [str(BUILD / "examples" / "copy-read-write")]
    (work / "in").write_bytes(os.urandom(MIB))
    ways = {"native": (copy, None), "patch": (counting(*copy, engine="patch"), None),
            "patch, filter": (counting(*copy, engine="patch"), {"SCTRACE_ARM": "filter"})}
    if runs_here("bpf"):
        ways["bpf"] = (counting(*copy, engine="bpf"), None)
    per_call = strace_per_call(work, copy) if STRACE else 0
    got = alternate(ways, work, ROUNDS)
    print(f"\n1 MiB copied by one-byte calls, wall time, median of {ROUNDS} alternating rounds")
    print(f"{'':<16}{'s':>9}{'of native':>12}{'added us/call':>15}{'of strace':>12}")
    for name, t in got.items():
        added = (t - got["native"]) / 2 / MIB * 1e6
        of_strace = f"1/{per_call / added:.0f}" if added > 0 and per_call else "-"
        print(f"{name:<16}{t:9.3f}{t / got['native']:12.2f}{added:15.3f}{of_strace:>12}")
    print(f"{'strace -c':<16}{'':9}{'':12}{per_call:15.3f}")


def strace_per_call(work, copy):
    """
    The time in us that strace -c adds to a call, measured on a part of the input, because the whole input would take
    minutes.
    """
    part = 64 << 10
    (work / "part").mkdir()
    (work / "part" / "in").write_bytes(os.urandom(part))
    got = alternate({"native": (copy, None), "strace": ([STRACE, "-c", "-o", "/dev/null", *copy], None)}, work / "part", 3)
    return (got["strace"] - got["native"]) / 2 / part * 1e6


def make_inputs(work):
    """A repository with history, and Python sources."""
    repo = work / "repository"
    repo.mkdir()
    git = ["git", "-C", str(repo), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    for i in range(120):
        (repo / f"file{i % 10}").write_text("".join(f"line {k} of {i}\n" for k in range(i % 40 + 5)))
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", f"change {i}"], check=True)
    shutil.copytree(Path(os.__file__).parent / "json", work / "sources", ignore=shutil.ignore_patterns("__pycache__"))
    (work / "forks").write_text("i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done\n")


def programs(work):
    rows = {
        "tar | cat": ["sh", "-c", "tar cf - /usr/include | cat"],
        "find /usr": ["find", "/usr"],
        "git log --stat": ["git", "-C", str(work / "repository"), "log", "--stat"],
        "4 threads": [str(BUILD / "tests/e2e/threads"), "pump", "4", "20000"],
        "200 forks": ["sh", str(work / "forks")],
        "compileall": ["python3", "-m", "compileall", "-q", "-f", str(work / "sources")],
        "Go": [str(BUILD / "tests/e2e/pump-go"), "4", "20000"],
        "node -e": ["node", "-e", "let n=0; for (let i=0; i<200; i++) n+=require('fs').readFileSync('/etc/passwd').length"],
    }
    return {k: v for k, v in rows.items() if shutil.which(v[0])}


# Calls that strace omits or counts differently, and calls whose number depends on which process runs first.
NOT_COMPARED = {"exit", "exit_group", "rt_sigreturn", "restart_syscall", "wait4", "futex", "total"}


def strace_rows(path):
    rows = {}
    for words in (line.split() for line in path.read_text().splitlines()):
        if len(words) in (5, 6) and words[3].isdigit():
            rows[words[-1]] = (int(words[3]), int(words[4]) if len(words) == 6 else 0)
    return rows


def differing(command, work):
    """Returns how many rows differ between the patch engine and strace -f -c, and the number of rows."""
    subprocess.run([STRACE, "-f", "-c", "-o", str(work / "theirs"), *command], cwd=work, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    subprocess.run([SCTRACE, "-c", "-f", "--format=csv", "-o", str(work / "ours"), *command], cwd=work,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    theirs = strace_rows(work / "theirs")
    with open(work / "ours") as f:
        ours = {r["syscall"]: (int(r["calls"]), int(r["errors"] or 0)) for r in csv.DictReader(f)}
    names = (set(theirs) | set(ours)) - NOT_COMPARED
    return [n for n in sorted(names) if theirs.get(n, (0, 0)) != ours.get(n, (0, 0))], len(names)


def whole_programs(work):
    make_inputs(work)
    rounds = max(3, ROUNDS // 2)
    print(f"\nPrograms, wall time with -f -c, median of {rounds} alternating rounds; rows that differ from strace's")
    print(f"{'':<16}{'native':>9}{'sctrace':>9}{'strace':>9}{'added, of strace':>18}   rows")
    for name, command in programs(work).items():
        ways = {"native": (command, None), "ours": (counting(*command, engine="auto", follow=True), None),
                "theirs": ([STRACE, "-f", "-c", "-o", "/dev/null", *command], None)}
        got = alternate(ways, work, rounds)
        rows, of = differing(command, work)
        ratio = (got["ours"] - got["native"]) / (got["theirs"] - got["native"])
        print(f"{name:<16}{got['native']:9.3f}{got['ours']:9.3f}{got['theirs']:9.3f}{ratio:18.3f}   "
              f"{len(rows)} of {of}" + (f": {', '.join(rows)}" if rows else ""))


def average(text, name):
    for row in csv.DictReader(text.splitlines()):
        if row["syscall"] == name:
            return float(row["avg"]) * 1e9
    raise SystemExit(f"no row {name}")


def true_times(work):
    source = Path(__file__).with_name("truth.c")
    subprocess.run(["cc", "-O1", "-o", str(work / "truth"), str(source)], check=True)
    print(f"\nTime of one call in ns, median of {ROUNDS} alternating rounds")
    print(f"{'':<12}{'its own clock':>14}{'patch':>10}{'off by':>9}{'allowed':>9}{'strace -cw':>12}")
    for name in ("getppid", "write", "stat", "pread64", "nanosleep"):
        own, ours, theirs = [], [], []
        command = [str(work / "truth"), name]
        for _ in range(ROUNDS):
            own.append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
            subprocess.run([SCTRACE, "-c", "--engine=patch", "--format=csv", "-o", str(work / "ours"), *command],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            ours.append(average((work / "ours").read_text(), name))
            if len(theirs) < 3:
                subprocess.run([STRACE, "-c", "-w", "-U", "name,avg-time", "-o", str(work / "theirs"), *command],
                               stdout=subprocess.DEVNULL, check=True)
                for line in (work / "theirs").read_text().splitlines():
                    if line.split()[:1] == [name]:
                        theirs.append(float(line.split()[1]) * 1e3)
        a, b = statistics.median(own), statistics.median(ours)
        print(f"{name:<12}{a:14.0f}{b:10.0f}{b - a:9.0f}{max(100, a / 20):9.0f}{statistics.median(theirs):12.0f}")
    summed_times(work)


def summed_times(work):
    """The sum of all times in a run that mostly makes calls, compared with the system time of the same run untraced."""
    (work / "in").write_bytes(os.urandom(MIB))
    copy = [str(BUILD / "examples" / "copy-read-write")]
    own, ours = [], []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime
        wall(copy, work)
        own.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime - before)
        subprocess.run([SCTRACE, "-c", "--engine=patch", "--format=csv", "-o", str(work / "ours"), *copy], cwd=work,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        with open(work / "ours") as f:
            ours.append(sum(float(r["seconds"]) for r in csv.DictReader(f)))
    a, b = statistics.median(own), statistics.median(ours)
    print(f"1 MiB by one byte: summed seconds {b:.3f}, system time untraced {a:.3f}, ratio {b / a:.3f}")


def start_up(work):
    rounds = max(15, ROUNDS)
    kept = {"XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"]}
    ours = [SCTRACE, "-c", "-o", "/dev/null", "true"]
    ways = {"true": (["true"], None), "sctrace -c, measuring": (ours, {"XDG_RUNTIME_DIR": ""}),
            "sctrace -c, costs kept": (ours, kept), "strace -c": ([STRACE, "-c", "-o", "/dev/null", "true"], None)}
    print(f"\nStart-up, ms, median of {rounds} alternating rounds")
    for name, t in alternate(ways, work, rounds).items():
        print(f"{name:<24}{t * 1e3:8.1f}")


def status_kib(pid, key):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    return 0


def agent_kib(pid):
    """
    Resident memory, in KiB, of the engine's mappings and of the code pages that it has changed. Shared pages count in
    proportion.
    """
    mapped, written, ours, code = 0.0, 0, False, False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        words = line.split()
        if "-" in words[0] and not words[0].endswith(":"):
            ours = len(words[0]) == 17 and words[0].startswith("700")
            code = words[1] == "r-xp" and len(words) == 6
        elif ours and words[0] == "Pss:":
            mapped += int(words[1])
        elif code and words[0] == "Private_Dirty:":
            written += int(words[1])
    return mapped, written


def descendants(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def memory(work):
    print("\nMemory while they run, KiB: sctrace, the agent in all program images; pages of code written to")
    seen = {}
    for n in (1, 51):
        script = "sleep 2 & " * (n - 1) + "sleep 2"
        with subprocess.Popen([SCTRACE, "-c", "-f", "-o", "/dev/null", "--engine=patch", "sh", "-c", script],
                              cwd=work) as process:
            time.sleep(1.2)
            images = descendants(process.pid)
            kib = [agent_kib(p) for p in images]
            seen[n] = status_kib(process.pid, "VmRSS"), sum(k[0] for k in kib), sum(k[1] for k in kib), len(images)
        print(f"{seen[n][3]:4} processes {seen[n][0]:8} + {seen[n][1]:.0f}; {seen[n][2]}")
    each = [(b - a) / (seen[51][3] - seen[1][3]) for a, b in zip(seen[1][:3], seen[51][:3])]
    print(f"each further image {each[0]:.0f} + {each[1]:.0f}; {each[2]:.0f}")


def main():
    parts = {"copy": one_byte_copy, "programs": whole_programs, "truth": true_times, "start": start_up, "memory": memory}
    for part in PARTS:
        if part in ("programs", "truth", "start") and not STRACE:
            print(f"{part}: strace is not installed, nothing to stand beside")
            continue
        with tempfile.TemporaryDirectory() as work:
            runtime = Path(work) / "runtime"
            runtime.mkdir(mode=0o700)
            os.environ["XDG_RUNTIME_DIR"] = str(runtime)  # the cost of tracing is measured once, as in a login session
            for _ in range(5):
                wall([SCTRACE, "-c", "-o", "/dev/null", "true"], work)
            parts[part](Path(work))


main()
