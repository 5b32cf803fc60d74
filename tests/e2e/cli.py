#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The tracer's command line from outside: options, outputs, exit statuses, dialects (script.py). Most tests name no
engine, because the default one must work.
"""
import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

from script import BUILD, SCTRACE, Skip, in_terminal, run_tests, seconds

EXAMPLES = BUILD / "examples"
TIMEOUT = seconds(100)


def run(*args, prog=SCTRACE, **kw):
    """Runs sctrace; the result has stdout, stderr and returncode."""
    kw.setdefault("timeout", TIMEOUT)
    kw.setdefault("stdin", subprocess.DEVNULL)
    kw.setdefault("text", True)
    return subprocess.run([prog, *args], capture_output=True, check=False, **kw)


def lines(text, pattern):
    return [x for x in text.splitlines() if re.fullmatch(pattern, x)]


def on_terminal(width, script):
    """Returns what a shell writes to a pipe whose controlling terminal has this width."""
    primary, secondary = os.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    env = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    done = subprocess.run(["sh", "-c", script, SCTRACE], stdin=secondary, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env,
                          start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), timeout=TIMEOUT, check=True)
    os.close(primary)
    os.close(secondary)
    return done.stdout


def test_width_behind_a_pipe(folder):
    """text in a pipe has the width of the terminal on which the command was typed; text in a file has no limit"""
    file = folder / "file"
    for width, *commands in ((60, "-c true", "--io true", "compare -n 2 true"), (80, "-c true", "report --help", "compare --help")):
        for command in commands:
            shown = on_terminal(width, f'"$0" {command} 2>&1 | cat')
            assert max(map(len, shown.splitlines())) <= width, (command, shown)
    wide = on_terminal(200, '"$0" -c true 2>&1 | cat')
    assert "p99" in wide and "p99" not in on_terminal(50, '"$0" -c true 2>&1 | cat'), wide
    on_terminal(50, f'"$0" -c -o "{file}" true')
    assert "p99" in file.read_text(), file.read_text()
    assert "p99" in on_terminal(50, 'COLUMNS=120 "$0" -c true 2>&1 | cat')


def test_child_with_own_fs_base(_):
    """Without -f, the calls of a vfork-like child with another fs base (CLONE_SETTLS) are not counted as its parent's"""
    for engine in ("patch", "ptrace"):
        r = run("-c", f"--engine={engine}", "--format=csv", str(BUILD / "tests" / "e2e" / "children"), "tls", "20", "/bin/true")
        if engine == "patch" and r.returncode == 1:
            raise Skip("the patch engine does not work here")
        assert re.search(r"(?m)^umask,[^,]*,20,", r.stdout + r.stderr), r


def test_children_can_be_traced_by_others(_):
    """Without -f, another tracer can attach to the program's children, also if only some calls are traced"""
    r = run("-o", "/dev/null", "-e", "trace=openat", "sh", "-c", f"{SCTRACE} -o /dev/null true && echo traced")
    assert (r.returncode, r.stdout) == (0, "traced\n"), r


def test_requests_of_io_uring_are_counted(tmp):
    """-c has a row for each operation of io_uring, under ptrace and patch and of a recording: requests, errors, bytes"""
    program = BUILD / "tests" / "e2e" / "uring"
    if subprocess.run([program, "probe"], check=False).returncode == 77:
        raise Skip("this kernel refuses io_uring")
    table = ["-c", "--format=csv", "-U", "calls,errors,bytes"]
    for what in ("files", "layouts", "threads", "registered", "children", "later", "many", "divides"):
        for how in (["--engine=ptrace", *table], ["--engine=patch", *table], ["--record", "calls"]):
            r = run("-f", *how, "-o" if "-c" in how else "--engine=patch", *(["table"] if "-c" in how else []), program, what, cwd=tmp)
            if "--record" in how:
                (tmp / "table").write_text(run("show", *table, "calls", cwd=tmp).stdout, encoding="utf-8")
            made = sorted(x.removeprefix("request ").split() for x in lines(r.stdout, "request .*"))
            rows = sorted(x.removeprefix("io_uring:").split(",") for x in lines((tmp / "table").read_text(), "io_uring:.*"))
            assert made and rows == made, (what, how, rows, made, r.stderr)


def test_requests_of_io_uring_are_not_calls(tmp):
    """Rows of io_uring are not part of the total, of --expect and of the formats of other tools; --by puts them in groups"""
    program = BUILD / "tests" / "e2e" / "uring"
    if subprocess.run([program, "probe"], check=False).returncode == 77:
        raise Skip("this kernel refuses io_uring")
    selected = ["-c", "-e", "trace=io_uring_enter"]
    r = run(*selected, "--expect", "calls=9", program, "files", cwd=tmp)
    assert r.returncode == 0 and re.search(r"(?m)^ +[\d.]+ +9 +0$", r.stderr), r
    assert "the rows io_uring:... are requests, which are not part of the sums" in " ".join(r.stderr.split()), r
    copier = BUILD / "examples" / "copy-io-uring"  # needs liburing
    if copier.exists():
        (tmp / "in").write_bytes(bytes(16 << 20))
        assert "waited (io_uring:" not in " ".join(run("-c", copier, "in", "out", cwd=tmp).stderr.split())
    for form in ("strace", "truss"):
        assert "io_uring:" not in run(*selected, "--format=" + form, program, "files", cwd=tmp).stderr
    r = run(*selected, "--by=path", "--format=csv", "-U", "calls,bytes", program, "files", cwd=tmp)
    assert f"{tmp.resolve()}/file,io_uring:WRITE,1,512" in r.stderr.splitlines(), r
    r = run(*selected, "--save", "run.json", program, "files", cwd=tmp)
    shown = run("report", "run.json", cwd=tmp)
    assert "io_uring:READV" in shown.stdout and shown.returncode == 0, shown


def test_what_io_uring_hides_is_reported(tmp):
    """With IORING_SETUP_SQPOLL, a trace and -c say that a kernel thread takes the requests"""
    program = BUILD / "tests" / "e2e" / "uring"
    if subprocess.run([program, "probe"], check=False).returncode == 77:
        raise Skip("this kernel refuses io_uring")
    for how in (["-o", "out"], ["-c"]):
        r = run(*how, program, "polled", cwd=tmp)
        text = " ".join(r.stderr.split())
        assert r.returncode == 0 and "a kernel thread takes the requests of 1 ring without a call (IORING_SETUP_SQPOLL)" in text, r


def test_links_are_counted_as_their_files(tmp):
    """--by=path counts the opening of a symbolic link and of a relative path with the reads of the file, under each engine"""
    (tmp / "file").write_text("x")
    (tmp / "link").symlink_to("file")
    for how in (["-c", "--engine=ptrace"], ["-c", "--engine=patch"], ["--record", "calls"]):
        for name in ("link", "./file"):
            r = run(*how, *(["--by=path", "--format=csv", "-o", "out"] if "-c" in how else []), "cat", name, cwd=tmp)
            if "--record" in how:
                r = run("show", "-c", "--by=path", "--format=csv", "-o", "out", "calls", cwd=tmp)
            if r.returncode == 125:
                continue
            rows = [x.split(",")[:2] for x in (tmp / "out").read_text().splitlines()]
            assert {"openat", "read", "close"} <= {call for path, call in rows if path == os.path.realpath(tmp / "file")}, (how, rows)
            assert not any(path == name for path, call in rows), (how, rows)


def test_an_early_interrupt(tmp):
    """SIGINT that arrives while an engine is chosen detaches, even if it was ignored at the start, as in a background job"""
    with subprocess.Popen(["sleep", "1000"]) as sleeper:
        try:
            # An outer tracer delays the inner one while it finds out whether the patch engine works.
            outer = ["--engine=ptrace", "-o", "/dev/null", "-e", "inject=uname:delay_enter=3s:when=1"]
            env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # not in a traced process
            with subprocess.Popen([SCTRACE, *outer, SCTRACE, "-c", "-o", tmp / "out", "-p", str(sleeper.pid)], stderr=subprocess.PIPE,
                                  text=True, env=env, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) as tracer:
                while not (tmp / "out").exists() and tracer.poll() is None:
                    time.sleep(0.05)
                time.sleep(1)
                children = Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text().split()
                if not children:
                    raise Skip(f"no engine may trace here: {tracer.communicate()[1]}")
                os.kill(int(children[0]), signal.SIGINT)
                try:
                    _, err = tracer.communicate(timeout=seconds(30))
                except subprocess.TimeoutExpired:
                    os.kill(int(children[0]), signal.SIGTERM)
                    raise
            assert tracer.returncode == 0 and (tmp / "out").read_text(), err
        finally:
            sleeper.kill()


def test_closed_connections_are_not_read(tmp):
    """-yy does not read the connections that the machine has closed each time it shows the name of a socket"""
    program = tmp / "program"
    program.write_text("""
import socket
server = socket.create_server(("127.0.0.1", 0))
for i in range(300):
    client, (accepted, _) = socket.create_connection(server.getsockname()), server.accept()
    client.close()
    accepted.close()
client, (accepted, _) = socket.create_connection(server.getsockname()), server.accept()
for i in range(50):
    client.getpeername()
""")
    outer = ["-c", "--engine=ptrace", "--format=csv", "-o", "counts", SCTRACE]
    env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # not in a traced process
    r = run(*outer, "--engine=ptrace", "-yy", "-e", "trace=getpeername", "-o", "trace", sys.executable, program, cwd=tmp, env=env)
    assert r.returncode == 0, r
    shown = lines((tmp / "trace").read_text(), r"getpeername\(\d+<TCP:\[127\.0\.0\.1:\d+->127\.0\.0\.1:\d+\]>, .* = 0")
    calls = {row.split(",")[0]: int(row.split(",")[2]) for row in (tmp / "counts").read_text().splitlines()[1:]}
    assert len(shown) >= 50 and calls["read"] < 500, (len(shown), calls)


# Signals often prevent a call of this program. It makes the call after the signal handler.
PREVENTS_CALLS = """
import os, signal
seen = []
def handler(*_):
    seen.append(0)
    signal.setitimer(signal.ITIMER_REAL, 0.0005 if len(seen) < 100 else 0)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.0005)
for i in range(5000):
    try:
        os.close(-1)
    except OSError:
        pass
"""


def test_withdrawn_calls_are_not_counted(tmp):
    """A call that a signal has prevented is not counted as a restarted call, and the call after the signal handler is not its restart"""
    columns = ["--by=fd", "--format=csv", "-U", "name,calls,errors,restarted", "-e", "trace=close"]
    for options, shown in ((["-c", *columns], r'"?\(no descriptor\)"?,close,5000,5000,0'), (["--format=json"], None)):
        r = run("--engine=patch", *options, "-o", "out", sys.executable, "-c", PREVENTS_CALLS, cwd=tmp)
        if r.returncode == 125:
            raise Skip(r.stderr)
        text = (tmp / "out").read_text()
        if shown:
            assert lines(text, shown), text[:300]
        else:
            assert not [line for line in text.splitlines() if '"close"' in line and '"restarted"' in line], text[-1000:]


def test_withdrawn_calls_are_not_recorded(tmp):
    """A recording does not contain a call that a signal has prevented, and that the program makes after the signal handler"""
    program = tmp / "program"
    program.write_text(PREVENTS_CALLS)
    r = run("--engine=patch", "--record", "calls", sys.executable, program, cwd=tmp)
    if r.returncode == 125:
        raise Skip(r.stderr)
    shown = run("show", "-e", "trace=close", "-o", "shown", "calls", cwd=tmp)
    text = (tmp / "shown").read_text()
    assert shown.returncode == 0 and len(lines(text, r"close\(-1\) .*")) == 5000 and "ERESTARTNOINTR" not in text, text[-1000:]


def test_signals_come_after_earlier_calls(tmp):
    """A signal is shown after the calls that the thread has made before it"""
    program = str(BUILD / "tests" / "e2e" / "late_signal")
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp)}  # call sites that an earlier run has kept do not stop before the signal
    for n in range(30, 54):
        r = run("--engine=patch", "-f", "-e", "trace=openat", "-o", "trace", program, str(n), cwd=tmp, env=env)
        if r.returncode == 125:
            raise Skip(r.stderr)
        order = re.findall(r'/nonexistent/(\d+)"|--- (SIGUSR1) ', (tmp / "trace").read_text())
        assert [n or name for n, name in order] == [*map(str, range(n)), "SIGUSR1"], order[-12:]


def test_where_to_save_is_checked_first(tmp):
    """If the file of --save cannot be written, the program is not run, and the -o file is not changed"""
    (tmp / "out").write_text("kept")
    for path in ("/nonexistent/run", str(tmp), ""):
        r = run("-c", "--save", path, "-o", "out", "touch", "ran", cwd=tmp)
        assert r.returncode == 125 and f"cannot save the run as '{path}': " in r.stderr, (path, r)
        assert not (tmp / "ran").exists() and (tmp / "out").read_text() == "kept", path
        r = run("compare", "--save", path, "touch ran; true", cwd=tmp)
        assert r.returncode == 125 and f"cannot write '{path}': " in r.stderr and not (tmp / "ran").exists(), (path, r)


def test_options_without_effect(tmp):
    """A note names the options that have no effect, because -c does not print calls"""
    note = "sctrace: note: -c prints no calls, so these options have no effect: "
    run("--record", "calls", "true", cwd=tmp)
    for before in ([], ["show"]):
        what = ["calls"] if before else ["true"]
        r = run(*before, "-c", "-tt", "-r", "-T", "-n", "-i", "-y", "-Y", "-o", "out", *what, cwd=tmp)
        assert r.returncode == 0 and r.stderr == note + "-t, -r, -T, -n, -i, -y, -Y; -C prints the calls as well\n", r
        looks = ("-s", "9", "-x", "-v", "-a", "9", "-X", "raw", "-e", "read=3", "-e", "write=3", "-e", "abbrev=read", "-e", "verbose=read", "-e",
                 "raw=read")
        r = run(*before, "-c", *looks, "-o", "out", *what, cwd=tmp)
        assert r.stderr == note + "-s, -x, -v, -a, -X, -e read, -e write, -e abbrev, -e verbose, -e raw; -C prints the calls as well\n", r
        r = run(*before, "--io", "-T", "-i", "-o", "out", *what, cwd=tmp)
        assert r.stderr == note.replace("-c", "--io") + "-T, -i; -C prints the calls as well\n", r
        for words in (["-C", "-T"], ["-c", "-f"], ["-c", "-s", "32", "-a", "40"], ["-y"], ["--io", "-C", "-T"]):
            r = run(*before, *words, "-o", "out", *what, cwd=tmp)
            assert (r.returncode, r.stderr) == (0, ""), (words, r)


