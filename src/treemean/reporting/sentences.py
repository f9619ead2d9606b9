"""The scores of every sentence as a file, for one's own statistics."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from treemean.evaluation import Counts, Evaluation
from treemean.evaluation.results import Shown
from treemean.reporting.rows import Row, write_rows


def write_per_sentence(path: str | os.PathLike[str], evaluations: Mapping[str, Evaluation]) -> None:
    """Write a row for every sentence of one evaluation or several, by name; the file appears whole or not."""
    rows = (row for name, evaluation in evaluations.items() for row in sentence_rows(name, evaluation))
    write_sentence_rows(path, rows)


def write_sentence_rows(path: str | os.PathLike[str], rows: Iterable[Row]) -> None:
    """Write rows by `sentence_rows` as they come."""
    write_rows(path, _COLUMNS, rows)


_COLUMNS = (
    *("prediction", "sentence", "id", "length", "matched", "predicted", "gold"),
    *("precision", "recall", "f1", "exact"),
)


def sentence_rows(name: str, evaluation: Evaluation) -> Iterator[Row]:
    """Yield what is known of every sentence that was scored; 0 of 0 is None.

    `sentence` is the number of the sentence in the gold treebank, from 1, and `length` its words without
    punctuation. Under a protocol that takes means over sentences, scores are those that the means are of.
    """
    counts = evaluation.per_sentence["overall"]
    means = evaluation.protocol.level == "sentence"
    columns = (counts.matched, counts.predicted, counts.gold)
    scores = (counts.f1, counts.precision, counts.recall)
    for s, triple in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        shown = Shown(*(float(column[s]) for column in scores)) if means else Counts(*triple).shown
        told = (shown.precision, shown.recall, shown.f1)
        place, length = int(evaluation.sentences[s]), int(evaluation.lengths[s])
        cells = (name, place + 1, evaluation.ids[s], length, *triple, *told, bool(evaluation.exact[s]))
        yield dict(zip(_COLUMNS, cells, strict=True))
