#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`sctrace --io`: the planted faults are found, well-behaved programs have none, all formats, all engines (script.py)."""
import csv
import html
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from script import BUILD, SCTRACE, Skip, in_terminal, run_tests, seconds

TIMEOUT = seconds(200)
# Name: engine, environment. The small ring becomes full many times in each run.
WAYS = {"ptrace": ("ptrace", {}), "patch": ("patch", {}), "small": ("patch", {"SCTRACE_RING": "4096"})}

# For each program, the expected findings with their file (None: a finding about the whole program).
FAULTS = {
    "io-small-reads": ("small-reads", "in"),
    "io-small-writes": ("small-writes", "out"),
    "io-lines": ("line-writes", "lines"),
    "io-read-again": ("read-again", "in"),
    "io-idle-seeks": ("idle-seeks", "out"),
    "io-seek-back": ("seek-back", "in"),
    "io-seek-read": ("seek-before-read", "in"),
    "io-open-again": ("opened-again", "in"),
    "io-failed-again": ("failed-again", "rules.conf"),
    "io-sync-each": ("sync-each-write", "out"),
    "io-direct": ("unaligned-direct", "in"),
    "io-poll": ("no-result", None),
    "io-copy": ("copied-by-hand", "out"),
    "io-never-closed": ("never-closed", None),
}


def sctrace(folder, *args, way=None, **kw):
    """Runs `sctrace ARGS` with standard output in the file "lines" of the folder."""
    engine, env = WAYS.get(way, (None, {}))
    how = ["--engine=" + engine] if engine else []
    kw.setdefault("env", {**os.environ, **env})
    with open(folder / "lines", "w", encoding="utf-8") as lines:
        return subprocess.run([SCTRACE, *how, *map(str, args)], cwd=folder, stdout=lines, stderr=subprocess.PIPE, text=True,
                              check=False, timeout=TIMEOUT, stdin=subprocess.DEVNULL, **kw)


def need(way):
    engine = WAYS[way][0]
    if f"{engine:8} " not in subprocess.run([SCTRACE, "--list-engines"], capture_output=True, text=True, check=True).stdout:
        raise Skip(f"there is no engine {engine}")
    text = subprocess.run([SCTRACE, "--list-engines"], capture_output=True, text=True, check=True).stdout
    if "does not work here" in text.split(f"{engine:8} ")[1].splitlines()[1]:
        raise Skip(f"engine {engine} does not work here")


def make_input(folder, size=20000):
    (folder / "in").write_bytes(bytes(i * 7 % 251 for i in range(size)))


def profile(folder, *args, way=None, status=0):
    """The member "io" of the run, without the finding that depends on what the machine has in its page cache (test_io.c tests it)."""
    done = sctrace(folder, "--io", "--save", "run.json", "-o", "profile", *args, way=way)
    if done.returncode == 77:
        raise Skip(done.stderr.strip())
    assert done.returncode == status, (done.returncode, done.stderr)
    prof = json.loads((folder / "run.json").read_text())["io"]
    prof["findings"] = [f for f in prof["findings"] if f["kind"] != "waiting-reads"]
    return prof


def shown_profile(folder, *args, way=None):
    """The member "io" of what show prints of a recording."""
    done = sctrace(folder, "--record", "recording", *args, way=way)
    assert done.returncode == 0, done.stderr
    subprocess.run([SCTRACE, "show", "--io", "--save", "shown.json", "recording"], cwd=folder, capture_output=True, check=True,
                   timeout=TIMEOUT)
    return json.loads((folder / "shown.json").read_text())["io"]


def found(folder, prof):
    return {(f["kind"], short(folder, f["file"])) for f in prof["findings"]}


def short(folder, name):
    return os.path.relpath(name, folder.resolve()) if name and name.startswith(str(folder.resolve())) else name


def counts(folder, prof):
    """The figures that must not depend on the engine."""
    fields = ("kind", "opens", "calls", "reads", "writes", "read_bytes", "written_bytes", "sequential", "random", "reread", "rewritten",
              "seeks", "seeks_without_effect", "syncs", "mmaps", "unclosed", "sizes")
    return {short(folder, f["name"]): {k: f[k] for k in fields} for f in prof["files"]}


def check_fault(folder, name, size=20000):
    make_input(folder, size)
    program = BUILD / "examples" / name
    want = FAULTS[name]
    seen = []
    for way in WAYS:
        need(way)
        prof = profile(folder, program, way=way)
        assert want in found(folder, prof), (way, found(folder, prof))
        seen.append(counts(folder, prof))
        fixed = profile(folder, program, "-f", way=way)
        assert not fixed["findings"], (way, fixed["findings"])
    assert all(s == seen[0] for s in seen), seen


def test_small_reads(folder):
    """reads of one byte are found, and gone in the fixed program"""
    check_fault(folder, "io-small-reads")


def test_small_writes(folder):
    """writes of 16 bytes are found, and gone in the fixed program"""
    check_fault(folder, "io-small-writes")


def test_lines(folder):
    """one write for each line is found, and gone in the fixed program"""
    check_fault(folder, "io-lines")


def test_read_again(folder):
    """reading the same bytes again is found, and gone in the fixed program"""
    check_fault(folder, "io-read-again")


def test_seek_back(folder):
    """reading ahead and seeking back is found, and gone in the fixed program"""
    check_fault(folder, "io-seek-back")
    prof = profile(folder, BUILD / "examples" / "io-seek-back")
    assert {f["kind"] for f in prof["findings"] if f["file"] == "in"} == {"seek-back"}, prof["findings"]
    row = counts(folder, prof)["in"]
    assert (row["sequential"], row["random"], row["reread"], row["rewritten"]) == (1, 0, 312, 0), row


def test_idle_seeks(folder):
    """seeks that do not change the offset are found, and gone in the fixed program"""
    check_fault(folder, "io-idle-seeks")


def test_read_of_a_shell(folder):
    """bash reads ahead and seeks back for each line, which is one finding"""
    if not shutil.which("bash"):
        raise Skip("there is no bash")
    (folder / "in").write_text("".join(f"line {i} of the text\n" for i in range(300)))
    for way in WAYS:
        need(way)
        prof = profile(folder, "bash", "-c", "while read line; do :; done <in", way=way)
        assert {f["kind"] for f in prof["findings"] if f["file"] == "in"} == {"seek-back"}, (way, prof["findings"])


