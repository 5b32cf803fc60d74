# SPDX-License-Identifier: MIT
"""Scripted cases, which run sctrace and interact with it. Each is a function with the parameters `world` and `mode` (see run)."""
import os
import pty
import re
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from run import MODES, USUAL, TIMEOUT, Failed, Skip, execute, match_lines, read_table, tail

SCENARIOS = []
KEPT = {"sctrace-costs.json", "sctrace-sites"}  # files that a run may keep in XDG_RUNTIME_DIR
ALL = USUAL
ATTACHING = ["ptrace", "trace", "record", "record-small", "patch", "bpf"]
COUNTING = [m for m in USUAL if MODES[m][2]]


def scenario(group, modes=None):
    """Registers a function as a case; its name with dashes is the name of the case."""
    def put(function):
        function.group, function.name, function.modes = group, function.__name__.replace("_", "-"), modes or ALL
        SCENARIOS.append(function)
        return function
    return put


def tracer(world, mode, *words, out="out"):
    """The command line of sctrace in this mode, and its environment."""
    engine, env, counts = MODES[mode]
    how = ["-c", "--format=csv"] if counts else []
    to = ["-o", str(world.scratch / out)] if out else []
    return [str(world.sctrace), *how, "--engine=" + engine, *to, *map(str, words)], {**os.environ, **env}


@contextmanager
def running(argv, env=None, **more):
    """Starts a process with pipes in a new session, and kills the session at the end."""
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    process = subprocess.Popen([str(a) for a in argv], env=env, start_new_session=True, **more)
    try:
        yield process
    finally:
        for pid in session_members(process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        process.kill()
        process.communicate()


def session_members(session):
    """All processes of the session that are alive."""
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] not in "ZX":
                members.append(int(entry.name))
    return members


def left_over(session, patience=TIMEOUT):
    """The processes of the session that are still alive after a grace period."""
    until = time.monotonic() + patience
    while (members := session_members(session)) and time.monotonic() < until:
        time.sleep(0.02)
    return members


def wait_ready(process, word=b"ready\n", stream=None):
    """Reads the program's output, by default its standard output, until `word`."""
    stream = stream or process.stdout
    seen = b""
    end = time.monotonic() + TIMEOUT
    while word not in seen:
        if not select.select([stream], [], [], max(0, end - time.monotonic()))[0]:
            raise Failed(f"no {word!r} within {TIMEOUT} s; seen {seen!r}")
        more = os.read(stream.fileno(), 4096)
        if not more:
            raise Failed(f"ended before it said {word!r}\n" + tail(seen + process.communicate()[1]))
        seen += more
    return seen


def do_round(target, word=b"."):
    """Makes a program that works in rounds do one, and waits for its end."""
    target.stdin.write(word)
    target.stdin.flush()
    wait_ready(target, b"checked\n")


def wait_end(process, seconds=TIMEOUT):
    try:
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Failed(f"{process.args[0]} has not ended within {seconds} s; state {state(process.pid)}") from None
    return process.returncode, stdout, stderr


def until(what, condition, seconds=TIMEOUT):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(0.005)


