#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`sctrace report` from outside: published tables are reproduced; refusals, formats, broken files (script.py)."""
import copy
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

from script import SCTRACE, Skip, in_terminal, run_tests, seconds

TIMEOUT = seconds(100)


def run(*args, **kw):
    kw.setdefault("timeout", TIMEOUT)
    return subprocess.run([SCTRACE, *map(str, args)], capture_output=True, text=True, check=False, **kw)


def report(*args):
    """Returns the output of a report that must succeed."""
    done = run("report", *args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(*args):
    """Returns the error message, one sentence, of a report that must fail."""
    done = run("report", *args)
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert done.stdout == "", done.stdout
    assert re.fullmatch(r"sctrace: [^\n]+\n", done.stderr), done.stderr
    return done.stderr


def document(kind, results, **more):
    return {"schema": "sctrace-run", "schema_version": 1, "sctrace_version": "0.1.0", "kind": kind,
            "date": "2026-01-01T00:00:00+00:00", "command": ["sctrace"],
            "environment": {"kernel": {"release": "6.1.0"}, "cpu": {"model": "a CPU", "online": 4}},
            "results": results, **more}


def save(folder, name, doc):
    path = folder / name
    path.write_text(doc if isinstance(doc, str) else json.dumps(doc))
    return path


def samples_with(least, q1, median, mean, q3, most, n=501):
    """
    `n` values (4 k + 1) with exactly this summary: the values between the quartiles are chosen such that the mean is
    correct.
    """
    ends = [least, q1, median, q3, most]
    inner = (n - 1) // 4 - 1
    rest = mean * n - sum(ends)
    low = inner * sum(ends[:4])
    high = inner * sum(ends[1:])
    part = (rest - low) / (high - low)
    assert 0 <= part <= 1
    return ends + [a + part * (b - a) for a, b in zip(ends, ends[1:]) for _ in range(inner)]


def timed(name, values, unit="ns", **more):
    return {"name": name, "unit": unit, "samples": len(values), f"samples_{unit}": values, **more}


# R's summary of the time between two reads of the clock, in ns: 500 samples in one process, or one in each of 500
# processes (SH).
PUBLISHED = {
    "vmware": ((25, 30, 38, 43.68, 54, 300), (117, 233.8, 254, 264.1, 271, 2215)),
    "kvm": ((1077, 1092, 1120, 1198, 1226, 2829), (1135, 1170, 1184, 1193, 1196, 2194)),
    "host": ((61, 64, 66, 68.45, 67, 804), (72, 87, 91, 94.66, 98, 264)),
}


def published(folder):
    paths = []
    for machine, (one, many) in PUBLISHED.items():
        rows = [timed("clock", samples_with(*one)), timed("clockSH", samples_with(*many))]
        paths.append(save(folder, machine + ".json", document("bench-syscall", rows, method={"mode": "single"})))
    return paths


def test_several_counts(folder):
    """runs of -c beside each other: full names and totals at 80 columns, and what takes longer in sum is not called faster"""
    few = "import os; f = os.open('/dev/zero', 0)\nfor i in range(200): os.read(f, 1 << 18)"
    slow = ("import os, threading, time; f = os.open('/dev/zero', 0); r, w = os.pipe()\nfor i in range(200): os.read(f, 1)\n"
            "def write():\n for i in range(10): time.sleep(0.05); os.write(w, b'x')\n"
            "threading.Thread(target=write).start()\nfor i in range(10): os.read(r, 1)")
    for name, program in (("few", few), ("slow", slow)):
        subprocess.run([SCTRACE, "-c", "-e", "trace=read,prlimit64,set_tid_address", "--save", folder / f"{name}.json", sys.executable, "-S", "-c",
                        program], check=True, capture_output=True, timeout=TIMEOUT)
    text = report(folder / "few.json", folder / "slow.json")
    row = next(line for line in text.splitlines() if line.startswith("read "))
    assert "faster" not in row and re.search(r"p50 [0-9.]+ times shorter, mean [0-9.]+ times longer", row), text
    total = next(line for line in text.splitlines() if line.startswith("total "))
    assert re.search(r" ms instead of [0-9.]+ [mu]s$", total), text
    runs = [folder / f"{name}.json" for name in ("few", "slow", "few", "slow", "few")]
    status, shown = in_terminal(80, "report", *runs)
    assert status == 0 and max(map(len, shown.splitlines())) <= 80, shown
    table = shown.split("System calls\n")[1].split("\nA call is")[0]
    assert "…" not in table and "set_tid_address" in table and table.count("\ntotal ") >= 2 and "mean" in table, table
    assert not any(line in ("read", "prlimit64", "set_tid_address") for line in table.splitlines()), table


def test_published_summaries(folder):
    """A published summary of three machines is reproduced"""
    rows = json.loads(report("--format=json", *published(folder)))["summary"]
    assert len(rows) == 6
    for row in rows:
        want = PUBLISHED[row["run"]][row["name"] == "clockSH"]
        got = [row[k] * 1e9 for k in ("min_s", "q1_s", "median_s", "mean_s", "q3_s", "max_s")]
        assert all(abs(g - w) < 0.005 for g, w in zip(got, want)), (row["run"], row["name"], got, want)
    text = report(*published(folder))
    assert re.search(r"^clock +kvm +501 +1\.08 us +1\.09 us +1\.12 us +1\.20 us +1\.23 us +2\.83 us", text, re.M), text


def test_ratios(folder):
    """Ratios to the first run have intervals, and equal runs show no difference"""
    vmware, kvm, host = published(folder)
    out = json.loads(report("--format=json", host, kvm))
    first = out["ratios"][0]
    assert abs(first["ratio"] - 1120 / 66) < 1e-6
    assert first["ratio_low95"] <= first["ratio"] <= first["ratio_high95"]
    assert first["verdict"] == "16.97 times slower", first
    again = save(folder, "again.json", json.loads(vmware.read_text()))
    same = json.loads(report("--format=json", vmware, again))["ratios"]
    assert all(r["verdict"] == "no difference seen" and r["ratio"] == 1 for r in same), same
    assert report(host, kvm) == report(host, kvm)
    few = [save(folder, f"{name}.json", document("bench-syscall", [timed("stat", [1, 2, 3])])) for name in "ab"]
    assert re.search(r"^ +a +b +ratio$", report(*few), re.M), report(*few)  # no interval is known, so none has a column


def test_the_control_is_not_counted(folder):
    """The findings do not count the empty loop, because its cost is subtracted from the operations"""
    loops = [timed("loop", [k * 100 + i for i in range(9)], group="control") for k in (1, 2)]
    a, b = (save(folder, f"{k}.json", document("bench-syscall", [loop, timed("stat", [500 + i for i in range(9)])]))
            for k, loop in enumerate(loops))
    out = json.loads(report("--format=json", a, b))
    assert "slower" in out["ratios"][0]["verdict"], out["ratios"]
    assert out["lessons"] == ["Compared with 0, 1 shows no difference in 1 of 1 rows."], out["lessons"]


# Elapsed seconds under loads, each the mean of three runs. The published table shows percent over the first kernel.
LOADS = ("plain", "irq", "ping", "irq+ping", "irq+hd")
KERNELS = {
    "vanilla": (175, 176, 185, 187, 246),
    "rt": (182, 184, 201, 202, 278),
    "ipipe": (176, 179, 189, 190, 260),
}


def test_narrow_terminals(folder):
    """On a narrow terminal, verdicts are left out before row names become ambiguous"""
    names = [f"read/write {size}" for size in ("1", "16", "256", "4K")]
    runs = [save(folder, f"r{k}.json", document("bench-syscall", [timed(n, [k * 1000 + i for i in range(9)]) for n in names]))
            for k in (1, 2)]
    status, text = in_terminal(60, "report", *runs)
    assert status == 0 and all(len(line) <= 60 for line in text.splitlines()), text
    assert all(len(re.findall(f"(?m)^{n} ", text)) == 3 for n in names), text
    rows = [timed(f"{n} (two CPUs)", [2000 + i for i in range(9)]) for n in ("pipe-thread", "futex-thread")]
    equal = [save(folder, f"w{k}.json", document("bench-switch", rows)) for k in (1, 2)]
    status, text = in_terminal(80, "report", *equal)
    assert status == 0 and text.count(" no difference seen\n") == 2 and all(len(line) <= 80 for line in text.splitlines()), text


def test_headings_are_words(_):
    """The headings of the tables of bench are words; only the columns of R's summary() have the abbreviations of R"""
    runs = Path(__file__).resolve().parents[1] / "data" / "runs"
    for name, words in (("latency", ("mean", "max", "min", "std dev")), ("switch", ("voluntary", "involuntary")), ("sched", ("processes", "process")),
                        ("load", ("mean", "std dev"))):
        heads = [line for line in report(runs / f"bench-{name}.json").splitlines() if re.match(r"(load|kind|processes) ", line)]
        assert any(all(re.search(rf"(^| ){word}( |$)", head) for word in words) for head in heads), heads
        assert not any(re.search(r"Aver|StdDev|no\.|invol\.", head) for head in heads), heads


def test_columns_of_files(folder):
    """COLUMNS sets the width of a table in a file as it does in a pipe"""
    run_file = save(folder, "run.json", document("bench-syscall", [timed(n, [k * 100 + i for i in range(9)]) for k, n in ((1, "getpid"), (3, "stat"))]))
    wide, narrow = report(run_file), {**os.environ, "COLUMNS": "60"}
    piped = run("report", run_file, env=narrow).stdout
    done = run("report", run_file, "-o", folder / "shown", env=narrow)
    assert done.returncode == 0, done.stderr
    assert piped != wide and all(len(line) <= 60 for line in piped.splitlines()), piped
    assert (folder / "shown").read_text() == piped, (folder / "shown").read_text()


def test_kernels_side_by_side(folder):
    """Kernels under loads are shown in the published layout, with percent over the first"""
    paths = []
    for kernel, means in KERNELS.items():
        rows = [timed(l, [m - 1, m, m + 1], "s", mean_s=m) for l, m in zip(LOADS, means)]
        paths.append(save(folder, kernel + ".json", document("bench-load", rows)))
    text = report(*paths)
    rt = next(line for line in text.splitlines() if line.startswith("rt "))
    for percent in ("+4.0 %", "+4.5 %", "+8.6 %", "+8.0 %", "+13.0 %"):
        assert f"({percent})" in rt, rt
    status, narrow = in_terminal(80, "report", *paths)
    assert status == 0 and all(len(line) <= 80 for line in narrow.splitlines()), narrow
    assert all(narrow.count(cell) == 1 for cell in re.findall(r"\([+-][\d.]+ %\)", rt)), narrow
    # The two ends of an interval are not observations, even if there are two observations.
    pair = timed("net", [1.0, 2.0], "s", over_none_interval_percent=[3.0, 4.0])
    rows = list(csv.DictReader(io.StringIO(report("--format=samples", save(folder, "pair.json", document("bench-load", [pair]))))))
    assert [list(r) for r in rows] == [["run", "name", "sample", "value_s"]] * 2, rows


def test_latencies(folder):
    """Histograms of latencies become grids, pictures and rows of bins"""
    def latency(name, most):
        return {"name": name, "unit": "ns", "wakeups": 5, "mean_ns": 14000.0, "min_ns": 13400, "max_ns": most,
                "stddev_ns": 400.0, "median_ns": 13900.0, "histogram_ns": [[13312, 4], [most, 1]]}
    a = save(folder, "a.json", document("bench-latency", [latency("none", 55300), latency("disk", 191700)]))
    b = save(folder, "b.json", document("bench-latency", [latency("none", 53100), latency("disk", 56900)]))
    text = report(a, b, "--svg", folder / "x.svg")
    assert re.search(r"^b +53\.1 us \(-4\.0 %\) +56\.9 us \(-70\.3 %\)$", text, re.M), text
    assert "Delay of timer wake-ups" in (folder / "x.svg").read_text()
    rows = list(csv.DictReader(io.StringIO(report("--format=samples", a))))
    assert [r["count"] for r in rows] == ["4", "1", "4", "1"]


def test_a_group_has_one_colour(folder):
    """The legend names each group of operations once, even if its operations are not beside each other"""
    rows = [timed(n, [k * 100 + i for i in range(9)], group=g) for k, (n, g) in enumerate(
        (("getpid", "id"), ("stat", "file"), ("time", "clock"), ("fgets", "file")), 1)]
    report(save(folder, "groups.json", document("bench-syscall", rows)), "--svg", folder / "groups.svg")
    picture = (folder / "groups.svg").read_text()
    assert all(picture.count(f">{group}<") == 1 for group in ("id", "file", "clock")), picture


def counted(folder, name, *command):
    path = folder / name
    done = run("-c", "-o", "/dev/null", "--save", path, "--", *command)
    if done.returncode == 125:
        raise Skip(f"no engine may trace here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return path


def peak_is_unknown(path):
    """The bpf engine knows the peak only on Linux 6.2 and later."""
    release = tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2])
    return json.loads(path.read_text())["engine"] == "bpf" and release < (6, 2)