def test_seek_read(folder):
    """a seek before every read is found, and gone in the fixed program"""
    make_input(folder, 1 << 20)
    for way in WAYS:
        need(way)
        prof = profile(folder, BUILD / "examples" / "io-seek-read", way=way)
        assert found(folder, prof) == {("seek-before-read", "in")}, found(folder, prof)
        assert not profile(folder, BUILD / "examples" / "io-seek-read", "-f", way=way)["findings"]


def test_open_again(folder):
    """repeated opens of one file are found, and gone in the fixed program"""
    check_fault(folder, "io-open-again")


def test_failed_again(folder):
    """repeated look-ups that fail are found, and gone in the fixed program"""
    check_fault(folder, "io-failed-again")


def test_sync_each(folder):
    """fsync after every write is found, and gone in the fixed program"""
    check_fault(folder, "io-sync-each")


def test_synchronous_writes(folder):
    """writes to a descriptor with O_SYNC or O_DSYNC are found, and gone if one fsync follows them"""
    script = """
import os, sys
f = os.open("out", os.O_WRONLY | os.O_CREAT | getattr(os, sys.argv[1]))
for i in range(20):
    os.write(f, b"entry")
os.fsync(f)
"""
    for way in WAYS:
        need(way)
        for flag, want in (("O_DSYNC", True), ("O_SYNC", True), ("O_APPEND", False)):
            prof = profile(folder, sys.executable, "-c", script, flag, way=way)
            assert (("sync-each-write", "out") in found(folder, prof)) == want, (way, flag, prof["findings"])


def test_direct(folder):
    """unaligned O_DIRECT is found, and gone in the fixed program"""
    check_fault(folder, "io-direct", 1 << 20)


def test_poll(folder):
    """polling without result is found, and gone in the fixed program; a select with a time limit does not poll"""
    check_fault(folder, "io-poll")
    for way in WAYS:
        need(way)
        for limit, polls in (("0", True), ("0.001", False)):
            script = f"import select\nfor i in range(100): select.select([], [], [], {limit})"
            kinds = {f["kind"] for f in profile(folder, sys.executable, "-c", script, way=way)["findings"]}
            assert ("no-result" in kinds) == polls, (way, limit, kinds)


def test_copy(folder):
    """copying by read and write is found, and gone in the fixed program"""
    make_input(folder, 1 << 20)
    for way in WAYS:
        need(way)
        prof = profile(folder, BUILD / "examples" / "io-copy", way=way)
        assert ("copied-by-hand", "out") in found(folder, prof), found(folder, prof)
        assert not profile(folder, BUILD / "examples" / "io-copy", "-f", way=way)["findings"]


def test_never_closed(folder):
    """descriptors that are never closed are found, and gone in the fixed program"""
    check_fault(folder, "io-never-closed")
    prof = profile(folder, BUILD / "examples" / "io-never-closed")
    assert counts(folder, prof)["part"]["unclosed"] == 200, counts(folder, prof)


def test_well_behaved(folder):
    """cat, cp and dd have no findings"""
    make_input(folder, 3 << 20)
    for command in (["cat", "in"], ["cp", "in", "out"], ["dd", "bs=64K", "if=in", "of=out2"]):
        if not shutil.which(command[0]):
            raise Skip(f"there is no {command[0]}")
        for way in WAYS:
            need(way)
            prof = profile(folder, *command, way=way)
            assert not prof["findings"], (command, prof["findings"])


def test_children(folder):
    """open file descriptions are shared across fork, and a child has its own descriptors"""
    make_input(folder, 4096)
    script = "exec 3<in; head -c 1 <&3 >/dev/null; (dd bs=100 count=2 <&3 >/dev/null 2>&1); dd bs=50 count=1 <&3 >/dev/null 2>&1"
    seen = []
    for way in WAYS:
        need(way)
        prof = profile(folder, "-f", "sh", "-c", script, way=way)
        seen.append(counts(folder, prof)["in"])
        assert seen[-1]["random"] == 0 and seen[-1]["opens"] == 1, seen[-1]
        assert seen[-1]["reread"] == 0, seen[-1]
    assert all(s == seen[0] for s in seen), seen


def test_report_prints_the_same(folder):
    """report prints what the trace printed, in every format"""
    make_input(folder)
    for form in ("text", "csv", "markdown", "html"):
        for count in ([], ["-c"]):
            done = sctrace(folder, "--io", *count, "--format", form, "--save", "run.json", "-o", "shown",
                           BUILD / "examples" / "io-small-reads")
            assert done.returncode == 0, done.stderr
            again = subprocess.run([SCTRACE, "report", "--format", form, "run.json"], cwd=folder, capture_output=True, text=True,
                                   check=True, timeout=TIMEOUT).stdout
            assert again == (folder / "shown").read_text(), form
            # The line about the program may name execve, too, as a call that may have waited.
            assert form == "html" or bool(re.search(r"(?m)^(\| *)?execve ", again)) == bool(count) or form == "csv", again


def test_pictures(folder):
    """html has a mark for each of 256 requests, and a histogram of their sizes"""
    make_input(folder, 1 << 20)
    done = sctrace(folder, "--io", "--format=html", "-o", "shown", BUILD / "examples" / "io-seek-read")
    assert done.returncode == 0, done.stderr
    text = (folder / "shown").read_text()
    assert "Offsets of requests" in text and "Sizes of requests" in text
    assert "100 %" in text and ">0.333333<" not in text  # shares of "in" and of the C library
    done = sctrace(folder, "--io", "--format=html", "-o", "sizes", "dd", "if=in", "of=out", "bs=64K")
    assert done.returncode == 0, done.stderr
    assert re.search(r"p50 64\s*KiB, p99 64\s*KiB, max 64\s*KiB, n", (folder / "sizes").read_text())
    assert text.count("<circle") >= 2 * 256, text.count("<circle")  # the picture is drawn twice, wide and narrow


