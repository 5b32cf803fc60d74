#!/usr/bin/env python3
"""
Runs a script with no signal ignored or blocked.  fresh.py SCRIPT [ARG...] A shell without job control starts background
processes with SIGINT and SIGQUIT ignored, and nohup ignores SIGHUP. Programs inherit that, and sctrace leaves ignored signals
alone, but the cases that end it by these signals expect otherwise.
"""
import os
import signal
import sys

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, [])
os.execv(sys.executable, [sys.executable, "-B", *sys.argv[1:]])