def test_calls_added_and_dropped(folder):
    """Two -c summaries: the calls that were added and removed"""
    quiet = counted(folder, "quiet.json", "/bin/true")
    loud = counted(folder, "loud.json", "/bin/echo", "x")
    def change(*paths):
        rows = json.loads(report("--format=json", *paths))["calls"]
        return {r["name"]: r["change " + paths[1].stem] for r in rows}
    assert change(quiet, loud)["write"] == "added"
    assert change(loud, quiet)["write"] == "dropped"
    programs = json.loads(report("--format=json", quiet, loud))["programs"]
    assert [p["run"] for p in programs] == ["quiet", "loud"], programs
    assert all(p["peak_rss_bytes"] or peak_is_unknown(quiet) for p in programs), programs
    calls = json.loads(report("--format=json", loud))["calls"]
    assert next(c for c in calls if c["name"] == "write")["calls"] == 1
    assert re.search(r"^write +\d+\.\d{9} +1 +0 ", report(loud), re.M)
    rows = list(csv.DictReader(io.StringIO(report("--format=csv", quiet, loud))))
    assert {r["run"] for r in rows} == {"quiet", "loud"}
    few, many = (counted(folder, f"{n}.json", "dd", "if=/dev/zero", "of=/dev/null", "bs=1", f"count={n}") for n in (1, 2000))
    assert re.search(r"^read +\d +2,00\d .*\+1,999 calls", report(few, many), re.M), report(few, many)
    found, lost = counted(folder, "found.json", "test", "-e", "/"), counted(folder, "lost.json", "test", "!", "-e", "/no/such")
    assert re.search(r"\+1 error\b", report(found, lost)), report(found, lost)
    doc = json.loads(loud.read_text())
    doc["results"][0]["returned"] += 1
    assert "is inconsistent" in refused(save(folder, "changed.json", doc))


