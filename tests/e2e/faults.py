# SPDX-License-Identifier: MIT
"""Cases in which sctrace's own calls fail, like those of scenarios.py."""
import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from run import MODES, TIMEOUT, Failed, Skip, execute, read_table, tail
from scenarios import KEPT, left_over, running, scenario, state, tracer, untraced, wait_end, wait_ready

ORDERED = b"(failed as ordered)\n"
LOST = b"(message lost as ordered)\n"  # sctrace tried to print a message, but every write fails
EPERM, ESRCH, EIO, ECHILD, ENOMEM = 1, 3, 5, 10, 12


def faulty(world, env, function, n, error):
    """The environment in which calls of sctrace fail (prog/lib/fail.c)."""
    return {**env, "LD_PRELOAD": str(world.progs / "fail.so"), "SCTRACE_FAIL": f"{function}:{n}:{error}"}


def one_fault(world, mode, function, n, error=ENOMEM):
    """Returns whether the fault was reached; raises if something went wrong."""
    what = f"{function}, call {n}, error {error}"
    out = world.scratch / f"out-{function}-{error}"
    out.unlink(missing_ok=True)
    some = ["-e", "trace=getppid"] if mode == "trace" and function in FILTERED else []
    argv, env = tracer(world, mode, "-f", *some, "--", world.program("tasks"), "fork", "2", out=out.name)
    with running(argv, faulty(world, env, function, n, error)) as process:
        try:
            status, stdout, stderr = wait_end(process)
        except Failed as why:
            raise Failed(f"{what}: {why}") from None
        left = left_over(process.pid)
    if ORDERED not in stderr:
        return False
    said = stderr.replace(ORDERED, b"")
    if left:
        raise Failed(f"{what}: left running: {left}")
    if status < 0 or status not in (0, 1, 125, 126):
        raise Failed(f"{what}: ended with {status}\n" + tail(stderr))
    if status != 0 and not said:
        raise Failed(f"{what}: ended with {status} and no message")
    if status == 0 and b"calls getppid 13 0" not in stdout:
        raise Failed(f"{what}: status 0, but the program did not do its work")
    if status == 0 and not said and MODES[mode][2] and read_table(out.read_text()).get("getppid") != (13, 0):
        raise Failed(f"{what}: wrong counts and no message\n" + out.read_text())
    return True


def fault_after_fault(world, mode, function, counts, error):
    """
    Makes later and later calls of the function fail, until one is not reached. Returns how many were reached, and what went
    wrong.
    """
    reached, wrong = 0, []
    for n in counts:
        try:
            if not one_fault(world, mode, function, n, error):
                break
            reached += 1
        except Failed as why:
            wrong.append(str(why))
            if len(wrong) > 3 or "has not ended" in str(why):
                break
    return reached, wrong


FILTERED = ("seccomp", "prctl")  # calls that sctrace makes if only some calls are traced
EARLY = (1, 2, 3, 5, 8, 12, 20, 40, 80)
LATE = (460, 500, 560, 620)  # after some hundred requests, sctrace has changed a part of the program


def faults(world, mode, least, *rows):
    """Rows: functions as prog/lib/fail.c names them, which of their calls fail, and the error. Runs two rows at a time."""
    jobs = [(function, counts, error) for functions, counts, error in rows for function in functions.split()]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda job: fault_after_fault(world, mode, *job), jobs))
    wrong = [text for _, texts in results for text in texts]
    reached = sum(n for n, _ in results) + len(wrong)
    if reached < least:
        wrong.append(f"only {reached} faults reached")
    if wrong:
        raise Failed("\n".join(wrong))


def for_good(counts):
    return [f"{n}+" for n in counts]


# If a call of sctrace fails, it gives a message; nothing hangs, crashes or is left, and no count is silently wrong.


@scenario("fault")
def fault_memory(world, mode):
    """Memory runs out, once or permanently; the message about it needs no memory."""
    faults(world, mode, 20, ("malloc calloc realloc strdup mmap", EARLY, ENOMEM),
           ("malloc calloc realloc", for_good((1, 5, 13, 22)), ENOMEM))


@scenario("fault", ["ptrace", "trace"])
def fault_old_kernel(world, mode):
    """
    If the kernel does not tell entry stops from exit stops (before 5.3), sctrace uses registers and the alternation of
    both, also in 32-bit programs.
    """
    for program in ("tasks", "tasks-m32"):
        if not (world.progs / program).exists():
            continue
        out = world.scratch / "out"
        argv, env = tracer(world, mode, "-f", "--", world.progs / program, "fork", "2")
        env = {**env, "LD_PRELOAD": str(world.progs / "fail.so"), "SCTRACE_FAIL": "ptrace_info:1+:5"}
        end = execute(argv, env=env)
        if ORDERED not in end.stderr or end.status != 0 or b"calls getppid 13 0" not in end.stdout:
            raise Failed(f"{program}: ended with {end.status}\n" + tail(end.stderr))
        text = out.read_text()
        if MODES[mode][2]:
            table = read_table(text, "#32")
            if table.get("getppid") != (13, 0):
                raise Failed(f"{program}: {table}")
        elif len(re.findall(r"^\d+ +getppid(?:#32)?\(", text, re.M)) != 13:  # includes unfinished lines
            raise Failed(f"{program}: not 13 lines of getppid\n" + text[-2000:])


