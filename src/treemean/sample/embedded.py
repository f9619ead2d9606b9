"""The sample that comes with the package: 360 sentences, their trees, and five simulated parsers."""

from __future__ import annotations

import os
from importlib.resources import as_file, files
from pathlib import Path

from treemean.files.new import all_or_none
from treemean.formats import read, write
from treemean.sample.generator import generate, sentence_id
from treemean.sample.noise import noisy_parses
from treemean.trees import Treebank
from treemean.trees.strings import Strings

_COUNTS = {"nl": 200, "de": 100, "en": 60}
_RUNS = 5
_SEED = 7
_MAX_LENGTH = 20


def gold() -> Treebank:
    """Return the correct trees of the sample: 200 Dutch, 100 German and 60 English sentences.

    Punctuation is attached to the root. The file has no grammatical functions; `generate` gives trees with.

    >>> tree = gold()[0]
    >>> print(tree.id, *tree.words)
    nl-0001 Vanmorgen maakte ik de eieren klaar .
    """
    return _load("gold")


def runs() -> list[Treebank]:
    """Return what the five simulated parsers say: binary trees without punctuation, see `noisy_parses`.

    >>> [len(run) for run in runs()]
    [360, 360, 360, 360, 360]
    """
    return [_load(f"run{number}") for number in range(1, _RUNS + 1)]


def make_sample() -> tuple[Treebank, list[Treebank]]:
    """Make the sample anew: the correct trees, and the runs."""
    parts = [
        generate(count, language=language, seed=_SEED, max_length=_MAX_LENGTH)
        for language, count in _COUNTS.items()
    ]
    trees = Treebank.concatenate(parts)
    return trees, noisy_parses(trees, runs=_RUNS, seed=_SEED)


def write_sample(folder: str | os.PathLike[str], *, overwrite: bool = False) -> list[Path]:
    """Make the sample anew, write its files, and return their names.

    These are `gold.discbracket` and `run1.discbracket` to `run5.discbracket`.

    Parameters
    ----------
    folder : where to; it is made if it does not exist.
    overwrite : replace files of these names that hold something else, instead of raising `TreemeanError`.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    trees, parses = make_sample()
    banks = {"gold": trees} | {f"run{number}": parse for number, parse in enumerate(parses, 1)}
    paths = [Path(folder, f"{name}.discbracket") for name in banks]
    with all_or_none(paths, overwrite=overwrite) as places:
        for path, bank in zip(paths, banks.values(), strict=True):
            write(bank, places[path], warn=False)
    return paths


def _load(name: str) -> Treebank:
    with as_file(files("treemean.sample").joinpath("data", f"{name}.discbracket")) as path:
        treebank = read(path)
    ids = [sentence_id(language, i) for language, count in _COUNTS.items() for i in range(1, count + 1)]
    return treebank.with_columns(ids=Strings.of(ids))