def compared(folder, name, *args):
    path = folder / name
    done = run("compare", "--strategy=read/write", "--buffers=4K,16K,64K", "--runs=3", "--no-count", "--dir", folder,
               "--save", path, *args)
    assert done.returncode == 0, done.stderr
    return path


def with_waits(path, judged):
    """Changes a saved run: of the calls of execve(2), one is known to have waited (or it is unknown), and no other is known."""
    doc = json.loads(path.read_text())
    for call in doc["results"]:
        one = judged and call["name"] == "execve"
        call.update(judged=int(one), waits=int(one), waited_ns=call["total_ns"] if one else 0)
    path.write_text(json.dumps(doc))
    return path


def test_calls_that_waited(folder):
    """Two -c summaries: which calls waited, and for how long, in the table, JSON and CSV, if a run has such calls"""
    runs = {name: with_waits(counted(folder, f"{name}.json", "/bin/true"), name == "known") for name in ("known", "unknown", "none")}
    title = next(line for line in report(runs["known"], runs["unknown"]).splitlines() if line.startswith("syscall"))
    assert "waits known  waited known  change" in title and "waits unknown" not in title, title
    assert "waits" not in report(runs["none"], runs["unknown"])
    rows = {r["name"]: r for r in json.loads(report("--format=json", runs["unknown"], runs["known"]))["calls"]}
    assert rows["execve"]["waits known"] == 1 and rows["execve"]["waited_s known"] > 0, rows["execve"]
    assert rows["execve"].get("waits unknown") is None and rows["exit_group"].get("waits known") is None, rows
    table = list(csv.DictReader(io.StringIO(report("--format=csv", runs["known"], runs["unknown"]))))
    calls = {(r["run"], r["name"]): r for r in table}
    assert calls["known", "execve"]["waits"] == "1" and calls["known", "execve"]["waited_ns"] == calls["known", "execve"]["total_ns"]
    assert calls["unknown", "execve"]["judged"] == "0" and calls["unknown", "execve"]["waits"] == ""


def test_comparisons(folder):
    """Runs of compare: every sample in CSV, pictures in valid XML, refusals"""
    a = compared(folder, "a.json", "--size=64K")
    b = compared(folder, "b.json", "--size=64K")
    rows = list(csv.DictReader(io.StringIO(report("--format=csv", a, b))))
    assert len(rows) == 2 * 3 * 3
    assert all(float(r["wall_s"]) > 0 and int(r["buffer_bytes"]) for r in rows)
    for form in ("text", "markdown", "json", "html", "csv"):
        assert report(f"--format={form}", a, b)
    told = json.loads(a.read_text())["lessons"]
    shown = report(a)
    assert told and "\\n" not in shown, shown
    assert all(sentence in " ".join(shown.split()) for sentence in told), (told, shown)
    report(a, b, "--svg", folder / "p.svg", "-o", folder / "text")
    pictures = sorted(p.name for p in folder.glob("p*.svg"))
    assert pictures == ["p-bars.svg", "p-boxes.svg", "p.svg"], pictures
    for p in pictures:
        assert xml.parse(folder / p).getroot().tag.endswith("svg")
    assert "different size" in refused(a, compared(folder, "c.json", "--size=128K"))
    assert "--fsync" in refused(a, compared(folder, "d.json", "--size=64K", "--fsync"))
    warm = json.loads(a.read_text())
    warm["settings"]["cold"] = True
    assert "cold cache" in refused(a, save(folder, "e.json", warm))


FORMATS = ("text", "csv", "markdown", "html")
BENCHES = (("syscall", "-r", "4", "--no-count", "getpid", "stat"), ("switch", "-r", "4", "-t", "30ms", "pipe", "bare"),
           ("sched", "-r", "2", "-t", "5ms", "-n", "1,2"), ("latency", "-t", "30ms", "--loads", "none,cpu+net"),
           ("load", "-r", "2", "--loads", "none,cpu", "--", "true"))


def shown_again(folder, form, words, *operands):
    """Runs a command that saves, prints and draws. report of the saved run must do the same, byte for byte."""
    done = run(*words, f"--format={form}", "--save", folder / "run.json", "-o", folder / "a", "--svg", folder / "a.svg", *operands)
    assert done.returncode == 0, (words, form, done.stderr)
    again = run("report", f"--format={form}", folder / "run.json", "-o", folder / "b", "--svg", folder / "b.svg")
    assert again.returncode == 0, (words, form, again.stderr)
    first, second = ((folder / name).read_bytes() for name in "ab")
    assert first and first == second, (words, form, first.decode(), second.decode())
    pictures = sorted(p.name for p in folder.glob("a*.svg"))
    assert pictures, words
    for name in pictures:
        assert (folder / name).read_bytes() == (folder / ("b" + name[1:])).read_bytes(), (words, form, name)
    warned = [[line for line in p.stderr.splitlines() if "warning" in line] for p in (done, again)]
    assert warned[0] == warned[1], warned