@scenario("fault", ["ptrace", "patch", "patch-filter"])
def fault_calibration(world, mode):
    """A child for calibration is killed before or while it is traced; the costs are then unknown."""
    for n in (5, 1850) if mode == "ptrace" else (5, 12, 60):
        argv, env = tracer(world, mode, "-f", "--", world.program("tasks"), "fork", "2")
        env = faulty(world, env, "calibration", f"{n}*", 0)
        with running([word for word in argv if word != "--format=csv"], env) as process:
            status, stdout, stderr = wait_end(process)
        text = (world.scratch / "out").read_text()
        if ORDERED not in stderr or status != 0 or b"calls getppid 13 0" not in stdout or not re.search(r"getppid.* 13 ", text):
            raise Failed(f"call {n}: ended with {status}\n" + tail(stderr) + text)
        if n == 5 and "could not be measured (the process that measures it ended too early)" not in text:
            raise Failed(text)


@scenario("fault", ["ptrace", "patch", "patch-filter"])
def fault_calibration_once(world, mode):
    """If a measurement of the cost fails, it is repeated."""
    known = {} if mode == "ptrace" else warm_costs(world, "ptrace")  # so that the engine under test makes the first requests
    argv, usual = tracer(world, mode, "--", world.program("tasks"), "fork", "2")
    argv = [word for word in argv if word != "--format=csv"]

    def attempt(n):
        env = {**usual, "XDG_RUNTIME_DIR": tempfile.mkdtemp(dir=world.scratch)}
        if known:
            shutil.copy(Path(known["XDG_RUNTIME_DIR"], "sctrace-costs.json"), env["XDG_RUNTIME_DIR"])
        return execute(argv, env=faulty(world, env, "ptrace", n, EPERM)), (world.scratch / "out").read_text()

    for n in range(1, 6):
        end, text = attempt(n)
        for _ in range(10):  # on a busy machine, noise can be larger than the cost in each measurement
            if "the measured cost was not above zero" not in text:
                break
            end, text = attempt(n)
        probed = end.status == 125 and b"cannot run on this machine" in end.stderr
        if ORDERED not in end.stderr or not (probed or (end.status == 0 and "subtracted from the times" in text)):
            raise Failed(f"call {n}: ended with {end.status}\n" + tail(end.stderr) + text)


@scenario("fault", ["patch", "patch-filter", "record", "record-small"])
def fault_late_stop(world, mode):
    """
    A task that runs sctrace's code stops late, and /proc/PID/status cannot be opened then: sctrace continues to wait, and the
    program does not get the SIGTRAP of that code.
    """
    out, emfile = world.scratch / "out", 24
    argv, env = tracer(world, mode, "-f", "--", world.program("tasks"), "fork", "2")
    end = execute(argv, env=faulty(world, env, "late_status", "1+", emfile))
    said = end.stderr.replace(ORDERED, b"")
    if ORDERED not in end.stderr or end.status != 0 or said or not all_calls_seen(mode)(end.stdout, out.read_text()):
        raise Failed(f"ended with {end.status}\n" + tail(end.stdout) + tail(end.stderr))


@scenario("fault", ["patch", "patch-filter"])
def fault_images(world, mode):
    """
    No memory for the data of a process or its image, also of a child in its parent's memory: ptrace counts it, or a message
    appears.
    """
    out, wrong, reached = world.scratch / "out", [], 0
    argv, env = tracer(world, mode, "-f", "--by=process", "--", "sh", "-c", "/bin/true; :")
    execute(argv, env=env)
    usual = read_table(out.read_text())
    for n in range(1, 13):
        # Only allocations that are larger than a table row are refused: tasks, images, patches.
        out.unlink(missing_ok=True)
        end = execute(argv, env=faulty(world, env, "calloc", n, f"{ENOMEM}:2320"))
        if ORDERED not in end.stderr:
            break
        reached += 1
        said = end.stderr.replace(ORDERED, b"")
        if end.status not in (0, 125) or (end.status and not said):
            wrong.append(f"allocation {n}: ended with {end.status}\n" + tail(end.stderr))
        elif not said and read_table(out.read_text()) != usual:
            wrong.append(f"allocation {n}: wrong counts and no message\n" + out.read_text())
    if wrong or reached < 6:
        raise Failed("\n".join(wrong) or f"only {reached} faults reached")


@scenario("fault", ["bpf"])
def fault_hooks(world, mode):
    """If a hook cannot be attached, the message names it, and no partial counts are shown."""
    named = set()
    argv, env = tracer(world, mode, "-f", "--", "true")
    for n in range(12, 120):
        end = execute(argv, env=faulty(world, env, "bpf", n, ENOMEM))
        if ORDERED not in end.stderr:
            break
        if match := re.search(rb"cannot be attached to (on_\w+): Cannot allocate memory", end.stderr):
            named.add(match[1])
            if end.status != 125:
                raise Failed(f"call {n}: ended with {end.status}\n" + tail(end.stderr))
    if len(named) < 2:
        raise Failed(f"only {len(named)} places named")


@scenario("fault")
def fault_files(world, mode):
    """Files cannot be opened, read or written."""
    faults(world, mode, 5, ("open fopen read write pread64 pwrite64 ftruncate64", EARLY, ENOMEM))


@scenario("fault")
def fault_handlers(world, mode):
    """If a signal handler cannot be installed, sctrace does not start, because that signal would kill it."""
    argv, env = tracer(world, mode, "-f", "--", "sleep", "0.7")
    for n in range(1, 20):
        end = execute(argv, env=faulty(world, env, "sigaction", n, EPERM))
        if ORDERED not in end.stderr:
            break
        if end.status != 125 or b"cannot handle signals" not in end.stderr:
            raise Failed(f"sigaction, call {n}: ended with {end.status}\n" + tail(end.stderr))
    if n < 10:
        raise Failed(f"only {n - 1} faults reached")


