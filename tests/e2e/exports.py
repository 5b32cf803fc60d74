#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces and recordings for other programs (script.py): CSV and JSON, and the questions of sctrace-sql(7) in DuckDB."""
import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from script import BUILD, SCTRACE, Skip, run_tests, seconds

sys.path.insert(0, str(BUILD / "python"))  # where ./dev installs packages of Python
try:
    import duckdb
except ImportError:
    duckdb = None

TIMEOUT = seconds(120)
MAN = Path(__file__).resolve().parents[2] / "man"
COLUMNS = ["host", "recording", "command", "time_ns", "pid", "tid", "process", "name", "nr", "arch", "args", "path", "result", "errno",
           "duration_ns", "resolved", "waited", "unfinished", "restarted", "injected", "delayed", "stack"]


def run(folder, *args, program=SCTRACE, status=0, **kw):
    done = subprocess.run([program, *map(str, args)], cwd=folder, capture_output=True, check=False, timeout=TIMEOUT,
                          stdin=subprocess.DEVNULL, **kw)
    assert done.returncode == status, (args, done.returncode, done.stderr)
    return done


def rows_of(data):
    """The rows of CSV, which must be UTF-8 without control characters, with one line for each row."""
    text = data.decode()
    lines = text.split("\n")
    assert lines.pop() == "" and not re.search(r"[\0-\x09\x0b-\x1f\x7f]", text), text
    rows = list(csv.reader(io.StringIO(text), strict=True))
    assert rows[0] == COLUMNS and len(rows) == len(lines), rows[0]
    assert all(len(r) == len(COLUMNS) for r in rows), rows
    return [dict(zip(COLUMNS, r)) for r in rows[1:]]


def objects_of(data):
    return [json.loads(line) for line in data.decode().splitlines()]


def same_call(row, call):
    """Compares a row of CSV with the object of JSON for the same call."""
    assert json.loads(row["args"]) == call["args"], (row, call)
    for column in ("host", "time_ns", "pid", "tid", "name", "nr", "result", "errno", "duration_ns"):
        value = call.get(column)
        assert row[column] == ("" if value is None else str(value)), (column, row, call)
    for column in ("resolved", "waited", "unfinished", "restarted", "injected", "delayed"):
        usual = "" if column in ("resolved", "waited") else "false"
        assert row[column] == {True: "true", False: "false", None: usual}[call.get(column)], (column, row, call)


PROGRAM = ["sh", "-c", "cat 'a,\"b\"' nothing; printf 'caf\\351' > caf\\\\; cat < link; exit 3"]


def prepare(folder):
    (folder / 'a,"b"').write_bytes(b'one "two",\r\n\0\xff')
    (folder / "link").symlink_to('a,"b"')


def test_csv_like_json(folder):
    """show --format=csv has the calls of show --json, and each column has the same value"""
    prepare(folder)
    run(folder, "-f", "--record", "a.rec", *PROGRAM, status=3)
    rows = rows_of(run(folder, "show", "--format=csv", "a.rec").stdout)
    objects = objects_of(run(folder, "show", "--json", "a.rec").stdout)
    calls = [o for o in objects if o["type"] == "call"]
    assert len(rows) == len(calls) > 50, (len(rows), len(calls))
    for row, call in zip(rows, calls):
        same_call(row, call)
    assert all(o["host"] == os.uname().nodename and abs(o["time_ns"] / 1e9 - o["time"]) < 1e-6 for o in objects), objects[0]
    assert all("command" not in c for c in calls)