def test_a_comparison_is_shown_again(folder):
    """report prints and draws exactly what compare printed, in every format"""
    for form in FORMATS:
        shown_again(folder, form, ["compare", "--dir", folder, "--size=8K", "--runs=3", "--explain", "--usage", "--columns=all", "-s",
                                   "read/write,one-shot,fgetc/fputc", "-b", "1K,4K,8K"])
    shown_again(folder, "text", ["compare", "--dir", folder, "--runs=2", "--reference=true", "--ignore-failure"], "true", "false",
                "echo a  b")


def test_a_bench_is_shown_again(folder):
    """report prints and draws exactly what each test of bench printed, in every format"""
    for test, *words in BENCHES:
        for form in FORMATS:
            shown_again(folder, form, ["bench", test, "--dir", folder], *words)


def test_a_terminal_shows_it_again(folder):
    """report prints on a terminal what the command printed on a terminal of equal width"""
    for columns in (60, 120):
        for words in (["bench", "switch", "-q", "-r", "3", "-t", "30ms", "--save", folder / "run.json", "pipe"],
                      ["-c", "--errors", "--hist=read", "-S", "calls", "-o", "/dev/stdout", "--save", folder / "run.json", "--", "true"]):
            first = in_terminal(columns, *words)
            if first[0] == 125:
                raise Skip(f"no engine may trace here: {first[1]}")
            assert first[0] == 0 and first == in_terminal(columns, "report", folder / "run.json"), (columns, words, first)


def test_a_count_is_shown_again(folder):
    """report prints exactly what -c printed: its columns, order, groups, errors and histogram"""
    saved, shown = folder / "run.json", folder / "shown"
    for form in FORMATS:
        for words in ((), ("-S", "calls", "-U", "name,calls,+p90"), ("--by=process", "-S", "name"), ("--errors", "--hist=openat"),
                      ("-O", "1us", "-e", "%file")):
            if form == "html" and "--errors" in words:
                continue  # refused
            done = run("-c", f"--format={form}", *words, "-o", shown, "--save", saved, "--", "sh", "-c", "cat /no/such/file; true")
            if done.returncode == 125:
                raise Skip(f"no engine may trace here: {done.stderr.strip()}")
            assert report(f"--format={form}", saved) == shown.read_text(), (form, words)


def test_the_last_of_several_tables_is_shown_again(folder):
    """With --interval and -C, report prints the last table, of all calls, and the lines below it"""
    for words in (["-c", "--interval=50ms"], ["-c", "--interval=50ms", "--by=process", "--errors"], ["-C"]):
        done = run(*words, "-o", folder / "shown", "--save", folder / "run.json", "sh", "-c", "sleep 0.3; true")
        if done.returncode == 125:
            raise Skip(f"no engine may trace here: {done.stderr.strip()}")
        before, last = re.split(r"(?m)^\d+\.\d{3} s, in total:\n", (folder / "shown").read_text())
        assert before and last == report(folder / "run.json"), (words, last)


def test_nothing_is_overwritten(folder):
    """An output cannot be an input, or another output of the same command; what is not a regular file can be both"""
    runs = [save(folder, f"{name}.json", document("bench-syscall", [timed("getpid", list(range(1, 10)))])) for name in "ab"]
    text, new = runs[0].read_bytes(), folder / "new"
    link = folder / "link"
    link.symlink_to("b.json")
    picture = folder / "x-boxes.svg"
    shutil.copy(runs[1], picture)
    both, into = "name the same file; write to different files", "would overwrite the input"
    compare = ["compare", "-r1", "-w0", "-b4", "-s", "read/write", "-n8"]
    for words, says in ((["report", *runs, "-o", runs[0]], into), (["report", *runs, "-o", link], into),
                        (["report", *runs, "--svg", runs[1]], into), (["report", runs[0], "-o", new, "--svg", new], both),
                        (["bench", "syscall", "-r1", "-o", new, "--save", new, "loop"], both), ([*compare, "--save", new, "--svg", new], both),
                        ([*compare, "-o", new, "--save", new], both), ([*compare, "-i", runs[0], "-o", runs[0]], into),
                        ([*compare, "-o", new, "--save", f"{folder}/./new"], both),
                        ([*compare, "--svg", folder / "x.svg", "--save", f"{folder}/./x-bars.svg"], "can also draw the picture"),
                        (["report", *runs, picture, "--svg", folder / "x.svg"], "can also draw the picture")):
        done = run(*words)
        assert done.returncode == 2 and says in done.stderr and not done.stdout, (words, done)
        assert all(r.read_bytes() == text for r in runs) and not new.exists(), words
    done = run(*compare, "-i", "random", "-o", "/dev/null", "--save", "/dev/null")
    assert done.returncode == 0, done.stderr


def test_a_page_of_a_count(folder):
    """The HTML page of -c has a picture, and the columns, the order and the groups that were chosen"""
    done = run("-c", "--format=html", "--by=process", "-S", "name", "-U", "name,calls,bytes", "sh", "-c", "cat /dev/null; true")
    if done.returncode == 125:
        raise Skip(f"no engine may trace here: {done.stderr.strip()}")
    page = done.stderr
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>") and page.count("<svg") == 2, page
    titles = re.findall(r"<th\b[^>]*>([^<]*)", page)
    assert titles[:4] == ["process", "syscall", "calls", "bytes"], titles
    names = re.findall(r"<tr>\s*<td[^>]*>[^<]*</td>\s*<td[^>]*>(\w+)", page.split("</table>")[0])
    assert "execve" in names and names == sorted(names), names
    for words in (["-C"], ["-c", "--errors"], ["-c", "--hist=read"], ["-c", "--interval=1s"]):
        done = run(*words, "--format=html", "true")
        assert done.returncode == 2 and ("html" in done.stderr or "--format=text" in done.stderr), (words, done.stderr)


