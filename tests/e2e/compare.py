#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`sctrace compare` from outside: its counts, its figures, bad input, and cleaning up (script.py)."""
import csv
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from script import SCTRACE, Skip, run_tests, seconds

TIMEOUT = seconds(500)


def left(place):
    """The files that compare has left in `place`, the parent of its work directory."""
    return [p.name for p in place.iterdir() if p.name.startswith("sctrace-")]


def run(place, *args, **more):
    """Runs compare with its work directory in `place`; (status, stdout, stderr)."""
    command = [SCTRACE, "compare", "--dir", str(place), *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False, **more)
    assert left(place) == [], f"left behind: {left(place)}"
    return done.returncode, done.stdout, done.stderr


def rows(place, *args, **more):
    """The results of a run, by name."""
    status, out, err = run(place, "--format=json", *args, **more)
    assert status == 0, err
    return {r["name"]: r for r in json.loads(out)["results"]}


def counted(result):
    if "counts" not in result:
        raise Skip("no engine may trace here")
    return result["counts"]


def copiers():
    """Copiers that are still running."""
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False).stdout
    return [line for line in found.splitlines() if re.search(r"/copy-(read|fget|unbuf)\S* .*in out$", line)]


def test_counts_are_exact(place):
    size = 65536
    got = rows(place, "--size=64K", "--runs=1")
    assert len(got) == 8, got.keys()
    byte = counted(got["read/write 1"])
    assert byte["writes"] == size, byte["writes"]
    # One read for each byte, one at the end of the file, and the loader's reads of libraries.
    assert size + 1 <= byte["reads"] <= size + 8, byte["reads"]
    block = counted(got["read/write 4K"])
    assert block["writes"] == 16, block["writes"]
    assert byte["reads"] - block["reads"] == size - 16
    if block["bytes_before_main"] is not None:  # otherwise, the engine does not report the calls before main by name
        # malloc(3) of some C libraries gets a few bytes from getrandom(2).
        assert 0 <= block["moved_bytes"] - block["bytes_before_main"] - 2 * size <= 16, block
    assert counted(got["one-shot"])["writes"] == 1
    assert counted(got["one-shot"])["counted_bytes"] == size


def test_no_count_says_nothing_of_calls(place):
    """with --no-count, no line says that calls are counted"""
    for how in ([], ["-N"]):
        for count, want in ((["--no-count"], False), ([], True)):
            status, out, err = run(place, *count, *how, "--size=4K", "--runs=1", "true")
            assert status == 0 and "peak RSS is that of the largest process" in " ".join(out.split()), (status, out, err)
            assert ("are counted" in " ".join(out.split())) == want, out


def test_peak_is_the_size_of_the_file_and_a_constant(place):
    small = rows(place, "--size=8M", "--runs=3", "--no-count", "--strategy=one-shot")["one-shot"]
    large = rows(place, "--size=24M", "--runs=3", "--no-count", "--strategy=one-shot")["one-shot"]
    if not small["peak_rss_bytes"]:
        raise Skip("tracing is not permitted, so peaks are unknown")
    grown = large["peak_rss_bytes"] - small["peak_rss_bytes"]
    assert abs(grown - (16 << 20)) < 1 << 20, grown


def test_every_sample_is_kept(place):
    got = rows(place, "--size=4K", "--runs=7", "--strategy=one-shot,sendfile")
    for r in got.values():
        for key in ("samples_s", "user_samples_s", "system_samples_s", "peak_rss_samples_bytes"):
            assert len(r[key]) == 7, (r["name"], key)
        assert min(r["samples_s"]) <= r["wall_median_s"] <= max(r["samples_s"])


def test_every_strategy_copies_or_gives_a_reason(place):
    got = rows(place, "--size=20000", "--runs=1", "--no-count", "--all", "--buffers=4K")
    assert len(got) > 15
    for r in got.values():
        assert (r["unable"] is None) == (r["samples"] == 1), r
    assert sum(r["unable"] is None for r in got.values()) > 12


def test_a_strategy_that_cannot_run_is_a_row(place):
    status, out, err = run(place, "--size=8K", "--runs=1", "--no-count", "--input=zero", "-s", "fgets/fputs,one-shot")
    assert status == 0, err
    assert re.search(r"^fgets/fputs failed: the input is not a text file: .*NUL", out, re.M), out
    assert re.search(r"^one-shot +\S", out, re.M), out
    video = place / "video.mkv"
    video.write_bytes(b"\0" * 8192)
    _, out, _ = run(place, "--runs=1", "--no-count", "--input", str(video), "-s", "fgets/fputs,one-shot")
    assert f"fgets/fputs failed: '{video}' is not a text file: " in out.replace("\n", " "), out
    video.unlink()


def test_a_fixed_seed_and_order(place):
    first = run(place, "--size=4K", "--runs=1", "--no-count", "--seed=7")[1]
    assert "(seed 7)" in first.replace("\n", " "), first


