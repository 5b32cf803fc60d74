#!/usr/bin/env python3
"""Runs a script with no signal ignored and none blocked.  fresh.py SCRIPT [ARG...]

A shell without job control starts what it puts into the background with SIGINT and SIGQUIT ignored, and nohup SIGHUP; programs
inherit that, and sctrace leaves what is ignored alone, as the cases that end it by these signals do not expect.
"""
import os
import signal
import sys

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, [])
os.execv(sys.executable, [sys.executable, "-B", *sys.argv[1:]])
