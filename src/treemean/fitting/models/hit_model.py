"""A fitted hit model: what proposed constituents are worth, kept as JSON."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treemean._version import __version__
from treemean.averaging import average
from treemean.averaging.alignment import check_aligned
from treemean.averaging.arguments import columns_of, columns_of_all
from treemean.errors import (
    FormatError,
    InvalidOption,
    MismatchError,
    TreemeanError,
    Unsolved,
    no_such,
    reason_of,
)
from treemean.files import stored
from treemean.files.output import write_file
from treemean.fitting.candidates import Candidates, Floats, find_candidates
from treemean.fitting.models.agreement import AgreementWeights
from treemean.fitting.models.apart import Apart
from treemean.fitting.models.boosted import Boosted
from treemean.fitting.models.calibration import Calibration
from treemean.fitting.models.em import TwoClasses
from treemean.fitting.models.estimator import Estimator
from treemean.fitting.models.logistic import Logistic
from treemean.fitting.models.objectives import (
    CorpusObjective,
    Objective,
    SentenceObjective,
    TreeCounts,
    objective_from,
    settle,
    settle_by,
    solve,
)
from treemean.fitting.models.signed import Signed
from treemean.fitting.models.weights import RunWeights
from treemean.trees import Individual, SpanTable, Treebank

FORMAT = "treemean hits"
#: Files of version 1 have no calibration; those of versions 1 and 2 are for trees without labels, and those
#: of versions 1 to 3 know no tables of spans.
VERSION = 4
#: What every constituent is given by `HitModel.with_probabilities`.
PROBABILITY = "probability"
#: A corpus of fewer sentences is averaged with the scores of the development data.
LEAST_CORPUS = 100

_LARGEST = 1 << 26  # bytes of a file; boosted trees for a hundred runs take less than a hundredth

_WEIGHTINGS = ("equal", "scalar", "typed")
_ESTIMATORS: dict[str, type[Any]] = {
    c.name: c for c in (Signed, AgreementWeights, TwoClasses, Apart, Logistic, Boosted)
}
#: The names of all models.
MODELS = (*_WEIGHTINGS, *_ESTIMATORS)


@dataclass(frozen=True)
class HitModel:
    """Values of proposed constituents, and the objective that averages maximise.

    Parameters
    ----------
    runs : names of the K runs, in the order in which runs have to be given.
    chosen : which of them are used, ascending.
    values : weights of the chosen runs, or an estimator of how likely their candidates are correct.
    objective : what is maximised. Weights of runs go with the `SentenceObjective`.
    report : what fitting found, for people to read; JSON-ready.
    provenance : where the model comes from; JSON-ready.
    calibration : how values become probabilities; None where nothing tells (one run without gold, old files).
    labelled : whether it is for joint averages of sets and labels, or for those without.
    tables : how many of the runs, the last ones, are tables of spans.
    """

    runs: tuple[str, ...]
    chosen: tuple[int, ...]
    values: RunWeights | Estimator
    objective: Objective
    report: Mapping[str, Any] = field(default_factory=dict, repr=False)
    provenance: Mapping[str, Any] = field(default_factory=dict, repr=False)
    calibration: Calibration | None = None
    labelled: bool = False
    tables: int = 0

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.values.name

    @property
    def of_corpus(self) -> bool:
        """Whether the trees of a sentence depend on the others."""
        return isinstance(self.objective, CorpusObjective)

    def arguments(
        self,
        runs: Sequence[Individual],
        *,
        jobs: int | None = None,
        binary: bool = False,
        settled: bool = False,
    ) -> dict[str, Any]:
        """Return what `treemean.average` needs beside all the runs to make the trees of this model.

        Runs that were not chosen have no say, but are among the runs all the same. The average is to be asked
        for with labels if the model is `labelled`, and else without.

        Parameters
        ----------
        binary : whether the average will be asked for binary trees.
        settled : take an objective of the corpus as it stands: these are not all of its sentences.
        """
        self._check_runs(runs)
        if isinstance(self.values, RunWeights):
            assert isinstance(self.objective, SentenceObjective)
            weights = {
                "continuous": self._for_all(self.values.continuous),
                "discontinuous": self._for_all(self.values.discontinuous),
            }
            return {"weights": weights, "beta": self.objective.beta}
        asked = [runs[k] for k in self.chosen]
        candidates = find_candidates(asked, labelled=self.labelled)
        probabilities = self.values.probabilities(candidates)
        objective = self.objective
        if isinstance(objective, CorpusObjective) and not settled and len(runs[0]) >= LEAST_CORPUS:
            objective = settle(objective, asked, candidates, probabilities, jobs)
        found = objective.arguments(asked, candidates, probabilities, jobs, binary)
        hits = dict(zip(self.chosen, found.pop("hits"), strict=True))
        return {
            "weights": self._for_all([1.0] * len(self.chosen)),
            "hits": [
                hits[k] if k in hits else np.zeros(len(columns_of(run).labels)) for k, run in enumerate(runs)
            ],
            **found,
        }

    def settled(self, batches: Iterable[Sequence[Individual]], *, jobs: int | None = None) -> HitModel:
        """Return the model around the scores of a corpus, found by passes over its batches.

        Only sums are kept of a pass. A model that looks at each sentence by itself, and one for a corpus that
        is too small to tell anything, is returned as it is.
        """
        objective = self.objective
        if not isinstance(objective, CorpusObjective):
            return self
        if sum(len(batch[0]) for batch in batches) < LEAST_CORPUS:
            return self

        def count(around: CorpusObjective) -> TreeCounts:
            return self.count_trees(batches, around, jobs=jobs)

        return replace(self, objective=settle_by(objective, count))

    def count_trees(
        self, batches: Iterable[Sequence[Individual]], objective: CorpusObjective, *, jobs: int | None
    ) -> TreeCounts:
        """Return what an objective must know of the trees that are best under it."""
        total = TreeCounts()
        for batch in batches:
            asked = [batch[k] for k in self.chosen]
            candidates = find_candidates(asked, labelled=self.labelled)
            probabilities = self.estimates(candidates)
            values = objective.values(probabilities, candidates.discontinuous)
            total += TreeCounts.of(candidates, probabilities, solve(asked, candidates, values, jobs))
        return total

    def estimates(self, candidates: Candidates) -> Floats:
        """Return what the estimator says of candidates; weights of runs estimate nothing."""
        if isinstance(self.values, RunWeights):
            raise TreemeanError(f"the model {self.name} has weights of runs, and no estimates for candidates")
        return self.values.probabilities(candidates)

    def hits(self, runs: Sequence[Individual], *, jobs: int | None = None) -> list[Floats]:
        """Return what every constituent of every run is worth: float64[C] for each run.

        Weights of runs are told as values of their constituents of either kind.
        """
        found = self.arguments(runs, jobs=jobs)
        if "hits" in found:
            given: list[Floats] = found["hits"]
            return given
        return [
            np.where(columns_of(run).fan_outs > 1, gapped, plain)
            for run, plain, gapped in zip(
                runs, found["weights"]["continuous"], found["weights"]["discontinuous"], strict=True
            )
        ]

    def average(
        self,
        runs: Sequence[Individual],
        *,
        jobs: int | None = None,
        probability: bool = False,
        settled: bool = False,
        **options: Any,
    ) -> Treebank:
        """Return the average of runs with these hits; other options are those of `treemean.average`.

        It is a joint average of sets and labels if the model is for these. With `probability` every
        constituent carries how likely it is right; see `with_probabilities`. `settled` is that of
        `arguments`.
        """
        if probability:
            self.check_calibrated()  # now, and not when everything is averaged
        self.check_labelled(options.setdefault("labelled", self.labelled))
        found = self.arguments(runs, jobs=jobs, binary=bool(options.get("binary")), settled=settled)
        skipped: list[Unsolved] | None = options.get("skipped")
        before = len(skipped or [])
        mean = average(list(runs), **found, jobs=jobs, **options)
        if not probability:
            return mean
        left_out = {error.sentence for error in (skipped or [])[before:]}  # counted from 1
        kept = [s for s in range(len(runs[0])) if s + 1 not in left_out]
        return self.with_probabilities(mean, [run.take(kept) for run in runs] if left_out else runs)

    def probabilities(self, runs: Sequence[Individual]) -> tuple[Candidates, Floats]:
        """Return the candidates of the runs that are asked, and how likely each of them is right: float64[M].

        Raises `TreemeanError` if the model has no calibration.
        """
        self._check_runs(runs)
        calibration = self.check_calibrated()
        candidates = find_candidates([runs[k] for k in self.chosen], labelled=self.labelled)
        return candidates, calibration(self.values.probabilities(candidates), candidates.discontinuous)

    def with_probabilities(self, trees: Treebank, runs: Sequence[Individual]) -> Treebank:
        """Return trees, such as an average of the runs, with the value `probability` for every constituent.

        It speaks of sets of words, whatever their labels; one word and the whole sentence have 1, as all
        trees have them. A model with labels speaks of labelled constituents, and of all of these. What none
        of the runs proposes has 0.
        """
        candidates, probabilities = self.probabilities(runs)
        check_aligned([*columns_of_all(runs), trees])
        place = candidates.find(trees)
        known = np.append(probabilities, 0.0)[place]
        if not self.labelled:
            inner = (trees.sizes > 1) & (trees.sizes < trees.lengths[trees.sentence_of])
            known = np.where(inner, known, 1.0)
        values = {**trees.constituent_values, PROBABILITY: known}
        return trees.with_columns(constituent_values=values)

    def _check_runs(self, runs: Sequence[Individual]) -> None:
        tables = sum(isinstance(run, SpanTable) for run in runs)
        if (len(runs), tables) != (len(self.runs), self.tables):
            with_tables, given = (
                f" and {n} tables of spans (--spans)" if n else "" for n in (self.tables, tables)
            )
            raise MismatchError(
                f"the hits are fitted to {len(self.runs) - self.tables} runs{with_tables}, and "
                f"{len(runs) - tables}{given} are given; give the same runs in the same order"
            )

    def check_labelled(self, labelled: bool) -> None:
        """Raise `InvalidOption` if an average with labels, or one without, is not what the model is for."""
        if labelled and not self.labelled:
            raise InvalidOption(
                "the hits are of constituents without labels, and the average is a labelled one: fit hits "
                "with labels (`treemean fit --labelled`), or average without"
            )
        if self.labelled and not labelled:
            raise InvalidOption(
                "the hits are of labelled constituents, and the average is one without labels: average with "
                "labels (`treemean average --labelled`), or fit hits without"
            )

    def check_calibrated(self) -> Calibration:
        """Return the calibration; raise `TreemeanError` that says what to do if there is none."""
        if self.calibration is None and isinstance(self.values, Apart):
            raise TreemeanError("the model apart gives probabilities only if it was fitted with gold trees")
        if self.calibration is None:
            alone = len(self.runs) == 1 and self.provenance.get("gold") is None
            raise TreemeanError(
                "one run alone gives no probabilities: give two runs, or fit hits to gold trees"
                if alone
                else "the hits were fitted by an earlier version, without probabilities: fit them again"
            )
        return self.calibration

    def _for_all(self, values: Sequence[float]) -> list[float]:
        weights = [0.0] * len(self.runs)
        for k, value in zip(self.chosen, values, strict=True):
            weights[k] = value
        return weights

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "treemean": __version__,
            "model": self.name,
            "labelled": self.labelled,
            "tables": list(self.runs[len(self.runs) - self.tables :]),
            "runs": list(self.runs),
            "chosen": list(self.chosen),
            "objective": self.objective.to_dict(),
            "report": dict(self.report),
            "provenance": dict(self.provenance),
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "values": self.values.to_dict(),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> HitModel:
        """Make a model from what `to_dict` gave; raise `FormatError` if it is something else."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise FormatError("this is no file of hits; `treemean fit` makes one")
        if data.get("version") not in range(1, VERSION + 1):
            raise FormatError(
                f"the hits are of version {data.get('version')}, and this program knows versions 1 to "
                f"{VERSION}: fit them again"
            )
        name = data.get("model")
        if name not in MODELS:
            raise FormatError(no_such("model", name, MODELS))
        try:
            values = (
                RunWeights.from_dict(name, data["values"])
                if name in _WEIGHTINGS
                else _ESTIMATORS[name].from_dict(data["values"])
            )
            model = HitModel(
                stored.texts(data, "runs"),
                tuple(stored.wholes(data, "chosen").tolist()),
                values,
                objective_from(data["objective"]),
                dict(data.get("report", {})),
                dict(data.get("provenance", {})),
                None
                if data["version"] == 1 or data["calibration"] is None
                else Calibration.from_dict(data["calibration"]),
                data["version"] > 2 and stored.flag(data, "labelled"),
                _tables_among(data) if data["version"] > 3 else 0,
            )
        except FormatError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(f"the hits are incomplete or damaged ({error!r})") from error
        model._check()
        return model

    def _check(self) -> None:
        """Raise `FormatError` if the parts do not fit together."""
        known = range(len(self.runs))
        if self.tables and (self.tables >= len(self.runs) or not isinstance(self.values, Logistic | Boosted)):
            raise FormatError(f"{self.tables} of {len(self.runs)} runs are tables of spans")
        if not self.chosen or tuple(k for k in known if k in self.chosen) != self.chosen:
            raise FormatError(f"the hits choose runs {self.chosen} of {len(self.runs)}")
        if isinstance(self.values, RunWeights):
            numbers = {len(self.values.continuous), len(self.values.discontinuous)}
            if not isinstance(self.objective, SentenceObjective):
                raise FormatError("weights of runs go with the objective of the sentence")
        elif isinstance(self.values, (Signed, AgreementWeights)):
            numbers = {len(self.values.continuous)}
        elif isinstance(self.values, TwoClasses):
            numbers = {len(self.values.right)}
        elif isinstance(self.values, Apart):
            numbers = {len(self.values.gapped)}
        else:
            return  # the names of the features tell the number of runs, and are compared
        if numbers != {len(self.chosen)}:
            raise FormatError(f"the hits are not of {len(self.chosen)} runs")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON; the file appears only when it is complete, `-` prints it."""
        write_file(path, json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False).encode() + b"\n")


def _tables_among(data: Mapping[str, Any]) -> int:
    """Return how many of the runs are tables of spans: the last ones."""
    runs, tables = stored.texts(data, "runs"), stored.texts(data, "tables")
    if tables != runs[len(runs) - len(tables) :]:
        raise FormatError("the tables of spans are not the last runs")
    return len(tables)


def load(path: str | os.PathLike[str]) -> HitModel:
    """Read a model that `HitModel.save` wrote; scikit-learn is not needed.

    Raises `FormatError`, which names the file, if it is something else, damaged, or of another version.
    """
    name = os.fspath(path)
    try:
        with gzip.open(name) if name.endswith(".gz") else open(name, "rb") as stream:
            content = stream.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise FormatError(f"a file of hits has at most {_LARGEST:,} bytes", path=name)
        data = json.loads(content.decode())
    except OSError as error:
        raise FormatError(reason_of(error), path=name) from error
    except EOFError as error:
        raise FormatError("the compressed file ends too early", path=name) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is no JSON ({error})", path=name) from error
    try:
        return HitModel.from_dict(data)
    except FormatError as error:
        raise FormatError(error.message, path=name) from error
