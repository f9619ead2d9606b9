"""The agreement of runs as tables, as tidy rows, and who has which constituent as a file."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import numpy as np

from treemean.agreement import AgreementResult, of_pairs, with_others
from treemean.files.rows import Row, write_rows
from treemean.reporting.figures import draw_matrices
from treemean.reporting.tables import NOTHING, Cell, Table

#: What fits on a terminal of 80 columns: a table, a column of scores, names, sentences.
_WIDTH, _SCORE, _NAME, _TEXT = 80, 7, 36, 52


# ---- for people -------------------------------------------------------------------------------------


def agreement_tables(found: AgreementResult, *, top: int) -> list[Table]:
    """Return F1 of each pair, means of each run with the others, and the `top` most disputed sentences."""
    return [*_pairs(found), _means(found), _sentences(found, top)]


def _pairs(found: AgreementResult) -> Iterator[Table]:
    """Yield F1 of each pair. Columns have numbers, as names may be long; many runs take several tables."""
    runs = len(found.runs)
    names = [f"{number:{len(str(runs))}} {name}" for number, name in enumerate(found.runs, 1)]
    beside = (_WIDTH - min(_NAME, max(map(len, names))) - 2) // _SCORE
    title = "F1 of each pair, labelled" if found.protocol.labelled else "F1 of each pair"
    for start in range(0, runs, beside):
        columns = range(start, min(runs, start + beside))
        rows: list[list[Cell]] = [
            [name, *(_short(found.f1[row, column]) for column in columns)] for row, name in enumerate(names)
        ]
        notes = _notes(found) if columns.stop == runs else []
        yield Table(["", *(str(column + 1) for column in columns)], rows, title, notes)


def _notes(found: AgreementResult) -> list[str]:
    count = len(found.dispute)
    notes = [f"Protocol {found.protocol.title}; {count:,} sentence{'s' * (count != 1)}."]
    notes += [f"{len(names):,} left out: {why}." for why, names in found.dropped.items()]
    return notes


def _means(found: AgreementResult) -> Table:
    tables = (found.f1, found.chance.expected, found.chance.corrected)
    means = [with_others(table).tolist() for table in tables]
    rows: list[list[Cell]] = [
        [name, *map(_shown, own)] for name, *own in zip(found.runs, *means, strict=True)
    ]
    rows.append(["all pairs", *(_shown(of_pairs(table)) for table in tables)])
    notes = [
        "By chance: with trees of other sentences of the same length.",
        "Beyond chance: 1 is full agreement, 0 chance.",
    ]
    if found.chance.alone:
        notes.append(f"Left out here: {found.chance.alone:,} that are the only sentences of their length.")
    return Table(["", "F1", "by chance", "beyond chance"], rows, "Mean of each run with the others", notes)


def _sentences(found: AgreementResult, top: int) -> Table:
    rows: list[list[Cell]] = []
    for sentence in found.disputed_sentences():
        if len(rows) == top or not sentence.dispute:
            break
        name = f"{sentence.sentence} ({sentence.id})" if sentence.id else str(sentence.sentence)
        text = f"{name}: {' '.join(sentence.words)}"
        shown = text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
        rows.append([shown, sentence.dispute, sentence.constituents])
    count = int((found.dispute > 0).sum())
    notes = [
        f"Shown: {len(rows):,} of {count:,} sentence{'s' * (count != 1)} with a dispute.",
        "Dispute: 1 − the mean F1 of the average tree with the trees of the runs.",
    ]
    if found.unproven:
        notes.append(f"Averages that are not proven to be the best: {found.unproven:,}.")
    return Table(["sentence", "dispute", "constituents"], rows, "Most disputed sentences", notes)


def _short(value: float) -> str:
    return NOTHING if math.isnan(value) else "100" if value == 100 else f"{value:.1f}"


def _shown(value: float) -> Cell:
    return NOTHING if math.isnan(value) else value


def draw_agreement(found: AgreementResult, path: str | os.PathLike[str]) -> None:
    """Draw F1 of each pair as a heat map; a name in .svg, .png or .pdf tells the format."""
    title = "F1 of each pair, labelled (%)" if found.protocol.labelled else "F1 of each pair (%)"
    # White is a round number below all scores, so that runs that all agree well can still be told apart.
    scores = found.f1[~np.isnan(found.f1)]
    lowest = min(90.0, 10 * math.floor(scores.min(initial=100) / 10))
    draw_matrices({title: found.f1.tolist()}, found.runs, path, lowest=lowest, digits=1)


# ---- for programs -----------------------------------------------------------------------------------


AGREEMENT_COLUMNS = ("protocol", "labelled", "part", "run", "other", "sentence", "id", "measure", "value")


def agreement_facts(found: AgreementResult) -> Iterator[list[Cell]]:
    """Yield all numbers, a row for each; a value is empty for 0 of 0.

    `part` says what a number is about: a `pair` of runs, a `run` with all others, `all` pairs, or a
    `sentence`.
    """
    for facts in _facts(found):
        yield [found.protocol.name, str(found.protocol.labelled).lower(), *facts]


def _facts(found: AgreementResult) -> Iterator[list[Cell]]:
    chance = found.chance
    measures = {
        "f1": found.f1,
        "f1_compared_with_chance": chance.f1,
        "expected_f1": chance.expected,
        "corrected": chance.corrected,
    }
    for measure, table in measures.items():
        for row, run in enumerate(found.runs):
            for column, other in enumerate(found.runs):
                yield ["pair", run, other, None, "", measure, _cell(table[row, column])]
    for measure, table in measures.items():
        for run, mean in zip(found.runs, with_others(table).tolist(), strict=True):
            yield ["run", run, "", None, "", f"mean_{measure}", _cell(mean)]
    for measure, table in measures.items():
        yield ["all", "", "", None, "", f"mean_{measure}", _cell(of_pairs(table))]
    counts = {
        "sentences": len(found.dispute),
        "dropped": sum(map(len, found.dropped.values())),
        "sentences_compared_with_chance": chance.sentences,
        "sentences_alone_in_their_length": chance.alone,
    }
    for measure, count in counts.items():
        yield ["all", "", "", None, "", measure, count]
    for s in found.disputed_sentences():
        told = {"length": len(s.words), "dispute": s.dispute, "disputed_constituents": s.constituents}
        for measure, value in told.items():
            yield ["sentence", "", "", s.sentence, s.id, measure, value]


def _cell(value: float) -> Cell:
    return None if math.isnan(value) else float(value)


def write_disputed(path: str | os.PathLike[str], found: AgreementResult) -> int:
    """Write a row for every constituent that some runs have and others do not; return how many there are.

    Sentences are in order of dispute; the file appears whole or not.
    """
    labelled = ["label", "copy"] if found.protocol.labelled else []
    columns = ["sentence", "id", "dispute", "words", "positions", *labelled, "share", "runs", "in_average"]
    count = 0

    def rows() -> Iterator[Row]:
        nonlocal count
        for constituent in found.disputed():
            count += 1
            yield {**constituent._asdict(), "words": " ".join(constituent.words)}

    write_rows(path, columns, rows())
    return count
