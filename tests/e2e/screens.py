#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Traces on a terminal, and wherever else the program writes to the output of the trace (script.py): the lines of calls appear
before what the program writes later, and a call that blocks is shown while it blocks. No test depends on time: a key is
typed when the screen shows that the program waits for it.
"""
import ctypes
import difflib
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time

from script import SCTRACE, run_tests, seconds

TIMEOUT = seconds(100)
PYTHON = [sys.executable, "-S"]
ADDR_NO_RANDOMIZE = 0x40000
PASSED = """
import os, socket
a, b = socket.socketpair()
if os.fork() == 0:
    fds = socket.recv_fds(b, 10, 1)[1]
    os.write(fds[0], b'passed\\n')
    os.write(b.fileno(), b'elsewhere\\n')
    os._exit(0)
socket.send_fds(a, [b'x'], [1])
os.wait()
os.write(1, b'end\\n')
"""
# Descriptors that refer to the terminal, to something else, and to the terminal again.
REUSED = """
import os, sys
def reopen(fd, path, *flags):
    os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), fd)
reopen(7, '/dev/null'); os.write(7, b'nowhere\\n'); os.write(7, b'nowhere\\n')
reopen(7, '/dev/tty'); os.write(7, b'seven\\n')
reopen(7, sys.argv[1]); os.write(7, b'file\\n'); os.sendfile(1, 7, 0, 5)
os.close(7)
fd = os.dup(1); assert fd < 7; os.writev(fd, [b'vec', b'tor\\n'])
os.closerange(3, 100)
reopen(3, os.ttyname(1)); os.write(3, b'three\\n')
m, s = os.openpty(); os.write(s, b'another'); os.read(m, 99)  # with a newline, the kernel might pass it on in two parts
r, w = os.pipe(); os.write(w, b'pipe\\n'); os.splice(r, 1, 5)
os.write(2, b'last\\n')
"""
# A thread reads from the terminal. When it does, according to /proc, another thread writes.
THREADS = """
import os, threading, time
def read():
    global reader
    reader = threading.get_native_id()
    os.write(1, b'got ' + os.read(0, 99))
reader = None
thread = threading.Thread(target=read)
thread.start()
while not reader or not open(f'/proc/self/task/{reader}/syscall').read().startswith('0 0x0 '):
    time.sleep(0.01)
os.write(1, b'ready\\n')
thread.join()
"""


class Screen:
    """
    A terminal on which a command runs. `text` is what has appeared so far. The kernel discards unread text when the leader of
    the session ends, so the leader is a shell that ends only when everything has been read.
    """

    LEADER = ["sh", "-c", '"$@"; echo "[status $?]"; read end', "sh"]

    def __init__(self, command):
        self.master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        # Programs such as less(1) keep a history in the home directory, which others change meanwhile.
        env = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C", "PYTHONHASHSEED": "0", "HOME": "/nonexistent"}
        self.process = subprocess.Popen(self.LEADER + command, stdin=terminal, stdout=terminal, stderr=terminal, env=env,
                                        start_new_session=True, preexec_fn=self.prepare)
        os.close(terminal)
        self.bytes = b""
        self.text = ""
        self.typed = 0
        self.end = time.monotonic() + TIMEOUT

    @staticmethod
    def prepare():
        """Makes the terminal the controlling one. Programs behave the same in each run if their addresses are the same."""
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)

    def read(self):
        """Waits for text. Returns false if the command has ended, and removes the last line, which says so."""
        assert select.select([self.master], [], [], max(0, self.end - time.monotonic()))[0], f"waits for ever: {self.text[-1500:]}"
        self.bytes += os.read(self.master, 65536)
        self.text = self.bytes.decode(errors="backslashreplace").replace("\r\n", "\n")
        ended = re.search(r"\[status \d+\]\n\Z", self.text)
        self.text = self.text[:ended.start()] if ended else self.text
        return not ended

    def type_at(self, words, end, keys):
        """Types `keys` when `words` have appeared since the last keys, and the screen ends with `end`."""
        while words not in self.text[self.typed:] or not self.text.endswith(end):
            assert self.read(), f"ended without {words!r} and {end!r}: {self.text[-1500:]}"
        self.typed = len(self.text)
        os.write(self.master, keys.encode())

    def close(self):
        os.close(self.master)
        self.process.wait(TIMEOUT)


def show(*args, typed=()):
    """Returns what `sctrace ARGS` shows, with keys that are typed at certain texts."""
    screen = Screen([SCTRACE, *map(str, args)])
    try:
        for words, end, keys in typed:
            screen.type_at(words, end, keys)
        while screen.read():
            pass
    finally:
        screen.close()
    return screen.text


def comparable(text):
    """Replaces what is different in each run. Programs that read their own list of memory (gawk) see the agent's memory in it."""
    text = re.sub(r'(openat\(AT_FDCWD, "/proc/self/maps", .*\n)(?:(?:lseek|read|mmap|munmap)\(.*\n)*', r"\1", text)
    for pattern, to in ((r"0x[0-9a-f]{5,}|\b[0-9a-f]{16}\b", "ADDRESS"), (r'(getrandom\()"[^"]*"', r"\1RANDOM"),
                        (r"(sysinfo\().*", r"\1..."), (r"\btv_n?u?sec=\d+", "TIME"), (r"si_[us]time=\d+( /\*.*?\*/)?", "TIME"),
                        (r"makedev\(0x88, \w+\)|/dev/pts/\d+", "TERMINAL"), (r"\b\d{3,}\b", "NUMBER"), (r" +( |=)", r" \1")):
        text = re.sub(pattern, to, text)
    return text


