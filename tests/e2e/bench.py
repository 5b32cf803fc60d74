#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`sctrace bench` from outside: results and their proofs, bad input, interruption, and cleaning up (script.py). No test asserts a
time.
"""
import csv
import io
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from script import SCTRACE, Skip, in_terminal, run_tests, seconds

TIMEOUT = seconds(240)


def run(*args, **more):
    """(status, stdout, stderr) of `sctrace bench ARGS`."""
    done = subprocess.run([SCTRACE, "bench", *args], capture_output=True, text=True, timeout=TIMEOUT, check=False, **more)
    return done.returncode, done.stdout, done.stderr


def document(*args):
    status, out, err = run(args[0], "--format=json", *args[1:])
    assert status == 0, (status, err)
    return json.loads(out)


def results(*args):
    return {r["name"]: r for r in document(*args)["results"]}


def cpus():
    return sorted(os.sched_getaffinity(0))


def test_bad_input_is_reported(_):
    nowhere = str(max(cpus()) + 1)
    for args, words in [
        (["nope"], "there is no test 'nope'"),
        (["syscall", "nope"], "there is no operation or group"),
        (["syscall", "getpidd"], "; did you mean getpid"),
        (["syscall", "-r", "0"], "out of range"),
        (["syscall", "-r", "-5"], "out of range"),
        (["syscall", "-t", "0"], "a time of 0"),
        (["syscall", "-t", "1us"], "too short"),
        (["syscall", "--single", "--per-process"], "only one of"),
        (["syscall", "-c", nowhere], f"CPU {nowhere} does not exist"),
        (["syscall", "--dir", "/nonexistent"], "/nonexistent"),
        (["sched", "--procs", "1,2", "--nice", "0,5,10"], "--nice has 3 values, but there are at most 2 processes"),
        (["sched", "--policy", "rr", "--nice", "5"], "no effect with the real-time policy 'rr'"),
        (["syscal"], "; did you mean sctrace bench syscall?"),
        (["load", "--loads", "cpu,dsk"], "; did you mean disk?"),
        (["load", "--loads", "none+cpu"], "'none' can only stand alone"),
        (["load", "--loads", "cpu+net+cpu"], "joins the load 'cpu' with itself"),
        (["load", "--show-output", "--format=csv", "true"], "write the report to a file with -o"),
        (["switch", "nope"], "there is no kind"),
        (["switch", "evenfd"], "; did you mean eventfd?"),
        (["switch", "-t", "1ms"], "too short"),
        (["switch", "-c", "x"], "not a list of CPUs"),
        (["switch", "-c", "0,0"], "CPU 0 is named twice"),
        (["switch", "--prio", "5"], "--prio needs"),
        (["switch", "--size", "-1"], "is not a size"),
        (["switch", "--size", "4K", "pipe", "bare"], "'bare', which is a switch at user level"),
        (["sched", "-n", "0"], "not a list of numbers"),
        (["sched", "-n", "1,-2"], "not a list of numbers"),
        (["sched", "--nice", "40"], "not a list of numbers"),
        (["sched", "-t", "1ms"], "too short"),
        (["sched", "-c", nowhere], "does not exist"),
        (["sched", "word"], "unexpected argument 'word'"),
        (["latency", "--loads", "nope"], "there is no load 'nope'"),
        (["latency", "--loads", "cpu,none,cpu"], "'cpu' is named twice"),
        (["latency", "-i", "0"], "too short"),
        (["latency", "-t", "2ms"], "too short"),
        (["latency", "--prio", "100"], "out of range"),
        (["load", "--loads", "cpu+"], "there is no load"),
        (["load", "-t", "1s", "true"], "--time cannot be used with a command"),
        (["load", "-t", "1us"], "too short for the suite"),
    ]:
        status, out, err = run(*args)
        assert status == 2, (args, status, err)
        assert err.startswith("sctrace: bench: ") and words in err, (args, err)
        assert err.count("\n") == 1 and out == "", (args, out, err)


def test_missing_samples_are_reported(_):
    status, out, err = run("syscall", "--per-process", "--no-count", "-r", "100000", "-t", "200ms", "getpid")
    assert status == 0 and re.search(r"no time for 100000 samples: only \d+ of getpid were taken", " ".join(out.split())), (out, err)


def test_which_calls_enter_the_kernel(_):
    got = results("syscall", "-r", "20", "id", "clock", "fgets-0", "fgets-1", "open-close", "pipe", "page-fault")
    if got["getpid"]["kernel_calls"] is None:
        raise Skip("no engine may trace here")
    for name, calls in [("getpid", 1), ("getpid-raw", 1), ("getuid", 1), ("monotonic-raw", 1), ("realtime-raw", 1),
                        ("cputime", 1), ("sysconf", 0), ("fgets-0", 0), ("open-close", 2), ("pipe", 2), ("page-fault", 0)]:
        assert got[name]["kernel_calls"] == calls, (name, got[name]["kernel_calls"])
    # One read(2) returns a whole block, so there is less than one read for 100 characters. The file system determines
    # the size of a block.
    assert 0 < got["fgets-1"]["kernel_calls"] < 0.01, got["fgets-1"]["kernel_calls"]
    # The vDSO answers these calls. If it cannot read the machine's clock, the kernel answers all of them.
    assert got["monotonic"]["kernel_calls"] in (0, 1)


def test_summaries_are_consistent(_):
    for mode in ("--in-process", "--single", "--per-process"):
        doc = document("syscall", mode, "-r", "30", "getpid-raw", "stat")
        assert doc["kind"] == "bench-syscall" and doc["method"]["samples"] == 30
        for r in doc["results"]:
            assert len(r["samples_ns"]) == r["samples"] <= 30
            order = [r[k] for k in ("min_ns", "q1_ns", "median_ns", "q3_ns", "max_ns")]
            assert order == sorted(order) and order[0] <= r["mean_ns"] <= order[-1], r
            assert r["failures"] == 0
            assert min(r["samples_ns"]) == r["min_ns"] and max(r["samples_ns"]) == r["max_ns"]


def test_the_subtracted_loop_is_shown(_):
    # The empty loop is the control: its samples include the clock's cost, which is subtracted from the others.
    for mode in ("--single", "--per-process"):
        doc = document("syscall", mode, "--no-count", "-r", "30", "loop", "stat")
        loop, stat = doc["results"]
        assert loop["median_ns"] > 0 and loop["resolved"] is True, (mode, loop["median_ns"])
        assert doc["method"]["single_ns"] > 0, doc["method"]
        assert stat["resolved"] is True, (mode, stat["median_ns"])


def test_narrow_terminals(_):
    for args in (["syscall", "-r", "20", "id", "fork"], ["switch", "-r", "5", "-t", "50ms", "pipe"],
                 ["sched", "-r", "1", "-t", "5ms"], ["latency", "-t", "50ms", "--loads", "none,cpu+net"],
                 ["load", "-r", "1", "--loads", "none", "--", "true"]):
        status, text = in_terminal(80, "bench", args[0], "-q", *args[1:])
        assert status == 0, (args, status, text)
        assert all(len(line) <= 80 for line in text.splitlines()), (args, text)
        assert "\033" not in text, text


def test_a_raw_call_costs_more_than_an_empty_loop(_):
    got = results("syscall", "-r", "100", "--no-count", "loop", "getpid-raw", "open-close")
    least = [got[n]["min_ns"] for n in ("loop", "getpid-raw", "open-close")]
    assert least == sorted(least) and least[0] > 0, least


def test_formats_and_files(_):
    with tempfile.TemporaryDirectory() as d:
        save, svg, out = (os.path.join(d, n) for n in ("run.json", "run.svg", "out.csv"))
        for test in (["syscall", "-r", "20", "id"], ["switch", "-r", "5", "-t", "50ms", "pipe"],
                     ["sched", "-r", "1", "-t", "5ms", "-n", "1,2"], ["latency", "-t", "50ms", "--loads", "none"],
                     ["load", "-r", "1", "--loads", "none", "--", "true"]):
            status, text, err = run(test[0], "--save", save, "--svg", svg, "--format", "csv", "-o", out, *test[1:])
            assert status == 0 and text == "", (test, err)
            rows = list(csv.DictReader(io.StringIO(Path(out).read_text())))
            doc = json.loads(Path(save).read_text())
            assert rows and len(rows) == len(doc["results"]), (test, rows)
            assert doc["command"][:3] == ["sctrace", "bench", test[0]] and doc["environment"]["kernel"]["release"]
            assert os.stat(save).st_mode & 0o777 == 0o600
            assert Path(svg).read_text().startswith("<svg ")
            status, text, err = run(test[0], "--export-json", save, "--export-csv", out, "-u", "us", "-q", *test[1:])
            assert status == 0 and json.loads(Path(save).read_text())["results"], err
            assert len(list(csv.DictReader(io.StringIO(Path(out).read_text())))) == len(rows), text
            assert not re.search(r"\d (ns|ms|s)( |$)", "\n".join(line for line in text.splitlines() if re.match(r"(getpid|pipe|none) ", line))), text
            status, text, _ = run(test[0], "--format", "markdown", *test[1:])
            assert status == 0 and re.search(r"^\|.*\|$", text, re.M), text
            shown = subprocess.run([SCTRACE, "report", save], capture_output=True, text=True, check=False)
            assert shown.returncode == 0, shown.stderr


def test_output_that_cannot_be_written(_):
    for args in (["-o", "/dev/full"], ["--save", "/nonexistent/x.json"], ["--svg", "/nonexistent/x.svg"]):
        status, _, err = run("syscall", "-r", "5", "loop", *args)
        assert status == 125 and args[1] in err, (args, status, err)
    for test in (["syscall"], []):
        status, _, err = run(*test, "--svg", "p.png")
        assert status == 2 and "write p.svg" in err, (test, status, err)
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([SCTRACE, "bench", "syscall", "-r", "5", "loop"], stdout=full, stderr=subprocess.PIPE,
                              check=False)
        assert done.returncode == 125 and b"No space" in done.stderr, done


def test_switches_are_proven(_):
    got = results("switch", "-r", "10", "-t", "200ms")
    for name in ("pipe", "pipe-thread", "eventfd", "socket", "signal", "futex", "futex-thread"):
        r = got[name]
        both = r["voluntary_switches_per_round"] + r["involuntary_switches_per_round"]
        assert r["what"] == "switch" and both > 1.9, (name, both)
        # Each side may preempt the other, and the count may begin and end within a round.
        assert r["voluntary_switches_per_round"] > 0.9, (name, r["voluntary_switches_per_round"])
    assert got["ucontext"]["voluntary_switches_per_round"] < 0.1
    if len(cpus()) > 1:
        assert got["pipe (two CPUs)"]["what"] == "wake-up"


def test_policies_of_switches_are_named(_):
    """The policy that is printed is that of the measurements; across CPUs it can be another one"""
    first = str(cpus()[0])
    several = "policy batch (other between CPUs);\n" if len(cpus()) > 1 else "policy batch;\n"
    for options, words in (([], several), (["--cpus", first], "policy batch;\n"), (["--policy", "other"], "policy other;\n")):
        status, out, err = run("switch", "-r", "5", "-t", "50ms", *options, "pipe")
        assert status == 0 and words in out, (options, out, err)
    assert document("switch", "-r", "5", "-t", "50ms", "pipe")["method"]["policy"] == "batch"


def test_shares_of_one_cpu(_):
    # The kernel's weights for these nice values are 1024 and 36, so other work on the machine cannot reverse the
    # shares.
    doc = document("sched", "-n", "1,2", "-r", "1", "-t", "50ms", "--nice", "0,15")
    one, two = doc["results"]
    assert one["name"] == "1 process" and two["name"] == "2 processes"
    procs = two["runs"][0]["processes"]
    assert abs(sum(p["cpu_share"] for p in procs) - 1) < 1e-6
    assert [p["nice"] for p in procs] == [0, 15] and procs[0]["cpu_share"] > procs[1]["cpu_share"], procs
    status, out, err = run("sched", "-n", "1,2", "-r", "1", "-t", "5ms")
    table = subprocess.run([SCTRACE, "bench", "sched", "-n1,2", "-r1", "-t5ms"], capture_output=True, text=True, check=True,
                           env={**os.environ, "COLUMNS": "60"}).stdout
    assert all(len(line) <= 60 for line in table.splitlines()), table
    status, table, err = run("sched", "-n", "1,2", "-r", "1", "-t", "50ms", "--format=csv")
    assert status == 0 and all(0 <= float(r["others_share"]) <= 1 for r in csv.DictReader(io.StringIO(table))), (table, err)
    head = re.search(r"^processes +runs .*", out, re.M)
    assert status == 0 and len(set(re.split("  +", head[0]))) == len(re.split("  +", head[0])), (out, err)
    for p in procs:
        assert p["done"] is True and len(p["progress_s"]) == 100 and p["progress_s"] == sorted(p["progress_s"])
        assert p["slices_s"] and all(a < b for a, b, _ in p["slices_s"])
        # No process had the CPU for longer than it existed.
        assert sum(b - a for a, b, _ in p["slices_s"]) <= p["latency_s"] + 1e-9, p
    assert abs(two["median_s"] - sum(p["latency_s"] for p in procs) / 2) < 1e-9, two


def test_loads_do_their_work(_):
    doc = document("latency", "-t", "300ms", "--loads", "none,cpu,net,fork,memory,suite+disk")
    for r in doc["results"]:
        parts = [] if r["name"] == "none" else r["name"].split("+")
        assert len(r["load_work"]) == len(parts) and all(n > 0 for n in r["load_work"].values()), r["load_work"]
        assert r["wakeups"] + r["missed"] == 300, (r["wakeups"], r["missed"])
        assert sum(n for _, n in r["histogram_ns"]) == r["wakeups"]
        assert r["min_ns"] <= r["mean_ns"] <= r["max_ns"] and r["p99_ns"] <= r["p999_ns"] <= r["max_ns"]


def in_memory():
    """Returns a writable folder on a file system in memory, or None if there is none."""
    for folder in ("/dev/shm", "/run", "/tmp", "/dev"):
        kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=False).stdout.strip()
        if kind == "tmpfs" and os.access(folder, os.W_OK):
            return folder
    return None


def test_a_file_system_in_memory_is_noted(_):
    folder = in_memory()
    if not folder:
        raise Skip("no file system in memory is writable")
    for loads, told in (("none,disk", True), ("none,cpu", False)):
        status, out, _ = run("latency", "-t", "20ms", "--loads", loads, "--dir", folder)
        assert status == 0 and ("did not reach a device" in out) == told, out


def test_commands_under_load(_):
    few = document("load", "-r", "2", "--loads", "none,cpu", "--", "true")  # fewer than 5 samples have no interval
    assert [r["over_none_interval_percent"] for r in few["results"]] == [[None, None]] * 2, few
    doc = document("load", "-r", "5", "--loads", "none,cpu", "--", "sh", "-c", "exit 0")
    assert {r["name"] for r in doc["results"]} == {"none", "cpu"}
    assert all(len(r["samples_s"]) == 5 for r in doc["results"])
    over = {r["name"]: (r["over_none_percent"], r["over_none_interval_percent"]) for r in doc["results"]}
    assert over["none"] == (None, [None, None]), over
    low, high = over["cpu"][1]
    assert -100 <= low <= high, over
    said = any("no difference from the run without a load was seen" in note for note in doc["notes"])
    assert said == (low <= 0 <= high), (over, doc["notes"])
    for args, expected in [(["false"], 125), (["sh", "-c", "kill -9 $$"], 125), (["/nonexistent"], 127), (["/etc"], 126)]:
        status, out, err = run("load", "-r", "1", "--loads", "none", "--", *args)
        assert status == expected and err and not out, (args, status, err)
        assert ("; use --ignore-failure to accept it" in err) == (status == 125), (args, err)
    assert run("load", "-r", "1", "--loads", "none", "--ignore-failure", "--", "false")[0] == 0
    # A command has a standard input, output and errors even if sctrace has not.
    command = [SCTRACE, "bench", "load", "-r", "1", "--loads", "none", "-o", "/dev/null", "--", "sh", "-c", "cat && echo x && echo x >&2"]
    assert subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command], timeout=seconds(60), check=False).returncode == 0


def test_a_limit_within_a_block_is_reported(_):
    """If a file may not be larger, a write is first short, and has no error; the reason is named nevertheless"""
    def tiny_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    for words in (["syscall", "-r", "2", "read-file"], ["load", "-r", "1", "--loads", "none,disk", "true"]):
        status, out, err = run(*words, preexec_fn=tiny_files)
        assert status == 0 and "write: File too large" in " ".join(out.split()), (words, status, out, err)


def test_without_processes(folder):
    """If no process can be created, a message says so, and not that memory has run out"""
    nobody = 65534
    if os.geteuid() != 0:
        raise Skip("needs root, to run as a user without other processes")

    def alone():
        os.setgroups([])
        os.setresgid(nobody, nobody, nobody)
        os.setresuid(nobody, nobody, nobody)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

    os.chmod(folder, 0o777)
    if subprocess.run([SCTRACE, "--version"], preexec_fn=lambda: os.setresuid(nobody, nobody, nobody), capture_output=True,
                      check=False).returncode != 0:
        raise Skip("the build folder cannot be read by others")
    for words in (["compare", "-r", "1", "-N", "--dir", str(folder), "true"], ["bench", "load", "-r", "1", "--dir", str(folder), "true"]):
        done = subprocess.run([SCTRACE, *words], capture_output=True, text=True, check=False, preexec_fn=alone, timeout=TIMEOUT)
        assert done.returncode == 125 and "Resource temporarily unavailable" in done.stderr, (words, done)


def test_notes_are_not_repeated(_):
    """A load that does no work in several short runs is noted once"""
    notes = document("load", "-r", "30", "--loads", "none,disk", "--", "true")["notes"]
    assert len(notes) == len(set(notes)) and sum("did no work" in note for note in notes) <= 1, notes


def test_an_incomplete_suite_is_reported(_):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

    lacking = ["read-file", "read-end", "fgets-0", "fgets-1", "lseek", "fstat"]
    words = ["load", "--format=json", "-r", "1", "--loads", "none,suite"]
    status, out, err = run(*words, preexec_fn=small_files)
    assert status == 0, (status, err)
    doc = json.loads(out)
    assert doc["method"]["suite_without"] == ",".join(lacking), doc["method"]
    for said in ("are omitted from the suite", "are omitted from the load 'suite'"):
        notes = [note for note in doc["notes"] if said in note]
        assert len(notes) == 1 and all(f"{name} (write: File too large)" in notes[0] for name in lacking), doc["notes"]
    status, out, err = run("latency", "-t", "20ms", "--loads", "suite", preexec_fn=small_files)
    assert status == 0 and "are omitted from the load 'suite'" in out, (status, out, err)
    # A suite that lacks an operation fails. `bench load` starts sctrace with this word.
    for without, expected in (("", 125), (",".join(lacking), 0)):
        status, _, err = run("__suite", "/var/tmp", "1", without, preexec_fn=small_files)
        assert status == expected and (status == 0) == (err == ""), (without, status, err)
    assert document(*[w for w in words if w != "--format=json"])["method"]["suite_without"] == ""


def descendants(pid):
    """The processes in the session that `pid` leads."""
    found = subprocess.run(["ps", "-eo", "pid,sid,stat,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 3) for line in found.splitlines()[1:]]
    return [r for r in rows if int(r[1]) == pid and int(r[0]) != pid and not r[2].startswith("Z")]


def start(*args):
    """Starts a measurement in a new session, so that all its processes can be found."""
    return subprocess.Popen([SCTRACE, "bench", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True)


def nothing_left(pid):
    end = time.monotonic() + TIMEOUT
    while left := descendants(pid):
        assert time.monotonic() < end, f"left running: {left}"
        time.sleep(0.1)


LONG = [["syscall", "-r", "1000000", "-t", "600s"], ["syscall", "--per-process", "-r", "1000000", "-t", "600s", "fork"], ["switch", "-t", "600s", "pipe"], ["sched", "-t", "300s", "-n", "2"],
        ["latency", "-t", "600s", "--loads", "net+fork"], ["load", "-r", "1", "--loads", "cpu+net", "--", "sleep", "600"]]


def test_an_interrupted_run_shows_its_results(_):
    with tempfile.TemporaryDirectory() as d:
        for sig in (signal.SIGINT, signal.SIGTERM):
            for i, args in enumerate(LONG):
                save = f"{d}/{i}.json"
                p = start(*args[:1], "--save", save, *args[1:])
                time.sleep(3)
                assert p.poll() is None, (args, p.communicate())
                p.send_signal(sig)
                out, err = p.communicate(timeout=TIMEOUT)
                assert p.returncode == -sig, (args, p.returncode, err)
                assert "interrupted" in out, (args, out, err)
                # Rows are missing only for lack of time.
                assert "there was no time for" not in out and "cannot run" not in out, (args, out)
                assert json.loads(Path(save).read_text())["interrupted"] is True
                nothing_left(p.pid)


def test_all_in_one_page(_):
    """The short form of all tests, stopped after the first one: its results are in one table, one run and one picture"""
    with tempfile.TemporaryDirectory() as d:
        save, svg = Path(d) / "all.json", Path(d) / "all.svg"
        master, slave = pty.openpty()
        p = subprocess.Popen([SCTRACE, "bench", "--save", save, "--svg", svg], stdout=subprocess.PIPE, stderr=slave, text=True,
                             start_new_session=True)
        os.close(slave)
        seen = ""
        while not re.search("futex-thread|yield|ucontext|bare", seen):  # a short kind may not appear
            seen += os.read(master, 4096).decode(errors="replace")
        p.send_signal(signal.SIGINT)
        while reads(master):
            pass
        out = p.communicate(timeout=TIMEOUT)[0]
        assert p.returncode == -signal.SIGINT and "interrupted" in out and "\\n" not in out, (p.returncode, out)
        names = [r["name"] for r in json.loads(save.read_text())["results"]]
        assert "syscall loop" in names and not any(n.startswith("load") for n in names), names
        assert "Median" in out and svg.read_text().startswith("<svg ") and svg.read_text().count("<svg ") >= 2
        nothing_left(p.pid)


def reads(fd):
    """Reads what is available. Returns false at the end of a terminal whose other side is closed."""
    try:
        return bool(os.read(fd, 4096))
    except OSError:
        return False


def test_killed_leaves_nothing(_):
    for args in LONG[2:]:
        p = start(*args)
        time.sleep(3)
        # The timed command is not part of a load: it is a child of sctrace that ends by itself.
        p.kill()
        p.communicate()
        nothing_left(p.pid)


def test_without_privileges(_):
    if os.geteuid() != 0:
        raise Skip("needs root to give rights up")
    give_up = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
    for args, words in [(["syscall", "-r", "5", "getpid"], "getpid"),
                        (["switch", "-r", "5", "-t", "50ms", "--policy", "fifo", "futex"], "policy fifo is not permitted"),
                        (["sched", "-r", "1", "-t", "5ms", "-n", "2", "--nice", "-5,0"], "nice -5 is not permitted"),
                        (["latency", "-t", "50ms", "--loads", "none,disk"], "policy fifo is not permitted"),
                        (["load", "-r", "1", "--loads", "none,disk", "--", "true"], "disk")]:
        done = subprocess.run([*give_up, SCTRACE, "bench", *args], capture_output=True, text=True, timeout=TIMEOUT, check=False,
                              cwd="/")
        if "Permission denied" in done.stderr and done.returncode in (126, 127):
            raise Skip("the build folder cannot be read by others")
        assert done.returncode == 0 and words in done.stdout, (args, done)


def test_lists(_):
    for test, words in [("syscall", ["getpid-raw", "page-fault"]), ("switch", ["futex-thread"]), ("latency", ["suite"]),
                        ("load", ["none"])]:
        status, out, _ = run(test, "--list")
        assert status == 0, test
        for word in words:
            assert re.search(rf"^{word} ", out, re.M), (test, word)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
