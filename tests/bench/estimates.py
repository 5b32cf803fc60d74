#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the savings that the findings of `sctrace --io` expect with those of the corrected programs. Nothing passes or fails.

usage: estimates.py BUILD [ROUNDS [FOLDER [NAME...]]]: the number of alternating rounds for each program (default: 7);
the folder for files (default: /var/tmp); names of programs, or parts of names

The programs are copiers with small buffers, which a buffer of 64 KiB corrects, and examples/io-*, which -f corrects.
In each round, a run is traced under each engine, and the program and its correction run untraced, because the speed of a
virtual machine changes within minutes. The median of the predictions is compared with that of the CPU time (user and system)
of untraced runs, which does not include the time in which other programs had the CPU. For fsync(2), which waits, it is
compared with the time until the program ended. For programs that handle each byte or line with stdio and make calls of
4 KiB or more, only the system time is compared: the loop over the bytes takes most of the time, and varies by up to 90 ms from
run to run and with the addresses of the buffers. The system time lacks the end of each call, in which interrupts are disabled.
This is a small part of calls that move so many bytes, but not of smaller ones. A program runs several times for one figure if it
saves less than 30 ms in each run. While the standard error of the measured saving (+-) is more than 7 % of it, there are
more rounds, at most six times as many. A prediction that is not confirmed counts as unclear if this error is more than 20 %
in the end.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 7
FOLDER = sys.argv[3] if len(sys.argv) > 3 else "/var/tmp"
WORDS = sys.argv[4:]
ENGINES = ("patch", "ptrace")
ENOUGH_S, RUNS_MAX = 0.03, 12
SIZES = ("1", "16", "64", "256", "1K", "4K", "16K", "64K")
INPUT = {"1": 1 << 17, "16": 1 << 21, "64": 1 << 23, "256": 1 << 25, "1K": 1 << 26, "4K": 1 << 26, "16K": 1 << 26, "64K": 1 << 26}
SMALL = {"small-reads", "small-writes"}

