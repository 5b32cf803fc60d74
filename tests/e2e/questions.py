#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Views that answer a question about a program as a whole (script.py): under each engine, live and from recordings."""
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time

from script import BUILD, SCTRACE, Skip, in_terminal, run_tests, seconds

TIMEOUT = seconds(120)


def works(engine):
    text = subprocess.run([SCTRACE, "--list-engines"], capture_output=True, text=True, check=True).stdout
    return f"{engine:8} " in text and "does not work here" not in text.split(f"{engine:8} ")[1].splitlines()[1]


ENGINES = [e for e in ("ptrace", "patch") if works(e)]


def run(folder, *args, **kw):
    return subprocess.run([SCTRACE, *map(str, args)], cwd=folder, capture_output=True, text=True, check=False, timeout=TIMEOUT,
                          stdin=subprocess.DEVNULL, **kw)


def views(folder, *options, program, status):
    """Yields what the options print as JSON: live under each engine, and for a recording of each engine."""
    for engine in ENGINES:
        done = run(folder, f"--engine={engine}", *options, "--json", "-o", "live.json", *program)
        assert done.returncode == status, (engine, done.returncode, done.stderr)
        yield engine, json.loads((folder / "live.json").read_text())
        done = run(folder, f"--engine={engine}", "-f", "--record", "recording", *program)
        assert done.returncode == status, (engine, done.returncode, done.stderr)
        done = run(folder, "show", *options, "--json", "recording")
        assert done.returncode == 0, done.stderr
        yield engine + ", recorded", json.loads(done.stdout)


SCRIPT = """
sh -c 'exit 3' || true
sh -c 'sh -c "echo first line >&2; echo leaf: error: no such luck >&2; echo last line >&2; exit 5"; exit $?' &
wait $!
"""


def test_tree(folder):
    """--tree: the processes as a tree, and which one made the program fail"""
    for way, run_json in views(folder, "--tree", program=["sh", "-c", SCRIPT], status=5):
        rows = run_json["tree"]["processes"]
        assert [r["depth"] for r in rows] == [0, 1, 1, 2], (way, rows)
        assert [r["exit_status"] for r in rows] == [5, 3, 5, 5], (way, rows)
        assert [r["is_cause"] for r in rows] == [False, False, False, True], (way, rows)
        assert rows[1]["command"] == "sh -c 'exit 3'" and rows[1]["parent"] == rows[0]["pid"], (way, rows)
        assert rows[3]["message"] == "leaf: error: no such luck", (way, rows)
        assert all(r["cpu_s"] > 0 and r["peak_rss_bytes"] > 100000 and 0 < r["wall_s"] < TIMEOUT for r in rows), (way, rows)


def test_tree_signal(folder):
    """--tree: a process that a signal killed, and who sent it; a shell reports 128 and the number of the signal"""
    for way, run_json in views(folder, "--tree", program=["sh", "-c", "sh -c 'kill -TERM $$'; exit $?"], status=143):
        rows = run_json["tree"]["processes"]
        assert rows[1]["killed_by"] == "SIGTERM" and rows[1]["exit_status"] is None and rows[1]["is_cause"], (way, rows)
        assert rows[1]["reason"] == "sent by the process itself", (way, rows)


def test_tree_formats(folder):
    """--tree as text, csv, markdown and html, on a narrow terminal, in a pipe, and in a saved run"""
    program = ["sh", "-c", SCRIPT]
    done = run(folder, "--record", "recording", "-f", *program)
    assert done.returncode == 5, done.stderr
    text = run(folder, "show", "--tree", "recording").stdout
    assert "exit 5 (cause)" in text and "MiB    sh -c 'exit 3'" in text and "error: no such luck" in text and "\033" not in text, text
    assert "no call completed" not in text and "engine:" not in text, text
    rows = list(csv.DictReader(io.StringIO(run(folder, "show", "--tree", "--format=csv", "recording").stdout)))
    assert [r["depth"] for r in rows] == ["0", "1", "1", "2"] and rows[3]["is_cause"] == "true", rows
    for form in ("markdown", "html"):
        assert "no such luck" in run(folder, "show", "--tree", f"--format={form}", "recording").stdout, form
    for width in (80, 60):
        status, shown = in_terminal(width, "show", "--tree", folder / "recording")
        assert status == 0 and max(map(len, shown.splitlines())) <= width, shown
        assert "exit 5 (cause)" in shown and "sh -c 'exit 3'" in shown, shown
    assert run(folder, "show", "--tree", "--save", "run.json", "recording").stdout == text
    assert run(folder, "report", "run.json").stdout == text


