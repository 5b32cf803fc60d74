#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Completion in real shells, as a user sees it (script.py). A function replaces sctrace and shows the words that Enter would have
passed.
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time

from script import SCTRACE, Skip, run_tests, seconds

TIMEOUT = seconds(60)
# What is typed before Tab, and the words on the command line afterwards.
TYPED = [
    ("-e trace=process_vm_r", "-e trace=process_vm_readv"),
    ("-e trace=openat2,io_uring_e", "-e trace=openat2,io_uring_enter"),
    ("-f -e %netw", "-f -e %network"),
    ("-e process_vm_w", "-e process_vm_writev"),
    ("-e status=failed,unf", "-e status=failed,unfinished"),
    ("--trace=%file,process_vm_r", "--trace=%file,process_vm_readv"),
    ("-e verb", "-e verbose="),
    ("--status=failed,succ", "--status=failed,successful"),
    ("--hist io_uring_e", "--hist io_uring_enter"),
    ("-S bytes_", "-S bytes_per_call"),
    ("bench lat", "bench latency"),
    ("help rep", "help report"),
    ("bench syscall gettime", "bench syscall gettimeofday"),
    ("bench syscall getpid page-f", "bench syscall getpid page-fault"),
    ("bench switch eventf", "bench switch eventfd"),
    ("bench latency --loads none,di", "bench latency --loads none,disk"),
    ("bench load --loads mem", "bench load --loads memory"),
    ("bench syscall --per-p", "bench syscall --per-process"),
    ("--vers", "--version"),
    ("-f --waite", "-f --waited"),
    ("compare --hel", "compare --help"),
    ("bench load --hel", "bench load --help"),
    ("--completion=fi", "--completion=fish"),
    ("--engine=ptr", "--engine=ptrace"),
    ("compare --strategy=setvbuf,unbuf", "compare --strategy=setvbuf,unbuffered"),
    ("compare --format=mark", "compare --format=markdown"),
    ("compare mkfif", "compare mkfifo"),
    ("bench load mkfif", "bench load mkfifo"),
    ("bench load --loads cpu -r 2 mkfif", "bench load --loads cpu -r 2 mkfifo"),
    ("-f -s 9 mkfif", "-f -s 9 mkfifo"),
    ("-fs 9 --engine ptrace -e trace=read mkfif", "-fs 9 --engine ptrace -e trace=read mkfifo"),
    ("-- mkfif", "-- mkfifo"),
]
# The same for options after the program: they are the program's, so these words stay as they are.
TYPED_TO_THE_PROGRAM = ["true --summary-o", "-fs 9 -e trace=read --engine=ptrace true --summary-o", "-- true -e proc", "bench load true --loa"]
# The same for bash alone. Two Tabs: the second one completes a value.
TYPED_IN_BASH = [
    ("--form\tma", "--format=markdown"),
    ("compare --form\tma", "compare --format=markdown"),
    ("bench --c", "bench --color="),
    ("--trace '!process_vm_r", "--trace !process_vm_readv"),
    ("-e '!process_vm_r", "-e !process_vm_readv"),
    ("-o 'two wo", "-o two words"),
    ("-o two\\ wo", "-o two words"),
]
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "sctrace() {{ printf '<%s>\\n' \"$*\"; }}; bind 'set bell-style none'; source {script}"),
    "zsh": (["zsh", "-f", "-i"], "sctrace() {{ print -r -- \"<$*>\"; }}; unsetopt beep; autoload -U compinit; compinit -D -u; source {script}"),
}


class Terminal:
    """A shell with its own terminal."""

    def __init__(self, argv):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="dumb", COLUMNS="200", HISTFILE="", LC_ALL="C")
            os.execvp(argv[0], argv)
        self.seen = ""

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait(self, pattern):
        """Waits until the output contains a match of the pattern. Returns the match, and drops the output up to its end."""
        end = time.monotonic() + TIMEOUT
        while not (found := re.search(pattern, self.seen)):
            left = end - time.monotonic()
            assert left > 0 and select.select([self.fd], [], [], left)[0], f"no {pattern!r} in {self.seen[-2000:]!r}"
            self.seen += os.read(self.fd, 65536).decode(errors="replace")
        self.seen = self.seen[found.end():]
        return found

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def complete_in(shell, script):
    argv, start = START[shell]
    file = script / shell
    file.write_text(subprocess.run([SCTRACE, "--completion", shell], capture_output=True, text=True, check=True).stdout)
    (script / "two words").touch()
    terminal = Terminal(argv)
    terminal.type(f"cd {script}\n")
    terminal.type(start.format(script=file) + "; echo BEG''UN\n")
    terminal.wait("BEGUN")
    try:
        for typed, expected in TYPED + [(x, x) for x in TYPED_TO_THE_PROGRAM] + (TYPED_IN_BASH if shell == "bash" else []):
            for part in f"sctrace {typed}".split("\t"):
                terminal.type(part + "\t")
                time.sleep(0.05)
            terminal.type("\n")
            line = terminal.wait(r"<([^>\r\n]*)>")[1].strip()
            assert line == expected, f"{shell}: {typed!r} gives {line!r}"
    finally:
        terminal.type("\nexit\n")
        terminal.close()


def shell_of(name):
    if not shutil.which(name):
        raise Skip(f"{name} is not installed")
    return name


def test_bash(tmp):
    """bash completes options, calls and groups in lists, tests of bench and their operations"""
    complete_in(shell_of("bash"), tmp)


def test_zsh(tmp):
    """zsh completes the same"""
    complete_in(shell_of("zsh"), tmp)


def test_fish(tmp):
    """fish completes the same"""
    file = tmp / "fish"
    file.write_text(subprocess.run([SCTRACE, "--completion", "fish"], capture_output=True, text=True, check=True).stdout)

    def offered(typed):
        done = subprocess.run([shell_of("fish"), "-N", "-c", f"source {file}; complete -C 'sctrace {typed}'"], capture_output=True,
                              text=True, check=True, cwd=tmp, timeout=TIMEOUT)
        assert not done.stderr, (typed, done.stderr)
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    for typed, expected in TYPED:
        assert expected.split()[-1] in offered(typed), (typed, offered(typed))
    for typed in TYPED_TO_THE_PROGRAM:
        assert not offered(typed), (typed, offered(typed))


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