def test_csv_columns(folder):
    """--format=csv: the file of a call, its process and the command; text that is not UTF-8; live as from a recording"""
    prepare(folder)
    run(folder, "-f", "--record", "a.rec", *PROGRAM, status=3)
    run(folder, "-f", "--format=csv", "-o", "live.csv", *PROGRAM, status=3)
    for name, data in (("a.rec", run(folder, "show", "--format=csv", "a.rec").stdout), ("", (folder / "live.csv").read_bytes())):
        rows = rows_of(data)
        where = str(folder.resolve())
        assert {r["host"] for r in rows} == {os.uname().nodename} and {r["recording"] for r in rows} == {name}
        assert all(r["command"].startswith("sh -c 'cat") for r in rows), rows[0]["command"]
        reads = [r for r in rows if r["name"] == "read" and r["path"] == where + '/a,"b"' and int(r["result"])]
        assert [r["process"] for r in reads] == ["cat", "cat"], reads
        assert json.loads(reads[0]["args"])["buf"]["value"] == {"hex": b'one "two",\r\n\0\xff'.hex()}, reads[0]
        missing = [r for r in rows if r["path"] == where + "/nothing"]
        assert [(r["result"], r["errno"]) for r in missing] == [("-1", "ENOENT")], missing
        # A symbolic link is opened, and the file is what it leads to.
        assert any(r["name"] == "openat" and '"link"' in json.loads(r["args"])["pathname"].__str__().replace("'", '"')
                   and r["path"].endswith('/a,"b"') for r in rows), rows
        last = [r for r in rows if r["name"] == "exit_group"]
        assert all(r["unfinished"] == "true" and (r["result"], r["duration_ns"], r["resolved"]) == ("", "", "") for r in last), last


def test_csv_files(folder):
    """--format=csv with -ff, -A and without calls: each file begins with the names of the columns, once"""
    run(folder, "-ff", "--format=csv", "-o", "t", "sh", "-c", "true & wait; cat /dev/null")
    files = list(folder.glob("t.*"))
    assert len(files) >= 2 and all(rows_of(f.read_bytes()) for f in files), files
    for _ in range(2):
        run(folder, "-A", "--format=csv", "-o", "both", "-e", "openat", "cat", "/dev/null")
    assert rows_of((folder / "both").read_bytes())
    assert rows_of(run(folder, "--format=csv", "-e", "mount", "true").stderr) == []
    run(folder, "--record", "a.rec", "true")
    assert rows_of(run(folder, "show", "--format=csv", "-e", "mount", "a.rec").stdout) == []


def test_csv_stacks(folder):
    """--format=csv -k: the stack is an array of JSON"""
    run(folder, "-k", "--format=csv", "-e", "openat", "-o", "t.csv", "cat", "/dev/null")
    rows = rows_of((folder / "t.csv").read_bytes())
    assert any("/dev/null" == r["path"] and len(json.loads(r["stack"])) > 1 for r in rows), rows


def test_csv_of_tables(folder):
    """--format=csv is that of the table with -c, -C, --io, --tree and --files, and --diff and --stacks refuse it"""
    run(folder, "--record", "a.rec", "cat", "/dev/null")
    for options, first in ((["-c"], b"syscall,"), (["--io"], b"file,"), (["--tree"], b"pid,"), (["--files"], b"uses,")):
        assert run(folder, "show", "--format=csv", *options, "a.rec").stdout.startswith(first), options
    for args in (["--diff", "--format=csv", "a.rec", "a.rec"], ["--stacks=folded", "--format=csv", "a.rec"]):
        run(folder, "show", *args, status=2)


