#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Runs a script with no signal ignored or blocked.  fresh.py SCRIPT [ARG...] A shell without job control starts background
processes with SIGINT and SIGQUIT ignored, and nohup ignores SIGHUP. Programs inherit that, and sctrace leaves ignored signals
alone, but the cases that end it by these signals expect otherwise.

`python3` in the tests is the interpreter that runs them. A version manager puts a shell script of that name into PATH, whose own
processes and calls vary from run to run.
"""
import os
import runpy
import shutil
import signal
import sys
from pathlib import Path

# Python itself handles SIGINT, and ignores SIGPIPE and SIGXFSZ, but restores them for the programs that it starts.
PYTHONS_OWN = {signal.SIGINT: signal.default_int_handler, signal.SIGPIPE: signal.SIG_IGN, signal.SIGXFSZ: signal.SIG_IGN}

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, PYTHONS_OWN.get(number, signal.SIG_DFL))
signal.pthread_sigmask(signal.SIG_SETMASK, [])
sys.dont_write_bytecode = True
found = shutil.which("python3")
if not found or not os.path.samefile(found, sys.executable):
    os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
sys.argv = sys.argv[1:]
sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
runpy.run_path(sys.argv[0], run_name="__main__")
