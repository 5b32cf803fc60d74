#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Traces of real programs are the same from records and from stops (script.py): each program is traced by the patch engine and by
the ptrace engine, with a file for each thread, and the files are compared line by line. Addresses, process ids, times and random
bytes are replaced first.

Some programs behave differently in each run: their threads wait for each other or not, and signals arrive earlier or
later. If two traces differ, more traces are made by both engines. The program causes the difference if traces by ptrace
differ from each other in the same calls; a comment names these calls. A difference that does not appear between traces
by ptrace is a failure.
"""
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from script import BUILD, SCTRACE, Skip, run_tests, seconds
from tap import Failed

ASYNCIO = """
import asyncio, select, socket
one, other = socket.socketpair()
select.select([one], [other], [], 5)
other.send(b"x")
select.select([one], [], [], 5)

async def serve(reader, writer):
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()

async def main():
    server = await asyncio.start_unix_server(serve, "socket")
    reader, writer = await asyncio.open_unix_connection("socket")
    for i in range(20):
        writer.write(b"text ")
    writer.write(b"\\n")
    await reader.read()
    writer.close()
    server.close()

asyncio.run(main())
"""
ROUNDS = 6  # maximum number of attempts; each is two runs under ptrace and one under patch
E2E = BUILD / "tests" / "e2e"
REPLACED = [(re.compile(pattern), by) for pattern, by in (
    (r"0x[0-9a-f]{5,}", "ADDRESS"),
    (r"\b(tv_sec|tv_nsec|tv_usec|si_utime|si_stime)=[0-9-]+", r"\1=N"),
    (r"\b([a-z]time|time)=[^,}]*", r"\1=N"),
    (r'(\\x[0-9a-f]{2})+', "BYTES"),
    (r" /\* \d{4}-[^*]*\*/", ""),
    (r"/cc\w{6}\b", "/ccNAME"),
    (r"\b(pipe|socket|[A-Z][\w-]+):\[\d+\]", r"\1:[N]"),
    (r"\b(NETLINK:\[[A-Z]+):\d+\]", r"\1:N]"),
    (r"\b(UNIX(?:-STREAM)?:\[)\d+", r"\1N"),
    (r"->\d+(?=[],])", "->N"),  # the inode of a Unix socket
    (r'@"[0-9a-f]{5}"', '@"NAME"'),  # an abstract address that the kernel has chosen
    (r"\beventfd-id=\d+", "eventfd-id=N"),
    (r"\b(127\.0\.0\.1|0\.0\.0\.0):\d+", r"\1:PORT"),
    (r"\bhtons\(\d+\)", "htons(PORT)"),
    (r"(tmp_obj_|\.pyc\.)\w+", r"\1NAME"),
    (r"(?m)^(rt_sigreturn\(.*\)) += .*", r"\1 = N"),  # the value of rax where the signal has arrived
    (r"\b(uptime|loads|totalram|freeram|sharedram|bufferram|procs|f_bfree|f_bavail|f_ffree)=(\[[^]]*\]|\d+)", r"\1=N"),
)]
NUMBER = re.compile(r"\d{3,}")
NAME = re.compile(r"\w+(?=\()|\W*\w+")
RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)")
ASYNCHRONOUS = re.compile(r"--- SIGCHLD|rt_sigreturn")  # a child ends before or after the next calls of its parent
UNFINISHED = " <unfinished ...>"


def traced(engine, folder, command, env, options):
    """The traces of all threads: a list of tuples of normalised lines."""
    work, traces = folder / "work", folder / "traces"
    for place in (work, traces):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
    with subprocess.Popen([SCTRACE, f"--engine={engine}", "-ff", *options, "-o", str(traces / "t"), *command], cwd=work, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as tracer:
        err = tracer.communicate(timeout=seconds(300))[1].decode(errors="replace")
    if tracer.returncode:
        raise Failed(f"--engine={engine}: status {tracer.returncode}: {err[-2000:]}")
    files = {file.name[2:]: file.read_text(errors="replace") for file in traces.iterdir()}
    return [normalised(text, {*files, str(tracer.pid)}) for text in files.values()]


def normalised(text, pids):
    for pattern, by in REPLACED:
        text = pattern.sub(by, text)
    text = NUMBER.sub(lambda number: "PID" if number[0] in pids else number[0], text)
    lines = joined(re.sub(r" +", " ", line) for line in text.splitlines())
    return tuple(sorted(lines, key=lambda line: bool(ASYNCHRONOUS.match(line))))  # these are moved to the end


def joined(lines):
    """Joins the two halves of a call that a signal interrupted into one line, at the position of the first half."""
    out, begun = [], None
    for line in lines:
        match = RESUMED.match(line)
        if match and begun is not None:
            out[begun] = f"{out[begun]} {match[1]}".replace("( ", "(")
            begun = None
        elif line.endswith(UNFINISHED):
            begun = len(out)
            out.append(line[:-len(UNFINISHED)])
        else:
            out.append(line)
    return out


def without_common(one, other):
    """Returns the threads of each trace that the other trace does not have."""
    one, other = Counter(one), Counter(other)
    return list((one - other).elements()), list((other - one).elements())


def difference(one, other):
    """The lines by which two traces differ, as a Counter for each; both are empty if only their order differs."""
    one, other = without_common(one, other)
    lines = [Counter(itertools.chain.from_iterable(threads)) for threads in (one, other)]
    return lines[0] - lines[1], lines[1] - lines[0]


def name_of(line):
    """The name of the call, or the beginning of a line that is not a call."""
    match = NAME.match(line)
    return match[0] if match else line


def names_of(lines):
    return {name_of(line) for part in lines for line in part}


def is_equal(one, other):
    return Counter(one) == Counter(other)


def compare(folder, command, env=None, options=()):
    # Threads that contend for memory get new arenas (mallopt(3)), and more do so if their calls are slow.
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C", "MALLOC_ARENA_MAX": "1", **(env or {})}
    stops, records = [], []
    for _ in range(ROUNDS):
        stops += [traced("ptrace", folder, command, env, options) for _ in range(2)]
        records.append(traced("patch", folder, command, env, options))
        if any(is_equal(*pair) for pair in itertools.product(stops, records)):
            return
        pairs = list(itertools.combinations(stops, 2))
        own = set().union(*(names_of(difference(*pair)) for pair in pairs))
        varies = any(not is_equal(*pair) for pair in pairs)
        for pair in itertools.product(stops, records):
            calls = names_of(difference(*pair))
            if varies and calls <= own:
                print(f"# {command[0]}: the program's own timing: {', '.join(sorted(calls)) or 'the order of lines'} differ between "
                      f"engines, and {', '.join(sorted(own)) or 'the order of lines'} between runs under ptrace", flush=True)
                return
    gone, new = difference(stops[-1], records[-1])
    shown = [f"{sign} {line}" for sign, lines in (("-", gone), ("+", new)) for line in lines if name_of(line) not in own]
    raise Failed("traces differ (-: ptrace, +: patch):\n" + "\n".join(shown[:40]))


def needs(*programs):
    for program in programs:
        if not shutil.which(program) and not os.access(program, os.X_OK):
            raise Skip(f"{program} is not installed")


def shell(folder, script, *programs, env=None, options=()):
    needs("sh", *programs)
    compare(folder, ["sh", "-ec", script], env, options)


def make_tree(folder):
    for i in range(20):
        place = folder / "tree" / str(i % 4)
        place.mkdir(parents=True, exist_ok=True)
        (place / f"file{i}").write_text(f"{i}\n" * 50 * i)
    return folder / "tree"


def test_sh(folder):
    """sh, with pipes and subshells"""
    shell(folder, "for i in 1 2 3; do echo $i; done | while read n; do (echo $n); done >out; cat out | sort -r | head -2")


def test_names(folder):
    """sh with -y: descriptors are duplicated, files are renamed, and the current directory changes"""
    shell(folder, "echo 1 >a; exec 3<a; read x <&3; mv a b; read y <&3 || exec 4>c; echo $x >&4; exec 3>&4 4>&-; echo 2 >&3; "
                  "mkdir d; cd d; exec 3>a; echo 3 >&3; rm a; echo 4 >&3; cd ..; (exec 3<b; read z <&3; ls . <&3)", options=["-y"])


def test_names_of_children(folder):
    """sh -yy: children use and close descriptors that they have inherited, in other directories, and some of deleted files"""
    shell(folder, "echo 1 >a; exec 3<a 4>b 5<>c; rm c; for i in 1 2 3; do (read x || :; cd /; echo $x >&4; exec 3<&- 4>&- 5>&-; exec 3</dev/null; cat <&3) <&3; done; "
                  "mkdir d; (cd d; echo 1 >&5; cat <<E\nx\nE\n ) | cat 5>&-; cd d; pwd -P | cat", options=["-yy"])


def test_names_renamed(folder):
    """A process or a thread renames and removes what another has open, -y"""
    for arguments in (["40"], ["40", "thread"]):
        compare(folder, [str(BUILD / "tests" / "e2e" / "names"), "renamed", *arguments], None, ["-y"])


def test_names_of_kinds(folder):
    """Descriptors of eventfds, signalfds, pidfds, of sockets of many families and of namespaces, and ranges of descriptors, -yy"""
    compare(folder, [str(BUILD / "tests" / "e2e" / "names"), "kind"], None, ["-yy"])


def test_names_at_end(folder):
    """sh -y: the last calls before execve(2) and exit_group(2) name descriptors that these calls close"""
    # sh reads a script through a descriptor with FD_CLOEXEC.
    (folder / "script").write_text("read x; exec sh other\n")
    (folder / "other").write_text("read x\n")
    (folder / "lines").write_text("1\n2\n")
    shell(folder, f"cd {folder}; for i in 1 2 3; do sh script <lines; done", options=["-y"])


def test_closed_descriptors(folder):
    """python3 -yy: calls on descriptors that are not open, but are soon afterwards"""
    needs("python3")
    script = folder / "closed.py"
    script.write_text("""import os