def test_command_in_quotes(folder):
    """html shows the command so that it can be copied into a shell"""
    done = sctrace(folder, "--io", "--format=html", "-o", "shown", "sh", "-c", "echo \"it's\" >/dev/null")
    assert done.returncode == 0, done.stderr
    assert html.unescape((folder / "shown").read_text()).count("sh -c 'echo \"it'\\''s\" >/dev/null'") >= 2


def test_pictures_of_files_with_requests(folder):
    """the files that have pictures are those with several requests, even if calls on others took more time"""
    make_input(folder, 20 << 12)
    for i in range(8):
        (folder / f"dir{i}").mkdir()
    script = """
import os
for i in range(200):
    for k in range(8):
        os.close(os.open(f"dir{k}", os.O_RDONLY))
f = os.open("in", os.O_RDONLY)
while os.read(f, 4096):
    pass
"""
    for way in WAYS:
        need(way)
        prof = profile(folder, sys.executable, "-c", script, way=way)
        marks = {short(folder, f["name"]): len(f.get("read_marks", [])) for f in prof["files"]}
        assert marks["in"] == 20 and len([n for n in marks.values() if n]) <= 6, (way, marks)
        assert min(n for n in marks.values() if n) >= 8, (way, marks)


def test_real_programs_are_not_blamed(folder):
    """a program is not blamed for what each of many processes does once or leaves open, nor for passing on lines as they come"""
    for script in ("for i in 1 2 3 4 5 6 7 8 9 10; do for k in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; done",
                   "i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i + 1)); done | cat >out",
                   "i=0; while [ $i -lt 100 ]; do (exec /bin/true </dev/null); i=$((i + 1)); done"):
        for way in WAYS:
            need(way)
            blamed = [f for f in profile(folder, "-f", "sh", "-c", script, way=way)["findings"]
                      if f["file"] is None or not f["file"].startswith("pipe")]
            assert not blamed, (script, way, blamed)


def test_names_in_other_folders(folder):
    """a file has one name, whatever the current directory is, and files of the same name in different directories are not confused"""
    make_input(folder, 4096)
    script = """
import os
for i in range(40):
    os.mkdir(f"d{i}")
    os.chdir(f"d{i}")
    for name in ("same", "../in", "./.././in"):
        os.close(os.open(name, os.O_CREAT | os.O_RDWR))
    os.stat("same")
    os.chdir("..")
d = os.open("d0", os.O_RDONLY)
os.fchdir(d)
os.close(os.open("same", os.O_RDONLY))
for i in range(2, 40):
    e = os.open("..", os.O_RDONLY, dir_fd=d)
    os.close(d)
    d = os.open(f"d{i}", os.O_RDONLY, dir_fd=e)
    os.close(os.open("same", os.O_RDONLY, dir_fd=d))
    os.close(e)
"""
    seen = []
    for way in WAYS:
        need(way)
        prof = profile(folder, sys.executable, "-c", script, way=way)
        blamed = {f["file"] for f in prof["findings"] if f["file"] and ("same" in f["file"] or "/d" in short(folder, f["file"]))}
        assert not blamed, (way, blamed)
        rows = {short(folder, f["name"]): f["opens"] for f in prof["files"]}
        assert rows["in"] == 80 and rows["d0/same"] == 2 and rows["d7/same"] == 2, (way, rows)
        assert not [name for name in rows if "/../" in name and name.startswith("d")], (way, rows)
        seen.append({k: v for k, v in rows.items() if k.startswith("d")})
        for i in range(40):
            shutil.rmtree(folder / f"d{i}")
    assert all(s == seen[0] for s in seen), seen


def test_relative_and_absolute_names(folder):
    """a file that is opened by a relative and by an absolute name has one row, with the name that was used first"""
    make_input(folder, 4096)
    script = """
import os, sys
here = os.getcwd()
def use(name):
    os.close(os.open(name, os.O_RDONLY))
use("in")
use(here + "/in")
use("//" + here + "/.//in")
os.chdir(here)
use("in")
os.mkdir("sub")
os.chdir("sub")
use("../in")
os.symlink("/usr/bin", "link")
use("link/../bin")
os.chdir(here)
os.write(1, b"text")
use("lines")
"""
    for way in WAYS:
        need(way)
        prof = profile(folder, sys.executable, "-c", script, way=way)
        rows = {f["name"]: f["opens"] for f in prof["files"] if short(folder, f["name"]).split("/")[-1] in ("in", "lines", "bin")}
        here = str(folder.resolve())
        assert rows == {"in": 5, here + "/lines": 1, here + "/sub/link/../bin": 1}, (way, rows)
        # A recording contains the current directory, so the names are the same.
        shutil.rmtree(folder / "sub")
        sctrace(folder, "--record", "recording", sys.executable, "-c", script, way=way)
        shutil.rmtree(folder / "sub")
        subprocess.run([SCTRACE, "show", "--io", "--save", "shown.json", "recording"], cwd=folder, capture_output=True, check=True,
                       timeout=TIMEOUT)
        shown = {f["name"]: f["opens"] for f in json.loads((folder / "shown.json").read_text())["io"]["files"]}
        assert {name: shown.get(name) for name in rows} == rows, (way, shown)


def test_recorded_memory(folder):
    """show --io of a recording knows the pairs of descriptors and the offsets that calls keep in memory"""
    (folder / "in").write_bytes(b"x" * 4000)
    script = '''import os, socket
f, g = os.open("in", os.O_RDONLY), os.open("out", os.O_RDWR | os.O_CREAT)
for i in range(9, 0, -1):
    os.copy_file_range(f, g, 10, i * 20, i * 200)
for i in range(9, 0, -1):
    os.sendfile(g, f, i * 10, 10)
for _ in range(2):
    a, b = os.pipe()
    os.write(b, b"text")
    os.read(a, 4)
a, b = socket.socketpair()
a.send(b"text")
b.recv(4)
'''
    keys = ("opens", "calls", "read_bytes", "written_bytes", "sequential", "random")
    for way in WAYS:
        need(way)
        prof = profile(folder, sys.executable, "-c", script, way=way)
        (folder / "out").unlink()
        sctrace(folder, "--record", "recording", sys.executable, "-c", script, way=way)
        (folder / "out").unlink()
        subprocess.run([SCTRACE, "show", "--io", "--save", "shown.json", "recording"], cwd=folder, capture_output=True, check=True,
                       timeout=TIMEOUT)
        shown = json.loads((folder / "shown.json").read_text())["io"]
        rows, again = ({f["name"]: [f[key] for key in keys] for f in io["files"]} for io in (prof, shown))
        names = ("in", "out", "pipe 1", "pipe 2", "socket pair 1")
        rows, again = ({name: of.get(name) for name in names} for of in (rows, again))
        assert again == rows, (way, rows, again)
        assert rows["in"][-1] == 14 and rows["pipe 1"][0] == 2, (way, rows)