def test_details_of_messages(tmp):
    """Messages about an empty word, a recording instead of a run, and a closed output; a process that is named twice"""
    for words in (["-e", ""], ["-c", "--expect="], ["--quiet="]):
        r = run(*words, "true")
        assert r.returncode == 2 and r.stderr.count("\n") == 1 and "^" not in r.stderr, r
    r = run("--quiet=attahc", "true")
    assert "'attahc' is not one of attach, exit, thread-execve, all; did you mean attach?" in r.stderr, r
    run("--record", "calls", "true", cwd=tmp)
    r = run("report", "calls", cwd=tmp)
    assert r.returncode == 1 and "sctrace show displays recordings" in r.stderr, r
    for words in (["show", "calls"], ["--version"]):
        with open("/dev/full", "wb") as full:
            r = subprocess.run([SCTRACE, *words], cwd=tmp, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=TIMEOUT)
        assert r.returncode == 125 and r.stderr == "sctrace: cannot write to standard output: No space left on device\n", r
    with subprocess.Popen(["sleep", "1"]) as sleeper:
        r = run("-c", "-o", "out", "-p", f"{sleeper.pid},{sleeper.pid}", "-p", str(sleeper.pid), cwd=tmp)
        assert r.returncode != 0 or r.stderr.count("attached to process") == 1, r


def test_recordings_on_standard_input(tmp):
    """`show -` reads a recording from a pipe or a file, also for --diff; it does not overwrite that file"""
    run("--record", "calls", "true", cwd=tmp)
    recording, shown = (tmp / "calls").read_bytes(), run("show", "calls", cwd=tmp).stdout
    assert "execve(" in shown
    assert run("show", "-", cwd=tmp, text=False, stdin=None, input=recording).stdout.decode() == shown
    with open(tmp / "calls", "rb") as stdin:
        assert run("show", "-", stdin=stdin).stdout == shown
    with open(tmp / "calls", "rb") as stdin:
        r = run("show", "--diff", "-", "calls", cwd=tmp, stdin=stdin)
    assert r.returncode == 0 and not r.stderr, r
    with open(tmp / "calls", "rb") as stdin:
        r = run("show", "-o", "calls", "-", cwd=tmp, stdin=stdin)
    assert r.returncode == 2 and (tmp / "calls").read_bytes() == recording, r
    r = run("show", "-", text=True, stdin=None, input="text")
    assert r.returncode == 1 and "cannot read the recording on standard input: it is not a recording" in r.stderr, r
    r = run("show", "--diff", "-", "-")
    assert r.returncode == 2 and "standard input can be read only once" in r.stderr, r
    status, text = in_terminal(80, "show", "-")
    assert status == 2 and "standard input, which is a terminal" in text, text


def test_names_of_ended_processes(tmp):
    """-Y: the line about the end of a process shows its last name, also from a recording, and if no calls are printed"""
    script = "cat /dev/null; (exit 3) & wait"
    attached = [subprocess.Popen(["cat"], stdin=subprocess.PIPE) for _ in range(2)]
    pids = [str(p.pid) for p in attached]
    with subprocess.Popen([SCTRACE, "-f", "-Y", "-e", "none", "-o", str(tmp / "trace"), "-p", ",".join(pids)],
                          stderr=subprocess.PIPE, text=True) as tracer:
        for p in attached:
            assert "attached to process" in tracer.stderr.readline()
        for p in attached:
            p.communicate(timeout=TIMEOUT)
    ends = (tmp / "trace").read_text()
    assert all(re.search(rf"(?m)^{pid} *<cat> \+\+\+ exited with 0 ", ends) for pid in pids), ends
    run("--record", "calls", "-f", "sh", "-c", script, cwd=tmp)
    for args in (["-f"], ["-f", "-e", "none"], ["-f", "--engine=ptrace"], ["show", "calls"]):
        program = ["sh", "-c", script] if args[0] == "-f" else []
        t = run(*args[:1], "-Y", "-o", "trace", *args[1:], *program, cwd=tmp)
        ends = re.findall(r"(?m)^(?:\[pid +)?\d+ *<(\w+)>\]? \+\+\+ exited with (\d)", (tmp / "trace").read_text())
        assert t.returncode == 0 and sorted(ends) == [("cat", "0"), ("sh", "0"), ("sh", "3")], (args, ends)