@scenario("fault")
def fault_processes(world, mode):
    """Calls that set up a program and its tracing are refused."""
    faults(world, mode, 5, ("fork memfd_create pipe2 sigaction kill process_vm_readv seccomp prctl bpf syscall", EARLY, ENOMEM))


@scenario("fault")
def fault_tracing(world, mode):
    """One request of ptrace(2), or one wait, is refused."""
    least = 1 if mode == "bpf" else 20
    faults(world, mode, least, ("ptrace", EARLY + LATE, ENOMEM), ("ptrace", EARLY, ESRCH), ("wait", EARLY, ECHILD))


@scenario("fault", ["trace"])
def fault_report(world, _):
    """A report without enough memory is complete, or says that it is not; reading a run does not crash."""
    calls, copies = world.scratch / "calls.json", world.scratch / "copies.json"
    execute([str(world.sctrace), "-c", "-f", f"--save={calls}", "--", world.program("tasks"), "fork", "2"])
    execute([str(world.sctrace), "compare", "-r", "2", "-w", "0", "-n", "4K", "-s", "sendfile", "-d", str(world.scratch),
             f"--save={copies}"])
    functions, first = ("malloc", "calloc", "realloc", "strdup"), (*range(1, 13), 16, 20, 30, 45, 60)
    jobs = [(("report", str(calls)), function, n) for function in functions for n in first]
    jobs += [(("report", str(calls)), "strdup", n) for n in range(40, 60)]
    jobs += [(("report", "--format=html", str(copies)), "calloc", n) for n in range(1, 80)]
    whole = {words: execute([str(world.sctrace), *words]).stdout for words, _, _ in jobs}

    def one(job):
        words, *fault = job
        end = execute([str(world.sctrace), *words], env=faulty(world, {}, *fault, ENOMEM))
        said = end.stderr.replace(ORDERED, b"")
        if (end.status, end.stdout) != (0, whole[words]) and not (end.status in (1, 125) and said):
            return f"{job}: ended with {end.status}\n" + tail(end.stdout) + tail(end.stderr)
        return ""

    with ThreadPoolExecutor(2) as pool:
        wrong = list(filter(None, pool.map(one, jobs)))
    if wrong or not all(whole.values()):
        raise Failed("\n".join(wrong) or "no report")


def outline(value):
    """The members of a saved run, and which are unknown, without those that differ between runs."""
    if isinstance(value, dict):
        varying = ("load", "uptime_s", "warnings", "notes", "histogram_ns")
        return {key: outline(part) for key, part in value.items() if key not in varying}
    return [sorted(part) for part in value if isinstance(part, dict)] if isinstance(value, list) else value is None


@scenario("fault", ["trace"])
def fault_saved(world, _):
    """
    A saved run, its picture and a page without enough memory are complete, or a message appears and no partial run is saved.
    """
    quick = {"compare": ["-r", "1", "-w", "0", "-n", "8", "--no-count", "-N", "true"],
             "bench switch": ["-r", "2", "-t", "5ms", "pipe"], "bench load": ["-r", "2", "--loads", "none", "--", "true"]}
    jobs = [(words, to, function, n) for words in quick for to in ("--save", "--svg", "--format=html")
            if to != "--format=html" or words == "compare"
            for function, last, step in (("malloc", 300, 7), ("calloc", 60, 2), ("realloc", 60, 3)) for n in range(1, last, step)]

    def make(words, to, fault):
        with tempfile.TemporaryDirectory(dir=world.scratch) as place:
            file = Path(place, "file")
            option = [f"{to}={file}"] if to != "--format=html" else [to, "-o", str(file)]
            end = execute([str(world.sctrace), *words.split(), *option, *quick[words]],
                          env={**fault, "TMPDIR": place, "XDG_RUNTIME_DIR": place})
            if left := [path.name for path in Path(place).iterdir() if path.name not in ("file", "file-tradeoff")]:
                raise Failed(f"{words}, {to}, {fault}: left {left}")
            text = file.read_text() if file.exists() else ""
            kept = outline(json.loads(text)) if to == "--save" and text else (text[:5], text.count("</svg>"), text[-8:])
            return end.status, end.stderr.replace(ORDERED, b""), kept

    whole = {(words, to): make(words, to, {}) for words in quick for to in ("--save", "--svg", "--format=html")
             if to != "--format=html" or words == "compare"}

    def one(job):
        words, to, *where = job
        status, said, kept = make(words, to, faulty(world, {}, *where, ENOMEM))
        partly = kept != whole[words, to][2]
        said = said.replace(whole[words, to][1], b"")
        if status not in (0, 2, 125) or (status or partly) and not said or (to == "--save" and partly and kept != ("", 0, "")):
            return f"{job}: ended with {status}\n" + tail(said)
        return ""

    with ThreadPoolExecutor(2) as pool:
        wrong = list(filter(None, pool.map(one, jobs)))
    if wrong:
        raise Failed("\n".join(wrong[:5]))


@scenario("fault", ["trace"])
def fault_filter(world, _):
    """Memory runs out while the filter for the wanted calls is built."""
    wrong = []
    for function in ("malloc", "calloc", "realloc"):
        for n in for_good((1, 5, 20, 60, 120, 200)):
            argv, env = tracer(world, "trace", "-f", "-e", "trace=getppid", "--", world.program("tasks"), "fork", "2")
            end = execute(argv, env=faulty(world, env, function, n, ENOMEM))
            if end.status not in (0, 2, 125) or (end.status and end.stderr == ORDERED):
                wrong.append(f"{function}, call {n}: ended with {end.status}\n" + tail(end.stderr))
    if wrong:
        raise Failed("\n".join(wrong))