MESSAGES = """import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_char_p), ("len", ctypes.c_size_t)]
class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint), ("iov", ctypes.POINTER(Iovec)), ("iovlen", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t), ("flags", ctypes.c_size_t), ("sent", ctypes.c_size_t)]
buffers = [Iovec(b"x" * 100, n) for n in (10, 20, 30)]
def messages():
    return (Message * 3)(*[Message(iov=ctypes.pointer(b), iovlen=1) for b in buffers])
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
assert libc.sendmmsg(a.fileno(), messages(), 3, 0) == 3
assert libc.recvmmsg(b.fileno(), messages(), 3, 0, None) == 3
p, q = os.pipe(), os.pipe()
assert libc.vmsplice(p[1], ctypes.byref(buffers[2]), 1, 0) == 30
assert libc.tee(p[0], q[1], 100, 0) == 30
os.read(p[0], 30), os.read(q[0], 30)
"""


def test_messages_and_pages_in_pipes(folder):
    """the bytes of sendmmsg, recvmmsg, vmsplice and tee are counted"""
    for way in WAYS:
        need(way)
        for prof in (profile(folder, sys.executable, "-c", MESSAGES, way=way), shown_profile(folder, sys.executable, "-c", MESSAGES, way=way)):
            rows = counts(folder, prof)
            figures = {name: tuple(rows[name][k] for k in ("reads", "writes", "read_bytes", "written_bytes"))
                       for name in ("socket pair 1", "pipe 1", "pipe 2")}
            assert figures == {"socket pair 1": (1, 1, 60, 60), "pipe 1": (1, 1, 30, 30), "pipe 2": (1, 1, 30, 30)}, (way, figures)


COPROCESS = """
import os, sys
(question, ask), (reply, answer) = os.pipe(), os.pipe()
if not os.fork():
    os.close(ask)
    while line := os.read(question, 14):
        os.write(answer, line)
    os._exit(0)
os.close(answer)
for i in range(200):
    os.write(ask, b"question %4d\\n" % i)
    os.read(reply, 14)
"""

FILTER = """
import os
while line := os.read(0, 8):
    os.write(1, line)
"""


def test_a_coprocess_is_not_blamed(folder):
    """requests and replies over two pipes cannot be buffered, whether the other process is traced or not; a filter can buffer"""
    for way in WAYS:
        need(way)
        for follow in ([], ["-f"]):
            prof = profile(folder, *follow, sys.executable, "-c", COPROCESS, way=way)
            assert not [f for f in prof["findings"] if (f["file"] or "").startswith("pipe")], (way, follow, prof["findings"])
        prof = profile(folder, "-f", "sh", "-c", f"seq 1000 | {sys.executable} -c '{FILTER}' | cat >/dev/null", way=way)
        assert {("small-reads", "pipe 1"), ("line-writes", "pipe 2")} <= found(folder, prof), (way, prof["findings"])


CLIENT = """
import subprocess, sys
with subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as server:
    for i in range(200):
        server.stdin.write(b"request\\n")
        server.stdout.read(8)
    server.stdin.close()
"""


def test_inherited_pipes(folder):
    """pipes that existed before the trace may be used for requests and answers, so that a buffer is advised with a condition"""
    condition = "A program that answers the requests of another process cannot use such a buffer."
    for way in WAYS:
        need(way)
        engine, env = WAYS[way]
        traced = [SCTRACE, "--engine", engine, "--io", "--save", "run.json", "-o", "profile", sys.executable, "-c"]
        for program, answers in ((FILTER, True), ("import os\nos.write(1, b''.join(iter(lambda: os.read(0, 8), b'')))", False)):
            if answers:
                command = [sys.executable, "-c", CLIENT, *traced, program]
            else:
                command = ["sh", "-c", 'seq 1000 | "$@" | cat >/dev/null', "sh", *traced, program]
            subprocess.run(command, cwd=folder, env={**os.environ, **env}, check=True, timeout=TIMEOUT)
            texts = [f["text"] for f in json.loads((folder / "run.json").read_text())["io"]["findings"] if "(pipe)" in f["file"]]
            assert len(texts) == (2 if answers else 1), (way, texts)
            assert all(t.endswith(condition) == answers for t in texts), (way, answers, texts)


def test_peeked_bytes_are_not_read(folder):
    """bytes that recv(2) only looks at (MSG_PEEK) are counted when another call reads them"""
    script = """import socket
a, b = socket.socketpair()
for i in range(10):
    a.send(b"0123456789")
    b.recv(100, socket.MSG_PEEK)
    b.recvmsg(4, 0, socket.MSG_PEEK)
    b.recv(100)
"""
    for way in WAYS:
        need(way)
        row = counts(folder, profile(folder, sys.executable, "-c", script, way=way))["socket pair 1"]
        assert (row["reads"], row["read_bytes"]) == (30, 100), (way, row)


def test_answers_are_not_lines(folder):
    """a client and a server that send each other one line at a time need no buffer, but lines that are sent alone do"""
    script = """import socket, sys, threading
a, b = socket.socketpair()
def serve():
    while line := b.recv(100):
        b.send(line)
answers = sys.argv[1] == "answers"
if answers:
    thread = threading.Thread(target=serve)
    thread.start()
for i in range(100):
    a.send(b"question\\n")
    if answers:
        a.recv(100)
a.close()
if answers:
    thread.join()
"""
    for way in WAYS:
        need(way)
        for what, want in (("answers", False), ("alone", True)):
            prof = profile(folder, sys.executable, "-c", script, what, way=way)
            assert (("line-writes", "socket pair 1") in found(folder, prof)) == want, (way, what, prof["findings"])


