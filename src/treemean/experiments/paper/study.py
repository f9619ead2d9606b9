"""What the paper's tables and figures are made of: trees of runs, an ensemble of them, and their scores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from treemean.errors import FormatError
from treemean.evaluation import Evaluation, evaluate
from treemean.experiments.main_results import BINARY, NON_BINARY, Ensembles, MainResults, main_results
from treemean.experiments.predictions import DEVELOPMENT, TEST, Predictions, read_parts
from treemean.experiments.selection import Selection, all_equal, choose, select
from treemean.names import EnsembleModel, ProtocolName, WeightRule
from treemean.trees import Treebank


@dataclass(frozen=True)
class Study:
    """Trees of runs with gold, and how they are averaged and scored.

    Parameters
    ----------
    development : None if there are no such trees; all runs then have equal weights.
    model, keep, weigh : see `experiments.config.EnsembleConfig`.
    seed : of everything that is drawn at random.
    jobs : threads for averaging; all cores if not given.
    """

    test: Predictions
    development: Predictions | None = None
    model: EnsembleModel = "paper"
    keep: int = 5
    weigh: WeightRule = "discontinuous"
    protocol: ProtocolName = "paper"
    seed: int = 0
    jobs: int | None = None

    @classmethod
    def read(
        cls,
        test: str | os.PathLike[str],
        development: str | os.PathLike[str] | None = None,
        *,
        keep: int | None = None,
        dialect: str = "auto",
        **options: object,
    ) -> Study:
        """Read folders with `gold.*` and `run*.*`; of fewer than five runs all are kept by default."""
        asked, known = read_parts(test, development, dialect)
        return cls(asked, known, keep=keep or min(cls.keep, len(asked.runs)), **options)  # type: ignore[arg-type]

    @classmethod
    def of_ensemble(cls, folder: str | os.PathLike[str], **options: object) -> Study:
        """Read the trees that `treemean ensemble` left in a folder."""
        parses = Path(folder) / "parses"
        if not (parses / TEST).is_dir():
            raise FormatError("there are no parses of an ensemble in this folder", path=str(folder))
        known = parses / DEVELOPMENT if (parses / DEVELOPMENT).is_dir() else None
        return cls.read(parses / TEST, known, **options)  # type: ignore[arg-type]

    @property
    def names(self) -> list[str]:
        """The runs."""
        return list(self.test.runs)

    @cached_property
    def selection(self) -> Selection:
        """Which runs are in the ensemble, and how they are weighed."""
        return choose(
            self.development,
            len(self.test.runs),
            model=self.model,
            keep=self.keep,
            weigh=self.weigh,
            protocol=self.protocol,
            seed=self.seed,
            jobs=self.jobs,
        )

    @property
    def chosen(self) -> list[Treebank]:
        """The runs of the ensemble, best first."""
        runs = list(self.test.runs.values())
        return [runs[i] for i in self.selection.chosen]

    @cached_property
    def ensembles(self) -> Ensembles:
        """Their averages."""
        return Ensembles.of(list(self.test.runs.values()), self.selection, self.jobs)

    @property
    def averages(self) -> Mapping[str, Treebank]:
        """The averages by the names that tables give to them."""
        return {BINARY: self.ensembles.binary, NON_BINARY: self.ensembles.non_binary}

    @cached_property
    def results(self) -> MainResults:
        """All scores on the test sentences."""
        return main_results(
            self.test.runs,
            self.ensembles,
            self.selection,
            self.test.gold,
            protocol=self.protocol,
            seed=self.seed,
        )

    @cached_property
    def development_scores(self) -> list[Evaluation] | None:
        """The scores of every run on the development sentences."""
        if self.development is None:
            return None
        gold = self.development.gold
        return [evaluate(run, gold, protocol=self.protocol) for run in self.development.runs.values()]

    def best_first(self) -> list[int]:
        """Return the runs by development F1 overall; by test F1 where there are no development trees."""
        scores = self.development_scores or list(self.results.individuals.values())
        return sorted(range(len(scores)), key=lambda i: -scores[i].overall.f1)

    def weighed(self, runs: Sequence[int]) -> Selection:
        """Weigh any runs by the rule of this study."""
        if self.development_scores is None:
            return Selection(tuple(runs), (1.0,) * len(runs), all_equal(len(runs)).note)
        found = select([self.development_scores[i] for i in runs], len(runs), self.weigh)
        return Selection(tuple(runs[i] for i in found.chosen), found.weights, found.note)

    def score(self, trees: Treebank) -> Evaluation:
        """Score trees of the test sentences."""
        return evaluate(trees, self.test.gold, protocol=self.protocol)

    def note(self) -> str:
        """Tell what the ensemble is."""
        return f"{self.selection.note[:1].upper()}{self.selection.note[1:]}."
