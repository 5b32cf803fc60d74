#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Runs gcc -fanalyzer on all files of src/ and examples/ that the build compiles. It is slow, so only `./dev lint` runs
it. usage: analyzer.py SOURCE_ROOT BUILD_ROOT. analyzer.known lists false reports, one in each line: file, function,
kind. A new report is a failure, and so is a line of the list that is no longer reported.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

GCC = 12  # the list has the reports of this version; other versions give other false reports


def skip(why):
    print(f"skipped: {why}")
    sys.exit(1 if os.environ.get("SCTRACE_MUST_WORK") == "1" else 77)


def commands(root, build):
    """(source, command line) for each file, as gcc would compile it without output."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        if not path.is_relative_to(root) or path.suffix != ".c" or path.relative_to(root).parts[0] not in ("src", "examples"):
            continue
        words, keep = shlex.split(entry["command"]), []
        words = words[2:] if Path(words[0]).name == "ccache" else words[1:]
        while words:
            word = words.pop(0)
            if word in ("-o", "-MF", "-MQ"):
                words.pop(0)
            elif word not in ("-MD", "-c", entry["file"]) and not word.startswith(("-W", "-fsanitize")):
                keep.append(word)
        yield path.relative_to(root), entry["directory"], ["gcc", *keep, "-fanalyzer", "-fdiagnostics-format=json", "-c",
                                                           "-o", "/dev/null", str(path)]


def reports(job):
    """Returns each report about a file: its line in analyzer.known, and a description of its place."""
    path, directory, command = job
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [(f"{path} - does not compile", done.stderr[-2000:])]
    found = []
    for line in filter(None, done.stderr.splitlines()):
        for d in json.loads(line):
            if not d.get("option", "").startswith("-Wanalyzer"):
                continue
            functions = [event["function"] for event in d.get("path", []) if "function" in event]
            caret = d["locations"][0]["caret"] if d["locations"] else {"file": str(path), "line": 0}
            found.append((f"{path} {functions[-1] if functions else '-'} {d['option']}",
                          f"{os.path.relpath(os.path.join(directory, caret['file']), Path(directory).parent)}:{caret['line']}: "
                          f"{d['message']}"))
    return found


def main():
    root, build = (Path(a).resolve() for a in sys.argv[1:3])
    if not shutil.which("gcc"):
        skip("gcc is not here")
    version = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.split(".")[0]) != GCC:
        skip(f"the list of what is known to be false is gcc {GCC}'s, and this is gcc {version}")
    listed = (Path(__file__).parent / "analyzer.known").read_text().splitlines()
    known = {line for line in listed if line and not line.startswith("#")}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(pair for some in pool.map(reports, commands(root, build)) for pair in some)
    new, gone = sorted(set(found) - known), sorted(known - set(found))
    for name in new:
        print(f"{name}\n    {found[name]}")
    for name in gone:
        print(f"analyzer.known: no longer reported: {name}")
    return bool(new or gone)


if __name__ == "__main__":
    sys.exit(main())