def members(value, free):
    """The names of all members in a JSON value, except those below the members in `free`, whose names are data."""
    if isinstance(value, list):
        return set().union(*(members(v, free) for v in value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(members(v, free) for k, v in value.items() if k not in free))


def test_members_are_documented(folder):
    """sctrace-run(5) names every member of a saved run"""
    root = Path(__file__).resolve().parents[2]
    page = set(re.findall(r"\w+", (root / "man" / "sctrace-run.5").read_text()))
    known = page | {f"{figure}_{of}_s" for figure in ("wall", "user", "system") for of in page}
    known |= {f"{of}_{unit}" for of in ("min", "q1", "median", "mean", "q3", "max", "stddev") for unit in ("s", "ns")}
    texts = [p.read_text() for p in (root / "tests" / "data" / "runs").glob("*.json")]
    for words in (["compare", "-r1", "-w0", "-n4K", "--columns=all", "-L", "n=1", "cp {in} {out}; : {n}"], ["bench", "syscall", "-r1", "page-fault"],
                  ["bench", "sched", "-r1", "-t5ms"], ["bench", "latency", "-t20ms"], ["bench", "load", "-r1", "--loads=none", "true"],
                  ["bench", "switch", "-r1", "-t10ms", "pipe"], ["-c", "--io", "cat", __file__]):
        done = run(*words, "--save", folder / "run.json") if words[0] != "-c" else run("--save", folder / "run.json", *words)
        assert done.returncode in (0, 125), (words, done)
        if done.returncode == 0:
            texts.append((folder / "run.json").read_text())
    for text in texts:
        doc = json.loads(text)
        unknown = members(doc, ("mitigations", "errnos", "parameters", "load_work")) - known
        assert not unknown, (doc["kind"], unknown)


def test_old_files_stay_readable(folder):
    """Runs saved by sctrace 0.1.0 are shown in every format, alone and compared with themselves"""
    told = {"compare": r"^read/write +2K ", "bench-syscall": r"^getpid-raw +109 ns", "bench-switch": r"^bare +user-level",
            "bench-sched": r"^ +2 +2 +0 +37\.1 ms", "bench-latency": r"^cpu\+net +30\.5 us", "bench-load": r"^cpu .*\+561\.5 %",
            "count": r"^execve +0\.004400367 +1 +0"}
    runs = Path(__file__).resolve().parents[1] / "data" / "runs"
    assert sorted(p.stem for p in runs.glob("*.json")) == sorted(told)
    for kind, line in told.items():
        path = runs / f"{kind}.json"
        assert re.search(line, report(path), re.M), (kind, report(path))
        for form in (*FORMATS, "json", "samples"):
            assert report(f"--format={form}", path, "--svg", folder / "x.svg") and report(f"--format={form}", path, path)
        xml.parse(folder / "x.svg")
        if path.stem.startswith("bench-"):
            machine = run("report", path).stdout.splitlines()[0]
            assert machine.startswith("Linux ") and f">{machine}<" in (folder / "x.svg").read_text(), (path, machine)


def test_parameters_are_columns(folder):
    """The value of {NAME} is a column of the CSV"""
    path = folder / "p.json"
    done = run("compare", "--runs=2", "--no-count", "--dir", folder, "--save", path, "-L", "w=a,b", "true {w}", "true")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(report("--format=samples", path))))
    assert [r["parameter_w"] for r in rows] == ["a", "a", "b", "b"] * 2, rows


def test_the_same_twice(folder):
    """A command that is given twice gets two names, and the run can be read"""
    path = folder / "p.json"
    done = run("compare", "--runs=2", "--no-count", "--dir", folder, "--save", path, "true", "true")
    assert done.returncode == 0, done.stderr
    assert [r["name"] for r in json.loads(report("--format=json", path))["summary"]] == ["true", "true (2)"]


def test_what_cannot_be_compared(folder):
    """Runs of different kinds or with different subjects are refused with the reason"""
    host = published(folder)[2]
    other = save(folder, "o.json", document("bench-switch", [timed("pipe", [1, 2, 3])]))
    assert "'bench-syscall'" in refused(host, other) and "cannot be compared or merged" in refused("--merge", host, other)
    foreign = save(folder, "f.json", document("bench-syscall", [timed("getpid", [1, 2, 3])]))
    said = refused(host, foreign)
    assert "no subject in common" in said and "clock, clockSH" in said and "getpid" in said
    doc = json.loads(host.read_text())
    doc["method"]["mode"] = "in-process"
    assert "different ways" in refused(host, save(folder, "m.json", doc))
    # Single calls are comparable whether each has a process of its own or not; a note says which.
    doc["method"]["mode"] = "per-process"
    assert 'mode is "single"' in report(host, save(folder, "m.json", doc))


def test_selections(folder):
    """A saved run says which options selected calls; runs that counted different calls are not compared, and a gate needs its calls"""
    def count(name, *options, recording=None):
        how = ["show", "-c", "--save", name, *options, recording] if recording else ["-c", "--save", name, *options, "cat", "/dev/null"]
        r = run(*how, cwd=folder)
        if "unavailable" in r.stderr:
            raise Skip(r.stderr)
        assert r.returncode == 0, r
        return folder / name, r.stdout + r.stderr

    (every, _), (opens, table), (paths, _) = count("every"), count("opens", "-e", "openat"), count("paths", "-z", "-P", "/dev/null")
    assert json.loads(every.read_text())["selection"] == []
    assert json.loads(opens.read_text())["selection"] == ["-e trace=openat"]
    assert json.loads(paths.read_text())["selection"] == ["-e status=successful", "-P /dev/null"]
    line = "selection: -e trace=openat; other calls were not counted\n"
    assert line in table and line in report(opens) and "selection" not in report(every)
    assert refused(every, opens).endswith(": they counted different calls (selection: all and -e trace=openat)\n")
    assert "Only these calls were counted: -e trace=openat." in report(opens, count("again", "-e", "openat")[0])
    assert "different calls" in refused("--merge", opens, paths)
    # A run of an older version does not say what it counted.
    old = json.loads(every.read_text())
    del old["selection"]
    assert "System calls" in report(opens, save(folder, "old.json", old))
    for condition, files, status in (("read>0", opens, 4), ("bytes>0", opens, 4), ("errors>0", opens, 0), ("%file>0", opens, 0),
                                     ("errors>0", paths, 4), ("read>0", every, 0)):
        r = run("report", "--fail-if", condition, files, shutil.copy(files, folder / "copy"))
        assert r.returncode == status, (condition, r)
        assert status == 0 or f"cannot be decided: {condition}: the program was counted without these calls (-e " in r.stderr, r
    # What a recording left out is missing from its counts, too.
    assert run("--record", "calls", "-e", "openat,read", "cat", "/dev/null", cwd=folder).returncode == 0
    r = run("show", "-c", "--expect", "close=0,read>0", "calls", cwd=folder)
    assert r.returncode == 125 and r.stderr.endswith("--expect cannot judge close=0: -e trace=openat,read leaves these calls out\n"), r
    (shown, _) = count("shown", "-P", "/dev/null", recording="calls")
    assert json.loads(shown.read_text())["selection"] == ["-e trace=openat,read", "-P /dev/null"]


