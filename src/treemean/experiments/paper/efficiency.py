"""Figures 4 and 5: what pruning leaves to the search, and how long each algorithm takes."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from treemean.averaging import METHODS
from treemean.averaging.reference.problem import make_problem
from treemean.averaging.reference.pruning import prune
from treemean.averaging.request import make_request
from treemean.averaging.weights import make_weights
from treemean.errors import MissingDependency, Unsolved
from treemean.experiments.paper.outcome import ExperimentOutcome, Figure, numbers
from treemean.experiments.paper.study import Study
from treemean.reporting.figures import Line, draw_lines
from treemean.reporting.tables import Cell, Table
from treemean.trees import Tree, Treebank

#: Lengths are put together by so many words.
BIN = 5
#: How many sentences, drawn at random, are looked at for each number of individuals.
SENTENCES = 200
#: The bounds, in the order in which they are applied; each column has those before as well.
STAGES = ("zero-hit", "lower bound", "upper bound", "value bound")

#: The exact algorithms whose time is measured; those of the paper are written to be believed, not for speed.
ALGORITHMS = ("exact", "meet-in-the-middle", "exhaustive", "dynamic-programming", "integer-programming")
#: How many sentences of each length are timed, and from how many seconds on longer ones are left out.
TIMED, TOO_LONG = 5, 1.0


def pruning(study: Study) -> ExperimentOutcome:
    """Count the candidates that each bound leaves, by sentence length and by number of individuals."""
    chosen = [list(run) for run in study.chosen]
    weights = study.selection.weights
    by_length: dict[int, list[list[int]]] = defaultdict(list)
    for sentence in zip(*chosen, strict=True):
        by_length[_bin(len(sentence[0].words))].append(_left(sentence, weights))
    rows: list[list[Cell]] = []
    for length, found in sorted(by_length.items()):
        rows += _rows("words", length, found)
    order = study.best_first()
    runs = [list(run) for run in study.test.runs.values()]
    rng = np.random.default_rng(study.seed)
    drawn = rng.permutation(len(study.test.gold))[:SENTENCES].tolist()
    for count in range(1, len(runs) + 1):
        selection = study.weighed(order[:count])
        found = [
            _left([runs[i][s] for i in selection.chosen], selection.weights)
            for s in drawn
            if len(runs[0][s].words)
        ]
        rows += _rows("individuals", count, found)
    notes = [
        "Means over sentences of the constituents that are still to be decided. Zero-hit: all that some run "
        "has; lower bound, upper bound: the paper's; value bound: ours, which the core uses.",
        f"Lengths in steps of {BIN} words, of the ensemble's runs. Numbers of individuals from best to "
        f"worst, over {len(drawn)} sentences drawn with the seed {study.seed}. {study.note()}",
    ]
    columns = ["by", "value", "bound", "candidates", "sentences"]
    table = Table(columns, rows, "What pruning leaves (the paper's Figure 4)", notes)

    def draw(path: Path) -> None:
        panels: dict[str, dict[str, Line]] = {}
        for by, title in (("words", "by sentence length"), ("individuals", "by number of individuals")):
            panels[title] = {}
            for stage in STAGES:
                chosen = [row for row in rows if (row[0], row[2]) == (by, stage)]
                panels[title][stage] = (numbers(chosen, 1), numbers(chosen, 3))
        draw_lines(
            panels,
            path,
            x={"by sentence length": "words", "by number of individuals": "individuals"},
            y="candidates",
        )

    return ExperimentOutcome({"": table}, {"": Figure(table, draw)})


def _bin(words: int) -> int:
    """Return the upper end of the lengths that a sentence is put together with.

    >>> _bin(5), _bin(6)
    (5, 10)
    """
    return -(-words // BIN) * BIN


def _left(trees: Sequence[Tree], weights: Sequence[float]) -> list[int]:
    """Return how many candidates are left after each of `STAGES`."""
    problem = make_problem(trees, make_weights(weights, len(trees)))
    lower = prune(problem, all_hit=False, value_bound=False)
    both = prune(problem, value_bound=False)
    return [lower.left_after("zero-hit"), len(lower.kept), len(both.kept), len(prune(problem).kept)]


def _rows(by: str, value: int, found: Sequence[Sequence[int]]) -> list[list[Cell]]:
    return [
        [by, value, stage, statistics.fmean(numbers), len(found)]
        for stage, numbers in zip(STAGES, zip(*found, strict=True), strict=True)
    ]


def run_time(study: Study) -> ExperimentOutcome:
    """Time every exact algorithm by sentence length; one that takes too long is not tried on longer ones."""
    lengths = study.chosen[0].lengths
    rng = np.random.default_rng(study.seed)
    by_length = {
        int(n): rng.permutation(np.flatnonzero(lengths == n))[:TIMED].tolist()
        for n in np.unique(lengths)
        if n > 1
    }
    rows: list[list[Cell]] = []
    notes = [
        f"Up to {TIMED} sentences of each length, drawn with the seed {study.seed}; milliseconds of one "
        f"sentence on one thread. An algorithm that took more than {TOO_LONG:g} second, or could not prove "
        "its result, is not tried on longer sentences.",
        "The paper's algorithms are those of the reference, in plain Python; exact is the core.",
        study.note(),
    ]
    for name in ALGORITHMS:
        try:
            rows += _timed(name, study, by_length)
        except MissingDependency as error:
            notes.append(f"{name} was left out: {error}")
    columns = ["algorithm", "words", "median ms", "slowest ms", "sentences"]
    table = Table(columns, rows, "Run time by sentence length (the paper's Figure 5)", notes)

    def draw(path: Path) -> None:
        lines: dict[str, Line] = {}
        for name in ALGORITHMS:
            if chosen := [row for row in rows if row[0] == name]:
                lines[name] = (numbers(chosen, 1), [ms / 1000 for ms in numbers(chosen, 2)])
        draw_lines({"": lines}, path, x="words", y="seconds of a sentence (median)", logarithmic="y")

    return ExperimentOutcome({"": table}, {"": Figure(table, draw)})


def _timed(name: str, study: Study, by_length: dict[int, list[int]]) -> list[list[Cell]]:
    """Time an algorithm on longer and longer sentences, as far as it comes."""
    rows: list[list[Cell]] = []
    request = make_request(len(study.chosen), study.selection.weights, jobs=1 if name == "exact" else None)
    METHODS[name](
        [run[:1] for run in study.chosen], replace(request, skipped=[])
    )  # what it loads is no run time
    for length, sentences in by_length.items():
        seconds = []
        for s in sentences:
            trees: list[Treebank] = [run[s : s + 1] for run in study.chosen]
            begun = time.perf_counter()
            try:
                found = METHODS[name](trees, request)
            except Unsolved:
                return rows
            seconds.append(time.perf_counter() - begun)
            if not found.sentence_values["optimal"][0] and name != "dynamic-programming":
                return rows
        rows.append([name, length, 1000 * statistics.median(seconds), 1000 * max(seconds), len(seconds)])
        if max(seconds) > TOO_LONG:
            return rows
    return rows
