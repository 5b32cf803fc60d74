# SPDX-License-Identifier: MIT
"""Cases in which the output of a command cannot be written, like those of scenarios.py."""
import ctypes
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from run import MODES, Failed, Skip, execute, tail
from scenarios import KEPT, left_over, running, scenario, tracer, wait_end

GOOD = "what was there before\n"
LIMIT = 16  # the largest permitted file in bytes; shorter than GOOD and any output, so the first write is cut off
CLONE_NEWNS = 0x20000  # unshare(2)

# Each command with its shortest task, and its options that name an output file. Standard output is another output.
# `bench` without a test is left out, because it runs the tests one after the other, and ends as they do.
COMMANDS = (
    (["compare"], ["-r", "1", "-w", "0", "-n", "8", "-b", "4", "-s", "read/write"], {"output", "save", "svg"}),
    (["bench", "syscall"], ["-r", "5", "loop"], {"output", "save", "svg"}),
    (["bench", "switch"], ["-r", "2", "-t", "5ms", "pipe"], {"output", "save", "svg"}),
    (["bench", "sched"], ["-n", "1", "-r", "1", "-t", "5ms"], {"output", "save", "svg"}),
    (["bench", "latency"], ["-t", "20ms", "--loads", "none"], {"output", "save", "svg"}),
    (["bench", "load"], ["-r", "1", "--loads", "none", "--", "true"], {"output", "save", "svg"}),
    (["report"], ["{run}"], {"output", "svg"}),
    (["show", "-c"], ["{recording}"], {"output", "save"}),
)
# Options of the tracer, and the one that names a file. Its output to standard error is covered by output-full-disk.
TRACE = ([([*flags], "output") for flags in ([], ["--json"], ["--format=perfetto"], ["--stacks=folded"], ["-A"], ["-ff"])])
COUNT = ([([*flags], "output") for flags in ([], ["--format=csv"], ["--format=json"], ["--errors", "--interval=1s"])] +
         [([], "save")])
# Commands that use files while they work.
WORKING = [["compare", "-r", "1", "-w", "0", "-n", "64K", "-b", "4K"], ["compare", "-r", "1", "-w", "0", "touch {out}"],
           ["bench", "syscall", "-r", "2", "--no-count", "file"], ["bench", "load", "-r", "1", "--loads", "disk,none"],
           ["bench", "latency", "-t", "20ms", "--loads", "disk,none"]]
# Options that print information about the command.
ABOUT = [["--help"], ["--version"], ["--list-engines"], ["--completion=bash"], ["compare", "--list"], ["bench", "--help"],
         *([*words, option] for words, _, _ in COMMANDS for option in ("--help", "--version")),
         *(["bench", test, "--list"] for test in ("syscall", "switch", "latency", "load"))]

# Outputs that cannot be written, and the reasons; {place} is a folder for each attempt.
PLAIN = {
    "/dev/full": "No space left on device",
    "/dev/stdout": "Broken pipe",  # a pipe without a reader
    "{place}/file": "File too large",  # beyond RLIMIT_FSIZE
    "{place}/none/file": "No such file or directory",
    "{place}": "Is a directory",
}
FULL = {"{place}/file": "No space left on device"}
READ_ONLY = {"{place}/file": "Read-only file system"}
ANYWHERE = ("/dev/full", "/dev/stdout", "{place}/file")  # these can be standard output, too


class Attempt(NamedTuple):
    """The command, the words that follow its output, the option that names the output (or None), and the output."""

    words: list
    rest: list
    option: str
    where: str
    why: str
    env: dict = {}


def of_trace(world, mode, places):
    engine, env, counts = MODES[mode]
    for flags, option in COUNT if counts else TRACE:
        for where, why in places.items():
            # With -ff the files have other names: FILE.TID.
            if "-ff" not in flags or where in ("{place}/file", "{place}/none/file"):
                yield Attempt([*(["-c"] if counts else ["-f"]), "--engine=" + engine, *flags], ["true"], option, where, why, env)


def of_commands(world, places):
    run = world.scratch / "run.json"
    execute([str(world.sctrace), "compare", "-r", "1", "-w", "0", "-n", "8", "-b", "4", f"--save={run}"])
    recording = world.scratch / "recording"
    execute([str(world.sctrace), f"--record={recording}", "true"])
    made = {"{run}": str(run), "{recording}": str(recording)}
    for words, rest, options in COMMANDS:
        for option in (None, *sorted(options)):
            for where, why in places.items():
                if option or where in ANYWHERE and places is not READ_ONLY:
                    yield Attempt(words, [made.get(w, w) for w in rest], option, where, why)


@contextmanager
def standard_output(where, path):
    """The standard output of an attempt: the tested output, a pipe without a reader, or an ordinary pipe."""
    if where == "/dev/stdout":
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as stdout:
            yield stdout
    elif path:
        with open(path, "wb") as stdout:
            yield stdout
    else:
        yield subprocess.PIPE


def check_files(attempt, place, work):
    """
    Checks that there is no partial file, no temporary file beside it and no file in the work folder, and that an
    earlier saved run still exists.
    """
    for file in place.iterdir():
        text = file.read_text(errors="replace")
        if file.name.split(".")[0] != "file" or attempt.option and text not in ("", GOOD):
            raise Failed(f"left {file.name}: {text[:300]!r}")
        if attempt.option == "save" and text != GOOD:
            raise Failed("the run that was saved before is missing")
    if left := [file.name for file in work.iterdir() if file.name not in KEPT]:
        raise Failed(f"left in the work folder: {left}")


