"""What the scripts beside the cases have in common.  SCRIPT BUILD [NAME...]; TAP on standard output.

A test is a function test_*, which gets a folder of its own that is gone afterwards. Its docstring is its name, or else its own name
is. It raises Skip where what it needs is not here (a failure under SCTRACE_MUST_WORK=1).
"""
import os
import sys
import tempfile
from pathlib import Path

from tap import Skip, Tap  # noqa: F401, the scripts' Skip

BUILD = Path(sys.argv[1]).resolve()
SCTRACE = str(BUILD / "sctrace")


def seconds(usual):
    """Only bounds what hangs; an emulated machine needs more."""
    return int(os.environ.get("SCTRACE_E2E_SECONDS", usual))


def run_tests(names):
    """Those of a script's globals that are tests, or of them the named ones (without test_); the exit status."""
    tap = Tap()
    for name, test in names.items():
        if not name.startswith("test_") or sys.argv[2:] and name[5:] not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory(prefix="sctrace-e2e-") as folder:
            os.chmod(folder, 0o755)  # other users have something to do there, too
            tap.check(test.__doc__ or name[5:].replace("_", " "), test, Path(folder))
    if not tap.count:
        raise SystemExit("no such test")
    return tap.end()