def state(pid):
    """State letter of a process; 'X' if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def status_line(pid, key):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return line.split()[1]
    return None


def traced(pid):
    """True if all threads of the process are traced."""
    try:
        return all(status_line(f"{pid}/task/{t.name}", "TracerPid") != "0" for t in Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return False


def untraced(pid):
    return all(status_line(f"{pid}/task/{t.name}", "TracerPid") == "0" for t in Path(f"/proc/{pid}/task").iterdir())


@contextmanager
def attached(world, mode, pid, *flags, seconds=0.2, out="out"):
    """Attaches sctrace to a process. The body of `with` runs `seconds` after the message that it is attached."""
    argv, env = tracer(world, mode, *flags, "-p", pid, out=out)
    with running(argv, env) as process:
        wait_ready(process, b"attached to process", process.stderr)
        time.sleep(seconds)
        yield process


def end_attached(process, sig=signal.SIGINT):
    process.send_signal(sig)
    status, _, stderr = wait_end(process)
    if status not in (0, -signal.SIGINT, 130):
        raise Failed(f"sctrace ended with {status} on {sig.name}\n" + tail(stderr))


# Attaching


@scenario("attach", ATTACHING)
def attach_threads(world, mode):
    """
    sctrace attaches to all 32 threads of a process, each of which makes a different call. The process continues and
    ends by itself.
    """
    with running([world.program("target"), "rows", "32"]) as target:
        wait_ready(target)
        for seconds in (0.3, 2, 15):  # the time until each thread has made a call depends on the machine
            with attached(world, mode, target.pid, seconds=seconds) as process:
                end_attached(process)
            text = (world.scratch / "out").read_text(errors="replace")
            missing = [n for n in range(1000, 1032) if not re.search(rf"syscall_{hex(n)}\b", text)]
            if not missing:
                break
        else:
            raise Failed(f"no calls seen of threads {missing}\n" + text[:1000])
        target.terminate()
        status, stdout, _ = wait_end(target)
        if status != 0 or b"ended by itself" not in stdout:
            raise Failed(f"the target ended with {status}: {stdout}")


@scenario("attach", ATTACHING)
def attach_ended(world, mode):
    """sctrace attaches to the other threads of a process whose main thread has ended."""
    with running([world.program("target"), "rows", "3", "leave"]) as target:
        wait_ready(target)
        until("the end of the main thread", lambda: state(target.pid) == "Z")
        expect_calls(world, mode, target.pid, {0, 1, 2})
        target.terminate()
        if wait_end(target)[0] != 0:
            raise Failed("the target did not end by itself")


@scenario("attach", ["ptrace", "trace", "patch"])
def attach_thread(world, mode):
    """The number of a thread stands for this thread, and with -f for its process."""
    with running([world.program("target"), "rows", "3"]) as target:
        wait_ready(target)
        threads = sorted(int(t.name) for t in Path(f"/proc/{target.pid}/task").iterdir())
        expect_calls(world, mode, threads[2], {1})
        expect_calls(world, mode, threads[2], {0, 1, 2}, "-f")
        target.terminate()
        if wait_end(target)[0] != 0:
            raise Failed("the target did not end by itself")


def expect_calls(world, mode, pid, rows, *flags):
    """Attaches until the calls of these rows (see `target rows`) have been seen, and of no other row."""
    for seconds in (0.3, 2, 15):
        argv, env = tracer(world, mode, *flags, "-p", pid)
        with running(argv, env) as process:
            wait_ready(process, b"attached to", process.stderr)
            time.sleep(seconds)
            end_attached(process)
        text = (world.scratch / "out").read_text(errors="replace")
        seen = {n for n in range(3) if re.search(rf"syscall_{hex(1000 + n)}\b", text)}
        if seen >= rows:
            break
    if seen != rows:
        raise Failed(f"-p {pid}: the calls of threads {seen}, not {rows}\n" + text[:1000])


@scenario("attach", ATTACHING)
def attach_compute(world, mode):
    """20 rounds of attaching to a busy program with a blocked reader, and detaching, do not change its results."""
    with running([world.program("target"), "compute"], stdin=subprocess.PIPE) as target:
        wait_ready(target)
        maps = Path(f"/proc/{target.pid}/maps").read_text()
        for _ in range(20):
            with attached(world, mode, target.pid, seconds=0.05) as process:
                end_attached(process)
        left = Path(f"/proc/{target.pid}/maps").read_text()
        if len(left.splitlines()) > len(maps.splitlines()) + 12:
            raise Failed("left mappings behind:\n" + left)
        status, stdout, stderr = wait_end(target)
        if status != 0 or stdout != b"computed as ever\n":
            raise Failed(f"the target ended with {status}: {stdout} {stderr}")


@scenario("hostile", ATTACHING)
def hostile_pending(world, mode):
    """
    sctrace detaches from a program that makes no calls, even if a forged signal that looks like the engine's is pending
    there.
    """
    if not (world.progs / "hostile").exists():
        raise Skip("hostile is not built for this machine")
    with running([world.program("hostile"), "pending", "300"], stdin=subprocess.PIPE) as target:
        wait_ready(target)
        with attached(world, mode, target.pid) as process:
            target.stdin.write(b"g")
            target.stdin.flush()
            until("the signal is pending", lambda: int(status_line(target.pid, "SigPnd"), 16) >> (signal.SIGSYS - 1) & 1)
            end_attached(process, signal.SIGTERM)
        if state(target.pid) not in "RS":
            raise Failed(f"the target is in state {state(target.pid)}")


@scenario("hostile", ["ptrace", "patch"])
def hostile_symbols(world, mode):
    """The search for main does not delay a program whose file, mostly a hole, claims to have 1.4 billion symbols."""
    image = bytearray(Path("/bin/true").read_bytes())
    if image[:5] != b"\x7fELF\x02":
        raise Skip("/bin/true is no 64-bit program")
    image += bytes(-len(image) % 64)
    size = 32 << 30
    struct.pack_into("<Q", image, 0x28, len(image))  # e_shoff
    struct.pack_into("<HHH", image, 0x3a, 64, 2, 0)  # e_shentsize, e_shnum, e_shstrndx
    image += bytes(64) + struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, 1 << 20, size // 24 * 24, 1, 0, 8, 24)  # SHT_SYMTAB
    path = world.scratch / "symbols"
    try:
        path.write_bytes(image)
        os.truncate(path, size + (2 << 20))
    except OSError as error:
        raise Skip(f"no file with a hole of that size: {error}") from None
    path.chmod(0o755)
    try:
        argv, env = tracer(world, mode, path)
        seen = execute(argv, env=env)
    finally:
        path.unlink()
    if seen.status != 0:
        raise Failed(f"ended with {seen.status}\n" + tail(seen.stderr))


@scenario("attach", ATTACHING)
def attach_signals(world, mode):
    """During 25 rounds of attaching and detaching, at least 9,000 queued signals arrive; none is lost, merged or out of order."""
    with running([world.program("target"), "receive"]) as target:
        wait_ready(target)
        with running([world.program("target"), "send", target.pid, "9000", "250"], stdin=subprocess.PIPE) as sender:
            for _ in range(25):
                with attached(world, mode, target.pid, seconds=0.05) as process:
                    end_attached(process)
            status, sent, _ = wait_end(sender)
            if status != 0:
                raise Failed("the sender failed")
        status, stdout, _ = wait_end(target)
        if status != 0 or stdout != sent:
            raise Failed(f"the target ended with {status}: {stdout}, to be {sent}")


@scenario("attach", ATTACHING)
def attach_sigsys(world, mode):
    """
    The program's action for SIGSYS works, and sigaction(2) reports it, before, while and after sctrace is attached.
    """
    for how in ("handler", "default", "ignored"):
        with running([world.program("sigsys"), "attached", how], stdin=subprocess.PIPE) as target:
            wait_ready(target)

            def check(round_):
                if how == "ignored":
                    target.send_signal(signal.SIGSYS)  # must not interrupt the target's read(2)
                do_round(target, round_)

            check(b".")
            for rounds, *flags in (b"..", "-f"), (b"s.",), (b"..", "-f"):
                with attached(world, mode, target.pid, *flags) as process:
                    for i in range(2):
                        check(rounds[i:i + 1])
                    end_attached(process)
                check(b".")
            status, _, stderr = wait_end(target)
            if status != 0:
                raise Failed(f"the target ended with {status}: {stderr}")


@scenario("attach", ATTACHING)
def attach_dispatching(world, mode):
    """A program that uses Syscall User Dispatch itself, also in a child or since before sctrace attached, works as before."""
    if not world.dispatches():
        raise Skip("the kernel has no Syscall User Dispatch")
    for how in "kept", "child", "own":
        with running([world.program("nest"), "dispatch-attached", how], stdin=subprocess.PIPE) as target:
            wait_ready(target)
            do_round(target)
            for _ in range(2):
                with attached(world, mode, target.pid, "-f") as process:
                    do_round(target)
                    do_round(target)
                    end_attached(process)
                do_round(target)
            status, _, stderr = wait_end(target)
            if status != 0:
                raise Failed(f"the target ({how}) ended with {status}: {stderr}")


@scenario("attach", ATTACHING)
def attach_confined(world, mode):
    """Programs and threads that a seccomp filter or strict mode ends for a call that they do not need are not ended."""
    for how in "process", "thread", "strict", "later":
        with running([world.program("seccomp"), "attached", how], stdin=subprocess.PIPE) as target:
            wait_ready(target)
            word = b"s" if how == "strict" else b"."
            do_round(target, word)
            for i in range(2):
                with attached(world, mode, target.pid, "-f") as process:
                    do_round(target, word)
                    do_round(target, b"f" if how == "later" and not i else word)
                    end_attached(process)
                do_round(target, word)
            status, _, stderr = wait_end(target)
            if status != 0:
                raise Failed(f"the target ({how}) ended with {status}: {stderr}")


@scenario("attach", ATTACHING)
def attach_clock(world, mode):
    """A program that must not read the time stamp counter is not ended, also if sctrace is killed."""
    with running([world.program("seccomp"), "attached", "clock"], stdin=subprocess.PIPE) as target:
        wait_ready(target)
        for sig in (signal.SIGINT, signal.SIGKILL, signal.SIGINT):
            with attached(world, mode, target.pid, "-f") as process:
                do_round(target)
                if sig == signal.SIGKILL:
                    process.kill()
                    process.wait(TIMEOUT)
                    until("nothing traces the target", lambda: untraced(target.pid))
                else:
                    end_attached(process, sig)
            do_round(target)
        status, _, stderr = wait_end(target)
        if status != 0:
            raise Failed(f"the target ended with {status}: {stderr}")


@scenario("attach", ["trace", "record", "record-long", "patch", "patch-long"])
def attach_interrupted(world, mode):
    """Handlers that interrupt a call return to it, or to the instruction after it, at each kind of jump, also if sctrace is killed."""
    with running([world.program("inside"), "interrupted"], stdin=subprocess.PIPE) as target:
        wait_ready(target)
        for sig in (signal.SIGINT, signal.SIGKILL, signal.SIGINT):
            with attached(world, mode, target.pid, "-f") as process:
                for what in (None, sig, None):
                    if what == signal.SIGKILL:
                        process.kill()
                        process.wait(TIMEOUT)
                    elif what:
                        end_attached(process, sig)
                    do_round(target)
        status, _, stderr = wait_end(target)
        if status != 0:
            raise Failed(f"the target ended with {status}: {stderr}")


@scenario("attach", ["trace", "record", "record-small"])
def attach_ignoring(world, mode):
    """
    A program that ignores SIGSEGV before sctrace attaches still ignores it while it is recorded, even if it passes bad
    pointers.
    """
    with running([world.program("pointers"), "attached"], stdin=subprocess.PIPE) as target:
        wait_ready(target)
        with attached(world, mode, target.pid, "-e", "trace=write") as process:
            for _ in range(3):
                do_round(target)
            end_attached(process)
        status, _, stderr = wait_end(target)
        seen = (world.scratch / "out").read_text().count(", 0x1000, 8) ")
        if status != 0 or seen != 30:
            raise Failed(f"the target ended with {status}; {seen} calls seen: {stderr}")


def check_numbered(text):
    """Compares a trace of `target numbered` with its work: each thread's calls in order, each exactly once."""
    last, calls = {}, 0
    for line in text.splitlines():
        match = re.match(r'(\d+) +truncate\("not/there/(\d+)", (\d+)(?:\) += -1 ENOENT \(No such file or directory\)'
                         r'| <unfinished \.\.\.>|\) += \?.*| <detached \.\.\.>)$', line)
        if "truncate(" not in line:
            continue
        if not match or match[2] != match[3]:
            raise Failed("not a numbered call: " + line)
        tid, n = int(match[1]), int(match[2])
        if last.setdefault(tid, n - 1) != n - 1:
            raise Failed(f"thread {tid} made call {n}, and before it {last[tid]}")
        last[tid] = n
        calls += 1
    return calls


