"""A fitted hit model: what proposed constituents are worth, kept as JSON."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treemean._version import __version__
from treemean.averaging import average
from treemean.errors import FormatError, MismatchError
from treemean.fitting import stored
from treemean.fitting.boosted import Boosted
from treemean.fitting.candidates import Floats, find_candidates
from treemean.fitting.em import TwoClasses
from treemean.fitting.estimator import Estimator
from treemean.fitting.logistic import Logistic
from treemean.fitting.objectives import CorpusObjective, Objective, SentenceObjective, objective_from, settle
from treemean.fitting.signed import Signed
from treemean.fitting.weights import RunWeights
from treemean.trees import Treebank

FORMAT = "treemean hits"
VERSION = 1
#: A corpus of fewer sentences is averaged with the scores of the development data.
LEAST_CORPUS = 100

_LARGEST = 1 << 26  # bytes of a file; boosted trees for a hundred runs take less than a hundredth

_WEIGHTINGS = ("equal", "scalar", "typed")
_ESTIMATORS: dict[str, type[Any]] = {c.name: c for c in (Signed, TwoClasses, Logistic, Boosted)}
#: The names of all models.
MODELS = (*_WEIGHTINGS, *_ESTIMATORS)


@dataclass(frozen=True)
class HitModel:
    """What proposed constituents are worth, and what is maximised.

    Parameters
    ----------
    runs : names of the K runs, in the order in which runs have to be given.
    chosen : which of them are asked, ascending.
    values : weights of the chosen runs, or an estimator of how likely their candidates are correct.
    objective : what is maximised. Weights of runs go with the `SentenceObjective`.
    report : what fitting found, for people to read; JSON-ready.
    provenance : where the model comes from; JSON-ready.
    """

    runs: tuple[str, ...]
    chosen: tuple[int, ...]
    values: RunWeights | Estimator
    objective: Objective
    report: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.values.name

    @property
    def of_corpus(self) -> bool:
        """Whether the trees of a sentence depend on the others."""
        return isinstance(self.objective, CorpusObjective)

    def arguments(self, runs: Sequence[Treebank], *, jobs: int | None = None) -> dict[str, Any]:
        """Return what `treemean.average` needs beside all the runs to make the trees of this model.

        Runs that were not chosen have no say, but are among the runs all the same.
        """
        if len(runs) != len(self.runs):
            raise MismatchError(
                f"the hits are fitted to {len(self.runs)} runs, and {len(runs)} are given; "
                "give the same runs in the same order"
            )
        if isinstance(self.values, RunWeights):
            assert isinstance(self.objective, SentenceObjective)
            weights = {
                "continuous": self._for_all(self.values.continuous),
                "discontinuous": self._for_all(self.values.discontinuous),
            }
            return {"weights": weights, "beta": self.objective.beta}
        asked = [runs[k] for k in self.chosen]
        candidates = find_candidates(asked)
        probabilities = self.values.probabilities(candidates)
        objective = self.objective
        if isinstance(objective, CorpusObjective) and len(runs[0]) >= LEAST_CORPUS:
            objective = settle(objective, asked, candidates, probabilities, jobs)
        found = objective.arguments(asked, candidates, probabilities, jobs)
        hits = dict(zip(self.chosen, found.pop("hits"), strict=True))
        return {
            "weights": self._for_all([1.0] * len(self.chosen)),
            "hits": [hits[k] if k in hits else np.zeros(len(run.labels)) for k, run in enumerate(runs)],
            **found,
        }

    def hits(self, runs: Sequence[Treebank], *, jobs: int | None = None) -> list[Floats]:
        """Return what every constituent of every run is worth: float64[C] for each run.

        Weights of runs are told as values of their constituents of either kind.
        """
        found = self.arguments(runs, jobs=jobs)
        if "hits" in found:
            given: list[Floats] = found["hits"]
            return given
        return [
            np.where(run.fan_outs > 1, gapped, plain)
            for run, plain, gapped in zip(
                runs, found["weights"]["continuous"], found["weights"]["discontinuous"], strict=True
            )
        ]

    def average(self, runs: Sequence[Treebank], *, jobs: int | None = None, **options: Any) -> Treebank:
        """Return the average of runs with these hits; other options are those of `treemean.average`."""
        return average(list(runs), **self.arguments(runs, jobs=jobs), jobs=jobs, **options)

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
            "runs": list(self.runs),
            "chosen": list(self.chosen),
            "objective": self.objective.to_dict(),
            "report": dict(self.report),
            "provenance": dict(self.provenance),
            "values": self.values.to_dict(),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> HitModel:
        """Make a model from what `to_dict` gave; raise `FormatError` if it is something else."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise FormatError("this is no file of hits; `treemean fit` makes one")
        if data.get("version") != VERSION:
            raise FormatError(
                f"the hits are of version {data.get('version')}, and this program knows version {VERSION}: "
                "fit them again"
            )
        name = data.get("model")
        if name not in MODELS:
            raise FormatError(f"there is no model {name!r}; known are {', '.join(MODELS)}")
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
        if not self.chosen or tuple(k for k in known if k in self.chosen) != self.chosen:
            raise FormatError(f"the hits choose runs {self.chosen} of {len(self.runs)}")
        if isinstance(self.values, RunWeights):
            numbers = {len(self.values.continuous), len(self.values.discontinuous)}
            if not isinstance(self.objective, SentenceObjective):
                raise FormatError("weights of runs go with the objective of the sentence")
        elif isinstance(self.values, Signed):
            numbers = {len(self.values.continuous)}
        elif isinstance(self.values, TwoClasses):
            numbers = {len(self.values.right)}
        else:
            return  # the names of the features tell the number of runs, and are compared
        if numbers != {len(self.chosen)}:
            raise FormatError(f"the hits are not of {len(self.chosen)} runs")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON; the file appears only when it is complete, `-` prints it."""
        from treemean.formats.source import open_output

        with open_output(path) as stream:
            stream.write(json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False).encode() + b"\n")


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
        raise FormatError(error.strerror or str(error), path=name) from error
    except EOFError as error:
        raise FormatError("the compressed file ends too early", path=name) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is no JSON ({error})", path=name) from error
    try:
        return HitModel.from_dict(data)
    except FormatError as error:
        raise FormatError(error.message, path=name) from error