def test_messages_are_not_lines(folder):
    """messages on a datagram socket, and commands to a file of the kernel, need no buffer"""
    script = """import os, socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
name = os.open("/proc/self/comm", os.O_WRONLY)
for i in range(1100):
    a.send(b"message\\n")
    b.recv(100)
    os.write(name, b"name\\n" if i < 1000 else b"x")
"""
    for way in WAYS:
        need(way)
        blamed = profile(folder, sys.executable, "-c", script, way=way)["findings"]
        assert not [f for f in blamed if "write" in f["kind"]], (way, blamed)


def test_many_files(folder):
    """nothing is said about the common row of more files than have a row of their own"""
    (folder / "many").mkdir()
    script = "import os\nfor i in range(4300): os.close(os.open(f'many/{i}', os.O_CREAT)), os.stat(f'many/{i}')"
    for way in WAYS:
        need(way)
        prof = profile(folder, sys.executable, "-c", script, way=way)
        row = [f for f in prof["files"] if f["name"] == "(other files)"]
        assert row and row[0]["opens"] > 200, row
        blamed = [f for f in prof["findings"] if f["file"] == "(other files)"]
        assert not blamed, (way, blamed)


def test_removed_files_are_others(folder):
    """a file that is created again, and a path that is found to be absent again after it existed, are not repetitions"""
    script = """
import os
for i in range(100):
    try:
        os.stat("journal")
    except FileNotFoundError:
        pass
    f = os.open("journal", os.O_CREAT | os.O_RDWR)
    os.write(f, b"x" * 8192)
    os.close(f)
    os.close(os.open("lock", os.O_CREAT | os.O_EXCL))
    os.remove("lock") if i % 2 else os.rename("lock", "unlocked")
    os.remove("journal")
"""
    for way in WAYS:
        need(way)
        prof = profile(folder, sys.executable, "-c", script, way=way)
        blamed = [f for f in prof["findings"] if f["file"] in ("journal", "lock")]
        assert not blamed, (way, blamed)
        rows = counts(folder, prof)
        assert rows["journal"]["opens"] == rows["lock"]["opens"] == 100 and rows["journal"]["rewritten"] == 0, rows


def test_renamed_files_are_others(folder):
    """a file that is replaced by rename(2) and then read, as after a safe save, is not opened or read again"""
    script = """
import os
for i in range(100):
    f = os.open("new", os.O_CREAT | os.O_WRONLY)
    os.write(f, b"x" * 8192)
    os.close(f)
    os.rename("new", "file") if i % 2 else os.rename("new", os.path.abspath("file"))
    f = os.open("file", os.O_RDONLY)
    os.read(f, 8192)
    os.close(f)
"""
    for way in WAYS:
        need(way)
        for prof in (profile(folder, sys.executable, "-c", script, way=way), shown_profile(folder, sys.executable, "-c", script, way=way)):
            blamed = [f for f in prof["findings"] if f["file"] in ("new", "file", str(folder / "file"))]
            assert not blamed, (way, blamed)
            rows = counts(folder, prof)
            assert rows["file"]["opens"] == 100 and rows["file"]["reread"] == 0, (way, rows["file"])
            assert rows["new"]["opens"] == 100 and rows["new"]["rewritten"] == 0, (way, rows["new"])


def test_attached(folder):
    """-p profiles a running program from then on"""
    make_input(folder)
    script = "import os; f = os.open('in', os.O_RDONLY); print(flush=True); input()\nfor i in range(500): os.read(f, 1)\ninput()"
    for way in WAYS:
        need(way)
        engine, env = WAYS[way]
        with subprocess.Popen([sys.executable, "-c", script], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            program.stdout.readline()
            with subprocess.Popen([SCTRACE, f"--engine={engine}", "--io", "--save", "run.json", "-o", "profile", "-p", str(program.pid)],
                                  cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ, **env}) as tracer:
                assert "attached" in tracer.stderr.readline()
                program.communicate(b"1\n2\n", timeout=TIMEOUT)
                tracer.communicate(timeout=TIMEOUT)
            assert program.returncode == 0 and tracer.returncode == 0, (way, program.returncode, tracer.returncode)
        prof = json.loads((folder / "run.json").read_text())["io"]
        row = [f for f in prof["files"] if f["name"] == str(folder.resolve() / "in")]
        assert row and row[0]["reads"] == 500 and row[0]["opens"] == 0, (way, prof["files"])
        assert "small-reads" in {f["kind"] for f in prof["findings"]}, (way, prof["findings"])


def test_paths_of_descriptors(folder):
    """/dev/fd/N is the file of the descriptor, which is another one each time"""
    script = ("import os\nfor i in range(100):\n r, w = os.pipe(); os.write(w, b'x'); f = os.open(f'/dev/fd/{r}', os.O_RDONLY)\n"
              " os.read(f, 1); os.close(r); os.close(w); os.close(f)\nos.close(os.open('/dev/stdin', os.O_RDONLY))")
    for way in WAYS:
        need(way)
        prof = profile(folder, sys.executable, "-c", script, way=way)
        rows = counts(folder, prof)
        assert not [n for n in rows if n.startswith(("/dev/fd/", "/dev/stdin"))], (way, list(rows))
        assert rows["pipe 50"]["opens"] == 3 and rows["pipe 50"]["reads"] == 1, (way, rows["pipe 50"])
        assert not [f for f in prof["findings"] if f["file"].startswith(("pipe", "/dev"))], (way, prof["findings"])


