#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the emulator (here a script that waits) ends with run.sh, however run.sh ends. Prints TAP."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUN = Path(__file__).resolve().parent / "run.sh"
PATIENCE = 120  # time limit in seconds for a test that hangs
# Tools that the script checks for but does not use before it starts the emulator; cpio must read its input.
TOOLS = ["mmdebstrap", "clang", "ld.lld", "llvm-ar", "llvm-objcopy", "cpio"]
EMULATOR = """#!/bin/sh
trap '' PIPE
echo $$ >'{work}/emulator'
for i in $(seq 6000); do echo beat 2>/dev/null; sleep 0.1; done
"""


def prepare(work):
    """Creates an unpacked root with a kernel, and the tools, as far as the script checks them."""
    for folder in ("bin", "arm64/root/boot", "arm64/root/usr/bin", "arm64/root/bin", "arm64/root/lib/modules", "arm64/build"):
        (work / folder).mkdir(parents=True)
    for file in ("root.unpacked", "root/boot/vmlinuz-0"):
        (work / "arm64" / file).touch()
    for tool in TOOLS:
        (work / "bin" / tool).write_text("#!/bin/sh\ncat >/dev/null\n")
    (work / "bin/qemu-system-aarch64").write_text(EMULATOR.format(work=work))
    for file in (work / "bin").iterdir():
        file.chmod(0o755)


def within(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"not within {PATIENCE} s: {what}"
        time.sleep(0.02)


def gone(pid):
    """True if the process has ended, even if its parent has not reaped it yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def end_by(sig):
    return lambda process: process.send_signal(sig)


def end_group(process):
    """Sends the signal to the group, as timeout(1) and a terminal's Ctrl-C do."""
    os.killpg(process.pid, signal.SIGINT)


def close_pipe(process):
    process.stdout.close()


WAYS = {
    "TERM": end_by(signal.SIGTERM),
    "HUP": end_by(signal.SIGHUP),
    "INT to its process group": end_group,
    "KILL": end_by(signal.SIGKILL),
    "a closed pipe": close_pipe,
}


def ends(work, way):
    told = work / "emulator"
    told.unlink(missing_ok=True)
    env = {**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}", "SCTRACE_ARM64_WORK": str(work / "arm64"),
           "SCTRACE_ARM64_SECONDS": "600"}
    with subprocess.Popen([RUN, "boot", "none"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, start_new_session=True) as process:
        emulator = 0
        try:
            within("the emulator starts", lambda: told.exists() and told.read_text().endswith("\n"))
            emulator = int(told.read_text())
            WAYS[way](process)
            within("the emulator ends", lambda: gone(emulator))
            within("the script ends", lambda: process.poll() is not None)
        finally:
            process.kill()
            if emulator and not gone(emulator):
                os.kill(emulator, signal.SIGKILL)


def main():
    missing = [tool for tool in ("bash", "setsid", "setpriv", "timeout", "stdbuf") if not shutil.which(tool)]
    if missing:
        print(f"1..0 # SKIP not here: {', '.join(missing)}")
        return os.environ.get("SCTRACE_MUST_WORK") == "1"
    work = Path(tempfile.mkdtemp(prefix="sctrace-arm64-"))
    failed = False
    try:
        prepare(work)
        for number, way in enumerate(WAYS, 1):
            try:
                ends(work, way)
                print(f"ok {number} - ended by {way} it leaves no emulator", flush=True)
            except (AssertionError, OSError) as why:
                failed = True
                print(f"# {why}\nnot ok {number} - ended by {way} it leaves no emulator", flush=True)
    finally:
        shutil.rmtree(work)
    print(f"1..{len(WAYS)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