def fail_to_write(world, attempt, place, work):
    """The failure must be reported with the name and the cause, with status 125, and no process or file may be left."""
    path = attempt.where.format(place=place)
    to = [f"--{attempt.option}={path}"] if attempt.option else []
    limits = ["prlimit", f"--fsize={LIMIT}"] if attempt.why == PLAIN["{place}/file"] else []
    argv = [*limits, world.sctrace, *attempt.words, *to, *attempt.rest]
    env = {**os.environ, **attempt.env, "TMPDIR": str(work), "XDG_RUNTIME_DIR": str(work)}
    with standard_output(attempt.where, None if to else path) as stdout, running(argv, env, stdout=stdout) as process:
        status, _, stderr = wait_end(process)
        left = left_over(process.pid)
    named = rf"'{path}(\.\d+)?'" if to else "standard output"
    if status != 125 or not re.search(rf"^sctrace: .*{named}: {attempt.why}$", stderr.decode(errors="replace"), re.M):
        raise Failed(f"ended with {status}\n" + tail(stderr))
    if left:
        raise Failed(f"left running: {left}")
    check_files(attempt, place, work)


def fresh_folder(world):
    return Path(tempfile.mkdtemp(dir=world.scratch))


def fail_all(world, attempts, parent, seal=lambda: None):
    """
    Runs two attempts at a time, each with a folder in `parent`, to which `seal` is then applied. A good file of the
    same name may exist before.
    """
    jobs, wrong = [], []
    works = fresh_folder(world)
    for number, attempt in enumerate(attempts):
        place, work = parent / str(number), works / str(number)
        place.mkdir()
        work.mkdir(mode=0o700)
        if attempt.where == "{place}/file" and (attempt.option == "save" or attempt.why == PLAIN["{place}/file"]):
            (place / "file").write_text(GOOD)
        jobs.append((attempt, place, work))
    seal()

    def one(job):
        try:
            fail_to_write(world, *job)
        except Failed as why:
            wrong.append(f"{' '.join(job[0].words)}: {job[0].option or 'standard output'} to {job[0].where}: {why}")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, jobs))
    if wrong:
        raise Failed("\n".join(wrong))


@contextmanager
def disk(world):
    """Mounts a small file system in a separate namespace, so that it disappears when this process ends."""
    folder = fresh_folder(world)
    if os.geteuid() != 0 or ctypes.CDLL(None).unshare(CLONE_NEWNS) != 0:
        raise Skip("only root can mount a disk that is full, or that cannot be written")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "sctrace", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def fill(folder, spare=0):
    """Fills the disk except for `spare` bytes."""
    with open(folder / "filler", "wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            file.truncate(file.tell() - spare)


def lock(folder):
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)


# Each output that cannot be written is reported with its name and the cause, with status 125, and no partial output is
# left.


@scenario("fault")
def fault_outputs(world, mode):
    """Outputs of the tracer cannot be written: no space, a limit, no reader, no folder."""
    fail_all(world, of_trace(world, mode, PLAIN), fresh_folder(world))


@scenario("fault")
def fault_full_disk(world, mode):
    """Outputs of the tracer cannot be written: a full disk, and a read-only one."""
    for places, seal in ((FULL, fill), (READ_ONLY, lock)):
        with disk(world) as folder:
            fail_all(world, of_trace(world, mode, places), folder, lambda: seal(folder))


@scenario("fault")
def fault_full_disk_amid(world, mode):
    """A disk becomes full in the middle of a block: the written part is removed, because half a table may look complete."""
    with disk(world) as folder:
        fill(folder, spare=4096)
        argv, env = tracer(world, mode, "-o", folder / "file", "--", world.program("everycall"), out=None)
        end = execute(argv, env=env)
        text = (folder / "file").read_text()
    if end.status != 125 or f"'{folder / 'file'}': No space left on device" not in end.stderr.decode():
        raise Failed(f"ended with {end.status}\n" + tail(end.stderr))
    if MODES[mode][2] and text or text and not text.endswith("\n"):
        raise Failed(f"left {len(text)} bytes, at the end {text[-200:]!r}")


@scenario("fault", ["trace"])
def fault_outputs_commands(world, _):
    """Outputs of compare, bench, report and show, and of the options that print information."""
    faces = {tuple(words): options for words, _, options in COMMANDS}
    listed = {("bench", test) for test in re.findall(r"^([a-z]+): ", execute([world.sctrace, "bench", "--help"]).stdout.decode(), re.M)}
    if listed != {words for words in faces if words[0] == "bench"}:
        raise Failed(f"bench has the tests {listed}")
    for words, options in [((), {"output", "save", "record"}), *faces.items()]:
        text = execute([world.sctrace, *words, "--help"]).stdout.decode()
        if (named := set(re.findall(r"--(\w+)=(?:FILE|RUN\.json)", text))) != options:
            raise Failed(f"{' '.join(words)} names files by {named}")
    about = [Attempt(words, [], None, "/dev/full", PLAIN["/dev/full"]) for words in ABOUT]
    fail_all(world, [*of_commands(world, PLAIN), *about], fresh_folder(world))


@scenario("fault", ["trace"])
def fault_full_disk_commands(world, _):
    """Outputs and work files of the other commands cannot be written: a full disk, and a read-only one."""
    for places, seal in ((FULL, fill), (READ_ONLY, lock)):
        with disk(world) as folder:
            fail_all(world, of_commands(world, places), folder, lambda: seal(folder))
        with disk(world) as folder:
            seal(folder)
            for words in WORKING:
                end = execute([world.sctrace, *words], env={"TMPDIR": str(folder)})
                left = [file.name for file in folder.iterdir() if file.name != "filler"]
                if end.status not in (0, 2, 125) or (end.status and not end.stderr) or left:
                    raise Failed(f"{' '.join(words)}: ended with {end.status}, left: {left}\n" + tail(end.stderr))