SWITCH = ["bench", "switch", "-r", "1", "-t", "5ms"]
SCHED = ["bench", "sched", "-n", "2", "-r", "1", "-t", "5ms"]
LOADED = ["bench", "latency", "-t", "20ms", "--loads", "cpu"]


@scenario("fault", ["trace"])
def fault_bench(world, _):
    """If a wait of a bench test is refused permanently, also in its processes, the test still ends and leaves no process."""
    jobs = [(SCHED, "futex", EPERM), (SCHED, "wait", ECHILD), (SCHED, "sched_setaffinity", EPERM), (SCHED, "fork", ENOMEM),
            (SWITCH + ["pipe"], "read", EIO), (SWITCH + ["futex"], "futex", EPERM), (SWITCH + ["futex-thread"], "futex", EPERM),
            (SWITCH + ["mqueue"], "mq_send", EIO), (SWITCH + ["signal"], "syscall", EPERM),
            (SWITCH + ["signal"], "sigwaitinfo", EIO), (SWITCH + ["pipe-thread"], "pthread_create", ENOMEM),
            (LOADED, "clock_nanosleep", EPERM), (LOADED, "kill", EPERM), (LOADED, "read", EIO), (LOADED, "poll", ENOMEM)]
    wrong, reached = [], []

    def one(job):
        words, function, error = job
        for n in ("1+*", "3+*"):
            with running([world.sctrace, *words], faulty(world, dict(os.environ), function, n, error)) as process:
                status, stdout, stderr = wait_end(process)
                left = left_over(process.pid)
            said = stdout + stderr.replace(ORDERED, b"")
            reached.extend([job] if ORDERED in stderr else [])
            if status not in (0, 125) or not said or left:
                wrong.append(f"{' '.join(words)}: {function}, call {n}: ended with {status}, left: {left}\n" + tail(stderr))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, jobs))
    for n in range(110, 130):  # includes the allocations of a table's text
        end = execute([str(world.sctrace), *SCHED], env=faulty(world, {}, "realloc", n, ENOMEM))
        if end.status not in (0, 125):
            wrong.append(f"realloc, call {n}: ended with {end.status}\n" + tail(end.stderr))
    if wrong or len(reached) < len(jobs):
        raise Failed("\n".join(wrong) or f"only {len(reached)} faults reached")


LABELS = tuple(range(150, 310, 20))  # includes the allocations of a chart's labels
VALUES = tuple(range(250, 350, 6))  # includes the allocations of a chart's values


@scenario("fault", ["trace"])
def fault_compare(world, _):
    """Memory runs out permanently anywhere in a comparison: a message appears, and sctrace leaves no file."""
    folder = world.scratch / "work"
    folder.mkdir()
    copies = ["compare", "-r", "1", "-w", "0", "-n", "64K", "-b", "4K", "-s", "read/write,sendfile", "-d", str(folder)]
    words = {"text": copies, "html": copies, "csv": copies, "markdown": copies,
             "json": ["compare", "-r", "1", "-w", "0", "-d", str(folder), "true", "false", "--ignore-failure"]}
    wrong, reached = [], 0
    rows = [(shape, argv, *row) for shape, argv in words.items()
            for row in (("malloc", (60, 250, 600, 1000, 1400)), ("calloc", (40, 200)), ("realloc", (30, 150)))]
    rows += [("html", copies, "realloc", LABELS),
             ("html", ["compare", "-r", "1", "-w", "0", "-d", str(folder), "true"], "calloc", VALUES)]
    for shape, argv, function, counts in rows:
        for n in for_good(counts):
            end = execute([str(world.sctrace), *argv, f"--format={shape}"], env=faulty(world, {}, function, n, ENOMEM))
            reached += ORDERED in end.stderr
            left = [path.name for path in folder.iterdir()]
            if left or (ORDERED in end.stderr and (end.status not in (1, 125) or end.stderr == ORDERED)):
                wrong.append(f"{shape}: {function}, call {n}: ended with {end.status}, left: {left}\n" + tail(end.stderr))
                shutil.rmtree(folder)
                folder.mkdir()
    if wrong or reached < 20:
        raise Failed("\n".join(wrong) or f"only {reached} faults reached")


@scenario("fault")
def fault_for_good(world, mode):
    """
    A call is refused permanently from some point on: sctrace ends with a message and leaves no process, not even a
    stopped one.
    """
    counts = for_good((1, 8, 30, 120, 300, 450, 560))
    least = 1 if mode == "bpf" else 12
    faults(world, mode, least, ("ptrace", counts, EPERM), ("ptrace", counts, ESRCH), ("wait", counts, ECHILD))


def refuse_attached(world, mode, env, function, n, error):
    """
    For a tracer that attaches, the call is refused from the n-th on: the program continues unharmed, and a message appears.
    """
    what = f"{function}, call {n} for good"
    with running([world.program("target"), "rows", "3"]) as target:
        wait_ready(target)
        argv, usual = tracer(world, mode, "-p", target.pid)
        with running(argv, faulty(world, {**usual, **env}, function, f"{n}+", error)) as process:
            status, _, stderr = wait_end(process)
        if ORDERED not in stderr or status not in (1, 125):
            raise Failed(f"{what}: ended with {status}\n" + tail(stderr))
        if state(target.pid) == "X" or not untraced(target.pid):
            raise Failed(f"{what}: the program is gone, or still traced")
        target.terminate()
        status, stdout, said = wait_end(target)
        if status != 0 or b"ended by itself" not in stdout:
            raise Failed(f"{what}: the program ended with {status}\n" + tail(said))