def fails(call, *args):
    try:
        call(*args)
    except OSError:
        pass
for i in range(100):
    fails(os.fstat, 50)
    fails(os.write, 51, b"x")
    f = os.open(__file__, os.O_RDONLY)
    fails(os.sendfile, 52, f, 0, 10)
    fails(os.dup2, 53, 54)
    for n in range(50, 55):
        os.dup2(f, n)
    fails(os.write, 51, b"x")
    for n in range(50, 55):
        os.close(n)
    os.close(f)
""")
    compare(folder, ["python3", "-S", str(script)], options=["-yy"], env={"PYTHONHASHSEED": "0"})


# Opens the same paths again and again. Children that are not traced change what the paths lead to, or the program does so itself.
REOPENED = """import os, socket, sys
def opens(path, flags=os.O_RDWR | os.O_CREAT):
    for i in range(4):
        fd = os.open(path, flags)
        os.readlink(f"/proc/self/fd/{fd}")
        os.close(fd)
def change(*calls):
    pid = os.fork() if sys.argv[1] == "elsewhere" else None
    if not pid:
        for call, *args in calls:
            call(*args)
    if pid == 0:
        os._exit(0)
    if pid:
        os.waitpid(pid, 0)
def both(*calls):
    change(*((os.unlink, f) for f in ("f", "g") if os.path.lexists(f)))
    opens("f")
    change(*calls)
    opens("f")
    opens(os.path.abspath("f"))