def test_a_reader_that_does_not_read(tmp):
    """Ctrl-C and SIGTERM detach from a process although nothing reads the trace; the process continues"""
    os.mkfifo(tmp / "trace")
    reader = os.open(tmp / "trace", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(tmp / "trace", os.O_WRONLY | os.O_NONBLOCK)
    with subprocess.Popen([sys.executable, "-c", "import os\nwhile True: os.getppid()"]) as target:
        try:
            for args in (["-o", "trace"], ["--json", "-o", "trace"], ["--engine=ptrace", "-o", "trace"], ["--record", "trace"]):
                for sig in (signal.SIGINT, signal.SIGTERM):
                    with subprocess.Popen([SCTRACE, "-p", str(target.pid), *args], cwd=tmp, stderr=subprocess.PIPE, text=True) as tracer:
                        full = time.monotonic() + TIMEOUT
                        while select.select([], [writer], [], 0)[1]:
                            assert tracer.poll() is None and time.monotonic() < full, (args, sig, Path(f"/proc/{tracer.pid}/status").read_text())
                            time.sleep(0.01)
                        tracer.send_signal(sig)
                        said = tracer.communicate(timeout=TIMEOUT)[1]
                    assert tracer.returncode == 125 and re.search("cannot write (the recording )?'trace': its reader does not read\n$", said), (args, sig, said)
                    assert "TracerPid:\t0\n" in Path(f"/proc/{target.pid}/status").read_text() and target.poll() is None, (args, sig)
                    with contextlib.suppress(BlockingIOError):  # the pipe is empty
                        while os.read(reader, 65536):
                            pass
        finally:
            target.kill()
    os.close(reader)
    os.close(writer)


def test_engines_that_cannot(_):
    """If the selected engine and ptrace cannot do what is requested, the message names the engine that can"""
    for engine in ("ptrace", "patch"):
        r = run("-c", "--all", f"--engine={engine}", "true")
        if "there is no engine" in r.stderr:
            continue
        wanted = f"engine {engine} cannot count every process (--all)"
        assert r.returncode == 125 and wanted in r.stderr and "; ptrace is used" not in r.stderr, r
        assert "; engine bpf can, so leave out --engine" in r.stderr or "bpf" not in run("--list-engines").stdout, r
    for name, words, expected in (("SCTRACE_ARM", "sdu", "sud or filter"), ("SCTRACE_PATCH", "short,lnog", "a list of short, long and redirect")):
        r = run("-c", "--engine=patch", "true", env={**os.environ, name: words})
        if not any(x in r.stderr for x in ("there is no engine", "left out", "invariant")):
            assert f"the variable {name} is '{words}', but must be {expected}; ptrace is used instead" in r.stderr, r


def test_inside_another_tracer(tmp):
    """If another tracer traces sctrace and its children, the messages name this tracer as the reason"""
    env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # not in a traced process
    for words, wanted in (([], "tracing 'true' is not permitted: process [0-9]+ traces sctrace and its children, and a process can have only one tracer"),
                          (["--engine=ptrace"], "engine ptrace cannot run on this machine: process [0-9]+ traces sctrace and its children")):
        r = run("-f", "--engine=ptrace", "-o", "outer", SCTRACE, "-o", "inner", *words, "true", cwd=tmp, env=env)
        assert r.returncode == 125 and re.search(wanted, r.stderr), r


def test_few_descriptors(tmp):
    """If the limit of open files is too low, the message says how to raise it; 64 is enough"""
    for words in (["-c"], ["-o", "out"], ["--record", "calls"]):
        for limit, status in ((6, 125), (64, 0)):
            r = subprocess.run(["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", SCTRACE, *words, "true"], cwd=tmp, capture_output=True,
                               text=True, check=False, timeout=TIMEOUT)
            assert r.returncode == status and ("raise the limit with ulimit -n" in r.stderr) == bool(status), (words, limit, r)


def test_asking_for_seccomp(_):
    """A program that queries seccomp's features, as libseccomp does, is counted like any other"""
    r = run("-c", "-f", str(BUILD / "tests/e2e/seccomp"), "query")
    assert r.returncode == 0 and "traced by ptrace" not in r.stderr, r


def test_neighbours_of_a_sandbox(_):
    """A program's own filter, or ignored SIGSYS, does not affect other programs"""
    if "intercepted by a seccomp filter" in " ".join(run("--list-engines").stdout.split()):
        raise Skip("calls are intercepted by a seccomp filter, so images with a filter of their own are traced by ptrace")
    seccomp = str(BUILD / "tests/e2e/seccomp")
    r = run("-c", "-f", "sh", "-c", f"{seccomp} sandbox; {seccomp} many; env --ignore-signal=SYS true")
    assert r.returncode == 0 and "program images were traced by ptrace" not in r.stderr, r


def test_restarts_are_counted_alike(_):
    """A call that continues after a handler is one call without an error, whether the engine or the events are counted"""
    for how in (["-c", "--engine=ptrace"], ["-c"], ["-C"], ["-c", "-e", "readv", "-z"], ["-c", "-e", "readv", "--by=path"],
                ["-c", "--by=thread"]):
        r = run(*how, "--format=csv", "-U", "calls,errors,restarted", str(BUILD / "tests/e2e/interrupt"), "restart", "5")
        rows = [x for x in r.stderr.splitlines() if x.startswith("readv,") or ",readv," in x]
        wanted = "1,0,0" if "-z" in how else "6,5,5"
        assert len(rows) == 1 and rows[0].endswith("readv," + wanted), (how, r.stderr[-2000:])


def test_errors_of_each_process(_):
    """-c --errors with --by=process shows the errors of all processes"""
    script = "(cd /none1; cd /none2; cd /none3) 2>/dev/null; cd /none4 2>/dev/null; true"
    r = run("-c", "-f", "--by=process", "--errors", "sh", "-c", script)
    assert lines(r.stderr, r"chdir +4  ENOENT .*"), r.stderr


def test_no_room_for_the_agent(_):
    """A program with code at the agent's address is counted nevertheless, and the footer says how"""
    program = BUILD / "tests/e2e/tasks-occupied"
    if not program.exists():
        raise Skip("no static program can be linked, or the processor is not x86-64")
    r = run("-c", "-f", "--engine=patch", program, "fork", "2")
    assert r.returncode == 0 and re.search(r"getppid .* 13 ", r.stderr), r
    if "engine: patch" in r.stderr:
        assert "program images were traced by ptrace: the addresses of the agent are in use" in r.stderr, r


def test_attaching_despite_sigsys(tmp):
    """A program that ignores or handles SIGSYS, like nginx and ruby, runs in the agent when sctrace attaches, and keeps its action"""
    program = "import os, signal, sys; signal.signal(signal.SIGSYS, {}); print(flush=True)\nwhile True: os.getppid()"
    for action, field in (("signal.SIG_IGN", "SigIgn"), ("lambda *_: None", "SigCgt")):
        with subprocess.Popen([sys.executable, "-c", program.format(action)], stdout=subprocess.PIPE) as target:
            try:
                target.stdout.readline()
                with subprocess.Popen([SCTRACE, "-c", "--engine=patch", "-o", tmp / "out", "-p", str(target.pid)], stderr=subprocess.PIPE,
                                      text=True) as tracer:
                    line = tracer.stderr.readline()
                    target.send_signal(signal.SIGSYS)
                    time.sleep(0.5)
                    tracer.send_signal(signal.SIGINT)
                    assert "attached" in line and tracer.wait(timeout=TIMEOUT) in (0, 130, -2), (action, line)
                text = (tmp / "out").read_text()
                if "engine: patch" not in text:
                    raise Skip("the patch engine cannot be used here")
                status = Path(f"/proc/{target.pid}/status").read_text()
                ignored = int(re.search(rf"{field}:\s*(\w+)", status)[1], 16) >> (signal.SIGSYS - 1) & 1
                assert "by ptrace" not in text and ignored and target.poll() is None, (action, text, status)
            finally:
                target.kill()


def test_the_agent_does_not_fault(tmp):
    """The agent itself makes the calls of signal handlers, threads and vfork-like children; otherwise, each would fault and stop more"""
    programs = (["bash", "-c", "trap : USR1; for ((i = 0; i < 300; i++)); do kill -USR1 $$; done"], 13), \
        (["sh", "-c", "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done"], 35), \
        ([str(BUILD / "tests/e2e/threads"), "short", "300"], 24)
    for program, most in programs:
        outer = ["-c", "--engine=ptrace", "--format=csv", "-o", tmp / "counts", SCTRACE, "-c", "-f", "--engine=patch"]
        env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # not in a traced process
        r = run(*outer, "-o", tmp / "table", *program, env=env)
        assert r.returncode == 0, r
        if "engine: patch" not in (tmp / "table").read_text() or "by ptrace" in (tmp / "table").read_text():
            raise Skip("the patch engine cannot be used here")
        n = int(re.search(r"(?m)^ptrace,[^,]*,(\d+),", (tmp / "counts").read_text())[1])
        assert n < 300 * most + 500, (program, n)


def test_other_proc(tmp):
    """Without /proc, and if it shows another pid namespace or only some processes, each engine traces the program to its end"""
    hidden = "mount -t proc -o hidepid=2,subset=pid none /proc || exit 77; "
    states = (("-m", "mount -t tmpfs none /proc || exit 77; "), ("-mpf", ""), ("-mpf", "mount -t tmpfs none /proc || exit 77; "), ("-mpf", hidden))
    user = [] if os.geteuid() == 0 else ["-Ur"]
    done = 0
    for how, before in states:
        for mode in ("-c", f"-o {tmp}/out", f"--engine=patch -f -c -o {tmp}/out", f"--engine=patch -f -o {tmp}/out"):
            traced = f"{SCTRACE} {mode} sh -c '/bin/true; /bin/true; exit 3'"
            script = before + f"for i in 1 2 3 4 5 6 7 8 9 10; do {traced} || s=$?; [ $s = 3 ] || exit $s; done; exit 3"
            r = run(*user, how, "sh", "-c", script, prog="unshare")
            if r.returncode not in (1, 77):  # 1: no namespace
                assert r.returncode == 3 and "Exec format error" not in r.stderr, (how, before, mode, r)
                done += 1
    if not done:
        raise Skip("no namespaces can be created")


def test_calls_that_stop(_):
    """If many calls stop a program under the patch engine, the footer says why; if most do, it is traced by ptrace"""
    untabled = BUILD / "tests/e2e/regs-untabled"
    if not untabled.exists():
        raise Skip("the processor is not x86-64")
    if subprocess.run([SCTRACE, "--engine=patch", "-c", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode:
        raise Skip("the patch engine does not work here")
    for _ in range(2):  # the second run knows the call sites from the first one
        r = run("-c", "--engine=patch", untabled, "entered", "1500")
        lines = re.findall(r"\n(\d+) calls at regs-untabled\+0x[0-9a-f]+ stopped the program: (.*)", r.stderr)
        assert r.returncode == 0 and len(lines) == 3, r
        assert all(1490 <= int(n) <= 1500 for n, _ in lines) and lines[0][1].startswith("a branch may lead into"), r
    r = run("-c", "--engine=patch", untabled, "entered", "900")
    assert r.returncode == 0 and "calls at regs-untabled" not in r.stderr and " of 19835 calls stopped" in r.stderr, r
    # With a seccomp filter, an image does not fall back, because each call would then stop more often.
    dispatches = "are intercepted by Syscall User Dispatch" in run("--list-engines").stdout
    reason = "1 of 1 program images were traced by ptrace: the agent could not make most of its calls"
    for n, falls_back in (("500", False), ("600", True)):
        r = run("-c", "--engine=patch", BUILD / "tests/e2e/abi", "x32", n)
        assert r.returncode == 0 and (reason in r.stderr) == (falls_back and dispatches), r
        assert re.search(rf"getpid#x32 .* {n} +{n}", r.stderr), r
    for threads, n in ((1, 250), (2, 250), (8, 100), (40, 100)):  # calls that create 40 threads must be few of all
        r = run("-c", "-f", "--engine=patch", BUILD / "tests/e2e/threads", "stopping", str(threads), str(n))
        assert r.returncode == 0 and (reason in r.stderr) == dispatches, r


def test_threads_without_a_pointer(tmp):
    """On aarch64, the calls of threads whose thread pointer is 0, as those of Go, are recorded without stops"""
    if os.uname().machine != "aarch64":
        print("# the processor is not aarch64: nothing is recorded")
        return
    program = [BUILD / "tests/e2e/threads", "no_pointer", "1000"]
    for words in (["-o", tmp / "trace"], ["--record", tmp / "calls"], ["-c", "--by=thread", "-o", tmp / "table"]):
        r = run("--engine=patch", "-f", *words, *program)
        assert r.returncode == 0 and "stopped the program" not in r.stderr, (words, r)
        assert "stopped the program" not in (tmp / "table").read_text() if words[0] == "-c" else True
    assert len(re.findall(r"getppid\(", (tmp / "trace").read_text())) == 4000


def test_lowest_addresses(tmp):
    """A program of which all is at the lowest addresses is counted and recorded without stops on aarch64"""
    program = BUILD / "tests/e2e/threads-low"
    if os.uname().machine != "aarch64" or os.sysconf("SC_PAGESIZE") > 4096:
        print("# the processor is not aarch64, or its pages are too large: nothing is recorded")
        return
    for words in (["-o", tmp / "trace"], ["-c", "-o", tmp / "table"]):
        r = run("--engine=patch", "-f", *words, program, "no_pointer", "1000")
        assert r.returncode == 0 and "stopped the program" not in r.stderr, (words, r)
    assert "stopped the program" not in (tmp / "table").read_text()


def test_statuses(tmp):
    """The exit status is the program's; failures of sctrace have other statuses"""
    assert run("sh", "-c", "exit 7").returncode == 7
    assert run("-c", "sh", "-c", "exit 7").returncode == 7
    for mode in ([], ["-c"]):
        for sig in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
            assert run(*mode, "sh", "-c", f"kill -{sig.value} $$").returncode == -sig.value
    assert run("/nonexistent/program").returncode == 127
    assert run("no-such-program-anywhere").returncode == 127
    r = run("compar")
    assert r.returncode == 127 and "; did you mean sctrace compare?" in r.stderr, r
    assert "did you mean" not in run("./compar").stderr + run("no-such-program-anywhere").stderr
    assert run("/").returncode == 126
    bad = tmp / "bad"
    bad.write_bytes(b"\x7fELF no program")
    bad.chmod(0o755)
    for mode in ([], ["-c"], ["-c", "--engine=ptrace"]):
        r = run(*mode, bad)
        assert r.returncode == 126 and f"cannot run '{bad}': Exec format error" in r.stderr, r
    orphan = tmp / "orphan"
    orphan.write_text("#!/nonexistent/interpreter\n")
    orphan.chmod(0o755)
    for mode in ([], ["-c"], ["-D"]):
        r = run(*mode, orphan)
        assert r.returncode == 127 and f"cannot run '{orphan}': its interpreter does not exist" in r.stderr, r
        assert run(*mode, bad).returncode == 126
    assert run().returncode == 2
    assert run("--no-such-option", "true").returncode == 2
    assert run("-p", "999999999").returncode in (1, 2)
    assert run("-o", "/nonexistent/file", "true").returncode == 125


def test_output_errors(tmp):
    """An output that cannot be written is reported after the program has run to its end"""
    for mode in ([], ["-c"], ["--json"]):
        r = run(*mode, "-o", "/dev/full", "sh", "-c", f"echo x > {tmp}/ran")
        assert r.returncode == 125 and "No space left" in r.stderr, r
        assert (tmp / "ran").read_text() == "x\n"
        (tmp / "ran").unlink()


def test_a_library_for_stacks_is_missing(tmp):
    """Only -k needs the libraries that walk stacks; without them, it says so and runs nothing"""
    (tmp / "libdw.so.1").touch()
    env = {**os.environ, "LD_LIBRARY_PATH": str(tmp)}
    assert run("-c", "true", env=env).returncode == 0
    r = run("-k", "touch", str(tmp / "ran"), env=env)
    if "built without" in r.stderr:
        raise Skip("sctrace was built without libunwind")
    assert r.returncode == 125 and not (tmp / "ran").exists(), r
    assert "cannot print stacks" in r.stderr and "libdw.so.1" in r.stderr, r


def test_closed_pipe(tmp):
    """If the reader of the trace goes away, the program neither ends nor hangs; `show` ends without a message"""
    r, w = os.pipe()
    os.close(r)
    p = subprocess.run([SCTRACE, "sh", "-c", f"ls / >/dev/null; echo x > {tmp}/ran"], stderr=w, check=False, timeout=TIMEOUT)
    assert p.returncode == 125 and (tmp / "ran").exists()
    run("--record", str(tmp / "r"), "true")
    for flags, said in (([], b""), (["--json"], b""), (["-c"], b"sctrace: cannot write to standard output: Broken pipe\n")):
        command = [SCTRACE, "show", *flags, tmp / "r"]
        p = subprocess.run(command, stdout=w, stderr=subprocess.PIPE, check=False, timeout=TIMEOUT)
        assert p.returncode == 125 and p.stderr == said, p
    os.close(w)


def end_unread(pid, *args):
    """Runs sctrace until it ends because the reader of its trace is gone; the program whose pid is in the file continues."""
    said = pid.with_name("said")
    with open(said, "wb") as file:  # not a pipe, because the program also has it open and continues
        p = subprocess.Popen([SCTRACE, *args], stderr=file if "-o" in args else subprocess.PIPE)
        if p.stderr:
            p.stderr.readline()
            p.stderr.close()
        assert p.wait(TIMEOUT) == 125, args
    status = Path(f"/proc/{pid.read_text().strip()}/status").read_text()
    assert "TracerPid:\t0" in status and re.search(r"State:\s[SRD]", status), (args, status)
    assert "-o" not in args or re.search("continues untraced\n.*Broken pipe\n$", said.read_text()), (args, said.read_text())


def test_reader_is_gone(tmp):
    """When the reader of a trace is gone, sctrace detaches and ends; the program continues untraced"""
    pid = tmp / "pid"
    forever = ["sh", "-c", f"echo $$ >{pid}; while :; do sleep 0.05; done"]
    for flags in (["-f"], ["-o", "|head -1 >/dev/null"]):
        try:
            end_unread(pid, *flags, *forever)
            end_unread(pid, "-p", pid.read_text().strip())
            end_unread(pid, "-p", pid.read_text().strip(), "-o", "!head -1 >/dev/null")
        finally:
            os.kill(int(pid.read_text()), signal.SIGKILL)


def test_reader_is_gone_but_work_is_left(tmp):
    """Even without a reader, sctrace saves a summary, tampers with calls, and handles the stops of a program with a filter"""
    saved = tmp / "saved.json"
    script = ["sh", "-c", f"sleep 3; cat /dev/null && cd / 2>/dev/null; echo $? >{tmp}/ran"]
    for flags, status in ((["-f", "-e", "trace=openat"], "0"), (["-e", "inject=chdir:error=EIO"], "2"), (["-f", "-C", f"--save={saved}"], "0")):
        r, w = os.pipe()
        os.close(r)
        p = subprocess.run([SCTRACE, *flags, *script], stderr=w, check=False, timeout=TIMEOUT)
        os.close(w)
        assert p.returncode == 125 and (tmp / "ran").read_text().strip() == status, (flags, p)
        (tmp / "ran").unlink()
    assert "openat" in saved.read_text()


def test_output_files(tmp):
    """Traces are created with mode 0600, appended on request, piped into commands, and follow no link in shared folders"""
    out = tmp / "t"
    some = ["-e", "!munmap,brk", "true"]  # addresses determine how often the loader makes these calls
    assert run("-o", str(out), *some).returncode == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    n = len(out.read_text().splitlines())
    assert run("-A", "-o", str(out), *some).returncode == 0
    assert len(out.read_text().splitlines()) == 2 * n
    assert run("-o", f"|cat > {tmp}/piped", *some).returncode == 0
    assert len((tmp / "piped").read_text().splitlines()) == n
    assert "+++ exited" in run("-o", "/dev/stdout", "true").stdout
    shared = tmp / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "link").symlink_to(tmp / "target")
    r = run("-o", str(shared / "link"), "true")
    assert r.returncode == 125 and not (tmp / "target").exists(), r
    r = run("-ff", "-o", str(tmp / "each"), "sh", "-c", "ls >/dev/null; :")
    files = list(tmp.glob("each.*"))
    assert len(files) == 2 and all("+++ exited with 0 +++" in f.read_text() for f in files)


def test_files_of_programs(tmp):
    """-ff names files by program, process and thread (-o '%e.%p'); with -c, each process has a table"""
    script = "(/bin/true) & echo $!; wait; exec ls /dev/null"
    for flags in (["--engine=ptrace"], [], ["--json"], ["--record"]):
        place = tmp / "-".join(["traces", *flags])
        place.mkdir()
        if flags == ["--record"]:
            r = run("-f", "--record", str(tmp / "recording"), "sh", "-c", script)
            run("show", "-ff", "-o", str(place / "%e-%p.log%%"), str(tmp / "recording"))
        else:
            r = run(*flags, "-ff", "-o", str(place / "%e-%p.log%%"), "sh", "-c", script)
        names = {f.name: f.read_text() for f in place.iterdir()}
        child = r.stdout.splitlines()[0]
        (parent,) = {n[3:] for n in names if n.startswith("ls-")}
        assert r.stdout == f"{child}\n/dev/null\n" and set(names) == {f"sh-{parent}", f"ls-{parent}", f"sh-{child}.log%", f"true-{child}.log%"}, r
        assert "execve" in names[f"sh-{parent}"].splitlines()[1 if "--json" in flags else 0], names
        # The call that executes a program is a call of the earlier one.
        assert all("/ls" in t and "execve" in t for t in [names[f"sh-{parent}"].splitlines()[-1]]) and "execve" not in names[f"ls-{parent}"], names
    # A name that a process has chosen does not lead out of the folder. Threads of a process have files of their own.
    program = "import ctypes, threading; ctypes.CDLL(None).prctl(15, b'../../x'); threading.Thread(target=print).start()"
    place = tmp / "place" / "within"
    place.mkdir(parents=True)
    run("-ff", "-o", str(place / "%e.%p"), "-e", "trace=exit_group,exit,set_robust_list", "-e", "signal=none", sys.executable, "-c", program)
    assert len(list(place.iterdir())) > 1 and list(place.parent.iterdir()) == [place] and not (tmp / "x").exists()
    assert any(re.fullmatch(r"python\S*\.(\d+)|_._.._x\.\d+\.\d+", f.name) for f in place.iterdir()), list(place.iterdir())
    for engine in ("auto", "ptrace", "bpf"):
        r = run("--engine=" + engine, "-c", "-ff", "-o", str(tmp / (engine + ".%e.%p")), "-e", "trace=getppid,execve", "sh", "-c", script)
        if engine == "bpf" and r.returncode == 125:
            continue
        tables = sorted(tmp.glob(engine + ".*"))
        child = r.stdout.splitlines()[0]
        assert len(tables) == 2 and not r.stderr and all("\nengine: " in t.read_text() for t in tables), (r, tables)
        (table,) = tmp.glob(f"{engine}.*.{child}")
        assert f"process: {child} {table.name.split('.')[1]}\n" in table.read_text() and lines(table.read_text(), r"execve +\S+ +1 .*"), table
    run("--output-separately", "-c", "--format=json", "-o", str(tmp / "one"), "true")
    (one,) = tmp.glob("one.*")
    told = json.loads(one.read_text())
    assert told["process"] == {"pid": int(one.suffix[1:]), "name": "true"} and {"execve", "close"} <= {x["syscall"] for x in told["syscalls"]}
    r = run("-c", "-ff", "-o", str(tmp / "none" / "x"), "true")
    assert r.returncode == 125 and "No such file or directory" in r.stderr, r


def test_lines_below_the_table(tmp):
    """
    Below the table of -c: lines fit into COLUMNS, a histogram fits on a screen, the engine has a reason, and a note
    says if no call completed
    """
    narrow = {**os.environ, "COLUMNS": "50"}
    usual, folded = run("-c", "true").stderr, run("-c", "true", env=narrow).stderr
    assert max(map(len, usual.splitlines())) > 80 and max(map(len, folded.splitlines())) <= 50, (usual, folded)
    whole = folded.replace("\n  ", " ")
    assert lines(whole, r"program: .* wall(, .* user, .* system| = .* user \+ .* system).*") and lines(whole, r"engine: .*"), folded
    for command in ([], ["show"], ["compare"], ["report"], ["bench"], ["bench", "syscall"]):
        helps = [run(*command, "--help", env=env).stdout.splitlines() for env in (narrow, os.environ)]
        assert len(helps[0]) > len(helps[1]), command
    dd = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=20000"]
    r = run("-c", "--hist=read", "-e", "trace=read", *dd, env={**os.environ, "COLUMNS": "80"})
    text = r.stderr[r.stderr.index("syscall "):]
    assert len(text.splitlines()) <= 24 and "read: time from" in text, text
    assert lines(run("-c", "-b", "execve", "true").stderr, r"engine ptrace was chosen, because patch cannot .*\(-b\)")
    assert "was chosen" not in run("-c", "-b", "execve", "--engine=ptrace", "true").stderr
    for flags in (["-e", "trace=reboot"], ["-P", "/nonexistent"], ["--slower=10m"], ["-e", "errno=EIO"], ["-e", "status=detached"]):
        assert "\nnone of the selected calls completed\n" in run("-c", *flags, "true").stderr, flags
    assert "\nreboot: no call of this name returned\n" in run("-c", "--hist=reboot", "true").stderr
    assert "\nread: no selected call of this name returned\n" in run("-c", "--hist=read", "--slower=10m", "true").stderr
    idle = subprocess.Popen(["sleep", "1000"])
    try:
        p = subprocess.Popen([SCTRACE, "-c", "-p", str(idle.pid)], stderr=subprocess.PIPE, text=True)
        assert "attached" in p.stderr.readline()
        p.send_signal(signal.SIGINT)
        assert "\nno call completed while sctrace was counting\n" in p.communicate(timeout=TIMEOUT)[1]
    finally:
        idle.kill()
        idle.wait()


def test_filters(tmp):
    """Selection by name, result, error, path, descriptor, duration and signal"""
    t = run("-e", "trace=openat", "cat", "/etc/passwd").stderr
    assert lines(t, r'openat\(AT_FDCWD, "/etc/passwd", O_RDONLY\) += 3') and not lines(t, r"read\(.*"), t
    t = run("-e", "!%desc", "cat", "/etc/passwd").stderr
    assert not lines(t, r"(read|openat)\(.*") and lines(t, r"execve\(.*"), t
    t = run("-Z", "ls", "/nonexistent").stderr
    assert lines(t, r".* = -1 ENOENT .*") and not lines(t, r"[a-z0-9_]+\(.* = 0"), t
    t = run("-z", "-e", "trace=openat", "ls").stderr
    assert lines(t, r"openat\(.* = \d+") and " = -1 " not in t
    t = run("-e", "errno=ENOENT", "cat", "/nonexistent", "/").stderr
    assert "ENOENT" in t and "EISDIR (" not in t, t
    t = run("-P", "/etc/passwd", "cat", "/etc/passwd", "/etc/hostname").stderr
    assert lines(t, r"read\(3, .*") and "hostname" not in t, t
    t = run("-P", "/etc/passwd", "cat", "etc/passwd", cwd="/").stderr
    assert lines(t, r'openat\(.*"etc/passwd".*'), t
    t = run("-P", f"{tmp}/...", "cat", "/etc/passwd", str(tmp / "none")).stderr
    assert "none" in t and "passwd" not in t
    (tmp / "own").write_text("x")
    for path, shown in (("own", "own"), (f"{tmp}/own", "own"), ("own", f"{tmp}/own"), (f"{tmp}/...", "./own")):
        t = run("-P", path, "cat", shown, cwd=tmp).stderr
        assert lines(t, r"openat\(.*own.*") and lines(t, r"read\(3, \"x\", .*"), (path, shown, t)
    t = run("--trace-fds=1", "cat", "/etc/passwd").stderr
    assert lines(t, r"write\(1, .*") and not lines(t, r"read\(.*")
    # On a busy machine, any call may take that long.
    t = run("-T", "--slower=30ms", "sleep", "0.1").stderr
    took = [float(x) for x in re.findall(r"(?m)^\w+\(.* <([\d.]+)>$", t)]
    assert "nanosleep" in t and len(took) == len(lines(t, r"[a-z_]+\(.*")) and min(took) >= 0.03, t
    assert not lines(run("--slower=3000s", "sleep", "0.1").stderr, r"[a-z_]+\(.*")
    assert "SIGUSR1" in run("sh", "-c", "trap : USR1; kill -USR1 $$").stderr
    assert "--- SIGUSR1" not in run("-e", "signal=none", "sh", "-c", "trap : USR1; kill -USR1 $$").stderr


def test_unknown_numbers(_):
    """Call numbers without a name are shown if a filter excludes only other calls, and can be selected by number"""
    call = "import ctypes; c = ctypes.CDLL(None).syscall; [c(ctypes.c_long(n), 7) for n in (600, 1023, 1024, 2000)]"
    for choice, shown in (("!write", 4), ("!%memory,1024", 3), ("2000", 1), ("syscall_0x258", 1), ("openat", 0)):
        t = run("-e", choice, sys.executable, "-S", "-c", call).stderr
        assert len(lines(t, r"syscall_0x[0-9a-f]+\(0x7, .* = -1 ENOSYS .*")) == shown, (choice, t[-2000:])


def test_longest_vectors(_):
    """The buffers of a call that fails are shown, also if there are 1024 of them, the most that the kernel accepts"""
    call = "import os\nfor i in range(8):\n    try: os.writev(1000, [b'a'] * (1023 + i % 2))\n    except OSError: pass"
    t = run("-e", "trace=writev", sys.executable, "-S", "-c", call).stderr
    assert len(lines(t, r'writev\(1000, \[\{iov_base="a", iov_len=1\}, .*, 102[34]\) = -1 EBADF .*')) == 8, t[-2000:]


# A C program that sends two messages and receives them.
MESSAGES = """
#include <sys/socket.h>
int main(void)
{
	int s[2];
	char a[8], b[8];
	struct iovec out[2] = {{"so", 2}, {"two", 3}}, in[2] = {{a, 8}, {b, 8}};
	struct mmsghdr o[2] = {{{.msg_iov = out, .msg_iovlen = 1}}, {{.msg_iov = out + 1, .msg_iovlen = 1}}};
	struct mmsghdr i[2] = {{{.msg_iov = in, .msg_iovlen = 1}}, {{.msg_iov = in + 1, .msg_iovlen = 1}}};
	return socketpair(AF_UNIX, SOCK_DGRAM, 0, s) || sendmmsg(s[0], o, 2, 0) != 2 || recvmmsg(s[1], i, 2, 0, 0) != 2;
}
"""


def test_options_of_appearance(tmp):
    """-e read= and write= dump all bytes; -X, raw=, verbose=, abbrev=, quiet=, -i and -Y have the documented effect"""
    (tmp / "in").write_bytes(bytes(range(40)) * 500)
    cat = ["-e", "trace=read,write", "cat", "in"]
    t = run("-e", "read=3", "-q", *cat, cwd=tmp, text=False).stderr.decode("utf-8", "replace")
    assert lines(t, r" \| 04e10  18 19 1a 1b 1c 1d 1e 1f  20 21 22 23 24 25 26 27  \.{8} !\"#\$%&' \|"), t[-3000:]
    assert lines(t, r' \| 00020  20 21 22 23 24 25 26 27  00 01 .*   !"#\$%&\'\.\.\.\.\.\.\.\. \|') and len(t) > 79 * 1250
    assert not lines(t[t.index("write("):], r" \| .*")
    t = run("-e", "write=all", "-e", "trace=writev", str(EXAMPLES / "copy-readv-writev"), "in", "out", cwd=tmp).stderr
    assert lines(t, r" \* \d+ bytes in buffer 0") and lines(t, r" \| 00000  00 01 02 .* \|"), t[-3000:]
    sender = "import socket; a, b = socket.socketpair(); a.sendmsg([b'he', b'llo'])"
    t = run("-e", "write=all", "-e", "trace=sendmsg", sys.executable, "-c", sender).stderr
    assert lines(t, r" \* 3 bytes in buffer 1") and lines(t, r" \| 00000  6c 6c 6f .* llo  .* \|"), t[-3000:]
    assert lines(run("-X", "raw", "-e", "openat", "cat", "in", cwd=tmp, text=False).stderr.decode(), r'openat\(-100, "in", 0\) +=.*')
    program = tmp / "messages"
    cc = shutil.which("cc") or shutil.which("gcc")
    if cc:
        program.with_suffix(".c").write_text(MESSAGES)
        subprocess.run([cc, "-D_GNU_SOURCE", "-o", str(program), str(program.with_suffix(".c"))], check=True)
        t = run("-e", "write=all", "-e", "read=all", "-e", "trace=sendmmsg,recvmmsg", str(program)).stderr
        assert len(lines(t, r" = 1 buffers in vector [01]")) == 4, t
        assert lines(t, r" \* 2 bytes in buffer 0") and len(lines(t, r" \| 00000  74 77 6f .* two  .* \|")) == 2, t
    t = run("-X", "verbose", "-e", "fstat,newfstatat,openat", "true").stderr
    assert lines(t, r"openat\(-100 /\* AT_FDCWD \*/, .*, 0x80000 /\* O_RDONLY\|O_CLOEXEC \*/\) = 3"), t
    t = run("-e", "raw=openat", "-e", "abbrev=none", "-e", "trace=openat,close,newfstatat,fstat", "true").stderr
    assert lines(t, r"openat\(0x(ffffffff)?ffffff9c, 0x[0-9a-f]+, 0x80000\) = 0x3") and "st_ino=" in t and lines(t, r"close\(3\) .*"), t
    assert "{st_mode" not in run("-e", "verbose=openat", "true").stderr
    # RTM_GETLINK. The meaning of this number depends on the socket's protocol, which only /proc contains.
    ask = "import socket, struct; s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); s.bind((0, 0)); " \
          "s.send(struct.pack('=IHHIIBxHiII', 32, 18, 0x301, 7, 0, 0, 0, 0, 0, 0))"
    t = run("-e", "trace=sendto,send", sys.executable, "-c", ask).stderr
    assert "RTM_GETLINK" in t and "NLM_F_DUMP" in t, t
    # The objects of descriptors and processes: addresses and names are shown unchanged, and no name can end the < >
    # that encloses it.
    ends = """import ctypes, os, socket
s = socket.create_server(("127.0.0.1", 0))
socket.create_connection(s.getsockname()).send(b"x")
u = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
u.bind('a>"b')
u.getsockname()
ctypes.CDLL(None).prctl(15, b'c>"d')
os.kill(os.getpid(), 0)
"""
    t = run("-yy", "-Y", "-e", "trace=sendto,send,kill,getsockname", sys.executable, "-c", ends, cwd=tmp).stderr
    assert lines(t, r'send(to)?\(\d+<TCP:\[127\.0\.0\.1:\d+->127\.0\.0\.1:\d+\]>, "x", 1, 0.*\) = 1'), t
    assert lines(t, r'getsockname\(\d+<UNIX:\[\d+,"a\\76\\"b"\]>, .*') and lines(t, r'kill\(\d+<c\\76\\"d>, 0\) += 0'), t
    t = run("-e", "quiet=exit", "sh", "-c", "kill -USR1 $$").stderr
    assert "+++" not in t and "--- SIGUSR1" in t, t
    t = run("-i", "-e", "kill", "sh", "-c", "kill -USR1 $$").stderr
    at = r"\[([0-9a-f]{12,16})\] "
    sent, came = (re.search(at + what, t) for what in (r"kill\(", "--- SIGUSR1"))
    assert sent and came and sent[1] == came[1] != "0" * 16 and "[????????????????] +++ killed" in t, t
    assert lines(run("-Y", "-e", "kill", "sh", "-c", "kill -0 $$").stderr, r"kill\(\d+<sh>, 0\) += 0")


def test_descriptors(tmp):
    """-yy tells a Unix socket's peer, a netlink socket's protocol and port, a device's number, and that a file was removed"""
    kinds = """import os, socket
a, b = socket.socketpair()
a.send(b"1")
n = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
n.bind((0, 0))
n.getsockname()
os.write(os.open("/dev/null", os.O_WRONLY), b"2")
d = os.open("gone", os.O_WRONLY | os.O_CREAT)
os.unlink("gone")
os.write(d, b"3")
print(os.stat(f"/proc/self/fd/{a.fileno()}").st_ino, os.stat(f"/proc/self/fd/{b.fileno()}").st_ino, n.getsockname()[0])
"""
    for options in ([], ["--format=json"]):
        r = run("-yy", *options, "-e", "trace=sendto,send,write,getsockname", sys.executable, "-c", kinds, cwd=tmp)
        one, two, port = r.stdout.split()
        t = r.stderr
        peers = rf'UNIX(-STREAM)?:\[{one}->{two}\]'
        if options:
            assert re.search(rf'"is":"{peers}"', t) and f'"is":"NETLINK:[ROUTE:{port}]"' in t, t
            assert '"is":"/dev/null","device":"char 1:3"' in t and '/gone","deleted":true' in t, t
        else:
            assert lines(t, rf'send(to)?\(\d+<{peers}>, "1", 1, .*') and lines(t, rf'getsockname\(\d+<NETLINK:\[ROUTE:{port}\]>, .*'), t
            assert lines(t, r'write\(\d+</dev/null<char 1:3>>, "2", 1\) += 1'), t
            assert lines(t, r'write\(\d+<[^<>]*/gone>\(deleted\), "3", 1\) += 1'), t


def test_resumed_call(_):
    """A call with a time limit, in which the program waits when sctrace attaches, is shown with its name and arguments"""
    def state(pid):
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().split()[1:3]
    for options in ([], ["-c", "--engine=ptrace"]):
        for slept in (3, 30, 90):  # on a busy machine, sctrace may attach too late
            with subprocess.Popen(["sleep", str(slept)]) as p:
                while state(p.pid) != ["(sleep)", "S"]:
                    time.sleep(0.01)
                t = run(*options, "-p", str(p.pid)).stderr
            if "attached to process" in t:
                break
        assert "restart_syscall" not in t, t
        call = r"nanosleep +\d.*" if options else rf"nanosleep\((CLOCK_REALTIME, 0, )?\{{tv_sec={slept}, tv_nsec=0\}}, .*\) += 0"
        assert lines(t, "(clock_)?" + call), t


def test_detach_on_exec(tmp):
    """-b execve detaches when another program is executed, and its exit status is still reported"""
    script = tmp / "script"
    script.write_text("(exec cat /dev/null)\nexec sh -c 'ls / >/dev/null; exit 7'\n")
    for mode in ([], ["-c"], ["-f"], ["-c", "-f"]):
        r = run(*mode, "-b", "execve", "-o", str(tmp / "t"), "sh", str(script))
        text = (tmp / "t").read_text()
        assert r.returncode == 7 and "execve" in text and "getdents64" not in text and "fadvise64" not in text, (mode, r, text)
    r = run("-b", "execve", "-o", str(tmp / "t"), "sh", "-c", "exec sh -c 'kill -TERM $$'")
    assert r.returncode == -signal.SIGTERM, r


def test_mistakes(_):
    """The message about an unknown word marks the word and suggests similar names"""
    r = run("-e", "trace=read,opnat", "true")
    assert r.returncode == 2
    shown = run("show", "-e", "trace=read,opnat", "recording")
    assert shown.returncode == 2
    for rows in (r.stderr.splitlines(), shown.stderr.splitlines()):
        assert "did you mean openat" in rows[0]
        assert rows[2].index("^") == rows[1].index("opnat"), rows
    for args, told in ((["a", "b"], "only one recording can be shown, but 2 were given; --diff compares two"),
                       ([], "no recording was given; name one file")):
        r = run("show", *args)
        assert r.returncode == 2 and told in r.stderr, r
    assert "--format" in run("--fromat=csv", "true").stderr
    for args, told in ((["-e", "inject=write:error"], "'error' needs a value\n"),
                       (["-e", "inject=write:syscall=getpid"], "'syscall' is not an action; the actions are error, retval,"),
                       (["-e", "inject=write:error=EIO:retval=3"], "error and retval cannot be used together"),
                       (["-c", "--hist=raed"], "there is no call 'raed'; did you mean read?"),
                       (["-c", "--hist=read,wirte"], "there is no call 'wirte'; did you mean write?"),
                       (["-errors"], "did you mean --errors?"), (["-files"], "did you mean --files?"),
                       (["-c", "--expect=raed<=2"], "nor a system call; did you mean read?"),
                       (["-c", "--expect=eror(read)=0"], "'eror' is neither a metric (calls errors bytes"),
                       (["-c", "--expect=%fil<9"], "there is no group '%fil'; did you mean %file?"),
                       (["-c", "--expect=bytes(openat)<3"], "'openat' does not return a number of bytes; use a call that does"),
                       (["-S", "calls"], "-S and -U are for summaries; add -c"),
                       (["-U", "calls"], "-S and -U are for summaries; add -c"),
                       (["-c", "-e", "openat", "--expect=read<=2"], "tests only calls that -e leaves out; select these calls with -e"),
                       (["-c", "-e", "openat", "--expect=bytes<9"], "tests only calls that -e leaves out; select these calls with -e"),
                       (["-c", "--expect=read~2"], "'read~2' has no operator; write one of <= >= == != < > ="),
                       (["-c", "--expect=read=<2"], "'=<' cannot be used here; the operators are"),
                       (["-c", "--expect=calls<2K"], "'2K' is not a limit for calls; write a whole number"),
                       (["-c", "--expect=wall<2"], "'2' is not a limit for wall; write a time with its unit"),
                       (["-c", "--expect=wall(read)<2s"], "wall is measured for the whole program"),
                       (["--save=x"], "--save and -O are for summaries; add -c"),
                       (["-c", "--format=csv", "--errors"], "need --format=text, wide or markdown"),
                       (["-c", "-ff", "--format=html", "-o", "/nonexistent/x"], "--format=perfetto write one result; use -f"),
                       (["-c", "-ff", "--by=path", "-o", "/nonexistent/x"], "a table for each process at the end; leave out"),
                       (["-c", "-ff", "--interval=1s", "-o", "/nonexistent/x"], "a table for each process at the end; leave out"),
                       (["-ff", "--io", "-o", "/nonexistent/x"], "--format=perfetto write one result; use -f"),
                       (["-ff", "--stacks=folded", "-o", "/nonexistent/x"], "--format=perfetto write one result; use -f"),
                       (["-ff", "--format=perfetto", "-o", "/nonexistent/x"], "--format=perfetto write one result; use -f"),
                       (["--io", "--format=wide"], "--io has the formats text, csv, markdown, json and html"),
                       (["--daemonize=pgroup"], "write -D, -DD (in its own process group)"),
                       (["-f", "--output-separately"], "-ff needs -o FILE"), (["--interruptible=never"], "write 1, 2, 3 or 4"),
                       (["--format=perfeto"], "markdown, json, html, perfetto; did you mean perfetto?")):
        r = run(*args, "true")
        assert r.returncode == 2 and told in r.stderr, r
    assert "syscall_0x1c9: no call of this name returned" in run("-c", "--hist=syscall_0x1c9", "true").stderr


def test_tampering(tmp):
    """Errors, results and signals are injected"""
    r = run("-o", str(tmp / "t"), "-e", "inject=write:error=ENOSPC", "sh", "-c", "echo x")
    assert r.stdout == "" and r.returncode != 0
    r = run("-o", str(tmp / "t"), "-e", "inject=getppid:retval=42", sys.executable, "-c", "import os; print(os.getppid())")
    assert r.stdout == "42\n", r
    assert run("-e", "inject=getppid:signal=TERM", sys.executable, "-c", "import os; os.getppid()").returncode == -15
    # Every format says which calls were tampered with, also from a recording; the execve(2) that starts the program is not.
    r = run("-o", str(tmp / "t"), "-e", "inject=execve:error=EACCES", "-e", "inject=getppid:retval=42:delay_exit=1", "sh", "-c", "exec uname")
    text = (tmp / "t").read_text()
    assert r.returncode == 126 and "= 0\n" in text.splitlines(True)[0], (r, text)
    assert "= -1 EACCES (Permission denied) (INJECTED)\n" in text and re.search(r"getppid\(\) += 42 \(INJECTED\) \(DELAYED\)\n", text), text
    run("--record", str(tmp / "recording"), "-e", "inject=getppid:retval=42:delay_exit=1", "sh", "-c", "true")
    shown = [json.loads(line) for line in run("show", "--json", "-e", "trace=getppid,openat", str(tmp / "recording")).stdout.splitlines()]
    assert {(c.get("name"), c.get("injected"), c.get("delayed")) for c in shown if c["type"] == "call"} == {
        ("getppid", True, True), ("openat", None, None)}, shown
    r = run("-c", "-e", "inject=write:delay_enter=200ms:when=1", "sh", "-c", "echo x; echo y")
    assert r.stdout == "x\ny\n"
    for words in ([], ["-f"], ["--engine=patch"], ["--by=process"], ["--expect", "errors(write)>=1"]):
        r = run("-c", *words, "-o", str(tmp / "t"), "-e", "inject=write:error=ENOSPC", "sh", "-c", "echo x")
        assert r.stdout == "" and r.returncode not in (0, 3), (words, r)


def test_environment_of_the_program(tmp):
    """-E, --argv0, -u, -D and -b"""
    out = ["-o", str(tmp / "t")]
    assert run(*out, "-E", "A=5", "-E", "HOME", "sh", "-c", 'echo "$A$HOME"').stdout == "5\n"
    assert run(*out, "--argv0", "zz", "sh", "-c", "echo $0").stdout == "zz\n"
    assert run(*out, "-D", "sh", "-c", "exit 4").returncode == 4
    for i in range(20):  # The process between the program and the tracer sends no SIGCHLD to the program.
        assert run("-o", str(tmp / f"d{i}"), "-D", "true").returncode == 0
        wait_written(tmp / f"d{i}", "exited with 0")
        t = (tmp / f"d{i}").read_text()
        assert "SIGCHLD" not in t, t
    t = run("-f", "-b", "execve", "sh", "-c", "/bin/true; :").stderr
    assert "exited" in t
    if os.getuid() == 0:
        assert run(*out, "-u", "nobody", "id", "-un").stdout == "nobody\n"
    drop = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    r = run("-u", "root", "true", cwd="/", **drop)
    assert r.returncode == 125 and "as user 'root': only root may become another user" in r.stderr, r


def test_json(tmp):
    """Every line of --json is an object, and --format=perfetto is one document"""
    run("-f", "--json", "-o", str(tmp / "t"), "sh", "-c", "ls / >/dev/null; kill -USR1 $$")
    rows = [json.loads(x) for x in (tmp / "t").read_text().splitlines()]
    assert {"call", "birth", "signal", "exit"} <= {r["type"] for r in rows}
    assert all({"time", "pid", "tid"} <= r.keys() for r in rows)
    run("--json", "-y", "-e", "openat", "-o", str(tmp / "y"), "cat", "/etc/passwd")
    named = [r for r in map(json.loads, (tmp / "y").read_text().splitlines()) if r.get("name") == "openat"]
    assert named[-1]["is"] == "/etc/passwd" and isinstance(named[-1]["result"], int), named[-1]
    opened = [r for r in rows if r.get("name") == "openat"]
    assert opened and opened[0]["args"]["pathname" if "pathname" in opened[0]["args"] else "path"]["value"]
    if any(x.strip().startswith("-k") for x in run("--help").stdout.splitlines()):
        run("-k", "--json", "-e", "trace=exit_group", "-o", str(tmp / "t"), "true")
        calls = [x for x in map(json.loads, (tmp / "t").read_text().splitlines()) if x["type"] == "call"]
        assert calls and len(calls[0]["stack"]) > 1 and all(isinstance(x, str) for x in calls[0]["stack"]), calls
    run("-f", "--format=perfetto", "-o", str(tmp / "t"), "sh", "-c", "ls / >/dev/null; :")
    events = json.loads((tmp / "t").read_text())["traceEvents"]
    assert sum(e["ph"] == "X" for e in events) > 50
    names = {(e["name"], e["args"].get("name")) for e in events if e["ph"] == "M"}
    assert {("process_name", "sh"), ("thread_name", "sh"), ("process_name", "ls"), ("thread_name", "ls")} <= names, names
    odd = tmp / 'o"d\\\xe4\x1b'
    odd.symlink_to("/bin/true")
    run("--format=perfetto", "-o", str(tmp / "t"), str(odd))
    events = json.loads((tmp / "t").read_text())["traceEvents"]
    assert ("thread_name", 'o"d\\\xe4\\x1b') in {(e["name"], e["args"].get("name")) for e in events if e["ph"] == "M"}, events[:4]


def test_waits(tmp):
    """--waited, -T=waits, --json, -C and recordings tell the calls that waited from the others; ptrace does not know them"""
    # A sleep until a given time (such as Python's) does not wait if other programs use the processor until then.
    sleep = "ctypes.CDLL(None).clock_nanosleep(1, 0, ctypes.byref((ctypes.c_long * 2)(0, 10**7)), None)"
    napper = [sys.executable, "-S", "-c", f"import ctypes, os\nfor i in range(20): os.getppid(); {sleep}"]
    r = run("--waited", "-e", "!%signal", "-o", str(tmp / "t"), *napper)
    if r.returncode == 125:
        raise Skip("waits are not known here: " + r.stderr)
    said = r"sctrace: note: it is not known of \d+ calls whether they waited, so they {}; see Waits in sctrace\(1\)\n"
    assert r.returncode == 0 and re.fullmatch(said.format("are left out"), r.stderr), r
    nap, quick = r"clock_nanosleep\(.*\) += 0", r"getppid\(\) += \d+"
    text = (tmp / "t").read_text()
    assert len(lines(text, nap)) == 20 and len(lines(text, quick)) < 20, text
    assert run("--waited", "-qqq", "-o", str(tmp / "t"), *napper).stderr == ""
    run("-T=waits,ns", "-e", "clock_nanosleep,getppid", "--record", str(tmp / "r"), "-o", str(tmp / "t"), *napper)
    live = (tmp / "t").read_text()
    duration = r" <\d+\.\d{9}>"
    assert len(lines(live, nap + r" \(WAITED\)" + duration)) == 20 and lines(live, quick + duration), live
    r = run("show", "-T=waits,ns", str(tmp / "r"))
    assert r.stdout == live, (r, live)
    shown = run("show", "--waited", str(tmp / "r"))
    assert len(lines(shown.stdout, nap)) == 20 and len(lines(shown.stdout, quick)) < 20 and shown.returncode == 0, shown
    counted = run("show", "-c", "--format=csv", "-U", "syscall,calls,waits", str(tmp / "r"))
    assert "clock_nanosleep,20,20\n" in counted.stdout, counted
    rows = [json.loads(x) for x in run("show", "--json", str(tmp / "r")).stdout.splitlines()]
    waited = [r["waited"] for r in rows if r.get("name") == "clock_nanosleep"]
    assert waited == [True] * 20 and False in [r.get("waited") for r in rows if r.get("name") == "getppid"], rows
    r = run("-C", "--format=csv", "-U", "syscall,calls,waits", "-e", "clock_nanosleep", "-o", str(tmp / "t"), *napper)
    assert "clock_nanosleep,20,20\n" in (tmp / "t").read_text(), (tmp / "t").read_text()
    r = run("-c", "--waited", "-e", "clock_nanosleep,getpid", *napper)
    assert lines(r.stderr, "selection: -e trace=clock_nanosleep,getpid --waited; .*") and lines(r.stderr, r"clock_nanosleep +\S+ +20 .*"), r
    for words in (["--waited"], ["-T=waits"]):
        r = run("--engine=ptrace", *words, "true")
        assert r.returncode == 125 and "engine ptrace cannot tell which calls waited" in r.stderr, r
    run("--engine=ptrace", "--json", "--record", str(tmp / "r"), "-o", str(tmp / "t"), "true")
    assert '"waited"' not in (tmp / "t").read_text()
    r = run("show", "--waited", str(tmp / "r"))
    assert re.fullmatch(said.format("are left out"), r.stderr) and r.returncode == 0, r


# Calls after which the kernel looks at the thread's area although it has kept its CPU, and how often each is made at least.
DISTURBED = {"rseq": 10, "shmdt": 20, "shmctl": 20}
DISTURBING = """
import ctypes, threading
for i in range(10):
    t = threading.Thread(target=int); t.start(); t.join()
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
for i in range(20):
    segment = libc.shmget(0, 4096, 0o600)
    libc.shmdt(ctypes.c_void_p(libc.shmat(segment, None, 0))); libc.shmctl(segment, 0, None)
"""


def test_calls_that_only_seem_to_wait(_):
    """Calls after which the kernel clears the word that tells waits, for another reason, do not count as waits"""
    for mode in ("-c", "-C"):
        r = run(mode, "--engine=patch", "--format=csv", "-U", "syscall,calls,waits", "-e", ",".join(DISTURBED), sys.executable, "-S", "-c", DISTURBING)
        if r.returncode:
            raise Skip("the patch engine does not work here")
        for name, least in DISTURBED.items():
            found = re.search(rf"(?m)^{name},(\d+),(\d*)$", r.stderr)
            if name == "rseq" and not found:
                raise Skip("the C library does not register areas")
            assert int(found[1]) >= least and found[2] in ("", "0"), (mode, r.stderr)


def test_tables(tmp):
    """-c in each layout, and with --by, --errors, --hist and --save"""
    shutil.copy("/etc/passwd", tmp / "in")
    size = (tmp / "in").stat().st_size
    copy = [str(EXAMPLES / "copy-read-write"), str(tmp / "in"), str(tmp / "out")]
    r = run("-c", *copy)
    assert lines(r.stderr, rf"write +\d+\.\d{{9}} +{size} +0 .*"), r.stderr
    usage = r"program: .* wall(, .* user, .* system| = .* user \+ .* system \+ .* in calls).*"
    assert lines(r.stderr, usage) and lines(r.stderr, r"engine: .*"), r.stderr
    r = run("-c", "--format=truss", *copy)
    assert r.stderr.startswith("syscall                     seconds   calls  errors\n")
    assert lines(r.stderr, rf"write {{15}} *\d+\.\d{{9}} {{0,7}}{size} {{7}}0")
    assert "\n                      ------------- ------- -------\n" in r.stderr
    rows = run("-c", "--format=csv", "-U", "+bytes", *copy).stderr.splitlines()
    assert rows[0] == "syscall,seconds,calls,errors,avg,p50,p99,max,bytes"
    assert [x.split(",")[2] for x in rows if x.startswith("write,")] == [str(size)]
    doc = json.loads(run("-c", "--format=json", *copy).stderr)
    assert [x["calls"] for x in doc["syscalls"] if x["syscall"] == "write"] == [size]
    assert [x["bytes"] for x in doc["syscalls"] if x["syscall"] == "write"] == [size]
    r = run("-c", "--by=fd", "-e", "write", *copy)
    assert lines(r.stderr, rf"\d<{tmp}/out> .* {size} .*"), r.stderr
    for by, row in (("fd", rf"3<{tmp}/in>"), ("path", f"{tmp}/in")):
        r = run("-c", "--by=" + by, "-e", "%fstat", "cat", str(tmp / "in"))
        assert lines(r.stderr, rf"{row} +\S+ +1 .*") and "(no" not in r.stderr, r.stderr
    r = run("-c", "-f", "--by=process", "sh", "-c", "ls >/dev/null; :")
    assert len(lines(r.stderr, r"\S+ \(\d+\) .*")) == 2, r.stderr
    for how in (["-c", "--engine=ptrace"], ["-c", "-z"], ["-C"]):
        for by in ("process", "thread"):
            r = run(*how, "-f", "--by=" + by, "sh", "-c", "ls >/dev/null; :")
            named = [x.split(" ")[0] for x in lines(r.stderr, r"\S+ \(\d+\) +\d+\.\d{9} .*")]
            assert sorted(named) == ["ls", "sh"], (how, by, r.stderr[-3000:])
    assert " 0 calls before" not in run("-c", "--engine=ptrace", "-e", "openat", "true").stderr
    assert lines(run("-c", "--errors", "cat", "/nonexistent").stderr, r"openat +\d+ +ENOENT +No such file.*")
    assert "#" in run("-c", "--hist=write", *copy).stderr
    assert run("-c", "--save", str(tmp / "run.json"), *copy).returncode == 0
    run("-c", "-e", "openat", "--save", str(tmp / "some.json"), *copy)
    assert [c["name"] for c in json.loads((tmp / "some.json").read_text())["results"]] == ["openat"]
    assert json.loads((tmp / "run.json").read_text())["kind"] == "count"
    assert stat.S_IMODE((tmp / "run.json").stat().st_mode) == 0o600


def test_expect(tmp):
    """
    --expect: status 3 and the actual value if a condition fails, otherwise the program's own status; main: under each engine
    """
    (tmp / "in").write_bytes(b"x" * 10000)
    copy = [str(EXAMPLES / "copy-read-write"), "-b", "1000", str(tmp / "in"), str(tmp / "out")]
    kept = "main:read=11,write<=10,bytes(write)=10000,errors(write)=0,%file>=2,wall>0s,processes=1,read!=0"
    for engine in ("ptrace", "auto"):
        r = run("-c", "--engine=" + engine, "--expect", kept, *copy)
        assert (r.returncode, "--expect" in r.stderr) == (0, False), r
        r = run("-c", "--engine=" + engine, "-e", "read,write", "--expect", "main:calls=21,bytes>20000", *copy)
        assert r.returncode == 0, r
        r = run("-c", "--engine=" + engine, "--interval=10ms", "--expect", "main:read<=10,write<10,bytes(write)<=9K,errors=0",
                *copy)
        assert r.returncode == 3, r
        told = [x for x in r.stderr.splitlines() if x.startswith("sctrace:") and "errors" not in x]
        assert told == ["sctrace: --expect failed: " + x for x in (
            "main:read<=10, but the actual value is 11", "write<10, but the actual value is 10",
            "bytes(write)<=9K, but the actual value is 10000 bytes")], r
        for follow, n in (((), 1), (("-f",), 3)):
            children = ["sh", "-c", "/bin/true; /bin/true; :"]
            r = run("-c", "--engine=" + engine, *follow, "--expect", f"processes={n}", *children)
            assert (r.returncode, "largest process" in r.stderr) == (0 if follow else 125, n > 1), r
            assert ("not traced: 2 child processes;" in r.stderr) == (not follow), r
            assert ("cannot judge processes=1: child processes were not traced" in r.stderr) == (not follow), r
        r = run("-c", "--engine=" + engine, "--json", "-o", str(tmp / "doc"), "--expect", "main:calls<1000", *children)
        assert r.returncode == 0 and "--expect did not count their calls" in r.stderr, r
        assert json.loads((tmp / "doc").read_text())["program"]["untraced_children"] == 2
    assert run("-c", "--expect=calls>0", "sh", "-c", "exit 9").returncode == 9
    assert run("-c", "--expect=calls=0", "sh", "-c", "exit 9").returncode == 3
    assert run("-c", "--expect=calls=0", "sh", "-c", "kill -9 $$").returncode == 3
    r = run("-c", "--format=json", "-o", str(tmp / "doc"), "--expect", "read<=5,errors(write)=0,seconds<1h", *copy)
    assert r.returncode == 3
    told = json.loads((tmp / "doc").read_text())["expect"]
    assert [(x["condition"], x["holds"], x["expected"]) for x in told] == [
        ("read<=5", False, 5), ("errors(write)=0", True, 0), ("seconds<1h", True, 3600)], told
    assert told[0]["actual"] >= 11 and told[1]["actual"] == 0 and 0 <= told[2]["actual"] < 3600, told


def test_histograms(tmp):
    """No call is counted in a bucket beyond the longest call"""
    many = "import os\nfor i in range(3000): os.getppid(), os.stat('/')"
    for engine in ("ptrace", "auto"):
        for _ in range(3):  # with random times, a wrong bucket is likely in one of about a hundred histograms
            run("-c", "--engine=" + engine, "--save", str(tmp / "run"), "-o", "/dev/null", "python3", "-c", many)
            calls = [c for c in json.loads((tmp / "run").read_text())["results"] if c["histogram_ns"]]
            beyond = [(c["name"], c["histogram_ns"][-1][0], c["max_ns"]) for c in calls if c["histogram_ns"][-1][0] > c["max_ns"]]
            assert len(calls) > 20 and not beyond, (engine, beyond)


def test_limit(tmp):
    """--syscall-limit detaches after this number of selected calls, and the program continues"""
    script = "cat /dev/null; cat /dev/null; echo end"
    for engine in ("ptrace", "patch"):
        for follow in ([], ["-f"]):
            r = run(*follow, "--engine=" + engine, "-o", str(tmp / "t"), "-e", "trace=openat", "-e", "signal=none",
                    "--syscall-limit=2", "sh", "-c", script)
            assert (r.returncode, r.stdout) == (0, "end\n"), r
            assert len(lines((tmp / "t").read_text(), r".*openat\(.*")) == 2, (tmp / "t").read_text()
        r = run("-qqq", "-c", "--engine=" + engine, "--syscall-limit=5", "-o", "/dev/null", "sh", "-c", "echo continues")
        assert r.stdout == "continues\n", (engine, r)  # before main, which has a breakpoint
        r = run("-c", "--engine=" + engine, "--syscall-limit=5", "--format=csv", "-U", "calls", "sh", "-c", script)
        assert sum(int(x.split(",")[-1]) for x in r.stderr.splitlines()[1:]) == 5, r


def test_handlers_return_without_a_tracer(_):
    """A handler returns to the C library although sctrace has left the process meanwhile, or does not follow this child"""
    program = str(BUILD / "tests" / "e2e" / "returns")
    for engine in ("patch", "ptrace"):
        for words in (["-c"], ["-f", "-c"], ["-e", "all"], *(["-c", f"--syscall-limit={n}"] for n in (60, 100, 400, 700))):
            r = run("-qqq", "--engine=" + engine, *words, "-o", "/dev/null", program)
            assert (r.returncode, r.stdout) == (0, "returned\n"), (engine, words, r)


def test_hint(_):
    """A set of calls that no program makes is explained, but only if no call was selected"""
    told = "no selected call was made; most programs of today make openat instead of open, wait4 instead of waitpid"
    for flags in ([], ["-c"], ["--engine=ptrace"]):
        r = run(*flags, "-e", "trace=open,waitpid", "true")
        assert told in r.stderr and r.returncode == 0, r
        for chosen in ("open,openat", "uname", "!openat"):
            assert "instead of" not in run(*flags, "-e", "trace=" + chosen, "true").stderr
    r = run("-e", "trace=creat,gettimeofday,?time", "true")
    assert "make openat instead of creat, and vdso(7) answers gettimeofday, time without a call" in r.stderr, r
    told = "no call was tampered with; most programs of today make openat instead of open"
    for rules in (["-e", "inject=open:error=ENOENT"], ["-e", "inject=close:delay_exit=1", "-e", "fault=open"]):
        assert told in run(*rules, "true").stderr, rules
    for rule in ("inject=openat,open:delay_exit=1", "inject=uname:error=EPERM"):
        assert "tampered" not in run("-e", rule, "true").stderr, rule


def test_kinds_of_descriptors(_):
    """--decode-fds shows only those descriptors that its words name, as strace does"""
    program = """import os, socket
pair = socket.socketpair()
for d in (pair[0].fileno(), os.open("/dev/null", os.O_RDONLY), os.open("/etc/passwd", os.O_RDONLY), os.pidfd_open(os.getpid())):
    os.isatty(d)"""
    told = {"path": r"socket:\[\d+\] /dev/null /etc/passwd anon_inode:\[pidfd\]", "socket": r"UNIX-STREAM:\[\d+(->\d+)?\] - - -",
            "dev": r"- /dev/null<char 1:3> - -", "pidfd": r"- - - pid:\d+", "eventfd,signalfd": r"- - - -", "none": r"- - - -",
            "dev,path": r"socket:\[\d+\] /dev/null<char 1:3> /etc/passwd anon_inode:\[pidfd\]",
            "all": r"UNIX-STREAM:\[\d+(->\d+)?\] /dev/null<char 1:3> /etc/passwd pid:\d+"}
    for words, expected in told.items():
        r = run("--decode-fds=" + words, "-e", "trace=ioctl", sys.executable, "-c", program)
        shown = re.findall(r"^ioctl\(\d+(?:<(.*)>)?, TCGETS", r.stderr, re.M)[-4:]
        assert re.fullmatch(expected, " ".join(x or "-" for x in shown)), (words, shown, r)


def test_pid_namespaces(_):
    """The numbers of processes in another pid namespace, and their names, are those of the right processes"""
    if subprocess.run(["unshare", "-pf", "true"], capture_output=True, check=False).returncode:
        raise Skip("pid namespaces cannot be created")
    script = "sleep 100 & kill -0 $!; kill $!; wait; :"
    r = run("-f", "--decode-pids=pidns,comm", "-e", "trace=kill", "-e", "signal=none", "unshare", "-pf", "sh", "-c", script)
    told = re.findall(r"kill\((\d+)<(\w+)> /\* (\d+) in sctrace's PID NS \*/, (?:0|SIGTERM)\b", r.stderr)
    assert len(told) == 2 and told[0][::2] == told[1][::2] and told[0][0] != told[0][2], r
    assert {name for _, name, _ in told} <= {"sh", "sleep"}, r
    assert re.search(rf"{told[0][2]}.*killed by SIGTERM", r.stderr), r
    # The parent learns of the end of a process when it no longer exists.
    r = run("-f", "--pidns-translation", "-e", "trace=wait4", "unshare", "-pf", "sh", "-c", "true & wait; exit 3")
    told = re.findall(r"(?:si_pid=|wait4(?:\(-1| resumed>).* = )(\d+) /\* (\d+) in sctrace's PID NS \*/", r.stderr)
    assert len(told) == 2 and told[0] == told[1] and told[0][0] != told[0][1], r
    assert re.search(rf"{told[0][1]}\] .*exited with 0", r.stderr), r
    r = run("-f", "-Y", "-e", "trace=kill", "unshare", "-pf", "sh", "-c", script)
    assert set(re.findall(r"kill\(\d+<(\w+)>", r.stderr)) <= {"sh", "sleep"}, r  # with patch, the process may have ended


def test_namespaces(_):
    """-e namespace=new shows the namespaces that a process or its child has entered, as /proc names them"""
    if subprocess.run(["unshare", "-Un", "true"], capture_output=True, check=False).returncode:
        raise Skip("namespaces cannot be created")
    entered = r"unshare\(CLONE_NEW\S+\) += 0 \((net:\[\d+\]), (user:\[\d+\])\)"
    for engine in ("auto", "ptrace"):
        r = run("--engine=" + engine, "-f", "-e", "namespace=new", "-e", "trace=unshare", "unshare", "-Un", "sh", "-c",
                "readlink /proc/self/ns/net /proc/self/ns/user")
        assert list(re.search(entered, r.stderr).groups()) == r.stdout.split(), r
    shown = os.readlink("/proc/self/ns/uts")
    calls = "import ctypes, os; l = ctypes.CDLL(None); l.setns(os.open('/proc/self/ns/uts', 0), 0); l.setns(99, 0)"
    r = run("--namespace=new", "-e", "trace=setns", "-e", "signal=none", sys.executable, "-c", calls)
    assert lines(r.stderr, r"setns\(\d+, 0\) += \S+.*")[0].endswith(f"({shown})" if os.geteuid() == 0 else "permitted)"), r
    assert lines(r.stderr, r"setns\(99, 0\) += -1 EBADF .*")[0].endswith("(Bad file descriptor)"), r
    assert "(net:" not in run("-e", "trace=unshare", "unshare", "-Un", "true").stderr
    r = run("--json", "-e", "namespace=new", "-e", "trace=unshare", "unshare", "-Un", "true")
    call = next(x for x in map(json.loads, r.stderr.splitlines()) if x["type"] == "call")
    assert re.fullmatch(r"net:\[\d+\]", call["returned"]["net"]) and call["result"] == 0, call
    for wrong in (["--namespace=old"], ["--namespace=new", "--record=x"], ["show", "--namespace=new"], ["show", "--decode-pids=pidns"]):
        assert run(*wrong, "true").returncode == 2, wrong


def test_names_of_arguments(_):
    """-N shows the names of arguments, and --always-show-pid the id of a single thread"""
    r = run("-N", "--always-show-pid", "-e", "trace=openat", "true")
    assert lines(r.stderr, r'\[pid +\d+\] openat\(dirfd=AT_FDCWD, pathname="/etc/ld.so.cache", flags=O_RDONLY.*'), r
    r = run("-N", "-e", "trace=clone", "sh", "-c", "true & wait")
    assert lines(r.stderr, r"clone\(flags=CLONE_\S+, stack=NULL, child_tid=0x.*"), r


def test_narrow_terminals(_):
    """
    On a narrow terminal the table has less space between its columns, and leaves out some columns, but none that -U or
    -S names
    """
    for width, args, columns in ((120, [], "avg p50 p99 max"), (80, [], "avg p50 p99 max"), (54, [], "errors max"),
                                 (45, [], "calls errors"), (54, ["-S", "p50"], "errors p50"),
                                 (60, ["-U", "calls,p50,p90,p99,max"], "p50 p90 p99 max"), (80, ["-U", "+bytes"], "avg p50 p99 max bytes"),
                                 (60, ["-U", "+p50,bytes"], "errors p50 bytes")):
        for _ in range(20):  # if a call of true waited, the columns for that take the place of others
            status, text = in_terminal(width, "-c", *args, "true")
            head = next(line for line in text.splitlines() if line.startswith("syscall "))
            if "wait" not in head:
                break
        assert status == 0 and head.split()[-len(columns.split()):] == columns.split(), (width, args, text)
        assert all(len(line) <= width for line in text.splitlines() if re.match(r"\w+ +[<~\d]", line)), text


def test_long_names_of_groups(tmp):
    """On a terminal, --by=fd and --by=path leave out the middle of names that are too long; in a file, names are complete"""
    path = tmp / ("a-directory-" * 8) / "the-file"
    path.parent.mkdir()
    path.write_text("text\n")
    path = os.path.realpath(path)
    for by, name, shown in (("fd", f"3<{path}>", r"3</[^…]*…[^…]*the-file>"), ("path", path, r"/[^…]*…[^…]*the-file")):
        status, text = in_terminal(80, "-c", f"--by={by}", "cat", path)
        rows = lines(text, rf"({shown}) +[\d.]+ .*")
        assert status == 0 and len(rows) == 1 and max(map(len, text.splitlines())) <= 80, text
        assert "avg" in text and "max" in text, text
        run("-c", f"--by={by}", "-o", "out", "cat", path, cwd=tmp)
        assert lines((tmp / "out").read_text(), rf"{re.escape(name)} +[\d.]+ .*"), (tmp / "out").read_text()


def test_strace_table(tmp):
    """--format=strace has strace's layout and the same counts for each call"""
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    args = ["-f", "-c", "-S", "name", "-o"]
    prog = ["sh", "-c", "ls / /nonexistent; :"]
    subprocess.run(["strace", *args, str(tmp / "a"), *prog], capture_output=True, check=False)
    run(*args, str(tmp / "b"), "--format=strace", *prog)
    a, b = ((tmp / x).read_text().splitlines() for x in "ab")

    def counts(rows):
        # strace omits calls that never return.
        return [re.sub(r"^.{30}", "", x) for x in rows[2:-2] if not re.search(r" exit(_group)?$", x)]

    assert a[:2] == b[:2] and a[-2] == b[-2], (a, b)
    assert counts(a) == counts(b), (counts(a), counts(b))


def test_views_of_the_fast_engine(tmp):
    """Each table of -c is made by the fast engine, and contains the same calls as under ptrace"""
    shutil.copy("/etc/passwd", tmp / "in")
    script = f"cat {tmp}/in {tmp}/none; cd {tmp}/none; ls {tmp}/in; exit 3"
    for flags in (["--errors"], ["--by=thread"], ["--by=process", "--errors"], ["--by=thread", "--errors", "-S", "calls"],
                  ["--by=fd", "--errors"], ["--errors", "-e", "trace=openat,%stat"], ["--errors", "-Z"], ["--errors", "--interval=1h"],
                  ["--errors", "--expect", "main:calls>1,errors(openat)>=2,wall<1h,processes=3"],
                  ["--by=thread", "--expect", "main:calls>1,main:openat>=1"], ["--by=path", "--expect", "main:calls>1,main:openat>=1"]):
        shown = []
        for engine in ("auto", "ptrace"):
            r = run("-c", "-f", "--engine=" + engine, "-U", "calls,errors", *flags, "sh", "-c", script)
            assert r.returncode == 3 and "--expect" not in r.stderr, (flags, r)
            assert lines(r.stderr, "engine: ptrace; .*" if engine == "ptrace" else "engine: patch; .*"), (flags, r)
            before = re.findall(r"(\d+ (?:selected )?calls) before main", r.stderr)
            table = re.sub(r"[([]\d+[])]| +", " ", r.stderr)
            shown.append((before, sorted(x for x in table.splitlines() if not re.match(r" -|program:|thread \d|engine:|\d.* s, in total:", x))))
        assert shown[0] == shown[1], (flags, shown)
    r = run("-c", "--by=thread", "--interval=10ms", "sh", "-c", "sleep 0.1; exit 3")
    assert r.returncode == 3 and "since the last table" in r.stderr and "so far" not in r.stderr, r
    for cost in (0, 3600):  # -O works in these tables, too
        run("-c", "--by=fd", f"-O{cost}s", "--format=csv", "-o", str(tmp / "t"), "-U", "resolved", "true")
        told = [x.rsplit(",", 1)[1] for x in (tmp / "t").read_text().splitlines()[1:]]
        assert ("unresolved" in told) == (cost > 0), (cost, told)


def test_errors_by_number(tmp):
    """--errors counts each error of a call, however many there are, also if signals interrupt the program all the time"""
    for engine in ("patch", "ptrace"):
        for by in ([], ["--by=thread"]):
            r = run("-c", "--errors", *by, "--engine=" + engine, str(BUILD / "tests/e2e/seccomp"), "errors", "4095")
            told = lines(r.stderr, r"getpgid +2  .*")
            assert r.returncode == 0 and len(told) == 4090, (engine, by, len(told), r.stderr[-2000:])
            assert engine == "ptrace" or "1 of 1 program images were traced by ptrace: its calls fail with too many different errors" in r.stderr, r
    for threads in (1, 4):
        for by in ([], ["--by=thread"]):
            r = run("-c", "-f", "--errors", *by, "-Ucalls,errors", "--engine=patch", str(BUILD / "tests/e2e/tally"), str(tmp / "f"), str(threads),
                    "30000", "200")
            assert r.returncode == 0 and lines(r.stderr, rf"kill +{30000 * threads} +ESRCH +No such process"), r.stderr
            for call, errors in (("getppid", 0), ("getpgid", 0), ("kill", 30000)):
                rows, each = (threads, 1) if by else (1, threads)
                assert len(lines(r.stderr, rf" *{call} .* {30000 * each} +{errors * each}")) == rows, (by, threads, call, r.stderr)


def test_where_the_time_of_threads_went(tmp):
    """-c --by=thread: a line for each thread says where its wall-clock time went, and names each part"""
    command = ("-f", "-c", "--by=thread", "sh", "-c", "sleep 0.3 & sleep 0.2; wait; exit 3")
    r = run("--format=json", *command)
    threads = json.loads(r.stderr)["threads"]
    parts = ("waiting_s", "may_have_waited_s", "other_calls_s", "unfinished_s", "between_calls_s")
    assert r.returncode == 3 and len(threads) == 3, r
    for t in threads:
        assert 0.2 <= t["wall_s"] and all(t[p] >= 0 for p in parts), t
        # The cost of tracing is subtracted from times of calls, so the parts are as long as the whole, unless it was too high.
        assert abs(sum(t[p] for p in parts) - t["wall_s"]) < 0.1 * t["wall_s"], t
    text = run(*command)
    told = " ".join(text.stderr.split())
    lines_of = re.findall(r"thread (\d+) \((sh|sleep)\): ([\d.]+) m?s wall = (.*?)(?= thread \d+ \(| engine:)", told)
    assert len(lines_of) == 3, told
    if any("waiting in calls" in x[3] for x in lines_of):
        assert [("clock_nanosleep" in x[3], "wait4" in x[3]) for x in lines_of].count((True, False)) == 2, told
    # ptrace does not know waits, and says how long the calls were.
    r = run("--engine=ptrace", *command)
    assert len(re.findall(r"thread \d+ \((?:sh|sleep)\): [\d.]+ m?s wall = [\d.]+ m?s in calls that may have waited( \+ [\d.]+ .?s between calls)?\n", r.stderr)) == 3, r
    assert "waits not known" in " ".join(r.stderr.split()) and not lines(r.stderr, ".* waiting in calls .*"), r
    # Nothing is told if only some calls were counted.
    for flags in (["-e", "trace=wait4"], ["--engine=ptrace", "-e", "trace=wait4"]):
        r = run(*flags, *command)
        assert r.returncode == 3 and " wall = " not in r.stderr.replace("program: ", ""), r
    many = "import threading\nfor i in range(14): t = threading.Thread(target=lambda: None); t.start(); t.join()"
    # An exit does not return, and the time until sctrace sees it is not the thread's. The parts do not exceed the whole.
    for engine in ("auto", "ptrace"):
        threads = json.loads(run("-c", "--by=thread", "--engine=" + engine, "--format=json", sys.executable, "-c", many).stderr)["threads"]
        assert all(sum(t[p] for p in parts) <= 1.001 * t["wall_s"] for t in threads), (engine, threads)
        assert sum(t["unfinished_s"] > 0 for t in threads) <= 1, (engine, threads)  # the last one may be amid a call when the program ends
    told = " ".join(run("-c", "--by=thread", "python3", "-c", many).stderr.split())
    assert len(re.findall(r"thread \d+ \(", told)) == 10 and re.search(r"threads: \d+ more, which lived less long; --format=json lists all", told), told


def test_unknown_waits_are_named(_):
    """The line about the program says if it is not known whether calls waited, and which of them took most of the time"""
    program = lambda *flags: next(x for x in " ".join(run("-c", *flags, "sh", "-c", "sleep 0.3; exit 3").stderr.split()).split("program: ")[1:])
    assert " waits not known" in program("--engine=ptrace") and "may have waited" not in program("--engine=ptrace")
    line = program()
    # A shell gets SIGCHLD at the end of its wait, and then it is not known. Where waits are known at all, that is said.
    assert " waits not known" in line or re.search(r"( \+ [\d.]+ \w+ between calls, held by sctrace, or|, up to [\d.]+ s) in calls that may have waited \(wait4 [\d.]+ s\)|waiting in calls \(wait4", line), line
    assert "not known" not in program("-e", "trace=none").split(" engine: ")[0]
    # A process to which sctrace has attached has no line about the program.
    with subprocess.Popen(["sh", "-c", "read a; read b"], stdin=subprocess.PIPE) as p:
        with subprocess.Popen([SCTRACE, "-c", "--engine=ptrace", "-p", str(p.pid)], stderr=subprocess.PIPE, text=True) as tracer:
            assert "attached" in tracer.stderr.readline()
            p.communicate(b"1\n2\n", timeout=TIMEOUT)
            text = tracer.communicate(timeout=TIMEOUT)[1]
    assert lines(text, "waits: not known") and "program:" not in text, text


def test_expectations_are_updated_by_a_command(tmp):
    """tests/e2e/run --update writes into a case what it does now, and leaves the other cases alone"""
    here = Path(__file__).resolve().parent
    shutil.copytree(here, tmp / "e2e", ignore=shutil.ignore_patterns("__pycache__"))
    names, signals = tmp / "e2e/cases/decode.ini", tmp / "e2e/cases/signals.ini"
    was = names.read_text(), signals.read_text()
    names.write_text(was[0].replace('"three"(, 0)?', '"four"(, 0)?'))
    signals.write_text(was[1].replace("status = SIGTERM", "status = 3", 1))
    case = re.findall(r"(?m)^\[(.*)\]$", was[1][:was[1].index("status = SIGTERM")])[-1]
    assert was[0] != names.read_text() and was[1] != signals.read_text()

    def cases(*args):
        return subprocess.run([sys.executable, "-B", tmp / "e2e/run", "--build", BUILD, *args], capture_output=True, text=True,
                              check=False, timeout=TIMEOUT)

    assert cases("--modes=trace", "decode-names", case).returncode == 1
    r = cases("--update", "decode-names", case)
    assert r.returncode == 0 and sorted(r.stdout.splitlines()) == sorted(["decode-names: 1 lines changed", f"{case}: 1 lines changed"]), r
    assert signals.read_text() == was[1] and sum(a != b for a, b in zip(was[0].splitlines(), names.read_text().splitlines())) <= 1
    assert cases("--modes=trace", "decode-names", case).returncode == 0
    assert "0 lines changed" in cases("--update", "decode-names").stdout


def until(what, condition):
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, f"not within {TIMEOUT} s: {what}"
        time.sleep(0.02)


def wait_written(path, words="", times=1):
    """Waits until the file is not empty, or contains these words this many times."""
    until(f"{words!r} in {path}", lambda: path.exists() and path.stat().st_size and path.read_text().count(words) >= times)


def test_tables_during_the_run(tmp):
    """--interval prints tables during the run, SIGUSR1 prints one at once"""
    script = f"echo $$ >{tmp}/pid; read end"
    for flags, words, times in ((["--interval=200ms"], "since the last table", 2), ([], "so far", 1)):
        p = subprocess.Popen([SCTRACE, "-c", *flags, "-o", str(tmp / "t"), "sh", "-c", script], stdin=subprocess.PIPE)
        wait_written(tmp / "pid")
        if not flags:
            p.send_signal(signal.SIGUSR1)
        wait_written(tmp / "t", words, times)
        p.communicate(b"\n", timeout=TIMEOUT)
        assert p.returncode == 0
        (tmp / "pid").unlink()


def test_signals_to_the_tracer(tmp):
    """TERM and HUP end the program and the tracer; Ctrl-C ends the program, and the table is still written"""
    for mode in ([], ["-c"]):
        for sig in (signal.SIGTERM, signal.SIGHUP):
            (tmp / "pid").unlink(missing_ok=True)
            p = subprocess.Popen([SCTRACE, *mode, "-o", str(tmp / "t"), "sh", "-c", f"echo $$ >{tmp}/pid; exec sleep 60"])
            wait_written(tmp / "pid")
            p.send_signal(sig)
            assert p.wait(TIMEOUT) == -sig
            assert not Path(f"/proc/{(tmp / 'pid').read_text().strip()}").exists()
    script = f"trap 'exit 9' INT; echo ready >{tmp}/ready; while :; do sleep 0.05; done"
    p = subprocess.Popen([SCTRACE, "-c", "sh", "-c", script], stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_written(tmp / "ready")
    os.killpg(p.pid, signal.SIGINT)
    err = p.communicate(timeout=TIMEOUT)[1]
    assert p.returncode == 9 and "program:" in err, (p.returncode, err)


def test_interrupt_from_a_terminal(_):
    """After Ctrl-C on a terminal, the tables of -c and --io begin on a new line, not behind the ^C that the terminal shows"""
    script = "trap 'exit 9' INT; echo ready; while :; do sleep 0.05; done"
    for flag in ("-c", "--io"):
        pid, fd = pty.fork()
        if pid == 0:
            os.execv(SCTRACE, [SCTRACE, flag, "sh", "-c", script])
        text = b""
        while b"ready\r\n" not in text:
            text += os.read(fd, 1000)
        os.write(fd, b"\x03")
        try:
            while piece := os.read(fd, 1000):
                text += piece
        except OSError:  # the other end is closed
            pass
        os.close(fd)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9, text
        assert b"^C\r\n" in text, text


def test_attach(tmp):
    """-p shows a running process's calls and detaches; if a process cannot be attached to, the reason is given"""
    prog = subprocess.Popen(["sh", "-c", "while :; do sleep 0.05; done"])
    try:
        p = subprocess.Popen([SCTRACE, "-o", str(tmp / "t"), "-p", str(prog.pid)], stderr=subprocess.PIPE)
        wait_written(tmp / "t", "wait4")
        p.send_signal(signal.SIGINT)
        assert p.wait(TIMEOUT) == 0
        state = Path(f"/proc/{prog.pid}/status")
        assert re.search(r"TracerPid:\s0", state.read_text())
        until("it runs on", lambda: re.search(r"State:\s[SR]", state.read_text()))
    finally:
        prog.kill()
        prog.wait()
    zombie = subprocess.Popen(["true"])
    until("a zombie", lambda: "State:\tZ" in Path(f"/proc/{zombie.pid}/status").read_text())
    r = run("-p", str(zombie.pid))
    zombie.wait()
    assert r.returncode == 1 and "zombie" in r.stderr, r
    if Path("/proc/2/status").exists() and "kthreadd" in Path("/proc/2/status").read_text():
        assert "kernel thread" in run("-p", "2").stderr


def test_attach_amid_signals(_):
    """Signals of faults that a process sends while sctrace attaches or detaches, and runs code in the program, are not lost"""
    program = [sys.executable, "-S", "-c", "import os\nprint(flush=True)\nwhile True: os.getppid()"]
    for i in range(24):
        sig = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL)[i % 3]
        words = (["-c"], ["-o", "/dev/null"])[i // 3 % 2]
        with subprocess.Popen(program, stdout=subprocess.PIPE) as target:
            target.stdout.readline()
            with subprocess.Popen([SCTRACE, *words, "-p", str(target.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as tracer:
                if i < 18:
                    tracer.stderr.readline()
                    tracer.send_signal(signal.SIGINT)
                    time.sleep(i % 5 / 5000)
                else:  # while it attaches
                    until("attaching", lambda: "TracerPid:\t0" not in Path(f"/proc/{target.pid}/status").read_text() or tracer.poll() is not None)
                target.send_signal(sig)
                tracer.communicate(timeout=TIMEOUT)
            try:
                assert target.wait(TIMEOUT) == -sig, (i, sig, words, target.returncode)
            finally:
                target.kill()


def test_attach_without_ended(tmp):
    """If some processes of -p have ended, sctrace names them and traces the others; if all have, nothing is traced"""
    with subprocess.Popen(["true"]) as ended, subprocess.Popen(["true"]) as zombie:
        ended.wait()
        until("a zombie", lambda: "State:\tZ" in Path(f"/proc/{zombie.pid}/status").read_text())
        for words in (["--engine=ptrace"], ["--engine=ptrace", "-c"], [], ["-f"], ["-c"], ["-c", "-f"], ["--record", str(tmp / "r")]):
            with subprocess.Popen(["sh", "-c", "while [ ! -e stop ]; do sleep 0.05; done"], cwd=tmp) as prog:
                pids = f"{ended.pid},{prog.pid},{zombie.pid}"
                with subprocess.Popen([SCTRACE, *words, "-o", str(tmp / "t"), "-p", pids], stderr=subprocess.PIPE, text=True) as p:
                    first = p.stderr.readline()
                    (tmp / "stop").touch()
                    said = first + p.stderr.read()
                    assert prog.wait(TIMEOUT) == 0
            (tmp / "stop").unlink()
            assert p.returncode == 0 and f"attached to process {prog.pid};" in said, (words, said)
            assert said.count("attached to process") == 1, (words, said)
            assert f"cannot attach to 2 of 3 processes, which do not exist or have ended: {ended.pid}, {zombie.pid}" in said, (words, said)
            assert "wait4" in (tmp / "t").read_text(), words
        r = run("-p", f"{ended.pid},{zombie.pid}")
        assert r.returncode == 1 and f"cannot attach to process {zombie.pid}: it is a zombie" in r.stderr, r


def test_attach_to_threads(tmp):
    """If a process has several threads when sctrace attaches, each line has the id of its thread, from the first line on"""
    script = "import threading, time\nfor i in range(3): threading.Thread(target=lambda: time.sleep(60), daemon=True).start()\n" \
             "print(flush=True)\nwhile True: time.sleep(0.01)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as prog:
        prog.stdout.readline()
        with subprocess.Popen([SCTRACE, "-q", "-o", str(tmp / "t"), "--record", str(tmp / "r"), "-p", str(prog.pid)]) as p:
            wait_written(tmp / "t", "resumed")
            p.send_signal(signal.SIGINT)
        prog.kill()
    assert run("show", "-o", str(tmp / "shown"), str(tmp / "r")).returncode == 0
    text = (tmp / "t").read_text()
    assert all(re.match(r"\d+ ", line) for line in text.splitlines()), text
    assert (tmp / "shown").read_text() == text
    shown = run("show", str(tmp / "r")).stdout
    assert all(line.startswith("[pid ") for line in shown.splitlines()), shown


def test_attach_again(_):
    """Nothing of the agent stays in a process that waits in one call until sctrace detaches, and the call still takes its time"""
    for slept in (3, 30, 90):  # on a busy machine, sctrace may attach too late
        start = time.monotonic()
        with subprocess.Popen(["sleep", str(slept)]) as sleeper:
            attached = 0
            for _ in range(2):
                with subprocess.Popen([SCTRACE, "-c", "-p", str(sleeper.pid)], stderr=subprocess.PIPE, text=True) as p:
                    attached += "attached" in p.stderr.readline()
                    time.sleep(0.3)
                    p.send_signal(signal.SIGINT)
                    text = p.stderr.read()
                if sleeper.poll() is None:
                    assert p.returncode == 0 and "addresses of the agent are in use" not in text, text
                    assert "memfd:sctrace" not in Path(f"/proc/{sleeper.pid}/maps").read_text(), text
        if attached == 2:
            break
    assert attached == 2 and sleeper.returncode == 0 and time.monotonic() - start >= slept, (text, sleeper.returncode)


def attach_again(code, seconds, words):
    """Attaches to the Python program `code` and detaches 24 times. words(i): the options of attempt i. Nothing must stay in the program."""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as prog:
        try:
            prog.stdout.readline()
            for i in range(24):
                with subprocess.Popen([SCTRACE, *words(i), "-p", str(prog.pid)], stderr=subprocess.PIPE, text=True) as p:
                    assert "attached" in p.stderr.readline()
                    time.sleep(seconds)
                    p.send_signal(signal.SIGINT)
                    text = p.stderr.read()
                assert p.returncode == 0 and "addresses of the agent are in use" not in text, (i, text)
                assert "memfd:sctrace" not in Path(f"/proc/{prog.pid}/maps").read_text(), (i, text)
                assert prog.poll() is None, (i, text)
        finally:
            prog.kill()


def test_attach_again_to_server(_):
    """Nothing of the agent stays in a process that creates processes and handles their SIGCHLD while sctrace detaches"""
    attach_again("import os, signal\nsignal.signal(signal.SIGCHLD, lambda *_: None)\nprint(flush=True)\n"
                 "while True:\n if not os.fork(): os._exit(0)\n os.wait()", 0.05, lambda i: ["-c", *["-f"] * (i % 2)])


def test_attach_again_amid_stops(_):
    """Nothing of the agent stays in a process that is at a call for which it stops when sctrace detaches"""
    attach_again("import ctypes, os\nc = ctypes.CDLL(None, use_errno=True)\nprint(flush=True)\n"
                 "while c.mount(None, None, None, 0, None) == -1 and ctypes.get_errno() != 38: os.getppid()", 0.03,
                 lambda i: [["-c"], ["-o", "/dev/null"]][i % 2])


def test_attach_and_start(tmp):
    """-p and a program are traced together until both have ended"""
    code = "import os, time\nwhile not os.path.exists('stop'): time.sleep(0.01)\nos.getppid()"
    for words in (["--engine=ptrace"], ["--engine=patch"], []):
        with subprocess.Popen([sys.executable, "-c", code], cwd=tmp) as prog:
            r = run(*words, "-f", "-o", "t", "-p", str(prog.pid), "sh", "-c", "cat /dev/null; echo x; : >stop; exit 3", cwd=tmp)
            assert prog.wait(TIMEOUT) == 0
        (tmp / "stop").unlink()
        text = (tmp / "t").read_text()
        assert r.returncode == 3 and r.stdout == "x\n" and "engine" not in r.stderr, (words, r)
        assert re.search(rf"(?m)^{prog.pid} +getppid\(\) += \d+$", text) and re.search(rf"(?m)^{prog.pid} +\+\+\+ exited with 0 ", text), text
        assert re.search(r'(?m)^\d+ +execve\(.*"cat"', text) and re.search(r"(?m)^\d+ +\+\+\+ exited with 3 ", text), text


def test_interrupt_ignored_at_start(tmp):
    """
    INT and QUIT make sctrace detach even if a script's shell started it with both ignored; with nohup, HUP stays
    ignored
    """
    prog = subprocess.Popen(["sh", "-c", "while :; do sleep 0.05; done"])
    out = tmp / "t"
    try:
        for before, sig, ends in (("", "INT", True), ("", "QUIT", True), ("nohup", "HUP", False)):
            script = f"""{before} {SCTRACE} -p {prog.pid} -o {out} & tracer=$!
                         until [ -s {out} ]; do sleep 0.02; done
                         kill -{sig} $tracer; {"" if ends else f"sleep 0.2; kill -0 $tracer || exit 9; kill -TERM $tracer;"} wait $tracer"""
            r = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False, timeout=TIMEOUT)
            assert r.returncode == 0 and "TracerPid:\t0" in Path(f"/proc/{prog.pid}/status").read_text(), (sig, r)
            out.unlink()
    finally:
        prog.kill()
        prog.wait()
    ignored = f"{SCTRACE} -o {out} grep SigIgn /proc/self/status & wait $!; grep SigIgn /proc/self/status & wait $!"
    r = subprocess.run(["sh", "-c", ignored], capture_output=True, text=True, check=True, timeout=TIMEOUT)
    traced, native = r.stdout.splitlines()
    assert traced == native and int(native.split()[1], 16) & 1 << signal.SIGINT - 1, r


def peak_kib(*args):
    """VmHWM of sctrace's own process, after the program has written a line. The program ends when it reads a line."""
    p = subprocess.Popen([SCTRACE, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert p.stdout.readline() == b"done\n"
    status = Path(f"/proc/{p.pid}/status").read_text()
    p.communicate(b"\n", timeout=TIMEOUT)
    assert p.returncode == 0
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])


def test_memory(tmp):
    """The tracer stays small when the program writes 64 MiB and creates many children"""
    if b"__asan_init" in Path(SCTRACE).read_bytes():
        return  # the memory of the sanitizer would be measured, too
    out = ["-o", str(tmp / "t")]
    code = "import os; os.write(os.open('/dev/null', os.O_WRONLY), bytes(64 << 20)); print('done', flush=True); input()"
    for looks in ([], ["-s", "16777216"], ["-s", "16777216", "-z"], ["-s", "16777216", "--json"], ["-e", "write=9"]):
        kib = peak_kib(*out, *looks, sys.executable, "-S", "-c", code)
        assert kib < 32 << 10, (looks, kib)
    script = "i=0; while [ $i -lt {} ]; do (:); i=$((i+1)); done; echo done; read x"
    kib = peak_kib("-f", *out, "sh", "-c", script.format(300))
    assert kib < 32 << 10, kib


def test_truss(tmp):
    """Under the name truss, sctrace has the options and layouts of FreeBSD's truss"""
    truss = tmp / "truss"
    truss.symlink_to(SCTRACE)
    shutil.copy("/etc/passwd", tmp / "in")
    size = (tmp / "in").stat().st_size
    r = run("-Sc", str(EXAMPLES / "copy-fgetc-fputc"), prog=str(truss), cwd=tmp)
    assert r.returncode == 0 and r.stderr.startswith("syscall                     seconds   calls  errors\n"), r
    assert (tmp / "out").stat().st_size == size
    r = run("cat", "/nonexistent", prog=str(truss))
    assert lines(r.stderr, r"close\(3\)\t\t\t\t\t = 0 \(0x0\)"), r.stderr
    assert lines(r.stderr, r"openat\(AT_FDCWD,\"/nonexistent\",O_RDONLY\)\t* ERR#2 'No such file or directory'")
    assert lines(r.stderr, r"process exit, rval = 1")
    assert "print the duration of each call" in run("--help", prog=str(truss)).stdout
    for letter in "-d", "-D":
        assert lines(run(letter, "true", prog=str(truss)).stderr, r"\d+\.\d{9} execve\(.*"), letter
    kill = ["sh", "-c", "trap : TERM; kill $$"]
    assert "SIGNAL 15 (SIGTERM)" in run(*kill, prog=str(truss)).stderr
    assert "SIGNAL 15" not in run("-S", *kill, prog=str(truss)).stderr
    r = run("-T", "true", prog=str(truss))
    assert r.returncode == 2 and "in strace, -T prints" in r.stderr
    r = run("-Sc", "true")
    assert r.returncode == 2 and "truss" in r.stderr


def test_completion(tmp):
    """The shells accept the completion scripts"""
    for shell in ("bash", "zsh", "fish"):
        script = tmp / shell
        script.write_text(run("--completion", shell).stdout)
        assert "summary-only" in script.read_text()
        if shutil.which(shell):
            subprocess.run([shell, "-n", str(script)], check=True)
    for words, offered in (("bench la", "latency"), ("bench s", "syscall switch sched"), ("compare --eng", "--engine=")):
        ask = f"source {tmp}/bash; COMP_WORDS=(sctrace {words}); COMP_CWORD=2; _sctrace 2>/dev/null; echo ${{COMPREPLY[*]}}"
        assert subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True).stdout == offered + "\n", words
    assert run("--completion", "csh").returncode == 2


def test_costs_of_root(_):
    """If XDG_RUNTIME_DIR is not set, root's measured costs are kept in /run; if it is empty, they are not kept"""
    if os.geteuid() != 0:
        raise Skip("needs root, to mount a /run of its own")
    # Under load, a run may fail to measure the costs.
    script = """mount -t tmpfs -o mode=755 none /run || exit 1
        XDG_RUNTIME_DIR= "$0" -c -o /dev/null true && ls /run
        for i in 1 2 3 4 5 6 7 8 9; do [ -e /run/sctrace-costs.json ] || "$0" -c -o /dev/null true; done
        echo then; ls /run"""
    env = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    seen = subprocess.run(["unshare", "-m", "sh", "-c", script, SCTRACE], env=env, capture_output=True, text=True, check=False)
    assert seen.stdout.split() in (["then", "sctrace-costs.json"], ["then", "sctrace-costs.json", "sctrace-sites"]), seen


def test_kept_sites(tmp):
    """What a run learned about the call sites of a file is used by later runs of this sctrace, until the file changes"""
    if subprocess.run([SCTRACE, "--engine=patch", "-c", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode:
        raise Skip("the patch engine does not work here")
    static = BUILD / "tests" / "e2e" / "tasks-static"  # all its call sites are in the file
    if not static.exists():
        raise Skip("there is no static C library")
    runtime, program = Path(tmp, "runtime"), Path(tmp, "program")
    runtime.mkdir(mode=0o700)
    shutil.copy(static, program)

    def known(*ways, prog=SCTRACE):
        """Number of sites that a run decides, and of those that it knows from earlier runs."""
        env = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "SCTRACE_DEBUG": "1", **dict(ways)}
        seen = run("--engine=patch", "-c", str(program), "calls", "10", env=env, prog=prog)
        assert seen.returncode == 0, seen
        sites = re.findall(r"site 0x\w+: (.*)", seen.stderr)
        return len(sites), sum(site.endswith("as known") for site in sites)

    first, again = known(), known()
    assert first[1] == 0 < first[0] == again[0] == again[1], (first, again)
    assert known(("SCTRACE_PATCH", "redirect"))[1] == 0, "jumps that SCTRACE_PATCH excludes are used"
    other = shutil.copy(SCTRACE, Path(tmp, "sctrace"))
    assert known(prog=other)[1] == 0 and known()[1] == 0, "what another build of the same version has kept is used"
    known()
    code = program.read_bytes()
    program.write_bytes(code)  # the same inode and contents; only the time of its change is new
    changed, last = known(), known()
    assert changed[1] == 0 and last == again, (again, changed, last)
    (runtime / "sctrace-sites").write_bytes(b"no sites")
    assert known()[1] == 0, "a damaged file is used"


def test_bare_durations(tmp):
    """A duration without a unit means microseconds in every option"""
    slept = ["-e", "trace=clock_nanosleep,nanosleep", "sleep", "0.2"]
    assert "sleep" in run("--slower=100000", *slept).stderr and "sleep(" not in run("--slower=100000000", *slept).stderr
    assert "0.3 us per call subtracted" in run("-c", "-O", "0.3", "true").stderr
    for args in (["-c", "--interval=2", "true"], ["compare", "--max-time", "10", "true"], ["compare", "--min-time=1", "true"]):
        r = run(*args)
        assert r.returncode == 2 and "a number without a unit means microseconds" in r.stderr, r
    assert run("bench", "syscall", "-t", "2", "loop").returncode == 2


def test_help(_):
    """--help and --version go to standard output"""
    r = run("--help")
    assert r.returncode == 0 and "--summary-only" in r.stdout and "--completion" in r.stdout and not r.stderr
    for words in ("compare", "report", "show", "bench", *("bench " + x for x in ("syscall", "switch", "sched", "latency", "load"))):
        r = run(*words.split(), "--help")
        assert r.returncode == 0 and r.stdout.startswith(f"Usage: sctrace {words} ") and not r.stderr, (words, r.stderr)
        assert max(map(len, r.stdout.splitlines())) <= 80, words
    for words in (["bench", "syscall", "--list"], ["bench", "switch", "--list"], ["compare", "--list"]):
        r = run(*words)
        assert r.returncode == 0 and max(map(len, r.stdout.splitlines())) <= 80, (words, r)
    assert re.match(r"sctrace \d", run("--version").stdout)
    assert "ptrace" in run("--list-engines").stdout
    status, text = in_terminal(60, "--list-engines")
    assert status == 0 and max(map(len, text.splitlines())) <= 60, text


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
