#!/usr/bin/env python3
"""Holds the sources to the house rules: who may include whom, the map in main.c, the length of files and functions.

Usage: source.py ROOT. Prints TAP; a rule that is only a recommendation prints as a comment.
"""
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

# The floors of the house, from the top. A file may include what lies in its own folder or on any floor below; folders
# on one floor do not know each other.
FLOORS = [
    {"main"},
    {"cmd"},
    {"bench", "trace", "compare"},
    {"measure", "strategy"},
    {"engine", "run", "out", "cli"},
    {"stats", "decode", "stack"},
    {"tracee", "arch", "syscall"},
    {"base"},
]
# Headers of plain data directly in src/, and what they may include.
SHARED = {"event.h": {"base"}}
# Headers that a neighbour may see, and why.
SEAMS = {
    ("arch", "tracee/mem.h"): "a signal's frame is read through the seam for memory",
}

FILE_LINES = 600  # beyond this a file is refused; tables (.def) aside
FUNCTION_LINES = 80  # beyond this a function is refused,
FUNCTION_ADVICE = 45  # beyond this it is named

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
FLOOR_OF = {name: index for index, names in enumerate(FLOORS) for name in names}


def folder_of(path, src):
    """The folder a file belongs to: `engine` for engine/ptrace/ptrace.c, `main` for main.c, `event.h` for itself."""
    parts = path.relative_to(src).parts
    if len(parts) > 1:
        return parts[0]
    return "main" if parts[0] == "main.c" else parts[0]


def resolve(path, name, src):
    """The file that `#include "name"` in `path` means: beside it, or from src/."""
    for base in (path.parent, src):
        if (base / name).is_file():
            return (base / name).resolve()
    return None


def allowed(user, used):
    if user == used or used in SHARED:
        return True
    if user in SHARED:
        return used in SHARED[user]
    if user not in FLOOR_OF or used not in FLOOR_OF:
        return False
    return FLOOR_OF[user] < FLOOR_OF[used]


def sources(src, *endings):
    return sorted(path for path in src.rglob("*") if path.suffix in endings)


def check_layering(root):
    src = (root / "src").resolve()
    for path in sources(src, ".c", ".h"):
        user = folder_of(path, src)
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            target = resolve(path, name, src)
            if target is None or src not in target.parents:
                continue  # generated, or of a library
            used = folder_of(target, src)
            if not allowed(user, used) and (user, str(target.relative_to(src))) not in SEAMS:
                yield f"{path.relative_to(root)} includes \"{name}\": {user} may not call {used}"


def check_own_header_first(root):
    src = (root / "src").resolve()
    for path in sources(src, ".c"):
        own = path.with_suffix(".h")
        if not own.is_file():
            continue
        first = INCLUDE.search(path.read_text(encoding="utf-8"))
        if not first or resolve(path, first.group(1), src) != own:
            yield f"{path.relative_to(root)} does not include its own header first"


def check_map(root):
    """The map at the top of main.c names every folder of src/ and no other."""
    text = (root / "src/main.c").read_text(encoding="utf-8")
    named = set(re.findall(r"^ \*   (\w+)/", text.split("*/")[0], re.MULTILINE))
    there = {path.name for path in (root / "src").iterdir() if path.is_dir()}
    for name in sorted(there - named):
        yield f"src/main.c: the map does not name {name}/"
    for name in sorted(named - there):
        yield f"src/main.c: the map names {name}/, which is not there"


def check_floors(root):
    """Every folder of src/ has its floor in the table above."""
    for path in sorted((root / "src").iterdir()):
        if path.is_dir() and path.name not in FLOOR_OF:
            yield f"src/{path.name}/ has no floor in tests/lint/source.py"


def check_file_length(root):
    for folder in ("src", "examples", "tests"):
        for path in sources(root / folder, ".c", ".h"):
            lines = path.read_text(encoding="utf-8").count("\n")
            if lines > FILE_LINES:
                yield f"{path.relative_to(root)}: {lines} lines; split it (at most {FILE_LINES})"


def functions(path):
    """Yields (name, lines) of each function: from the brace in column one to the closing one."""
    name, start = None, None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        called = re.match(r"^[A-Za-z_].*?(\w+)\(", line)
        if called:
            name = called.group(1)
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            yield name, number - start - 1
            start = None


def check_function_length(root):
    for folder in ("src", "examples"):
        for path in sources(root / folder, ".c"):
            for name, lines in functions(path):
                where = f"{path.relative_to(root)}: {name}() has {lines} lines"
                if lines > FUNCTION_LINES:
                    yield f"{where}; at most {FUNCTION_LINES}"
                elif lines > FUNCTION_ADVICE:
                    print(f"# {where}; about 40 read better")


def check_control_bytes(root):
    """No trailing blanks, no control bytes but tab and newline, a newline at the end."""
    for folder in ("src", "examples", "tests", "man"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".c", ".h", ".def", ".py", ".sh", ".build", ".1", ".5", ".7"}:
                continue
            text = path.read_text(encoding="utf-8")
            if re.search(r"[ \t]+$", text, re.MULTILINE):
                yield f"{path.relative_to(root)}: blanks at the end of a line"
            if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text):
                yield f"{path.relative_to(root)}: control bytes"
            if text and not text.endswith("\n"):
                yield f"{path.relative_to(root)}: no newline at the end"


def check_promises(root):
    """The table of promises in tests/e2e names every case and no other."""
    listed = subprocess.run([sys.executable, root / "tests/e2e/run", "--list"], capture_output=True, text=True, check=True)
    cases = [line.split()[1] for line in listed.stdout.splitlines()]
    text = (root / "tests/e2e/README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z0-9]+-[a-z0-9*-]*)`", text))
    for pattern in sorted(named):
        if not any(fnmatchcase(case, pattern) for case in cases):
            yield f"tests/e2e/README.md names {pattern}, which is no case"
    for case in cases:
        if not any(fnmatchcase(case, pattern) for pattern in named):
            yield f"tests/e2e/README.md does not name the case {case}"


CHECKS = [
    ("calls go down only", check_layering),
    ("every folder has its floor", check_floors),
    ("the map in main.c is true", check_map),
    ("a file includes its own header first", check_own_header_first),
    ("files are short", check_file_length),
    ("functions are short", check_function_length),
    ("text files are clean", check_control_bytes),
    ("every promise has its cases", check_promises),
]


def main():
    root = Path(sys.argv[1]).resolve()
    print(f"1..{len(CHECKS)}")
    failed = 0
    for number, (name, check) in enumerate(CHECKS, 1):
        found = list(check(root))
        for line in found:
            print(f"# {line}")
        print(f"{'not ok' if found else 'ok'} {number} - {name}")
        failed += bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