@scenario("attach", ["trace", "record", "record-small"])
def attach_numbered(world, mode):
    """
    50 rounds of attaching to four threads during their calls, and detaching: each call is once in the trace, with its
    string.
    """
    with running([world.program("target"), "numbered", "4"]) as target:
        wait_ready(target)
        calls = 0
        for _ in range(10 if mode == "trace" else 50):
            with attached(world, mode, target.pid, "-f", seconds=0.02) as process:
                end_attached(process)
            calls += check_numbered((world.scratch / "out").read_text(errors="replace"))
        target.terminate()
        status, stdout, stderr = wait_end(target)
        if status != 0 or b"ended by itself" not in stdout or not calls:
            raise Failed(f"the target ended with {status}, {calls} calls seen: {stdout} {stderr}")


@scenario("attach", ATTACHING)
def attach_stopped(world, mode):
    """A stopped process stays stopped, before and after attaching."""
    with running([world.program("target"), "rows", "4"]) as target:
        wait_ready(target)
        os.kill(target.pid, signal.SIGSTOP)
        until("stopped", lambda: state(target.pid) == "T")
        with attached(world, mode, target.pid, seconds=0.4) as process:
            if state(target.pid) not in "Tt":
                raise Failed(f"runs while attached: {state(target.pid)}")
            end_attached(process)
        time.sleep(0.1)
        if state(target.pid) != "T":
            raise Failed(f"left in state {state(target.pid)}")
        os.kill(target.pid, signal.SIGCONT)
        target.terminate()
        if wait_end(target)[0] != 0:
            raise Failed("the target failed")


@scenario("attach", ATTACHING)
def attach_continued(world, mode):
    """Stopped and continued while attached: both take effect."""
    with running([world.program("target"), "rows", "4"]) as target:
        wait_ready(target)
        with attached(world, mode, target.pid) as process:
            for _ in range(20):
                os.kill(target.pid, signal.SIGSTOP)
                until("stopped", lambda: state(target.pid) in "Tt")
                info = os.waitid(os.P_PID, target.pid, os.WSTOPPED)
                if info.si_status != signal.SIGSTOP:
                    raise Failed(f"stopped by {info.si_status}")
                os.kill(target.pid, signal.SIGCONT)
                os.waitid(os.P_PID, target.pid, os.WCONTINUED)
            end_attached(process)
        target.terminate()
        if wait_end(target)[0] != 0:
            raise Failed("the target failed")


@scenario("attach", ATTACHING)
def attach_sleeping(world, mode):
    """A sleep lasts its full time while tracers attach and detach."""
    with running([world.program("target"), "sleeps", "2000"]) as target:
        wait_ready(target)
        for _ in range(8):
            try:
                with attached(world, mode, target.pid, seconds=0.05) as process:
                    end_attached(process)
            except Failed:
                if target.poll() is None:
                    raise
                break  # the sleep has already ended, because the machine is slow
        status, stdout, stderr = wait_end(target)
        if status != 0 or b"slept" not in stdout:
            raise Failed(f"the target ended with {status}: {stdout} {stderr}")


@scenario("attach", ATTACHING)
def attach_leaves(world, mode):
    """TERM, INT and HUP make sctrace detach from attached processes; if the process ends, so does sctrace."""
    with running([world.program("target"), "rows", "8"]) as target:
        wait_ready(target)
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with attached(world, mode, target.pid) as process:
                end_attached(process, sig)
            if target.poll() is not None or not untraced(target.pid):
                raise Failed(f"after {sig.name} the target is {state(target.pid)}")
        with attached(world, mode, target.pid) as process:
            target.terminate()
            if wait_end(target)[0] != 0:
                raise Failed("the target failed")
            wait_end(process)


@scenario("attach", ATTACHING)
def attach_killed(world, mode):
    """SIGKILL of sctrace: attached processes, and the children that they create afterwards, continue to compute and to create children."""
    for what, word, *flags in (
        ("compute", b"computed as ever\n"),
        ("creates", b"created children as expected\n"),
        ("child_creates", b"its child created children as expected\n", "-f"),
        ("ticking", b"finished\n"),
    ):
        with running([world.program("target"), what], stdin=subprocess.PIPE) as target:
            wait_ready(target)
            with attached(world, mode, target.pid, *flags, seconds=0.15) as process:
                if "creates" in what:
                    target.stdin.write(b"x")
                    target.stdin.flush()
                    wait_ready(target)
                process.kill()
                process.wait()
            status, stdout, stderr = wait_end(target)
            if status != 0 or stdout != word:
                raise Failed(f"the target {what} ended with {status}: {stdout} {stderr}")


@scenario("attach", ["record", "patch"])
def attach_killed_altstack(world, mode):
    """SIGKILL of sctrace: threads that share an alternate signal stack keep their registers and stacks."""
    for i in range(6):
        with running([world.program("threads"), "one_altstack"]) as target:
            wait_ready(target)
            with attached(world, mode, target.pid, seconds=0.05 + 0.03 * i) as process:
                process.kill()
                process.wait()
            time.sleep(0.1)
            target.terminate()
            status, stdout, stderr = wait_end(target)
            if status != 0:
                raise Failed(f"the target ended with {status}: {stdout} {stderr}")


FORKING = """
step() { (exit 3); [ $? = 3 ] || echo wrong; }
echo ready; until [ -e "$0" ]; do step; done; for ((i = 0; i < 200; i++)); do step; done; echo done
"""


@scenario("attach", ["record", "record-small"])
def attach_killed_shell(world, mode):
    """
    SIGKILL of sctrace while a shell starts children all the time: handlers for SIGCHLD, which interrupt calls of the agent,
    return to code that can run without sctrace.
    """
    for i in range(6):
        killed = world.scratch / "killed"
        killed.unlink(missing_ok=True)
        with running(["bash", "-c", FORKING, killed]) as target:
            wait_ready(target)
            with attached(world, mode, target.pid, *["-f"][:i % 2], seconds=0.05 + 0.02 * i) as process:
                process.kill()
                process.wait()
            killed.touch()
            status, stdout, stderr = wait_end(target)
            if status != 0 or stdout != b"done\n":
                raise Failed(f"the shell ended with {status}: {stdout} {stderr}")


def watchdog_of(process):
    """The process that sctrace has started to outlive it."""
    command = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int(folder.name) != process.pid and (folder / "cmdline").read_bytes() == command:
                return int(folder.name)
        except OSError:
            continue  # it has ended
    raise Failed("sctrace has no watchdog")


@scenario("attach", ["record", "patch"])
def attach_killed_watchdog(world, mode):
    """
    The watchdog keeps no memory of processes that have ended. Even if it is killed, the process continues after SIGKILL of
    sctrace.
    """
    children = "echo ready; read x; for ((i = 0; i < 30; i++)); do /bin/true; (exit 3); [ $? = 3 ] || echo wrong; done; "
    with running(["bash", "-c", children + children + "echo done"], stdin=subprocess.PIPE) as target:
        wait_ready(target)
        with attached(world, mode, target.pid, "-f") as process:
            target.stdin.write(b"\n")
            target.stdin.flush()
            wait_ready(target)
            watchdog = watchdog_of(process)
            mapped = Path(f"/proc/{watchdog}/maps").read_text(encoding="ascii").count("memfd:sctrace")
            if not 1 <= mapped <= 4:
                raise Failed(f"the watchdog has {mapped} mappings after 30 children")
            os.kill(watchdog, signal.SIGKILL)
            process.kill()
            process.wait()
        status, stdout, stderr = wait_end(target)
        if status != 0 or stdout != b"done\n":
            raise Failed(f"the shell ended with {status}: {stdout} {stderr}")


