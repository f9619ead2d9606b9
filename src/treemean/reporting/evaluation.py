"""Evaluations and comparisons as tables."""

from __future__ import annotations

from collections.abc import Mapping

from treemean.evaluation import Comparison, Evaluation, LengthBin
from treemean.evaluation.results import METRICS
from treemean.reporting.tables import NOTHING, Cell, Table

#: For constituents without a label.
NO_LABEL = "(none)"
#: Of confused labels, so many pairs are shown.
_MOST_CONFUSIONS = 20


def evaluation_tables(
    evaluations: Mapping[str, Evaluation],
    *,
    by_label: bool,
    by_length: bool,
    explain: bool,
) -> list[Table]:
    """Return the scores of one prediction or several under one protocol, by name.

    Parameters
    ----------
    by_label : add scores by label: with labels F1 and which labels were confused, without recall by gold
        label, of all and of discontinuous constituents.
    by_length : add F1 by sentence length.
    explain : tell every convention of the protocol, not only its name.
    """
    first = next(iter(evaluations.values()))
    tables = [_scores(evaluations)]
    if first.cutoff is not None:
        tables.append(_cutoff(evaluations))
    if by_label and first.protocol.labelled:
        tables += [_f1_by_label(evaluations), _confusions(evaluations)]
    elif by_label:
        tables.append(_recall_by_label(evaluations))
    if by_length:
        tables.append(_by_length(evaluations))
    # Notes are as wide as their table, so they stand under the widest one.
    notes = protocol_notes(first, explain=explain)
    if any(found.dropped != first.dropped for found in evaluations.values()):
        notes += [f"{name}: {scored_note(found)}" for name, found in evaluations.items()]
        notes.remove(scored_note(first))
    tables[0] = Table(tables[0].columns, tables[0].rows, tables[0].title, notes)
    return tables


def protocol_notes(evaluation: Evaluation, *, explain: bool) -> list[str]:
    """Say what was counted: the protocol (with all conventions), the sentences, what was dropped and why."""
    protocol = evaluation.protocol
    notes = [protocol.describe() if explain else protocol.summary(), scored_note(evaluation)]
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
    count = evaluation.scored
    return f"{count:,} sentence{'s' * (count != 1)} scored{dropped}."


