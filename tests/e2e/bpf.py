#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Features that only the bpf engine has, and its messages if it is unavailable (script.py). The cases in cases/ check that it
counts the same as the other engines.
"""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from script import BUILD, SCTRACE, Skip, run_tests, seconds

TASKS = str(BUILD / "tests" / "e2e" / "tasks")
NOBODY = 65534
ENDED_WITH = 9  # the exit status of `tasks calls N 9`
TIMEOUT = seconds(100)


def run(*args, **kw):
    kw.setdefault("timeout", TIMEOUT)
    kw.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([SCTRACE, *map(str, args)], capture_output=True, text=True, check=False, **kw)


def need_engine():
    listing = run("--list-engines").stdout.splitlines()
    at = next(i for i, line in enumerate(listing) if line.startswith("bpf "))
    if "does not work" in listing[at + 1]:
        raise Skip(listing[at + 1].strip())


def read_rows(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def total(rows, syscall, process=None):
    """
    The number of calls in all rows of a system call, or only in the rows of processes with this name. A row is called
    `NAME (PID)`.
    """
    return sum(int(r["calls"]) for r in rows
               if r["syscall"] == syscall and process in (None, r.get("process", "").rsplit(" (", 1)[0]))


@contextmanager
def counting(*args):
    """sctrace counts while the body of `with` runs. Then its program reads the end of its input and exits."""
    with subprocess.Popen([SCTRACE, "-c", "--format=csv", *map(str, args), "sh", "-c", "echo ready; read line"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            first = process.stdout.readline()
            assert first == b"ready\n", (first, process.stderr.read())
            yield process
            process.stdin.close()
            assert process.wait(TIMEOUT) in (0, 1), process.stderr.read()
        finally:
            process.kill()


def test_words(_):
    """Without privilege, --list-engines says what is missing, and --all is refused with that reason"""
    if os.geteuid() != 0:
        raise Skip("only root can give its privileges up")
    need_engine()
    listing = run("--list-engines", user=NOBODY, group=NOBODY, extra_groups=[])
    assert "CAP_BPF and CAP_PERFMON are missing" in listing.stdout, listing.stdout
    seen = run("-c", "--all", user=NOBODY, group=NOBODY, extra_groups=[])
    assert seen.returncode == 125 and "CAP_BPF and CAP_PERFMON are missing" in seen.stderr, seen
    assert len(seen.stderr.splitlines()) == 1, seen.stderr


def test_usage(_):
    """--all and --cgroup without -c, together, or with a group that does not exist are refused with one clear line"""
    for args, words in ((["--all", "true"], "to count all calls, add -c"), (["--all", "-e", "trace=openat", "-k"], "leave out --record, -C, -k"),
                        (["--comm=x", "true"], "select processes of --all"), (["-c", "--all", "--cgroup", "/x", "true"], "only one of"),
                        (["-c", "--all", "-p", "1"], "only one of")):
        seen = run(*args)
        assert seen.returncode == 2 and words in seen.stderr and len(seen.stderr.splitlines()) == 1, seen
    need_engine()
    seen = run("-c", "--cgroup", "/not/there")
    assert seen.returncode == 1 and "control group '/not/there'" in seen.stderr, seen
    seen = run("-c", "--cgroup", "/not/there", "true")
    assert seen.returncode == 125 and "'/not/there': No such file or directory" in seen.stderr, seen
    seen = run("-c", "--cgroup", "/tmp")
    assert seen.returncode == 1 and "not a cgroup v2 control group" in seen.stderr, seen
    seen = run("-c", "--all", "--engine=ptrace", "true")
    assert seen.returncode == 125 and "ptrace cannot" in seen.stderr, seen


def test_system(tmp):
    """--all counts every call of a process that sctrace did not start"""
    need_engine()
    name = f"all-{os.getpid()}"  # other tests may run `tasks`, too
    shutil.copy(TASKS, tmp / name)
    with counting("--all", "--by=process", "-o", tmp / "out"):
        other = subprocess.run([str(tmp / name), "calls", "12345", str(ENDED_WITH)], check=False)
        assert other.returncode == ENDED_WITH
    rows = read_rows(tmp / "out")
    assert total(rows, "getppid", name) == 12345, total(rows, "getppid", name)
    assert total(rows, "execve", name) + total(rows, "exit_group", name) >= 1, rows[:5]


class Overrun(Exception):
    """Calls came faster than sctrace could print them, and it said so."""


@contextmanager
def watching(path, *args):
    """sctrace prints calls to `path` while the body of `with` runs"""
    with subprocess.Popen([SCTRACE, *map(str, args), "-o", str(path), "sh", "-c", "echo ready; read line"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            first = process.stdout.readline()
            assert first == b"ready\n", (first, process.stderr.read())
            yield process
            process.stdin.close()
            assert process.wait(TIMEOUT) in (0, 1), process.stderr.read()
            said = process.stderr.read()
            if b" calls were not printed, because calls came faster" in said:
                raise Overrun(said)
            assert not said, said
        finally:
            process.kill()


def test_calls_of_the_system(tmp):
    """--all -e trace= prints calls of processes that sctrace did not start, with their paths and programs"""
    need_engine()
    name, none, long = f"all-{os.getpid()}", tmp / ("none" * 20), str(tmp / ("x" * 250) / ("y" * 200))

    def watch():
        shutil.copy("/bin/cat", tmp / name)
        with watching(tmp / "out", "--all", "-e", "trace=execve,openat,rename,renameat2,exit_group"):
            for path in ("/dev/null", str(none), long):
                subprocess.run([str(tmp / name), path], check=False, capture_output=True)
            os.rename(tmp / name, tmp / "other")

    for _ in range(20):  # the programs of other tests may make too many calls meanwhile
        try:
            watch()
            break
        except Overrun as error:
            overrun = error
    else:
        raise overrun
    text = re.sub(r"^(\d+) +<", r"\1<", (tmp / "out").read_text(), flags=re.M)  # short numbers are followed by blanks
    who = rf"^(\d+)<{name[:15]}>"
    shown = re.findall(rf'{who} execve\("{tmp}/{name}", \[.*\], 0x\w+\) = 0$', text, re.M)
    assert len(shown) == 3, [x for x in text.splitlines() if "execve" in x and name in x]
    for pid, expected in zip(shown, ('"/dev/null", O_RDONLY) = 3', f'"{none}", O_RDONLY) = -1 ENOENT (No such file or directory)',
                                     f'"{long[:255]}"..., O_RDONLY) = -1 ENOENT (No such file or directory)')):
        assert f"{pid}<{name[:15]}> openat(AT_FDCWD, {expected}\n" in text, (expected, text[-3000:])
        assert re.search(rf"^{pid}<{name[:15]}> exit_group\(\d\) +=", text, re.M), text[-3000:]
    assert re.search(rf'> rename(at2?)?\(.*"{tmp}/{name}", .*"{tmp}/other".*\) += 0\n', text), text[-3000:]
    own = [line for line in text.splitlines() if f"<{name[:15]}>" in line]
    assert not re.search(r"<unfinished|resumed>|\+\+\+ exited", "\n".join(own)), own


def test_processes_are_selected(tmp):
    """--comm and --uid select processes by their names and users, for calls and for counts"""
    need_engine()
    name = f"sel-{os.getpid()}"
    shutil.copy("/bin/cat", tmp / name)
    (tmp / name).chmod(0o755)
    for flags in (["--comm=nothing," + name], ["--uid=nobody"], ["--comm=" + name, f"--uid={NOBODY}"]):
        with watching(tmp / "out", "--all", *flags, "-e", "trace=openat", "-e", "status=failed"):
            for user, path in ((0, "/by/root"), (NOBODY, "/by/nobody")):
                for program in (str(tmp / name), "cat"):
                    subprocess.run([program, path + "/" + Path(program).name], check=False, capture_output=True, user=user)
        seen = set(re.findall(r'"/by/(\w+)/([\w-]+)"', (tmp / "out").read_text()))
        users = {"nobody"} if len(flags) > 1 or "uid" in flags[0] else {"root", "nobody"}
        assert seen == {(u, p) for u in users for p in ((name,) if "comm" in flags[0] else (name, "cat"))}, (flags, seen)
    shutil.copy(TASKS, tmp / "counted")
    with counting("--all", "--comm=counted", "--by=process", "-o", tmp / "table"):
        for program in (tmp / "counted", TASKS):
            subprocess.run([str(program), "calls", "321", str(ENDED_WITH)], check=False)
    rows = read_rows(tmp / "table")
    assert total(rows, "getppid") == 321 == total(rows, "getppid", "counted"), rows


def test_lost_calls_are_counted(tmp):
    """If calls come faster than they can be printed, each one is either printed or counted as not printed"""
    need_engine()
    name, n = f"lost-{os.getpid()}", 200000
    shutil.copy(TASKS, tmp / name)
    os.mkfifo(tmp / "pipe")
    script = f"{tmp}/{name} calls {n} {ENDED_WITH}; status=$?; touch {tmp}/done; exit $status"
    with subprocess.Popen([SCTRACE, "--all", "--comm=" + name, "-e", "trace=getppid", "-o", str(tmp / "pipe"), "sh", "-c", script],
                          stderr=subprocess.PIPE, text=True) as process:
        with open(tmp / "pipe", encoding="utf-8") as pipe:
            while not (tmp / "done").exists():  # nobody reads the lines meanwhile
                time.sleep(0.01)
            printed = pipe.read().count("getppid()")
        said = process.stderr.read()
    lost = sum(int(x) for x in re.findall(r"note: (\d+) calls? (?:was|were) not printed, because calls came faster", said))
    assert process.returncode == ENDED_WITH and printed + lost == n and lost > 0, (printed, lost, said)


def cgroup_mount():
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[2] == "cgroup2":
            return Path(words[1])
    raise Skip("cgroup version 2 is not mounted")


def test_cgroup(tmp):
    """--cgroup counts processes in the group and below it, and no others"""
    need_engine()
    group = cgroup_mount() / f"sctrace-test-{os.getpid()}"
    below = group / "below"
    try:
        below.mkdir(parents=True)
    except OSError as e:
        raise Skip(f"no control group can be made: {e}") from None
    try:
        with counting("--cgroup", "/" + group.name, "--by=process", "-o", tmp / "out"):
            for where, n in ((group, 3000), (below, 400), (None, 50000)):
                def enter(where=where):
                    if where:
                        (where / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
                subprocess.run([TASKS, "calls", str(n), str(ENDED_WITH)], preexec_fn=enter, check=False)
        rows = read_rows(tmp / "out")
        assert total(rows, "getppid") == 3400, rows
        with watching(tmp / "lines", "--cgroup", "/" + group.name, "-e", "trace=openat"):
            for where, path in ((group, "/in/group"), (below, "/in/below"), (None, "/outside")):
                def move(where=where):
                    if where:
                        (where / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
                subprocess.run(["cat", path], preexec_fn=move, check=False, capture_output=True)
        text = (tmp / "lines").read_text()
        assert '"/in/group"' in text and '"/in/below"' in text and "/outside" not in text, text
    finally:
        for folder in (below, group):
            for _ in range(50):
                try:
                    folder.rmdir()
                    break
                except OSError:
                    time.sleep(0.1)


def test_attach_without_ended(_):
    """If some processes of -p have ended, sctrace names them and counts the others; if all have, nothing is counted"""
    need_engine()
    with subprocess.Popen(["true"]) as ended, subprocess.Popen(["sh", "-c", "read x; read x"], stdin=subprocess.PIPE) as prog:
        ended.wait()
        with subprocess.Popen([SCTRACE, "-c", "--engine=bpf", "-p", f"{ended.pid},{prog.pid}"], stderr=subprocess.PIPE, text=True) as p:
            first = p.stderr.readline()
            prog.communicate(b"x\nx\n", TIMEOUT)
            said = first + p.stderr.read()
        assert p.returncode == 0 and f"attached to process {prog.pid};" in said and "read " in said, said
        assert f"cannot attach to 1 of 2 processes, which do not exist or have ended: {ended.pid}\n" in said, said
        r = run("-c", "--engine=bpf", "-p", f"{ended.pid},{prog.pid}")
        assert r.returncode == 1 and f"cannot attach to process {prog.pid}: no such process" in r.stderr, r


def test_threads_at_the_end(_):
    """The times of a program are known although threads are alive at its end, in every scope"""
    need_engine()
    code = "import os, threading; threading.Thread(target=threading.Event().wait, daemon=True).start(); os._exit(4)"
    for scope in ((), ("--all",)):
        r = run("-c", "--engine=bpf", *scope, "--expect", "wall>0s,wall<1h", sys.executable, "-c", code)
        assert r.returncode == 4 and (" wall, " in r.stderr or " wall = " in r.stderr) and "not known" not in r.stderr, r


def test_where_the_time_of_threads_went(_):
    """-c --by=thread: each thread has a line and a JSON object about its time, with the calls that did not return"""
    need_engine()
    code = ("import os, threading, time\nr, w = os.pipe()\nreaders = [threading.Thread(target=os.read, args=(r, 1), daemon=True) for i in range(2)]\n"
            "for t in readers: t.start()\n"
            "while not all(f' {r:#x} ' in open(f'/proc/self/task/{t.native_id}/syscall').read() for t in readers): time.sleep(0.01)\n"
            "time.sleep(0.3)\nos._exit(4)")
    command = ("-c", "--engine=bpf", "--by=thread")
    r = run(*command, "--format=json", sys.executable, "-c", code)
    threads = json.loads(r.stderr)["threads"]
    assert r.returncode == 4 and len(threads) == 3 and all(t["may_have_waited_s"] == 0 for t in threads), r
    assert [t["waiting_s"] > 0.2 for t in threads if t["unfinished_s"] <= 0.2] == [True], threads
    assert all(sum(x for k, x in t.items() if k not in ("tid", "wall_s")) < 1.1 * t["wall_s"] for t in threads), threads
    told = " ".join(run(*command, "--interval=100ms", sys.executable, "-c", code).stderr.split()).split("in total:")[-1]
    assert len(re.findall(r"thread \d+ \(\S+\): [^:]*\d\.\d+ s in calls that did not return", told)) == 2, told
    # Rows of threads that have ended are reused. Their lives are kept.
    many = "import threading\nfor i in range(1500): t = threading.Thread(target=lambda: None); t.start(); t.join()"
    told = " ".join(run("-c", "--engine=bpf", "--by=thread", sys.executable, "-c", many).stderr.split())
    assert re.search(r"threads: 149\d more, which lived less long", told), told[-2000:]


def test_many(tmp):
    """--by=process loses nothing if there are more processes than fit at once"""
    need_engine()
    n = 700
    seen = run("-c", "-f", "--engine=bpf", "--by=process", "--format=csv", "-o", tmp / "out", "sh", "-c",
               f"i=0; while [ $i -lt {n} ]; do /bin/true; i=$((i+1)); done")
    assert seen.returncode == 0, seen
    rows = read_rows(tmp / "out")
    assert total(rows, "execve") == n + 1, total(rows, "execve")
    assert total(rows, "exit_group") == n + 1, total(rows, "exit_group")
    assert total(rows, "exit_group", "true") == n, rows[:5]


def test_unstopped(tmp):
    """-p neither traces nor stops the process, and leaves it running"""
    need_engine()
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy:
        try:
            with subprocess.Popen([SCTRACE, "-c", "--engine=bpf", "-p", str(busy.pid), "-o", str(tmp / "out")],
                                  stderr=subprocess.PIPE) as process:
                assert b"attached" in process.stderr.readline()
                status = Path(f"/proc/{busy.pid}/status").read_text(encoding="ascii")
                assert "\nTracerPid:\t0\n" in status and "\nState:\tR" in status, status
                process.terminate()
                assert process.wait(TIMEOUT) == 0, process.stderr.read()
            assert busy.poll() is None
        finally:
            busy.kill()


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
