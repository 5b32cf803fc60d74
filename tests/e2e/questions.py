#!/usr/bin/env python3
"""Views that answer a question about a program as a whole (script.py): under each engine, live and from recordings."""
import csv
import io
import json
import subprocess
import sys
from pathlib import Path

from script import SCTRACE, Skip, in_terminal, run_tests, seconds

TIMEOUT = seconds(120)


def works(engine):
    text = subprocess.run([SCTRACE, "--list-engines"], capture_output=True, text=True, check=True).stdout
    return f"{engine:8} " in text and "does not work here" not in text.split(f"{engine:8} ")[1].splitlines()[1]


ENGINES = [e for e in ("ptrace", "patch") if works(e)]


def run(folder, *args, **kw):
    return subprocess.run([SCTRACE, *map(str, args)], cwd=folder, capture_output=True, text=True, check=False, timeout=TIMEOUT,
                          stdin=subprocess.DEVNULL, **kw)


def views(folder, *options, program, status):
    """Yields what the options print as JSON: live under each engine, and for a recording of each engine."""
    for engine in ENGINES:
        done = run(folder, f"--engine={engine}", *options, "--json", "-o", "live.json", *program)
        assert done.returncode == status, (engine, done.returncode, done.stderr)
        yield engine, json.loads((folder / "live.json").read_text())
        done = run(folder, f"--engine={engine}", "-f", "--record", "recording", *program)
        assert done.returncode == status, (engine, done.returncode, done.stderr)
        done = run(folder, "show", *options, "--json", "recording")
        assert done.returncode == 0, done.stderr
        yield engine + ", recorded", json.loads(done.stdout)


SCRIPT = """
sh -c 'exit 3' || true
sh -c 'sh -c "echo first line >&2; echo leaf: error: no such luck >&2; echo last line >&2; exit 5"; exit $?' &
wait $!
"""


def test_tree(folder):
    """--tree: the processes as a tree, and which one made the program fail"""
    for way, run_json in views(folder, "--tree", program=["sh", "-c", SCRIPT], status=5):
        rows = run_json["tree"]["processes"]
        assert [r["depth"] for r in rows] == [0, 1, 1, 2], (way, rows)
        assert [r["exit_status"] for r in rows] == [5, 3, 5, 5], (way, rows)
        assert [r["is_cause"] for r in rows] == [False, False, False, True], (way, rows)
        assert rows[1]["command"] == "sh -c 'exit 3'" and rows[1]["parent"] == rows[0]["pid"], (way, rows)
        assert rows[3]["message"] == "leaf: error: no such luck", (way, rows)
        assert all(r["cpu_s"] > 0 and r["peak_rss_bytes"] > 100000 and 0 < r["wall_s"] < TIMEOUT for r in rows), (way, rows)


def test_tree_signal(folder):
    """--tree: a process that a signal killed, and who sent it; a shell reports 128 and the number of the signal"""
    for way, run_json in views(folder, "--tree", program=["sh", "-c", "sh -c 'kill -TERM $$'; exit $?"], status=143):
        rows = run_json["tree"]["processes"]
        assert rows[1]["killed_by"] == "SIGTERM" and rows[1]["exit_status"] is None and rows[1]["is_cause"], (way, rows)
        assert rows[1]["reason"] == "sent by the process itself", (way, rows)


def test_tree_formats(folder):
    """--tree as text, csv, markdown and html, on a narrow terminal, in a pipe, and in a saved run"""
    program = ["sh", "-c", SCRIPT]
    done = run(folder, "--record", "recording", "-f", *program)
    assert done.returncode == 5, done.stderr
    text = run(folder, "show", "--tree", "recording").stdout
    assert "exit 5 (cause)" in text and "MiB    sh -c 'exit 3'" in text and "error: no such luck" in text and "\033" not in text, text
    assert "no call completed" not in text and "engine:" not in text, text
    rows = list(csv.DictReader(io.StringIO(run(folder, "show", "--tree", "--format=csv", "recording").stdout)))
    assert [r["depth"] for r in rows] == ["0", "1", "1", "2"] and rows[3]["is_cause"] == "true", rows
    for form in ("markdown", "html"):
        assert "no such luck" in run(folder, "show", "--tree", f"--format={form}", "recording").stdout, form
    for width in (80, 60):
        status, shown = in_terminal(width, "show", "--tree", folder / "recording")
        assert status == 0 and max(map(len, shown.splitlines())) <= width, shown
        assert "exit 5 (cause)" in shown and "sh -c 'exit 3'" in shown, shown
    assert run(folder, "show", "--tree", "--save", "run.json", "recording").stdout == text
    assert run(folder, "report", "run.json").stdout == text


def test_tree_make(folder):
    """--tree: a failing leaf of make -j8"""
    if subprocess.run(["sh", "-c", "command -v make"], capture_output=True, check=False).returncode:
        raise Skip("there is no make")
    leaf = "\t@sh -c 'test $@ != 5 || { echo leaf $@ failed >&2; exit 9; }'\n"
    (folder / "Makefile").write_text("all: 1 2 3 4 5 6 7 8\n1 2 3 4 5 6 7 8:\n" + leaf)
    for engine in ENGINES:
        text = run(folder, f"--engine={engine}", "--tree", "make", "-j8").stderr
        assert "exited with 9." in text and "Its message: leaf 5 failed" in text, text


def test_tree_attached(folder):
    """--tree -p: the tree of a running process"""
    for engine in ENGINES:
        with subprocess.Popen(["sh", "-c", "read line; sh -c 'exit 3'; exit 4"], stdin=subprocess.PIPE) as p:
            with subprocess.Popen([SCTRACE, f"--engine={engine}", "--tree", "--json", "-p", str(p.pid)], stderr=subprocess.PIPE,
                                  text=True) as tracer:
                assert "attached" in tracer.stderr.readline()
                p.stdin.write(b"\n")
                p.stdin.close()
                rows = json.loads(tracer.stderr.read())["tree"]["processes"]
        assert [(r["command"], r["exit_status"]) for r in rows] == [("sh", 4), ("sh -c 'exit 3'", 3)], rows


if __name__ == "__main__":
    sys.exit(run_tests(dict(globals())))