def same(*args, typed=()):
    """The screen is the same under the fast engine and under ptrace, apart from addresses, times and ids."""
    default, stopped = (comparable(show(*engine, *args, typed=typed)) for engine in ((), ("--engine=ptrace",)))
    assert default.count("\n") > 2, (args, default)
    assert default == stopped, str(args[-2:]) + "\n".join(difflib.unified_diff(stopped.splitlines(), default.splitlines(), "ptrace", "default", "", "", 2))
    return default


def in_order(text, *written):
    """Each text that the program wrote appears directly after the beginning of its call, or after lines of other processes."""
    for each in written:
        quoted = each.replace("\n", "\\n")
        begin = rf'^(?P<who>\[pid +\d+\] )?\w+\(\d+(<[^>]*>)?, (\[{{iov_base=)?"{re.escape(quoted)}".*'
        others = r"( <unfinished \.\.\.>\n((?!(?P=who))\[pid +\d+\] .*\n)+)?"
        assert re.search(rf"{begin}{others}\)?{re.escape(each)}", text, re.MULTILINE), (each, text)


def test_programs(tmp):
    """Thirty programs show the same screen under both engines"""
    (tmp / "in").write_text("".join(f"line {i}\n" for i in range(30)))
    inner = tmp / "inner"  # whose parent, which ls shows as well, no other test changes
    inner.mkdir()
    (inner / "file").write_text("x")
    prompts = "read -p 'name? ' x; echo got $x; read y; echo and $y >&2"
    lines = (("", "\nread(0, ", "bob\n"), ("bob\n", "\nread(0, ", "\4"))
    answers = (("6name? ", "\nread(0, ", "bob\n"), ("8got bob\n", "\nread(0, ", "eve\n"))
    mixed = "import sys; print('a'); sys.stderr.write('b\\n'); print('c', flush=True); sys.stderr.write('d\\n'); sys.exit(3)"
    programs = [
        (["ls", tmp], ()), (["ls", "-la", inner], ()), (["cat", tmp / "in"], ()), (["cat", tmp / "in", tmp / "none"], ()),
        (["cat"], lines), (["head", "-c", "20", "/dev/zero"], ()),
        (["tee", "/dev/stderr", tmp / "out"], lines),
        (["dash", "-c", prompts], answers), (["bash", "-c", prompts], answers),
        (["bash", "-c", "for i in 1 2 3; do echo $i; echo $i >&2; done; printf x; exit 3"], ()),
        (["bash", "-c", f"exec 3>&1 >{tmp}/x; echo hidden; echo shown >&3; exec >&3; echo back; exec 1>&-; echo fails"], ()),
        (["sh", "-c", "echo a >/dev/tty; echo b >/dev/null; echo c >&2; cd /; cd /none; pwd"], ()),
        ([*PYTHON, "-c", mixed], ()), ([*PYTHON, "-c", "print(input('name? '))"], (("6name? ", "\nread(0, ", "bob\n"),)),
        ([*PYTHON, "-c", REUSED, tmp / "file"], ()), (["dd", "if=" + str(tmp / "in"), "of=/dev/stdout", "bs=50", "status=none"], ()),
        (["sed", "-n", "p", tmp / "in"], ()), (["sort", "-r", tmp / "in"], ()), (["cp", tmp / "in", "/dev/stdout"], ()),
        (["seq", "1000"], ()), (["expr", "1", "+", "2"], ()), (["date", "-u", "-d@0"], ()), (["stty", "-a"], ()), (["tty"], ()),
        (["od", "-c", tmp / "in"], ()), (["wc", tmp / "in"], ()), (["du", tmp], ()), (["id"], ()), (["tr", "a-z", "A-Z"],
         (lines[0], ("BOB\n", *lines[1][1:]))), (["find", tmp], ()), (["awk", "{print; print $1 >\"/dev/stderr\"}", tmp / "in"], ()),
        (["make", "-n", "-f", "/dev/null", "x"], ()), (["git", "--no-pager", "--version"], ()),
        (["less", tmp / "in"], (("(END)", "read(3, ", "q"),)), (["vim", "-u", "NONE", "-c", ":q"], ()),
    ]
    found = [(command, typed) for command, typed in programs if shutil.which(command[0])]
    assert len(found) >= 25, [command[0] for command, _ in found]
    for command, typed in found:
        same(*command, typed=typed)


