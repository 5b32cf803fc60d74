# SPDX-License-Identifier: MIT
"""Cases about core dumps, like those of scenarios.py."""
import struct
import tempfile
from collections import namedtuple
from pathlib import Path

from run import Failed, Skip, execute, tail
from scenarios import scenario, tracer

PT_LOAD, PT_NOTE = 1, 4
NT_PRSTATUS, NT_FILE = 1, 0x46494c45
# Offsets in struct elf_prstatus of x86-64: its registers are a struct user_regs_struct.
REGISTERS, ORIG_RAX, RIP, RSP, PRSTATUS = 112, 15, 16, 19, 336

Core = namedtuple("Core", "dumped files threads")


def notes(data, offset, size):
    """The notes of one segment (elf(5)): type and contents."""
    end = offset + size
    while offset < end:
        name, length, kind = struct.unpack_from("<III", data, offset)
        at = offset + 12 + (name + 3) // 4 * 4
        yield kind, data[at:at + length]
        offset = at + (length + 3) // 4 * 4


def file_note(note):
    """Address ranges and the files that are mapped there."""
    count, page = struct.unpack_from("<QQ", note)
    names = note[16 + 24 * count:].split(b"\0")
    ranges = [struct.unpack_from("<QQQ", note, 16 + 24 * i) for i in range(count)]
    return [(low, high, offset * page, names[i].decode()) for i, (low, high, offset) in enumerate(ranges)]


def place(files, address):
    """Converts an address to a file and the offset in it, which are the same without a tracer."""
    return next(((name, address - low + offset) for low, high, offset, name in files if low <= address < high), None)


def read_core(path):
    """
    Returns the number of bytes of memory, the mapped files, and for each thread its position, its call, and the offset
    of its stack pointer in its page.
    """
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\2\1" or struct.unpack_from("<H", data, 18)[0] != 62:
        raise Skip("not the core of an x86-64 program")
    start, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", data, start + i * size) for i in range(count)]
    found = [n for h in headers if h[0] == PT_NOTE for n in notes(data, h[2], h[5])]
    files = next(file_note(n) for kind, n in found if kind == NT_FILE)
    registers = [struct.unpack_from("<27Q", n, REGISTERS) for kind, n in found if kind == NT_PRSTATUS and len(n) == PRSTATUS]
    main, *others = [(place(files, r[RIP]), r[ORIG_RAX], r[RSP] % 4096) for r in registers]
    return Core(sum(h[5] for h in headers if h[0] == PT_LOAD), {f[3] for f in files}, [main[:2], *sorted(others, key=str)])


def dump(world, argv, env=None):
    """Runs a command that dumps core, in a new folder."""
    where = Path(tempfile.mkdtemp(dir=world.scratch))
    seen = execute(argv, env=env, cwd=where)
    found = list(where.glob("core*"))
    if not found:
        return seen, None
    core = read_core(found[0])
    found[0].unlink()
    return seen, core


@scenario("surround")
def surround_crash(world, mode):
    """A core shows each thread where it would be natively, even if it waits in a call, and nothing of sctrace."""
    program = [world.program("surround"), "crash"]
    native, expected = dump(world, program)
    if not expected:
        raise Skip("this machine writes no core into the current folder (core(5))")
    argv, env = tracer(world, mode, "-f", "--", *program)
    seen, core = dump(world, argv, env)
    if seen.status != native.status or not core:
        raise Failed(f"status {seen.status}, natively {native.status}\n" + tail(seen.stderr))
    if core.threads != expected.threads:
        raise Failed(f"threads in the core: {core.threads}, natively {expected.threads}")
    if core.files != expected.files:
        raise Failed(f"files that the core names: {core.files ^ expected.files}")
    if core.dumped > expected.dumped * 1.25:
        raise Failed(f"{core.dumped} bytes of memory in the core, natively {expected.dumped}")
