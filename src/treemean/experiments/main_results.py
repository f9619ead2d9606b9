"""The paper's main results: individuals, their mean and spread, the best of them, and the ensembles."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treemean.evaluation import Comparison, Evaluation, compare, evaluate
from treemean.evaluation.results import METRICS
from treemean.experiments.selection import Selection
from treemean.names import Metric
from treemean.reporting.evaluation import scored_note
from treemean.reporting.tables import Cell, Table
from treemean.trees import Treebank
from treemean.trees.branching import branching

#: How the rows of the ensembles are called.
NON_BINARY, BINARY = "non-binary ensemble", "binary ensemble"
#: Scores in the names of rows, so that the table fits into 80 columns.
_SHORT: Mapping[Metric, str] = {"overall": "overall", "continuous": "cont.", "discontinuous": "disc."}


@dataclass(frozen=True)
class Ensembles:
    """The averages of the chosen individuals."""

    non_binary: Treebank
    binary: Treebank

    @classmethod
    def of(cls, individuals: Sequence[Treebank], selection: Selection, jobs: int | None = None) -> Ensembles:
        """Average the chosen ones of `individuals`, exactly."""
        return cls(
            selection.average(individuals, jobs=jobs), selection.average(individuals, binary=True, jobs=jobs)
        )


@dataclass(frozen=True)
class MainResults:
    """Scores of baselines, individuals and ensembles against gold trees under one protocol.

    Parameters
    ----------
    baselines, individuals, ensembles : evaluations by name.
    selection : which individuals are in the ensembles.
    comparisons : by (ensemble, metric): the ensemble against the best chosen individual in that metric, by
        the sign test on sentences that the paper uses.
    """

    baselines: Mapping[str, Evaluation]
    individuals: Mapping[str, Evaluation]
    ensembles: Mapping[str, Evaluation]
    selection: Selection
    comparisons: Mapping[tuple[str, Metric], Comparison]

    @property
    def chosen(self) -> dict[str, Evaluation]:
        """The individuals in the ensembles, best first."""
        names = list(self.individuals)
        return {names[i]: self.individuals[names[i]] for i in self.selection.chosen}

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {found.overall.f1:.2f}" for name, found in self.ensembles.items())
        return f"<MainResults: {len(self.individuals)} runs, {len(self.chosen)} averaged; F1 {scores}>"

    def _repr_html_(self) -> str:
        """Return the table that notebooks show."""
        return self.table()._repr_html_()

    def best(self, metric: Metric) -> str:
        """Return the name of the chosen individual with the highest F1 on this test set."""
        return max(self.chosen, key=lambda name: _f1(self.chosen[name], metric))

    def table(self, title: str = "") -> Table:
        """Return the table; stars tell where an ensemble is better than the best individual."""
        first = next(iter(self.ensembles.values()))
        columns = ["F1", "weight", *METRICS]
        chosen = self.chosen
        fitted = self.selection.model is not None
        weights = {n: "fitted" if fitted else f"{w:.2f}" for n, w in zip(chosen, self.selection.weights)}
        rows: list[list[Cell]] = [[name, "", *_scores(e)] for name, e in self.baselines.items()]
        for name, evaluation in self.individuals.items():
            rows.append([name, weights.get(name, "–"), *_scores(evaluation)])
        rows.append(
            [
                f"mean of {len(chosen)} chosen",
                "",
                *(_mean_and_deviation([_f1(e, metric) for e in chosen.values()]) for metric in METRICS),
            ]
        )
        rows += [
            [f"best {_SHORT[metric]}: {self.best(metric)}", "", *_scores(chosen[self.best(metric)])]
            for metric in METRICS
        ]
        for name, evaluation in self.ensembles.items():
            cells = [f"{_f1(evaluation, metric):.2f}{self.stars(name, metric)}" for metric in METRICS]
            rows.append([name, "", *cells])
        notes = [
            f"{self.selection.note[:1].upper()}{self.selection.note[1:]}.",
            "Mean ± standard deviation of the sample. The best runs are chosen by these very scores, with "
            "hindsight. * p < 0.05, ** p < 0.01 against the best run in each score (sign test on sentences, "
            "one-sided).",
            f"Protocol {first.protocol.name} (see docs/evaluation.md). {scored_note(first)}",
        ]
        return Table(columns, rows, title, notes)

    def stars(self, ensemble: str, metric: Metric) -> str:
        """Return ** where the ensemble is better than the best individual with p < 0.01, * with p < 0.05.

        The test counts sentences; there are no stars where it disagrees with the score over all of them.
        """
        comparison = self.comparisons[ensemble, metric]
        if not comparison.difference or comparison.difference < 0:
            return ""
        return "**" if comparison.p_value < 0.01 else "*" if comparison.p_value < 0.05 else ""

    def to_dict(self) -> dict[str, Any]:
        """Return everything, unrounded, for JSON."""
        chosen = self.chosen
        return {
            "protocol": next(iter(self.ensembles.values())).protocol.name,
            "selection": {
                "chosen": list(chosen),
                "weights": list(self.selection.weights),
                "model": None if self.selection.model is None else self.selection.model.name,
                "note": self.selection.note,
            },
            "baselines": {name: e.to_dict() for name, e in self.baselines.items()},
            "individuals": {name: e.to_dict() for name, e in self.individuals.items()},
            "mean": {m: statistics.fmean(_f1(e, m) for e in chosen.values()) for m in METRICS},
            "standard_deviation": {m: _deviation([_f1(e, m) for e in chosen.values()]) for m in METRICS},
            "best": {m: self.best(m) for m in METRICS},
            "ensembles": {name: e.to_dict() for name, e in self.ensembles.items()},
            "comparisons": [
                {"ensemble": name, "against": self.best(metric), **comparison.to_dict()}
                for (name, metric), comparison in self.comparisons.items()
            ],
        }


def main_results(
    individuals: Mapping[str, Treebank],
    ensembles: Ensembles,
    selection: Selection,
    gold: Treebank,
    *,
    protocol: str = "paper",
    seed: int = 0,
) -> MainResults:
    """Score everything against gold trees.

    Parameters
    ----------
    individuals : all of them by name, chosen or not, in the order that `selection` numbers.
    seed : of the random trees among the baselines.
    """
    words = next(iter(individuals.values()))
    baselines = {
        "left branching": branching(words, "left"),
        "right branching": branching(words, "right"),
        "random trees": branching(words, "random", seed=seed),
        "random with gaps": branching(words, "random", seed=seed, max_fan_out=2),
    }
    averages = {BINARY: ensembles.binary, NON_BINARY: ensembles.non_binary}
    scores = {name: evaluate(bank, gold, protocol=protocol) for name, bank in individuals.items()}
    results = MainResults(
        {name: evaluate(bank, gold, protocol=protocol) for name, bank in baselines.items()},
        scores,
        {name: evaluate(bank, gold, protocol=protocol) for name, bank in averages.items()},
        selection,
        {},
    )
    comparisons = {
        (name, metric): compare(evaluation, scores[results.best(metric)], metric=metric)
        for name, evaluation in results.ensembles.items()
        for metric in METRICS
    }
    return MainResults(results.baselines, scores, results.ensembles, selection, comparisons)


def _f1(evaluation: Evaluation, metric: Metric) -> float:
    return evaluation.counts(metric).f1


def _scores(evaluation: Evaluation) -> list[Cell]:
    return [_f1(evaluation, metric) for metric in METRICS]


def _mean_and_deviation(values: Sequence[float]) -> str:
    mean, deviation = f"{statistics.fmean(values):.2f}", _deviation(values)
    return mean if deviation is None else f"{mean} ± {deviation:.2f}"


def _deviation(values: Sequence[float]) -> float | None:
    """Return the sample's standard deviation; of a single value there is none."""
    return statistics.stdev(values) if len(values) > 1 else None