@scenario("attach", ["record", "record-small", "patch"])
def attach_falling_back(world, mode):
    """
    Most calls of eight threads stop, so the process falls back to ptrace, at about the time at which sctrace detaches or is
    killed. Afterwards sctrace can attach again, so nothing was left in the process.
    """
    with running([world.program("threads"), "stopping", "8", "0"]) as target:
        wait_ready(target)
        for round_ in range(12):
            argv, env = tracer(world, mode, *["-f"][:round_ % 2], "-p", target.pid)
            with running(argv, {**env, "SCTRACE_DEBUG": "1"}) as process:
                wait_ready(process, b"attached to process", process.stderr)
                time.sleep(round_ * 0.02)
                if round_ == 11:
                    process.kill()
                    process.wait()
                else:
                    process.send_signal(signal.SIGINT)
                status, _, stderr = wait_end(process)
                reasons = set(re.findall(rb"traced by ptrace: (.*)", stderr))
                if round_ < 11 and (status not in (0, -signal.SIGINT, 130) or reasons - FELL_BACK):
                    raise Failed(f"round {round_}: sctrace ended with {status}\n" + tail(stderr))
        target.terminate()
        status, stdout, stderr = wait_end(target)
        if status != 0:
            raise Failed(f"the target ended with {status}: {stdout} {stderr}")


FELL_BACK = {b"the agent could not make most of its calls", b"several of its threads have the same FS base (arch_prctl(2))"}
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def attach_and_end(world, mode, what, signals, out="out"):
    """Starts a target, and attaches to it and ends sctrace with each of the signals. The target goes on."""
    with running([world.program("target"), what]) as target:
        wait_ready(target)
        for sig in signals:
            with attached(world, mode, target.pid, "-f", seconds=0.1, out=out) as process:
                try:
                    end_attached(process, sig)
                except Failed as why:
                    raise Failed(f"{what}, {sig.name}: {why}") from None
        if target.poll() is not None or state(target.pid) in "tT":
            raise Failed(f"{what}: the target is {state(target.pid)}")


@scenario("attach", ATTACHING)
def attach_storm(world, mode):
    """Attaches and detaches while the program creates threads continuously, and while a vfork child runs."""
    for what in ("storm", "forks"):
        attach_and_end(world, mode, what, ENDING)
    # Detaching waits for the parent of the vfork child for 6 s, so the signals have targets that wait at the same time.
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda sig: attach_and_end(world, mode, "vforked", [sig], sig.name), ENDING))


@scenario("attach", ["record"])
def attach_storm_kept(world, mode):
    """The same after a run that has counted and has kept the site of exit(2), at which a run that records stops."""
    env = {"XDG_RUNTIME_DIR": str(world.scratch)}
    for _ in range(2):
        with running([world.program("target"), "storm"]) as target:
            wait_ready(target)
            for how in ("patch", mode, mode):
                argv, more = tracer(world, how, "-f", "-p", target.pid)
                with running(argv, {**more, **env}) as process:
                    wait_ready(process, b"attached to process", process.stderr)
                    time.sleep(0.1)
                    end_attached(process)
            time.sleep(0.05)
            if target.poll() is not None:
                raise Failed(f"the target ended with {target.returncode}")


@scenario("attach", ATTACHING)
def attach_spawns(world, mode):
    """
    15 rounds of attaching without -f and detaching, while threads start programs: the children, which share the memory
    of their parent until they execute the program, are not harmed.
    """
    with running([world.program("target"), "spawns", "6"]) as target:
        wait_ready(target)
        for _ in range(15):
            with attached(world, mode, target.pid, seconds=0.03) as process:
                end_attached(process)
        target.terminate()
        status, stdout, stderr = wait_end(target)
        if status != 0 or b"ended by itself" not in stdout:
            raise Failed(f"the target ended with {status}: {stdout} {stderr}")


@scenario("attach", ATTACHING)
def attach_awaited(world, mode):
    """
    The vfork(2) children of 300 threads wait for the main thread. None of these threads stops before its child ends, so
    attaching does not wait for each of them, also if the main thread waits for such a child itself.
    """
    for words in (["300"], ["300", "all"]):
        with running([world.program("awaited"), *words]) as target:
            wait_ready(target)
            with attached(world, mode, target.pid) as process:
                end_attached(process)
            with attached(world, mode, target.pid) as process:
                waiting = [target.pid]
                while len(words) > 1 and waiting == [target.pid]:  # the child begins after "ready"
                    waiting = [int(pid) for pid in Path(f"/proc/{target.pid}/task/{target.pid}/children").read_text().split()] or waiting
                os.kill(waiting[0], signal.SIGTERM)
                status, stdout, stderr = wait_end(target)
                wait_end(process)
            if status != 0 or b"ended by itself" not in stdout:
                raise Failed(f"the target ended with {status}: {stdout} {stderr}")


@scenario("attach", ["ptrace", "patch"])
def attach_times(world, mode):
    """
    10 rounds of attaching, and detaching during a call that ends with EINTR when its thread is stopped: no call takes
    longer than the round.
    """
    program = "import select; print('ready', flush=True); e = select.epoll(); [e.poll(0.05) for _ in range(400)]"
    with running([sys.executable, "-c", program]) as target:
        wait_ready(target)
        for _ in range(10):
            with attached(world, mode, target.pid, "-f") as process:
                end_attached(process)
            table = (world.scratch / "out").read_text()
            rows = re.findall(r"^epoll_\w+,(\d+\.\d+),", table, re.M)
            if not rows or any(float(seconds) > TIMEOUT for seconds in rows):
                raise Failed("a time is wrong:\n" + table)


@scenario("attach", ["trace", "ptrace", "patch"])
def attach_refused(world, mode):
    """
    A zombie, a kernel thread, a process that is already traced, and one that does not exist are refused with one clear
    line and status 1.
    """
    zombie = os.fork()
    if zombie == 0:
        os._exit(0)
    until("a zombie", lambda: state(zombie) == "Z")
    try:
        with running([world.program("target"), "rows", "2"]) as target:
            wait_ready(target)
            with attached(world, "trace", target.pid):
                until("traced", lambda: traced(target.pid))
                for pid, what in ((zombie, "zombie"), (2, "kernel"), (target.pid, "trace"), (99999999, "")):
                    argv, env = tracer(world, mode, "-p", pid, out="refused")
                    seen = execute(argv, env=env)
                    lines = seen.stderr.decode().splitlines()
                    if seen.status != 1 or not 1 <= len(lines) <= 2 or what not in seen.stderr.decode().lower():
                        raise Failed(f"-p {pid} ({what}): status {seen.status}\n" + tail(seen.stderr))
    finally:
        os.waitpid(zombie, 0)


@scenario("attach", ["trace", "ptrace", "patch"])
def attach_not_ours(world, mode):
    """Another user's process is refused with one clear line and status 1."""
    if os.geteuid() != 0:
        raise Skip("needs root, to have another user's process")
    with running([world.program("target"), "rows", "2"]) as target:
        wait_ready(target)
        argv, env = tracer(world, mode, "-p", target.pid, out=None)
        with running(argv, env, user=65534, group=65534, extra_groups=[], cwd="/") as process:
            status, _, stderr = wait_end(process)
        if status != 1 or not 1 <= len(stderr.splitlines()) <= 2:
            raise Failed(f"status {status}\n" + tail(stderr))


# The end of sctrace


def end_started(world, mode, what, sig):
    argv, env = tracer(world, mode, "-f", "--", world.program("target"), what)
    with running(argv, env) as process:
        wait_ready(process)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)  # the program handles SIGINT
        time.sleep(0.05)
        if process.poll() is not None:
            raise Failed(f"{what}: ended by SIGINT with {process.returncode}")
        process.send_signal(sig)
        wait_end(process)
        left = left_over(process.pid)
        if left:
            raise Failed(f"{what}, {sig.name}: left running: " + ", ".join(f"{p} {state(p)}" for p in left))


@scenario("death")
def death_ends_both(world, mode):
    """TERM and HUP (not INT) end the tracer and the started program, also during forks and with a running vfork child."""
    for what in ("rows", "vforked", "storm", "forks"):
        for sig in (signal.SIGTERM, signal.SIGHUP):
            end_started(world, mode, what, sig)


