"""The whole of the paper's experiment: train, parse, and what `experiments.ensemble` makes of the parses.

OUT/runs/             the trained runs, see `training.folders`
OUT/parses/           what every individual says about the development and test sentences
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from treemean.errors import InvalidOption
from treemean.experiments.config import ExperimentConfig
from treemean.experiments.ensemble import EnsembleOutcome, Stages, Teller, check_settings, ensemble_of
from treemean.experiments.individuals import check_words, left_out, models_of, models_of_others
from treemean.experiments.predictions import DEVELOPMENT, GOLD, TEST, Predictions
from treemean.files.checksums import checksum
from treemean.formats import read, write
from treemean.parsing import Model, ParseCounts, parse
from treemean.parsing.parse import MAX_LENGTH
from treemean.parsing.text import counted, sentences_of
from treemean.training import RunResult, train_runs
from treemean.training.corpus import read_gold
from treemean.training.progress import Watcher
from treemean.trees import Treebank


@dataclass(frozen=True)
class TrainedOutcome(EnsembleOutcome):
    """What an ensemble of trained runs gave; `runs` is what training gave."""

    runs: list[RunResult]


def run_ensemble(
    config: ExperimentConfig,
    folder: str | os.PathLike[str],
    *,
    title: str = "",
    progress: Watcher | None = None,
    tell: Teller | None = None,
    jobs: int | None = None,
) -> TrainedOutcome:
    """Run the whole experiment; what an earlier call has done already is not done again.

    Parameters
    ----------
    config : with the section `ensemble`; see `experiments.config.load_config`.
    folder : for everything that is made.
    title : of the table.
    progress : is called with what happens in training.
    tell : is called with what happens otherwise.
    jobs : threads for averaging; all cores if not given.
    """
    settings, data = config.ensemble, config.data
    epochs = settings.individuals == "epochs"
    others = models_of_others(Path(folder) / "runs", settings.others, settings.individuals)
    check_words(others, data.normalisation)
    check_settings(settings, config.run.runs * (config.training.epochs if epochs else 1) + len(others))
    if epochs and not config.checkpoint.epochs:
        raise InvalidOption(
            'ensemble.individuals = "epochs" needs the models of all epochs: set checkpoint.epochs = true'
        )
    if not settings.test:
        raise InvalidOption("ensemble.test names no file: the ensemble is scored on gold test trees")
    gold = read_gold(settings.test, settings.test_format, data.dialect)  # before hours of training
    if not len(gold):
        raise InvalidOption(f"ensemble.test: there are no trees in {settings.test}")
    stages = Stages(Path(folder), tell or (lambda _: None))
    for path in left_out(settings.others, settings.individuals):
        stages.tell(f"{path} has no model{' of its epochs' * epochs}, and is left out")
    stages.tell(f"training {counted(config.run.runs, 'run')}")
    runs = train_runs(config, stages.folder / "runs", progress=progress)
    models = models_of(stages.folder / "runs", (run.run for run in runs), settings.individuals)
    models |= others
    check_settings(settings, len(models))  # runs may have ended early
    development = None
    if data.development and runs[0].metrics.get("f1") is not None:
        known = read_gold(data.development, data.development_format, data.dialect)
        development = _parses(config, stages, models, DEVELOPMENT, data.development, known)
    test = _parses(config, stages, models, TEST, settings.test, gold)
    training = [
        {
            "run": run.run,
            "selected_by": run.select,
            "epoch": run.epoch,
            "development": dict(run.metrics),
            "finished": run.finished,
            "steps": run.steps,
            "seconds": run.seconds,
        }
        for run in runs
    ]
    found = ensemble_of(
        development,
        test,
        stages,
        settings,
        title=title,
        jobs=jobs,
        config=config.to_dict(),
        training=training,
    )
    return TrainedOutcome(found.results, found.test, found.ensembles, found.files, runs)


def _parses(
    config: ExperimentConfig,
    stages: Stages,
    models: Mapping[str, Path],
    part: str,
    source: str,
    gold: Treebank,
) -> Predictions:
    """Return what every model says about some sentences; parse them where that was not done before."""
    found = {name: _parse(config, stages, name, model, part, source, gold) for name, model in models.items()}
    write(gold, stages.folder / "parses" / part / f"{GOLD}.jsonl")
    return Predictions(gold, found)


def _parse(
    config: ExperimentConfig,
    stages: Stages,
    name: str,
    folder: Path,
    part: str,
    source: str,
    gold: Treebank,
) -> Treebank:
    file = f"parses/{part}/{name}.discbracket"
    inputs = {
        "model": checksum(folder / "model.json"),  # which has the checksum of the numbers
        "sentences": checksum(source),
        "decoder": config.ensemble.decoder,
        "max_length": MAX_LENGTH,
    }

    def make() -> None:
        model = Model.load(folder)
        sentences = sentences_of([gold], model.normalisation)
        decoder, counts = config.ensemble.decoder, ParseCounts()
        trees = parse(model, sentences, decoder=decoder, max_length=MAX_LENGTH, counts=counts)
        write(Treebank.concatenate(list(trees)), stages.folder / file, warn=False)
        for message in counts.describe(MAX_LENGTH):
            stages.tell(f"{name}: {message}")

    stages.do(f"parse-{part}-{name}", inputs, [file], make, f"{name} parses the {part} set")
    return read(stages.folder / file)
