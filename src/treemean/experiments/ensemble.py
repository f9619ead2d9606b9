"""From what runs say to a table: choose, weigh, average and evaluate; wherever the trees come from.

OUT/parses/           gold trees, and what every run says, of development and test sentences
OUT/ensemble/         the averages, binary and not; hits.json where a model was fitted
OUT/results.json      all scores, choices and tests; results.md has them as a table
OUT/stages/           what was done with what, so that nothing is done twice
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args

from treemean._version import __version__
from treemean.errors import InvalidOption
from treemean.evaluation import get_protocol
from treemean.experiments.cache import Cache
from treemean.experiments.main_results import Ensembles, MainResults, main_results
from treemean.experiments.predictions import (
    BINARY_FILE,
    DEVELOPMENT,
    GOLD,
    HITS_FILE,
    NON_BINARY_FILE,
    RESULTS_FILE,
    TEST,
    Predictions,
    read_parts,
)
from treemean.experiments.selection import Selection, check_rule, choose
from treemean.experiments.settings import EnsembleConfig
from treemean.files.checksums import checksum, content_checksum
from treemean.files.output import write_file
from treemean.formats import read, write
from treemean.names import EnsembleModel, WeightRule
from treemean.trees import Treebank

#: Is called with what begins, or was found done already.
Teller = Callable[[str], None]


@dataclass(frozen=True)
class EnsembleOutcome:
    """What an ensemble gave.

    Parameters
    ----------
    results : the scores on the test set.
    test : the test trees, gold and of every run.
    ensembles : their averages.
    files : what was written, by what it is.
    """

    results: MainResults
    test: Predictions
    ensembles: Ensembles
    files: Mapping[str, Path]

    @property
    def gold(self) -> Treebank:
        """The gold trees of the test sentences."""
        return self.test.gold

    @property
    def individuals(self) -> Mapping[str, Treebank]:
        """What every run says about them."""
        return self.test.runs


@dataclass(frozen=True)
class Stages:
    """The stages of an experiment under a folder: what was done before is told, and not done again."""

    folder: Path
    tell: Teller = field(default=lambda _: None)

    def do(
        self, name: str, inputs: Mapping[str, Any], outputs: list[str], make: Callable[[], None], what: str
    ) -> None:
        """Make the outputs unless the same inputs made them before, see `Cache.stage`."""
        for output in outputs:
            (self.folder / output).parent.mkdir(parents=True, exist_ok=True)

        def tell_and_make() -> None:
            self.tell(what)
            make()

        if not Cache(self.folder).stage(name, {"treemean": __version__, **inputs}, outputs, tell_and_make):
            self.tell(f"{what}: done before")


def check_settings(settings: EnsembleConfig, runs: int) -> None:
    """Raise an error where the settings of an ensemble of so many runs cannot be right."""
    check_rule(settings.weigh)
    get_protocol(settings.protocol)
    if settings.model not in get_args(EnsembleModel):
        raise InvalidOption(
            f"ensemble.model is one of {', '.join(get_args(EnsembleModel))}, not {settings.model!r}"
        )
    if settings.model in ("paper", "equal") and settings.keep > runs:
        raise InvalidOption(f"ensemble.keep is {settings.keep} of {runs} runs")


def ensemble_of_trees(
    test: str | os.PathLike[str],
    development: str | os.PathLike[str] | None,
    folder: str | os.PathLike[str],
    *,
    model: EnsembleModel | None = None,
    keep: int | None = None,
    weigh: WeightRule | None = None,
    dialect: str = "auto",
    title: str = "",
    tell: Teller | None = None,
    jobs: int | None = None,
) -> EnsembleOutcome:
    """Average and score runs whose trees are there already.

    Parameters
    ----------
    test, development : folders with `gold.*` and `run*.*` in any format. Without development trees all runs
        take part with equal weights.
    folder : for everything that is made.
    model, keep, weigh : see `EnsembleConfig`. Of fewer than five runs all are kept unless told otherwise.
    dialect : of PTB brackets among the trees.
    """
    asked, known = read_parts(test, development, dialect)
    usual = EnsembleConfig(keep=min(EnsembleConfig.keep, len(asked.runs)))
    used = EnsembleConfig(model=model or usual.model, keep=keep or usual.keep, weigh=weigh or usual.weigh)
    stages = Stages(Path(folder), tell or (lambda _: None))
    for part, predictions in ((DEVELOPMENT, known), (TEST, asked)):
        if predictions is not None:
            keep_parses(stages, part, predictions)
    return ensemble_of(known, asked, stages, used, title=title, jobs=jobs, config={"ensemble": asdict(used)})


def keep_parses(stages: Stages, part: str, predictions: Predictions) -> None:
    """Write trees to where those of a trained ensemble stand, so that what follows finds them there."""
    folder = stages.folder / "parses" / part
    folder.mkdir(parents=True, exist_ok=True)
    write(predictions.gold, folder / f"{GOLD}.jsonl")
    for name, run in predictions.runs.items():
        write(run, folder / f"{name}.discbracket", warn=False)


def ensemble_of(
    development: Predictions | None,
    test: Predictions,
    stages: Stages,
    settings: EnsembleConfig,
    *,
    title: str,
    jobs: int | None,
    config: Mapping[str, Any],
    training: list[dict[str, Any]] | None = None,
) -> EnsembleOutcome:
    """Choose, weigh, average and score, and write everything.

    Parameters
    ----------
    development, test : as they stand in the folder of `stages`, under `parses`.
    config, training : what is told of them in results.json.
    """
    check_settings(settings, len(test.runs))
    selection = choose(
        development,
        len(test.runs),
        model=settings.model,
        keep=settings.keep,
        weigh=settings.weigh,
        protocol=settings.protocol,
        jobs=jobs,
    )
    stages.tell(selection.note)
    ensembles = _average(test, stages, selection, jobs)
    results = main_results(test.runs, ensembles, selection, test.gold, protocol=settings.protocol)
    files = {"scores": stages.folder / RESULTS_FILE, "table": stages.folder / "results.md"}
    everything = {
        "treemean": __version__,
        "config": dict(config),
        "training": training or [],
        "results": results.to_dict(),
    }
    if selection.model is not None:
        files["hits"] = stages.folder / HITS_FILE
        selection.model.save(files["hits"])
        everything["fitted"] = selection.model.report
    scores = json.dumps(everything, indent=1, ensure_ascii=False, allow_nan=False)
    write_file(files["scores"], scores.encode() + b"\n")
    write_file(files["table"], results.table(title).to_markdown().encode() + b"\n")
    files |= {"average": stages.folder / NON_BINARY_FILE, "binary average": stages.folder / BINARY_FILE}
    return EnsembleOutcome(results, test, ensembles, files)


def _average(test: Predictions, stages: Stages, selection: Selection, jobs: int | None) -> Ensembles:
    names = [NON_BINARY_FILE, BINARY_FILE]
    runs = list(test.runs)
    files = {name: stages.folder / "parses" / TEST / f"{name}.discbracket" for name in runs}
    asked = runs if selection.model is not None else [runs[i] for i in selection.chosen]
    inputs = {
        "weights": selection.weights,
        "hits": None if selection.model is None else content_checksum(selection.model.to_dict()["values"]),
        "parses": {name: checksum(files[name]) for name in asked},
    }

    def make() -> None:
        found = Ensembles.of(list(test.runs.values()), selection, jobs)
        write(found.non_binary, stages.folder / names[0], warn=False)
        write(found.binary, stages.folder / names[1], warn=False)

    count = len(selection.chosen)
    stages.do("average", inputs, names, make, f"averaging {count} run{'s' if count > 1 else ''}")
    return Ensembles(*(read(stages.folder / name) for name in names))
