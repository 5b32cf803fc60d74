#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Checks the rules of the sources: which folder may use which other folder (tests/lint/folders), no cycles between files,
the map in main.c, the index of files in docs/internals.md, the names of public functions, the length of files and
functions. Usage: source.py ROOT BUILD. Prints TAP; recommendations are printed as comments.
"""
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from checks import run_checks

# Calls that may form a cycle between files, with the reason. A line that is no longer needed fails the check.
RECURSION = {
    ("decode/show.c", "decode/kinds.c"): "a kind's function shows its parts through the table of kinds",
}

PROCESSORS = ("aarch64", "x86_64")  # the folders that each implement src/engine/patch for one processor

# What only they may name: registers, instructions, and requests of ptrace(2) and libraries that other processors lack.
PROCESSOR_WORDS = (
    r"[re][a-d]x", r"[re][sd]i", r"[re][sb]p", "rip", r"r(?:8|9|1[0-5])", "orig_rax", "eflags", r"[fg]s[_ ]base", "int3",
    "jmp", "jcc", "jrcxz", "lea", "mov", "nop", "lfence", "mfence", r"(?:__)?rdtsc", "RDFSBASE", "cpuid", "x86intrin",
    r"PTRACE_[GS]ETREGS", r"\w*arch_prctl(?!\()", "ARCH_SET_FS", "AUDIT_ARCH_X86_64", r"Zydis\w*", "0x0f", "0xcc",
    r"__builtin_ia32_\w+", "Intel",
)

# How public functions begin whose name has no word of their file or folder (CONTRIBUTING.md), and where all of them are.
PREFIXES = {
    "show": "decode/",  # shows a value of a kind; the kinds.def of the name begins every such function so
    "when": "decode/",  # whether an argument is shown only after the call
    "sockopt": "decode/net.c",
    "vfork_frame": "engine/patch/image/per_thread.c",  # one of the records that an image keeps for each thread
    "waits": "engine/patch/image/per_thread.c",  # another one of these
    "resume_point": "engine/patch/image/site.c",
    "seccomp": "engine/patch/arm/arm.c",  # what the kernel calls the two ways of intercepting calls
    "sud": "engine/patch/arm/arm.c",
    "exec": "engine/patch/children.c",  # after execve(2), a process is a new one
    "detach": "engine/patch/patch_attach.c",  # the opposite of attach
    "core": "engine/patch/threads/withdraw.c",  # core dumps, before which the engine leaves the process
    "kept": "engine/costs.c",  # files that are kept until the next boot
    "suite": "bench/loads.c",  # the suite of system calls, one of the loads
    "cache": "measure/work.c",  # the page cache
    "boot": "stats/change.c",  # the bootstrap, a method of statistics
    "frame": "out/axis.c",  # the part of a chart around its axes
    "markdown": "out/html.c",  # the same texts for Markdown as for HTML
    "draw": "present/",  # the pictures of a page
    "cell": "present/page.c",  # the cells of the tables of a page
    "machine": "present/differences.c",  # machines and the differences between them
    "number": "base/size.c",  # numbers with units, like sizes
    "count": "base/size.c",
    "duration": "base/size.c",
    "factor": "base/size.c",
    "vec": "base/memory.c",  # vectors, whose other functions are macros
}

# Files with variables that can change and live as long as the process. Everything else is an argument.
VARIABLES = {
    "base/memory.c": "what a fuzzer or test does if memory runs out",
    "base/ptrace.c": "why the kernel refuses ptrace(2), which does not change",
    "syscall/call_table.c": "tables that are filled once",
    "decode/flags.c": "a table that is filled once",
    "decode/decode.c": "a table that is filled once",
    "stack/libunwind.c": "libraries that are loaded once",
    "stack/unwind.c": "a library that is loaded once",
    "engine/patch/arm/arm.c": "what the kernel supports, which does not change",
    "engine/patch/arm/watchdog.c": "a process of its own, with one purpose",
    "engine/patch/remote/remote.c": "open files of /proc, which are limited for the whole process",
    "engine/patch/image/per_thread.c": "the contents of a section",
    "out/width.c": "a locale that is loaded once",
    "measure/sample.c": "a buffer whose contents nobody needs",
    "bench/stop.c": "set by a handler of signals",
    "bench/switch_kinds.c": "two stacks of a thread, which assembler code changes",
    "cmd/trace/signals.c": "set by a handler of signals",
}

README_COLUMNS = 100  # of a table or an example in README.md
FILE_LINES = 600  # a longer file is refused, except tables (.def)
FUNCTION_LINES = 80  # a longer function is refused
FUNCTION_ADVICE = 45  # a longer function is named in a comment

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def folders(root):
    """tests/lint/folders: {folder: folders it may use}, in the order of the file."""
    lines = (root / "tests/lint/folders").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(":") for line in lines if line and not line.startswith("#"))
    return {name: used.split() for name, used in pairs}


def folder_of(path, src, listed):
    """The entry of the list for a file: that of the file, or else that of its folder."""
    own = str(path.relative_to(src))
    return own if own in listed else str(path.relative_to(src).parent)


def cycle(graph):
    """One cycle of {node: nodes it uses} as a list that ends where it begins, or None."""
    done = set()
    for start in sorted(graph):
        way, left = [start], [iter(sorted(graph[start]))]
        while way:
            node = next(left[-1], None)
            if node is None:
                left.pop()
                done.add(way.pop())
            elif node in way:
                return way[way.index(node):] + [node]
            elif node not in done:
                way.append(node)
                left.append(iter(sorted(graph.get(node, ()))))
    return None


def resolve(path, name, src):
    """The file that `#include "name"` in `path` refers to: beside it, or from src/."""
    for base in (path.parent, src):
        if (base / name).is_file():
            return (base / name).resolve()
    return None


def sources(src, *endings):
    return sorted(path for path in src.rglob("*") if path.suffix in endings)


def check_folders(root):
    """Each file includes only what the list allows for its folder."""
    src = (root / "src").resolve()
    listed = folders(root)
    for path in sources(src, ".c", ".h", ".S"):
        user = folder_of(path, src, listed)
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            target = resolve(path, name, src)
            if target is None or src not in target.parents:
                continue  # a generated header, or a header of a library
            used = folder_of(target, src, listed)
            if used != user and used not in listed.get(user, ()):
                yield f"{path.relative_to(root)} includes \"{name}\": {user} may not use {used} (tests/lint/folders)"


def check_list(root):
    """The list names exactly the folders with sources, and each uses only folders below it."""
    src = (root / "src").resolve()
    listed = folders(root)
    there = {folder_of(path, src, listed) for path in sources(src, ".c", ".h", ".S")}
    for name in sorted(there - listed.keys()):
        yield f"src/{name} is not in tests/lint/folders"
    for name in sorted(listed.keys() - there):
        yield f"tests/lint/folders names {name}, which is not in src/"
    names = list(listed)
    for name, uses in listed.items():
        for used in uses:
            if used not in names[names.index(name) + 1:]:
                yield f"tests/lint/folders: {name} uses {used}, which does not stand below it"


def symbols(root, build):
    """Yields the symbols of the objects of the build: (file, name, class of nm(1), section)."""
    files = {"_".join(path.relative_to(root).parts): str(path.relative_to(root / "src"))
             for path in sources(root / "src", ".c", ".S")}
    nm = subprocess.run(["nm", "--format=sysv", build / "libsctrace.a"], capture_output=True, text=True, check=False)
    file = None
    for line in nm.stdout.splitlines():
        words = [word.strip() for word in line.split("|")]
        if line.endswith(":"):
            file = files.get(line[:-1].rsplit("/", 1)[-1].removesuffix("]").rsplit("[", 1)[-1].removesuffix(".o"))
        elif file and len(words) == 7:
            yield file, words[0], words[2], words[6]


def uses(root, build):
    """The symbols that the objects of the build define and use: ({symbol: file}, {file: symbols})."""
    defined, used = {}, {}
    for file, name, kind, _ in symbols(root, build):
        if kind == "U":
            used.setdefault(file, set()).add(name)
        elif kind.isupper():
            defined[name] = file
    return defined, used


def check_cycles(root, build):
    """No file uses, directly or through others, a file that uses it, according to the objects' symbols."""
    defined, used = uses(root, build)
    if not defined:
        yield f"{build / 'libsctrace.a'} has no symbols; build sctrace first"
    graph = {file: {defined[name] for name in names if name in defined} - {file} for file, names in used.items()}
    for user, target in RECURSION:
        graph.get(user, set()).discard(target)
    found = cycle(graph)
    if found:
        for user, target in zip(found, found[1:]):
            names = sorted(name for name in used[user] if defined.get(name) == target)
            yield f"src/{user} uses {', '.join(names)} of src/{target}"
        yield f"these {len(found) - 1} files form a cycle"
    for user, target in RECURSION:
        with_it = {**graph, user: graph.get(user, set()) | {target}}
        if not any(defined.get(name) == target for name in used.get(user, ())) or not cycle(with_it):
            yield f"src/{user} no longer closes a cycle by src/{target}: take it off the list in tests/lint/source.py"


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
    """The map at the top of main.c names the same folders as the list, in the same order."""
    text = (root / "src/main.c").read_text(encoding="utf-8")
    named = re.findall(r"^ \*   ([\w/.]+?)/?  ", text.split("*/")[1], re.MULTILINE)  # the first comment is the licence
    listed = list(folders(root))
    for name in sorted(set(listed) - set(named)):
        yield f"src/main.c: the map does not name {name}"
    for name in sorted(set(named) - set(listed)):
        yield f"src/main.c: the map names {name}, which is not in tests/lint/folders"
    if set(named) == set(listed) and named != listed:
        yield "src/main.c: the map is not in the order of tests/lint/folders"


