"""The inputs that fuzzing keeps: no reader breaks on any of them, and whatever is read are trees."""

from __future__ import annotations

import io
import warnings
from contextlib import suppress
from pathlib import Path

import pytest

from treemean import _core
from treemean.errors import TreemeanError
from treemean.evaluation import read_prm
from treemean.files.source import Source
from treemean.fitting import load
from treemean.formats import Problems, all_formats, get_format, read_batches
from treemean.parsing.text import read_sentences

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"
NAMES = sorted(folder.name for folder in CORPUS.iterdir())


@pytest.mark.parametrize("name", [name for name in NAMES if name in all_formats()])
def test_readers(name: str) -> None:
    format = get_format(name)
    for path in sorted((CORPUS / name).iterdir()):
        for skip in (False, True):
            try:
                source = Source(io.BytesIO(path.read_bytes()), path.name)
                batches = list(format.read(source, Problems(skip=skip), encoding="utf-8"))
            except TreemeanError:
                continue
            for tree in (tree for batch in batches for tree in batch):
                tree.replace()  # checks the tree


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("content", lambda path: list(read_batches(path))),
        ("archive", lambda path: list(read_batches(path))),
        ("text", lambda path: list(read_sentences(path, format="text"))),
        ("hits", load),
        ("prm", read_prm),
    ],
)
def test_other_readers(name: str, read) -> None:
    for path in sorted((CORPUS / name).iterdir()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(TreemeanError):
                read(path)


def test_every_target_has_a_corpus() -> None:
    core = {f"core-{path.stem}" for path in CORPUS.parent.glob("core/*.cpp")}
    others = {"content", "archive", "text", "hits", "prm"}
    assert set(NAMES) == {*all_formats()} - {"export4"} | core | others
    assert sum(path.stat().st_size for path in CORPUS.rglob("*")) < 1 << 20


@pytest.mark.parametrize("name", ["brackets", "alpino"])
def test_readers_of_the_core(name: str) -> None:
    for path in sorted((CORPUS / f"core-{name}").iterdir()):
        data = path.read_bytes()
        for skip in (False, True):
            if name == "alpino":
                columns, *_ = _core.read_alpino(data, True, skip)
            else:
                (columns, *_), *_ = _core.read_brackets(data[1:], bool(data[0] & 1), True, skip)
            found = _core.find_invalid(
                *(columns[key] for key in ("word_offsets", "constituent_offsets", "bits"))
            )
            assert found is None