def test_options(tmp):
    """Lines are in order although calls are selected, are shown with names, or are counted as well"""
    script = "echo a >/dev/tty; echo b >/dev/null; cd /; echo c >&2; exec 5>/dev/tty; echo d >&5; exec 5>&-; cd /none; pwd"
    for flags in (["-e", "trace=openat,chdir"], ["-e", "trace=!write,close"], ["-e", "trace=%file", "-z"], ["-y"], ["-yy", "-f"], ["-i"],
                  ["-P", "/dev/tty"], ["-e", "trace=none"]):
        same(*flags, "sh", "-c", script)
    text = show("--json", "sh", "-c", script)
    assert re.search(r'"name":"close".*\na\n\{.*"name":"write"', text), text
    text = show("-C", "sh", "-c", script)
    in_order(text, "a\n", "c\n", "d\n", "/\n")
    assert "\nengine: patch;" in text, text
    text = show("-e", "trace=chdir", "sh", "-c", "cd /; echo a; cd /none; echo b")
    assert re.search(r'chdir\("/"\) += 0\na\nchdir\("/none"\) .*\n.*/none\nb\n', text), text


def test_descriptors(tmp):
    """A descriptor that is passed over a socket, and one that is reused, refer to the terminal"""
    for _ in range(5):
        in_order(show("-f", *PYTHON, "-c", PASSED), "passed\n", "end\n")
    in_order(show(*PYTHON, "-c", REUSED, tmp / "file"), "seven\n", "three\n", "last\n")
    text = show("-f", "bash", "-c", "echo a; (echo sub; echo err >&2); ls /none; echo b | cat; exec cat /none")
    in_order(text, "a\n", "err\n", "b\n")


def test_blocked(_):
    """A call that blocks is shown, and is resumed when another thread's line has come between"""
    text = show(*PYTHON, "-c", THREADS, typed=(("ready\n", "", "x\n"),))
    assert re.search(r"read\(0, .*<unfinished \.\.\.>", text) and "<... read resumed>\"x\\n\", 99)" in text, text
    in_order(text, "got x\n")
    # The parent is not followed, but its child writes to the same terminal.
    text = show("sh", "-c", "/bin/echo child; echo parent")
    assert text.index("vfork(" if "vfork(" in text else "clone(") < text.index("child\n", text.index(") = 0\n")), text
    in_order(text, "parent\n")


def test_shared_files(tmp):
    """The order is kept in a pipe and in a file that the program shares with the trace, but -o FILE stops at no write"""
    script = "echo a; echo b >&2; cd /; echo c"
    command = [SCTRACE, "sh", "-c", script]
    joined = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=TIMEOUT).stdout
    in_order(joined, "a\n", "b\n", "c\n")
    with open(tmp / "log", "w") as log:
        subprocess.run(command, stdout=log, stderr=log, check=False, timeout=TIMEOUT)
    in_order((tmp / "log").read_text(), "a\n", "b\n", "c\n")
    r = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    assert r.stdout == "a\nc\n", r
    in_order(r.stderr, "b\n")


if __name__ == "__main__":
    sys.exit(run_tests(dict(globals())))
