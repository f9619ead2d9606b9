"""Writing plain trees in the core, and those that need care one by one in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treemean.errors import UnwritableTree
from treemean.formats.writing import TextWriter, Unwritable
from treemean.trees import CodedStrings, Strings, Treebank

#: How a text looks in a format, for each column of texts.
Expressions = Mapping[str, Callable[[str], str]]

_OF_WORDS = ("words", "tags", "word_functions")
_OF_CONSTITUENTS = ("labels", "functions")


class PlainFormat(Protocol):
    """What a format says about plain trees.

    Attributes
    ----------
    expressions : for the columns `words`, `tags`, `word_functions`, `labels` and `functions` how a text looks
        in the format; raises `UnwritableTree` for one that cannot be there, or needs care.
    """

    expressions: Expressions

    def needs_care(self, batch: Treebank) -> NDArray[np.bool_]:
        """Return which sentences are not plain, whatever their texts."""

    def write(self, batch: Treebank, expressed: Treebank) -> tuple[bytes, int]:
        """Return the text of a batch, and of how many of its sentences: the next one needs care.

        `expressed` is the batch with all texts as they look in the format.
        """


class PlainWriter:
    """A `BatchWriter` that leaves plain trees to the core.

    Parameters
    ----------
    stream, unwritable : as of `TextWriter`.
    careful : writes the trees that need care; it has written the header.
    format : what is plain, and how it is written.
    """

    def __init__(
        self, stream: IO[bytes], careful: TextWriter, format: PlainFormat, unwritable: Unwritable
    ) -> None:
        self._stream, self._careful, self._format, self._unwritable = stream, careful, format, unwritable

    def write(self, batch: Treebank) -> None:
        """Write a batch."""
        expressed, care = _express(batch, self._format.expressions)
        care |= self._format.needs_care(batch)
        careful = [*np.flatnonzero(care).tolist(), len(batch)]
        start = 0
        for stop in careful:
            while start < stop:
                text, count = self._format.write(batch[start:stop], expressed[start:stop])
                self._stream.write(text)
                self._unwritable.seen += count
                start += count
                if start < stop:
                    self._careful.write(batch[start : start + 1])
                    start += 1
            if stop < len(batch):
                self._careful.write(batch[stop : stop + 1])
                start = stop + 1

    def close(self) -> None:
        """Write the footer."""
        self._careful.close()


def _express(batch: Treebank, expressions: Expressions) -> tuple[Treebank, NDArray[np.bool_]]:
    """Return a batch with all texts expressed, and which sentences have one that cannot be."""
    columns = {}
    care = np.zeros(len(batch), dtype=bool)
    for name in (*_OF_WORDS, *_OF_CONSTITUENTS):
        column = getattr(batch, name)
        if len(column.vocabulary) > 2 * len(column):  # a small part of a large treebank
            column = column.compact()
        texts, bad = [], []
        for code, text in enumerate(column.texts):
            try:
                texts.append(expressions[name](text))
            except UnwritableTree:
                texts.append("")
                bad.append(code)
        columns[name] = CodedStrings(column.codes, Strings.of(texts))
        if bad:
            offsets = batch.word_offsets if name in _OF_WORDS else batch.constituent_offsets
            places = np.flatnonzero(np.isin(column.codes, bad))
            care[np.searchsorted(offsets, places, side="right") - 1] = True
    return batch.with_columns(**columns), care


def core_batch(expressed: Treebank, openings: Iterable[str], closings: Iterable[str]) -> tuple[Any, ...]:
    """Return a batch as the writers of the core take it, with texts before and after each sentence."""
    return (
        (expressed.word_offsets, expressed.constituent_offsets, expressed.bits),
        *(core_texts(getattr(expressed, name)) for name in (*_OF_WORDS, *_OF_CONSTITUENTS)),
        *((texts.data, texts.offsets) for texts in (Strings.of(openings), Strings.of(closings))),
    )


def core_texts(column: CodedStrings) -> tuple[Any, Any, Any]:
    """Return a column as the core takes it."""
    return column.codes, column.vocabulary.data, column.vocabulary.offsets