def hosts(folder):
    """Records three workloads on three machines, whose names are alpha, beta and gamma."""
    (folder / "common").write_text("x" * 3000)
    (folder / "only-beta").write_text("y" * 100)
    work = {"alpha": "cat common sometimes; cat nowhere; sleep 0.3",
            "beta": "cat common only-beta nowhere; dd if=common of=out bs=10 2>/dev/null",
            "gamma": "cat common sometimes nowhere; rm sometimes"}
    name = ["unshare", "--uts"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    for host, script in work.items():
        command = 'echo "$0" > /proc/sys/kernel/hostname && exec "$@"'
        if host == "gamma":
            (folder / "sometimes").write_text("")
        done = subprocess.run([*name, "sh", "-c", command, host, SCTRACE, "-f", "--record", host + ".rec", "sh", "-c", script],
                              cwd=folder, capture_output=True, check=False, timeout=TIMEOUT)
        if b"unshare" in done.stderr or b"hostname" in done.stderr:
            raise Skip(f"the name of the machine cannot be set: {done.stderr.decode()}")
        run(folder, "show", "--format=csv", "-o", host + ".csv", host + ".rec")


def questions(page):
    """The SQL statements of a manual page, each with the title of its section."""
    title, found, inside = None, {}, None
    for line in (MAN / page).read_text().splitlines():
        title = line[4:] if line.startswith(".Ss ") else title
        if line.startswith(".Bd -literal"):
            inside = []
        elif line == ".Ed":
            if inside[-1].endswith(";"):
                found[title] = "\n".join(inside)
            inside = None
        elif inside is not None:
            inside.append(line)
    return found


def ask(folder):
    """Returns the answers of DuckDB to the questions of sctrace-sql(7), each as a list of objects."""
    if not duckdb:
        raise Skip("DuckDB is missing; ./dev test installs it, or: python3 -m pip install duckdb")
    asked = questions("sctrace-sql.7")
    database = duckdb.connect(config={"threads": 1})
    database.execute(asked.pop("Loading the rows").replace("'*.csv'", f"'{folder}/*.csv'"))
    answers = {}
    for title, sql in asked.items():
        result = database.execute(sql)
        names = [d[0] for d in result.description]
        answers[title] = [dict(zip(names, row)) for row in result.fetchall()]
    assert len(answers) == 10, list(answers)
    return answers


def test_questions_in_sql(folder):
    """sctrace-sql(7): DuckDB answers ten questions about recordings of three machines"""
    hosts(folder)
    answers = ask(folder)
    where = str(folder.resolve())

    def rows(words):
        return next(v for k, v in answers.items() if words in k)

    slow = rows("slowest calls")
    assert len(slow) == 10 and slow[0]["ms"] >= slow[1]["ms"] and any(r["host"] == "alpha" for r in slow if r["ms"] >= 300), slow
    assert [r["host"] for r in rows("first call that failed")] == ["alpha", "beta", "gamma"]
    alone = {r["path"]: (r["host"], r["bytes"]) for r in rows("only one machine")}
    assert alone[where + "/only-beta"] == ("beta", 100) and where + "/common" not in alone, alone
    unlike = [r for r in rows("fail on some") if r["path"] == where + "/sometimes"]
    assert [(r["name"], r["fails_on"], r["succeeds_on"]) for r in unlike] == [("openat", ["alpha"], ["gamma"])], unlike
    assert {r["host"] for r in rows("durations of a call")} == {"alpha", "beta", "gamma"}
    small = [r for r in rows("small pieces") if r["path"] == where + "/common"]
    assert [(r["host"], r["process"], r["calls"], r["bytes_per_call"]) for r in small] == [("beta", "dd", 300, 10)], small
    programs = {Path(r["program"]).name: r for r in rows("executed programs")}
    assert programs["cat"]["hosts"] == ["alpha", "beta", "gamma"] and programs["dd"]["hosts"] == ["beta"], programs
    missing = {r["path"]: r["hosts"] for r in rows("no machine found")}
    assert missing.get(where + "/nowhere") == 3 or len(missing) == 20, missing
    written = [r for r in rows("opened for writing") if r["path"] == where + "/out"]
    assert [(r["host"], r["process"], r["times"]) for r in written] == [("beta", "dd", 1)] and "O_CREAT" in written[0]["flags"], written
    assert {"read", "wait4", "clock_nanosleep"} & {r["name"] for r in rows("spent its time")}


def test_duckdb_infers(folder):
    """DuckDB finds the types of the columns by itself, in CSV and in JSON"""
    if not duckdb:
        raise Skip("DuckDB is missing; ./dev test installs it, or: python3 -m pip install duckdb")
    prepare(folder)
    run(folder, "-f", "--record", "a.rec", *PROGRAM, status=3)
    run(folder, "show", "--format=csv", "-o", "a.csv", "a.rec")
    run(folder, "show", "--json", "-o", "a.jsonl", "a.rec")
    database = duckdb.connect(config={"threads": 1})
    types = dict(row[:2] for row in database.execute(f"DESCRIBE SELECT * FROM read_csv('{folder}/a.csv')").fetchall())
    assert list(types) == COLUMNS, types
    for column in ("time_ns", "pid", "tid", "nr", "arch", "result", "duration_ns"):
        assert types[column] == "BIGINT", (column, types)
    assert types["resolved"] == types["unfinished"] == "BOOLEAN" and types["errno"] == "VARCHAR", types
    n, failed = database.execute(f"SELECT count(*), count(errno) FROM read_csv('{folder}/a.csv')").fetchone()
    again = database.execute(f"SELECT count(*), count(errno) FROM read_json('{folder}/a.jsonl') WHERE type = 'call'").fetchone()
    assert (n, failed) == again and n > failed > 0, (n, failed, again)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