# Programs with the loops of the copiers that use stdio, but with a buffer of 64 KiB, because no copier has small pieces
# and a large buffer.
REPAIRED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	static char in_buffer[65536], out_buffer[65536];
	FILE *in = fopen("in", "rb"), *out = fopen("out", "wb");
	size_t n, size = argc > 2 ? strtoul(argv[2], NULL, 10) : 4096;
	char *piece = malloc(size);
	int c;
	if (!in || !out || !piece)
		return 1;
	setvbuf(in, in_buffer, _IOFBF, sizeof(in_buffer));
	setvbuf(out, out_buffer, _IOFBF, sizeof(out_buffer));
	if (strcmp(argv[1], "fread") == 0)
		while ((n = fread(piece, 1, size, in)) > 0)
			fwrite(piece, 1, n, out);
	else if (strcmp(argv[1], "fgets") == 0)
		while (fgets(piece, (int)size, in))
			fputs(piece, out);
	else
		while ((c = getc_unlocked(in)) != EOF)
			putc_unlocked(c, out);
	return fclose(out) != 0;
}
"""


def cpu_time(_, usage):
    return usage.ru_utime + usage.ru_stime


def system_time(_, usage):
    return usage.ru_stime


def wall_time(wall, _):
    return wall


class Case:
    """
    A program and its correction. `kinds` are the findings whose savings are added up. `time` returns the time that is
    compared, in seconds, from the time until the program ended and its resource usage.
    """

    def __init__(self, name, program, fixed, kinds, size, time=cpu_time):
        self.name, self.program, self.fixed, self.kinds, self.size, self.time = name, program, fixed, kinds, size, time


def copier(name, *args):
    return [str(BUILD / "examples" / f"copy-{name}"), *args]


def copiers(repaired):
    cases = []
    for size in SIZES:
        def add(name, program, fixed, length=INPUT[size], buffer=size, time=cpu_time):
            cases.append(Case(f"{name} {buffer}", program, fixed, SMALL, length, time))
        add("read/write", copier("read-write", "-b", size), copier("read-write", "-b", "64K"))
        add("pread/pwrite", copier("pread-pwrite", "-b", size), copier("pread-pwrite", "-b", "64K"))
        add("setvbuf", copier("setvbuf", "-b", size), copier("setvbuf"), time=system_time if size in ("4K", "16K", "64K") else cpu_time)
        number = size.replace("K", "") if "K" not in size else str(int(size[:-1]) * 1024)
        small = int(number) < 4096  # then the 4 KiB buffer of the library determines the calls
        add("fread/fwrite", copier("fread-fwrite", "-b", size), [repaired, "fread", number if small else "65536"],
            INPUT["1K"] if small else INPUT[size], time=system_time)
    for name, fixed in (("fgetc-fputc", copier("setvbuf")), ("getc-unlocked", [repaired, "getc"]), ("fgets-fputs", [repaired, "fgets"])):
        cases.append(Case(name, copier(name), fixed, SMALL, INPUT["1K"], system_time))
    cases.append(Case("stdio-unbuffered", copier("stdio-unbuffered"), copier("setvbuf"), SMALL, INPUT["1"]))
    return cases


def examples():
    kinds = {"small-reads": ("small-reads", 1 << 18), "small-writes": ("small-writes", 0), "lines": ("line-writes", 0),
             "read-again": ("read-again", 1 << 16), "seek-back": ("seek-back", 1 << 20), "seek-read": ("seek-before-read", 1 << 26),
             "idle-seeks": ("idle-seeks", 0), "open-again": ("opened-again", 1 << 10), "failed-again": ("failed-again", 0),
             "sync-each": ("sync-each-write", 0), "direct": ("unaligned-direct", 1 << 20), "poll": ("no-result", 0),
             "copy": ("copied-by-hand", 1 << 26), "never-closed": ("never-closed", 1 << 10)}
    for name, (kind, size) in kinds.items():
        program = [str(BUILD / "examples" / f"io-{name}")]
        yield Case(f"io-{name}", program, [*program, "-f"], {kind}, size, wall_time if name == "sync-each" else cpu_time)


def make_input(work, size):
    line = b"The quick brown fox jumps over the lazy dog, and then rests.\n"  # not of 64 bytes, so that no buffer holds one line
    if not (work / "in").exists() or (work / "in").stat().st_size != size:
        (work / "in").write_bytes((line * (size // len(line) + 1))[:size])


def once(command, work, time_of):
    """Runs the program. Returns time_of(the time until its end, its resource usage)."""
    for name in ("out", "lines"):
        (work / name).unlink(missing_ok=True)
    lines = os.open(work / "lines", os.O_WRONLY | os.O_CREAT, 0o600)
    start = time.monotonic()
    with subprocess.Popen(command, cwd=work, stdout=lines, stdin=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    os.close(lines)
    if child.returncode:
        raise RuntimeError(f"{command} ended with {child.returncode}")
    return time_of(wall, usage)


def predict(case, engine, work):
    """Traces a run. Returns the smallest and the largest expected saving in seconds, or None, and the sentences of the findings."""
    for name in ("out", "lines"):
        (work / name).unlink(missing_ok=True)
    with open(work / "lines", "wb") as lines:
        subprocess.run([BUILD / "sctrace", f"--engine={engine}", "--io", "--save", "run.json", "-o", "/dev/null", *case.program],
                       cwd=work, stdout=lines, stdin=subprocess.DEVNULL, check=True)
    found = [f for f in json.loads((work / "run.json").read_text())["io"]["findings"] if f["kind"] in case.kinds]
    known = found and all(f["saving_high_s"] is not None for f in found)
    return [sum(f[key] for f in found) for key in ("saving_low_s", "saving_high_s")] if known else None, [f["text"] for f in found]


def measure(case, times, engines, work):
    """
    Alternates traced and untraced runs. Returns the time that the corrected program saves in a run, the uncertainty of
    this time, and the prediction of each engine. All are medians.
    """
    saved, predicted, doubt = [], {e: [] for e in engines}, 0.0
    for r in range(6 * ROUNDS + 1):
        if r > ROUNDS and doubt <= 0.07 * abs(statistics.median(saved)):
            break
        took = [0.0, 0.0]
        for _ in range(times):
            for k in ((0, 1) if r % 2 else (1, 0)):
                took[k] += once((case.program, case.fixed)[k], work, case.time)
        if r:  # the first round is a warm-up
            saved.append((took[0] - took[1]) / times)
            for e in engines:
                predicted[e].append(predict(case, e, work)[0])
        if r > 1:
            quartiles = statistics.quantiles(saved, n=4)
            doubt = (quartiles[2] - quartiles[0]) / len(saved) ** 0.5
    medians = {e: [statistics.median(p[i] for p in ps if p) for i in range(2)] for e, ps in predicted.items()}
    return statistics.median(saved), doubt, medians


def judge(case, work, score):
    make_input(work, case.size)
    once(case.program, work, case.time)
    first = {e: predict(case, e, work) for e in ENGINES}
    engines = [e for e in ENGINES if first[e][0]]
    if not engines:
        said = [texts[0] for _, texts in first.values() if texts]
        print(f"{case.name:<20} {'no figure: ' + said[0] if said else 'nothing found'}", flush=True)
        return
    times = max(1, min(RUNS_MAX, round(ENOUGH_S / max(min(first[e][0][1] for e in engines), 1e-6) + 0.5)))
    saved, doubt, predicted = measure(case, times, engines, work)
    for engine in ENGINES:
        if engine not in engines:
            print(f"{case.name:<20} {engine:<7} {'no figure' if first[engine][1] else 'nothing found'}", flush=True)
            continue
        low, high = predicted[engine]
        error = (low + high) / 2 / saved - 1 if saved > 0 else float("inf")
        near, within, unclear = abs(error) <= 0.2, low <= saved <= high, doubt > 0.2 * abs(saved)
        for key, value in (("all", True), ("near", near), ("either", near or within), ("unclear", unclear and not (near or within))):
            score[engine][key] += value
        verdict = "within 20 %" if near else "in the range" if within else "unclear" if unclear else "NO"
        print(f"{case.name:<20} {engine:<7} {low * 1e3:8.2f} to {high * 1e3:8.2f} ms  {saved * 1e3:8.2f} +-{doubt * 1e3:5.2f} ms "
              f"{error * 100:+6.0f} %  {verdict}", flush=True)


def main():
    with tempfile.TemporaryDirectory(dir=FOLDER) as work:
        work = Path(work)
        repaired = work / "repaired"
        (work / "repaired.c").write_text(REPAIRED)
        subprocess.run(["cc", "-O2", "-o", repaired, work / "repaired.c"], check=True)
        score = {e: {"all": 0, "near": 0, "either": 0, "unclear": 0} for e in ENGINES}
        print(f"{'program':<20} {'engine':<7} {'predicted':>20}     {'measured':>18}  error", flush=True)
        for case in [*examples(), *copiers(str(repaired))]:
            if not WORDS or any(word in case.name for word in WORDS):
                judge(case, work, score)
        for engine, s in score.items():
            print(f"{engine}: of {s['all']} predictions with a figure, {s['near']} are within 20 % of what was saved, and {s['either']} are "
                  f"within 20 % or have it in their range; for {s['unclear']} of the others, what was saved is itself not known to 20 %")


main()