def check_index(root):
    """The index in docs/internals.md has a line for each file with code, and its folders are in the order of the list."""
    src = root / "src"
    text = (root / "docs/internals.md").read_text(encoding="utf-8")
    section = re.search(r"^## The files$.*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if not section:
        yield "docs/internals.md: there is no section 'The files'"
        return
    groups, named = [], []
    for folder, name in re.findall(r"^### `([\w/]+)/`$|^- `([\w.]+)`: ", section[0], re.MULTILINE):
        if folder:
            groups.append(folder)
        else:
            named.append("/".join(groups[-1:] + [name]))
    there = {str(path.relative_to(src)) for path in sources(src, ".c", ".S", ".def", ".inc", ".h")
             if path.suffix != ".h" or not path.with_suffix(".c").is_file()}
    for name in sorted(there - set(named)):
        yield f"docs/internals.md: the section 'The files' says nothing about {name}"
    for name in sorted({name for name in named if name not in there or named.count(name) > 1}):
        yield f"docs/internals.md: the section 'The files' names {name}, which does not exist, needs no line, or is there twice"
    if groups != [name for name in folders(root) if (src / name).is_dir()]:
        yield "docs/internals.md: the folders of the section 'The files' are not those of tests/lint/folders, in its order"


def check_file_length(root):
    for folder in ("src", "examples", "tests"):
        for path in sources(root / folder, ".c", ".h"):
            lines = path.read_text(encoding="utf-8").count("\n") - 1  # without that of the licence
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
    """No trailing blanks, no control bytes except tab and newline, and a newline at the end."""
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
    """The table in tests/e2e/README.md names every case and no others."""
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


def processor_words(text):
    """(line, word) of each word in the text that only the folder of a processor may contain."""
    for m in re.finditer(rf"\b(?:{'|'.join(PROCESSOR_WORDS)})\b", text):
        yield text.count("\n", 0, m.start()) + 1, m[0]


def check_processor(root):
    """In src/engine/patch, only the folders of processors name registers and instructions. The others use cpu.h."""
    folder = root / "src/engine/patch"
    theirs = ""
    for path in sources(folder, ".c", ".h", ".S", ".inc"):
        text = path.read_text(encoding="utf-8")
        if path.parent.name in PROCESSORS:
            theirs += text
            continue
        for line, word in processor_words(text):
            yield f"{path.relative_to(root)}:{line}: '{word}' belongs to a processor; use a name of engine/patch/cpu.h"
    # The check itself: a word of the list that is found nowhere may be misspelt, and a name of cpu.h is not a finding.
    for word in PROCESSOR_WORDS:
        if not re.search(rf"\b(?:{word})\b", theirs):
            yield f"tests/lint/source.py: no file in the folders of processors contains '{word}'"
    sample = "r->rip += 2; r.CPU_IP = s->stub; call(r8, &r11); /* lea -60(%rax) */"
    if [word for _, word in processor_words(sample)] != ["rip", "r8", "r11", "lea", "rax"]:
        yield "tests/lint/source.py: processor_words() does not find the words in its sample"


def check_names_of_tests(root):
    """No two functions of a script have the same name: Python would run only the last of two tests."""
    for path in sorted((root / "tests").rglob("*.py")):
        names = re.findall(r"^def (\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f"{path.relative_to(root)}: two functions have the name {name}"


def check_base_names(root):
    """No two modules have the same name, so that a name says where to look. Those of the processors implement other headers."""
    places = {}
    for path in sources(root / "src", ".c", ".h", ".S"):
        if path.parent.name not in PROCESSORS:
            places.setdefault(path.stem, set()).add(str(path.parent.relative_to(root)))
    for name, where in sorted(places.items()):
        if len(where) > 1:
            yield f"{name} is the name of a file in {' and in '.join(sorted(where))}"


def check_licence(root):
    """Each source file names its licence at the top, so that the file can be copied alone."""
    for folder in ("src", "tests", "examples", "docs", "packaging"):
        for path in sources(root / folder, ".c", ".h", ".S", ".inc", ".def", ".py", ".sh"):
            lines = path.read_text(encoding="utf-8").splitlines()
            if not any("SPDX-License-Identifier: MIT" in line for line in lines[:2]):
                yield f"{path.relative_to(root)}: the first line is not /* SPDX-License-Identifier: MIT */, or the second not # SPDX-..."


def numbers(word):
    """The word in the singular and in the plural."""
    return {word, word.removesuffix("s"), word.removesuffix("es"), word + "s"}


def own_prefixes(path, structs):
    """How a public function of the file may begin: with a word of its file or folders, or with a struct of its folder."""
    names = [path.stem, *path.parts[:-1]]
    words = names + [word for name in names for word in name.split("_")]
    words += [word for name in structs.get(path.parent, ()) for word in (name, name.split("_")[0])]
    return {form for word in words for form in numbers(word)}


def begins_with(name, prefixes):
    parts = name.split("_")
    return any("_".join(parts[:n]) in prefixes for n in range(1, len(parts) + 1))


def check_prefixes(root, build):
    """The name of a public function says where the function is, by itself or by the list of prefixes."""
    structs, needed, built = {}, set(), set()
    for path in sources(root / "src", ".h"):
        for name in re.findall(r"^struct (\w+) \{", path.read_text(encoding="utf-8"), re.MULTILINE):
            structs.setdefault(path.parent.relative_to(root / "src"), set()).add(name)
    for file, name, kind, _ in symbols(root, build):
        built.add(file)
        if kind != "T" or begins_with(name, own_prefixes(Path(file), structs)):
            continue
        found = {prefix for prefix, place in PREFIXES.items() if begins_with(name, {prefix}) and file.startswith(place)}
        needed |= found
        if not found:
            yield f"src/{file}: {name}() begins with no word of its file or folder; rename it, or list its prefix"
    for prefix in sorted(set(PREFIXES) - needed):
        if any(file.startswith(PREFIXES[prefix]) for file in built):
            yield f"tests/lint/source.py: no function of {PREFIXES[prefix]} needs the prefix {prefix}"


def check_variables(root, build):
    """Variables that can change and live as long as the process are listed, with the reason."""
    every = list(symbols(root, build))
    found = {file for file, _, kind, section in every
             if kind in "bBdDC" and section in {".bss", ".data", ".tbss", ".tdata", "*COM*"}}
    for file in sorted(found - set(VARIABLES)):
        yield f"src/{file} has a variable that lives as long as the process; pass it as an argument, or give the reason in VARIABLES"
    for file in sorted(set(VARIABLES) & {file for file, *_ in every} - found):
        yield f"tests/lint/source.py: src/{file} no longer has such variables"


def check_mentions(root):
    """The files that the documents for contributors, and the list of false reports, mention exist."""
    known = ["/" + str(path.relative_to(root)) for path in root.glob("[!b]*/**/*.*")]
    for document in ("CONTRIBUTING.md", "docs/internals.md"):
        text = (root / document).read_text(encoding="utf-8")
        for name in sorted(set(re.findall(r"`([\w./]+\.(?:c|h|S|def|inc|py))`", text))):
            if "thing" not in name and not any(path.endswith("/" + name) for path in known):
                yield f"{document} mentions {name}, which does not exist"
    for line in (root / "tests/lint/analyzer.known").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#") and not (root / line.split()[0]).is_file():
            yield f"tests/lint/analyzer.known names {line.split()[0]}, which does not exist"


def check_readme(root):
    """README.md fits on a screen of 100 columns, except for its prose, and docs/images/make.py makes its pictures."""
    text = (root / "README.md").read_text(encoding="utf-8")
    made = re.findall(r'"(\w+\.svg)"', (root / "docs/images/make.py").read_text(encoding="utf-8"))
    shown = re.findall(r"!\[[^]]*\]\(docs/images/([^)]*)\)", text)
    for name in sorted(set(made) ^ set(shown) | {name for name in shown if not (root / "docs/images" / name).is_file()}):
        yield f"{name} is not made by docs/images/make.py, not in docs/images, or not shown by README.md"
    for part in re.findall(r"^```.*?^```|^\|[^\n]*$", text, re.DOTALL | re.MULTILINE):
        for line in part.split("\n"):
            if len(line) > README_COLUMNS:
                yield f"README.md: {len(line)} columns, at most {README_COLUMNS}: {line}"


CHECKS = [
    ("folders use what the list of folders allows", check_folders),
    ("the list of folders is complete, and folders use only what is below them", check_list),
    ("the map in main.c follows the list", check_map),
    ("the index of files is complete", check_index),
    ("files form no cycle by calls", lambda root: check_cycles(root, Path(sys.argv[2]))),
    ("a file includes its own header first", check_own_header_first),
    ("every file has a name of its own", check_base_names),
    ("public functions have the prefix of their place", lambda root: check_prefixes(root, Path(sys.argv[2]))),
    ("variables of the process are listed", lambda root: check_variables(root, Path(sys.argv[2]))),
    ("only a processor's folder names registers and instructions", check_processor),
    ("documents mention files that exist", check_mentions),
    ("README.md shows pictures that exist, and narrow tables", check_readme),
    ("files are short", check_file_length),
    ("functions are short", check_function_length),
    ("text files are clean", check_control_bytes),
    ("every promise has its cases", check_promises),
    ("every function of a script has its own name", check_names_of_tests),
    ("source files name their licence", check_licence),
]


if __name__ == "__main__":
    sys.exit(run_checks(CHECKS, Path(sys.argv[1]).resolve()))
