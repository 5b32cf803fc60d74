# SPDX-License-Identifier: MIT
"""Cases about recordings, like those of scenarios.py: the output of `sctrace show`, and the flight recorder."""
import json
import os
import pty
import re
import select
import signal
import stat
import subprocess
import time

from run import Failed, Skip, execute, tail
from scenarios import attached, end_attached, left_over, running, scenario, tracer, until, wait_end, wait_ready

TRACES = ["trace", "record", "record-small"]
# Options that change how a trace is shown. For each, a live trace is written while the program is recorded.
LOOKS = [[], ["-s", "100"], ["-s", "0"], ["-v"], ["-x"], ["-xx", "-i", "-n"], ["-y", "-T"], ["-yy", "-r"], ["-Y", "-t"], ["-X", "raw", "-ttt"],
         ["-X", "verbose", "-tt"], ["-a", "10", "-qq"], ["--abbrev=none", "--raw=openat"], ["--json"], ["--json", "-yy"],
         ["--format=perfetto"], ["-e", "read=all", "-e", "write=3"], ["-e", "signal=none"]]
SCRIPT = "cat /etc/passwd | head -n 2; ls /nonexistent; kill -USR1 $$; trap '' TERM; kill $$; exec true"


def show(world, *words, status=0):
    """Returns what `sctrace show` prints."""
    seen = execute([str(world.sctrace), "show", *map(str, words)], cwd=world.scratch)
    if seen.status != status:
        raise Failed(f"show {words} ended with {seen.status}\n" + tail(seen.stderr))
    return seen.stdout.decode(errors="backslashreplace")


def record(world, mode, *words, status=None):
    """Records to the file `recording`. Returns sctrace's messages."""
    argv, env = tracer(world, mode, "--record", world.scratch / "recording", *words, out=None)
    seen = execute(argv, b"", env, cwd=world.scratch)
    if status is not None and seen.status != status:
        raise Failed(f"ended with {seen.status}, not {status}\n" + tail(seen.stderr))
    return seen


def difference(live, shown):
    for one, other in zip(live.splitlines(), shown.splitlines()):
        if one != other:
            return f"live:  {one[:300]!r}\nshown: {other[:300]!r}"
    return f"live: {len(live)} bytes, shown: {len(shown)}"


@scenario("show", TRACES)
def show_same(world, mode):
    """A recording is shown byte for byte as the live trace of the same run"""
    for words in (["sh", "-c", SCRIPT], [world.program("everycall")], [world.program("tasks"), "fork"]):
        for look in LOOKS:
            record(world, mode, "-f", "-o", world.scratch / "live", *look, "--", *words)
            live = (world.scratch / "live").read_text(errors="backslashreplace")
            show(world, "-o", "shown", *look, "recording")
            shown = (world.scratch / "shown").read_text(errors="backslashreplace")
            if live != shown or not live:
                raise Failed(f"{words[0]} {look}\n" + difference(live, shown))


@scenario("show", ["trace"])
def show_stacks(world, mode):
    """Stacks that were recorded are shown as in the live trace; others are refused"""
    record(world, mode, "-k", "-o", world.scratch / "live", "--", world.program("stack"), status=0)
    live = (world.scratch / "live").read_text()
    if " > " not in live:
        raise Skip("sctrace was built without libunwind")
    if show(world, "-k", "recording") != live:
        raise Failed(difference(live, show(world, "-k", "recording")))
    if not re.search(r"(?m)^\S+;main;.* \d+$", show(world, "--stacks=folded", "recording")):
        raise Failed("no folded stacks")
    record(world, mode, "--", "true", status=0)
    show(world, "-k", "recording", status=2)


@scenario("show", TRACES)
def show_data(world, mode):
    """The beginning of data that was read or written is shown even if -e read= and -e write= were not given while recording"""
    record(world, mode, "--", "sh", "-c", "echo 0123456789abcdefg; exec cat /etc/passwd", status=0)
    begins = show(world, "-e", "read=all", "-e", "write=all", "-e", "trace=read,write", "recording")
    if not re.search(r"(?m)^write\(1, .*\n \| 00000  30 31 32 33 .*\n \| 00010  67 0a ", begins):
        raise Failed("the data of write is missing\n" + begins[-2000:])
    if not re.search(r'(?m)^read\(3, "root:.*\n \| 00000  72 6f 6f 74 ', begins):
        raise Failed("the data of read is missing\n" + begins[-2000:])