def comparison_table(
    comparison: Comparison, name_a: str, name_b: str, evaluation: Evaluation, *, explain: bool
) -> Table:
    """Return a comparison of two predictions; one of their evaluations tells what was scored."""
    notes = [comparison.note, *protocol_notes(evaluation, explain=explain)]
    rows: list[list[Cell]] = [
        [f"F1 {comparison.metric}, {name_a}", _score(comparison.score_a)],
        [f"F1 {comparison.metric}, {name_b}", _score(comparison.score_b)],
        ["difference", _score(comparison.difference)],
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
    indent = "  " if len(evaluations) > 1 else ""
    for name, evaluation in evaluations.items():
        if indent:
            rows.append([name, *[None] * (len(columns) - 1)])
        for metric in METRICS:
            c = evaluation.counts(metric)
            rows.append([indent + metric, *map(_score, c.shown), c.matched, c.predicted, c.gold])
        rows += _whole_sentences(evaluation, indent, len(columns))
    title = next(iter(evaluations)) if len(evaluations) == 1 else "Scores"
    first = next(iter(evaluations.values()))
    return Table(columns, rows, f"{title}, labelled" if first.protocol.labelled else title)


def _whole_sentences(found: Evaluation | LengthBin, indent: str, width: int) -> list[list[Cell]]:
    exact = found.exact_match if found.exact_of else None
    rows: list[list[Cell]] = [[f"{indent}exact match", _score(exact), *[None] * (width - 2)]]
    if found.tags is not None:
        accuracy = found.tags.accuracy if found.tags.words else None
        rows.append([f"{indent}tag accuracy", _score(accuracy), *[None] * (width - 2)])
    return rows


def _cutoff(evaluations: Mapping[str, Evaluation]) -> Table:
    """Return the scores of sentences up to the length that a parameter file tells."""
    columns = ["", "sentences", "F1", "precision", "recall", "exact match", "tag accuracy"]
    rows: list[list[Cell]] = []
    longest = None
    for name, evaluation in evaluations.items():
        if (part := evaluation.cutoff) is None:
            continue
        longest = part.longest
        tags = part.tags.accuracy if part.tags is not None and part.tags.words else None
        exact = part.exact_match if part.exact_of else None
        rows.append([name, part.sentences, *map(_score, part.overall.shown), _score(exact), _score(tags)])
    return Table(columns, rows, f"Sentences of at most {longest} words")


def _f1_by_label(evaluations: Mapping[str, Evaluation]) -> Table:
    measures, columns = ["f1"], ["label", "gold"]
    if len(evaluations) == 1:
        measures += ["precision", "recall"]
        columns += ["F1", "precision", "recall", "F1 disc."]
    else:
        columns += [f"{name} {measure}" for name in evaluations for measure in ("F1", "F1 disc.")]
    rows: list[list[Cell]] = []
    for label, gold in _gold_of_labels(evaluations).items():
        row: list[Cell] = [label or NO_LABEL, gold]
        for found in evaluations.values():
            score, gapped = found.by_label.get(label), found.by_label_discontinuous.get(label)
            shown = score.to_dict() if score else {}
            row += [_score(shown.get(measure)) for measure in measures]
            row.append(_score(gapped.to_dict()["f1"] if gapped else None))
        rows.append(row)
    return Table(columns, rows, "F1 by label")


def _gold_of_labels(evaluations: Mapping[str, Evaluation]) -> dict[str, int]:
    """Return how many gold constituents have each label, frequent ones first.

    They can differ, because EVALB leaves out sentences that a prediction has wrong tags in; the most count.
    """
    gold: dict[str, int] = {}
    for found in evaluations.values():
        for label, score in found.by_label.items():
            gold[label] = max(gold.get(label, 0), score.gold)
    return dict(sorted(gold.items(), key=lambda item: (-item[1], item[0])))


def _confusions(evaluations: Mapping[str, Evaluation]) -> Table:
    """Return which labels were taken for which; the most frequent ones."""
    names = list(evaluations)
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for name, found in evaluations.items():
        for c in found.confusions:
            counts.setdefault((c.gold, c.predicted), {})[name] = c.count
    order = sorted(counts, key=lambda pair: (-sum(counts[pair].values()), pair))
    rows: list[list[Cell]] = [
        [gold or NO_LABEL, predicted or NO_LABEL] + [counts[gold, predicted].get(name, 0) for name in names]
        for gold, predicted in order[:_MOST_CONFUSIONS]
    ]
    cut = len(order) > _MOST_CONFUSIONS
    left = f"; the {_MOST_CONFUSIONS} most frequent of {len(order)}" if cut else ""
    columns = ["gold", "predicted", *(names if len(names) > 1 else ["times"])]
    return Table(columns, rows, f"Confused labels (same words, other label{left})")


def _recall_by_label(evaluations: Mapping[str, Evaluation]) -> Table:
    found = list(evaluations.values())
    columns = ["label", "gold", *evaluations, "gold disc.", *[f"{name} disc." for name in evaluations]]
    rows: list[list[Cell]] = []
    for label, gold in _gold_of_labels(evaluations).items():
        scores = [each.by_label.get(label) for each in found]
        gapped = [each.by_label_discontinuous.get(label) for each in found]
        rows.append(
            [
                *(label or NO_LABEL, gold, *(_score(score.recall if score else None) for score in scores)),
                max(score.gold if score else 0 for score in gapped),
                *(_score(score.recall if score else None) for score in gapped),
            ]
        )
    return Table(columns, rows, "Recall by label")


def _by_length(evaluations: Mapping[str, Evaluation]) -> Table:
    bins = {name: {part.shortest: part for part in found.by_length} for name, found in evaluations.items()}
    columns = ["words", "sentences"]
    for name in evaluations:
        columns += [f"{name} F1", f"{name} F1 disc."] if len(evaluations) > 1 else ["F1", "F1 disc."]
    rows: list[list[Cell]] = []
    for shortest in sorted({shortest for parts in bins.values() for shortest in parts}):
        parts = [of_run.get(shortest) for of_run in bins.values()]
        there = [part for part in parts if part is not None]
        row: list[Cell] = [there[0].name, max(part.sentences for part in there)]
        for part in parts:
            counts = (part.overall, part.discontinuous) if part else (None, None)
            row += [_score(found.shown.f1 if found else None) for found in counts]
        rows.append(row)
    return Table(columns, rows, "F1 by sentence length")


def _score(value: float | None) -> Cell:
    """Return a score as a cell; 0 of 0 is no score."""
    return NOTHING if value is None else value
