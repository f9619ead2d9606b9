"""Fuzz targets of the readers, guided by the coverage of our Python sources: `python fuzz/readers.py NAME …`.

NAME is a format or the name of another reader; what follows are folders of inputs and options of libFuzzer.
Whatever the input is, nothing but the errors that users are told may come out, and what is read are trees
that can be written and read again. `make fuzz` runs all of them.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

# What is found by way of an editable installation is not instrumented: it comes last, for the core.
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
sys.meta_path.sort(key=lambda finder: type(finder).__name__.startswith("ScikitBuild"))
with atheris.instrument_imports(include=["treemean"]):
    from treemean.errors import TreemeanError
    from treemean.files.source import Source
    from treemean.formats import (  # noqa: F401
        Problems,
        all_formats,
        alpino,
        conllu,
        discbracket,
        export,
        get_format,
        jsonl,
        parquet,
        ptb,
        read_batches,
        tiger,
    )
    from treemean.formats.writing import Unwritable
    from treemean.trees import Treebank

Target = Callable[[bytes], None]


def reader(name: str) -> Target:
    """Return the target of a treebank format: strictly and skipping, and written as JSON Lines."""
    format, lines = get_format(name), get_format("jsonl")

    def target(data: bytes) -> None:
        for skip in (False, True):
            try:
                with Problems(skip=skip) as problems:
                    source = Source(io.BytesIO(data), "fuzz")
                    batches = list(format.read(source, problems, encoding="utf-8"))
            except TreemeanError as error:
                str(error)
                continue
            check(Treebank.concatenate(batches) if batches else Treebank.empty(), lines)

    def check(bank: Treebank, lines: object) -> None:
        stream = io.BytesIO()
        writer = lines.writer(stream, Unwritable())  # type: ignore[attr-defined]
        writer.write(bank)
        writer.close()
        again = list(lines.read(Source(io.BytesIO(stream.getvalue()), "again"), Problems(), encoding="utf-8"))  # type: ignore[attr-defined]
        assert sum(map(len, again)) == len(bank)
        for tree in bank:
            tree.replace()  # checks the tree

    return target


def of_file(ending: str, read: Callable[[str], object]) -> Target:
    """Return a target for what reads files by their names."""
    folder = tempfile.mkdtemp(prefix="treemean-fuzz-")
    path = os.path.join(folder, "input" + ending)

    def target(data: bytes) -> None:
        Path(path).write_bytes(data)
        try:
            read(path)
        except TreemeanError as error:
            str(error)

    return target


def _hits() -> Target:
    with atheris.instrument_imports(include=["treemean"]):
        from treemean.fitting import load
    return of_file(".json", load)


def _prm() -> Target:
    with atheris.instrument_imports(include=["treemean"]):
        from treemean.evaluation import read_prm
    return of_file(".prm", read_prm)


def _text() -> Target:
    from treemean.parsing.text import read_sentences  # with PyTorch, which takes long to be instrumented

    return of_file(".txt", lambda path: list(read_sentences(path)))


#: Other readers: of what content tells, archives, text, hits and parameters; what these need is loaded late.
OTHERS: dict[str, Callable[[], Target]] = {
    "content": lambda: of_file("", lambda path: list(read_batches(path))),
    "archive": lambda: of_file(".zip", lambda path: list(read_batches(path))),
    "text": _text,
    "hits": _hits,
    "prm": _prm,
}
#: All targets; `export4` is read as `export` is.
NAMES = [*(name for name in all_formats() if name != "export4"), *OTHERS]


def _program(name: str) -> str:
    """Return a program that calls this one: libFuzzer starts itself again while it merges inputs."""
    path = Path(tempfile.mkdtemp(prefix="treemean-fuzz-"), name)
    called = shlex.join([sys.executable, os.path.abspath(__file__), name])
    path.write_text(f'#!/bin/sh\nexec {called} "$@"\n')
    path.chmod(0o700)
    return str(path)


def main() -> None:
    """Run the target that the first argument names."""
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"usage: python fuzz/readers.py {{{','.join(NAMES)}}} [FOLDER...] [-option=value...]")
    name = sys.argv.pop(1)
    sys.argv[0] = _program(name)
    atheris.Setup(sys.argv, OTHERS[name]() if name in OTHERS else reader(name))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