def test_tree_make(folder):
    """--tree: a failing leaf of make -j8"""
    if subprocess.run(["sh", "-c", "command -v make"], capture_output=True, check=False).returncode:
        raise Skip("there is no make")
    leaf = "\t@sh -c 'test $@ != 5 || { echo leaf $@ failed >&2; exit 9; }'\n"
    (folder / "Makefile").write_text("all: 1 2 3 4 5 6 7 8\n1 2 3 4 5 6 7 8:\n" + leaf)
    for engine in ENGINES:
        text = run(folder, f"--engine={engine}", "--tree", "make", "-j8").stderr
        assert "exited with 9." in text and "Its message: leaf 5 failed" in text, text


def test_tree_attached(folder):
    """--tree -p: the tree of a running process"""
    for engine in ENGINES:
        with subprocess.Popen(["sh", "-c", "read line; sh -c 'exit 3'; exit 4"], stdin=subprocess.PIPE) as p:
            with subprocess.Popen([SCTRACE, f"--engine={engine}", "--tree", "--json", "-p", str(p.pid)], stderr=subprocess.PIPE,
                                  text=True) as tracer:
                assert "attached" in tracer.stderr.readline()
                p.stdin.write(b"\n")
                p.stdin.close()
                rows = json.loads(tracer.stderr.read())["tree"]["processes"]
        assert [(r["command"], r["exit_status"]) for r in rows] == [("sh", 4), ("sh -c 'exit 3'", 3)], rows


USES = """
cd sub
cat ../input > out
cat link > /dev/null
ls dir > /dev/null
mkdir made
mv out moved
cat moved > /dev/null
rm moved
cat absent 2>/dev/null
echo more >> kept
exec ./script
"""


def make_files(folder):
    (folder / "sub" / "dir").mkdir(parents=True)
    (folder / "input").write_text("data\n")
    (folder / "sub" / "kept").write_text("data\n")
    (folder / "sub" / "link").symlink_to("../input")
    (folder / "sub" / "script").write_text("#!/bin/sh\ntrue\n")
    (folder / "sub" / "script").chmod(0o755)


def test_files(folder):
    """--files: one row for each path, with what was done with it"""
    for way in ENGINES:
        make_files(folder)
        (folder / "uses.sh").write_text(USES)
        record = run(folder, f"--engine={way}", "-f", "--record", "recording", "sh", "uses.sh")
        assert record.returncode == 0, record.stderr
        subprocess.run("rm -r sub input", cwd=folder, shell=True, check=True)
        make_files(folder)
        live = run(folder, f"--engine={way}", "-f", "--files", "--json", "-o", "live.json", "sh", "uses.sh")
        assert live.returncode == 0, live.stderr
        shown = run(folder, "show", "--files", "--json", "recording")
        for text in ((folder / "live.json").read_text(), shown.stdout):
            rows = {r["path"]: r for r in json.loads(text)["files"]["paths"]}
            uses = {path.removeprefix(str(folder) + "/"): set(r["uses"]) for path, r in rows.items()}
            assert "read" in uses["input"] and rows[f"{folder}/sub/link"]["target"] == f"{folder}/input", (way, rows)
            assert uses["sub"] >= {"checked"} and uses["sub/dir"] >= {"listed"}, (way, uses)
            assert uses["sub/out"] - {"missing"} == {"written", "created", "renamed"}, (way, uses["sub/out"])
            assert uses["sub/moved"] - {"missing"} == {"created", "deleted"}, (way, uses["sub/moved"])
            assert uses["sub/made"] - {"missing"} == {"created"} and uses["sub/absent"] == {"missing"}, (way, uses)
            assert uses["sub/kept"] == {"written"}, (way, uses["sub/kept"])
            assert "executed" in uses["sub/script"] and "executed" in uses["/bin/sh"], (way, uses)
            assert any("executed" in u and "ld-" in path for path, u in uses.items()), (way, uses)
        subprocess.run("rm -r sub input", cwd=folder, shell=True, check=True)


