"""Broken input for readers: whatever it is, only `FormatError` may come out, soon and in little memory."""

from __future__ import annotations

import io
import random
import resource
import time
from collections.abc import Callable

from treemean.errors import FormatError
from treemean.files.source import Source
from treemean.formats import Format, Problems
from treemean.trees import Treebank

Mutation = Callable[[bytes, random.Random], bytes]


def flip(data: bytes, rng: random.Random) -> bytes:
    """Change some bytes to others."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def swap_punctuation(data: bytes, rng: random.Random) -> bytes:
    """Change some bytes to others that mean something in one format or another."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] = rng.choice(b"()<>/\"'=&#%\t\n \\{}[],:0123456789-_.\0")
    return bytes(changed)


def delete(data: bytes, rng: random.Random) -> bytes:
    """Leave out a piece."""
    start, end = _piece(data, rng)
    return data[:start] + data[end:]


def duplicate(data: bytes, rng: random.Random) -> bytes:
    """Say a piece several times."""
    start, end = _piece(data, rng)
    return data[:end] + data[start:end] * rng.randint(1, 20) + data[end:]


def move(data: bytes, rng: random.Random) -> bytes:
    """Put a piece elsewhere."""
    start, end = _piece(data, rng)
    rest = data[:start] + data[end:]
    target = rng.randint(0, len(rest))
    return rest[:target] + data[start:end] + rest[target:]


def truncate(data: bytes, rng: random.Random) -> bytes:
    """End too early."""
    return data[: rng.randrange(len(data))]


def shuffle_lines(data: bytes, rng: random.Random) -> bytes:
    """Change the order of some lines."""
    lines = data.splitlines(keepends=True)
    start = rng.randrange(len(lines))
    end = min(len(lines), start + rng.randint(2, 12))
    part = lines[start:end]
    rng.shuffle(part)
    return b"".join(lines[:start] + part + lines[end:])


def drop_lines(data: bytes, rng: random.Random) -> bytes:
    """Leave out some lines."""
    return b"".join(line for line in data.splitlines(keepends=True) if rng.random() > 0.1)


def random_bytes(data: bytes, rng: random.Random) -> bytes:
    """Say something else altogether, at times after a good beginning."""
    return data[: rng.choice([0, 0, 16, len(data) // 2])] + rng.randbytes(rng.randint(0, 3000))


def long_line(data: bytes, rng: random.Random) -> bytes:
    """Put in a very long stretch of one byte or of a short piece."""
    start, end = _piece(data, rng, longest=8)
    stretch = rng.choice([data[start:end], bytes([rng.choice(b'(<[{"a0\t \n&#')])]) or b"x"
    return data[:start] + stretch * (rng.randint(10_000, 200_000) // len(stretch)) + data[start:]


MUTATIONS: tuple[Mutation, ...] = (
    flip,
    swap_punctuation,
    delete,
    duplicate,
    move,
    truncate,
    shuffle_lines,
    drop_lines,
    random_bytes,
    long_line,
)


def _piece(data: bytes, rng: random.Random, longest: int = 200) -> tuple[int, int]:
    start = rng.randrange(len(data))
    return start, min(len(data), start + rng.randint(1, longest))


def read_bytes(format: Format, data: bytes, problems: Problems | None = None) -> list[Treebank]:
    """Read a treebank from bytes, whatever their name."""
    source = Source(io.BytesIO(data), "fuzz")
    return list(format.read(source, problems or Problems(), encoding="utf-8"))


def check_reader(
    format: Format, data: bytes, *, runs: int = 300, seed: int = 0, seconds: float = 5.0, megabytes: int = 400
) -> None:
    """Break valid data in many ways and read it, strictly and skipping.

    Asserts that nothing but `FormatError` comes out, that no input takes more than `seconds` of processor
    time, that the memory of the process does not grow by more than `megabytes`, and that what is read are
    trees.
    """
    assert sum(len(batch) for batch in read_bytes(format, data)), "the data to begin with should be valid"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for run in range(runs):
        rng = random.Random(f"{format.name} {seed} {run}")
        broken = data
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            broken = rng.choice(MUTATIONS)(broken or data, rng)
        for skip in (False, True):
            begun = time.process_time()
            try:
                for batch in read_bytes(format, broken, Problems(skip=skip)):
                    for tree in batch:
                        tree.replace()  # checks the tree
            except FormatError:
                pass
            taken = time.process_time() - begun
            assert taken < seconds, f"run {run} took {taken:.1f} s"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < megabytes, f"memory grew by {grown:.0f} MiB"
