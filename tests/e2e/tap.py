# SPDX-License-Identifier: MIT
"""Results in the Test Anything Protocol."""
import fcntl
import os
import termios
import time
import traceback


def leave_terminal():
    """Gives up the controlling terminal, whose width would be that of the tables that tests read from pipes."""
    if os.getsid(0) == os.getpid():
        return
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return
    fcntl.ioctl(terminal, termios.TIOCNOTTY)
    os.close(terminal)


leave_terminal()


class Skip(Exception):
    """Something that the test needs is missing; the text names it."""


class Failed(Exception):
    """The test failed; the text says how."""


def describe(error):
    """Describes the error. Adds its place in the test, unless the error has a text written for the reader."""
    if isinstance(error, Failed):
        return str(error)
    line = traceback.extract_tb(error.__traceback__)[1:2]
    return f"{type(error).__name__}{f' in line {line[0].lineno}' if line else ''}: {str(error)[:4000]}"


class Tap:
    """Prints one line for each test. A comment names a test that takes longer than `idle` seconds."""

    def __init__(self, idle=float("inf")):
        self.idle = idle
        self.count = 0
        self.failed = False

    def report(self, ok, name, note=""):
        self.count += 1
        self.failed |= not ok
        for line in note.splitlines():
            print("# " + line)
        print(f"{'ok' if ok else 'not ok'} {self.count} - {name}", flush=True)

    def skip(self, name, reason):
        if os.environ.get("SCTRACE_MUST_WORK") == "1":
            self.report(False, name, "skipped where all must work: " + reason)
            return
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}", flush=True)

    def check(self, name, function, *args):
        """Runs the function and reports how it ended."""
        start = time.monotonic()
        try:
            function(*args)
        except Skip as reason:
            self.skip(name, str(reason))
        except Exception as error:  # any exception is a failure of the test
            self.report(False, name, describe(error))
        else:
            self.report(True, name)
        if time.monotonic() - start > self.idle:
            print(f"# {name}: {time.monotonic() - start:.0f} s; on an idle machine it is to take {self.idle} at most", flush=True)

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0