def test_files_formats(folder):
    """--files: some uses, as text, csv and a list of paths"""
    make_files(folder)
    done = run(folder, "-f", "--files=read", "cat", "input")
    assert f"{folder}/input" in done.stderr and "executed" not in done.stderr and "missing" not in done.stderr, done.stderr
    rows = list(csv.DictReader(io.StringIO(run(folder, "-f", "--files", "--format=csv", "-o", "/dev/stdout", "ls", "sub/dir").stdout)))
    assert {"uses": "listed", "path": f"{folder}/sub/dir"}.items() <= {**rows[[r["path"] for r in rows].index(f"{folder}/sub/dir")],
                                                                       "uses": "listed"}.items(), rows
    (folder / "new\nline").write_text("")
    (folder / "control\033").write_text("")
    done = run(folder, "-f", "--files=read", "--format=paths", "-o", "list", "cat", "input", "new\nline", "control\033")
    paths = (folder / "list").read_text().splitlines()
    assert f"{folder}/input" in paths and f"{folder}/control\033" in paths and f"{folder}/new" not in paths, paths
    assert "1 path is left out of the list" in done.stderr, done.stderr
    for args, says in ((["--files=raed"], "did you mean read?"), (["--format=paths"], "--files alone"),
                       (["--files", "--record", "x"], "sctrace show FILE"), (["--files", "-c", "--format=paths"], "--files alone")):
        done = run(folder, *args, "true")
        assert done.returncode == 2 and says in done.stderr, done.stderr


def test_files_feed_tar(folder):
    """--files=needed --format=paths: a program runs in a folder that contains only these files"""
    if subprocess.run(["chroot", "/", "true"], check=False, capture_output=True).returncode:
        raise Skip("chroot is not permitted")
    program = ["sh", "-c", "ls / > /dev/null && date +%Y > /tmp/sctrace-test-$$ && cat /tmp/sctrace-test-$$ && rm /tmp/sctrace-test-$$ && sed -n 1p /etc/passwd"]
    for engine in ENGINES:
        done = run(folder, f"--engine={engine}", "-f", "--files=needed", "--format=paths", "-o", "list", *program)
        assert done.returncode == 0, done.stderr
        subprocess.run(["sh", "-c", "mkdir root && tar -C / -chf - --no-recursion -T list 2>/dev/null | tar -C root -xf -"], cwd=folder,
                       check=True)
        inside = subprocess.run(["chroot", "root", *program], cwd=folder, capture_output=True, text=True, check=False)
        assert inside.returncode == 0 and inside.stdout == done.stdout and not inside.stderr, (engine, inside, (folder / "list").read_text())
        subprocess.run(["rm", "-r", "root"], cwd=folder, check=True)


# Programs with their arguments, and a call without which each of them fails.
CONFINED = [
    (["/bin/sh", "-c", "ls / | sort | head -n 1 > out; cat out"], "pipe2"),
    ([os.path.realpath(sys.executable), "-c", """
import socket, threading
a, b = socket.socketpair()
t = threading.Thread(target=lambda: a.sendall(b"text"))
t.start(); t.join()
print(b.recv(4))"""], "socketpair"),
    (["/bin/tar", "-cf", "archive.tar", "list"], "write"),
    (["/usr/bin/sort", "-o", "sorted", "list"], "read"),
    ([str(BUILD / "tests" / "e2e" / "threads"), "live", "8"], "futex"),
]