def warm_costs(world, mode):
    """Measures the costs first, so that later runs need no calibration, and all their calls belong to attaching."""
    env = {"XDG_RUNTIME_DIR": tempfile.mkdtemp(dir=world.scratch)}
    argv, usual = tracer(world, mode, "--", "true")
    kept = Path(env["XDG_RUNTIME_DIR"], "sctrace-costs.json")
    for n in range(40):  # on a busy machine some measurements fail
        execute(argv, env={**usual, **env})
        known = json.loads(kept.read_text())["measured"].values() if kept.exists() else [[None] * 5]
        if n >= 4 and known and min(map(len, known)) >= 5:
            break
    return env


@scenario("fault", ["ptrace", "trace"])
def fault_attached(world, mode):
    """Refused permanently while attaching, or later: the attached program continues, and the refusal is reported."""
    for function, n, error in (("ptrace", 4, EPERM), ("ptrace", 8, EPERM), ("ptrace", 400, EPERM), ("wait", 300, ECHILD)):
        refuse_attached(world, mode, {}, function, n, error)
    env = warm_costs(world, mode)
    for n in (3, 5):  # the requests that interrupt the leader and a thread; both exist although the requests fail with ESRCH
        refuse_attached(world, mode, env, "ptrace", n, ESRCH)


@scenario("fault", ["patch"])
def fault_agent(world, mode):
    """Requests are refused while the agent is installed: a thread in the agent's code returns to the program's code by itself."""
    env = warm_costs(world, mode)
    jobs = [("ptrace", n, EPERM) for n in range(5, 160, 9)] + [("wait", n, ECHILD) for n in range(2, 50, 8)]
    jobs += [("ptrace", n, ESRCH) for n in (5, 7, 30, 100)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda job: refuse_attached(world, mode, env, *job), jobs))


@scenario("scale", ["ptrace", "trace"])
def scale_waits(world, mode):
    """
    A stop does not cost more if there are many tasks: sctrace does not request the resource usage of all threads at
    each stop.
    """
    argv, env = tracer(world, mode, "-f", "--", world.program("threads"), "live", "1000")
    # The program causes about 24,000 stops; up to 8,000 come before there are many tasks, or belong to the calibration.
    end = execute(argv, env=faulty(world, env, "stop_usage", 12000, 0))
    if end.status != 0 or end.stderr:
        raise Failed(f"ended with {end.status}\n" + tail(end.stderr))


@scenario("scale", ["patch", "patch-filter"])
def scale_agent_cost(world, mode):
    """
    The cost of a call through the agent is measured with calls that do not stop: about a hundred requests, not ten for each
    call.
    """
    argv, env = tracer(world, mode, "--", "true")
    end = execute(argv, env=faulty(world, env, "ptrace", 5000, ESRCH))
    if ORDERED in end.stderr or end.status != 0:
        raise Failed(f"ended with {end.status}\n" + tail(end.stderr))


@scenario("scale", ["ptrace"])
def scale_peak(world, _):
    """The peak of a process is also reported if there are many others."""
    many = 'pids=; for i in $(seq 80); do sleep 1000 & pids="$pids $!"; done'
    script = f"{many}; echo | {world.program('threads')} payload 64; kill $pids; wait"
    end = execute([str(world.sctrace), "-c", "-f", "--engine=ptrace", "--", "sh", "-c", script])
    peak = re.search(rb"peak RSS of the largest process (\d+).* MiB", end.stderr)
    if end.status != 0 or not peak or not 64 <= int(peak[1]) < 96:
        raise Failed(f"ended with {end.status}\n" + tail(end.stderr))


# Another sctrace counts the system calls that sctrace makes after its start, and makes each of them fail (-e inject). These
# are excluded: calls that cannot fail; close and munmap, because an injected call is not executed; and calls whose
# failure the C library handles by itself; and the one of x32, which fails if the kernel does not have that interface.
CANNOT_FAIL = set("""getpid#x32 arch_prctl brk clock_gettime close execve exit exit_group futex getegid geteuid getgid getpid getppid getrandom
                     gettid getuid munmap restart_syscall rseq rt_sigreturn sched_yield set_robust_list set_tid_address tgkill
                     time uname""".split())
ERRORS = {name: error for error, names in {
    "EAGAIN": "clone clone3 fork vfork", "ECHILD": "wait4 waitid", "EIO": "fsync getdents64 pread64 pwrite64 read rename statfs write",
    "EMFILE": "epoll_create1 memfd_create openat pidfd_open pipe2 socketpair", "ENOMEM": "epoll_ctl mmap mprotect mremap poll",
    "EACCES": "newfstatat readlink", "EFAULT": "clock_nanosleep", "EPIPE": "sendto", "EINVAL": "rt_sigtimedwait",
    "ENOSPC": "ftruncate mkdir", "EROFS": "rmdir unlink unlinkat"}.items() for name in names.split()}


def of_traced(world, env):
    """The environment of a traced sctrace, without LeakSanitizer, which does not work in a traced process."""
    no_leaks = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"} if world.sanitized else {}
    return {**os.environ, **env, **no_leaks}


def calls_made(world, argv, env):
    """{name: smallest number of calls in three runs}. Calls that a run does not make are left out, such as a wait for a busy CPU."""
    runs = [calls_of_run(world, argv, env) for _ in range(3)]
    return {name: min(run[name] for run in runs) for name in set.intersection(*map(set, runs))}


