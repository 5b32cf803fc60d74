#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Makes the pictures of README.md from real runs (./dev pictures). sctrace draws the charts itself; this script draws what
two commands print on a terminal. Usage: make.py BUILD DIR. Run it on a machine that does nothing else.
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import textwrap
from html import escape
from pathlib import Path

COLUMNS = 100  # of the terminal
LETTER, LINE, MARGIN = 7.8, 18, 14  # pixels

OPERATIONS = ("getpid", "write-null", "read-file", "stat", "open-close", "pipe", "mmap", "page-fault", "signal", "thread", "vfork",
              "fork", "fork-exec")

# The same colours as in src/out/svg.c. Browsers choose by the setting of the reader.
STYLE = """<style>
text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:13px;white-space:pre;fill:#1c2024}
.bg{fill:#fff}.m{fill:#5f6b76}.b{font-weight:600}.c31{fill:#b3261e}.c33{fill:#8a6100}
@media screen and (prefers-color-scheme:dark){
text{fill:#e6e9ec}.bg{fill:#14171a}.m{fill:#9aa5b0}.c31{fill:#ff8a80}.c33{fill:#f0c04a}
}
</style>
"""


def on_terminal(command, folder):
    """What `command` prints on a terminal of COLUMNS columns: the text with its escape sequences."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=child) as program:
        os.close(child)
        text = b""
        try:
            while piece := os.read(parent, 65536):
                text += piece
        except OSError:  # EIO: the program has ended
            pass
    os.close(parent)
    if program.returncode:
        sys.exit(f"{command}: exit status {program.returncode}\n{text.decode()}")
    return text.decode().replace("\r", "")


def runs(line):
    """(column, text, class) of each part of a line that has one look."""
    column, look = 0, ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            codes = part[2:-1].split(";")
            look = " ".join("b" if code == "1" else f"c{code}" for code in codes if code not in ("", "0"))
        elif part:
            yield column, part, look
            column += len(part)


def screen(title, words, text):
    """An SVG of a terminal on which the command `words` printed `text`."""
    typed = textwrap.wrap(f"$ {words}", COLUMNS - 4, break_on_hyphens=False)
    lines = [line + " \\" for line in typed[:-1]] + typed[-1:] + text.rstrip("\n").split("\n")
    width, height = COLUMNS * LETTER + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
           f'viewBox="0 0 {width:.0f} {height:.0f}">\n<title>{escape(title)}</title>\n{STYLE}'
           '<rect class="bg" width="100%" height="100%"/>\n']
    for number, line in enumerate(lines):
        for column, part, look in runs(line):
            x, y = MARGIN + column * LETTER, MARGIN + (number + 0.75) * LINE
            look = look if number >= len(typed) else "m"
            # textLength keeps the columns in line whatever font the reader has.
            out.append(f'<text x="{x:.1f}" y="{y:.1f}"' + (f' class="{look}"' if look else "") +
                       f' textLength="{len(part) * LETTER:.1f}" xml:space="preserve">{escape(part)}</text>\n')
    return "".join(out) + "</svg>\n"


def main(build, images):
    sctrace = build / "sctrace"
    with tempfile.TemporaryDirectory() as folder:
        for name, size in (("in", 1 << 20), ("data", 16 << 20)):
            (Path(folder) / name).write_bytes(bytes(range(256)) * (size // 256))

        def draw(name, title, words):
            command = [sctrace if word == "sctrace" else word for word in words.split()]
            (images / name).write_text(screen(title, words, on_terminal(command, folder)), encoding="utf-8")

        def chart(name, *words):
            subprocess.run([sctrace, *words, f"--svg={images / name}"], check=True, cwd=folder, stdout=subprocess.DEVNULL)

        os.environ["PATH"] = f"{build / 'examples'}:{os.environ['PATH']}"
        draw("calls.svg", "The system calls of a program that copies a file and waits until it is on the disk",
             "sctrace -c --top=6 -U syscall,seconds,calls,errors,avg,max,waits,waited dd if=data of=copy bs=4K conv=fsync status=none")
        draw("io.svg", "How a program uses its files, and what a better use would save", "sctrace --io io-seek-back in")
        chart("strategies.svg", "compare", "--runs=30")
        chart("operations.svg", "bench", "syscall", "--runs=100", *OPERATIONS)
    for extra in images.glob("strategies-*.svg"):
        extra.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