def looks(fd):
    os.readlink(f"/proc/self/fd/{fd}")
    return fd
def enters(path):
    os.chdir(path)
    os.readlink("/proc/self/cwd")
    os.close(looks(os.open(".", os.O_RDONLY)))
both((os.rename, "f", "g"), (os.symlink, "g", "f"))
both((os.link, "f", "g"), (os.unlink, "f"), (os.symlink, "g", "f"))
both((os.unlink, "f"), (os.close, os.open("f", os.O_CREAT)))
both((os.unlink, "f"), (os.symlink, "other", "f"))
for i in range(50):  # the number of an inode may be used again at once
    fd = os.open(f"new{i}", os.O_RDWR | os.O_CREAT)
    os.readlink(f"/proc/self/fd/{fd}")
    os.close(fd)
    change((os.unlink, f"new{i}"))
for name in ("d", "e"):
    os.mkdir(name)
    os.close(os.open(name + "/f", os.O_CREAT))
    os.chdir(name)
    opens("f")
    opens(".", os.O_RDONLY)
    os.chdir("..")
opens("d/f")
change((os.link, "d/f", "d/g"))
for name in ("f", "g"):  # a link that leads to either name of one file
    change((os.symlink, "d/" + name, "new"), (os.rename, "new", "link"))
    opens("link")