def calls_of_run(world, argv, env):
    """{name: number of calls}."""
    with tempfile.TemporaryDirectory(dir=world.scratch) as place:
        words = [word.format(place=place) for word in map(str, argv)]
        end = execute([str(world.sctrace), "-c", "--engine=ptrace", "--format=csv", "-o", f"{place}/counts", "--", *words],
                      env=of_traced(world, env))
        if end.status != 0:
            raise Failed(f"{' '.join(words)}: ended with {end.status}\n" + tail(end.stderr))
        return {name: calls for name, (calls, _) in read_table(Path(place, "counts").read_text()).items()}


def fail_one_call(world, argv, env, whole, call, when):
    """
    Makes one call fail, or all from this one on. There must be a message or a complete result, and no process or file
    may be left. Returns whether the call was reached.
    """
    what = f"{' '.join(map(str, argv))}: {call}, call {when}"
    error = ERRORS.get(call, "EPERM")
    inject = ["--engine=ptrace", "-e", f"inject={call}:error={error}:when={when}", "-e", f"trace={call}", "-e", "signal=none"]
    with tempfile.TemporaryDirectory(dir=world.scratch) as place:
        work = Path(place, "work")
        work.mkdir(mode=0o700)
        words = [word.format(place=place) for word in map(str, argv)]
        env = of_traced(world, {**env, "TMPDIR": str(work), "XDG_RUNTIME_DIR": str(work)})
        with running([world.sctrace, *inject, "-o", f"{place}/injected", "--", *words], env) as process:
            try:
                status, stdout, stderr = wait_end(process)
            except Failed as why:
                raise Failed(f"{what}: {why}") from None
            left = left_over(process.pid)
        # A file that cannot be removed is left and reported. If no output is possible, it cannot be reported.
        if b"cannot remove the work directory" not in stderr or call not in ("rmdir", "unlink", "unlinkat"):
            left += [path.name for path in work.iterdir() if path.name not in KEPT]
        if left or status not in (0, 1, 2, 125, 126, 127) or (status and not stderr and call != "write"):
            raise Failed(f"{what}: ended with {status}, left: {left}\n" + tail(stderr))
        out = Path(place, "out")
        if status == 0 and not stderr and not whole(stdout, out.read_text() if out.exists() else ""):
            raise Failed(f"{what}: status 0, no message, and the result is incomplete\n" + tail(stdout))
        return f" = -1 {error} " in Path(place, "injected").read_text()


def some_of(before, made):
    """
    Selects the calls to refuse, beyond the `before` calls that starting makes: the first, one in the middle, and all from
    the middle on. The values say in which of these cases fault_calls_attached() also sends SIGINT.
    """
    middle = before + (made - before + 1) // 2
    return {str(before + 1): False, str(middle): True, f"{middle}+": False} if made > before else {}


def refuse_all(world, jobs, trial):
    """Collects what the trials raise; each returns whether its fault was reached."""
    if any(world.build.glob("sctrace.p/*.gcno")):
        raise Skip("a build for coverage loses counts where its files cannot be read")
    if world.sanitized:  # AddressSanitizer ends a program where it has no memory for itself
        jobs = [job for job in jobs if job[0] not in ("mmap", "munmap", "madvise")]
    wrong = []

    def one(job):
        try:
            return trial(job)
        except Failed as why:
            wrong.append(str(why))
            return True

    with ThreadPoolExecutor(2) as pool:
        reached = sum(pool.map(one, jobs))
    if wrong or reached < len(jobs) * 0.9 - 2:  # the number of these calls varies between runs
        raise Failed("\n".join(wrong[:5]) or f"only {reached} faults of {len(jobs)} reached")


def calls_fail(world, argv, whole, env=None, known=()):
    """
    Makes each call of the command fail except the `known` ones: the first, one in the middle, and all from there.
    Returns the calls made.
    """
    env, jobs = env or {}, []
    start = calls_made(world, [world.sctrace, "--version"], env)
    made = calls_made(world, [world.sctrace, *argv], env)
    for call in sorted(set(made) - CANNOT_FAIL - set(known)):
        jobs += [(call, when) for when in some_of(start.get(call, 0), made[call])]
    refuse_all(world, jobs, lambda job: fail_one_call(world, [world.sctrace, *argv], env, whole, *job))
    return set(made)


def all_calls_seen(mode):
    """Returns a check that the program did its work, and that all of it was counted or shown."""
    def whole(stdout, text):
        if b"calls getppid 13 0" not in stdout:
            return False
        return read_table(text).get("getppid") == (13, 0) if MODES[mode][2] else text.count("getppid(") == 13
    return whole


def something_shown(_, text):
    return text != ""


def how(mode):
    """The arguments that select this mode."""
    engine, _, counts = MODES[mode]
    return [*(["-c", "--format=csv"] if counts else []), f"--engine={engine}"]


def traced(world, mode, *flags):
    return [*how(mode), *flags, "-f", "-o", "{place}/out", world.program("tasks"), "fork", "2"]


@scenario("fault")
def fault_calls(world, mode):
    """Each system call of the tracer is refused, once and permanently."""
    calls_fail(world, traced(world, mode), all_calls_seen(mode), MODES[mode][1])


