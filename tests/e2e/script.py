# SPDX-License-Identifier: MIT
"""
Code that the test scripts in this folder share. usage: SCRIPT BUILD [NAME...]; they print TAP. A test is a function
test_*, which gets a new folder that is removed afterwards. The docstring of the function is the name of the test, or
else the name of the function. It raises Skip if something that it needs is missing (a failure with
SCTRACE_MUST_WORK=1).
"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from tap import Skip, Tap  # noqa: F401, the scripts' Skip

BUILD = Path(sys.argv[1]).resolve()
os.environ["XDG_RUNTIME_DIR"] = ""  # as in `run`: each tracer measures the cost of tracing
SCTRACE = str(BUILD / "sctrace")


def seconds(usual):
    """A time limit for tests that hang. An emulated machine needs more time."""
    return int(os.environ.get("SCTRACE_E2E_SECONDS", usual))


def in_terminal(width, *args):
    """Returns the output of `sctrace ARGS` on a terminal of this width, and its status."""
    primary, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    with subprocess.Popen([SCTRACE, *map(str, args)], stdout=secondary, stderr=secondary, stdin=secondary,
                          env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"}) as p:
        os.close(secondary)
        text = b""
        while True:
            try:
                piece = os.read(primary, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            text += piece
    os.close(primary)
    return p.returncode, text.decode().replace("\r\n", "\n")


def run_tests(names):
    """Runs all tests of a script, or those with these names (without test_). Returns the exit status."""
    tap = Tap()
    for name, test in names.items():
        if not name.startswith("test_") or sys.argv[2:] and name[5:] not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory(prefix="sctrace-e2e-") as folder:
            os.chmod(folder, 0o755)  # tests run programs as other users in this folder
            tap.check(" ".join((test.__doc__ or name[5:].replace("_", " ")).split()), test, Path(folder))
    if not tap.count:
        raise SystemExit("no such test")
    return tap.end()