def test_a_process_that_goes_on_may_still_close(folder):
    """when sctrace detaches, descriptors that are still open do not count as never closed"""
    make_input(folder)
    script = "print(flush=True); input(); kept = [open('in') for i in range(100)]; print(flush=True); input()"
    for way in WAYS:
        need(way)
        with subprocess.Popen([sys.executable, "-c", script], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            program.stdout.readline()
            with subprocess.Popen([SCTRACE, f"--engine={WAYS[way][0]}", "--io", "--save", "run.json", "-o", "profile", "-p", str(program.pid)],
                                  cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ, **WAYS[way][1]}) as tracer:
                assert "attached" in tracer.stderr.readline()
                program.stdin.write(b"\n")
                program.stdin.flush()
                program.stdout.readline()
                tracer.send_signal(signal.SIGINT)
                tracer.communicate(timeout=TIMEOUT)
            program.communicate(b"\n", timeout=TIMEOUT)
        prof = json.loads((folder / "run.json").read_text())["io"]
        row = [f for f in prof["files"] if short(folder, f["name"]) == "in"]
        assert row and row[0]["opens"] == 100 and row[0]["unclosed"] == 0, (way, prof["files"])
        assert "never-closed" not in {f["kind"] for f in prof["findings"]}, (way, prof["findings"])


def test_csv(folder):
    """csv has a row for each file, and its shares add up to 1"""
    make_input(folder)
    done = sctrace(folder, "--io", "--format=csv", "-o", "shown", BUILD / "examples" / "io-small-reads")
    assert done.returncode == 0, done.stderr
    rows = {r["file"]: r for r in csv.DictReader(io.StringIO((folder / "shown").read_text()))}
    row = rows["in"]
    assert row["reads"] == "20001" and row["read_bytes"] == "20000" and row["opens"] == "1", row
    for r in rows.values():
        shares = [float(r[k]) for k in r if k.endswith("_share") and r[k]]
        assert not shares or abs(sum(shares) - 1) < 1e-9, r
    assert "note:" not in done.stderr
    done = sctrace(folder, "-c", "--io", "--format=csv", "-o", "shown", BUILD / "examples" / "io-small-reads")
    assert done.returncode == 0 and "prints a single table, that of the calls" in done.stderr, done.stderr
    assert (folder / "shown").read_text().startswith("syscall,")


def test_json(folder):
    """--format=json prints what --save writes"""
    make_input(folder)
    done = sctrace(folder, "--io", "--format=json", "--save", "run.json", "-o", "shown", BUILD / "examples" / "io-small-reads")
    assert done.returncode == 0, done.stderr
    assert (folder / "shown").read_text() == (folder / "run.json").read_text()


def test_fits_a_terminal(folder):
    """no line is longer than 80 columns on a terminal of 80"""
    make_input(folder)
    status, text = in_terminal(80, "--io", BUILD / "examples" / "io-small-reads", folder / "in")
    assert status == 0, text
    long = [line for line in text.splitlines() if len(line) > 80]
    assert not long, long
    assert "20,000 sequential reads of 1 byte took" in text, text


def test_names_use_the_width(folder):
    """on a wide terminal, in a file and in Markdown, a long name is shown in full"""
    make_input(folder)
    name = "a-long-name-of-input"
    (folder / "in").rename(folder / name)
    for width, shown in ((80, name[:12] + "…" + name[-5:]), (140, str(folder / name))):
        status, text = in_terminal(width, "--io", "sed", "-n", "", folder / name, folder / name)
        assert status == 0 and len([line for line in text.splitlines() if line.startswith(shown + " ")]) == 2, (width, text)
        assert max(map(len, text.splitlines())) <= width, text
    for form in ("text", "markdown"):
        sctrace(folder, "--io", "--format", form, "-o", "profile", "sed", "-n", "", name, name, env={k: v for k, v in os.environ.items() if k != "COLUMNS"})
        assert (folder / "profile").read_text().count(name) == 2, form
    longer = folder / ("directory-" * 8) / name
    longer.parent.mkdir()
    (folder / name).rename(longer)
    sctrace(folder, "--io", "--format", "markdown", "-o", "profile", "sed", "-n", "", longer, longer)
    assert (folder / "profile").read_text().count("| " + str(longer).replace("_", "\\_") + " |") == 2, (folder / "profile").read_text()


def test_names_are_not_markup(folder):
    """a name in the findings is not taken for Markdown or HTML"""
    (folder / "<b>*x*_y_").write_bytes(bytes(5000))
    script = "import os; f = os.open('<b>*x*_y_', os.O_RDONLY)\nwhile os.read(f, 1): pass"
    sctrace(folder, "--io", "--format", "markdown", "-o", "profile", sys.executable, "-c", script)
    lines = [line for line in (folder / "profile").read_text().splitlines() if line.startswith("- ") and "5,000 sequential" in line]
    assert len(lines) == 1 and lines[0].startswith(r"- \<b>\*x\*\_y\_: "), lines
    sctrace(folder, "--io", "--format", "html", "-o", "profile", sys.executable, "-c", script)
    assert "<b>*x" not in (folder / "profile").read_text()


def test_places_in_files_of_the_kernel(folder):
    """reads at one place of a file of /proc are not sequential, so no buffer is advised; reads one after another are"""
    script = """
import os
pages = os.open("/proc/self/pagemap", os.O_RDONLY)
for i in range(500):
    os.pread(pages, 8, 4096)
text = os.open("/proc/self/statm", os.O_RDONLY)
for i in range(500):
    os.lseek(text, 0, os.SEEK_SET)
    os.read(text, 100)
lines = os.open("/proc/kallsyms", os.O_RDONLY)
for i in range(500):
    os.read(lines, 10)
"""
    for way in WAYS:
        need(way)
        prof = profile(folder, sys.executable, "-c", script, way=way)
        small = [f["file"] for f in prof["findings"] if f["kind"] == "small-reads" and (f["file"] or "").startswith("/proc")]
        assert small == ["/proc/kallsyms"], (way, prof["findings"])


def test_the_status_of_a_process_may_be_asked_for_again(folder):
    """a program looks again and again whether a process still exists"""
    script = ("import os\nfor i in range(100): os.path.exists('/proc/1'), os.path.exists('/proc/0'), os.path.exists('here'), "
              "os.path.exists('/sys/none')\n")
    (folder / "here").touch()
    prof = profile(folder, sys.executable, "-c", script)
    asked = {(f["kind"], f["file"]) for f in prof["findings"] if f["kind"] in ("status-again", "failed-again") and "python" not in f["file"]}
    assert asked == {("status-again", "here")}, prof["findings"]