def lines_of(text):
    return [line for line in text.splitlines() if re.match(r"[a-z0-9_]+\(", line)]


@scenario("show", TRACES)
def show_selects(world, mode):
    """Options that select or count calls give the same for a recording as for the lines of the whole trace"""
    record(world, mode, "--", "sh", "-c", "read x < /etc/passwd; cd /etc; true < nonesuch; true < passwd; exec true")
    whole = lines_of(show(world, "-y", "recording"))
    failed = [line for line in whole if "= -1 E" in line]
    expected = {("-Z",): failed, ("-z",): [x for x in whole if x not in failed and "= ?" not in x],
                ("-e", "status=failed"): failed, ("-e", "errno=ENOENT"): [x for x in failed if "ENOENT" in x],
                ("-e", "trace=openat,read"): [x for x in whole if x.startswith(("openat(", "read("))],
                ("--slower=1000000",): [], ("--slower=0",): whole}
    for words, wanted in expected.items():
        if lines_of(show(world, "-y", *words, "recording")) != wanted:
            raise Failed(f"{words}: " + difference("\n".join(wanted), "\n".join(lines_of(show(world, "-y", *words, "recording")))))
    passwd = lines_of(show(world, "-P", "/etc/passwd", "recording"))
    if sum(x.startswith("openat(") for x in passwd) != 2 or not any(x.startswith("read(") for x in passwd):
        raise Failed("-P /etc/passwd:\n" + "\n".join(passwd))
    counts = show(world, "-c", "-U", "calls,errors,syscall", "--format=csv", "recording")
    total = sum(int(line.split(",")[0]) for line in counts.splitlines()[1:])
    if total != len(whole):
        raise Failed(f"-c counts {total} calls of {len(whole)}")
    if "/etc/passwd" not in show(world, "-c", "--by=path", "recording"):
        raise Failed("--by=path does not name the file")
    show(world, "-c", "--save", "saved.json", "recording")
    report = execute([str(world.sctrace), "report", "saved.json"], cwd=world.scratch)
    if report.status or b"openat" not in report.stdout:
        raise Failed("report of the saved run:\n" + tail(report.stdout + report.stderr))