def confine(folder, profile, program):
    """Runs the program under the filter. Returns its status and what it printed."""
    (folder / "out").unlink(missing_ok=True)
    done = subprocess.run([str(BUILD / "tests" / "e2e" / "confined"), profile, *program], cwd=folder, capture_output=True, check=False,
                          timeout=TIMEOUT, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout


def test_profile(folder):
    """--profile: five programs pass under the filter of their recording, and fail if a call that they need is removed"""
    (folder / "list").write_text("c\nb\na\n")
    for program, needed in CONFINED:
        done = run(folder, "-f", "--record", "recording", *program)
        assert done.returncode == 0, done.stderr
        names = {r["syscall"] for r in csv.DictReader(io.StringIO(run(folder, "show", "-c", "--format=csv", "recording").stdout))}
        profile = json.loads(run(folder, "show", "--profile=seccomp", "recording").stdout)
        allowed = {name for rule in profile["syscalls"] for name in rule["names"]}
        assert names <= allowed <= names | {"execve", "exit", "exit_group", "restart_syscall", "rt_sigreturn"}, names ^ allowed
        assert profile["defaultAction"] == "SCMP_ACT_ERRNO" and profile["architectures"], profile
        assert run(folder, "show", "--profile=seccomp-bpf", "-o", "filter", "recording").returncode == 0
        passed = confine(folder, "filter", program)
        assert passed == (0, done.stdout.encode()), (program, passed)
        assert needed in names, (program, names)
        removed = run(folder, "show", "--profile=seccomp-bpf", "-e", f"!{needed}", "-o", "filter", "recording")
        assert removed.returncode == 0, removed.stderr
        assert confine(folder, "filter", program) != passed, (program, needed)


def test_profile_of_several(folder):
    """--profile: several recordings give one profile; live profiles; arguments are fixed"""
    python = os.path.realpath(sys.executable)
    for name, family in (("a", "AF_INET"), ("b", "AF_UNIX")):
        assert run(folder, "--record", name, python, "-c", f"import socket; socket.socket(socket.{family})").returncode == 0
    both = json.loads(run(folder, "show", "--profile=seccomp", "a", "b").stdout)
    values = {arg["value"] for rule in both["syscalls"] if rule["names"] == ["socket"] for arg in rule["args"]}
    assert values == {1, 2}, both
    for engine in ENGINES:
        done = run(folder, f"--engine={engine}", "--profile=seccomp", "-o", "live", python, "-c", "import socket; socket.socket()")
        assert done.returncode == 0, done.stderr
        rules = json.loads((folder / "live").read_text())["syscalls"]
        assert [r["args"][0]["value"] for r in rules if r["names"] == ["socket"]] == [2], rules
    done = run(folder, "show", "--profile=seccomp", "a", "absent")
    assert done.returncode == 1 and "absent" in done.stderr, done
    assert in_terminal(80, "show", "--profile=seccomp-bpf", folder / "a")[1].count("not for a terminal") == 1
    for args in (["--profile=seccomp", "-c"], ["--profile=seccomp", "--json"], ["--profile=secomp"]):
        assert run(folder, *args, "true").returncode == 2, args


FRAMES = ["shop::Cart<std::string>::add", "shop::cart::put", "shop::main::{closure#0}", "main"]


def frames_of(text):
    """Returns the functions below the line of the last signal."""
    frames = text[text.rindex("--- SIG"):].splitlines()[1:]
    return [line[line.index("(") + 1:].rsplit("+0x", 1)[0] for line in frames if line.startswith(" > ")]


def test_crash(folder):
    """-k: the stack at a fatal signal, with the names of C++ and Rust; live, in recordings and with --last"""
    program = str(BUILD / "tests" / "e2e" / "mangled")
    shown = {}
    for engine in ENGINES:
        shown[engine] = run(folder, f"--engine={engine}", "-k", "-e", "trace=none", program).stderr
        run(folder, f"--engine={engine}", "-k", "--record", "recording", program)
        assert "(main+" not in run(folder, "show", "-e", "trace=none", "recording").stdout
        shown[engine + ", recorded"] = run(folder, "show", "-k", "-e", "trace=none", "recording").stdout
        run(folder, f"--engine={engine}", "--last", "5", "--record", "recording", program)
        shown[engine + ", last"] = run(folder, "show", "recording").stdout
        shown[engine + ", killed"] = run(folder, f"--engine={engine}", "-k", "-e", "trace=none", program, "15").stderr
    for way, text in shown.items():
        frames = frames_of(text)
        if any("_ZN" in f for f in frames):
            raise Skip("sctrace was built without libiberty")
        assert [f for f in frames if "kill" not in f][:4] == FRAMES, (way, text)
    caught = "import signal, os; signal.signal(15, lambda *a: None); os.kill(os.getpid(), 15)"
    text = run(folder, "-k", "-e", "trace=none", os.path.realpath(sys.executable), "-c", caught).stderr
    assert "--- SIGTERM" in text and not frames_of(text), text
    lines = run(folder, "-k", "-e", "trace=none", "--json", program).stderr.splitlines()
    assert any(json.loads(line).get("stack", [""])[0].count(FRAMES[0]) for line in lines), lines


def test_parts_of_a_recording(folder):
    """show --last, --since, --until, --pid and --tid; a recording that was made with --last 12 shows 12 calls of each thread"""
    run(folder, "--record", "recording", "-f", "sh", "-c", "sh -c 'exit 3'; sleep 0.3; sh -c 'exit 4'; exit 5")
    events = [json.loads(line) for line in run(folder, "show", "--json", "recording").stdout.splitlines()]

    def calls(*args, of="recording"):
        counts, done = {}, run(folder, "show", "--json", *args, of)
        assert done.returncode == 0, done.stderr
        for event in map(json.loads, done.stdout.splitlines()):
            if event["type"] == "call":
                counts[event["tid"]] = counts.get(event["tid"], 0) + 1
        return counts

    everything = calls()
    assert len(everything) == 4 and min(everything.values()) > 7, everything
    assert calls("--last", "7") == dict.fromkeys(everything, 7)
    first = min(everything)
    assert calls("--pid", first) == {first: everything[first]} == calls("--tid", first)
    for what, noun in (("--pid", "process"), ("--tid", "thread")):
        said = run(folder, "show", what, f"1,{first}", "recording").stderr.split("note: ")
        assert len(said) == 2 and re.match(rf"'recording' has no {noun} 1; it has {first}(, \d+){{3}}\n$", said[1]), said
    before, after = calls("--until", "0.2s"), calls("--since", "0.2s")
    assert {t: before.get(t, 0) + after.get(t, 0) for t in everything} == everything and len(before) < 4, (before, after)
    assert any(e["type"] == "exit" for e in events), events
    done = subprocess.run([SCTRACE, "show", "--last=7", "-"], input=(folder / "recording").read_bytes(), capture_output=True, check=False)
    assert done.returncode == 1 and b"name a file" in done.stderr, done
    run(folder, "--record", "last", "--last", "12", BUILD / "tests" / "e2e" / "crash", "threads")
    counts = calls(of="last")
    assert len(counts) > 1 and max(counts.values()) == 12, counts
    assert max(calls("--last", "20", of="last").values()) == 20


def watch(folder, pid, *options, until):
    """Attaches to the process again and again, until all expressions match the output. Returns the output."""
    for _ in range(TIMEOUT * 2):
        with open(folder / "watched", "w+", encoding="utf-8") as out:
            with subprocess.Popen([SCTRACE, *options, "-p", str(pid)], stdout=out, stderr=out) as tracer:
                time.sleep(0.3)
                tracer.send_signal(signal.SIGINT)
        text = (folder / "watched").read_text()
        if all(re.search(e, text) for e in until):
            return text
    raise AssertionError(text)


def test_hang(folder):
    """-k -p: each thread with its call, for how long it sleeps, and why: mutexes, pipes, sockets, locks; -c -p: the calls"""
    with subprocess.Popen([BUILD / "tests" / "e2e" / "waits", folder / "lock"]) as p:
        try:
            text = watch(folder, p.pid, "-k", until=[
                r"futex\(.*\) <in progress, sleeping for [0-9.]+ [mun]?s>\n = the mutex is owned by thread \d+ \(waits\)\n > .*lock",
                r"futex\(.*\) <in progress.*\n = waits for the end of thread \d+ \(waits\)\n > ",
                r"fcntl\(\d+, F_SETLKW, \{l_type=F_WRLCK.*\}\) <in progress.*\n = the lock is held by process (\d+) \(waits\)\n",
                r"read\(\d+, \.\.\.\) <in progress.*\n = the pipe is open for writing in \d+ \(waits\)\n",
                r"recvfrom\(\d+, \.\.\.\) <in progress.*\n = the other end of the socket is open in \d+ \(waits\)\n",
                r"\(deadlock\+0x.* .*waits\.c:\d+"])
            holder = re.search(r"lock is held by process (\d+)", text).group(1)
            assert f"open for writing in {holder} " in text and f"socket is open in {holder} " in text, text
            owners = re.findall(r"\[pid +(\d+)\] futex.*\n = the mutex is owned by thread (\d+)", text)
            assert len(owners) == 2 and owners[0] == owners[1][::-1], owners
            for engine in ENGINES:
                table = watch(folder, p.pid, "-c", f"--engine={engine}", until=["waiting: "])
                waiting = dict(w.split() for w in re.search("waiting: (.*)", table).group(1).split(", "))
                assert waiting == {"futex": "3", "read": "1", "recvfrom": "1", "fcntl": "1"}, table
        finally:
            p.kill()


def test_summaries(folder):
    """--by, --errors, --hist, --top and --expect imply -c; --hist of several calls; --top; help"""
    for args in (["--by=process"], ["--errors"], ["--hist=read"], ["--top=3"], ["--expect=calls>0"]):
        done = run(folder, *args, "true")
        assert done.returncode == 0 and "seconds" in done.stderr.splitlines()[0] and "execve(" not in done.stderr, (args, done)
    assert run(folder, "--expect=calls<1", "true").returncode == 3
    assert run(folder, "--record", "x", "--errors", "true").returncode == 2
    text = run(folder, "--hist=read,close", "--save", "run.json", "cat", "/etc/passwd").stderr
    assert re.search(r"^read: time from", text, re.M) and re.search(r"^close: time from", text, re.M), text
    assert re.search(r"^close: time from", run(folder, "report", "run.json").stdout, re.M)
    text = run(folder, "--top=2", "--save", "run.json", "cat", "/etc/passwd").stderr
    lines = text.splitlines()
    assert lines[3].strip().startswith("----") and re.match(r"\d+ more: --top=all", lines[5]), text
    assert run(folder, "report", "run.json").stdout.splitlines()[:6] == lines[:6]
    text = run(folder, "-f", "--by=process", "--top=1", "sh", "-c", "true; ls > /dev/null").stderr.splitlines()
    assert text[0].startswith("process") and re.match(r"\w+ \(\d+\) ", text[1]) and text[4] == "1 more: --top=all", text
    assert len(list(csv.DictReader(io.StringIO(run(folder, "--top=2", "--format=csv", "true").stderr)))) > 2
    assert run(folder, "help").stdout == run(folder, "--help").stdout != ""
    assert run(folder, "help", "compare").stdout == run(folder, "compare", "--help").stdout != ""
    for word, similar in (("compere", "; did you mean sctrace help compare?"), ("nothing-like-it", "")):
        done = run(folder, "help", word)
        assert done.returncode == 2 and not done.stdout, done
        assert done.stderr == f"sctrace: help: sctrace has no command '{word}'{similar} (see sctrace --help)\n", done.stderr
    assert run(folder, "help").stdout.index("Examples:") < run(folder, "help").stdout.index("What to trace:")
    assert "did you mean --errors?" in run(folder, "-errors", "true").stderr
    assert run(folder, "--top=0", "true").returncode == 2


if __name__ == "__main__":
    sys.exit(run_tests(dict(globals())))