def test_the_status_of_a_listed_directory_may_be_asked_for_again(folder):
    """a program that keeps the list of a directory, as Python does for imports, asks whether it has changed"""
    for name in ("listed", "other"):
        (folder / name).mkdir()
    script = "import os; os.listdir('listed')\nfor i in range(100): os.stat('listed'), os.stat('other')"
    for way in WAYS:
        need(way)
        asked = {f["file"] for f in profile(folder, sys.executable, "-c", script, way=way)["findings"] if f["kind"] == "status-again"}
        assert asked == {"other"}, (way, asked)


def test_similar_findings_are_limited(folder):
    """at most ten findings of a kind are printed, but a saved run has all of them"""
    script = ("import os\nfor k in range(30):\n name = f'many{k}'; open(name, 'w').close()\n for i in range(50): os.stat(name)\n"
              "for i in range(50): os.path.exists('none')")
    prof = profile(folder, sys.executable, "-c", script)
    assert len([f for f in prof["findings"] if (f["file"] or "").startswith("many")]) == 30, prof["findings"]
    text = (folder / "profile").read_text()
    shown = text.count("asked for its status")
    assert shown == 10 and "looked for it 50 times" in text, text
    left = len([f for f in prof["findings"] if f["kind"] == "status-again"]) - 10
    assert f"{left} more findings are not shown." in text, text
    os.rename(folder / "run.json", folder / "many.json")
    profile(folder, sys.executable, "-c", "")
    text = subprocess.run([SCTRACE, "report", "many.json", "run.json"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert text.count("status-again (") <= 11 and " more." in " ".join(text.split()), text


def test_names_can_be_told_apart(folder):
    """on a narrow terminal, columns are left out rather than names; names with the same end differ in the part before it"""
    tail = "-é.cpython-311.opt-2.pyc"
    kinds = ("old", "new")
    for kind in kinds:
        (folder / kind).mkdir()
    for width in (40, 60, 80, 100, 140):
        names = [folder / kind / (name + tail) for kind in kinds[:1 + (width in (60, 100, 140))] for name in ("typing", "ipaddress", "enum")]
        for name in names:
            name.write_text("text\n")
        status, text = in_terminal(width, "--io", "cat", *names * 8)  # among the 25 slowest files
        lines = text.splitlines()
        assert status == 0 and max(map(len, lines)) <= width, (width, text)
        titles = [i for i, line in enumerate(lines) if line.startswith("file ")]
        assert len(titles) == 2, text
        for title in titles:
            names_shown = [line.split("  ")[0] for line in lines[title + 1:lines.index("", title) if "" in lines[title:] else None]]
            shown = [name for name in names_shown if name.endswith("yc")]
            assert len(shown) == len(set(shown)) == len(names), (width, text)
    status, text = in_terminal(60, "--io", "cat", names[0], names[0])
    assert re.search(r"^file +read +written +time$", text, re.M) or re.search(r"^file +calls +read +written +time$", text, re.M), text
    assert re.search(r"^file +seq +random +reread +rewritten$", text, re.M), text


def test_one_screen(folder):
    """many pipes share a row, --top limits the rows, and the second table has only files that were used in an unusual way"""
    (folder / "once").write_text("x" * 100)
    (folder / "twice").write_text("x" * 100)
    program = ["sh", "-c", "cat once | cat | cat | cat | cat > /dev/null; cat twice twice > /dev/null"]

    def tables(*options):
        done = sctrace(folder, "-f", "--io", "--save=run.json", "-o", "profile", *options, *program)
        assert done.returncode == 0, done.stderr
        text = (folder / "profile").read_text()
        assert subprocess.run([SCTRACE, "report", "run.json"], cwd=folder, capture_output=True, text=True, check=True).stdout == text
        # The files that took the most time may all have been used in the usual way. Then there is no second table.
        first, second = (table.split("\n\n")[0].splitlines() for table in [*("\n" + text).split("\nfile ")[1:], ""][:2])
        return text, [re.split("  +", row)[0] for row in first], [row.split()[0] for row in second]

    text, first, second = tables()
    assert "4 pipes" in first and not any(re.match(r"pipe \d", row) for row in first), text
    assert "twice" in second and "once" not in second and "once" in first, text
    text, first, _ = tables("--top=all")
    assert {"pipe 1", "pipe 2", "pipe 3", "pipe 4", "once"} <= set(first) and "--top=all" not in text, text
    assert "seconds" not in text, text  # --top does not imply -c here
    text, first, _ = tables("--top=2")
    assert re.search(r"^\d+ more: --top=all$", text, re.M) and len([row for row in first if row and "more" not in row]) == 2, text
    text, first, _ = tables("--top=3", "-c")
    assert text.count("--top=all") == 2 and "seconds" in text, text


def test_refusals(folder):
    """options that cannot be combined with --io are refused with a reason"""
    for option in ("--by=path", "--errors", "--hist=read"):  # these imply -c
        assert "seconds" in sctrace(folder, "--io", option, "true").stderr, option
    for option in ("--interval=1s", "-Scalls", "-Ucalls"):
        done = sctrace(folder, "--io", option, "true")
        assert done.returncode == 2 and "--io alone does not print the table of calls" in done.stderr, (option, done.stderr)
        assert sctrace(folder, "--io", "-c", option, "true").returncode != 2, option
    for args, says in ((["--io", "-e", "read"], "follows all calls"), (["--format=html"], "add --io"),
                       (["--io", "--format=truss"], "has the formats"), (["--io", "--all"], "use -p")):
        done = sctrace(folder, *args, "true")
        assert done.returncode == 2 and says in done.stderr, (args, done.stderr)


def test_requests_of_io_uring(folder):
    """The bytes and places of requests of io_uring belong to their files; the findings do not judge them"""
    program = BUILD / "tests" / "e2e" / "uring"
    if subprocess.run([program, "probe"], check=False).returncode == 77:
        raise Skip("this kernel refuses io_uring")
    for how in (["--engine=ptrace"], ["--engine=patch"], ["--record", "calls"]):
        r = sctrace(folder, *how, *([] if "--record" in how else ["--io", "--save", "io.json"]), program, "files")
        if "--record" in how:
            r = sctrace(folder, "show", "--io", "--save", "io.json", "calls")
        run = json.loads((folder / "io.json").read_text())
        row = next(f for f in run["io"]["files"] if f["name"].endswith("/file"))
        assert [row[x] for x in ("read_bytes", "written_bytes", "reads", "writes", "syncs", "opens")] == [768, 1024, 3, 2, 1, 1], (how, row)
        assert [row[x] for x in ("sequential", "random")] == [4, 0], (how, row)
        text = " ".join((r.stderr or (folder / "lines").read_text()).split())
        assert "io_uring: 7 requests count as calls of their files" in text or "show" in r.args, r


def test_unseen_accesses_are_named(folder):
    """Mapped files and requests of io_submit are named below the table, but not what the C library maps for itself"""
    make_input(folder)
    r = sctrace(folder, "--io", BUILD / "examples" / "copy-mmap-memcpy", "in", "out")
    assert re.search(r"(?m)^not seen: accesses to the mapped memory of in, out$", r.stderr), r.stderr
    r = sctrace(folder, "--io", BUILD / "examples" / "copy-read-write", "in", "out")
    assert "not seen" not in r.stderr, r.stderr


def test_of_a_recording(folder):
    """a recording has the same profile as the live program"""
    make_input(folder)
    for name in ("io-seek-read", "io-open-again", "io-lines"):
        live = profile(folder, BUILD / "examples" / name)
        done = sctrace(folder, "--record", "recording", BUILD / "examples" / name)
        assert done.returncode == 0, done.stderr
        subprocess.run([SCTRACE, "show", "--io", "--save", "shown.json", "recording"], cwd=folder, capture_output=True, check=True,
                       timeout=TIMEOUT)
        shown = json.loads((folder / "shown.json").read_text())["io"]
        assert found(folder, shown) >= {f for f in found(folder, live) if f[1] == FAULTS[name][1] == "in"}, (found(folder, shown), name)
        assert counts(folder, shown)["in" if name != "io-lines" else "/etc/ld.so.cache"] == counts(folder, live)[
            "in" if name != "io-lines" else "/etc/ld.so.cache"]


def test_standard_descriptors_of_a_recording(folder):
    """a recording has the names of the standard descriptors"""
    done = sctrace(folder, "--record", "recording", sys.executable, "-c", "import os; os.write(1, b'text'); os.read(0, 1)")
    assert done.returncode == 0, done.stderr
    subprocess.run([SCTRACE, "show", "--io", "--save", "shown.json", "recording"], cwd=folder, capture_output=True, check=True,
                   timeout=TIMEOUT)
    rows = counts(folder, json.loads((folder / "shown.json").read_text())["io"])
    assert rows["lines"]["writes"] == rows["/dev/null"]["reads"] == 1, rows


def test_two_runs(folder):
    """report compares the files of two runs"""
    make_input(folder)
    profile(folder, BUILD / "examples" / "io-small-reads")
    os.rename(folder / "run.json", folder / "slow.json")
    profile(folder, BUILD / "examples" / "io-small-reads", "-f")
    text = subprocess.run([SCTRACE, "report", "slow.json", "run.json"], cwd=folder, capture_output=True, text=True, check=True,
                          timeout=TIMEOUT).stdout
    assert "Only slow has these findings: small-reads (in)." in text, text
    library = next(f["name"] for f in json.loads((folder / "run.json").read_text())["io"]["files"] if "libc.so" in f["name"])
    for columns in (60, 80, 200):
        status, shown = in_terminal(columns, "report", folder / "slow.json", folder / "run.json")
        files = shown.split("Files, pipes and sockets\n")[1].split("\n\n")[0].splitlines()
        assert status == 0 and max(map(len, files)) <= columns, files
        names = [line.split()[0] for line in files]
        assert "in" in names and any(library.endswith(name.lstrip("…")) for name in names if "libc" in name), files
    for form in ("markdown", "html"):
        shown = subprocess.run([SCTRACE, "report", "--format", form, "slow.json", "run.json"], cwd=folder, capture_output=True, text=True,
                               check=True, timeout=TIMEOUT).stdout
        assert library in shown.replace("\\_", "_"), (form, shown)
    row = [line.split() for line in text.splitlines() if line.split()[:1] == ["in"]]
    assert row and row[0][1:3] == ["20,002", "2"] or row[0][1:3] == ["20,002", "3"], text


WAITS = """
import os, time
into = os.open("in", os.O_RDONLY)
for i in range(500):
    os.pread(into, 100, 0)
out_of, into = os.pipe()
if os.fork() == 0:
    for i in range(20):
        time.sleep(0.002)
        os.write(into, b"x")
    os._exit(0)
for i in range(20):
    os.read(out_of, 1)
"""


def test_waits(folder):
    """Reads that wait are counted for each file, live and in a recording; under ptrace, they are not known"""
    need("patch")
    make_input(folder)
    program = (sys.executable, "-S", "-c", WAITS)
    for prof in (profile(folder, *program, way="patch"), shown_profile(folder, *program, way="patch")):
        files = {short(folder, f["name"]): f for f in prof["files"]}
        if files["in"].get("read_waits") is None:
            raise Skip("waits are not known here")
        pipe = next(f for name, f in files.items() if name.startswith("pipe") and f["reads"] == 20)
        assert pipe["read_waits"] > 0 and 0 < pipe["read_waited_s"] <= pipe["time_s"], pipe
        assert files["in"]["read_waits"] < 250, files["in"]
    text = subprocess.run([SCTRACE, "show", "--io", "recording"], cwd=folder, capture_output=True, text=True, check=True, timeout=TIMEOUT).stdout
    assert re.search(r"(?m)^file .* time +waits +waited", text), text
    prof = profile(folder, *program, way="ptrace")
    assert all(f.get("read_waits") is None for f in prof["files"] if f["reads"]), prof["files"]


if __name__ == "__main__":
    sys.exit(run_tests(dict(globals())))
