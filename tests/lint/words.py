#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Looks for words that this project does not use, in text for users (manual pages, *.md, strings of the program) and in comments.
Usage: words.py ROOT BUILD. Prints TAP. CONTRIBUTING.md describes how texts are written.
"""
import re
import sys
from pathlib import Path

from checks import run_checks

# Pattern: what to write instead. Letter case is ignored.
WORDS = {
    r"\b(?:is|are|was|were) no (?!longer\b)\w+": "'is not a', or 'must be a'",
    r"\b(?:process|program|thread|task|child|parent|tracee|tracer|handler) who\b": "'that', or the noun",
    r"\bwhom\b": "the noun",
    r"\b(?:is|are|be|been|was|were) told\b(?! apart| to )": "'reported', or who says what to whom",
    r"\b(?:born|bore)\b": "'created', 'child'",
    r"\blent\b": "'shared', 'passed'",
    r"\bin vain\b": "'without a result', 'not found'",
    r"\blets? go of\b": "'detach from', 'release'",
    r"\b(?:what|that) is ours\b": "name the thing",
    r"\bas (?:it|they) (?:likes?|pleases?)\b": "say what it does",
    r"\b(?:do|does|did|is|are|was|were|has|have|had|ca|wo|would|could|should|must)n't\b": "no contractions",
    r"\b(?:it|that|there|what|let|here|who)'s\b": "no contractions",
    r"\b(?:they|we|you)'(?:re|ve|ll)\b": "no contractions",
    r"\b(?:behavior|analyzed?|favor|honor)\b": "British spelling",
}
ALLOWED = re.compile(r"`[^`]*`|\bthere\s+(?:is|are|was|were) no\b", re.IGNORECASE)  # permitted: quoted code, and "there is no"

C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def findings(text):
    """(line, words, advice) of each word of the list. Line breaks count as blanks."""
    kept = ALLOWED.sub(lambda m: re.sub(r"[^\n]", "_", m[0]), text)
    flat = kept.replace("\n", " ")
    for pattern, advice in WORDS.items():
        for m in re.finditer(pattern, flat, re.IGNORECASE):
            yield text.count("\n", 0, m.start()) + 1, m[0], advice


def report(path, root, text, first_line=1):
    for line, words, advice in findings(text):
        yield f"{path.relative_to(root)}:{first_line + line - 1}: '{words}': write {advice}"


def check_documents(root):
    for path in sorted([*root.glob("*.md"), *(root / "man").glob("*.[1-8]")]):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"^```.*?^```", lambda m: re.sub(r"[^\n]", "_", m[0]), text, flags=re.DOTALL | re.MULTILINE)
        yield from report(path, root, text)


def tokens(path):
    """(first line, token) of each comment and string of a C file. Adjacent strings are one token."""
    source = path.read_text(encoding="utf-8")
    joined, end = None, 0
    for m in C_TOKEN.finditer(source):
        if m[0][0] == '"' and joined and source[end : m.start()].strip() == "":
            joined = (joined[0], joined[1][:-1] + m[0][1:])
        else:
            if joined:
                yield joined
            joined = (source.count("\n", 0, m.start()) + 1, m[0])
        end = m.end()
    if joined:
        yield joined


def c_files(root, *folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".c", ".h", ".def", ".inc", ".S"}:
                yield path


def check_strings(root):
    for path in c_files(root, "src"):
        for line, token in tokens(path):
            if token[0] == '"' and " " in token:
                yield from report(path, root, token, line)


def check_comments(root):
    for path in c_files(root, "src", "examples", "tests"):
        for line, token in tokens(path):
            if token[0] == "/":
                yield from report(path, root, re.sub(r"\n[ \t]*\*", lambda m: "\n" + " " * (len(m[0]) - 1), token), line)


CHECKS = [
    ("manual pages and documents use the words of the project", check_documents),
    ("strings use the words of the project", check_strings),
    ("comments use the words of the project", check_comments),
]


if __name__ == "__main__":
    sys.exit(run_checks(CHECKS, Path(sys.argv[1]).resolve()))
