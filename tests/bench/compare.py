#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Prints results that must have the same shape on every machine, beside published figures or those of another tool. usage:
compare.py SCTRACE. The published results: a lesson on a 10 MiB file under FreeBSD 9's truss. Nothing here passes or
fails: a reader judges.
"""
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SCTRACE = sys.argv[1]
MIB = 1 << 20


def results(*args):
    done = subprocess.run([SCTRACE, "compare", "--format=json", *args], capture_output=True, text=True, check=True)
    return {r["name"]: r for r in json.loads(done.stdout)["results"]}


def slope(points):
    """The slope of the least-squares line through the logarithms."""
    xs = [math.log(x) for x, _ in points]
    ys = [math.log(y) for _, y in points]
    mx, my = statistics.fmean(xs), statistics.fmean(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def say(what, value, beside):
    print(f"{what:<58} {value:>16}   {beside}")


def three_programs():
    print("\nThe three programs, 10 MiB")
    got = results("--size=10M", "--runs=1", "--warmup=0", "--strategy=fgetc/fputc,read/write,one-shot", "--buffers=1")
    published = {
        "fgetc/fputc": ("677", "320", "1,120 KiB"),
        "read/write 1": ("20,971,550", "10,485,760", "828 KiB"),
        "one-shot": ("32", "1", "11,084 KiB"),
    }
    for name, (calls, writes, rss) in published.items():
        counts = got[name]["counts"]
        part = "" if counts["counted_bytes"] == 10 * MIB else f" (of {counts['counted_bytes']} bytes)"
        say(f"{name}: calls{part}", f"{counts['calls']:,}", f"published {calls}")
        say(f"{name}: writes{part}", f"{counts['writes']:,}", f"published {writes}")
        say(f"{name}: peak RSS", f"{got[name]['peak_rss_bytes'] // 1024:,} KiB", f"published {rss}")
    byte = got["read/write 1"]
    cpu = byte["user_mean_s"] + byte["system_mean_s"]
    say("read/write 1: time in calls by CPU time", f"{byte['counts']['in_calls_s'] / cpu:.1f}",
        "published 30 (458 s of 15.3 s: the tracer measured itself)")


def shapes():
    print("\nShapes, 4 MiB")
    got = results("--size=4M", "--runs=5", "--no-count", "--strategy=fgetc/fputc,read/write",
                  "--buffers=1,2,4,8,16,4K")
    points = [(b, got[f"read/write {b}"]["system_mean_s"]) for b in (1, 2, 4, 8, 16)]
    say("slope of log system time over log buffer, 1 to 16 bytes", f"{slope(points):.3f}", "-0.9 to -1.1")
    block, stdio = got["read/write 4K"], got["fgetc/fputc"]
    say("system time at 1 byte by that at 4096", f"{points[0][1] / block['system_mean_s']:.0f}", "over 100")
    say("system time of fgetc/fputc by that of read/write 4K", f"{stdio['system_mean_s'] / block['system_mean_s']:.2f}",
        "within 2")
    say("user time of fgetc/fputc", f"{stdio['user_mean_s'] * 1e3:.1f} ms",
        f"far above that of read/write 4K: {block['user_mean_s'] * 1e3:.1f} ms")


def memory():
    print("\nPeak RSS of a program that touches a known amount (one-shot)")
    sizes = (8, 16, 32, 64)
    peaks = {}
    for size in sizes:
        got = results(f"--size={size}M", "--runs=5", "--no-count", "--strategy=one-shot")
        peaks[size] = got["one-shot"]["peak_rss_bytes"] / MIB
    for size in sizes:
        say(f"{size} MiB: peak less the file's size", f"{peaks[size] - size:.2f} MiB", "the same for all, within 1 MiB")


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive")


def hyperfine(place):
    """
    The two alternate, so that other work on the machine affects both. The files are in memory, because a disk may still be
    writing data of the previous run, and only one of the two tools interleaves the commands.
    """
    print("\nhyperfine on the same two commands, 4 turns of 10 runs each")
    if not shutil.which("hyperfine"):
        print("hyperfine is not installed")
        return
    (place / "in").write_bytes(bytes(range(256)) * 4096 * 16)
    commands = [f"cat {place}/in > {place}/out", f"dd if={place}/in of={place}/out bs=512 2>/dev/null"]
    ours, theirs = ({c: [] for c in commands} for _ in range(2))
    exported = place / "h.json"
    for _ in range(4):
        for name, result in results("--runs=10", "--warmup=2", "--no-count", *commands).items():
            ours[name] += result["samples_s"]
        subprocess.run(["hyperfine", "--runs", "10", "--warmup", "2", "--export-json", exported, *commands], check=True,
                       capture_output=True)
        for result in json.loads(exported.read_text())["results"]:
            theirs[result["command"]] += result["times"]
    for command in commands:
        mine, other = quartiles(ours[command]), quartiles(theirs[command])
        say(f"{command.replace(f'{place}/', '')}: median", f"{mine[1] * 1e3:.2f} ms", f"hyperfine {other[1] * 1e3:.2f} ms")
        say("    quartiles", f"{mine[0] * 1e3:.2f} to {mine[2] * 1e3:.2f}",
            f"hyperfine {other[0] * 1e3:.2f} to {other[2] * 1e3:.2f}")
        within = [min(a) <= b[1] <= max(a) for a, b in ((ours[command], other), (theirs[command], mine))]
        say("    each median within the other's spread", " and ".join("yes" if w else "no" for w in within), "both yes")


def main():
    three_programs()
    shapes()
    memory()
    memory_disk = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="sctrace-bench-", dir=memory_disk) as place:
        hyperfine(Path(place))


if __name__ == "__main__":
    main()