def tallied(path, trace):
    """
    Compares a trace with the record of the killed program: it has each call that returned once, and other calls only if
    they began.
    """
    raw = path.read_bytes()
    ended, open_calls = {}, {}
    for line in trace.decode().splitlines():
        tid, _, rest = line.partition(" ")
        if not tid.isdigit():
            raise Failed("a line without a thread: " + line)
        if "getppid" in rest and re.search(r"= \d+$", rest):
            ended[int(tid)] = ended.get(int(tid), 0) + 1
        elif "getppid" in rest and rest.endswith("= ?"):
            open_calls[int(tid)] = open_calls.get(int(tid), 0) + 1
    for at in range(0, 24 * 8, 24):
        tid, begun, done = struct.unpack_from("<QQQ", raw, at)
        shown, unfinished = ended.get(tid, 0), open_calls.get(tid, 0)
        if tid and not (done <= shown <= begun and shown + unfinished <= begun and unfinished <= 1):
            raise Failed(f"thread {tid}: {begun} calls began and {done} returned; in the trace {shown} returned, {unfinished} unfinished")


@scenario("death", ["trace", "record", "record-small"])
def death_tallied(world, mode):
    """A program of four threads is killed at random moments: each call that returned is in the trace, and no other."""
    path = world.scratch / "tally"
    for round_ in range(12 if mode == "trace" else 40):
        argv, env = tracer(world, mode, "-f", "-e", "trace=getppid", "--", world.program("tally"), path, "4")
        path.write_bytes(b"")
        with running(argv, env) as process:
            until("its threads call", lambda: len(path.read_bytes()) == 4096 and struct.unpack_from("<Q", path.read_bytes(), 16)[0] > 3)
            time.sleep(round_ % 10 * 0.002)
            for pid in session_members(process.pid):
                if Path(f"/proc/{pid}/comm").read_text().strip() == "tally":
                    os.kill(pid, signal.SIGKILL)
            process.communicate(timeout=TIMEOUT)
        trace = (world.scratch / "out").read_bytes()
        tallied(path, trace)
        if b"--- SIG" in trace:
            raise Failed("a signal is shown that the program did not get\n" + str(re.findall(rb".*--- SIG.*", trace)))


@scenario("death")
def death_interrupts(world, mode):
    """INT and QUIT act on the program, and sctrace continues."""
    end = world.scratch / "end"
    argv, env = tracer(world, mode, "--", world.program("target"), "finish", end, "600")
    with running(argv, env) as process:
        wait_ready(process)
        for sig in (signal.SIGINT, signal.SIGQUIT):
            process.send_signal(sig)
            time.sleep(0.1)
        status, _, stderr = wait_end(process)
    if status != 0 or not end.exists():
        raise Failed(f"ended with {status}\n" + tail(stderr))
    if not (world.scratch / "out").read_text():
        raise Failed("no summary")
    end.unlink()


@scenario("death")
def death_killed(world, mode):
    """
    SIGKILL of the tracer: the program continues to its end, or is killed if a filter needs the tracer; it never stays stopped.
    """
    end = world.scratch / "end"
    argv, env = tracer(world, mode, "-f", "--", world.program("target"), "finish", end, "400")
    with running(argv, env) as process:
        wait_ready(process)
        time.sleep(0.05)
        children = [p for p in session_members(process.pid) if p != process.pid]
        process.kill()
        process.wait()
        until("the program ended", lambda: not session_members(process.pid))
    if not end.exists() and mode in ("ptrace", "bpf", "trace"):
        raise Failed(f"the program did not reach its end: {children}")
    end.unlink(missing_ok=True)


@scenario("death")
def death_kill_on_exit(world, mode):
    """--kill-on-exit: started programs do not outlive a SIGKILL of sctrace, but attached ones do."""
    argv, env = tracer(world, mode, "-f", "--kill-on-exit", "--", world.program("target"), "forks")
    with running(argv, env) as process:
        wait_ready(process)
        process.kill()
        process.wait()
        if left := left_over(process.pid):
            raise Failed("left running: " + ", ".join(f"{p} {state(p)}" for p in left))
    with running([world.program("target"), "compute"], stdin=subprocess.PIPE) as target:
        wait_ready(target)
        with attached(world, mode, target.pid, "--kill-on-exit") as process:
            process.kill()
            process.wait()
        status, stdout, _ = wait_end(target)
        if status != 0 or stdout != b"computed as ever\n":
            raise Failed(f"attached to: ended with {status}: {stdout}")


@scenario("death")
def death_program_killed(world, mode):
    """SIGKILL of the program: sctrace ends by the same signal, and the calls before that are shown."""
    argv, env = tracer(world, mode, "-f", "--", world.program("target"), "rows", "4")
    with running(argv, env) as process:
        wait_ready(process)
        time.sleep(0.3)
        for pid in session_members(process.pid):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if pid != process.pid and b"rows" in words and os.path.basename(words[0]) != b"sctrace":
                os.kill(pid, signal.SIGKILL)
        status, _, stderr = wait_end(process)
    text = (world.scratch / "out").read_text()
    if status != -signal.SIGKILL or "syscall_0x3e8" not in text:
        raise Failed(f"ended with {status}\n" + tail(stderr) + text[:500])


# Terminals


def on_terminal(argv, env, talk):
    """
    Runs a command as the session leader of a new terminal. `talk(master, read_until)` writes to the terminal and waits
    for output. Returns the command's output and status.
    """
    pid, master = pty.fork()
    if pid == 0:
        try:
            os.execve(argv[0], argv, env)
        finally:
            os._exit(127)  # otherwise the child would continue as a second test runner
    output = b""
    try:
        def read_until(word):
            nonlocal output
            end = time.monotonic() + TIMEOUT
            while word is None or word not in output:
                if not select.select([master], [], [], max(0, end - time.monotonic()))[0]:
                    raise Failed(f"terminal: no {word!r} in {output!r}")
                try:
                    more = os.read(master, 4096)
                except OSError:
                    more = b""
                if not more:
                    if word is None:
                        return
                    raise Failed(f"terminal: ended without {word!r}: {output!r}")
                output += more
        talk(master, read_until)
        read_until(None)
        until("it ended", lambda: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None)
        return output, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        for member in session_members(pid):
            os.kill(member, signal.SIGKILL)
        os.close(master)


@scenario("terminal")
def terminal_interrupt(world, mode):
    """Ctrl-C reaches the foreground program once, and the summary is written."""
    argv, env = tracer(world, mode, "--", world.program("target"), "interrupts")

    def talk(master, read_until):
        read_until(b"ready")
        os.write(master, b"\x03")
        read_until(b"interrupts")
    output, status = on_terminal(argv, env, talk)
    if b"front 1" not in output or b"interrupts 1" not in output or status != 0:
        raise Failed(f"status {status}: {output!r}")
    if not (world.scratch / "out").read_text():
        raise Failed("no summary")


SHELL = r"""
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
try:
    os.setpgid(job, job)
except PermissionError:
    pass
pid, status = os.waitpid(job, os.WUNTRACED)
print("stopped", os.WIFSTOPPED(status) and signal.Signals(os.WSTOPSIG(status)).name, flush=True)
os.tcsetpgrp(0, job)
os.kill(-job, signal.SIGCONT)
pid, status = os.waitpid(job, os.WUNTRACED)
os.tcsetpgrp(0, os.getpgrp())
print("ended", os.waitstatus_to_exitcode(status), flush=True)
"""


# A shell whose job is in the foreground from the start. A file of 8 numbers counts the rounds of the job's threads.
FRONT_SHELL = r"""
import os, signal, struct, sys, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
beats = os.memfd_create("beats", 0)
os.ftruncate(beats, 64)
os.environ["BEATS"] = f"/proc/{os.getpid()}/fd/{beats}"
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
try:
    os.setpgid(job, job)
except PermissionError:
    pass
count = lambda: struct.unpack("8Q", os.pread(beats, 64, 0))
pid, status = os.waitpid(job, os.WUNTRACED)
os.tcsetpgrp(0, os.getpgrp())
print("stopped", os.WIFSTOPPED(status) and signal.Signals(os.WSTOPSIG(status)).name, flush=True)
still = lambda: (then := count(), time.sleep(0.1), then == count())[2]
while not still():  # the shell's child has stopped; its children stop a little later
    pass
print("beats stand still:", still(), flush=True)
then = count()
os.tcsetpgrp(0, job)
os.kill(-job, signal.SIGCONT)
while any(a == b for a, b in zip(then, count())):
    time.sleep(0.01)
print("beats go on: True", flush=True)
pid, status = os.waitpid(job, os.WUNTRACED)
os.tcsetpgrp(0, os.getpgrp())
print("ended", os.waitstatus_to_exitcode(status), flush=True)
"""