@scenario("fault", ["trace"])
def fault_calls_options(world, mode):
    """The additional calls that options cause."""
    usual = set(calls_made(world, [world.sctrace, *traced(world, mode)], {}))
    for flags in (["--pin"], ["-k", "-yy"], ["-e", "trace=getppid"], ["-u", "nobody"]):
        whole = all_calls_seen(mode) if flags[0] != "-u" else something_shown
        made = calls_fail(world, traced(world, mode, *flags), whole, known=usual)
        if not made - usual:
            raise Failed(f"{flags} made no other calls")
    calls_fail(world, ["-o", "|cat >{place}/out", "true"], something_shown)
    calls_fail(world, ["-c", "--save={place}/out", "-o", "/dev/null", "true"], something_shown, known=usual)


COPIES = ["compare", "-r", "1", "-w", "0", "-n", "8K", "-b", "4K"]


@scenario("fault", ["trace"])
def fault_calls_compare(world, _):
    """Each system call of compare and report is refused."""
    made = calls_fail(world, [*COPIES, "-s", "read/write", "--save={place}/run", "-o", "{place}/out"], something_shown)
    copier = "cat {{in}} > {{out}} # {{buffer}}"
    calls_fail(world, [*COPIES, "--cold", "--fsync", "-o", "{place}/out", copier], something_shown, known=made)
    run = world.scratch / "run.json"
    execute([str(world.sctrace), *COPIES, f"--save={run}"])
    calls_fail(world, ["report", run, "-o", "{place}/out", "--svg={place}/picture"], something_shown)


@scenario("fault", ["trace"])
def fault_calls_bench(world, _):
    """Each system call of bench is refused."""
    made = set()
    for words in (["syscall", "-r", "2", "loop"], ["syscall", "-r", "2", "--no-count", "read-file", "spawn", "thread"],
                  ["syscall", "--per-process", "-r", "2", "--no-count", "loop"],
                  ["switch", "-r", "1", "-t", "5ms", "pipe", "signal"], ["sched", "-n", "2", "-r", "1", "-t", "5ms"],
                  ["load", "-r", "1", "--loads", "none,net", "--", "true"], ["latency", "-t", "10ms", "--loads", "cpu,none"]):
        argv = ["bench", words[0], "--save={place}/run", "-o", "{place}/out", *words[1:]]
        made |= calls_fail(world, argv, something_shown, known=made - {"clone", "mmap"})


# Each system call of a tracer that attaches is refused. The program always continues, and ends normally.


def wait_attached(process):
    """Returns what sctrace prints until it is attached or has ended."""
    said = b""
    while b"attached to process" not in said:
        if not select.select([process.stderr], [], [], TIMEOUT)[0]:
            raise Failed(f"neither attached nor ended; printed {said!r}")
        more = os.read(process.stderr.fileno(), 4096)
        if not more:
            break
        said += more
    return said


def attach_to_parent(world, argv, env, interrupted):
    """
    Attaches to a program that creates children. The tracer detaches because of SIGINT or a failure, or stays attached; then the
    program creates children again. It must work normally throughout. Returns the tracer's status and stderr.
    """
    with running([world.program("target"), "creates", "1"], stdin=subprocess.PIPE) as target:
        wait_ready(target)
        with running([*argv, "-p", str(target.pid)], env) as process:
            said = wait_attached(process)
            os.write(target.stdin.fileno(), b"\n")
            wait_ready(target)
            if interrupted and process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            ended = wait_end(process) if interrupted else None
            if ended and (not untraced(target.pid) or state(target.pid) in "tTX"):
                raise Failed("the program is stopped, traced or gone")
            if ended and ended[0] == 0 and "memfd:sctrace" in Path(f"/proc/{target.pid}/maps").read_text():
                raise Failed("memory of sctrace is left in the program")
            target.stdin.close()
            target.stdin = None
            how, stdout, stderr = wait_end(target)
            if (how, stdout) != (0, b"created children as expected\n"):
                raise Failed(f"the program ended with {how}, printed {stdout!r} and\n" + tail(stderr))
            status, _, more = ended or wait_end(process)
            if left := left_over(process.pid):
                raise Failed(f"left running: {left}")
            return status, said + more


def fail_attached(world, argv, env, call, when, interrupted):
    """
    Makes one call of an attaching tracer fail, or all from this one on. There must be a message or a complete result,
    and nothing may be left. Returns whether the call was reached.
    """
    what = f"{' '.join(map(str, argv))}: {call}, call {when}{', then SIGINT' if interrupted else ''}"
    error = ERRORS.get(call, "EPERM")
    with tempfile.TemporaryDirectory(dir=world.scratch) as place:
        work = Path(place, "work")
        work.mkdir(mode=0o700)
        words = [word.format(place=place) for word in map(str, argv)]
        inject = [world.sctrace, "--engine=ptrace", "-e", f"inject={call}:error={error}:when={when}", "-e", f"trace={call}", "-e", "signal=none"]
        try:
            status, stderr = attach_to_parent(world, [*inject, "-o", f"{place}/injected", "--", world.sctrace, *words],
                                              of_traced(world, {**env, "TMPDIR": str(work)}), interrupted)
        except Failed as why:
            raise Failed(f"{what}: {why}") from None
        left = [path.name for path in work.iterdir()]
        said = re.sub(rb"sctrace: attached to process.*\n", b"", stderr)
        if left or status not in (0, 1, 125) or (status and not said and call != "write"):
            raise Failed(f"{what}: ended with {status}, left: {left}\n" + tail(stderr))
        out = Path(place, "out")
        if status == 0 and not said and not (out.exists() and out.read_text()):
            raise Failed(f"{what}: status 0, no message, and no result")
        return f" = -1 {error} " in Path(place, "injected").read_text()


