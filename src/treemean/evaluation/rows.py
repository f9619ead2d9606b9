"""What an evaluation knows of every sentence, as rows."""

from __future__ import annotations

from collections.abc import Iterator

from treemean.evaluation.results import Counts, Evaluation, Shown

Cell = str | int | float | bool | None
SENTENCE_COLUMNS = (
    *("prediction", "sentence", "id", "length", "matched", "predicted", "gold"),
    *("precision", "recall", "f1", "exact"),
)


def sentence_rows(name: str, evaluation: Evaluation) -> Iterator[dict[str, Cell]]:
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
        yield dict(zip(SENTENCE_COLUMNS, cells, strict=True))