@scenario("terminal")
def terminal_suspend(world, mode):
    """Ctrl-Z stops all threads of a foreground job, and the shell sees this; the job then continues where it was, and ends."""
    argv, env = tracer(world, mode, "-f", "--", world.program("target"), "heartbeat")

    def talk(master, read_until):
        read_until(b"ready")
        os.write(master, b"\x1a")
        read_until(b"stopped SIGTSTP")
        read_until(b"beats stand still: True")
        read_until(b"beats go on: True")
        os.write(master, b"\x03")
        read_until(b"ended")
    output, _ = on_terminal(["/usr/bin/env", "python3", "-c", FRONT_SHELL, *argv], env, talk)
    if b"interrupted in time" not in output or b"ended 0" not in output:
        raise Failed(repr(output))
    if not (world.scratch / "out").read_text():
        raise Failed("no summary")


@scenario("terminal")
def terminal_background(world, mode):
    """A background job that reads the terminal stops, and the shell sees this; in the foreground the job continues."""
    argv, env = tracer(world, mode, "-f", "--", "/bin/sh", "-c", "read line; echo got $line; exit 7")

    def talk(master, read_until):
        read_until(b"SIG")
        os.write(master, b"words\n")
        read_until(b"ended")
    output, _ = on_terminal(["/usr/bin/env", "python3", "-c", SHELL, *argv], env, talk)
    if b"stopped SIGTTIN" not in output and b"stopped SIGSTOP" not in output or b"got words" not in output or \
            b"ended 7" not in output:
        raise Failed(repr(output))


# What is written


def check_clean(data, what):
    """Checks that the text is valid UTF-8 without control bytes except newlines and tabs."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Failed(f"{what}: invalid UTF-8: {error}") from None
    bad = re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    if bad:
        raise Failed(f"{what}: control character {bad[0]!r} in {text[max(0, bad.start() - 60):bad.end() + 20]!r}")
    return text


@scenario("output")
def output_escapes(world, mode):
    """Names and contents never reach the output raw, and cannot forge a line."""
    program = world.scratch / "evil\x1b[31m\nname\x07"
    program.write_bytes(Path(world.program("target")).read_bytes())
    program.chmod(0o755)
    counts = MODES[mode][2]
    for flags in [["-f", "--by=path"], ["-f", "--by=process"], ["-f", "--by=fd", "--format=json"]] if counts else [["-f"], ["-f", "-y"], ["-f", "-s", "200"], ["-f", "--json"]]:
        argv, env = tracer(world, mode, *flags, "--", program, "escapes")
        seen = execute(argv, env=env, cwd=world.scratch)
        if seen.status != 0:
            raise Failed(f"{flags}: ended with {seen.status}\n" + tail(seen.stderr))
        check_clean(seen.stderr, "standard error")
        text = check_clean((world.scratch / "out").read_bytes(), f"output of {flags}")
        if not counts:
            match_lines([r"!(\d+ |\[pid +\d+\] )?(getppid\(\) = 4711|\+\+\+ exited with 3 \+\+\+)"], text.encode())
    for word in ("-p", "-o", "--engine", "-S", "-e"):
        seen = execute([world.sctrace, word, "\x1b[31m\nbad\xff", "true"], cwd=world.scratch)
        check_clean(seen.stderr.replace(b"\xc3\xbf", b""), f"message about {word}")


@scenario("output")
def output_full_disk(world, mode):
    """A full disk is reported, with status 125 at the end; the program runs to its end."""
    end = world.scratch / "end"
    for how in ("-o", "stderr"):
        words = ["--", world.program("target"), "finish", end, "300"]
        argv, env = tracer(world, mode, *(["-o", "/dev/full"] if how == "-o" else []), *words, out=None)
        with open("/dev/full", "wb") as full:
            more = {} if how == "-o" else {"stderr": full}
            with running(argv, env, **more) as process:
                status, _, stderr = wait_end(process)
        if status != 125 or not end.exists() or (how == "-o" and b"No space" not in stderr):
            raise Failed(f"{how}: status {status}, to its end: {end.exists()}\n" + tail(stderr or b""))
        end.unlink()


@scenario("output", [*ALL, "record-filter"])
def output_closed_pipe(world, mode):
    """If the trace goes to a closed pipe, the program neither ends nor hangs, even if it needs sctrace (a seccomp filter)."""
    end = world.scratch / "end"
    argv, env = tracer(world, mode, "-f", "--", world.program("target"), "finish", end, "200", out=None)
    with running(argv, env) as process:
        process.stderr.close()
        process.stderr = None
        status, _, _ = wait_end(process)
    if not end.exists():
        raise Failed(f"ended with {status}, the program did not reach its end")
    end.unlink()


@scenario("output", ["trace", "record"])
def output_closed_amid_vfork(world, mode):
    """A pipe that is closed while a vfork child runs: sctrace detaches, and the parent, which waits in the kernel, continues."""
    end = world.scratch / "end"
    argv, env = tracer(world, mode, "-f", "--", world.program("target"), "slow-vfork", end, out=None)
    with running(argv, env) as process:
        wait_ready(process)
        process.stderr.close()
        process.stderr = None
        wait_end(process)
        until("the program is at its end", end.exists)
    end.unlink()


@scenario("output", ["trace", "record", "record-small"])
def output_closed_amid_calls(world, mode):
    """
    A pipe that is closed at a random moment: sctrace detaches, and the program, which sctrace has started, continues to run.
    sctrace waits two seconds for the end of the program, so six programs run at the same time.
    """
    if mode != "trace" and not world.dispatches():
        raise Skip("sctrace cannot leave a program with its seccomp filter")
    def once(n):
        end, note, to = world.scratch / f"end{n}", world.scratch / f"note{n}", ["-o", "|head -1 >/dev/null"]
        argv, env = tracer(world, mode, "--", world.program("target"), "endless", end, out=None)
        with open(note, "wb") as file, running([*argv[:1], *to, *argv[1:]], env, stdout=file, stderr=file) as process:
            process.wait(TIMEOUT)
            os.kill(int(re.search(r"^pid (\d+)$", note.read_text(), re.M)[1]), signal.SIGTERM)
            until("the program is at its end", end.exists)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(once, range(6)))


@scenario("output", ["trace", "record", "record-small"])
def output_closed_amid_signals(world, mode):
    """A pipe that is closed while the program gets many signals: the signals that come after sctrace has left do no harm."""
    end = world.scratch / "end"
    argv, env = tracer(world, mode, "--", world.program("target"), "ticking", end, out=None)
    with running([argv[0], "-o", "|head -1 >/dev/null", *argv[1:]], env, stderr=subprocess.DEVNULL) as process:
        process.wait(TIMEOUT)
        until("the program is at its end", end.exists)
    end.unlink()


@scenario("output")
def output_closed_standard(world, mode):
    """Standard descriptors are closed at the start: none of sctrace's descriptors takes their place in the program."""
    show = world.program("surround")
    for closed in ("<&-", "<&- >&-", "<&- >&- 2>&-"):
        lines = []
        for command in ([show, "close_all"], tracer(world, mode, "--", show, "close_all")[0]):
            line = f"exec \"$@\" {closed}"
            lines.append(execute(["/bin/sh", "-c", line, "sh", *command], env=MODES[mode][1]))
        if lines[0].status != lines[1].status:
            raise Failed(f"{closed}: ended with {lines[1].status}, natively with {lines[0].status}\n" + tail(lines[1].stderr))


# Surroundings


@scenario("surround")
def surround_signals(world, mode):
    """Exactly the signals that were ignored or blocked at the start are ignored or blocked in the program."""
    def prepare():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGTERM, signal.SIGCHLD])
    command = [world.program("signals"), "own_masks"]
    argv, env = tracer(world, mode, "--", *command)
    native = subprocess.run(command, preexec_fn=prepare, capture_output=True, timeout=TIMEOUT)
    seen = subprocess.run(argv, env=env, preexec_fn=prepare, capture_output=True, timeout=TIMEOUT)
    if seen.stdout != native.stdout or seen.returncode != 0:
        raise Failed(f"status {seen.returncode}; natively\n" + tail(native.stdout) + tail(seen.stdout) + tail(seen.stderr))


