"""Evaluations and comparisons as tidy rows, one for each number, for programs that read tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from treemean.evaluation import Comparison, Counts, Evaluation, LengthBin
from treemean.evaluation.results import METRICS
from treemean.reporting.tables import Cell, Table

_COLUMNS = [
    *("prediction", "protocol", "labelled"),
    *("part", "item", "predicted_as", "constituents", "measure", "value"),
]


def evaluation_rows(evaluations: Mapping[str, Evaluation], *, by_label: bool, by_length: bool) -> Table:
    """Return all numbers of one evaluation or several, a row for each; a value is empty for 0 of 0.

    `part` says what a number is about: `all` sentences, those up to a `cutoff` of a parameter file, those of
    a `length`, a `label` or a `confusion` of labels; `item` says which one.
    """
    rows: list[list[Cell]] = []
    for name, evaluation in evaluations.items():
        about: list[Cell] = [name, evaluation.protocol.name, _boolean_text(evaluation.protocol.labelled)]
        rows += [[*about, *facts] for facts in _facts(evaluation, by_label=by_label, by_length=by_length)]
    return Table(_COLUMNS, rows)


def comparison_rows(comparison: Comparison, name_a: str, name_b: str, evaluation: Evaluation) -> Table:
    """Return the numbers of a comparison, a row for each; one of the evaluations tells the protocol."""
    about: list[Cell] = [
        *(name_a, name_b, evaluation.protocol.name, _boolean_text(evaluation.protocol.labelled)),
        *(comparison.test, comparison.metric),
    ]
    measures: dict[str, Cell] = {
        "f1_a": comparison.score_a,
        "f1_b": comparison.score_b,
        "difference": comparison.difference,
        "wins": comparison.wins,
        "losses": comparison.losses,
        "ties": comparison.ties,
        "p_value": comparison.p_value,
        "p_value_two_sided": comparison.p_value_two_sided,
    }
    if comparison.interval is not None:
        measures |= {"interval_low": comparison.interval.low, "interval_high": comparison.interval.high}
    columns = ["a", "b", "protocol", "labelled", "test", "constituents", "measure", "value"]
    return Table(columns, [[*about, measure, value] for measure, value in measures.items()])


def _facts(evaluation: Evaluation, *, by_label: bool, by_length: bool) -> Iterator[list[Cell]]:
    for metric in METRICS:
        yield from _counts("all", "", metric, evaluation.counts(metric))
    whole: dict[str, Cell] = {
        "exact_match": evaluation.exact_match if evaluation.exact_of else None,
        "exact_matches": evaluation.exact_matches,
        "tag_accuracy": evaluation.tag_accuracy,
        "sentences": evaluation.scored,
        "dropped": sum(len(names) for names in evaluation.dropped.values()),
        "gold_fan_out_above_2": evaluation.gold_fan_out_above_2,
    }
    for measure, value in whole.items():
        yield ["all", "", "", "", measure, value]
    if evaluation.cutoff is not None:
        yield from _bin("cutoff", evaluation.cutoff)
    if by_length:
        for part in evaluation.by_length:
            yield from _bin("length", part)
    if by_label:
        for metric, table in (
            ("overall", evaluation.by_label),
            ("discontinuous", evaluation.by_label_discontinuous),
        ):
            for label, score in table.items():
                for measure, value in score.to_dict().items():
                    yield ["label", label, "", metric, measure, value]
        for confusion in evaluation.confusions:
            yield ["confusion", confusion.gold, confusion.predicted, "overall", "count", confusion.count]


def _bin(part: str, found: LengthBin) -> Iterator[list[Cell]]:
    for metric in METRICS:
        yield from _counts(part, found.name, metric, getattr(found, metric))
    exact = found.exact_match if found.exact_of else None
    tags = found.tags.to_dict()["accuracy"] if found.tags is not None else None
    for measure, value in (("exact_match", exact), ("tag_accuracy", tags), ("sentences", found.sentences)):
        yield [part, found.name, "", "", measure, value]


def _counts(part: str, item: str, metric: str, counts: Counts) -> Iterator[list[Cell]]:
    for measure, value in counts.to_dict().items():
        yield [part, item, "", metric, measure, value]


def _boolean_text(flag: bool) -> str:
    return "true" if flag else "false"