def test_a_partial_count_is_reported(place):
    # What is counted depends on the number of expected calls. This copier makes few, because a million stops take long.
    home = place / "home"
    (home / "examples").mkdir(parents=True)
    shutil.copy(SCTRACE, home)
    shutil.copy(Path(SCTRACE).parent / "examples" / "copy-fgetc-fputc", home / "examples" / "copy-stdio-unbuffered")
    done = subprocess.run([home / "sctrace", "compare", "--dir", place, "--engine=ptrace", "--size=1300K", "--runs=1", "--warmup=0",
                           "-s", "unbuffered"], capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if "cannot be counted" in done.stderr:
        raise Skip("no engine may trace here")
    assert done.returncode == 0, done.stderr
    out = done.stdout
    assert re.search(r"^\* unbuffered: its calls were counted over the first 665600 bytes of the input only", out, re.M), out
    calls = int(re.search(r"^unbuffered +([\d,]+)\*", out, re.M)[1].replace(",", ""))
    blocks = 665600 / 4096
    assert 2 * blocks < calls < 3 * blocks, out


def test_columns_show_how_files_are_used(place):
    for engine in ("ptrace", "patch"):
        got = rows(place, f"--engine={engine}", "--size=64K", "--runs=1", "--columns=all", "-s", "read/write,one-shot", "-b", "1K")
        counted(got["read/write 1K"])
        use = {name.split()[0]: r["use"] for name, r in got.items()}
        for u in use.values():
            # The loader reads headers of libraries beside the file itself.
            assert u["written_bytes"] == 65536 and u["read_bytes"] >= 65536, u
            assert (u["seeks"], u["syncs"]) == (0, 0) and u["opens"] >= 2, u
            shares = sum(u[k] for k in u if k.endswith("_share"))
            assert abs(shares - 1) < 1e-9, u
        assert use["read/write"]["frequent_size_bytes"] == 1024 and use["read/write"]["sequential_share"] > 0.5, use


def test_columns_are_shown_if_they_are_named(place):
    args = ("--size=8K", "--runs=1", "--format=csv", "-s", "one-shot")
    _, without, err = run(place, *args)
    if "cannot count calls" in err:
        raise Skip("no engine may trace here")
    assert "seeks" not in without, without
    status, out, err = run(place, *args, "--columns=seeks")
    assert status == 0, err
    row = list(csv.DictReader(io.StringIO(out)))[0]
    assert row["seeks"] == "0" and row["written_bytes"] == "8192", row
    _, out, _ = run(place, "--size=8K", "--runs=1", "-s", "one-shot", "--columns=seeks,opens")
    assert re.search(r"^strategy.* seeks +opens", out, re.M) and "syncs" not in out, out
    # Columns that do not fit are named below the table.
    _, out, _ = run(place, "--size=8K", "--runs=1", "-s", "one-shot", "--columns=all", "--usage", env={**os.environ, "COLUMNS": "80"})
    head, left_out = re.search(r"^strategy.*", out, re.M)[0], re.search(r"^not shown, because .*(?:\n  .*)*", out, re.M)[0]
    assert max(map(len, out.splitlines())) <= 80 and "voluntary" in head and "bytes written" in left_out, out


def test_unknown_columns_are_refused(place):
    status, _, err = run(place, "--columns=seeks,sycs")
    assert status == 2 and "'sycs' is not a column" in err and "did you mean syncs" in err, err
    status, _, err = run(place, "--columns=seeks", "--no-count")
    assert status == 2 and "--no-count" in err, err


def test_usage_errors(place):
    for args, what in (
        (["--size=0"], "0 bytes"),
        (["--size=12x"], "'12x' is not a size"),
        (["--bogus"], "sctrace: compare: unknown option '--bogus' (see sctrace compare --help)"),
        (["--strategy=rot13"], "'rot13'"),
        (["--strategy=read/wirte"], "did you mean read/write"),
        (["--engine=ptrcae", "true"], "there is no engine 'ptrcae' in this build"),
        (["--buffers=0"], "'0' is not a buffer size"),
        (["--buffers=4K", "-s", "one-shot"], "--buffers has no effect"),
        (["--buffers=4K", "true"], "--buffers has no effect"),
        (["--fsync", "true"], "--fsync has no effect"),
        (["--command-name=", "true"], "--command-name needs a name"),
        (["--runs=0"], "out of range"),
        (["--runs=3", "--max-time=1s"], "--runs"),
        (["--runs=3", "--min-runs=2"], "--runs sets the exact number"),
        (["--count-all", "--no-count"], "--count-all and --no-count cannot be used together"),
        (["--cpus=1-"], "not a list of CPUs"),
        (["--cpus=1023"], "CPU 1023 does not exist, or this process is not allowed to use it; the usable CPUs are "),
        (["--strategy=one-shot", "true"], "cannot be compared in one run"),
        (["-N", "'x"], "is not closed"),
        (["--parameter-scan", "n=9:1", "true"], "is not a range"),
        (["--parameter-scan", "n=1:10001", "true"], "is not a range of at most 10000 numbers, the smallest first"),
        (["--format=xml"], "xml"),
        (["--svg=p.PNG"], "write p.svg"),
        (["-D", "2", "true"], "--parameter-scan"),
        (["-L", "in=a,b", "true {in}"], "'in' cannot be the name of a parameter, because {in} already has a meaning"),
        (["-L", "w=a,b", "-P", "w=1:2", "true {w}"], "the parameter 'w' is given twice"),
        (["-L", "word=a,b", "true {wrod}"], "no command contains {word}, the parameter of -P or -L"),
        (["--size=1M", "--input=/etc/hostname"], "/etc/hostname"),
    ):
        status, out, err = run(place, *args)
        assert status == 2, (args, status, err)
        assert err.startswith("sctrace: ") and err.count("\n") == 1, err
        assert what in err, (args, err)
        assert out == "", out


def test_a_folder_that_does_not_exist(place):
    command = [SCTRACE, "compare", "--dir=/no/such/folder"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 125 and "'/no/such/folder'" in done.stderr, done
    assert done.stderr.count("\n") == 1


def test_paths_are_tried_before_the_first_run(place):
    ran = place / "ran"
    for option in ("-o", "--save", "--svg"):
        status, out, err = run(place, "--runs=1", option, "/no/such/folder/x", f"touch {ran}")
        assert status == 125 and "/no/such/folder/x" in err and err.count("\n") == 1 and out == "", (option, status, err)
        assert not ran.exists(), option


def test_the_reference_is_looked_up_before_the_first_run(place):
    ran = place / "ran"
    status, out, err = run(place, "--runs=1", "--reference=nosuch", f"touch {ran}", "true")
    assert status == 2 and "--reference names the row 'nosuch', which does not exist; write for example '" in err and out == "" and not ran.exists(), (status, err)
    for reference, words in [("one-shto", "; did you mean one-shot?"), ("read/write 3K", "; did you mean read/write 1K or read/write 4K?"),
                             ("read/write", "names several rows; add the buffer size, for example 'read/write 1K' or 'read/write 4K'")]:
        status, out, err = run(place, "-r1", "-s", "read/write,one-shot", "-b1K,4K", "--reference", reference)
        assert status == 2 and words in err and out == "", (reference, status, err)


def test_a_disk_that_is_too_small_is_reported_first(place):
    status, _, err = run(place, "--size=900000G")
    assert status == 125 and "free; choose a smaller --size" in err and err.count("\n") == 1, err


def test_a_disk_that_fills_up_during_the_run(place):
    # Each write to this copy fails because the disk is full.
    status, out, err = run(place, "--size=64K", "--runs=1", "--no-count", "--prepare", "ln -s /dev/full {out}")
    assert status == 125 and "all strategies failed" in err, (status, out, err)
    assert "one-shot failed: cannot write 'out': No space left on device" in out.replace("\n", " "), out


def test_a_file_size_limit(place):
    status, _, err = run(place, "--size=1M", preexec_fn=lambda: limit_file_size(100 * 1024))
    assert status == 125 and "ulimit -f" in err, err


def limit_file_size(size):
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_the_users_file_is_unchanged(place):
    mine = place / "mine"
    mine.write_bytes(b"some text\n" * 1000)
    before = (mine.stat().st_mtime_ns, mine.read_bytes())
    got = rows(place, f"--input={mine}", "--runs=1")
    assert (mine.stat().st_mtime_ns, mine.read_bytes()) == before
    assert all(r["input_bytes"] == 10000 for r in got.values())
    mine.write_bytes(b"")
    status, _, err = run(place, f"--input={mine}")
    assert status == 2 and "is empty" in err, err


def interrupted(place, sig, after, *args):
    """Starts compare in a new session. Sends it `sig` `after` seconds after its work directory exists. Returns its status."""
    p = subprocess.Popen([SCTRACE, "compare", "--dir", str(place), *args], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + TIMEOUT
    while not left(place) and p.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(after)
    p.send_signal(sig)
    status = p.wait(timeout=TIMEOUT)
    assert left(place) == [], left(place)
    return status


def test_signals_leave_nothing(place):
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for after in (0, 0.4, 1.5):
            status = interrupted(place, sig, after, "--size=4M", "--runs=50")
            assert status == -sig, (sig, after, status)
    assert interrupted(place, signal.SIGINT, 0.5, "--no-count", "sleep 1000 & wait") == -signal.SIGINT
    deadline = time.monotonic() + TIMEOUT
    while left := copiers():
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def test_an_interrupted_run_shows_its_results(place):
    saved = place / "run.json"
    p = subprocess.Popen([SCTRACE, "compare", "--dir", str(place), "--no-count", "--save", saved, "--runs=1000", "sleep 0.02",
                          "sleep 0.03"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + TIMEOUT
    while not left(place) and p.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(3)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=TIMEOUT)
    assert p.returncode == -signal.SIGINT and left(place) == [], (p.returncode, left(place))
    if not saved.exists():  # the machine was so busy that no run had ended
        assert "interrupted before anything was measured" in err, err
        return
    assert re.search(r"^sleep 0\.02 ", out, re.M) and "interrupted: these are the figures of the runs that were completed" in err, (out, err)
    doc = json.loads(saved.read_text())
    assert doc["interrupted"] is True
    assert 0 < sum(r["samples"] for r in doc["results"]) < 2000


def on_terminal(place, columns, *args, **environment):
    """Runs compare on a terminal with this many columns. Returns (status, output)."""
    pid, fd = pty.fork()
    if pid == 0:
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
        os.execve(SCTRACE, [SCTRACE, "compare", "--dir", str(place), *args], {**env, "TERM": "xterm", **environment})
    import fcntl
    import struct
    import termios

    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    out = b""
    while select.select([fd], [], [], TIMEOUT)[0]:
        try:
            chunk = os.read(fd, 65536)
        except OSError:
            break
        if not chunk:
            break
        out += chunk
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(fd)
    return status, out.decode()


def test_the_output_of_commands_is_not_mixed_with_other_text(place):
    """--show-output suppresses progress, and needs a file for a report that is data"""
    status, out = on_terminal(place, 80, "--show-output", "--runs=2", "--no-count", "echo the output")
    assert status == 0 and out.count("the output\r\n") == 3 and "timed run" not in out and "\x1b[K" not in out, out
    for fmt in ("json", "csv", "markdown", "html"):
        status, out, err = run(place, "--show-output", "--format", fmt, "true")
        assert status == 2 and "write the report to a file with -o" in err and out == "", (fmt, status, err)
    status, out, err = run(place, "--show-output", "--format=json", "-o", str(place / "r.json"), "--runs=1", "--no-count", "echo hello")
    assert status == 0 and out == "hello\n" * 2 and json.loads((place / "r.json").read_text()), (status, out, err)


def test_a_terminal_has_progress_and_fits(place):
    for columns in (60, 80, 100, 200):
        status, out = on_terminal(place, columns, "--size=8K", "--runs=2")
        assert status == 0, out
        assert "timed run" in out and "\x1b[K" in out
        # The verdict stays when less important columns are left out.
        assert columns < 80 or "95 % interval" in out, (columns, out)
        # The report is what follows the last progress line.
        report = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", out.rsplit("\r\x1b[K", 1)[1])
        longest = max(len(line) for line in report.replace("\r", "").split("\n"))
        assert longest <= columns, (columns, longest, report)


def test_colour_can_be_switched_off(place):
    args = ["--size=8K", "--runs=2", "--no-count"]
    plain = on_terminal(place, 150, *args, NO_COLOR="1")[1].rsplit("\r\x1b[K", 1)[1]
    assert "\x1b" not in plain, plain
    status, out, err = run(place, *args)
    assert status == 0 and "\x1b" not in out + err and "\r" not in out + err, (out, err)


def test_a_full_standard_output_is_reported(place):
    with open("/dev/full", "w", encoding="ascii") as full:
        p = subprocess.run([SCTRACE, "compare", "--dir", str(place), "--size=4K", "--runs=1"], stdout=full,
                           stderr=subprocess.PIPE, text=True, check=False)
    assert p.returncode == 125 and "No space left" in p.stderr, p
    assert left(place) == []


def test_a_closed_pipe_leaves_nothing(place):
    p = subprocess.Popen([SCTRACE, "compare", "--dir", str(place), "--size=4K", "--runs=1"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    p.stdout.close()
    p.wait(timeout=TIMEOUT)
    assert left(place) == []


def test_commands(place):
    got = rows(place, "--size=64K", "--runs=3", "cp {in} {out}", "cat {in} > {out}", "dd if={in} of={out} bs={buffer}",
               "--buffers=4K,64K")
    assert list(got) == ["cp {in} {out}", "cat {in} > {out}", "dd if={in} of={out} bs={buffer} 4K",
                         "dd if={in} of={out} bs={buffer} 64K"], list(got)
    dd = got["dd if={in} of={out} bs={buffer} 4K"]
    assert dd["buffer_bytes"] == 4096 and dd["peak_rss_is_largest_process"]
    if "counts" in dd:
        assert counted(dd)["writes"] - counted(got["dd if={in} of={out} bs={buffer} 64K"])["writes"] == 15


def test_a_pipeline_is_one_tree(place):
    got = rows(place, "--size=64K", "--runs=3", "cat {in} | cat > {out}", "cat {in} > {out}")
    two, one = (counted(r) for r in got.values())
    assert two["calls"] > one["calls"] + 20, (two["calls"], one["calls"])


def test_a_command_that_does_not_copy_is_noted(place):
    _, out, _ = run(place, "--size=4K", "--runs=2", "--no-count", "tr a b < {in} > {out}")
    assert "the {out} of a command differs from {in}" in out.replace("\n", " "), out


def test_a_daemon_is_left_alone(place):
    """A process that a command leaves running is not waited for, and continues."""
    pid = place / "pid"
    status, _, err = run(place, "--runs=1", "--warmup=0", "--no-count", f"setsid sleep 60 </dev/null >/dev/null 2>&1 & echo $! >>{pid}")
    assert status == 0, err
    daemons = [int(x) for x in pid.read_text().split()]
    try:
        assert daemons, "no daemon was started"
        for p in daemons:
            # The process may run, sleep, or wait for the disk, because the shell first executes setsid, which executes
            # sleep.
            assert re.search(r"^State:\t[RSD]", Path(f"/proc/{p}/status").read_text(), re.M), p
            assert "TracerPid:\t0" in Path(f"/proc/{p}/status").read_text(), p
    finally:
        for p in daemons:
            os.kill(p, signal.SIGKILL)


def test_children_of_the_last_moment_are_left_alone(place):
    """Processes that a program creates just before it exits continue."""
    pids = place / "pids"
    target = Path(sys.argv[1]).resolve() / "tests/e2e/target"
    for _ in range(10):
        status, _, err = run(place, "--runs=1", "--warmup=0", "--no-count", f"exec {target} leaves 3>>{pids}")
        assert status == 0, err
    children = [int(x) for x in pids.read_text().split()]
    try:
        assert len(children) == 30, len(children)
        for p in children:
            assert re.search(r"^State:\t[RSD]", Path(f"/proc/{p}/status").read_text(), re.M), p
    finally:
        for p in children:
            os.kill(p, signal.SIGKILL)


def test_failing_commands(place):
    status, _, err = run(place, "--runs=2", "false")
    assert status == 125 and "'false' failed: exited with status 1" in err, err
    for option in ("--prepare", "--conclude"):
        status, _, err = run(place, "--runs=2", option, "exit 3", "true")
        assert status == 125 and f"{option}: 'exit 3' failed: exited with status 3" in err, (option, err)
    for script, shown in (("echo one >&2; echo two >&2; exit 2", ["one", "two"]),
                          ("seq 9 >&2; exit 2", ["1", "2", "3", "4", "...", "9"]), ("printf '\\033[1mx' >&2; exit 2", [r"\x1b[1mx"])):
        status, _, err = run(place, "--runs=2", "--command-name=it", script)
        assert status == 125 and err.splitlines() == [
            "sctrace: compare: 'it' failed: exited with status 2 in the run that counts calls; "
            "use --ignore-failure=2 to continue nevertheless", *("  " + x for x in shown)], err
    status, out, err = run(place, "--runs=2", "--ignore-failure", "false", "true")
    assert status == 0 and "(false: 2 of 2)" in out.replace("\n", " "), (out, err)
    got = rows(place, "--runs=1", "--ignore-failure", "exit 3", "kill -TERM $$")
    assert [r["exit_status_samples"] for r in got.values()] == [[3], [143]], got
    status, _, err = run(place, "-N", "no-such-program-at-all")
    assert status == 125 and err.endswith("cannot run 'no-such-program-at-all': No such file or directory\n"), err
    for text, reason in (("no program", "Exec format error"), ("#!/nonexistent/interpreter", "its interpreter does not exist")):
        program = place / "program"
        program.write_text(text)
        program.chmod(0o755)
        status, _, err = run(place, "-N", str(program))
        assert status == 125 and f"cannot run '{program}': {reason}" in err, err
    status, _, err = run(place, "--runs=2", "kill -SEGV $$")
    assert status == 125 and "SIGSEGV" in err, err


FAILS_LATER = 'test "$SCTRACE_RUN" != 3 || { echo oops >&2; exit 7; }'


def test_a_failed_run_keeps_the_others(place):
    """If a run fails, the earlier runs and the other commands are shown and saved, and the message names the run."""
    saved = place / "saved.json"
    for counts in ([], ["--no-count"]):
        status, out, err = run(place, "--runs=6", *counts, "--save", str(saved), FAILS_LATER, "true", "exit 9")
        assert status == 125, (out, err)
        where = "the warm-up run" if counts else "the run that counts calls"
        assert "failed: exited with status 7 in timed run 3; use --ignore-failure=7 to continue nevertheless\n  oops\n" in err, err
        assert f"'exit 9' failed: exited with status 9 in {where}; use" in err, err
        later, true, at_once = json.loads(saved.read_text())["results"]
        assert (later["samples"], true["samples"], at_once["samples"]) == (2, 6, 0), (later, true, at_once)
        assert later["failed"] == "exited with status 7 in timed run 3" and later["unable"] is None, later
        assert at_once["unable"] == f"exited with status 9 in {where}" and "failed" not in at_once, at_once
        flat = " ".join(out.split())
        assert "failed: exited with status 7 in timed run 3; its figures are those of the 2 runs before" in flat, out
    once = run(place, "--runs=3", "--no-count", 'test "$SCTRACE_RUN" != 2')[1]
    assert "its figures are those of the 1 run before" in " ".join(once.split()), once
    shown = subprocess.run([SCTRACE, "report", saved], capture_output=True, text=True, check=True).stdout
    assert "in timed run 3; its figures" in " ".join(shown.split()), shown
    saved.unlink()
    status, out, err = run(place, "--runs=3", "--no-count", "--conclude", FAILS_LATER, "true")
    assert status == 125 and "failed: exited with status 7 in timed run 3\n" in err and "medians of 2 untraced" in out, (out, err)


def test_permitted_failures(place):
    codes = ["exit 3", "kill -TERM $$", "exit 4"]
    status, out, err = run(place, "--runs=2", "--ignore-failure=3,143", "--format=json", *codes)
    assert status == 125 and "'exit 4' failed" in err and "'exit 3'" not in err, err
    assert [r["samples"] for r in json.loads(out)["results"]] == [2, 2, 0], out
    for wrong in ("x", "0", "256", "3,", "3 4", ""):
        status, _, err = run(place, f"--ignore-failure={wrong}", "true")
        assert status == 2 and "is not a list of exit statuses" in err, (wrong, err)


def test_a_limit_for_each_run(place):
    """--timeout kills a run with its children, and the other commands continue."""
    for counts in ([], ["--no-count"], ["--engine=ptrace"]):
        started = time.monotonic()
        status, out, err = run(place, "--runs=2", "--timeout=300ms", *counts, "sleep 1234 & sleep 1234; true", "true")
        assert time.monotonic() - started < 100
        assert status == 125 and "failed: did not end within 300 ms in the " in err and "\ntrue" in out, (out, err)
        assert "sleep 1234" not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def test_setup_and_cleanup(place):
    """They run once for each row, before and after all of its runs, also if a run fails."""
    log = place / "log"
    run(place, "--runs=2", "--no-count", "-L", "w=a,b", "--setup", f"echo setup {{w}} >> {log}", "--cleanup",
        f"echo cleanup {{w}} >> {log}", f"echo {{w}} $SCTRACE_RUN >> {log}; test $SCTRACE_RUN-{{w}} != 2-b")
    lines = log.read_text().splitlines()
    assert lines[:2] == ["setup a", "setup b"] and lines[-2:] == ["cleanup a", "cleanup b"], lines
    assert sorted(lines[2:-2]) == ["a 1", "a 2", "a warmup", "b 1", "b 2", "b warmup"], lines
    log.unlink()
    status, _, err = run(place, "--runs=1", "--setup", "exit 3", "true")
    assert status == 125 and "'true' failed: --setup: 'exit 3' failed: exited with status 3\n" in err, err
    status, out, err = run(place, "--runs=1", "--cleanup", "exit 3", "true")
    assert status == 125 and "compare: --cleanup: 'exit 3' failed: exited with status 3\n" in err and "\ntrue" in out, (out, err)


def warned(doc, name):
    """The rows of the warning with this name."""
    return [row for w in doc["warnings"] if w["name"] == name for row in w["rows"]]


TRACEME = "python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(0, 0, 0, 0) != 0)'"


def test_commands_that_cannot_be_traced(place):
    """A command that fails only if it is traced is measured without tracing, and a warning says so."""
    for how in ([], ["--no-count"], ["--no-count", "--warmup=0"], ["--columns=all"]):
        status, out, err = run(place, "--runs=2", "--format=json", *how, TRACEME, "true")
        assert status == 0, err
        doc = json.loads(out)
        traced, true = doc["results"]
        assert traced["traced"] is False and traced["samples"] == 2 and "counts" not in traced, traced
        assert "traced" not in true and ("--no-count" in how or counted(true)), true
        assert warned(doc, "untraced") == ([] if "--no-count" in how else [TRACEME]), doc["warnings"]
    mark = place / "mark"
    got = rows(place, "--runs=2", f"test -e {mark} || {{ : > {mark}; exit 1; }}")
    assert ["traced" in r for r in got.values()] == [False], got
    large = "python3 -c 'x = bytearray(96 << 20)'"
    got = rows(place, "--runs=1", "--no-trace", TRACEME, large)
    assert got[large]["peak_rss_bytes"] > 96 << 20 and "counts" not in got[large], got
    status, _, err = run(place, "--no-trace", "--columns=all", "true")
    assert status == 2 and "--no-trace" in err, err


def test_privileges_are_kept(place):
    """A set-user-ID program that would lose its privileges is not traced."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skip("needs root and setpriv")
    own = place / "own"
    shutil.copy(shutil.which("id"), own)
    own.chmod(0o4755)
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run([*user, own, "-u"], capture_output=True, text=True, check=True).stdout != "0\n":
        raise Skip("the file system ignores set-user-ID bits")
    for how in ([], ["--no-count"]):
        done = subprocess.run([*user, SCTRACE, "compare", "--dir=/tmp", "--runs=2", "--format=json", *how, f"{own} -u", "id -u"],
                              capture_output=True, text=True, check=False, timeout=TIMEOUT)
        assert done.returncode == 0, done.stderr
        assert [r.get("traced") for r in json.loads(done.stdout)["results"]] == [False, None], done.stdout


def test_where_commands_write(place):
    shy, plain = "test -c /dev/fd/1 || echo hello", "echo hello"
    status, out, err = run(place, "--runs=2", "--format=json", shy, plain, "echo hello >&2", "true")
    doc = json.loads(out)
    if "counts" in doc["results"][0]:
        assert warned(doc, "null_output") == [shy], doc["warnings"]
    assert [r.get("output_bytes") for r in doc["results"]] == [6, 6, None, None], (out, err)
    got = rows(place, "--runs=2", "--command-output=pipe", "test -p /dev/fd/1 && head -c 1000000 /dev/zero")
    assert list(got.values())[0]["samples"] == 2
    file = place / "written"
    run(place, "--runs=2", "--no-count", f"--command-output={file}", plain)
    assert file.read_text() == "hello\n"
    assert "hello\n" in run(place, "--runs=1", "--command-output=inherit", plain)[1]
    status, _, err = run(place, f"--command-output={file}", f"--input={file}", "cat {in}")
    assert status == 2 and "would overwrite the input" in err and file.read_text() == "hello\n", err
    for option in ("-o", "--save", "--svg"):
        status, _, err = run(place, f"--command-output={file}", option, str(file), "cat {in}")
        assert status == 2, (option, err)
    status, _, err = run(place, "--command-output=/nonexistent/x", "true")
    assert status == 125 and "cannot write '/nonexistent/x'" in err, err
    status, _, err = run(place, "--command-output=pipe")
    assert status == 2 and "needs a COMMAND" in err, err
    # A process that the command leaves behind is not killed by its next write, although nobody reads the pipe for long.
    ends = place / "ends"
    run(place, "--runs=1", "--no-count", f"(sleep 0.5; echo late; echo $? >> {ends}) &")
    until = time.monotonic() + 60
    while (not ends.exists() or ends.read_text() != "0\n0\n") and time.monotonic() < until:
        time.sleep(0.05)
    assert ends.read_text() == "0\n0\n", ends.read_text()


def test_odd_inputs_are_named(place):
    """Warnings about holes in the input, and about an input on another file system."""
    sparse = place / "sparse"
    with open(sparse, "wb") as f:
        f.truncate(1 << 20)
    doc = json.loads(run(place, "--input", str(sparse), "--runs=1", "--format=json", "cat {in}")[1])
    assert "sparse_input" in [w["name"] for w in doc["warnings"]] and doc["settings"]["input_sparse"] is True, doc["warnings"]
    doc = json.loads(run(place, "--runs=1", "--format=json", "--size=4K", "cat {in}")[1])
    assert not {"sparse_input", "other_file_system"} & {w["name"] for w in doc["warnings"]}, doc["warnings"]
    assert doc["environment"]["cpu"]["limit"] and doc["environment"]["memory"]["limit"], doc["environment"]
    there = Path("/dev/shm") / place.name
    if subprocess.run(["stat", "-f", "-c%T", "/dev/shm"], capture_output=True, text=True, check=False).stdout != "tmpfs\n" or \
            os.stat(place).st_dev == os.stat("/dev/shm").st_dev:
        raise Skip("/dev/shm is not another file system")
    there.write_text("x" * 4096)
    doc = json.loads(run(place, "--input", str(there), "--runs=1", "--format=json", "-s", "one-shot", "--no-count")[1])
    there.unlink()
    assert "other_file_system" in [w["name"] for w in doc["warnings"]], doc["warnings"]


def test_metrics_from_the_output(place):
    """--metric: the number is in tables, CSV, samples, saved runs, reports and gates; it is read from both outputs."""
    saved = place / "saved.json"
    fast, slow = "echo 1,00$SCTRACE_RUN.5 ops", "echo 50$SCTRACE_RUN ops"
    options = ["--runs=6", "--no-count", "--metric", "ops/s=/([0-9.,]+) ops/", "--metric", "late=/late [0-9]+|[0-9]+$/"]
    status, out, err = run(place, *options, "--save", str(saved), fast, slow, "echo 7 >&2; echo none")
    assert status == 0, err
    first, second, third = (r["metrics"] for r in json.loads(saved.read_text())["results"])
    assert first == [{"name": "ops/s", "samples": [1001.5, 1002.5, 1003.5, 1004.5, 1005.5, 1006.5]},
                     {"name": "late", "samples": [None] * 6}], first
    assert second[0]["samples"] == [501, 502, 503, 504, 505, 506], second
    assert third == [{"name": "ops/s", "samples": [None] * 6}, {"name": "late", "samples": [7] * 6}], third
    assert warned(json.loads(saved.read_text()), "no_metric") == [fast, slow, "echo 7 >&2; echo none"], err
    assert re.search(r"^command .* ops/s +late$", out, re.M) and re.search(r"^echo 50.* 503\.5$", out, re.M), out

    def report(*args):
        return subprocess.run([SCTRACE, "report", *args], capture_output=True, text=True, check=False)

    medians = [row["ops/s"] for row in csv.DictReader(io.StringIO(report("--format=csv", saved).stdout))]
    assert medians == ["1004", "503.5", ""], medians
    samples = [row["ops/s"] for row in csv.DictReader(io.StringIO(report("--format=samples", saved).stdout))]
    assert samples[6:8] == ["501", "502"], samples
    assert re.search(r"^ *ops/s|ops/s +late$", report(saved, saved).stdout, re.M), report(saved, saved).stdout
    for condition, want in (("metric(ops/s)<-5%", 3), ("metric(ops/s)>5%", 0), ("metric(ops/s)<-100.5", 3), ("metric(none)>0", 4),
                            ("metric>5%", 2), ("metric(ops/s)>x", 2)):
        assert report("--fail-if", condition, saved).returncode == want, (condition, report("--fail-if", condition, saved).stderr)
    assert report("--merge", saved, saved).returncode != 0
    saved.unlink()
    file = place / "log"
    got = rows(place, "--runs=2", "--metric=n=/[0-9]+/", f"--command-output={file}", "echo 42")
    assert got["echo 42"]["metrics"] == [{"name": "n", "samples": [42, 42]}], got
    # A metric may have the name of another figure, and a decimal comma is not one between thousands.
    options = [f"--metric={n}=/n ([0-9,]+)/" for n in ("calls", "user_s", "wall_median_s")]
    assert run(place, "--runs=6", "--no-count", "--save", str(saved), *options, "echo n 1,234,567", "echo n 12,5")[0] == 0
    for form, keys in (("csv", ["calls_2", "user_s", "wall_median_s_2"]), ("samples", ["calls", "user_s_2", "wall_median_s"])):
        got = list(csv.DictReader(io.StringIO(report(f"--format={form}", saved).stdout)))
        assert [got[0][k] for k in keys] == ["1234567"] * 3 and [got[-1][k] for k in keys] == [""] * 3, (form, got)
    summary = json.loads(report("--format=json", saved).stdout)["summary"]
    assert summary[0]["wall_median_s"] == summary[0]["calls"] == 1234567, summary
    assert "has runs whose output lacks this metric" in report("--fail-if=metric(calls)>1%", saved).stderr
    saved.unlink()
    for wrong, told in ((["n"], "write NAME=/REGEX/"), (["n=x"], "write NAME"), (["n=//"], "write NAME"), (["=/x/"], "write NAME"),
                        (["n=/(/"], "Unmatched"), (["n=/(\\d+) ops/"], "write [0-9]"), (["n=/x/", "--metric=n=/y/"], "given twice"),
                        (["n=/x/", "--command-output=pipe"], "--command-output=FILE"), (["n=/x/", "--show-output"], "reads the output")):
        status, _, err = run(place, "--metric", *wrong, "true")
        assert status == 2 and told in err, (wrong, err)


def test_rows_are_sorted(place):
    """--sort orders the table and the saved run; rows that failed come last"""
    commands = ["exit 3", "sleep 0.2", "python3 -c 'x = bytearray(64 << 20)'", "true"]

    def names(by):
        return [r["name"] for r in json.loads(run(place, "--runs=2", "--format=json", f"--sort={by}", *commands)[1])["results"]]

    assert names("wall").index("true") < names("wall").index("sleep 0.2") < names("wall").index("exit 3") == 3
    assert names("peak_rss")[2:] == [commands[2], "exit 3"]
    assert run(place, "--sort=size", "true")[0] == 2
    # These options of hyperfine have another meaning here, and would be misunderstood without a message.
    for wrong, told in ((["--input=/etc/passwd", "wc -l"], "no command contains {in}"), (["--output=pipe", "true"], "--command-output"),
                        (["--output=inherit", "true"], "--command-output"), (["-o", "null", "true"], "--command-output")):
        status, _, err = run(place, *wrong)
        assert status == 2 and told in err, (wrong, err)
    for uncounted in ("--no-count", "--no-trace"):
        status, _, err = run(place, "--sort=calls", uncounted, "true")
        assert status == 2 and "needs the calls to be counted" in err, err


def test_several_exports(place):
    """One run can be printed and written in every format, and its tables in one unit of time"""
    names = ("csv", "markdown", "html", "json")
    files = {n: place / f"result.{n}" for n in names}
    common = ["--runs=3", "--no-count", "true", "sleep 0.02"]
    exports = [f"--export-{n}={f}" for n, f in files.items()]
    status, out, err = run(place, *common, *exports, "--save", place / "saved", "-u", "ms")
    assert status == 0 and re.search(r"^sleep 0\.02 +[\d.]+ ms ", out, re.M), (out, err)
    assert files["json"].read_text() == (place / "saved").read_text()
    assert "<svg" in files["html"].read_text() and files["markdown"].read_text().startswith("| command | wall |")
    cells = next(line for line in files["markdown"].read_text().splitlines() if "sleep" in line).split(" | ")
    assert all(c.endswith(" ms") or c == "0" for c in cells[1:5]), cells
    assert files["csv"].read_text().startswith("command,buffer_bytes,"), files["csv"].read_text()
    wall = float(list(csv.DictReader(io.StringIO(files["csv"].read_text())))[1]["wall_median_s"])
    assert 0.01 < wall < 20, wall
    # Each unit shows the same time; the words of hyperfine are accepted.
    for unit, ns in (("second", 1e9), ("us", 1e3), ("nanosecond", 1)):
        shown = subprocess.run([SCTRACE, "report", "--time-unit", unit, place / "saved"], capture_output=True, text=True, check=True).stdout
        got = re.search(r"^sleep 0\.02 +([\d.,]+) \w+", shown, re.M).group(1)
        assert abs(float(got.replace(",", "")) * ns - wall * 1e9) <= wall * 1e9 / 150, (unit, got, wall)
    for f in files.values():
        f.unlink()
    (place / "saved").unlink()
    for wrong, says in ((["-u", "minutes"], "not one of s, ms, us, ns"), (["--export-csv=-"], "--export-csv needs the name of a file"),
                        (["--export-csv", place / "x", "--export-html", place / "x"], "name the same file"),
                        (["--svg", place / "x.svg", "--export-html", place / "x-bars.svg"], "can also draw the picture"),
                        (["--export-csv", place / "no" / "x"], "cannot write")):
        status, out, err = run(place, *wrong, *common)
        assert status in (2, 125) and says in err and not out, (wrong, err)


def test_small_matters(place):
    """Closed standard input is /dev/null; '-' is not a file for --save and --svg; names contain parameters"""
    command = [SCTRACE, "compare", "--dir", str(place), "--runs=1", "--format=json", "cat", "test -c /dev/fd/0"]
    done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *command], capture_output=True, text=True, check=False, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    # Without a standard error, the commands still have one.
    command[-2:] = ["echo x >&2 && test -f /dev/fd/2"]
    done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *command], capture_output=True, text=True, check=False, timeout=TIMEOUT)
    assert done.returncode == 0, done.stdout
    for option in ("--save", "--svg"):
        status, _, err = run(place, "--runs=1", option, "-", "true")
        assert status == 2 and f"{option} needs the name of a file" in err, err
    got = rows(place, "--runs=1", "--no-count", "-P", "n=1:2", "--command-name=T{n}", "true {n}")
    assert list(got) == ["T1", "T2"], list(got)


def test_parameters(place):
    got = rows(place, "--runs=1", "--no-count", "-P", "n=1:3", "true {n}")
    assert list(got) == ["true {n} (n=1)", "true {n} (n=2)", "true {n} (n=3)"], list(got)
    got = rows(place, "--runs=1", "--no-count", "-L", "w=a,b", "true {w}")
    assert list(got) == ["true {w} (w=a)", "true {w} (w=b)"], list(got)
    got = rows(place, "--runs=1", "--no-count", "-L", r"w=,a\,b,c\\d", "true {w}")
    assert [r["parameters"]["w"] for r in got.values()] == ["", "a,b", r"c\d"], list(got)
    # The form of hyperfine's option.
    got = rows(place, "--runs=1", "--no-count", "-P", "n", "1", "2", "true {n}")
    assert list(got) == ["true {n} (n=1)", "true {n} (n=2)"], list(got)
    got = rows(place, "--runs=1", "--no-count", "-L", "w", "a,b", "true {w}")
    assert list(got) == ["true {w} (w=a)", "true {w} (w=b)"], list(got)


def test_parameters_are_filled_in_everywhere(place):
    log = place / "log"
    got = rows(place, "--runs=2", "-P", "n", "1", "2", "-L", "w=a,b", "--prepare", f"echo {{n}}{{w}} >> {log}", "true {n}",
               "true {w}")
    assert len(got) == 8 and "true {w} (n=2, w=a)" in got, list(got)
    assert got["true {w} (n=2, w=a)"]["parameters"] == {"n": "2", "w": "a"}
    lines = log.read_text().split()
    # Each command is prepared for the counted run, if there is one, for the warm-up, and for two timed runs.
    assert {lines.count(x) for x in ("1a", "1b", "2a", "2b")} in ({6}, {8}), lines
    assert "(n=1000001)" in list(rows(place, "--runs=1", "--no-count", "-P", "n=1000000:1000001", "true {n}"))[1]


def test_each_command_has_a_preparation(place):
    # rm fails unless the file is prepared before each run, including the counted one.
    f, g = place / "f", place / "g"
    got = rows(place, "--runs=2", "-p", f"touch {f}", "-p", f"touch {g}", f"rm {f}", f"rm {g}")
    assert all(r["samples"] == 2 for r in got.values()), got
    status, _, err = run(place, "-p", "true", "-p", "true", "true 1", "true 2", "true 3")
    assert status == 2 and "--prepare is given 2 times for 3 commands" in err, err


def test_each_run_is_prepared_and_concluded(place):
    log = place / "log"
    run(place, "--runs=2", "--columns=opens", "-p", f"echo p >> {log}", "-C", f"echo c >> {log}", "true")
    # The counted run, the run of --columns, the warm-up and two timed runs.
    assert log.read_text().split() == ["p", "c"] * 5, log.read_text()


def test_commands_have_names(place):
    got = rows(place, "--runs=1", "--no-count", "--command-name=nothing", "true", "true 2")
    assert list(got) == ["nothing", "true 2"] and got["nothing"]["command"] == "true", got
    status, _, err = run(place, "--command-name=a", "--command-name=b", "true")
    assert status == 2 and "--command-name is given 2 times for 1 command" in err, err


def test_a_minimum_time_is_respected(place):
    got = rows(place, "--no-count", "-N", "--min-time=400ms", "true")["true"]
    assert sum(got["samples_s"]) >= 0.4, (got["samples"], sum(got["samples_s"]))


def test_other_shells(place):
    status, _, err = run(place, "--runs=1", "--shell=none", "true")
    assert status == 0, err
    status, _, err = run(place, "--runs=1", "--shell=sh -e", "false; true")
    assert status == 125 and "exited with status 1" in err, err


def test_a_path_with_spaces(place):
    odd = place / "it's a place"
    odd.mkdir()
    command = [SCTRACE, "compare", "--dir", str(odd), "--size=4K", "--runs=1", "cp {in} {out}", "--format=json"]
    p = subprocess.run(command, capture_output=True, text=True, check=False)
    assert p.returncode == 0, p.stderr
    assert list(odd.iterdir()) == []


def test_other_formats(place):
    _, out, _ = run(place, "--format=csv", "--size=4K", "--runs=2", "--all", "--no-count")
    table = list(csv.DictReader(io.StringIO(out)))
    assert "" not in table[0] and len(table[0]) == len(set(out.splitlines()[0].split(","))), out
    assert {"strategy", "buffer_bytes", "calls", "wall_median_s", "peak_rss_bytes", "unable"} <= set(table[0]), table[0]
    assert all(float(r["wall_median_s"]) > 0 for r in table if not r["unable"])
    _, out, _ = run(place, "--format=markdown", "--size=4K", "--runs=2", "-s", "one-shot,sendfile")
    assert re.match(r"\| *strategy ", out), out


def test_saved_and_drawn(place):
    saved, drawn = place / "run.json", place / "p.svg"
    status, _, err = run(place, "--size=8K", "--runs=3", f"--save={saved}", f"--svg={drawn}")
    assert status == 0, err
    doc = json.loads(saved.read_text())
    assert doc["schema"] == "sctrace-run" and doc["kind"] == "compare"
    assert doc["environment"]["kernel"]["release"] == os.uname().release
    assert doc["environment"]["file_system"]["type"]
    for name in ("p.svg", "p-scan.svg", "p-tradeoff.svg"):
        assert (place / name).read_text().lstrip().startswith("<svg"), name
    status, _, err = run(place, "--size=4K", "--runs=1", "--no-count", "--save=/no/such/folder/x")
    assert status == 125 and "/no/such/folder/x" in err, err


def test_the_file_of_the_user_is_safe(place):
    """Commands change, replace or remove only their copy of the input, which each run has anew."""
    data = place / "data"
    content = bytes(range(256)) * 64
    data.write_bytes(content)
    data.chmod(0o640)
    commands = [": > {in}", "rm {in}", "cp /dev/null {in}x; mv {in}x {in}", "rm {in}; mkdir {in} {in}/x", "mkdir {out}",
                "test ! -L {in} && cmp {in} %s && cp {in} {out}" % data]
    for how in ([], ["--no-count"], ["--columns=all"], ["--size=1K"]):
        few = commands[:-1] if "--size=1K" in how else commands
        status, out, err = run(place, "--input", str(data), "--runs=2", "--format=json", *how, *few)
        assert status == 0, err
        doc = json.loads(out)
        [warning] = [w for w in doc["warnings"] if w["name"] == "changed_input"]
        assert warning["rows"] == commands[:4], warning
        assert [r.get("input_changed", False) for r in doc["results"]] == [c in commands[:4] for c in few], doc
        assert data.read_bytes() == content and data.stat().st_mode & 0o777 == 0o640, how
    run(place, "--input", str(data), "--runs=1", "-s", "one-shot", "--no-count", "--prepare", ": > {in}")
    assert data.read_bytes() == content
    data.unlink()


def test_paths_with_blanks_may_be_quoted(place):
    odd = place / "it's a $HOME"
    odd.mkdir()
    got = rows(odd, "--runs=1", "--no-count", "--size=4K", 'cp "{in}" "{out}"', "cp '{in}' '{out}'", "cp {in} {out}",
               'cp "$(ls {in})" "$(echo "{out}")"')
    assert [r["copied"] for r in got.values()] == [True] * 4, got


def test_calls_of_a_daemon_are_not_awaited(place):
    """The calls of a process that a command has left behind are not waited for, and the process survives."""
    engines = subprocess.run([SCTRACE, "--list-engines"], capture_output=True, text=True, check=True).stdout
    daemon = place / "daemon"
    daemon.write_text("#!/bin/sh\ntrap '' HUP\n: > started\nwhile [ ! -e stop ]; do sleep 0.05; done\n: > ended.$$\n")
    daemon.chmod(0o755)
    for engine in ("ptrace", "patch"):
        if engine == "patch" and "seccomp filter" in engines:
            continue  # such a daemon needs sctrace to the end
        for more in ([], ["--columns=all"]):
            for old in place.glob("ended.*"):
                old.unlink()
            (place / "stop").unlink(missing_ok=True)
            got = rows(place, "--runs=2", "--warmup=0", f"--engine={engine}", *more, "./daemon & true", "true", cwd=place)
            assert counted(got["./daemon & true"]).get("processes_left") is True, got
            assert "processes_left" not in counted(got["true"]), got
            assert list(place.glob("ended.*")) == []
            (place / "stop").touch()
            want = 4 if more else 3
            until = time.monotonic() + 60
            while len(list(place.glob("ended.*"))) < want and time.monotonic() < until:
                time.sleep(0.05)
            assert len(list(place.glob("ended.*"))) == want, list(place.iterdir())


def test_tables_need_no_locale(place):
    """Tables are the same if no locale of UTF-8 is installed."""
    saved = place / "漢字é.json"
    run(place, "--size=4K", "--runs=2", "--save", str(saved), "--", "true 漢字é", "true é")
    want = None
    for lang in (None, "C", "C.UTF-8"):
        env = {k: v for k, v in os.environ.items() if not k.startswith("LC_") and k != "LANG"}
        # If there is no such locale, newlocale(3) of glibc 2.36 does not free its copy of LOCPATH.
        leaks = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        for more in ({}, {"LOCPATH": "/nonexistent"} | leaks):
            env |= more | ({"LANG": lang} if lang else {})
            out = subprocess.run([SCTRACE, "report", saved, saved], env=env, capture_output=True, check=True, timeout=60).stdout
            want = want or out
            assert out == want, (lang, more, out.decode(), want.decode())
    assert "true 漢字é".encode() in want, want.decode()


def test_other_programs_are_seen_beside_short_runs(place):
    """Programs that use the processors are seen, although the runs are shorter than what the ticks of /proc/stat can tell"""
    saved = place / "short.json"
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    try:
        status, out, err = run(place, "--runs=12", "--no-count", "--no-shell", "--save", str(saved), "true")
    finally:
        for other in busy:
            other.kill()
            other.wait()
    assert status == 0, err
    share = json.loads(saved.read_text())["settings"]["other_cpu_share"]
    assert share is not None and share > 0.1, share
    assert "other programs used the processors" in " ".join(out.split()), out


def test_a_page_needs_no_network(place):
    status, out, err = run(place, "--format=html", "--size=8K", "--runs=2")
    assert status == 0 and err == "", err
    assert out.startswith("<!doctype html>") and out.rstrip().endswith("</html>"), out[:100]
    assert out.count("<svg") >= 3
    outside = re.findall(r'(?:src|href)="([^"#][^"]*)"|url\(([^)#]+)\)|@import', out)
    assert outside == [], outside


def test_waits(place):
    """The calls that waited are counted: a command that sleeps waits. They are not known under ptrace"""
    saved = place / "run.json"
    words = ["--runs=2", "--no-shell", "sleep 0.01"]
    status, out, err = run(place, *words, "--explain", "--save", str(saved), env={**os.environ, "COLUMNS": "200"})
    assert status == 0, err
    counts = counted(json.loads(saved.read_text())["results"][0])
    if "waits" not in counts:
        raise Skip("waits are not known here")
    assert counts["waits"] >= 1 and counts["waited_s"] > 0, counts
    assert re.search(r" waits +(waited +)?wall ", out) and " of them waited and took " in " ".join(out.split()), out
    row = next(csv.DictReader(io.StringIO(run(place, *words, "--format=csv")[1])))
    assert int(row["waits"]) >= 1 and float(row["waited_s"]) > 0, row
    shown = subprocess.run([SCTRACE, "report", "--format=csv", str(saved)], capture_output=True, text=True, check=True, timeout=TIMEOUT).stdout
    assert next(csv.DictReader(io.StringIO(shown)))["waits"] == str(counts["waits"]), shown
    status, out, err = run(place, "--engine=ptrace", "--format=csv", *words)
    assert status == 0 and next(csv.DictReader(io.StringIO(out)))["waits"] == "", (out, err)
    status, out, err = run(place, "--engine=ptrace", *words)
    assert status == 0 and "; waits are not known" in " ".join(out.split()), (out, err)
    # On a busy machine, env may wait before it executes the program. Its waits are known, so the number is then not empty.
    results = (run(place, *words, "env GLIBC_TUNABLES=glibc.pthread.rseq=0 sleep 0.01") for _ in range(20))
    assert any(status == 0 and "; where 'waits' is empty, the number is not known" in " ".join(out.split()) for status, out, _ in results)
    # The waits of the shell are known, but not those of a program without an area for restartable sequences. Their sum is not 0.
    status, out, err = run(place, "--runs=2", "--format=csv", "GLIBC_TUNABLES=glibc.pthread.rseq=0 exec sleep 0.01")
    assert status == 0 and next(csv.DictReader(io.StringIO(out)))["waits"] != "0", (out, err)


def test_cold_is_proven(place):
    status, out, err = run(place, "--cold", "--fsync", "--size=256K", "--runs=2", "-s", "one-shot", "--no-count")
    assert status == 0, err
    flat = out.replace("\n", " ")
    assert "cold cache" in flat and "including fsync" in flat, out
    doc = json.loads(run(place, "--cold", "--size=256K", "--runs=2", "-s", "one-shot", "--no-count", "--format=json")[1])
    share = doc["settings"]["input_resident_share"]
    assert share is None or 0 <= share <= 1
    names = [w["name"] for w in doc["warnings"]]
    assert ("not_cold" in names) == (share != 0), (share, names)


def test_a_moved_build_finds_its_copiers(place):
    home = place / "moved"
    (home / "examples").mkdir(parents=True)
    shutil.copy(SCTRACE, home / "sctrace")
    examples = Path(SCTRACE).parent / "examples"
    shutil.copy(examples / "copy-read-write2", home / "examples")
    (home / "examples" / "copy-sendfile").write_text("#!/bin/sh\necho moved >&2\nexit 3\n")
    (home / "examples" / "copy-sendfile").chmod(0o755)
    command = [home / "sctrace", "compare", "--dir", place, "--size=4K", "--runs=1", "--no-count", "-s",
               "one-shot,sendfile"]
    p = subprocess.run(command, capture_output=True, text=True, check=False)
    assert p.returncode == 0 and "sendfile failed: moved" in p.stdout, p


def test_memory_runs_out(place):
    """If memory runs out for a word of a command line, there is a message, and no other command runs."""
    fail = Path(SCTRACE).parent / "tests/e2e/fail.so"
    for what in (["-s", "read/write", "-b", "4K"], ["-N", "cp {in} {out}"]):
        for n in range(1, 17):
            status, out, err = run(place, "--size=4K", "--runs=1", "--warmup=0", *what,
                                   env={**os.environ, "LD_PRELOAD": str(fail), "SCTRACE_FAIL": f"malloc:{n}"})
            said = err.replace("(failed as ordered)\n", "")
            assert said != err, f"{what}, {n}: not reached"
            assert status in (0, 2, 125) and (status == 0 or said), f"{what}, {n}: ended with {status}: {err}"


def test_manual_cut(place):
    """The example of cut(1) in the manual selects the columns that it is meant to select"""
    manual = Path(__file__).resolve().parents[2] / "man" / "sctrace-compare.1"
    fields = re.search(r"--format=csv \| cut -d, -f([0-9,]+)$", manual.read_text(), re.M)[1]
    header = run(place, "--format=csv", "--size=4K", "--runs=1", "-s", "one-shot")[1].splitlines()[0].split(",")
    assert [header[int(x) - 1] for x in fields.split(",")] == ["strategy", "buffer_bytes", "calls", "wall_median_s"], header


def test_the_list(place):
    done = subprocess.run([SCTRACE, "compare", "--list"], capture_output=True, text=True, check=True)
    names = [line.split()[0] for line in done.stdout.splitlines()[1:]]
    assert {"fgetc/fputc", "read/write", "one-shot", "O_DIRECT", "io_uring"} <= set(names), names
    manual = Path(__file__).resolve().parents[2] / "man" / "sctrace-compare.1"
    described = re.findall(r"^\.It Cm (\S+)$", manual.read_text(), re.M)
    assert described == names, (described, names)
    offered = subprocess.run([SCTRACE, "--completion", "bash"], capture_output=True, text=True, check=True).stdout
    assert set(names) <= set(re.findall(r"[^\s'\"()]+", offered)), set(names) - set(re.findall(r"[^\s'\"()]+", offered))


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