@scenario("surround")
def surround_scripts(world, mode):
    """
    A script is run by its interpreter. The status is 126 for a file that cannot be executed, and 127 if there is no
    file, as in shells.
    """
    script = world.scratch / "script"
    script.write_text(f"#!{world.program('surround')} script\n")
    script.chmod(0o755)
    locked = world.scratch / "locked"
    locked.write_text("no program")
    locked.chmod(0o644)
    argv, env = tracer(world, mode, "--", script, "a", "b c")
    native, seen = execute([str(script), "a", "b c"]), execute(argv, env=env)
    if seen.status != 0 or seen.stdout != native.stdout:
        raise Failed(f"status {seen.status}: {seen.stdout}, natively {native.stdout}\n" + tail(seen.stderr))
    if read_or_trace(world, mode).get("getppid", 10) != 10:
        raise Failed("getppid not counted 10 times")
    for what, status in ((locked, 126), (world.scratch, 126), (world.scratch / "none", 127), ("no-such-command", 127)):
        argv, env = tracer(world, mode, "--", what)
        seen = execute(argv, env=env)
        if seen.status != status or len(seen.stderr.splitlines()) not in (1, 2):
            raise Failed(f"{what}: status {seen.status}, not {status}\n" + tail(seen.stderr))


def read_or_trace(world, mode):
    """Returns the calls of the table, or none if the mode traces."""
    text = (world.scratch / "out").read_text()
    return {name: calls for name, (calls, _) in read_table(text).items()} if MODES[mode][2] else {}


@scenario("surround", ["ptrace", "trace", "patch", "record-filter"])
def surround_set_uid(world, mode):
    """
    A set-uid program under an unprivileged tracer runs without its privilege, with a message; under root it runs as its
    owner, also if -u starts it as another user and a seccomp filter selects the calls that stop.
    """
    if os.geteuid() != 0:
        raise Skip("needs root, to make a set-uid program")
    program = world.scratch / "set-uid"
    program.write_bytes(Path(world.program("surround")).read_bytes())
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    out = world.scratch / "free"
    out.mkdir(exist_ok=True)
    out.chmod(0o777 | stat.S_ISVTX)
    os.chown(program, 0, 0)
    program.chmod(0o4755)
    argv, env = tracer(world, mode, "-o", out / mode, "--", program, "ids", out=None)
    with running(argv, env, cwd="/", **nobody) as process:
        status, stdout, stderr = wait_end(process)
    if status != 0 or stdout != b"uid 65534 euid 65534\n":
        raise Failed(f"as nobody: status {status}: {stdout}\n" + tail(stderr))
    if not re.search(rb"(?i)set-?uid|privilege", stderr):
        raise Failed("not said that the privileges were dropped:\n" + tail(stderr))
    for user, uid in (("nobody", 65534), ("1234:77", 1234)):
        argv, env = tracer(world, mode, "-f", "-e", "trace=write", "-u", user, "--", program, "ids")
        seen = execute(argv, env=env)
        if seen.status != 0 or seen.stdout != b"uid %d euid 0\n" % uid:
            raise Failed(f"as root, -u {user}: status {seen.status}: {seen.stdout}\n" + tail(seen.stderr))
    os.chown(program, 65534, 65534)
    program.chmod(0o6755)
    argv, env = tracer(world, mode, "--", program, "ids")
    seen = execute(argv, env=env)
    if seen.status != 0 or seen.stdout != b"uid 0 euid 65534\n":
        raise Failed(f"as root: status {seen.status}: {seen.stdout}\n" + tail(seen.stderr))


@scenario("surround", ["ptrace", "trace", "patch"])
def surround_unprivileged(world, mode):
    """A set-user-ID program that an unprivileged user starts, also one that may be executed but not read."""
    if os.geteuid() != 0:
        raise Skip("needs root, to become another user")
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    program = world.scratch / "unreadable"
    program.write_bytes(Path(world.program("tasks")).read_bytes())
    out = world.scratch / "free"
    out.mkdir(exist_ok=True)
    out.chmod(0o777 | stat.S_ISVTX)
    for permissions in (0o755, 0o711):
        program.chmod(permissions)
        (world.scratch / "free" / mode).unlink(missing_ok=True)
        argv, env = tracer(world, mode, "-f", "-o", out / mode, "--", program, "calls", "500", "9", out=None)
        with running(argv, env, cwd="/", **nobody) as process:
            status, _, stderr = wait_end(process)
        if status != 9:
            raise Failed(f"permissions {permissions:o}: status {status}\n" + tail(stderr))
        if MODES[mode][2] and read_table((out / mode).read_text()).get("getppid") != (500, 0):
            raise Failed(f"permissions {permissions:o}: getppid not 500 times\n" + (out / mode).read_text())


@scenario("surround")
def surround_namespaces(world, mode):
    """Programs run in new process, mount and user namespaces."""
    if os.geteuid() != 0:
        raise Skip("needs root, to make name spaces")
    for how in (["-pf"], ["-pf", "--mount-proc"], ["-Ur"], ["-Urpf", "--mount-proc"], ["-m"]):
        command = ["unshare", *how, world.program("tasks"), "fork", "5"]
        native = execute(command)
        argv, env = tracer(world, mode, "-f", "--", *command)
        seen = execute(argv, env=env)
        if seen.status != native.status or seen.stdout != native.stdout:
            raise Failed(f"{how}: status {seen.status}, natively {native.status}\n" + tail(seen.stderr))
        if MODES[mode][2] and read_or_trace(world, mode).get("getppid") != 28:
            raise Failed(f"{how}: getppid {read_or_trace(world, mode).get('getppid')} times, not 28")


@scenario("surround")
def nest_tracers(world, mode):
    """strace and sctrace run under sctrace: they work, or report that they are not permitted to trace; nothing hangs."""
    for flags in ([], ["-f"]):
        own = ["env", "ASAN_OPTIONS=detect_leaks=0", str(world.sctrace), "-c"]  # LeakSanitizer does not work in a traced process
        for inner in (["strace", "-f", "-o", "inner"], [*own, "--engine=ptrace", "-o", "inner"], [*own, "-o", "inner"]):
            argv, env = tracer(world, mode, *flags, "--", *inner, world.program("tasks"), "fork", "3")
            seen = execute(argv, env=env, cwd=world.scratch)
            if seen.status != 0 and not re.search(rb"(?i)not permitted|already traced by|cannot", seen.stderr):
                raise Failed(f"{flags} {inner}: status {seen.status}\n" + tail(seen.stderr))


RECORDED = ["trace", "record", "record-small", "record-filter"]


@scenario("seccomp", RECORDED)
def abi_inject(world, mode):
    """The program gets the injected result, also a 32-bit one."""
    for program in ("tasks", "tasks-m32"):
        if not (world.progs / program).exists():
            raise Skip(f"{program} is not built for this machine")
        argv, env = tracer(world, mode, "-f", "-e", "inject=getpgid:error=EPERM", "--", world.program(program), "unfollowed")
        seen = execute(argv, env=env)
        if seen.status != 99 or b"SYS_getpgid" not in seen.stderr or b"(errno 1)" not in seen.stderr:
            raise Failed(f"{program}: ended with {seen.status}\n" + tail(seen.stderr))