def test_what_is_too_short_has_no_ratio(folder):
    """A time that the method cannot distinguish from nothing has no ratio"""
    short = dict(timed("time", [0, 1, 0, 0, 1]), resolved=False, resolution_ns=30.0)
    rows = [short], [dict(timed("time", [40, 50, 60, 41, 43]), resolved=True)]
    a, b = (save(folder, f"{i}.json", document("bench-syscall", r, method={"mode": "single"})) for i, r in enumerate(rows))
    text = report(a, b)
    assert "<30.0 ns" in text and "too short to be measured" in text, text
    assert "times" not in text.split("Summary")[0] and "nan" not in text, text


def test_machines_that_differ(folder):
    """Differences between machines are described in words"""
    host = published(folder)[2]
    doc = json.loads(host.read_text())
    assert "machines differ" not in report(host, save(folder, "same.json", doc))
    doc["environment"]["kernel"]["release"] = "6.12.1-rt"
    text = report(host, save(folder, "rt.json", doc))
    assert re.search(r"kernel.*6\.1\.0.*6\.12\.1-rt", text), text
    out = json.loads(report("--format=json", host, folder / "rt.json"))
    assert len(out["differences"]) == 1, out["differences"]


def test_broken_files(folder):
    """Truncated, foreign, newer and missing files are refused with one sentence and status 1"""
    good = published(folder)[0].read_text()
    for length in list(range(0, 400, 23)) + [len(good) // 2, len(good) - 2]:
        said = refused(save(folder, "cut.json", good[:length]))
        assert "cut.json" in said and "is incomplete" in said, said
    for text in ("GIF89a", "\0", "(null)"):
        assert "not valid JSON" in refused(save(folder, "x.json", text)), text
    assert "x.json' is incomplete: the file is empty" in refused(save(folder, "x.json", ""))
    assert "was not written by sctrace with --save" in refused(save(folder, "x.json", '{"results": []}'))
    newer = json.loads(good)
    newer["schema_version"] = 99
    assert "newer sctrace" in refused(save(folder, "x.json", newer))
    assert "No such file" in refused(folder / "missing.json")
    assert "directory" in refused(folder)
    for damage in ({"name": 7}, {"samples_ns": "x"}, {"samples_ns": [1, "x"]}):
        doc = json.loads(good)
        doc["results"][0].update(damage)
        assert "damaged" in refused(save(folder, "x.json", doc))
    twice = json.loads(good)
    twice["results"].append(copy.deepcopy(twice["results"][0]))
    assert "damaged" in refused(save(folder, "x.json", twice))


def test_merging(folder):
    """--merge pools runs of one machine, and only those"""
    a = save(folder, "a.json", document("bench-syscall", [timed("x", [1, 2, 3])]))
    b = save(folder, "b.json", document("bench-syscall", [timed("x", [4, 5]), timed("y", [9])]))
    rows = {r["name"]: r for r in json.loads(report("--merge", "--format=json", a, b))["summary"]}
    assert rows["x"]["samples"] == 5 and abs(rows["x"]["median_s"] - 3e-9) < 1e-15
    assert rows["y"]["samples"] == 1
    for form in ("text", "markdown", "html", "csv"):
        assert report("--merge", f"--format={form}", a, b)
    assert "the same run" in refused("--merge", a, b, a)
    assert "Only b has results for: y." in report(a, b)
    doc = json.loads(b.read_text())
    doc["environment"]["cpu"]["online"] = 64
    assert "machines differ in" in refused("--merge", a, save(folder, "c.json", doc))
    one = counted(folder, "one.json", "/bin/echo", "x")
    two = counted(folder, "two.json", "/bin/echo", "x")
    calls = {r["name"]: r["calls"] for r in json.loads(report("--merge", "--format=json", one, two))["calls"]}
    assert calls["write"] == 2, calls
    shown = report("--merge", one, two)
    assert "Merged from" in shown and "the numbers of calls and the times are sums." in shown and shown.count(": engine: ") == 2, shown
    # Runs of different programs have the same kind, or rows with the same name, but no common sum.
    other = counted(folder, "other.json", "/bin/echo", "y")
    assert "different commands, '/bin/echo x' and '/bin/echo y'" in refused("--merge", one, other)
    for i, words in enumerate(("true x", "true x", "true y")):
        subprocess.run([SCTRACE, "compare", "-r", "2", "--save", f"c{i}.json", "--command-name", "prog", words], cwd=folder,
                       check=True, capture_output=True, timeout=TIMEOUT)
    assert report("--merge", folder / "c0.json", folder / "c1.json")
    assert "the command of the row 'prog' is 'true x' in one and 'true y' in the other" in refused("--merge", folder / "c0.json",
                                                                                                  folder / "c2.json")


def test_several_exports(folder):
    """One call can write all formats; CSV of several runs has their samples, also if the other formats merge them"""
    runs = [save(folder, f"{name}.json", document("bench-syscall", [timed("getpid", list(range(1, 10)))])) for name in "ab"]
    names = ("csv", "markdown", "html", "json")
    for some in ([runs[0]], runs):
        exports = [f"--export-{n}={folder / n}" for n in names]
        assert report(*some, *exports) == report(*some)
        for n in names:
            text = (folder / n).read_text()
            assert n == "html" and "<table" in text or text == report(*some, f"--format={n}"), n
    counted = run("-c", "--save", folder / "count.json", "true")
    if counted.returncode == 0:
        done = run("report", "-u", "ms", folder / "count.json")
        assert done.returncode == 2 and "is for runs of compare and bench" in done.stderr, done
    for words in (["--export-csv", folder / "x"], ["--format=csv", "--export-html", folder / "x"]):
        done = run("report", "--merge", *words, *runs)
        assert done.returncode == 2 and "in two calls" in done.stderr and not (folder / "x").exists(), done


def test_odd_runs(folder):
    """Empty results, single samples and subjects without samples are shown without a crash"""
    rows = ([], [timed("a", [1])], [timed("a", [])], [{"name": "a", "unit": "s"}], [{"name": "a", "unable": "no such call"}],
            [timed("a", [0, 0, 0])], [timed("a", [-5, 1e300, 2])])
    for results in rows:
        path = save(folder, "odd.json", document("bench-syscall", results))
        for form in ("text", "markdown", "json", "html", "csv"):
            report(f"--format={form}", path)
            report(f"--format={form}", path, path) if results else None
    assert "no such call" in report(save(folder, "odd.json", document("bench-syscall", rows[4])))


def test_wrong_usage(_):
    """Wrong usage is status 2"""
    for args in ((), ("--format=xml", "x.json"), ("--nonsense", "x.json")):
        assert run("report", *args).returncode == 2, args


def test_names(folder):
    """--names names each run, and equal file names are distinguished"""
    a, b, _ = published(folder)
    assert re.search(r"^clock +old ", report("--names=old,new", a, b), re.M)
    for names in ("old", "old,new,newer", "", "old,old"):
        assert run("report", f"--names={names}", a, b).returncode == 2, names
    said = run("report", "--names=a,b", a).stderr
    assert "--names must give one name for each run, separated by commas; 1 run is given" in said, said
    other = folder / "other"
    other.mkdir()
    shutil.copy(a, other / a.name)
    assert str(other / a.name) in report(a, other / a.name)


def test_hostile_names(folder):
    """Names cannot send control characters to a terminal or markup to a page"""
    evil = "x\033[2J</td><script>alert(1)</script>"
    path = save(folder, "evil.json", document("bench-syscall", [timed(evil, [1, 2, 3], about=evil)]))
    for form in ("text", "markdown", "json", "html", "csv"):
        text = report(f"--format={form}", path, "--svg", folder / "evil.svg")
        assert "\033" not in text, form
        assert form != "html" or "<script>alert" not in text
    assert "<script>" not in (folder / "evil.svg").read_text()
    xml.parse(folder / "evil.svg")


def test_names_with_zero_bytes(folder):
    """A zero byte in a name, which JSON allows as an escape, is shown as an escape"""
    path = save(folder, "zero.json", document("bench-syscall", [timed("a\0b", [1, 2, 3])]))
    assert "\\u0000" in path.read_text()
    for form in ("text", "json"):
        assert r"a\x00b" in report(f"--format={form}", path).replace("\\\\", "\\"), form


def test_endless_name(folder):
    """A name of three million characters gives an ordinary report"""
    path = save(folder, "long.json", document("bench-syscall", [timed("x" * 3000000, [1, 2, 3])]))
    for form in ("text", "html"):
        assert "xxx" in report(f"--format={form}", path)


def test_output_that_fails(folder):
    """A report that cannot be written ends with status 125"""
    a = published(folder)[0]
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([SCTRACE, "report", a], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 125 and b"No space left" in done.stderr
    assert run("report", a, "-o", folder / "no" / "such").returncode == 125
    assert run("report", a, "--svg", folder / "no" / "such.svg").returncode == 125


def one_program(folder, name, factor, n=30, calls=10, settings=None, **more):
    """A comparison of one program whose runs take `factor` times 50 ms, with noise and outliers."""
    spread = [(k * 7919 % 101) / 101 - 0.5 for k in range(n)]
    values = [0.05 * factor * (1 + 0.02 * x + (0.3 if k % 11 == 3 else 0)) for k, x in enumerate(spread)]
    calls = {"engine": "patch", "counted_bytes": 1, "calls": calls, "reads": 0, "writes": 0, "errors": 0, "moved_bytes": 0,
             "in_calls_s": 0, "in_calls_resolution_s": 0, "calls_before_main": 4,
             "by_call": [{"group": None, "group_id": -1, "arch": 0xc000003e, "nr": 0, "entered": calls, "returned": calls,
                          "restarted": 0, "errors": 0, "bytes": 0, "total_ns": 0, "total_squared_ns2": 0, "cost_ns": 0, "spread_ns": 0,
                          "min_ns": 0, "max_ns": 0, "histogram_ns": [[0, calls]], "errnos": {}}]}
    row = {"name": "prog", "samples_s": values, "unit": "s", "command": "prog", "counts": calls,
           "peak_rss_samples_bytes": [1 << 20] * n, **more}
    return save(folder, name + ".json", document("compare", [row], settings={"input_bytes": 1, "other_cpu_share": 0.02, **(settings or {})}))


def test_gate(folder):
    """--fail-if: status 3 if the whole interval is beyond the limit, 4 or 0 if that is not known; a message marks wrong words"""
    base, slow = one_program(folder, "base", 1), one_program(folder, "slow", 1.05)
    few = one_program(folder, "few", 1.3, n=4)

    def gate(conditions, *files, status=0):
        r = run("report", "--fail-if", conditions, *files)
        assert r.returncode == status, (conditions, r.returncode, r.stderr)
        return r.stderr

    assert gate("wall>5%,wall>2ms,calls>0,peak_rss>10%", base, base) == ""
    said = gate("wall>2%", base, slow, status=3)
    assert re.search(r"failed: wall>2%: 'prog' changed by \+5\.\d % \(95 % interval: \+\d\.\d % to \+\d\.\d %\) from base to slow$",
                     said), said
    assert gate("wall<-2%", slow, base, status=3) and gate("wall>1ms", base, slow, status=3)
    said = gate("wall>5%", base, slow)
    assert "cannot be decided: wall>5%: 'prog' changed by" in said and "more samples of both runs are needed" in said, said
    gate("wall>5%", "--undecided", base, slow, status=4)
    gate("wall>5%,wall>2%", "--undecided", base, slow, status=3)
    gate("wall>10%", "--undecided", base, slow)
    assert "wall>1%: 'prog' has too few samples, 30 in base and 4 in few" in gate("wall>1%", "--undecided", base, few, status=4)
    # A condition that is not tested for any row does not pass, and neither does one that is tested for another file only.
    for untested in (("wall>1%", base, few), ("throughput<-5%", base, slow), ("wall>900%,minor_faults>1%", base, slow),
                     ("wall>900%", base, slow, few)):
        assert "cannot be decided" in gate(*untested, status=4)
    gate("wall>2%,throughput<-5%", base, slow, status=3)
    assert "has no such figure in base or slow" in gate("minor_faults>1%", "--undecided", base, slow, status=4)
    more = one_program(folder, "more", 1, calls=12)
    for condition in ("calls>0", "read>1", "read>=20%", "main:calls>1", "calls>19.9%"):
        assert "changed by +2" in gate(condition, base, more, status=3)
    gate("calls>2,read>20%,errors>0", "--undecided", base, more)
    none = one_program(folder, "none", 1, calls=0)
    assert gate("read>5%", none, base, status=3).endswith("failed: read>5%: 'prog' was 0 in none, but not in base\n")
    for wrong, told in (("wal>5%", "did you mean wall?"), ("wall=5%", "'=' cannot be used here"), ("wall>5x", "a percentage, for example 5%"),
                        ("seconds>5%", "neither a metric"), ("raed>0", "did you mean read?")):
        assert told in gate(wrong, base, slow, status=2)
    assert "name at least two files" in gate("wall>5%", base, status=2)
    assert "--merge cannot be used" in gate("wall>5%", "--merge", base, base, status=2)
    assert "can be used only with --fail-if" in run("report", "--undecided", base, slow).stderr


def test_gate_of_disturbed_runs(folder):
    """--fail-if: times of a run that other programs disturbed, or may have, decide nothing; counts and a single run do"""
    quiet = {"other_cpu_share": 0.02, "steal_share": 0}
    for settings, told in (({"other_cpu_share": 0.3}, "other programs used 30 % of the processor time"),
                           ({"steal_share": 0.05}, "other guests of the hypervisor used 5 % of the processor time"),
                           ({"throttled": 7}, "the control group limited the processor time"),
                           ({"other_cpu_share": None}, "it is not known how busy other programs were")):
        base = one_program(folder, "base", 1, settings=quiet)
        slow = one_program(folder, "slow", 1.05, calls=12, settings={**quiet, **settings})
        for pair in ((base, slow), (slow, one_program(folder, "slower", 1.2, settings=quiet))):
            r = run("report", "--fail-if", "wall>2%", *pair)
            assert r.returncode == 4 and f", but {told} during slow; measure both in one comparison" in r.stderr, (r.returncode, r.stderr)
            assert ("or again with 10 runs or more\n" if None in settings.values() else "or again at a quieter time\n") in r.stderr, r.stderr
        assert run("report", "--fail-if", "wall>2%,calls>0", base, slow).returncode == 3
        assert run("report", "--fail-if", "wall>10%", base, slow).returncode == 0
        assert run("report", "--fail-if", "wall>2%", base, one_program(folder, "slow", 1.05, settings=quiet)).returncode == 3


def test_gate_of_rows(folder):
    """--fail-if with one file compares its rows within their rounds, although the speed of the machine changes"""
    def row(name, factor):
        return {"name": name, "samples_s": [0.05 * factor * (1 + 0.001 * (k % 7)) * (1.5 if k > 12 else 1) for k in range(30)],
                "unit": "s", "command": name, "peak_rss_samples_bytes": [1 << 20] * 30}

    def gate(conditions, status, **settings):
        rows = [row("old", 1), row("new", 1.03), row("same", 1)]
        both = save(folder, "both.json", document("compare", rows, settings={"input_bytes": 1, "looks": 5, **settings}))
        r = run("report", "--fail-if", conditions, "--undecided", both)
        assert r.returncode == status, (conditions, r.returncode, r.stderr)
        return r.stderr

    said = gate("wall>2%,peak_rss>0%", 3)
    assert re.search(r"failed: wall>2%: changed by \+3\.\d %.* from old to new$", said) and len(said.splitlines()) == 1, said
    assert gate("wall>4%", 0) == "" and gate("wall>0%", 0, reference="new") == ""
    assert "was not counted in old or new" in gate("calls>0", 4)
    assert run("report", "--fail-if", "calls>0", folder / "both.json").returncode == 4
    assert "has no number of calls before main in old or new" in gate("main:calls>0", 4)


def test_standard_input(folder):
    """`report -` reads a run from a pipe or a file, also beside others; it does not overwrite that file"""
    one = save(folder, "one.json", document("bench-syscall", [timed("a", [1, 2, 3])]))
    text = one.read_text()
    assert run("report", "-", input=text).stdout == report(one)
    with open(one) as stdin:
        assert run("report", "-", stdin=stdin).stdout == report(one)
    both = run("report", one, "-", input=text)
    assert both.returncode == 0 and both.stdout == report("--names", "one,standard input", one, save(folder, "two.json", text)), both
    with open(one) as stdin:
        r = run("report", "-o", one, "-", stdin=stdin)
    assert r.returncode == 2 and one.read_text() == text, r
    r = run("report", "-", input=text[:-9])
    assert r.returncode == 1 and "'standard input' is incomplete" in r.stderr, r
    r = run("report", "-", "-", input=text)
    assert r.returncode == 2 and "standard input can be read only once" in r.stderr, r
    status, text = in_terminal(80, "report", "-")
    assert status == 2 and "standard input, which is a terminal" in text, text


def title_in_browser(folder, page, script):
    """Loads a page in a window of 1600 pixels, and returns the title that the script gives it."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        raise Skip("there is no chromium")
    html = save(folder, "page.html", page.replace("</body>", f"<script>{script}</script></body>"))
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1600,900",
                           "--disable-background-networking", f"--user-data-dir={folder / 'profile'}", "--dump-dom",
                           f"file://{html}"], capture_output=True, text=True, timeout=TIMEOUT, check=False)
    title = re.search(r"<title>([-0-9.e ]+)</title>", done.stdout)
    assert title, done.stderr
    return [float(x) for x in title.group(1).split()]


def test_a_page_in_a_browser(folder):
    """The page sorts by a click in a real browser and fetches nothing"""
    page = report("--format=html", *published(folder))
    assert not re.search(r"(src|href)=|url\(|@import", page)
    medians = title_in_browser(folder, page, """
    var heads = document.querySelectorAll('table.data th'), median = Array.from(heads).filter(
        function (h) { return h.textContent === 'Median' })[0];
    median.click();
    document.title = Array.from(median.closest('table').tBodies[0].rows).map(
        function (r) { return r.cells[median.cellIndex].dataset.v }).join(' ');""")
    assert len(medians) == 6 and medians == sorted(medians), medians


def test_a_wide_table_in_a_browser(folder):
    """A table that is wider than the text uses the width of the window, and the page has no horizontal scroll bar"""
    wide = save(folder, "wide.json", document("bench-syscall", [timed("operation-" * 8, [1, 2, 3])]))
    hidden, beside, width = title_in_browser(folder, report("--format=html", wide), """
    var table = document.querySelector('.scroll'), root = document.documentElement;
    document.title = [table.scrollWidth - table.clientWidth, root.scrollWidth - root.clientWidth, table.clientWidth].join(' ');""")
    assert hidden == 0 and beside == 0 and width > 1140, (hidden, beside, width)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