@scenario("show", TRACES)
def show_incomplete(world, mode):
    """The existing part of a truncated recording is shown, with a warning and status 1; its mode is 0600"""
    old = os.umask(0)
    try:
        record(world, mode, "--", world.program("crash"), "exits", "0", "30000", status=0)
    finally:
        os.umask(old)
    path = world.scratch / "recording"
    if stat.S_IMODE(path.stat().st_mode) != 0o600:
        raise Failed(f"mode {path.stat().st_mode:o}")
    whole, size = show(world, "recording"), path.stat().st_size
    for part in (size - 1, size // 2, size // 3):
        os.truncate(path, part)
        seen = execute([str(world.sctrace), "show", "recording"], cwd=world.scratch)
        text = seen.stdout.decode()
        at = text.rfind("\n", 0, len(text) - 40)  # the last line may be a call that continues
        if seen.status != 1 or b"is incomplete" not in seen.stderr or not whole.startswith(text[:at]) or at < 100:
            raise Failed(f"{part} of {size} bytes: status {seen.status}\n" + tail(seen.stderr))
    counts = show(world, "-c", "--expect=user<1s", "recording", status=125)
    if "program: its times are not known" not in counts or " wall" in counts:
        raise Failed("times of a program whose end was not recorded\n" + counts[-400:])


@scenario("show", ["record"])
def show_joined(world, mode):
    """Of two recordings in one file, only the first is shown, with a warning and status 1"""
    record(world, mode, "--", "true", status=0)
    path = world.scratch / "recording"
    one = path.read_bytes()
    whole = show(world, "recording")
    for more in (one, b"\0"):
        path.write_bytes(one + more)
        seen = execute([str(world.sctrace), "show", "recording"], cwd=world.scratch)
        if seen.status != 1 or f"ends at byte {len(one)}, but the file continues".encode() not in seen.stderr:
            raise Failed(f"{len(more)} bytes more: status {seen.status}\n" + tail(seen.stderr))
        if seen.stdout.decode() != whole:
            raise Failed(f"{len(more)} bytes more:\n" + difference(whole, seen.stdout.decode()))


@scenario("show", ["record"])
def show_overwrites(world, mode):
    """No output can overwrite the recording"""
    recording, link = world.scratch / "recording", world.scratch / "link"
    record(world, mode, "--", "true", status=0)
    link.unlink(missing_ok=True)
    link.symlink_to(recording)
    content = recording.read_bytes()
    for words in (["-o", recording, recording], ["-o", link, recording], ["-A", "-o", recording, link], ["-c", "--save", recording, recording],
                  ["--diff", "-o", recording, link, recording]):
        show(world, *words, status=2)
    if recording.read_bytes() != content:
        raise Failed("the recording was changed")
    for words in (["--record", "same", "-o", "same"], ["-c", "--save", "same", "-o", "same"], ["--record", link, "-o", recording]):
        seen = execute([str(world.sctrace), *map(str, words), "true"], cwd=world.scratch)
        if seen.status != 2 or (world.scratch / "same").exists():
            raise Failed(f"{words} ended with {seen.status}\n" + tail(seen.stderr))
    record(world, mode, "-o", "/dev/null", "--", "true", status=0)


@scenario("show", ["record"])
def show_busy(world, mode):
    """A second recorder does not write to a file while the first one does; its program does not run"""
    argv, env = tracer(world, mode, "--record", world.scratch / "recording", "--", world.program("crash"), "serves", out=None)
    with running(argv, env) as process:
        wait_ready(process)
        seen = record(world, mode, "--", "echo", "ran", status=125)
        if b"another sctrace is writing to it" not in seen.stderr or seen.stdout:
            raise Failed(tail(seen.stdout + seen.stderr))
        process.send_signal(signal.SIGTERM)
        wait_end(process)
    show(world, "recording")
    record(world, mode, "--", "true", status=0)


@scenario("show", TRACES)
def show_killed(world, mode):
    """If sctrace is killed by SIGKILL, the part that it has written can be shown, and the program continues"""
    argv, env = tracer(world, mode, "--record", world.scratch / "recording", "--", world.program("crash"), "serves", out=None)
    with running(argv, env) as process:
        wait_ready(process)
        # sctrace writes a block after one second.
        until("a block is written", lambda: (world.scratch / "recording").stat().st_size > 20000)
        process.kill()
        process.wait()
    seen = execute([str(world.sctrace), "show", "recording"], cwd=world.scratch)
    if seen.status != 1 or b"getpgid(100100)" not in seen.stdout:
        raise Failed(f"status {seen.status}\n" + tail(seen.stdout + seen.stderr))


@scenario("show", TRACES)
def show_unwritable(world, mode):
    """A recording that cannot be written ends with status 125 and a message, and the program is not affected"""
    argv, env = tracer(world, mode, "--record", "/dev/full", "--", "sh", "-c", "echo one; echo two", out=None)
    seen = execute(argv, b"", env, cwd=world.scratch)
    if seen.status != 125 or seen.stdout != b"one\ntwo\n" or b"cannot write the recording '/dev/full': No space left" not in seen.stderr:
        raise Failed(f"status {seen.status}\n" + tail(seen.stdout + seen.stderr))
    (world.scratch / "recording").unlink(missing_ok=True)
    record(world, mode, "--", "/nonexistent/program", status=127)
    if (world.scratch / "recording").exists():
        raise Failed("an empty recording is left")
    record(world, mode, "--", world.program("crash"), "exits", "0", "5000", status=0)
    earlier = (world.scratch / "recording").read_bytes()
    record(world, mode, "--", "/nonexistent/program", status=127)
    if (world.scratch / "recording").read_bytes() != earlier:
        raise Failed("the program does not exist, but the earlier recording was changed")
    record(world, mode, "--", "true", status=0)
    if b"getpgid" in show(world, "recording").encode():
        raise Failed("the earlier recording was not replaced")
    seen = execute([str(world.sctrace), "show", "-o", "/dev/full", "recording"], cwd=world.scratch)
    if seen.status != 125 or seen.stderr != b"sctrace: cannot write '/dev/full': No space left on device\n":
        raise Failed(f"show: status {seen.status}\n" + tail(seen.stderr))


@scenario("show", TRACES)
def show_unread(world, mode):
    """If nothing reads a recording, SIGTERM ends sctrace and the program, with a message"""
    fifo = world.scratch / "fifo"
    fifo.unlink(missing_ok=True)
    os.mkfifo(fifo)
    argv, env = tracer(world, mode, "--record", fifo, "--", world.program("crash"), "exits", "0", "100000000", out=None)
    with running(argv, env) as process, open(fifo, "r+b", buffering=0) as pipe:
        if pipe.read(8) != b"SCTRACE\n":
            raise Failed("no recording in the pipe")
        # The pipe is full from now on.
        os.set_blocking(pipe.fileno(), False)
        for size in (4096, 1):
            while pipe.write(bytes(size)):
                pass
        process.send_signal(signal.SIGTERM)
        status, _, stderr = wait_end(process)
        if status not in (125, -signal.SIGTERM) or b"cannot write the recording" not in stderr or left_over(process.pid):
            raise Failed(f"status {status}\n" + tail(stderr))


def peak_of(world, *words):
    """The peak resident set of `sctrace show`, in KiB. wait4(2) would give at least that of this process."""
    argv = [str(world.sctrace), "-c", "--engine=ptrace", "--save", "peak.json", "-o", "/dev/null", "--", str(world.sctrace), "show"]
    # Options for AddressSanitizer: it must not keep freed memory, and it cannot check a traced program for leaks.
    env = {"ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=0:thread_local_quarantine_size_kb=0"}
    seen = execute([*argv, "-o", "/dev/null", *words], env=env, cwd=world.scratch)
    if seen.status:
        raise Failed(f"show {words} ended with {seen.status}\n" + tail(seen.stderr))
    return json.loads((world.scratch / "peak.json").read_text())["program"]["peak_rss_bytes"] // 1024


@scenario("show", ["record"])
def show_memory(world, mode):
    """The memory for showing a recording does not grow with its length, however it is shown"""
    for name, n in (("short", "80000"), ("long", "300000")):
        record(world, mode, "--", world.program("crash"), "exits", "0", n, status=0)
        (world.scratch / "recording").rename(world.scratch / name)
    for look in ([], ["-c"], ["--json"], ["-c", "--io"], ["--diff"]):
        peaks = [peak_of(world, *look, *[name] * (1 + ("--diff" in look))) for name in ("short", "long")]
        if peaks[1] > peaks[0] + 2048:
            raise Failed(f"{look}: peak memory {peaks} KiB")


@scenario("show", ["record"])
def show_progress(world, mode):
    """A terminal shows how much of the recording has been read until a table appears, but not between the lines of a trace"""
    record(world, mode, "--", world.program("crash"), "exits", "0", "400000", status=0)

    def on_terminal(*words):
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(world.scratch)
            os.execv(world.sctrace, [str(world.sctrace), "show", *words, "recording"])
        text, stopped = b"", 0.0
        while True:
            try:
                chunk = os.read(fd, 65536) if select.select([fd], [], [], 0.02)[0] else b""
            except OSError:
                break
            text += chunk
            # Progress is shown every quarter of a second. On a fast machine, the recording would be read by then.
            if stopped < 2 and b"recording read" not in text:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(0.3)
                os.kill(pid, signal.SIGCONT)
                stopped += 0.3
        os.close(fd)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode()
    status, text = on_terminal("-c")
    parts = text.split("\r\x1b[K")
    if status or " % of the recording read" not in parts[0] or len(parts) != 2 or "syscall " not in parts[1][:20]:
        raise Failed(f"-c: status {status}\n{text}")
    status, text = on_terminal("-e", "trace=exit_group")
    if status or "recording read" in text:
        raise Failed(f"a trace: status {status}\n{text}")


@scenario("show", TRACES)
def show_attached(world, mode):
    """A recording of a running process is shown as the live trace"""
    with running([world.program("crash"), "serves"]) as target:
        wait_ready(target)
        with attached(world, mode, target.pid, "--record", world.scratch / "recording") as process:
            until("calls are traced", lambda: (world.scratch / "out").read_text().count("getpgid(") > 100)
            end_attached(process)
    live = (world.scratch / "out").read_text()
    if show(world, "recording") != live:
        raise Failed(difference(live, show(world, "recording")))


@scenario("show", TRACES)
def show_daemonized(world, mode):
    """A recording by a tracer in the background (-D) is shown as the live trace"""
    argv, env = tracer(world, mode, "-D", "--record", world.scratch / "recording", "--", world.program("crash"), "exits", "7", "20000")
    seen = execute(argv, b"", env, cwd=world.scratch)
    if seen.status != 7:
        raise Failed(f"ended with {seen.status}\n" + tail(seen.stderr))
    until("the trace is complete", lambda: (world.scratch / "out").read_text().endswith("+++ exited with 7 +++\n"))
    until("the recording is complete", lambda: execute([str(world.sctrace), "show", "-o", "shown", "recording"],
                                                       cwd=world.scratch).status == 0)
    live, shown = ((world.scratch / name).read_text() for name in ("out", "shown"))
    if live != shown or shown.count("getpgid(") != 20000:
        raise Failed(difference(live, shown))


@scenario("show", ["trace", "record"])
def show_diff(world, mode):
    """Two recordings of the same run have no differences; a changed variable and a missing file are found"""
    script = 'kill -0 $$; test -e /proc/$$/status; exec cat "$SHOW_FILE" nonesuch'
    (world.scratch / "gone").write_text("x")

    def make(name, **variables):
        argv, env = tracer(world, mode, "-f", "--record", world.scratch / name, "--", "sh", "-c", script, out=None)
        execute(argv, b"", {**env, "SHOW_FILE": "gone", **variables}, cwd=world.scratch)

    def diff(*words):
        seen = execute([str(world.sctrace), "show", "--diff", *words], b"", {**os.environ, "COLUMNS": "80"}, cwd=world.scratch)
        return seen.status, seen.stdout.decode()
    make("first")
    make("second")
    if diff("first", "second") != (0, ""):
        raise Failed("two runs of one program:\n" + diff("first", "second")[1])
    make("other", SHOW_FILE="/etc/passwd")
    status, text = diff("first", "other")
    if status != 1 or not re.search(r'(?m)^removed +1 +0 +openat\(AT_FDCWD, "gone"', text) or \
            not re.search(r'(?m)^added +0 +1 +openat\(AT_FDCWD, "/etc/passwd"', text) or max(map(len, text.splitlines())) > 80:
        raise Failed(f"status {status}\n{text}")
    found = json.loads(diff("--json", "-e", "openat", "first", "other")[1])["differences"]
    if [(x["change"], x["name"], x["calls"]) for x in found] != [("removed", "openat", [1, 0]), ("added", "openat", [0, 1])]:
        raise Failed(str(found))
    (world.scratch / "gone").unlink()
    make("failing")
    status, text = diff("-e", "openat", "first", "failing")
    if status != 1 or not re.search(r'(?m)^fails +ok +ENOENT +openat\(AT_FDCWD, "gone"', text):
        raise Failed(f"status {status}\n{text}")
    reader, writer = os.pipe()
    os.close(reader)
    gone = subprocess.run([str(world.sctrace), "show", "--diff", "first", "failing"], cwd=world.scratch, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    if gone.returncode != 2 or gone.stderr:
        raise Failed(f"without a reader: status {gone.returncode}\n" + tail(gone.stderr))
    argv, env = tracer(world, mode, "--record", world.scratch / "opens", "-e", "trace=openat", "--", "sh", "-c", script, out=None)
    execute(argv, b"", {**env, "SHOW_FILE": "gone"}, cwd=world.scratch)
    seen = execute([str(world.sctrace), "show", "--diff", "first", "opens"], b"", cwd=world.scratch)
    for note in (b"'first' contains all calls, and 'opens' the calls of -e trace=openat", b"only 'first' contains the calls of child processes"):
        if note not in b" ".join(seen.stderr.split()):
            raise Failed("recordings of different calls: " + tail(seen.stderr))
    if diff("first", "/nonexistent")[0] != 2 or diff("first")[0] != 2:
        raise Failed("recordings that cannot be compared do not end with status 2")


def last_calls(world):
    """Returns the numbers of the recorded calls of getpgid (their arguments minus 100000), and the whole text."""
    text = show(world, "recording")
    return [int(x) - 100000 for x in re.findall(r"getpgid\((1\d{5})\)? ", text)], text


@scenario("show", TRACES)
def last_crash(world, mode):
    """When one of four threads crashes, its last calls and its stack are saved"""
    for _ in range(int(os.environ.get("SCTRACE_ROUNDS", "5"))):
        seen = record(world, mode, "--last", "1000", "--", world.program("crash"), "threads")
        if seen.status != -signal.SIGSEGV:
            raise Failed(f"ended with {seen.status}\n" + tail(seen.stderr))
        numbers, text = last_calls(world)
        ends = text.count("--- SIG") == 1 and "--- SIGSEGV" in text and "+++ killed by SIGSEGV" in text
        if text.count("= ") < 1000 or sorted(set(numbers))[-10:] != list(range(990, 1000)) or not ends:
            raise Failed(f"{text.count('= ')} calls, {len(numbers)} of the thread that crashed\n" + text[-2000:])
        stacked = re.search(r"--- SIGSEGV.*\n( > .*\n)+", text)
        if not stacked or "crash(crash_here+" not in stacked[0] or "crash(crasher+" not in stacked[0]:
            raise Failed("no stack of the thread that crashed\n" + (stacked[0] if stacked else text[-2000:]))


@scenario("show", TRACES)
def last_ends(world, mode):
    """The last calls are saved when the program fails, and not when it succeeds"""
    path = world.scratch / "recording"
    path.unlink(missing_ok=True)
    record(world, mode, "--last", "100", "--", world.program("crash"), "exits", "0", status=0)
    if path.exists():
        raise Failed("there is a recording although the program succeeded")
    for amount in ("100", "20K", "1ms"):
        record(world, mode, "--last", amount, "--", world.program("crash"), "exits", "7", "40000", status=7)
        numbers, text = last_calls(world)
        if numbers != list(range(numbers[0], 40000)) or len(numbers) < 50 or "+++ exited with 7 +++" not in text:
            raise Failed(f"--last {amount}: {numbers[:3]} to {numbers[-3:]}\n" + text[-300:])
        if len(numbers) == 40000:
            raise Failed(f"--last {amount}: all calls were kept")


@scenario("show", TRACES)
def last_processes(world, mode):
    """With -f, each line of the last calls has the id of its process, because there may be processes without calls"""
    record(world, mode, "-f", "--last", "50", "--", "sh", "-c", "for i in 1 2 3 4 5; do /bin/true; done; exit 3", status=3)
    lines = show(world, "recording").splitlines()
    without = [line for line in lines if not line.startswith("[pid ")]
    if without or len(lines) < 50:
        raise Failed(f"{len(lines)} lines; without an id:\n" + "\n".join(without[:5]))


@scenario("show", TRACES)
def last_asked(world, mode):
    """The last calls are saved on SIGUSR1 while the program continues, and when a signal ends sctrace"""
    path = world.scratch / "recording"
    path.unlink(missing_ok=True)  # another mode may have left it
    argv, env = tracer(world, mode, "--record", path, "--last", "500", "--", world.program("crash"), "serves", out=None)
    with running(argv, env) as process:
        wait_ready(process)  # it is ready after call 5000
        process.send_signal(signal.SIGUSR1)

        def saved():
            return execute([str(world.sctrace), "show", "recording"], cwd=world.scratch).status == 0
        until("the end is saved", saved)
        first, text = last_calls(world)
        if len(re.findall(r"(?m)^\w+\(", text)) < 500 or first[-1] < 5000 or process.poll() is not None:
            raise Failed(f"{len(first)} calls, the last one is {first[-1:]}")
        if "<detached" in text or "its times are not known" not in show(world, "-c", "recording"):
            raise Failed("the recording is shown as if the program had ended\n" + text[-400:])
        process.send_signal(signal.SIGTERM)
        wait_end(process)
    second, text = last_calls(world)
    if len(re.findall(r"(?m)^\w+\(", text)) < 500 or second[-1] <= first[-1]:
        raise Failed(f"{first[-1]}, then {second[-1]}")


@scenario("sig", ["record", "record-small", "record-filter"])
def sig_unselected(world, mode):
    """
    Calls that are not selected run inside the program without a record; signals, threads and cancellation work as
    without a tracer
    """
    for line in ("signals storm 3000", "signals sigreturn", "interrupt restart", "interrupt longjmp_storm", "interrupt cancel",
                 "interrupt cancel_async", "interrupt unwind", "regs float", "regs all", "signals sigsys"):
        program, *words = line.split()
        argv, env = tracer(world, mode, "-f", "-e", "trace=openat", "--", world.program(program), *words)
        seen = execute(argv, env=env)
        if seen.status != 0:  # the program checks itself
            raise Failed(f"{line}: ended with {seen.status}\n" + tail(seen.stdout) + tail(seen.stderr))
        other = [text for text in (world.scratch / "out").read_text().splitlines() if not re.search(r"openat|[-+]{3} |strace:", text)]
        if other:
            raise Failed(f"{line}: a call that was not selected is shown: {other[0]}")