opens("d/other")
if sys.argv[1] != "elsewhere":
    change((os.rename, "d", "h"), (os.symlink, "h", "d"))
    opens("d/other")
    opens("d", os.O_RDONLY)
os.chdir("e")
change((os.unlink, "../e/f"), (os.rmdir, "../e"))
opens(".", os.O_RDONLY)
os.chdir("..")
long = "l" * 190
opens(long)
opens(long[:100] + "/../" + long, os.O_RDONLY) if os.path.isdir(long[:100]) else opens(os.path.abspath(long))
for name in ("/dev/null", "/dev/tty0", "/dev/zero", "/proc/self/stat", "/proc/self/fd/0", "/proc/self/ns/mnt", "/proc", "/", "/etc/mtab"):
    os.path.exists(name) and opens(name, os.O_RDONLY)
pipe = os.pipe()
pair = socket.socketpair()
server = socket.create_server(("127.0.0.1", 0))
for fd in (*pipe, *(each.fileno() for each in (*pair, server))):
    os.readlink(f"/proc/self/fd/{fd}")
    if fd in pipe:
        opens(f"/proc/self/fd/{fd}", os.O_RDWR)
os.mkfifo("fifo")
opens("fifo", os.O_RDWR)
for fd in (*pipe, *(each.fileno() for each in (*pair, server))):
    for i in range(4):
        os.close(looks(os.dup(fd)))
server.close()
top = os.getcwd()
for name in ("one", "two"):
    os.mkdir(name)
    os.mkdir(name + "/in")
    os.close(os.open(name + "/f", os.O_CREAT))
    os.close(os.open(name + "/in/f", os.O_CREAT))
for i in range(4):
    for name in ("one", "two", "two", "one"):  # the same descriptor is another folder
        folder = looks(os.open(name, os.O_RDONLY))
        for path in ("f", "in/f", "../one/f", top + "/one/f"):
            os.close(looks(os.open(path, os.O_RDONLY, dir_fd=folder)))
        copy = looks(os.dup(folder))
        os.close(copy)
        os.dup2(folder, 30)
        looks(30)
        for path in (folder, "in", "..", "../" + name, "."):
            os.fchdir(path) if path == folder else enters(path)
        os.close(looks(os.open("f", os.O_RDONLY)))
        os.close(folder)
        os.close(30)
        os.chdir(top)
        enters(top)
if sys.argv[1] != "elsewhere":
    for i in range(3):
        os.rename("one", "three")
        os.mkdir("one")
        os.rename("three/f", "one/f")
        for path in ("one", "one/f", "three"):
            for j in range(3):
                os.close(looks(os.open(path, os.O_RDONLY)))
        enters("three")
        enters(top)
        os.rename("one/f", "three/f")
        os.rmdir("one")
        os.rename("three", "one")
import ctypes
for i in range(4):
    for each in (os.memfd_create(f"m{i % 2}"), os.eventfd(0), ctypes.CDLL(None).epoll_create1(0), ctypes.CDLL(None).inotify_init(),
                 ctypes.CDLL(None).timerfd_create(1, 0)):
        os.close(looks(each))
with socket.socket(socket.AF_UNIX) as bound:
    bound.bind("socket")
    opens("socket", os.O_PATH)
