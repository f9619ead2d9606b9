"""Evaluations and comparisons as tables."""

from __future__ import annotations

from collections.abc import Mapping

from treemean.evaluation import Comparison, Evaluation
from treemean.evaluation.results import METRICS
from treemean.reporting.tables import Cell, Table


def evaluation_tables(
    evaluations: Mapping[str, Evaluation], *, by_label: bool = False, by_length: bool = False
) -> list[Table]:
    """Return the scores of one prediction or several under one protocol, by name.

    Parameters
    ----------
    by_label : add recall by gold label, of all and of discontinuous constituents.
    by_length : add F1 by sentence length.
    """
    tables = [_scores(evaluations)]
    if by_label:
        tables.append(_by_label(evaluations))
    if by_length:
        tables.append(_by_length(evaluations))
    first = next(iter(evaluations.values()))
    tables[-1] = Table(tables[-1].columns, tables[-1].rows, tables[-1].title, protocol_notes(first))
    return tables


def protocol_notes(evaluation: Evaluation) -> list[str]:
    """Say what was counted: the protocol, the sentences, what was dropped and why."""
    notes = [evaluation.protocol.describe(), scored_note(evaluation)]
    if evaluation.gold_fan_out_above_2:
        limit = evaluation.protocol.max_gold_fan_out
        notes.append(
            f"{evaluation.gold_fan_out_above_2:,} gold constituents have a fan-out above 2"
            + (" and are left out." if limit is not None and limit <= 2 else " and are counted.")
        )
    return notes


def scored_note(evaluation: Evaluation) -> str:
    """Say how many sentences were scored, how many dropped and why."""
    dropped = "".join(f"; {len(names):,} dropped ({why})" for why, names in evaluation.dropped.items())
    return f"{len(evaluation.sentences):,} sentences scored{dropped}."


def comparison_table(
    comparison: Comparison, name_a: str, name_b: str, evaluation: Evaluation | None = None
) -> Table:
    """Return a comparison of two predictions; one of their evaluations tells what was scored."""
    notes = [comparison.note, *(protocol_notes(evaluation) if evaluation is not None else [])]
    rows: list[list[Cell]] = [
        [f"F1 {comparison.metric}, {name_a}", comparison.score_a],
        [f"F1 {comparison.metric}, {name_b}", comparison.score_b],
        ["difference", comparison.difference],
        ["sentences won / lost / tied", f"{comparison.wins} / {comparison.losses} / {comparison.ties}"],
        ["p-value, one-sided", _p_value(comparison.p_value)],
        ["p-value, two-sided", _p_value(comparison.p_value_two_sided)],
    ]
    if comparison.interval is not None:
        i = comparison.interval
        rows.append([f"{100 * i.confidence:g}% interval of the difference", f"{i.low:.2f} to {i.high:.2f}"])
    return Table(["", "value"], rows, f"{name_a} against {name_b}", notes)


def _p_value(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"


def _scores(evaluations: Mapping[str, Evaluation]) -> Table:
    columns = ["", "F1", "precision", "recall", "matched", "predicted", "gold"]
    rows: list[list[Cell]] = []
    for name, evaluation in evaluations.items():
        if len(evaluations) > 1:
            rows.append([name, *[None] * (len(columns) - 1)])
        for metric in METRICS:
            c = evaluation.counts(metric)
            cells: list[Cell] = [c.f1, c.precision, c.recall, c.matched, c.predicted, c.gold]
            rows.append([("  " if len(evaluations) > 1 else "") + metric, *cells])
        rows.append(
            [("  " if len(evaluations) > 1 else "") + "exact match", evaluation.exact_match, *[None] * 5]
        )
    return Table(columns, rows, next(iter(evaluations)) if len(evaluations) == 1 else "Scores")


def _by_label(evaluations: Mapping[str, Evaluation]) -> Table:
    names = list(evaluations)
    first = evaluations[names[0]]
    columns = ["label", "gold", *names, "gold disc.", *[f"{name} disc." for name in names]]
    rows: list[list[Cell]] = []
    for label, found in first.by_label.items():
        gapped = first.by_label_discontinuous.get(label)
        row: list[Cell] = [label or "(none)", found.gold]
        row += [evaluations[name].by_label[label].recall for name in names]
        row.append(gapped.gold if gapped else 0)
        row += [evaluations[name].by_label_discontinuous[label].recall if gapped else None for name in names]
        rows.append(row)
    return Table(columns, rows, "Recall by label")


def _by_length(evaluations: Mapping[str, Evaluation]) -> Table:
    names = list(evaluations)
    rows: list[list[Cell]] = []
    for index, part in enumerate(evaluations[names[0]].by_length):
        row: list[Cell] = [part.name, part.sentences]
        for name in names:
            found = evaluations[name].by_length[index]
            row += [found.overall.f1, found.discontinuous.f1]
        rows.append(row)
    columns = ["words", "sentences"]
    for name in names:
        columns += [
            f"{name} F1" if len(names) > 1 else "F1",
            f"{name} F1 disc." if len(names) > 1 else "F1 disc.",
        ]
    return Table(columns, rows, "F1 by sentence length")