@scenario("fault", ["ptrace", "trace", "patch", "bpf"])
def fault_calls_attached(world, mode):
    """Each system call of an attaching tracer is refused: the program continues unharmed."""
    env = {**MODES[mode][1], **warm_costs(world, mode)}
    argv = [*how(mode), "-f", "-o", "{place}/out"]
    start, counts = calls_made(world, [world.sctrace, "--version"], {}), world.scratch / "counts"
    count = [world.sctrace, "-c", "--engine=ptrace", "--format=csv", "-o", counts, "--", world.sctrace]
    runs = []
    for _ in range(3):
        attach_to_parent(world, [*count, *(word.format(place=world.scratch) for word in argv)], of_traced(world, env), True)
        runs.append({name: calls for name, (calls, _) in read_table(counts.read_text()).items()})
    # On a busy machine a run may measure its costs again and save them. Therefore only calls that every run makes are
    # refused.
    made = {name: min(run[name] for run in runs) for name in set.intersection(*map(set, runs))}

    def tried(call, for_good):
        if mode == "bpf":
            return for_good  # starting this engine takes long
        # If a thread blocks SIGSYS and sctrace has received its SIGSYS stop, only a ptrace(2) request can send it back
        # to its call.
        return (mode, call, for_good) != ("patch", "ptrace", True)

    jobs = [(call, when, interrupted) for call in sorted(set(made) - CANNOT_FAIL)
            for when, interrupted in some_of(start.get(call, 0), made[call]).items() if tried(call, when.endswith("+"))]
    jobs += [("waitid", f"{n}+", False) for n in range(20, 150, 10) if mode == "patch"]
    refuse_all(world, jobs, lambda job: fail_attached(world, argv, env, *job))


@scenario("fault", ["ptrace", "trace", "patch"])
def fault_signal_in_hand(world, mode):
    """A signal of the program still arrives if sctrace has received its stop and then cannot deliver or inspect it."""
    env = warm_costs(world, mode)
    for function in ("ptrace_deliver",) if mode == "patch" else ("ptrace_deliver", "ptrace_siginfo"):
        for n in range(1, 6):  # one of these signals is SIGUSR1, whose handler counts
            argv, usual = tracer(world, mode, "-f")
            status, stderr = attach_to_parent(world, argv, faulty(world, {**usual, **env}, function, f"{n}+", EPERM), False)
            if ORDERED in stderr and (status != 125 or stderr.count(b"\n") < 3):
                raise Failed(f"{function}, call {n}: ended with {status}\n" + tail(stderr))


# Calls of a tracer that is the program's grandchild (-D), in a separate session, are refused.


def called_with(word, patience=TIMEOUT):
    """The processes with the word in their command line that are still alive after a grace period."""
    until = time.monotonic() + patience
    while True:
        alive = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and word in (entry / "cmdline").read_bytes() and state(entry.name) not in "ZX":
                    alive.append(int(entry.name))
            except OSError:
                continue
        if not alive or time.monotonic() > until:
            return alive
        time.sleep(0.02)


def one_fault_of_grandchild(world, mode, function, n, error):
    """
    Returns whether the fault was reached. The status is the program's. It is sctrace's status if the program did not
    run, and that of SIGKILL if the test had to kill it.
    """
    what = f"-D: {function}, call {n}, error {error}"
    with tempfile.TemporaryDirectory(dir=world.scratch) as place:
        work = Path(place, "work")
        work.mkdir(mode=0o700)
        env = {**os.environ, **MODES[mode][1], "TMPDIR": str(work), "XDG_RUNTIME_DIR": str(work)}
        argv = [world.sctrace, "-D", *(word.format(place=place) for word in traced(world, mode))]
        try:
            with running(argv, faulty(world, env, function, f"{n}*", error)) as process:
                status, stdout, stderr = wait_end(process)
        except Failed as why:
            raise Failed(f"{what}: {why}") from None
        finally:
            left = called_with(place.encode())
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        left += [path.name for path in work.iterdir() if path.name not in KEPT]
        said = stderr.replace(ORDERED, b"").replace(LOST, b"")
        if left or status not in (0, 1, 125, -signal.SIGKILL) or (status and not said and function != "write"):
            raise Failed(f"{what}: ended with {status}, left: {left}\n" + tail(stderr))
        out = Path(place, "out")
        if status == 0 and not said and LOST not in stderr and not all_calls_seen(mode)(stdout, out.read_text() if out.exists() else ""):
            raise Failed(f"{what}: status 0, no message, and the result is incomplete\n" + tail(stdout))
        return ORDERED in stderr


@scenario("fault")
def fault_daemonized(world, mode):
    """
    A fault may happen in several processes: each counts its own calls, and calls before a fork count for parent and child.
    """
    if any(world.build.glob("sctrace.p/*.gcno")):
        raise Skip("a build for coverage loses counts where its files cannot be read")
    errors = {EPERM: "ptrace kill sigaction syscall process_vm_readv prctl setitimer", ESRCH: "ptrace", ECHILD: "wait",
              EIO: "read write pread64 pwrite64", ENOMEM: "fork open mmap malloc calloc memfd_create pipe2 dup2 opendir bpf"}
    jobs = [(function, n, error) for error, functions in errors.items() for function in functions.split()
            for n in ("1", "2", "5", "20", "1+", "8+", *(("120+", "450+", "600+") if function in ("ptrace", "wait") else ()))]
    with ThreadPoolExecutor(2) as pool:
        reached = sum(pool.map(lambda job: one_fault_of_grandchild(world, mode, *job), jobs))
    if reached < len(jobs) / 4:
        raise Failed(f"only {reached} faults of {len(jobs)} reached")