"""


def test_names_of_paths(folder):
    """python3 -y: a path that is opened again and again leads to different files, and each has the name that the kernel shows"""
    needs("python3")
    script = folder / "reopened.py"
    script.write_text(REOPENED)
    for who, *options in (["elsewhere", "-y"], ["itself", "-y"], ["elsewhere", "--record"], ["itself", "--record"], ["elsewhere", "-y", "-f"]):
        work = folder / f"work {who} {' '.join(options)}"
        work.mkdir()
        target = ["--record", str(folder / "recording"), *options[1:]] if options[0] == "--record" else [*options, "-o", str(folder / "trace")]
        run = subprocess.run([SCTRACE, "--engine=patch", "-s", "500", *target, "python3", "-S", str(script), who], cwd=work, check=False, capture_output=True,
                             text=True, timeout=seconds(100))
        assert run.returncode == 0, run
        if options[0] == "--record":
            text = subprocess.run([SCTRACE, "show", "-y", "-s", "500", str(folder / "recording")], check=True, capture_output=True, text=True, timeout=seconds(100)).stdout
        else:
            text = (folder / "trace").read_text(errors="replace")
        # The name at the end of a line, and what readlink(2) returns for this descriptor in the next lines.
        found, opened, cwd = 0, {}, None
        for line in text.splitlines():
            if cwd and (name := re.search(r"AT_FDCWD<(.*?)>", line)):
                assert name[1] == cwd, (options, line, cwd)
                found += 1
                cwd = None
            if entered := re.search(r'readlink\("/proc/self/cwd", "(.*)", \d+\) += \d+$', line):
                cwd = entered[1]
            elif made := re.search(r"\) += (\d+)<(.*?)>(\(deleted\))?$", line):
                opened[made[1]] = made[2] + (" (deleted)" if made[3] else "")
            elif link := re.search(r'readlink\("/proc/self/fd/(\d+)", "(.*)", \d+\) += \d+$', line):
                name = opened.pop(link[1], None)
                found += name is not None
                assert name is None or name.split("<")[0] == link[2], (options, line, name)  # the kind of a device follows its name
        print(f"# {who} {' '.join(options)}: {found} names")
        assert found > 500, (options, found, text[-2000:])
        subprocess.run(["rm", "-rf", work], check=True)


def test_ports(folder):
    """python3 -yy: UDP sockets that get a port when they send for the first time"""
    needs("python3")
    script = folder / "ports.py"
    script.write_text("""import socket
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 0))
for i in range(3):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 9999)
    for j in range(3):
        sender.sendto(b"x", receiver.getsockname())
        receiver.recv(9)
    sender.connect(receiver.getsockname())
    sender.send(b"y")
    sender.close()
for each in [socket.socket(family, socket.SOCK_DGRAM) for family in (socket.AF_INET, socket.AF_INET6, socket.AF_INET)]:
    each.close()
