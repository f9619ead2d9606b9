"""A treebank as columns of a data frame: a row for each sentence, each constituent or each word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from treemean.errors import InvalidOption, MissingDependency
from treemean.names import FrameRows

if TYPE_CHECKING:
    import pandas
    import polars

    from treemean.trees.treebank import Treebank


def columns_of(treebank: Treebank, rows: FrameRows) -> dict[str, Any]:
    """Return columns by name; sentences are counted from 0, as in the treebank.

    >>> from treemean.trees import Tree, Treebank
    >>> bank = Treebank.from_trees([Tree("Wake him up".split(), [({0, 1, 2}, "S"), ({0, 2}, "V")])])
    >>> {name: list(column) for name, column in columns_of(bank, "constituents").items()}["text"]
    ['Wake him up', 'Wake … up']
    """
    if rows == "sentences":
        return _sentences(treebank)
    if rows == "constituents":
        return _constituents(treebank)
    if rows == "words":
        return _words(treebank)
    raise InvalidOption(f"rows are 'sentences', 'constituents' or 'words', not {rows!r}")


def _sentences(bank: Treebank) -> dict[str, Any]:
    words, tags = bank.words.tolist(), bank.tags.tolist()
    bounds = list(zip(bank.word_offsets[:-1].tolist(), bank.word_offsets[1:].tolist()))
    gapped = bank.fan_outs > 1
    columns: dict[str, Any] = {
        "id": bank.ids.tolist(),
        "text": [" ".join(words[a:b]) for a, b in bounds],
        "words": [words[a:b] for a, b in bounds],
        "tags": [tags[a:b] for a, b in bounds],
        "length": bank.lengths,
        "constituents": bank.constituent_counts,
        "discontinuous": np.bincount(bank.sentence_of[gapped], minlength=len(bank)),
    }
    return columns | _apart(columns, bank.sentence_values)


def _constituents(bank: Treebank) -> dict[str, Any]:
    ids = bank.ids.tolist()
    constituents = [(tree.words, c) for tree in bank for c in tree.constituents]
    columns: dict[str, Any] = {
        "sentence": bank.sentence_of,
        "id": [ids[s] for s in bank.sentence_of.tolist()],
        "label": bank.labels.tolist(),
        "function": bank.functions.tolist(),
        "size": bank.sizes,
        "fan_out": bank.fan_outs,
        "positions": [list(c.positions) for _, c in constituents],
        "text": [" … ".join(" ".join(words[a:b]) for a, b in c.spans) for words, c in constituents],
    }
    return columns | _apart(columns, bank.constituent_values)


def _apart(columns: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values, under other names where a column has theirs already."""
    return {f"value.{name}" if name in columns else name: column for name, column in values.items()}


def _words(bank: Treebank) -> dict[str, Any]:
    ids = bank.ids.tolist()
    sentence = np.repeat(np.arange(len(bank)), bank.lengths)
    return {
        "sentence": sentence,
        "id": [ids[s] for s in sentence.tolist()],
        "position": np.arange(len(sentence)) - bank.word_offsets[sentence],
        "word": bank.words.tolist(),
        "tag": bank.tags.tolist(),
        "function": bank.word_functions.tolist(),
    }


def pandas_frame(treebank: Treebank, rows: FrameRows) -> pandas.DataFrame:
    """Return a data frame of pandas."""
    try:
        import pandas
    except ImportError as error:
        raise MissingDependency("to_pandas needs pandas: pip install pandas") from error
    return pandas.DataFrame(columns_of(treebank, rows))


def polars_frame(treebank: Treebank, rows: FrameRows) -> polars.DataFrame:
    """Return a data frame of Polars."""
    try:
        import polars
    except ImportError as error:
        raise MissingDependency("to_polars needs Polars: pip install polars") from error
    return polars.DataFrame(columns_of(treebank, rows))