@scenario("inside", RECORDED)
def inside_inject(world, mode):
    """
    Injection changes only the calls of its rules, and marks them: every second one of each thread fails, one gets another result, and
    one raises a signal.
    """
    program = [world.program("tally"), world.scratch / "tally", "4", "50"]
    argv, env = tracer(world, mode, "-f", "-e", "trace=getppid,getpgid,kill", "-e", "inject=getppid:error=EXDEV:when=2+2",
                       "-e", "inject=getpgid:retval=1234567890:delay_enter=20ms:when=3", "-e", "inject=kill:signal=USR1:when=5", "--", *program)
    seen = execute(argv, env=env)
    if seen.status != 0:
        raise Failed(f"ended with {seen.status}\n" + tail(seen.stderr))
    lines = (world.scratch / "out").read_text().splitlines()
    tids = {line.split()[0] for line in lines if "getppid" in line}
    if len(tids) != 4:
        raise Failed(f"threads {tids}\n" + "\n".join(lines[:20]))
    for tid in tids:
        own = [line for line in lines if line.startswith(tid + " ") and "<unfinished" not in line]
        ends = [bool(re.search(r"= -1 EXDEV \(.*\(INJECTED\)", line)) for line in own if "getppid" in line]
        if ends != [False, True] * 25:
            raise Failed(f"{tid}: getppid failed {ends}")
        groups = [line for line in own if "getpgid" in line]
        put = [line.endswith(" = 1234567890 (INJECTED) (DELAYED)") for line in groups]
        if put != [i == 2 for i in range(50)]:
            raise Failed(f"{tid}: " + "\n".join(groups[:4]))
        kinds = [re.sub(r"^\d+ +(?:<\.\.\. )?(--- SIGUSR1|\w+).*", r"\1", line) for line in own]
        if kinds.count("--- SIGUSR1") != 1 or kinds[:kinds.index("--- SIGUSR1")].count("kill") != 5:
            raise Failed(f"{tid}: {kinds}")


# Counts against strace's

STRACED = {
    "copier": ["{build}/examples/copy-read-write", "{scratch}/input", "{scratch}/copy"],
    "stdio": ["{build}/examples/copy-fgetc-fputc", "{scratch}/input", "{scratch}/copy"],
    "tar": ["tar", "cf", "{scratch}/tar", "/usr/include/linux"],
    "find": ["find", "/usr/include", "-name", "*.h", "-size", "+40k"],
    "git": ["git", "-C", "{scratch}/repository", "status"],
    "python": [sys.executable, "-S", "-c", "pass"],
    "shell": ["sh", "-c", "for i in 1 2 3 4 5; do cat /etc/passwd | wc -l; done"],
    "threads": ["{build}/tests/e2e/threads", "pump", "4", "500"],
}
# strace omits calls that never return, and counts errors of rt_sigreturn. The numbers of the other calls depend on
# which task runs first.
NOT_COMPARED = {"exit", "exit_group", "rt_sigreturn", "futex", "restart_syscall", "wait4", "madvise"}


def strace_table(text):
    table = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) in (5, 6) and re.fullmatch(r"[\d.]+", words[0]) and words[-1] != "total":
            table[words[-1]] = (int(words[3]), int(words[4]) if len(words) == 6 else 0)
    return table


def make_repository(where):
    for words in (["init", "-q", where], ["-C", where, "config", "core.untrackedCache", "false"]):
        subprocess.run(["git", *words], check=True, capture_output=True)
    for i in range(30):
        (where / f"file{i}").write_text(str(i))
    subprocess.run(["git", "-C", where, "add", "."], check=True)
    time.sleep(1.1)  # so that all files are older than the index
    subprocess.run(["git", "-C", where, "status"], check=True, capture_output=True)


@scenario("counts", COUNTING)
def counts_as_strace(world, mode):
    """Each row has the same calls and errors as with strace -f -c."""
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    (world.scratch / "input").write_bytes(os.urandom(20000))
    make_repository(world.scratch / "repository")
    wrong = []
    for what, words in STRACED.items():
        if not shutil.which(words[0]) and "{" not in words[0]:
            continue
        command = [w.format(build=world.build, scratch=world.scratch) for w in words]
        fixed = ["setarch", "-R"]  # addresses determine the number of calls of the loader and malloc, also in setarch
        execute([*fixed, *command], cwd=world.scratch)  # the first run may make other calls: Python saves compiled modules
        execute([*fixed, "strace", "-f", "-c", "-o", str(world.scratch / "strace"), *command], cwd=world.scratch)
        argv, env = tracer(world, mode, "-f", "--", *command)
        execute([*fixed, *argv], env=env, cwd=world.scratch)
        theirs = strace_table((world.scratch / "strace").read_text())
        ours = read_table((world.scratch / "out").read_text())
        if len(theirs) < 5:
            raise Failed(f"{what}: strace counted nothing:\n" + (world.scratch / "strace").read_text())
        for name in sorted((set(theirs) | set(ours)) - NOT_COMPARED):
            (calls, errors), (made, failed) = theirs.get(name, (0, 0)), ours.get(name, (0, 0))
            # strace counts a call that the kernel restarts (a fork interrupted by SIGCHLD) as one more call with an error.
            if calls - made != errors - failed or calls < made:
                wrong.append(f"{what}: {name}: strace {theirs.get(name)}, sctrace {ours.get(name)}")
    if wrong:
        raise Failed("\n".join(wrong))


@scenario("counts", COUNTING)
def counts_by_named_engine(world, mode):
    """The requested engine counts, and not a different one, according to the table of -c."""
    engine, env, _ = MODES[mode]
    for flags in ([], ["-f"]):
        seen = execute([str(world.sctrace), "-c", "--engine=" + engine, *flags, "--", world.program("threads"), "pump", "2",
                        "100"], env=env)
        if f"engine: {engine}".encode() not in seen.stderr:
            raise Failed(tail(seen.stderr))


# Size of the tracer


def tracer_size(pid):
    return int(status_line(pid, "VmRSS")), len(list(Path(f"/proc/{pid}/fd").iterdir()))


@scenario("scale")
def scale_tracer_children(world, mode):
    """The tracer's memory and descriptors do not grow over thousands of children."""
    argv, env = tracer(world, mode, "-f", "--", world.program("threads"), "short_processes", "4000", "1000")
    with running(argv, env, stdin=subprocess.PIPE) as process:
        sizes = []
        for _ in range(2):
            wait_ready(process, b".")
            sizes.append(tracer_size(process.pid))
            process.stdin.write(b"\n")
            process.stdin.flush()
        if wait_end(process)[0] != 0:
            raise Failed("did not end well")
    if sizes[1][0] > sizes[0][0] + 1024 or sizes[1][1] > sizes[0][1] + 2:
        raise Failed(f"KiB and descriptors after 1000 children: {sizes[0]}; after 4000: {sizes[1]}")


@scenario("scale", ["trace"])
def scale_tracer_stacks(world, mode):
    """sctrace frees the symbol tables of a process when the process ends: 30 symbol tables of libc would need about 500 MiB."""
    script = "for i in 1 2 3; do for k in 0 1 2 3 4 5 6 7 8 9; do /bin/true; done; done; echo ready; read x"
    argv, env = tracer(world, mode, "-f", "-k", "-e", "trace=exit_group", "--", "sh", "-c", script)
    with running(argv, env, stdin=subprocess.PIPE) as process:
        wait_ready(process)
        peak = int(status_line(process.pid, "VmHWM"))
        process.stdin.write(b"\n")
        process.stdin.flush()
        if wait_end(process)[0] != 0:
            raise Failed("did not end well")
    if peak > 160 * 1024:
        raise Failed(f"peak of the tracer: {peak} KiB")


@scenario("scale")
def scale_tracer_payload(world, mode):
    """The tracer's memory stays below 32 MiB with data of 64 MiB, and is at most 8 MiB larger than with data of 1 MiB."""
    peaks = []
    for size in ("1", "64"):
        flags = [] if MODES[mode][2] else ["-s", "100"]
        argv, env = tracer(world, mode, "-f", *flags, "--", world.program("threads"), "payload", size)
        with running(argv, env, stdin=subprocess.PIPE) as process:
            wait_ready(process, b".")
            peaks.append(int(status_line(process.pid, "VmHWM")))
            process.stdin.write(b"\n")
            process.stdin.flush()
            if wait_end(process)[0] != 0:
                raise Failed("did not end well")
    most = 64 if world.sanitized else 32
    if peaks[1] > most * 1024 or peaks[1] > peaks[0] + 8 * 1024:
        raise Failed(f"peak of the tracer, KiB: {peaks[0]} with 1 MiB, {peaks[1]} with 64")