""")
    compare(folder, ["python3", "-S", str(script)], options=["-yy"], env={"PYTHONHASHSEED": "0"})


def test_tar(folder):
    """tar, which writes and reads an archive"""
    shell(folder, f"tar cf a.tar -C {make_tree(folder)} . && mkdir x && tar xf a.tar -C x", "tar")


def test_find(folder):
    """find, with tests of files"""
    needs("find")
    compare(folder, ["find", str(make_tree(folder)), "-type", "f", "-size", "+1", "-newermt", "2000-01-01"])


def test_ls(folder):
    """ls -lR"""
    compare(folder, ["ls", "-lR", str(make_tree(folder))])


def test_git(folder):
    """git, which creates a repository and shows its log"""
    who = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b",
           "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z", "GIT_CONFIG_NOSYSTEM": "1"}
    shell(folder, "git init -q . && echo a >a && git add a && git commit -qm one && git log --stat", "git", env=who)


def test_gcc(folder):
    """gcc, which compiles, assembles and links"""
    shell(folder, "echo 'int main(void) { return 0; }' >a.c && gcc -O1 -o a a.c && ./a", "gcc")


def test_python(folder):
    """python3, which compiles modules"""
    shell(folder, "for i in 1 2 3; do echo 'import re, json; x = 1' >m$i.py; done; python3 -m compileall -q .", "python3")


def test_perl(folder):
    """perl"""
    shell(folder, "perl -e 'open F, \">f\"; print F $_ for 1..1000; close F; print -s \"f\"; system(\"true\")'", "perl")


def test_node(folder):
    """node, with its threads"""
    needs("node")
    script = "const fs = require('fs'); fs.writeFileSync('f', 'a'); fs.readFile('f', (e, d) => console.log(`${d}`))"
    # How often its loop polls depends on when its threads have done their work.
    compare(folder, ["node", "-e", script], options=["-e", "trace=!epoll_pwait"])


def test_go(folder):
    """A Go program, with its scheduler and its signals"""
    needs(str(E2E / "pump-go"))
    compare(folder, [str(E2E / "pump-go")])


def test_messages(folder):
    """A program that sends messages with names, descriptors and options, and waits for descriptors by select and poll"""
    compare(folder, [str(E2E / "sockets"), "messages"])


def test_requests(folder):
    """A program whose requests and answers share the memory of their arguments"""
    compare(folder, [str(E2E / "requests"), "all"])


def test_netlink(folder):
    """A program that requests interfaces from netlink sockets and closes them at once"""
    compare(folder, [str(E2E / "sockets"), "link"], options=["-v"])


def test_asyncio(folder):
    """python3 with asyncio: a server, a client, and select"""
    needs("python3")
    (folder / "work.py").write_text(ASYNCIO)
    compare(folder, ["python3", "-I", str(folder / "work.py")])


def test_java(folder):
    """java, with the threads of its compiler and its garbage collector"""
    # With support for containers, java reads the limits again if more than 20 ms have passed. When its threads allocate and free
    # memory determines how often the heap grows, and more so if their calls are fast, so the heap gets 64 MiB at once.
    if not shutil.which("java"):
        print("# java is not installed: nothing is compared")
        return
    compare(folder, ["java", "-Xshare:off", "-XX:+UseSerialGC", "-XX:-UseContainerSupport", "-version"],
            {"MALLOC_TOP_PAD_": str(64 << 20)})


def test_sqlite(folder):
    """sqlite3, with its locks and its journal"""
    needs("sqlite3")
    compare(folder, ["sqlite3", "a.db", "create table t(a); insert into t values(1); insert into t select a + 1 from t; select * from t;"])


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):  # noqa: A002, the name is the standard library's
        pass

    def date_time_string(self, timestamp=None):
        return "Thu, 01 Jan 1970 00:00:00 GMT"

    def do_GET(self):  # noqa: N802, the name is the standard library's
        # curl asks for the answer again and again, and the faster engine leaves it more time to do so
        time.sleep(random.random() / 20)
        super().do_GET()


def test_curl(folder):
    """curl, from a server on this machine"""
    needs("curl")
    make_tree(folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder / "tree"))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        compare(folder, ["curl", "-sS", "-o", "got", f"http://127.0.0.1:{server.server_address[1]}/3/file19"])
        server.shutdown()


def test_long_buffers(folder):
    """-s: buffers that are longer than the record of a call"""
    needs("python3")
    program = ("import os, socket; data = b'0123456789abcdef' * 4400; null = os.open('/dev/null', 1); os.write(null, data); "
               "os.writev(null, [data, data[:40000]]); one, other = socket.socketpair(); one.send(data); other.recv(100000); "
               "one.sendmsg([data[:40000], data[:9]]); os.pwrite(null, data, 0)")
    compare(folder, ["python3", "-c", program], options=["-s", "100000", "-e", "trace=write,writev,pwrite64,sendto,sendmsg,recvfrom"])


def test_threads(folder):
    """A program with 32 threads"""
    compare(folder, [str(E2E / "threads"), "live", "32"])


def test_tools(folder):
    """sed, cut, sort, grep, gzip, dd and cp, one after the other"""
    shell(folder, "seq 300 >n; sed s/1/x/ n | cut -c2- | sort -n | uniq -c >o; grep -c 3 n; gzip -k n; "
                  "dd if=n of=p bs=100 2>/dev/null; cmp n p; cp n q; mv q r; ln -s r s; readlink s; stat s; rm r s", "gzip")


def test_end(folder):
    """truss -d: a process ends after its last call, exit_group(2)"""
    out = folder / "out"
    subprocess.run(["truss", "--engine=patch", "-d", "-o", str(out), "true"], executable=SCTRACE, check=True)
    times = [float(line.split()[0]) for line in out.read_text().splitlines()]
    if times[-2] > times[-1]:
        raise Failed("".join(out.read_text().splitlines(keepends=True)[-2:]))


if __name__ == "__main__":
    if subprocess.run([SCTRACE, "--engine=patch", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode:
        print("1..0 # SKIP the patch engine does not work here")
        sys.exit(0)
    raise SystemExit(run_tests(globals()))
