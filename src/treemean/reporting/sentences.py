"""The scores of every sentence as a file, for one's own statistics."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from treemean.evaluation import Evaluation
from treemean.evaluation.rows import SENTENCE_COLUMNS, sentence_rows
from treemean.files.rows import Row, write_rows


def write_per_sentence(path: str | os.PathLike[str], evaluations: Mapping[str, Evaluation]) -> None:
    """Write a row for every sentence of one evaluation or several, by name; the file appears whole or not."""
    rows = (row for name, evaluation in evaluations.items() for row in sentence_rows(name, evaluation))
    write_sentence_rows(path, rows)


def write_sentence_rows(path: str | os.PathLike[str], rows: Iterable[Row]) -> None:
    """Write rows by `sentence_rows` as they come."""
    write_rows(path, SENTENCE_COLUMNS, rows)
