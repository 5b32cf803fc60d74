#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the calls of real programs that stop under the patch engine. Nothing passes or fails.

usage: stops.py BUILD [OPTION...]

Runs each program under `sctrace -f -o FILE`, with the options, such as -yy or --record=FILE. Prints how many calls it made,
and the share of them that stopped, first in all, and then without the calls that create processes and threads or execute
programs, and without those at which call sites are patched: the first call at each site, and one call of the loader. Then
the most frequent other reason and its most frequent call. The last line is the sum. Programs that are not installed are left out, and named.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SCTRACE = str(Path(sys.argv[1]).resolve() / "sctrace")
OPTIONS = sys.argv[2:] if sys.argv[2:3] and sys.argv[2].startswith("-") else ["-o", "trace"]  # `./dev bench` may pass a number of rounds
CREATION = {"clone", "clone3", "fork", "vfork", "execve", "execveat", "exit_group"}
PATCHING = {"they were the first calls at their call sites", "sctrace patched the libraries of a new program at these stops"}
SERVER = ("python3 -m http.server --bind 127.0.0.1 8479 >/dev/null 2>&1 & for i in 1 2 3 4 5 6 7 8 9; do sleep .2; "
          "curl -sf http://127.0.0.1:8479/big -o got && break; done; kill $!")

# The program whose installation decides, and the command of a shell; files, big and lines are made by prepare().
PROGRAMS = [
    ("bash", "bash -c 'for i in $(seq 300); do x=$(echo $i); done'"),
    ("dash", "dash -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo $i >>out; done'"),
    ("tar", "tar cf t.tar files && mkdir x && tar xf t.tar -C x"),
    ("gzip", "gzip -k big && gzip -dc big.gz >out"),
    ("xz", "xz -0k big && xz -dc big.xz >out"),
    ("zstd", "zstd -q big && zstd -qdc big.zst >out"),
    ("git", "git init -q r && cp -r files r && cd r && git add . && git -c user.name=a -c user.email=a@b commit -qm a && git status"),
    ("python3", "python3 -c 'import os; [open(f\"f{i}\", \"w\").write(\"x\") for i in range(3000)]; [os.stat(f\"f{i}\") for i in range(3000)]'"),
    ("perl", "perl -e 'for (1..3000) { open(my $f, \">\", \"p$_\"); print $f \"x\"; close $f; unlink \"p$_\" }'"),
    ("ruby", "ruby -e '3000.times { |i| File.write(\"r#{i % 9}\", \"x\") }'"),
    ("node", "node -e 'const fs = require(\"fs\"); for (let i = 0; i < 3000; i++) fs.writeFileSync(\"n\" + i % 9, \"x\")'"),
    ("make", "printf 'all: %s\\n\\ttrue\\n%%.o:\\n\\ttouch $@\\n' \"$(seq -s ' ' -f '%g.o' 100)\" >Makefile && make -s"),
    ("gcc", "printf '#include <stdio.h>\\nint main(void) { return puts(\"x\"); }\\n' >a.c && gcc -O2 a.c -o a"),
    ("go", "printf 'package main\\nfunc main() { println(1) }\\n' >a.go && HOME=$PWD go vet a.go"),
    ("sqlite3", "sqlite3 db 'create table t(a); with recursive c(x) as (select 1 union all select x+1 from c where x<9000) "
                "insert into t select x from c; select count(*) from t;'"),
    ("find", "find files -type f -print0 | xargs -0 -n 20 cat >out"),
    ("rsync", "rsync -a files/ copy/"),
    ("openssl", "openssl dgst -sha256 big && openssl rand -out out 100000"),
    ("curl", SERVER),
    ("gawk", "gawk '{ n += NF; print n > \"out\" } END { print n }' lines"),
    ("mawk", "mawk '{ n += NF; print n }' lines >out"),
    ("sed", "sed -u 's/a/b/' lines >out"),
    ("sort", "sort -S 100K lines >out"),
    ("grep", "grep -r 7 files >out"),
    ("cp", "cp -r files copy"),
    ("rm", "cp -r files gone && rm -r gone"),
    ("ls", "ls -lR files >out"),
    ("du", "du -a files >out"),
    ("dd", "dd if=big of=out bs=100 status=none"),
    ("busybox", "busybox find files -type f | busybox xargs busybox md5sum >out"),
    ("diff", "cp -r files other && diff -r files other"),
    ("ssh-keygen", "ssh-keygen -q -t ed25519 -N '' -f key"),
    ("wget", "wget -q http://127.0.0.1:1/ ; true"),
    ("jq", "seq 20000 | jq . >out"),
]


def prepare(work):
    """Makes the files that the programs use"""
    for i in range(600):
        path = work / "files" / str(i % 20) / f"file{i}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{i}\n" * 50)
    (work / "big").write_bytes(os.urandom(1 << 20))
    (work / "lines").write_text("".join(f"{i * 7919 % 30011} a b\n" for i in range(30000)))


def names_of_calls():
    """The names of the calls by their numbers, as the headers of the kernel have them"""
    headers = subprocess.run(["cc", "-E", "-dM", "-include", "sys/syscall.h", "-"], input="", capture_output=True, text=True, check=True)
    return {int(nr): name for name, nr in re.findall(r"(?m)^#define __NR_(\w+) (\d+)$", headers.stdout)}


def count(command, work, names):
    """Returns the number of calls, of those that stopped, and a counter of the other reasons: (reason, call)"""
    run = subprocess.run([SCTRACE, "--engine=patch", "-f", *OPTIONS, "sh", "-c", command], cwd=work, stdin=subprocess.DEVNULL, check=False,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", timeout=300,
                         env={**os.environ, "SCTRACE_DEBUG": "1"})
    found = re.search(r"(?m)^sctrace: stopped (\d+) of (\d+)$", run.stderr)
    if run.returncode or not found:
        return None
    reasons = collections.Counter()
    for n, nr, reason in re.findall(r"(?m)^sctrace: stopped (\d+) times at call (\d+): (.*)$", run.stderr):
        name = names.get(int(nr), nr)
        if name not in CREATION and reason not in PATCHING:
            reasons[reason, name] += int(n)
    return int(found[2]), int(found[1]), reasons


def row(name, made, stopped, reasons):
    """Prints one line"""
    other = sum(reasons.values())
    (reason, call), n = reasons.most_common(1)[0] if other else (("", ""), 0)
    most = f"{n} {call}: {reason}" if other else ""
    print(f"{name:<12}{made:>9}{100 * stopped / made:>10.2f} %{100 * other / made:>10.3f} %   {most}", flush=True)


def main():
    names, missing, failed, sums = names_of_calls(), [], [], [0, 0, collections.Counter()]
    print(f"{' '.join(OPTIONS)}\n{'':<12}{'calls':>9}{'stopped':>12}{'other':>12}   the most frequent of the others")
    for name, command in PROGRAMS:
        if not shutil.which(name):
            missing.append(name)
            continue
        with tempfile.TemporaryDirectory() as folder:
            prepare(Path(folder))
            counted = count(command, Path(folder), names)
        if not counted:
            failed.append(name)
            continue
        row(name, *counted)
        sums = [sums[0] + counted[0], sums[1] + counted[1], sums[2] + counted[2]]
    row("all", *sums)
    for title, programs in (("not installed", missing), ("failed", failed)):
        if programs:
            print(f"{title}: {' '.join(programs)}")


if __name__ == "__main__":
    main()
